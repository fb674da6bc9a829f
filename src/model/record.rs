//! The decision record: one file per cluster from first sight to the end of its deletion.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::api::DeletionPolicy;
use super::{DeletionStep, MoveCause, Name, ReasonCode, Resources, Term, TransferRow};

/// The newest format of [`DecisionRecord`]. A record is of the oldest format that has all its fields.
pub const DECISION_SCHEMA: u32 = 3;
/// The format that has `transfer`.
const WITH_TRANSFER: u32 = 3;
/// The format that has `before`.
const WITH_BEFORE: u32 = 2;
/// The format of all records without it.
const PLAIN: u32 = 1;

/// The truth about one cluster's placement. It is written once per decision and holds nothing that
/// moves while the decision stands, so that `git log` on it is the history of the placement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DecisionRecord {
    /// The format: at most [`DECISION_SCHEMA`].
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
    /// What decided that a moving cluster is where it is: said again where the move is called off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Grounds>,
    /// How far a hand-over has come, and what it goes by. Absent where nothing is handed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<TransferRow>,
}

/// Why a cluster was placed where it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Grounds {
    /// The policy that applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Name>,
    /// The term of the order that told the worker from the runner-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Term>,
    /// The group of the policy's affinity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The worker that came second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_up: Option<Name>,
}

impl DecisionRecord {
    /// What it says of why a cluster is on a worker; nothing where it speaks of another.
    #[must_use]
    pub fn grounds(self, worker: &Name) -> Grounds {
        let moving = self.state == RecordState::Moving;
        if moving && self.worker.as_ref() == Some(worker) {
            return self.before.unwrap_or_default();
        }
        let spoken_of = if moving { &self.target } else { &self.worker };
        if spoken_of.as_ref() != Some(worker) {
            return Grounds::default();
        }
        let Self { policy, decided_by, group, runner_up, .. } = self;
        Grounds { policy, decided_by, group, runner_up }
    }

    /// The record with what decided.
    #[must_use]
    pub fn because(self, grounds: Grounds) -> Self {
        let Grounds { policy, decided_by, group, runner_up } = grounds;
        Self { policy, decided_by, group, runner_up, ..self }
    }

    /// The record of a move with what decided where the cluster is.
    #[must_use]
    pub fn leaving(self, before: Grounds) -> Self {
        let before = (before != Grounds::default()).then_some(before);
        let schema_version = if before.is_some() { WITH_BEFORE } else { PLAIN };
        Self { schema_version, before, ..self }
    }

    /// A record that says no more than whose it is.
    #[must_use]
    pub const fn blank(cluster: Name, demand: Resources) -> Self {
        Self {
            schema_version: PLAIN,
            cluster,
            state: RecordState::Bound,
            worker: None,
            policy: None,
            demand,
            decided_by: None,
            group: None,
            runner_up: None,
            seen: None,
            reasons: BTreeSet::new(),
            deletion_policy: None,
            step: None,
            target: None,
            cause: None,
            before: None,
            transfer: None,
        }
    }

    /// The record with how far a hand-over has come.
    #[must_use]
    pub fn handing_over(self, transfer: Option<TransferRow>) -> Self {
        match transfer {
            Some(transfer) => {
                Self { schema_version: WITH_TRANSFER, transfer: Some(transfer), ..self }
            }
            None => self,
        }
    }

    /// Whether Flux on a worker leaves the cluster as it is, because that is handed over.
    #[must_use]
    pub fn suspends_on(&self, worker: &Name) -> bool {
        self.state == RecordState::Moving
            && self.worker.as_ref() == Some(worker)
            && self.transfer.as_ref().is_some_and(TransferRow::suspends)
    }
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
