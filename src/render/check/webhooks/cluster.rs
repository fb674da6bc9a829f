//! Cluster (cluster-api v1.13.5, `internal/webhooks/cluster.go`, `validate`).

use super::rules;
use super::value::{has, list, no_cidr, text};
use crate::model::is_label_value;

rules! {
    "has a name that is no value of a label", "metadata: {name: a..}" =>
        |o| !is_label_value(text(o, "/metadata/name"));
    "has neither a control plane nor an infrastructure",
        "spec: {controlPlaneRef: null, infrastructureRef: null}" =>
        |o| !["controlPlaneRef", "infrastructureRef", "topology"]
            .iter().any(|field| has(o, &format!("/spec/{field}")));
    "has a range of pods that is no CIDR", "spec: {clusterNetwork: {pods: {cidrBlocks: [10.0.0.0]}}}" =>
        |o| no_cidr(list(o, "/spec/clusterNetwork/pods/cidrBlocks"));
    "has a range of services that is no CIDR",
        "spec: {clusterNetwork: {services: {cidrBlocks: [10.0.0.0/33]}}}" =>
        |o| no_cidr(list(o, "/spec/clusterNetwork/services/cidrBlocks"));
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: a, namespace: a}
spec:
  clusterNetwork: {pods: {cidrBlocks: [10.0.0.0/16]}, services: {cidrBlocks: [10.1.0.0/16]}}
  controlPlaneRef: {apiGroup: g, kind: KamajiControlPlane, name: a}
  infrastructureRef: {apiGroup: g, kind: AzureCluster, name: a}
";
