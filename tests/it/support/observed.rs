//! A worker on a real API server: the CRDs, the objects that Flux would apply, and their status as the
//! Cluster API controllers would write it.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::apiserver::ApiServer;
use super::people::carp;
use super::{Remote, git_may_fail};

/// The CRDs that the agent looks at, by the names of their files.
const CRDS: [&str; 15] = [
    "clusters.cluster.x-k8s.io",
    "machinedeployments.cluster.x-k8s.io",
    "machinepools.cluster.x-k8s.io",
    "kubeadmcontrolplanes.controlplane.cluster.x-k8s.io",
    "kamajicontrolplanes.controlplane.cluster.x-k8s.io",
    "azureclusters.infrastructure.cluster.x-k8s.io",
    "azuremachines.infrastructure.cluster.x-k8s.io",
    "helmchartproxies.addons.cluster.x-k8s.io",
    "kustomizations.kustomize.toolkit.fluxcd.io",
    "coreproviders.operator.cluster.x-k8s.io",
    "bootstrapproviders.operator.cluster.x-k8s.io",
    "controlplaneproviders.operator.cluster.x-k8s.io",
    "infrastructureproviders.operator.cluster.x-k8s.io",
    "addonproviders.operator.cluster.x-k8s.io",
    "helmreleases.helm.toolkit.fluxcd.io",
];

/// The worker `we-1` and the remote that it reports to.
pub(crate) struct Worker {
    pub(crate) server: ApiServer,
    pub(crate) remote: Remote,
    dir: TempDir,
}

impl Worker {
    /// A worker with every CRD but some; `None` where the environment has no server or no CRDs.
    #[expect(clippy::disallowed_methods, reason = "tests read their environment")]
    pub(crate) fn without(missing: &[&str]) -> Option<Self> {
        let crds = std::env::var_os("CARP_CRDS").map(PathBuf::from)?;
        let server = ApiServer::start()?;
        let dir = tempfile::tempdir().unwrap();
        let own = carp(dir.path(), &["crds"]).output().unwrap();
        fs::write(dir.path().join("own.yaml"), own.stdout).unwrap();
        let mut args = vec!["create".to_owned(), "--validate=false".to_owned()];
        let files = CRDS.iter().filter(|name| !missing.contains(name));
        let files = files.map(|name| crds.join(format!("{name}.yaml")).display().to_string());
        for file in files.chain([dir.path().join("own.yaml").display().to_string()]) {
            args.extend(["-f".to_owned(), file]);
        }
        server.kubectl(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let all = ["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"];
        server.kubectl(&all);
        server.kubectl(&["create", "namespace", "flux-system"]);
        Some(Self { server, remote: Remote::new(), dir })
    }

    /// A worker with everything.
    pub(crate) fn start() -> Option<Self> {
        Self::without(&[])
    }

    /// Creates objects in their order.
    pub(crate) fn apply(&self, objects: &[Value]) {
        for object in objects {
            self.create(object);
        }
    }

    /// Creates an object, and writes its status where it has one.
    pub(crate) fn create(&self, object: &Value) {
        let file = self.dir.path().join("object.json");
        fs::write(&file, object.to_string()).unwrap();
        self.server.kubectl(&["create", "--validate=false", "-f", file.to_str().unwrap()]);
        if object.get("status").is_some() {
            self.status(object);
        }
    }

    /// Writes the status of an object.
    pub(crate) fn status(&self, object: &Value) {
        let meta = &object["metadata"];
        let (kind, name) = (resource(object), meta["name"].as_str().unwrap());
        let namespace = meta["namespace"].as_str().unwrap_or("default");
        let get = ["get", &kind, name, "-n", namespace, "-o", "json"];
        let mut there: Value = serde_json::from_str(&self.server.kubectl(&get)).unwrap();
        there["status"] = object["status"].clone();
        let file = self.dir.path().join("status.json");
        fs::write(&file, there.to_string()).unwrap();
        let path = format!(
            "{}/status",
            there["metadata"]["selfLink"]
                .as_str()
                .map_or_else(|| self_link(object, namespace, name), str::to_owned,)
        );
        self.server.kubectl(&["replace", "--raw", &path, "-f", file.to_str().unwrap()]);
    }

    /// `carp agent --worker we-1 ARGS`, to its end.
    pub(crate) fn report(&self, args: &[&str]) -> Output {
        self.agent(&[&["--once"], args].concat()).output().unwrap()
    }

    /// `carp agent`, left running.
    pub(crate) fn watch(&self) -> Agent {
        let mut command = self.agent(&["--interval", "1s", "--heartbeat", "2s"]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Agent { child }
    }

    fn agent(&self, args: &[&str]) -> std::process::Command {
        let kubeconfig = self.server.kubeconfig();
        let mut command = carp(self.dir.path(), &["agent", "--worker", "we-1"]);
        command.arg("--repository").arg(self.remote.url()).args(args);
        if !args.contains(&"--kubeconfig") {
            command.arg("--kubeconfig").arg(kubeconfig);
        }
        command
    }

    /// The report on the worker's ref; `None` before the first.
    pub(crate) fn reported(&self) -> Option<Value> {
        let show = ["show", "refs/heads/carp/observed/we-1:report.yaml"];
        let output = git_may_fail(&self.remote.path(), &show);
        let text = String::from_utf8(output.stdout).unwrap();
        output.status.success().then(|| serde_saphyr::from_str(&text).unwrap())
    }

    /// Waits until the report is as it should be; half a minute at most.
    #[track_caller]
    pub(crate) fn wait_for(&self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..300 {
            if let Some(report) = self.reported().filter(&is_so) {
                return report;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("never {what}: {:#?}", self.reported());
    }

    /// The folder for files of a test.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().to_owned()
    }
}

/// A running agent. It is killed when this is dropped.
pub(crate) struct Agent {
    child: Child,
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `clusters.v1beta2.cluster.x-k8s.io`: what kubectl calls the kind of an object.
fn resource(object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap().to_lowercase();
    match object["apiVersion"].as_str().unwrap().split_once('/') {
        Some((group, version)) => {
            format!("{kind}s.{version}.{group}").replace("proxys.", "proxies.")
        }
        None => kind,
    }
}

fn self_link(object: &Value, namespace: &str, name: &str) -> String {
    let version = object["apiVersion"].as_str().unwrap();
    let plural = format!("{}s", object["kind"].as_str().unwrap().to_lowercase());
    let plural = plural.replace("proxys", "proxies");
    format!("/apis/{version}/namespaces/{namespace}/{plural}/{name}")
}

/// An object as it is applied, without status.
pub(crate) fn object(
    api_version: &str,
    kind: &str,
    namespace: &str,
    name: &str,
    spec: Value,
) -> Value {
    json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    })
}

/// A condition as controllers write it.
pub(crate) fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({
        "type": kind, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": "2026-11-01T08:00:00Z",
    })
}
