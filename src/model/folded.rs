//! What carp keeps of a worker's reports: transitions, never a heartbeat.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Condition, Digest, Name, ReportedError, ReportedMachines, ReportedNodes};

/// The format of [`FoldedReport`].
pub const FOLDED_SCHEMA: u32 = 1;

/// `observed/<worker>.yaml` on the status branch: all reports of a worker, folded. It changes only when
/// something that it says changes, so a commit to it is a transition. As of a [`Report`](super::Report), what
/// only a newer carp writes into it is not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FoldedReport {
    /// [`FOLDED_SCHEMA`].
    pub schema_version: u32,
    /// The worker.
    pub worker: Name,
    /// The pinned identity of the worker's cluster.
    #[serde(rename = "workerUID")]
    pub worker_uid: String,
    /// Whether reports come.
    pub freshness: Freshness,
    /// Since when that is so: the time of the report that broke the silence, or of the moment at which
    /// the timeout ran out.
    pub freshness_since: Timestamp,
    /// Whether the worker says that it can host clusters.
    pub healthy: bool,
    /// Since when that is so.
    pub healthy_since: Timestamp,
    /// The report's own word for why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why it is not healthy, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether the last report was complete.
    pub complete: bool,
    /// The output commit that the worker's Flux applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_revision: Option<String>,
    /// The digest on the sentinel that was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_digest: Option<Digest>,
    /// The versions of the components.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub components: BTreeMap<String, String>,
    /// The last report, where it is dated ahead of its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<Ahead>,
    /// The namespaces that carp did not make, as they were reported.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub foreign_namespaces: BTreeSet<Name>,
    /// The clusters that were reported.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clusters: BTreeMap<Name, FoldedCluster>,
}

/// A report that is dated ahead of the run that first saw it: the clock that dated it is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ahead {
    /// The date that it has, by which it is known again.
    pub time: Timestamp,
    /// When it was first seen: the time that it counts from.
    pub seen: Timestamp,
}

/// Whether a worker's reports come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Freshness {
    /// They do.
    Fresh,
    /// None came for longer than the worker's `heartbeatTimeout`.
    Silent,
}

/// One cluster in a [`FoldedReport`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FoldedCluster {
    /// The UID of its `Cluster` object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// What was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// The reported phase.
    pub phase: String,
    /// Since when: the time of the first report that said so.
    pub since: Timestamp,
    /// The version that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The version that all of the control plane has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_version: Option<String>,
    /// The version that every machine of every pool has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_version: Option<String>,
    /// The address of its API server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// How many nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<ReportedNodes>,
    /// Its machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machines: Option<ReportedMachines>,
    /// Whether Flux leaves its folder alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspended: bool,
    /// Its conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// What is wrong with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ReportedError>,
    /// The kinds of which there are objects in its namespace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub present: Vec<String>,
}
