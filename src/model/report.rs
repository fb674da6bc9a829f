//! What a worker's agent reports.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Condition, Digest, Name};

/// The format of [`Report`].
pub const REPORT_SCHEMA: u32 = 1;

/// The largest report that is read, in bytes: one row of at most 2 KiB for each of 1,000 clusters.
pub const MAX_REPORT_BYTES: u64 = 2 << 20;

/// The most names that [`Report::foreign_namespaces`] has: what more there are, nobody knows of.
pub const MAX_FOREIGN_NAMESPACES: usize = 1_000;

/// What stands in the place of a report that is there and does not count, because its worker did not sign
/// it. That is told where it is found; the worker did not fall silent by it.
pub const UNSIGNED_REPORT: &[u8] = b"# not signed by its worker\n";

/// One worker's report: what is really there. It replaces the one before it.
///
/// What an older agent does not say is not known, and what only a newer one says is not read: agents and
/// carp are upgraded at different times. A field that changes what another means raises [`REPORT_SCHEMA`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// [`REPORT_SCHEMA`].
    pub schema_version: u32,
    /// The worker that reports.
    pub worker: Name,
    /// The identity of the worker's cluster (the UID of its `kube-system` namespace): pinned at the
    /// first report, so that a cluster built anew under the same name is not taken for the old one.
    #[serde(rename = "workerUID")]
    pub worker_uid: String,
    /// When the report was made. Also the heartbeat.
    pub time: Timestamp,
    /// Whether every kind that the agent looks at could be listed. Only a complete report says what is
    /// *not* there.
    pub complete: bool,
    /// The kinds that could not be listed: empty for a complete report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unlisted: Vec<String>,
    /// Whether the worker can host clusters.
    pub healthy: bool,
    /// Since when that is so, as far as the conditions on the worker say it. Absent: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub healthy_since: Option<Timestamp>,
    /// Why not, as one word in CamelCase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why not, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The output commit that the worker's Flux applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_revision: Option<String>,
    /// The digest on the sentinel that the worker's Flux applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_digest: Option<Digest>,
    /// The versions of the components.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub components: BTreeMap<String, String>,
    /// The namespaces that carp did not make and that a cluster could be called after, in order: at most
    /// [`MAX_FOREIGN_NAMESPACES`]. A cluster of such a name would be made in what is somebody else's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_namespaces: Vec<Name>,
    /// The clusters that are there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<ReportedCluster>,
}

/// One cluster as its worker sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportedCluster {
    /// The cluster.
    pub name: Name,
    /// The UID of its `Cluster` object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// `carp.dev/digest` as it was seen on the ManagedCluster object: what was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// `Pending`, `Provisioning`, `Running`, `Updating`, `Degraded` or `Deleting`.
    pub phase: String,
    /// Since when, as far as its conditions say it. Absent: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The version that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The version that all of the control plane has. Absent while it is on its way to another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_version: Option<String>,
    /// The version that every machine of every pool has. Absent while one is on its way to another, and
    /// without pools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_version: Option<String>,
    /// The address of its API server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// How many nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<ReportedNodes>,
    /// The machines that its provider has of it. Absent where there are none, or one of them is not made yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machines: Option<ReportedMachines>,
    /// Whether Flux leaves the cluster's folder alone: its Kustomization is suspended, and none of its work is under
    /// way any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspended: bool,
    /// Its conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// What is wrong with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ReportedError>,
    /// The kinds of which there are objects in the cluster's namespace, and `Namespace` while that is
    /// there. This is what says how far a deletion has come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub present: Vec<String>,
}

/// Counts of nodes in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedNodes {
    /// How many are wanted.
    pub desired: u32,
    /// How many are ready.
    pub ready: u32,
}

/// The machines of a cluster in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReportedMachines {
    /// How many.
    pub count: u32,
    /// The digest of their names and of what their cloud calls them (`spec.providerID`): by it the same machines are
    /// known again on another worker.
    pub digest: Digest,
}

/// An error in a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportedError {
    /// The stable name.
    pub code: String,
    /// What went wrong.
    pub message: String,
    /// Whether a change of the fleet repository mends it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub user_error: bool,
}
