//! What carp knows, as documents on the status branch.
//!
//! A document is written only when something in it changed; its times are those of transitions, so the
//! old document is read where the new one says something else, and not otherwise.

mod cluster;
mod data_store;
mod deletion;
mod fleet;
mod kept;
mod moving;
mod own_cluster;
mod proposed;
mod worker;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use cluster::cluster_status;
pub use data_store::{DataStoreUse, data_store};
pub use fleet::{FleetInput, FleetStatus, fleet_status};
pub use worker::worker_status;

use crate::model::api::{ManagedClusterStatus, WorkerStatus};
use crate::model::{
    Condition, ConditionReason, ConditionStatus, ConditionType, Digest, Fleet, Gate, GateReason,
    Name, Observed, Plan, Previous,
};

/// The format of the status documents.
pub const STATUS_SCHEMA: u32 = 1;

/// `clusters/<2 hex>/<name>.yaml` and `workers/<name>.yaml` on the status branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StatusDocument<T> {
    /// [`STATUS_SCHEMA`].
    pub schema_version: u32,
    /// `ManagedCluster` or `Worker`.
    pub kind: String,
    /// Its name.
    pub name: Name,
    /// The facts digest of the document that the status speaks of; absent where none is desired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Digest>,
    /// The status.
    pub status: T,
}

/// A cluster's status document.
pub type ClusterDocument = StatusDocument<ManagedClusterStatus>;
/// A worker's status document.
pub type WorkerDocument = StatusDocument<WorkerStatus>;

/// What the documents are made from.
#[derive(Clone, Copy, Debug)]
pub struct StatusInput<'a> {
    /// What people want.
    pub fleet: &'a Fleet,
    /// What the output branch said.
    pub previous: &'a Previous,
    /// What is known of the workers.
    pub observed: &'a Observed,
    /// The decisions.
    pub plan: &'a Plan,
    /// What kept its last good folder, sorted by name.
    pub gates: &'a [Gate],
}

/// A status that has conditions.
pub trait Conditioned {
    /// Its conditions.
    fn conditions(&mut self) -> &mut Vec<Condition>;
}

impl Conditioned for ManagedClusterStatus {
    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.conditions
    }
}

impl Conditioned for WorkerStatus {
    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.conditions
    }
}

/// The digest of a document without the times of its conditions: what tells whether it must be
/// written.
#[must_use]
pub fn timeless_digest<T: Conditioned + Serialize + Clone>(document: &StatusDocument<T>) -> Digest {
    let mut timeless = document.clone();
    for condition in timeless.status.conditions() {
        condition.last_transition_time = None;
    }
    Digest::of_value(&timeless)
}

/// Sets the times of the conditions: that of the old document where the status is the same; where it is
/// another, the time that the observed facts give, else `now`.
pub fn set_transition_times<T: Conditioned>(
    document: &mut StatusDocument<T>,
    old: Option<StatusDocument<T>>,
    now: Timestamp,
) {
    let mut old = old;
    let old: BTreeMap<String, Condition> = old
        .iter_mut()
        .flat_map(|d| d.status.conditions().drain(..))
        .map(|c| (ConditionType::renamed(&c.kind).to_owned(), c))
        .collect();
    for condition in document.status.conditions() {
        let same = old.get(&condition.kind).filter(|c| c.status == condition.status);
        let observed = condition.last_transition_time.take();
        let kept = same.and_then(|c| c.last_transition_time.clone());
        condition.last_transition_time = kept.or(observed).or_else(|| Some(now.to_string()));
    }
}

/// This condition, with the time at which the observed facts say that it came to be.
fn since(condition: Condition, time: Option<Timestamp>) -> Condition {
    Condition { last_transition_time: time.map(|time| time.to_string()), ..condition }
}

/// Whether an edit by hand is kept on the output branch. Without one there is no such condition.
fn drifted(input: StatusInput<'_>, name: &Name) -> Option<Condition> {
    kept::gates(input, name).find(|gate| gate.reason == GateReason::Drifted)?;
    let message = "the output branch was edited by hand, and nothing is written there";
    Some(condition(
        ConditionType::Drifted,
        ConditionStatus::True,
        ConditionReason::HandEdit,
        message.to_owned(),
    ))
}

/// A condition without a time. The reason is a [`ConditionReason`], a phase, or the word of what gives the reason.
fn condition(
    kind: ConditionType,
    status: ConditionStatus,
    reason: impl AsRef<str>,
    message: String,
) -> Condition {
    Condition {
        kind: kind.name().to_owned(),
        status,
        reason: reason.as_ref().to_owned(),
        message,
        last_transition_time: None,
        observed_generation: None,
    }
}

#[cfg(test)]
mod table;
#[cfg(test)]
mod tests;
