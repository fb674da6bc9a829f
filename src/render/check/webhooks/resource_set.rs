//! `ClusterResourceSet` (cluster-api v1.13.5, `internal/webhooks/clusterresourceset.go`).

use super::rules;
use super::value::bad_selector;

rules! {
    "selects no cluster", "spec: {clusterSelector: {matchLabels: null}}" =>
        |o| bad_selector(o, "/spec/clusterSelector");
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: addons.cluster.x-k8s.io/v1beta2
kind: ClusterResourceSet
metadata: {name: a, namespace: a}
spec: {clusterSelector: {matchLabels: {a: b}}, resources: [{kind: ConfigMap, name: a}]}
";
