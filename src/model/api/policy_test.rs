//! `PlacementPolicyTest`: what people expect of their policies, held by `carp validate`.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::ReasonCode;
use super::{ManagedClusterSpec, WorkerSpec};

/// What people expect of their policies. A test is a small fleet of its own: some workers, all of them
/// ready and empty, and the clusters that it names. All of them are placed in one run, in the order of
/// the queue, under the policies of the fleet.
#[derive(
    CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "carp.dev",
    version = "v1alpha1",
    kind = "PlacementPolicyTest",
    doc = "What people expect of their placement policies.",
    namespaced,
    shortname = "ppt",
    category = "carp"
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlacementPolicyTestSpec {
    /// The workers that there are. Unset: those of the fleet, as if nobody had cordoned any of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<TestWorker>,
    /// Clusters that the test gives, besides those of the fleet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<TestCluster>,
    /// Clusters that are placed before: the worker of each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub placed: BTreeMap<String, String>,
    /// What is expected of clusters after a run over these workers.
    pub expect: Vec<Expectation>,
}

/// A worker that stands in the fleet of the test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestWorker {
    /// The name and the labels of the worker.
    pub metadata: TestMetadata,
    /// What the worker is, as in the `spec` of a Worker.
    pub spec: WorkerSpec,
}

/// A cluster that stands in the fleet of the test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestCluster {
    /// The name, the tenant and the labels of the cluster.
    pub metadata: TestMetadata,
    /// What the cluster is, as in the `spec` of a ManagedCluster.
    pub spec: ManagedClusterSpec,
}

/// What stands around an object of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestMetadata {
    /// The name, by which `placed` and `expect` speak of it.
    pub name: String,
    /// The tenant of a cluster, as in a ManagedCluster. Default: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The labels that selectors of policies look at.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// What is expected of one cluster. Every part that is given must hold, and one is given at least.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The cluster: one that the test gives, or else one of the fleet.
    pub cluster: String,
    /// The worker on which it is after the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// That no worker takes it, so that it waits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
    /// That it waits, and for exactly these reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<ReasonCode>,
    /// The name of the policy that applies to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Workers that refuse it, whatever becomes of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<ExpectedRefusal>,
}

/// That a worker refuses the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRefusal {
    /// The name of the worker that refuses it.
    pub worker: String,
    /// For exactly these reasons; unset: for any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<ReasonCode>,
}
