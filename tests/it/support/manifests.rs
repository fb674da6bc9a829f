//! What `deploy/` and the agent's layer say of their containers.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What `kubectl kustomize` makes of a folder; `None` where there is no kubectl.
pub(crate) fn built(folder: &Path) -> Option<String> {
    let mut command = Command::new("kubectl");
    let output = command.arg("kustomize").arg(folder).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The arguments of a container.
pub(crate) fn arguments(container: &Value) -> Vec<&str> {
    container["args"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect()
}

/// Where a container has its volumes.
pub(crate) fn mounts(container: &Value) -> Vec<&str> {
    let mounts = container["volumeMounts"].as_array().unwrap().iter();
    mounts.map(|mount| mount["mountPath"].as_str().unwrap()).collect()
}
