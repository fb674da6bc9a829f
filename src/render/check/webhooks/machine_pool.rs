//! `MachinePool` (cluster-api v1.13.5, `internal/webhooks/machinepool.go`, `validate`).

use super::rules;
use super::value::{bad_metadata, has, list, no_version, text};

rules! {
    "has neither a bootstrap provider nor a Secret of bootstrap data",
        "spec: {template: {spec: {bootstrap: {dataSecretName: null}}}}" =>
        |o| !has(o, "/spec/template/spec/bootstrap/configRef")
            && !has(o, "/spec/template/spec/bootstrap/dataSecretName");
    "says another cluster in its template", "spec: {template: {spec: {clusterName: b}}}" =>
        |o| text(o, "/spec/clusterName") != text(o, "/spec/template/spec/clusterName");
    "has a version that Cluster API does not read", "spec: {template: {spec: {version: v1.34}}}" =>
        |o| has(o, "/spec/template/spec/version") && no_version(text(o, "/spec/template/spec/version"));
    "has taints, which Cluster API gives to no pool of machines yet",
        "spec: {template: {spec: {taints: [{key: a, effect: NoSchedule, propagation: Always}]}}}" =>
        |o| !list(o, "/spec/template/spec/taints").is_empty();
    "has a malformed label or annotation in its template",
        "spec: {template: {metadata: {labels: {a: b..}}}}" =>
        |o| bad_metadata(o, "/spec/template/metadata");
}

#[cfg(test)]
pub(super) const GOOD: &str = r#"
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachinePool
metadata: {name: a-np0, namespace: a}
spec:
  clusterName: a
  replicas: 2
  template:
    spec:
      clusterName: a
      version: v1.34.2
      bootstrap: {dataSecretName: ""}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AzureASOManagedMachinePool, name: a-np0}
"#;
