//! The locks: `carp.lock` of a worker, `decisions/pending.lock`, and the form of all, `control-plane/fleet.lock` too.
//!
//! They are derived from the records and are enough to rebuild every index without parsing one desired
//! file. Their text is that of [`lock_to_bytes`](super::lock_to_bytes).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::api::{AntiAffinity, DeletionPolicy, SpreadConstraint};
use super::{
    Cluster, DeletionRow, Digest, Id, MoveRow, Name, ReasonCode, Resources, SharedMap,
    SteppedVersions,
};

/// The format of [`WorkerLock`].
pub const WORKER_LOCK_SCHEMA: u32 = 2;
/// The format of [`PendingLock`].
pub const PENDING_SCHEMA: u32 = 2;
/// `workers/<worker>/carp.lock`: what carp owns below that folder, and who is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkerLock {
    /// [`WORKER_LOCK_SCHEMA`]; 1 where an earlier carp wrote it.
    pub schema_version: u32,
    /// The worker.
    pub worker: Name,
    /// The digest of the worker's own document, its overlay included.
    pub facts: Digest,
    /// The digest of exactly what the templates of the worker's own files got.
    pub render_key: Digest,
    /// The clusters here.
    pub clusters: BTreeMap<Name, ClusterRow>,
    /// The files that carp owns, below the worker's folder, those of the clusters' folders apart (their
    /// rows name the folder). carp deletes only what stands here.
    pub files: BTreeMap<String, Id>,
}

/// What a lock knows of one cluster on a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterRow {
    /// Whether the cluster is being deleted.
    pub state: ClusterState,
    /// How far that is; absent for a cluster that stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion: Option<DeletionRow>,
    /// Where it comes from, until it is reported running here; absent for a cluster that did not move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moves: Option<MoveRow>,
    /// Whether Flux is told to leave its folder alone, because the cluster is handed over to another worker.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspended: bool,
    /// The digest of the cluster's document.
    pub facts: Digest,
    /// The digest of exactly what the templates got when the folder was made.
    pub render_key: Digest,
    /// The cluster's folder; absent until it rendered for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<Id>,
    /// The folder's files, by path, while others' files lie beside them: no commit has a tree of these alone, and a
    /// clone makes it of this. Empty where the folder has its place to itself.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Id>,
    /// The cluster's decision record; absent in the locks of format 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Id>,
    /// The versions that the folder has, while they are others than the document's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<SteppedVersions>,
    /// The group of its policy's affinity that the cluster was placed in, as its record says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The data store that its folder names; absent for `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_store: Option<String>,
    /// What the cluster takes, as its record says.
    pub demand: Resources,
    /// What else an index needs.
    #[serde(flatten)]
    pub row: IndexRow,
}

/// What every index needs of a cluster, placed or waiting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexRow {
    /// The cluster's labels.
    #[serde(default, skip_serializing_if = "SharedMap::is_empty")]
    pub labels: SharedMap<String>,
    /// The tenant.
    pub tenant: String,
    /// The location that the cluster asked for.
    pub location: String,
    /// The Kubernetes version.
    pub version: String,
    /// The flavor.
    pub flavor: String,
    /// The priority.
    #[serde(default)]
    pub priority: i32,
    /// The class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// What the removal of the document would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<DeletionPolicy>,
    /// The cluster's own spread constraints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spread: Vec<SpreadConstraint>,
    /// The cluster's own rules of anti-affinity. They keep newcomers away as long as it is there,
    /// also while its document is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anti_affinity: Vec<AntiAffinity>,
}

/// Whether a cluster on a worker stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClusterState {
    /// It stays.
    Bound,
    /// Its deletion has begun.
    Deleting,
    /// It is on another worker, which it leaves: its place here is kept. Nothing of it is here yet, unless it is handed
    /// over.
    Reserved,
}

/// `decisions/pending.lock`: the same for the clusters that wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PendingLock {
    /// [`PENDING_SCHEMA`]; 1 where an earlier carp wrote it.
    pub schema_version: u32,
    /// The clusters that wait.
    pub clusters: BTreeMap<Name, PendingRow>,
}

impl Default for PendingLock {
    fn default() -> Self {
        Self { schema_version: PENDING_SCHEMA, clusters: BTreeMap::new() }
    }
}

impl PendingLock {
    /// Who waits for what.
    #[must_use]
    pub fn reasons(&self) -> PendingReasons {
        let mut alike: BTreeMap<&BTreeSet<ReasonCode>, Vec<Name>> = BTreeMap::new();
        for (name, row) in &self.clusters {
            alike.entry(&row.reasons).or_default().push(name.clone());
        }
        let alike = alike.into_iter().map(|(reasons, names)| (reasons.clone(), names));
        PendingReasons(alike.collect())
    }

    /// Who waits, in the order in which they are served, each with [`seen`](PendingRow::seen).
    #[must_use]
    pub fn queue(&self) -> Vec<(Name, u64)> {
        let mut queue: Vec<_> = self.clusters.iter().collect();
        queue.sort_by_key(|(name, row)| (Reverse(row.row.priority), row.seen, *name));
        queue.into_iter().map(|(name, row)| (name.clone(), row.seen)).collect()
    }
}

/// Who waits for what: the least that a plan tells of clusters that go on waiting. Those that wait for the same are together, by
/// name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingReasons(pub Vec<(BTreeSet<ReasonCode>, Vec<Name>)>);

impl PendingReasons {
    /// Whether the cluster is among them.
    #[must_use]
    pub fn contains(&self, cluster: &Name) -> bool {
        self.0.iter().any(|(_, names)| names.binary_search(cluster).is_ok())
    }
}

/// What a lock knows of one cluster that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingRow {
    /// The place in the queue.
    pub seen: u64,
    /// The digest of the cluster's document.
    pub facts: Digest,
    /// Why no worker took it, as the record says.
    pub reasons: BTreeSet<ReasonCode>,
    /// The cluster's decision record; absent in the locks of format 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Id>,
    /// What the cluster will take.
    pub demand: Resources,
    /// What else an index needs.
    #[serde(flatten)]
    pub row: IndexRow,
}

impl PendingRow {
    /// What a lock has of a cluster at that place in the queue, but why it waits, and its record.
    #[must_use]
    pub fn without_reasons(cluster: &Cluster, seen: u64) -> Self {
        Self {
            seen,
            facts: cluster.facts,
            reasons: BTreeSet::new(),
            record: None,
            demand: cluster.demand.clone(),
            row: cluster.index_row(),
        }
    }
}
