//! `KubeadmConfigTemplate`, and what a `KubeadmControlPlane` has of the same (cluster-api v1.13.5,
//! `api/bootstrap/kubeadm/v1beta2/kubeadmconfig_types.go`, `KubeadmConfigSpec.Validate`). The feature gate of
//! Ignition is off, as it is by default.

use serde_json::Value;

use super::rules;
use super::value::{bad_metadata, has, list, number, repeats, text};
use crate::pattern::DocumentPart;

/// Where kubeadm's components and the kubelets get arguments.
const ARGUMENTS: [&str; 6] = [
    "/clusterConfiguration/apiServer/extraArgs",
    "/clusterConfiguration/controllerManager/extraArgs",
    "/clusterConfiguration/scheduler/extraArgs",
    "/clusterConfiguration/etcd/local/extraArgs",
    "/initConfiguration/nodeRegistration/kubeletExtraArgs",
    "/joinConfiguration/nodeRegistration/kubeletExtraArgs",
];

rules! {
    "has a file with content and a source of content",
        "spec: {template: {spec: {files: [{path: /a, content: x, contentFrom: {secret: {name: s, key: k}}}]}}}" =>
        |o| any(o, "/files", |f| !text(f, "/content").is_empty() && has(f, "/contentFrom"));
    "has a file from a Secret without a name",
        "spec: {template: {spec: {files: [{path: /a, contentFrom: {secret: {key: k}}}]}}}" =>
        |o| any(o, "/files", |f| lacks(f, "/contentFrom", "name"));
    "has a file from no key of a Secret",
        "spec: {template: {spec: {files: [{path: /a, contentFrom: {secret: {name: s}}}]}}}" =>
        |o| any(o, "/files", |f| lacks(f, "/contentFrom", "key"));
    "has two files at one path",
        "spec: {template: {spec: {files: [{path: /a, content: x}, {path: /a, content: y}]}}}" =>
        |o| repeats(list(o, "/files").iter().map(|file| text(file, "/path")));
    "gives a component one argument twice", // the CRD's own rule, told before a server is asked
        "spec: {template: {spec: {joinConfiguration: {nodeRegistration: {kubeletExtraArgs: [{name: v, value: '1'}, {name: v, value: '2'}]}}}}}" =>
        |o| ARGUMENTS.iter().any(|path| {
            repeats(list(o, path).iter().map(|argument| text(argument, "/name")))
        });
    "has a user with a password and a source of one",
        "spec: {template: {spec: {users: [{name: u, passwd: x, passwdFrom: {secret: {name: s, key: k}}}]}}}" =>
        |o| any(o, "/users", |u| !text(u, "/passwd").is_empty() && has(u, "/passwdFrom"));
    "has a user's password from a Secret without a name",
        "spec: {template: {spec: {users: [{name: u, passwdFrom: {secret: {key: k}}}]}}}" =>
        |o| any(o, "/users", |u| lacks(u, "/passwdFrom", "name"));
    "has a user's password from no key of a Secret",
        "spec: {template: {spec: {users: [{name: u, passwdFrom: {secret: {name: s}}}]}}}" =>
        |o| any(o, "/users", |u| lacks(u, "/passwdFrom", "key"));
    "is written for Ignition, whose feature gate is off",
        "spec: {template: {spec: {format: ignition}}}" =>
        |o| text(o, "/format") == "ignition" || has(o, "/ignition");
    "divides a disk into more than all of it",
        "spec: {template: {spec: {diskSetup: {partitions: [{diskLayout: [{percentage: 60}, {percentage: 60}]}]}}}}" =>
        |o| any(o, "/diskSetup/partitions", |p| {
            list(p, "/diskLayout").iter().filter_map(|l| number(l, "/percentage")).sum::<i64>() > 100
        });
    "finds its cluster by two ways at once",
        "spec: {template: {spec: {joinConfiguration: {discovery: {file: {kubeConfig: {user: {authProvider: {name: a}, exec: {command: b}}}}}}}}}" =>
        |o| ["authProvider", "exec"].iter().all(|way| {
            has(o, &format!("/joinConfiguration/discovery/file/kubeConfig/user/{way}"))
        });
}

rules! { TEMPLATE:
    "has malformed labels or annotations in its template",
        "spec: {template: {metadata: {annotations: {a b: c}}}}" =>
        |o| bad_metadata(o, "/metadata");
}

fn any(spec: DocumentPart<'_>, path: &str, broken: impl Fn(&Value) -> bool) -> bool {
    list(spec, path).iter().any(broken)
}

/// Whether a source is there and a field of its Secret is not.
fn lacks(value: &Value, source: &str, field: &str) -> bool {
    has(value, source) && text(value, &format!("{source}/secret/{field}")).is_empty()
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {name: a-np0-1, namespace: a}
spec:
  template:
    metadata: {labels: {a: b}}
    spec:
      files:
      - {path: /a, contentFrom: {secret: {name: s, key: k}}}
      - {path: /b, content: x}
      users: [{name: u, passwdFrom: {secret: {name: s, key: k}}}]
      diskSetup: {partitions: [{diskLayout: [{percentage: 60}, {percentage: 40}]}]}
";
