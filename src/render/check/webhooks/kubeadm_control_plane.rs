//! `KubeadmControlPlane` (cluster-api v1.13.5, `controlplane/kubeadm/internal/webhooks/kubeadmcontrolplane.go`).
//! What it has of kubeadm's configuration of machines is in [`bootstrap`](super::bootstrap).

use serde_json::Value;

use super::rules;
use super::value::{
    at, bad_metadata, bad_naming, bad_tag, bad_taint, below, has, no_version, number,
    reserved_taint, text,
};
use crate::pattern::DocumentPart;

const CLUSTER: &str = "/spec/kubeadmConfigSpec/clusterConfiguration";
const MACHINE: &str = "/spec/machineTemplate/spec/infrastructureRef";
const SURGE: &str = "/spec/rollout/strategy/rollingUpdate/maxSurge";
const TAINTS: &str = "/spec/machineTemplate/spec/taints";
const HEALTH: &str = "timeouts/controlPlaneComponentHealthCheckSeconds";
/// How long the certificates of the authorities are valid by default, in days.
const AUTHORITY_DAYS: i64 = 3650;

rules! {
    "has no machine at all", "spec: {replicas: 0}" =>
        |o| number(o, "/spec/replicas").is_some_and(|replicas| replicas <= 0);
    "has an even number of machines, each with a member of etcd", "spec: {replicas: 2}" =>
        |o| number(o, "/spec/replicas").is_some_and(|replicas| replicas % 2 == 0)
            && !has(below(o, CLUSTER), "/etcd/external");
    "says no group of its machines", "spec: {machineTemplate: {spec: {infrastructureRef: {apiGroup: null}}}}" =>
        |o| text(below(o, MACHINE), "/apiGroup").is_empty();
    "says no kind of its machines", "spec: {machineTemplate: {spec: {infrastructureRef: {kind: null}}}}" =>
        |o| text(below(o, MACHINE), "/kind").is_empty();
    "says no template of its machines", "spec: {machineTemplate: {spec: {infrastructureRef: {name: null}}}}" =>
        |o| text(below(o, MACHINE), "/name").is_empty();
    "has a version that is none", "spec: {version: v1.34}" => |o| {
        let version = text(o, "/spec/version");
        // The webhook itself puts the v before it.
        no_version(version) && no_version(&format!("v{version}"))
    };
    "has a taint that only the system sets",
        "spec: {machineTemplate: {spec: {taints: [{key: node.cluster.x-k8s.io/uninitialized}]}}}" =>
        |o| reserved_taint(o, TAINTS);
    "has a taint whose key is malformed",
        "spec: {machineTemplate: {spec: {taints: [{key: a b}]}}}" =>
        |o| bad_taint(o, TAINTS);
    "gives its machines malformed labels or annotations",
        "spec: {machineTemplate: {metadata: {labels: {a: two words}}}}" =>
        |o| bad_metadata(o, "/spec/machineTemplate/metadata");
    "names its machines alike", "spec: {machineNaming: {template: cp}}" => bad_naming;
    "surges by a number other than 0 and 1",
        "spec: {rollout: {strategy: {rollingUpdate: {maxSurge: 2}}}}" =>
        |o| surge(o).is_some_and(|surge| surge != 0 && surge != 1);
    "takes a machine away before it makes one, and has less than three",
        "spec: {replicas: 1, rollout: {strategy: {rollingUpdate: {maxSurge: 0}}}}" =>
        |o| surge(o) == Some(0) && number(o, "/spec/replicas").is_some_and(|replicas| replicas < 3);
    "has certificates that outlive their authority",
        "spec: {kubeadmConfigSpec: {clusterConfiguration: {certificateValidityPeriodDays: 4000}}}" =>
        |o| validity(o, "certificateValidityPeriodDays").is_some_and(|days| {
            days > validity(o, "caCertificateValidityPeriodDays").unwrap_or(AUTHORITY_DAYS)
        });
    "renews its certificates before they are new",
        "spec: {rollout: {before: {certificatesExpiryDays: 90}}, kubeadmConfigSpec: {clusterConfiguration: {certificateValidityPeriodDays: 90}}}" =>
        |o| number(o, "/spec/rollout/before/certificatesExpiryDays").is_some_and(|before| {
            validity(o, "certificateValidityPeriodDays").is_some_and(|days| before >= days)
        });
    "has a malformed tag of the DNS' image",
        "spec: {kubeadmConfigSpec: {clusterConfiguration: {dns: {imageTag: 'v1:2'}}}}" =>
        |o| bad_tag(text(below(o, CLUSTER), "/dns/imageTag"));
    "has a malformed tag of etcd's image",
        "spec: {kubeadmConfigSpec: {clusterConfiguration: {etcd: {local: {imageTag: 'v1:2'}}}}}" =>
        |o| bad_tag(text(below(o, CLUSTER), "/etcd/local/imageTag"));
    "has an etcd of its own and another one",
        "spec: {kubeadmConfigSpec: {clusterConfiguration: {etcd: {external: {endpoints: [a]}}}}}" =>
        |o| ["local", "external"].iter().all(|etcd| has(o, &format!("{CLUSTER}/etcd/{etcd}")));
    "waits for its parts differently when it begins and when it grows",
        "spec: {kubeadmConfigSpec: {joinConfiguration: {timeouts: null}}}" => |o| {
        let wait = |when: &str| number(o, &format!("/spec/kubeadmConfigSpec/{when}/{HEALTH}"));
        wait("initConfiguration") != wait("joinConfiguration")
    };
}

/// By how many machines it grows in a rollout; a percentage is not a number here either.
fn surge(object: DocumentPart<'_>) -> Option<i64> {
    match at(object, SURGE)? {
        Value::String(text) => Some(text.parse().unwrap_or(0)),
        value => value.as_i64(),
    }
}

/// A time in days that is said; 0 says nothing.
fn validity(object: DocumentPart<'_>, field: &str) -> Option<i64> {
    number(object, &format!("{CLUSTER}/{field}")).filter(|days| *days != 0)
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: a-control-plane, namespace: a}
spec:
  replicas: 3
  version: v1.34.2
  machineTemplate:
    spec: {infrastructureRef: {apiGroup: g, kind: AzureMachineTemplate, name: a-cp-1}}
  kubeadmConfigSpec:
    clusterConfiguration: {etcd: {local: {dataDir: /d}}}
    initConfiguration: {timeouts: {controlPlaneComponentHealthCheckSeconds: 1200}}
    joinConfiguration: {timeouts: {controlPlaneComponentHealthCheckSeconds: 1200}}
";
