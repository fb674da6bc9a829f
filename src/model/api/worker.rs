//! `Worker` and `WorkerOverlay`: the nodes of a fleet.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{Condition, Resources, SharedList};
use super::shared::{ControlPlane, ErrorStatus, Network, NodePool, Taint, no_resources};
use super::{DataStore, DataStoreStatus, Parameters};

/// A cluster that runs Cluster API and hosts the control planes of managed clusters.
#[derive(
    CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "carp.dev",
    version = "v1alpha1",
    kind = "Worker",
    doc = "A cluster that runs Cluster API and hosts the control planes of managed clusters.",
    namespaced,
    status = "WorkerStatus",
    shortname = "wk",
    category = "carp",
    printcolumn = r#"{"name":"Phase","type":"string","jsonPath":".status.phase"}"#,
    printcolumn = r#"{"name":"Location","type":"string","jsonPath":".spec.location"}"#,
    printcolumn = r#"{"name":"Version","type":"string","jsonPath":".spec.version"}"#,
    printcolumn = r#"{"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type=='Ready')].status"}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkerSpec {
    /// The worker's own Kubernetes version, such as `v1.34.2`.
    #[schemars(regex(pattern = r"^v[0-9]+\.[0-9]+\.[0-9]+$"))]
    pub version: String,
    /// The location of the worker: clusters whose own location is near are placed here first.
    pub location: String,
    /// How the worker is made: `capz` (in Azure, by the control-plane cluster; the default), `kind` (in
    /// containers on one machine, for laptops and tests) or `attached` (it exists already).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flavor: Option<String>,
    /// Whose machines an attached worker is made of, such as `aws`: the name that Cluster API has for the
    /// infrastructure provider. Other flavors say it themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The entry of `credentials` in `carp.yaml`. Default: the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<String>,
    /// How many replicas the worker's own control plane has, and of which size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<ControlPlane>,
    /// The pools that carry hosted control planes, besides the `system` pool that every worker has with three
    /// nodes; one called `system` says what that pool is. Short form: `replicas: 3` is one pool called `np0`.
    #[serde(default, skip_serializing_if = "SharedList::is_empty")]
    pub node_pools: SharedList<NodePool>,
    /// The worker's own address ranges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// What the flavor is told besides: `carp templates explain FLAVOR` lists what there is. Default: the
    /// flavor's.
    #[serde(default, skip_serializing_if = "Parameters::is_default")]
    pub parameters: Parameters,
    /// The stores of hosted control planes' state that something is said of; `default` is there in any case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_stores: Vec<DataStore>,
    /// What the worker has for managed clusters, by resource. Short form: `capacity: 50` is
    /// `{clusters: 50}`. A resource that is not named here is unknown: what needs it does not fit.
    #[serde(default, skip_serializing_if = "no_resources")]
    pub capacity: Resources,
    /// What of the capacity is kept free.
    #[serde(default, skip_serializing_if = "no_resources")]
    pub reserved: Resources,
    /// How much the worker can have once it has grown by itself, because its node pools autoscale. A
    /// cluster that fits nowhere now is placed where it fits below a ceiling. Short form: `ceiling: 80`
    /// is `{clusters: 80}`. A resource that is not named here has its capacity as its ceiling.
    #[serde(default, skip_serializing_if = "no_resources")]
    pub ceiling: Resources,
    /// Marks that keep away what does not tolerate them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<Taint>,
    /// Whether nothing new is placed here (a cordon).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unschedulable: bool,
    /// Whether the worker is emptied: nothing new is placed here, and what may move, moves. Short form:
    /// `drain: true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<Drain>,
    /// The pool that the worker is in; tenants are granted pools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Versions of the components, where they differ from carp's own table.
    #[serde(default, skip_serializing_if = "Components::is_default")]
    pub components: Components,
    /// How carp learns of the worker's health.
    #[serde(default, skip_serializing_if = "Observation::is_default")]
    pub observation: Observation,
    /// The identity of the worker's cluster: the UID of its `kube-system` namespace. Unset: that of the
    /// first report. Set it to accept a cluster that was built anew under this name; nothing that was
    /// known of the old one counts then.
    #[serde(rename = "workerUID", default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub worker_uid: Option<String>,
    /// After how long without a report the worker is no longer taken for ready. Default: `1h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^([0-9]+h)?([0-9]+m)?([0-9]+s)?$"))]
    pub heartbeat_timeout: Option<String>,
}

/// That a worker is emptied, and how fast. What does not move is named in the worker's status and stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Drain {
    /// Whether it is. `false` in an overlay lifts the Worker's own drain; `drain: false` is short for it.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// How many clusters of the worker may be away at a time: on the move, or moved and not running yet.
    /// Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub max_unavailable: Option<u32>,
}

impl Default for Drain {
    fn default() -> Self {
        Self { enabled: true, max_unavailable: None }
    }
}

fn yes() -> bool {
    true
}

impl WorkerSpec {
    /// Whether the worker is emptied.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.drain.is_some_and(|drain| drain.enabled)
    }

    /// How many of its clusters may be away at a time.
    #[must_use]
    pub fn max_unavailable(&self) -> usize {
        let said = self.drain.filter(|drain| drain.enabled).and_then(|drain| drain.max_unavailable);
        said.map_or(1, |most| usize::try_from(most).unwrap_or(usize::MAX))
    }
}

/// How carp learns of a worker's health.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Observation {
    /// By the reports of the worker's agent: the worker is ready when a fresh one says so. carp installs
    /// the agent where `carp.yaml` names its image (`images.carp` or `images.registry`) and a repository
    /// for the reports (`observed.url`, or else `delivery.url`).
    Agent,
    /// Not at all: the worker is ready when it is schedulable, and its status says `NotObserved`.
    #[default]
    None,
}

impl Observation {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Versions of the components on a worker, by component. The names are those of the table in
/// `policies/components.yaml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Components(pub BTreeMap<String, String>);

impl Components {
    fn is_default(&self) -> bool {
        self.0.is_empty()
    }
}

/// What carp and the agent of the worker know of it; carp writes it, on the status branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerStatus {
    /// A summary of the conditions: `Pending`, `Provisioning`, `Running`, `Degraded`,
    /// `Draining`, `Unknown` or `Terminating`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// What is wrong, each with its code: a section of carp's page of errors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorStatus>,
    /// What is known, one condition each: whether it holds, why, and since when. The phase sums them up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// What the worker has for managed clusters, by resource.
    #[serde(default, skip_serializing_if = "no_resources")]
    pub capacity: Resources,
    /// What the clusters placed here take.
    #[serde(default, skip_serializing_if = "no_resources")]
    pub allocated: Resources,
    /// What is left: capacity − reserved − allocated.
    #[serde(default, skip_serializing_if = "no_resources")]
    pub available_capacity: Resources,
    /// Since when the worker's reports are fresh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh_since: Option<String>,
    /// The output commit that the worker's Flux applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_revision: Option<String>,
    /// The versions of the components that the worker reported.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub components: BTreeMap<String, String>,
    /// The data stores of hosted control planes, `default` first, each with how many clusters are in it: those that
    /// clusters are in, and all where the Worker lists any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_stores: Vec<DataStoreStatus>,
    /// On a cluster: the generation that this status speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// What is laid over a Worker of the same name, declared or made by a pool.
#[derive(
    CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "carp.dev",
    version = "v1alpha1",
    kind = "WorkerOverlay",
    doc = "What is laid over a Worker of the same name.",
    namespaced,
    category = "carp",
    printcolumn = r#"{"name":"Unschedulable","type":"boolean","jsonPath":".spec.unschedulable"}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkerOverlaySpec {
    /// Replaces the Worker's `unschedulable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unschedulable: Option<bool>,
    /// Replaces the Worker's `drain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<Drain>,
    /// Added to the Worker's taints; one of equal key and effect replaces the Worker's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<Taint>,
    /// Replaces the Worker's capacity, resource by resource.
    #[serde(default, skip_serializing_if = "no_resources")]
    pub capacity: Resources,
    /// Replaces the Worker's reserve, resource by resource.
    #[serde(default, skip_serializing_if = "no_resources")]
    pub reserved: Resources,
}
