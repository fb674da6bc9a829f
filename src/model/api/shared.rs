//! What several kinds have.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Quantity;
use super::Parameters;

/// The control plane of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ControlPlane {
    /// How many replicas; odd where etcd is stacked on the control plane's machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 9))]
    pub replicas: Option<u32>,
    /// The VM size of the control plane's machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
}

/// A group of nodes with the same machines, labels and taints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodePool {
    /// The pool's name: lower-case letters and digits, at most 12.
    #[schemars(regex(pattern = r"^[a-z][a-z0-9]{0,11}$"))]
    pub name: String,
    /// How many nodes; not together with `autoscale`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub replicas: Option<u32>,
    /// Bounds between which the cluster autoscaler sets the number of nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autoscale: Option<Autoscale>,
    /// The size of the nodes' machines, in the cloud's own words. Default: the flavor's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vm_size: Option<String>,
    /// The availability zones; one MachineDeployment is made for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<String>,
    /// Labels that each node of the pool has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Taints that each node of the pool has: only pods that tolerate them run there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<Taint>,
    /// Whether the nodes are spot machines, which may be taken away at any time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spot: bool,
    /// The disk that the operating system of each node is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os_disk: Option<OsDisk>,
    /// Parameters of the flavor that are others for this pool. Default: those of the cluster.
    #[serde(default, skip_serializing_if = "Parameters::is_default")]
    pub parameters: Parameters,
}

/// Bounds of a pool that the cluster autoscaler sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Autoscale {
    /// The fewest nodes that the autoscaler leaves.
    #[schemars(range(min = 0, max = 1000))]
    pub min: u32,
    /// The most nodes; demand is counted at this number.
    #[schemars(range(min = 1, max = 1000))]
    pub max: u32,
}

/// A node's disk for the operating system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OsDisk {
    /// The size of the disk, in GiB.
    #[serde(rename = "sizeGB")]
    #[schemars(range(min = 30, max = 4095))]
    pub size_gb: u32,
}

/// Who reaches a cluster's API server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusterAccess {
    /// Where its address is: on the internet (the default), or inside the cloud's networks alone, where the nodes
    /// and all who speak to it must be too. It stays as it is once the cluster has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<EndpointAccess>,
    /// Ranges of addresses from which it is reached; none named means all. Those that the nodes go out by must be
    /// among them.
    #[serde(rename = "allowedCIDRs", default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_cidrs: Vec<String>,
}

/// Where the address of an API server is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum EndpointAccess {
    /// On the internet.
    #[default]
    Public,
    /// Inside the cloud's networks.
    Private,
}

/// The cluster's own address ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Ranges of the pods' addresses.
    #[serde(rename = "podCIDRs", default, skip_serializing_if = "Vec::is_empty")]
    pub pod_cidrs: Vec<String>,
    /// Ranges of the services' addresses.
    #[serde(rename = "serviceCIDRs", default, skip_serializing_if = "Vec::is_empty")]
    pub service_cidrs: Vec<String>,
}

/// A mark on a worker or node that keeps away what does not tolerate it.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Taint {
    /// The key of the taint, such as `example.com/gpu`.
    pub key: String,
    /// The value; empty when only the key matters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// What it does to what does not tolerate it.
    pub effect: TaintEffect,
    /// Since when, in UTC and in quotes, such as "2026-11-01T09:00:00Z"; for `NoExecute` on a worker only. A
    /// toleration for some seconds counts from here; without it, it never runs out.
    #[serde(rename = "timeAdded", default, skip_serializing_if = "Option::is_none")]
    pub time_added: Option<String>,
}

/// What a taint does with pods that do not tolerate it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum TaintEffect {
    /// Nothing new is placed there.
    NoSchedule,
    /// A worker with it is taken only when no other fits.
    PreferNoSchedule,
    /// Nothing new is placed there; what is there and may move, moves.
    NoExecute,
}

impl std::fmt::Display for Taint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.key)?;
        if !self.value.is_empty() {
            write!(f, "={}", self.value)?;
        }
        write!(f, ":{:?}", self.effect)
    }
}

/// An error, as a status shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorStatus {
    /// The stable name, a section of `docs/errors.md`.
    pub code: String,
    /// What went wrong, in a sentence.
    pub message: String,
    /// Whether a change of the fleet repository mends it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub user_error: bool,
}

/// Whether an amount map says nothing.
pub(super) fn no_resources(map: &BTreeMap<String, Quantity>) -> bool {
    map.is_empty()
}
