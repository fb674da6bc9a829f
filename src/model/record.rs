//! The decision record: one file per cluster from first sight to the end of its deletion.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::api::DeletionPolicy;
use super::{DeletionStep, MoveCause, Name, ReasonCode, Resources, Term};

/// The format of [`DecisionRecord`].
pub const DECISION_SCHEMA: u32 = 1;

/// The truth about one cluster's placement. It is written once per decision and holds nothing that
/// moves while the decision stands, so that `git log` on it is the history of the placement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DecisionRecord {
    /// [`DECISION_SCHEMA`].
    pub schema_version: u32,
    /// The cluster.
    pub cluster: Name,
    /// What was decided.
    pub state: RecordState,
    /// Where the cluster is. Absent while it is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<Name>,
    /// The policy that applied. Absent where none selected the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Name>,
    /// What the cluster takes of its worker, fixed at the decision.
    #[serde(default, skip_serializing_if = "Resources::is_empty")]
    pub demand: Resources,
    /// The term of the order that told the worker from the runner-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Term>,
    /// The group of the policy's affinity that the worker is in. Absent for a policy without groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The worker that came second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_up: Option<Name>,
    /// The place in the queue of a pending cluster: never renumbered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<u64>,
    /// Why no worker took a pending cluster.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub reasons: BTreeSet<ReasonCode>,
    /// The policy that a deletion follows: the one last applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<DeletionPolicy>,
    /// How far a deletion has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<DeletionStep>,
    /// The worker that a moving cluster goes to. What decided is said of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Name>,
    /// Why a moving cluster leaves its worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<MoveCause>,
}

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RecordState {
    /// No worker takes the cluster yet.
    Pending,
    /// The cluster has its worker.
    Bound,
    /// The cluster is being deleted.
    Deleting,
    /// The cluster leaves its worker, and its place on another one is kept.
    Moving,
}
