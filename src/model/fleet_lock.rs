//! `control-plane/fleet.lock`: what is in force for the fleet as a whole, and what its guards remember.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::api::{AcknowledgementKind, Guards, Roots, Tenant};
use super::{ClusterState, DeletionRow, Digest, Id, Name, PoolLock, Signers};

/// The format of [`FleetLock`]. Format 3 had no zones of the workers that pools made, format 2 neither `held` nor `recent` and no signers of
/// acknowledgements; what they have is read as it stands.
pub const FLEET_LOCK_SCHEMA: u32 = 4;

/// `control-plane/fleet.lock`: what is in force for the fleet as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FleetLock {
    /// [`FLEET_LOCK_SCHEMA`], or less where an earlier carp wrote it.
    pub schema_version: u32,
    /// The guards in force: of these and the input's the stricter holds.
    #[serde(default)]
    pub guards: Guards,
    /// The roots that were read.
    #[serde(default)]
    pub roots: Roots,
    /// The tenants in force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tenants: Vec<Tenant>,
    /// Who may sign what carp reads.
    #[serde(default, skip_serializing_if = "Signers::is_empty")]
    pub signers: Signers,
    /// The acknowledgements that a commit has used; none is valid twice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spent: Vec<AcknowledgementSpent>,
    /// The sets that the last run held and that an acknowledgement lets through.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldSet>,
    /// What runs of the last day did that guards count, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recent: Vec<GuardedRun>,
    /// The digest of exactly what the templates of the control plane's own files got.
    pub render_key: Digest,
    /// What is remembered of the pools: the ordinals, and the workers that they made.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pools: BTreeMap<Name, PoolLock>,
    /// The workers that the control plane makes.
    #[serde(default)]
    pub workers: BTreeMap<Name, ControlPlaneRow>,
    /// The files that carp owns below `control-plane/`, those of the workers' folders apart.
    #[serde(default)]
    pub files: BTreeMap<String, Id>,
}

/// What `fleet.lock` knows of one worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ControlPlaneRow {
    /// Whether the worker's own cluster is being deleted.
    pub state: ClusterState,
    /// How far that is; absent for a worker that stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion: Option<DeletionRow>,
    /// The digest of exactly what the templates got when the folder was made.
    pub render_key: Digest,
    /// The worker's folder below `control-plane/`; absent for an attached worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<Id>,
    /// The folder's files, as those of [`ClusterRow::files`](super::ClusterRow::files).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Id>,
}

/// A set that a guard held.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HeldSet {
    /// What lets it through.
    pub of: AcknowledgementKind,
    /// How many names it has.
    pub count: usize,
    /// The digest of the sorted names.
    pub digest: Digest,
    /// The acknowledgements of it that were there before anybody could have seen it held. They do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub early: Vec<Name>,
    /// Whose part of it was more than one run may do, and stays held, however small it becomes, until it is
    /// acknowledged or gone; the empty name is the platform.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tenants: BTreeSet<String>,
}

/// What the runs of one hour did that guards count, what somebody acknowledged apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GuardedRun {
    /// The beginning of the hour.
    pub at: Timestamp,
    /// What it did.
    pub did: GuardCounts,
}

/// How much of what guards count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct GuardCounts {
    /// Clusters whose deletion started, by tenant; the empty name is the platform, whose workers retire.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub deletions: BTreeMap<String, u64>,
    /// Clusters that changed their worker.
    #[serde(skip_serializing_if = "is_zero")]
    pub moves: u64,
    /// Objects that were left out or scaled to zero and that no cluster's own document asked for.
    #[serde(skip_serializing_if = "is_zero")]
    pub removed_objects: u64,
    /// Machines that were replaced and that no cluster's own document asked for.
    #[serde(skip_serializing_if = "is_zero")]
    pub replaced_machines: u64,
    /// Clusters whose own documents left out objects, or scaled them to zero, by tenant.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub removing: BTreeMap<String, u64>,
    /// Clusters whose own documents replaced machines, by tenant.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub replacing: BTreeMap<String, u64>,
    /// Objects that own documents of each tenant asked to leave out, where the fleet has a number for it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub asked_objects: BTreeMap<String, u64>,
    /// Machines that own documents of each tenant asked to replace, where the fleet has a number for it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub asked_machines: BTreeMap<String, u64>,
}

impl GuardCounts {
    /// Adds what another run did.
    pub fn add(&mut self, other: &Self) {
        for (all, others) in [
            (&mut self.deletions, &other.deletions),
            (&mut self.removing, &other.removing),
            (&mut self.replacing, &other.replacing),
            (&mut self.asked_objects, &other.asked_objects),
            (&mut self.asked_machines, &other.asked_machines),
        ] {
            for (tenant, count) in others {
                *all.entry(tenant.clone()).or_default() += count;
            }
        }
        self.moves += other.moves;
        self.removed_objects += other.removed_objects;
        self.replaced_machines += other.replaced_machines;
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// An acknowledgement that a commit has used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AcknowledgementSpent {
    /// Its name.
    pub name: Name,
    /// What it acknowledged.
    pub of: AcknowledgementKind,
    /// The set it named.
    pub digest: Digest,
}
