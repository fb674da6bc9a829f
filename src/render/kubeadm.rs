//! What of a KubeadmControlPlane may change: its webhook has a list, and refuses all else (cluster-api v1.13.5,
//! `controlplane/kubeadm/internal/webhooks/kubeadmcontrolplane.go`, `ValidateUpdate`).

use serde_json::{Map, Value};

/// The kind.
pub(super) const KIND: &str = "KubeadmControlPlane";

/// What may change below `spec`; `*` is all that is below. What ends in a `*` alone may not be taken away
/// or added as a whole.
const ALLOWED: &[&str] = &[
    "kubeadmConfigSpec/clusterConfiguration/etcd",
    "kubeadmConfigSpec/clusterConfiguration/etcd/*",
    "kubeadmConfigSpec/clusterConfiguration/dns",
    "kubeadmConfigSpec/clusterConfiguration/dns/*",
    "kubeadmConfigSpec/clusterConfiguration/imageRepository",
    "kubeadmConfigSpec/clusterConfiguration/featureGates",
    "kubeadmConfigSpec/clusterConfiguration/featureGates/*",
    "kubeadmConfigSpec/clusterConfiguration/apiServer",
    "kubeadmConfigSpec/clusterConfiguration/apiServer/*",
    "kubeadmConfigSpec/clusterConfiguration/controllerManager",
    "kubeadmConfigSpec/clusterConfiguration/controllerManager/*",
    "kubeadmConfigSpec/clusterConfiguration/scheduler",
    "kubeadmConfigSpec/clusterConfiguration/scheduler/*",
    "kubeadmConfigSpec/clusterConfiguration/certificateValidityPeriodDays",
    "kubeadmConfigSpec/clusterConfiguration/encryptionAlgorithm",
    "kubeadmConfigSpec/initConfiguration/nodeRegistration",
    "kubeadmConfigSpec/initConfiguration/nodeRegistration/*",
    "kubeadmConfigSpec/initConfiguration/patches",
    "kubeadmConfigSpec/initConfiguration/patches/directory",
    "kubeadmConfigSpec/initConfiguration/skipPhases",
    "kubeadmConfigSpec/initConfiguration/bootstrapTokens",
    "kubeadmConfigSpec/initConfiguration/localAPIEndpoint",
    "kubeadmConfigSpec/initConfiguration/localAPIEndpoint/*",
    "kubeadmConfigSpec/initConfiguration/timeouts",
    "kubeadmConfigSpec/initConfiguration/timeouts/*",
    "kubeadmConfigSpec/joinConfiguration/nodeRegistration",
    "kubeadmConfigSpec/joinConfiguration/nodeRegistration/*",
    "kubeadmConfigSpec/joinConfiguration/patches",
    "kubeadmConfigSpec/joinConfiguration/patches/directory",
    "kubeadmConfigSpec/joinConfiguration/skipPhases",
    "kubeadmConfigSpec/joinConfiguration/caCertPath",
    "kubeadmConfigSpec/joinConfiguration/controlPlane",
    "kubeadmConfigSpec/joinConfiguration/controlPlane/*",
    "kubeadmConfigSpec/joinConfiguration/discovery",
    "kubeadmConfigSpec/joinConfiguration/discovery/*",
    "kubeadmConfigSpec/joinConfiguration/timeouts",
    "kubeadmConfigSpec/joinConfiguration/timeouts/*",
    "kubeadmConfigSpec/bootCommands",
    "kubeadmConfigSpec/preKubeadmCommands",
    "kubeadmConfigSpec/postKubeadmCommands",
    "kubeadmConfigSpec/files",
    "kubeadmConfigSpec/verbosity",
    "kubeadmConfigSpec/users",
    "kubeadmConfigSpec/ntp",
    "kubeadmConfigSpec/ntp/*",
    "kubeadmConfigSpec/ignition",
    "kubeadmConfigSpec/ignition/*",
    "kubeadmConfigSpec/diskSetup",
    "kubeadmConfigSpec/diskSetup/*",
    "kubeadmConfigSpec/format",
    "kubeadmConfigSpec/mounts",
    "machineTemplate/metadata",
    "machineTemplate/metadata/*",
    "machineTemplate/spec",
    "machineTemplate/spec/*",
    "replicas",
    "version",
    "remediation",
    "remediation/*",
    "machineNaming",
    "machineNaming/*",
    "rollout",
    "rollout/*",
];

/// The fields that have changed and may not, as JSON pointers.
pub(super) fn refused(before: &Value, after: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let spec = |object: &Value| object.get("spec").and_then(Value::as_object).cloned();
    differences(spec(before).as_ref(), spec(after).as_ref(), "", &mut found);
    found.retain(|path| !is_allowed(path));
    found.into_iter().map(|path| format!("/spec/{path}")).collect()
}

/// The paths of a merge patch from one to the other: down to what is no object, or is gone.
fn differences(
    before: Option<&Map<String, Value>>,
    after: Option<&Map<String, Value>>,
    parent: &str,
    found: &mut Vec<String>,
) {
    let keys = |map: Option<&Map<String, Value>>| -> Vec<String> {
        map.into_iter().flat_map(Map::keys).cloned().collect()
    };
    let mut all = keys(before);
    all.extend(keys(after));
    all.sort_unstable();
    all.dedup();
    for key in all {
        let (old, new) = (before.and_then(|b| b.get(&key)), after.and_then(|a| a.get(&key)));
        let path = if parent.is_empty() { key.clone() } else { format!("{parent}/{key}") };
        match (old, new) {
            _ if old == new => {}
            (old, Some(Value::Object(new))) => {
                differences(old.and_then(Value::as_object), Some(new), &path, found);
            }
            _ => found.push(path),
        }
    }
}

fn is_allowed(path: &str) -> bool {
    ALLOWED.iter().any(|allowed| match allowed.strip_suffix('*') {
        Some(above) => path.starts_with(above),
        None => path == *allowed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(before: &str, after: &str) -> Vec<String> {
        let read = |text: &str| serde_json::json!({"spec": serde_saphyr::from_str::<Value>(text).unwrap()});
        refused(&read(before), &read(after))
    }

    #[test]
    fn what_the_webhook_lists_may_change() {
        let nothing = Vec::<String>::new();
        for (before, after) in [
            ("{replicas: 1, version: v1.34.2}", "{replicas: 3, version: v1.35.0}"),
            ("{kubeadmConfigSpec: {files: [{path: /a}]}}", "{kubeadmConfigSpec: {}}"),
            (
                "{kubeadmConfigSpec: {clusterConfiguration: {}}}",
                "{kubeadmConfigSpec: {clusterConfiguration: {dns: {imageRepository: r}}}}",
            ),
            ("{machineTemplate: {spec: {a: {b: 1}}}}", "{machineTemplate: {spec: {a: {b: 2}}}}"),
            ("{remediation: {maxRetry: 3}}", "{}"),
        ] {
            assert_eq!(found(before, after), nothing, "{before} → {after}");
        }
    }

    #[test]
    fn what_it_does_not_list_may_not() {
        let cluster =
            |inner: &str| format!("{{kubeadmConfigSpec: {{clusterConfiguration: {inner}}}}}");
        let below = "/spec/kubeadmConfigSpec/clusterConfiguration";
        for field in ["certificatesDir", "controlPlaneEndpoint", "caCertificateValidityPeriodDays"]
        {
            let (before, after) =
                (cluster(&format!("{{{field}: a}}")), cluster(&format!("{{{field}: b}}")));
            assert_eq!(found(&before, &after), [format!("{below}/{field}")]);
            assert_eq!(found(&before, &cluster("{}")), [format!("{below}/{field}")]);
            assert_eq!(found(&cluster("{}"), &after), [format!("{below}/{field}")]);
        }
        let join = "{kubeadmConfigSpec: {joinConfiguration: {timeouts: {a: 1}}}}";
        let path = "/spec/kubeadmConfigSpec/joinConfiguration";
        assert_eq!(found(join, "{kubeadmConfigSpec: {}}"), [path], "not as a whole");
    }
}
