//! `ManagedCluster`: a cluster that people want, as a pod is a workload that people want.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{Condition, SharedList};
use super::shared::{ClusterAccess, ControlPlane, ErrorStatus, Network, NodePool};
use super::{Affinity, AntiAffinity, DataStoreChoice, Parameters, PlacementTerm, SpreadConstraint};

/// A cluster that carp places on a worker.
#[derive(
    CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "carp.dev",
    version = "v1alpha1",
    kind = "ManagedCluster",
    doc = "A cluster that carp places on a worker.",
    namespaced,
    status = "ManagedClusterStatus",
    shortname = "mc",
    category = "carp",
    printcolumn = r#"{"name":"Phase","type":"string","jsonPath":".status.phase"}"#,
    printcolumn = r#"{"name":"Worker","type":"string","jsonPath":".status.assignedWorker"}"#,
    printcolumn = r#"{"name":"Version","type":"string","jsonPath":".spec.version"}"#,
    printcolumn = r#"{"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type=='Ready')].status"}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ManagedClusterSpec {
    /// The Kubernetes version, such as `v1.34.2`.
    #[schemars(regex(pattern = r"^v[0-9]+\.[0-9]+\.[0-9]+$"))]
    pub version: String,
    /// The location of the nodes. Workers near it are preferred; it is no filter.
    pub location: String,
    /// The class: a named size with its demand, and defaults for the other fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// How the cluster is made; the flavor is a folder of templates: `kamaji-capz` (a hosted control plane
    /// with nodes in Azure; the default) or `kind` (in containers on one machine, for laptops and tests).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flavor: Option<String>,
    /// The entry of `credentials` in `carp.yaml`. Default: the class's, else the tenant's, else the
    /// only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<String>,
    /// How many replicas the control plane has, and of which size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<ControlPlane>,
    /// The node pools. Short form: `replicas: 3` is one pool called `np0`.
    #[serde(default, skip_serializing_if = "SharedList::is_empty")]
    pub node_pools: SharedList<NodePool>,
    /// The cluster's own address ranges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Who reaches the API server, where the flavor can say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<ClusterAccess>,
    /// What the flavor is told besides: `carp templates explain FLAVOR` lists what there is. Default: the
    /// class's, one by one, else the flavor's.
    #[serde(default, skip_serializing_if = "Parameters::is_default")]
    pub parameters: Parameters,
    /// Which data store of its worker the cluster is in, where its flavor keeps its state there. Default: the
    /// class's, else the one called `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_store: Option<DataStoreChoice>,
    /// Terms that narrow what the policies allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<ManagedClusterPlacement>,
    /// Which clusters are placed first when room is scarce: the higher, the sooner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Whether Cluster API leaves the cluster as it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// What the removal of this document does. Unset: the removal is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<DeletionPolicy>,
    /// What becomes of the cluster where its worker is lost, or where it should leave it and cannot be handed over. A
    /// self-managed cluster can be, as long as its worker is well; all others have their state on the worker.
    #[serde(default, skip_serializing_if = "OnWorkerLoss::is_default")]
    pub on_worker_loss: OnWorkerLoss,
}

/// What becomes of a cluster that cannot stay where it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum OnWorkerLoss {
    /// It stays, and waits for a worker that is lost: no drain, taint, failover or policy makes it anew.
    #[default]
    Hold,
    /// It is deleted there, and a new, empty cluster is made on another worker. What was in it is lost.
    Rebuild,
}

impl OnWorkerLoss {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A cluster's own wishes: they narrow what its policy allows, never widen it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ManagedClusterPlacement {
    /// Which workers the cluster may be on, and which it prefers; a policy's terms hold besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affinity: Option<Affinity>,
    /// The pools of workers, of those that its tenant and its policy allow; none named means all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<String>,
    /// How evenly the clusters that each constraint counts are spread, besides what the policy says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spread: Vec<SpreadConstraint>,
    /// Which other clusters of its tenant to keep away from, besides what the policy says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anti_affinity: Vec<AntiAffinity>,
}

impl ManagedClusterSpec {
    /// The required terms that the cluster itself adds.
    pub fn required_terms(&self) -> impl Iterator<Item = &PlacementTerm> {
        self.placement.iter().flat_map(|p| p.affinity.iter()).flat_map(|a| a.required.iter())
    }

    /// Whether the cluster itself says which workers it may use.
    #[must_use]
    pub fn narrows(&self) -> bool {
        let pools = self.placement.as_ref().is_some_and(|own| !own.pools.is_empty());
        pools || self.required_terms().next().is_some()
    }

    /// The spread constraints that the cluster itself adds.
    #[must_use]
    pub fn own_spread(&self) -> &[SpreadConstraint] {
        self.placement.as_ref().map_or(&[], |placement| &placement.spread)
    }

    /// The rules of anti-affinity that the cluster itself adds.
    #[must_use]
    pub fn own_anti_affinity(&self) -> &[AntiAffinity] {
        self.placement.as_ref().map_or(&[], |placement| &placement.anti_affinity)
    }
}

/// What the removal of a ManagedCluster from the fleet does to the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DeletionPolicy {
    /// The cluster is deleted, in steps that each wait for evidence.
    Delete,
    /// The cluster goes on running and carp lets go of it.
    Orphan,
}

/// What carp and the worker of the cluster know of it; carp writes it, on the status branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ManagedClusterStatus {
    /// A summary of the conditions: `Pending`, `Scheduled`, `Provisioning`, `Running`, `Updating`,
    /// `Degraded`, `Deleting` or `Unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The worker that the cluster is placed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned_worker: Option<String>,
    /// What is wrong, each with its code: a section of carp's page of errors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorStatus>,
    /// What is known, one condition each: whether it holds, why, and since when. The phase sums them up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The Kubernetes version that the control plane runs, as the worker reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The host and port at which the API server is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// How many nodes are wanted and ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodeCounts>,
    /// The data store of its worker that the cluster's state is in; absent where its worker keeps none for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_store: Option<String>,
    /// On a cluster: the generation that this status speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// Counts of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeCounts {
    /// How many nodes the cluster is to have.
    pub desired: u32,
    /// How many nodes say that they are ready.
    pub ready: u32,
}
