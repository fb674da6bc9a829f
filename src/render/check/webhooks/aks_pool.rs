//! `AzureASOManagedMachinePool` (cluster-api-provider-azure v1.26.0, `pkg/mutators/azureasomanagedmachinepool.go`), and what
//! Azure refuses of an agent pool (`Microsoft.ContainerService/managedClusters/agentPools`, API 2024-09-01): ASO would
//! tell it long after the commit, and the pool would never be.

use std::sync::LazyLock;

use regex_lite::Regex;
use serde_json::Value;

use super::rules;
use super::value::{has, list, number, on, text};
use crate::pattern::DocumentPart;

/// The name of an agent pool of Linux.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("^[a-z][a-z0-9]{0,11}$").expect("the expression is a constant that a test compiles")
});

/// Domains of labels that a node may not give itself, and those of them that it may (kubelet, `pkg/apis/well_known_labels.go`).
const RESERVED: [&str; 2] = ["kubernetes.io", "k8s.io"];
const ALLOWED: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];

/// The agent pool among the resources: the first of its kind.
fn pool(object: DocumentPart<'_>) -> Option<&Value> {
    list(object, "/spec/resources").iter().find(|&resource| {
        text(resource, "/kind") == "ManagedClustersAgentPool"
            && text(resource, "/apiVersion").starts_with("containerservice.azure.com/")
    })
}

fn is(object: DocumentPart<'_>, broken: impl Fn(&Value) -> bool) -> bool {
    pool(object).is_some_and(broken)
}

fn is_reserved(label: &str) -> bool {
    let domain = label.split_once('/').map_or("", |(domain, _)| domain);
    let below = |of: &str| domain == of || domain.ends_with(&format!(".{of}"));
    RESERVED.iter().any(|of| below(of)) && !ALLOWED.iter().any(|of| below(of))
}

/// Fewest nodes of a pool that scales by itself and most, where they are no bounds.
fn bad_bounds(pool: &Value) -> bool {
    let (min, max) = (number(pool, "/spec/minCount"), number(pool, "/spec/maxCount"));
    let scales = on(pool, "/spec/enableAutoScaling");
    match (min, max) {
        (Some(min), Some(max)) => !scales || min > max || max > 1000,
        (None, None) => scales,
        _ => true,
    }
}

rules! {
    "has no ManagedClustersAgentPool among its resources", "spec: {resources: []}" =>
        |o| pool(o).is_none();
    "has an agent pool whose name Azure refuses: a small letter, then at most 11 small letters and digits",
        "spec: {resources: [{apiVersion: containerservice.azure.com/v1api20240901, \
         kind: ManagedClustersAgentPool, spec: {azureName: np-0}}]}" =>
        |o| is(o, |pool| {
            let name = [text(pool, "/spec/azureName"), text(pool, "/metadata/name")];
            let name = name.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
            !NAME.is_match(name)
        });
    "says the number of nodes or their version, which are the MachinePool's",
        "spec: {resources: [{apiVersion: containerservice.azure.com/v1api20240901, \
         kind: ManagedClustersAgentPool, spec: {azureName: np0, count: 2}}]}" =>
        |o| is(o, |pool| has(pool, "/spec/count") || has(pool, "/spec/orchestratorVersion"));
    "has bounds that are none: `enableAutoScaling`, and `minCount` of at most `maxCount`",
        "spec: {resources: [{apiVersion: containerservice.azure.com/v1api20240901, \
         kind: ManagedClustersAgentPool, spec: {azureName: np0, enableAutoScaling: true, minCount: 3, maxCount: 2}}]}" =>
        |o| is(o, bad_bounds);
    "has spot machines for the system, or a system without nodes",
        "spec: {resources: [{apiVersion: containerservice.azure.com/v1api20240901, \
         kind: ManagedClustersAgentPool, spec: {azureName: np0, mode: System, scaleSetPriority: Spot}}]}" =>
        |o| is(o, |pool| text(pool, "/spec/mode") == "System"
            && (text(pool, "/spec/scaleSetPriority") == "Spot"
                || number(pool, "/spec/minCount") == Some(0)));
    "has a disk that Azure does not make: at most 2048 GiB",
        "spec: {resources: [{apiVersion: containerservice.azure.com/v1api20240901, \
         kind: ManagedClustersAgentPool, spec: {azureName: np0, osDiskSizeGB: 4096}}]}" =>
        |o| is(o, |pool| number(pool, "/spec/osDiskSizeGB").is_some_and(|size| !(0..=2048).contains(&size)));
    // Azure Service Operator, `ValidateResourceReferences`: `subnet` and `vnet` were both said.
    "has its nodes in a subnet by its name and in one by its id",
        "spec: {resources: [{apiVersion: containerservice.azure.com/v1api20240901, \
         kind: ManagedClustersAgentPool, spec: {azureName: np0, vnetSubnetReference: {name: a, armId: /b}}}]}" =>
        |o| is(o, |pool| has(pool, "/spec/vnetSubnetReference/name") && has(pool, "/spec/vnetSubnetReference/armId"));
    "has a label that no node may give itself",
        "spec: {resources: [{apiVersion: containerservice.azure.com/v1api20240901, \
         kind: ManagedClustersAgentPool, spec: {azureName: np0, nodeLabels: {node-role.kubernetes.io/x: y}}}]}" =>
        |o| is(o, |pool| {
            let labels = super::value::at(pool, "/spec/nodeLabels").and_then(Value::as_object);
            labels.is_some_and(|labels| labels.keys().any(|label| is_reserved(label)))
        });
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureASOManagedMachinePool
metadata: {name: a-np0, namespace: a}
spec:
  resources:
  - apiVersion: containerservice.azure.com/v1api20240901
    kind: ManagedClustersAgentPool
    metadata: {name: a-np0}
    spec:
      azureName: np0
      owner: {name: a}
      mode: System
      enableAutoScaling: true
      minCount: 1
      maxCount: 5
      osDiskSizeGB: 128
      nodeLabels: {team: web, node.kubernetes.io/x: y, node.cluster.x-k8s.io/z: w}
";
