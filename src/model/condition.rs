//! Conditions, as Kubernetes has them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::words;

/// One observation on an object: the truth, with one writer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What is observed: `Ready`, `Placed`, `Rendered`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// Why, as one word in CamelCase.
    pub reason: String,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// When the status last changed: a time that comes from observed facts or from the run that saw the
    /// change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<String>,
    /// On a cluster: the generation that the condition speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// Whether a condition holds.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not.
    False,
    /// It is not known.
    Unknown,
}

words! {
    /// What carp says of a cluster or a worker in its status. A report may repeat conditions of other
    /// controllers beside these, under their own names.
    pub ConditionType:
    /// It is available, or can host clusters.
    Ready,
    /// A cluster has a worker.
    Placed,
    /// Its folder is as its document wants it.
    Rendered,
    /// A cluster is on its way to another version.
    Updating,
    /// An edit by hand is kept.
    Drifted,
    /// A worker takes new clusters.
    Schedulable,
    /// No more is taken from a worker than it has.
    CapacityRespected,
    /// The cluster that a worker is, as the control-plane cluster's agent sees it, is available.
    ClusterReady,
    /// A worker's report does not count.
    ReportRefused,
    /// A cluster leaves its worker, or stays although something names it.
    Moving,
    /// A cluster's policy would not place it where it is.
    PlacementViolated,
    /// Nothing is left on a worker that is drained.
    Drained,
    /// The first step of a deletion is seen to be done.
    ClusterGone,
    /// The second step of a deletion is seen to be done.
    AddOnsGone,
    /// Flux is seen to know that it must leave everything of a cluster alone: no object of it has an owner there any more.
    Orphaned,
    /// No cluster is seen on a worker that is to go.
    Empty,
}

impl ConditionType {
    /// What a condition is called now that an older carp called something else.
    #[must_use]
    pub fn renamed(kind: &str) -> &str {
        match kind {
            "LetGo" => Self::Orphaned.name(),
            kind => kind,
        }
    }
}

words! {
    /// Why a condition is what it is, where that is not the word of something else: a phase, a reason of
    /// [`super::GateReason`], [`super::Missing`], [`super::Refusal`], [`super::StepWait`] or [`super::Blocker`].
    pub ConditionReason:
    /// Its worker has no agent.
    NotObserved,
    /// No report has come.
    NeverReported,
    /// The reports stopped.
    Silent,
    /// A worker has it.
    Bound,
    /// No worker takes it.
    NoWorkerFits,
    /// Its deletion goes on.
    Deleting,
    /// Its deletion is held.
    DeletionHeld,
    /// It moves.
    Moving,
    /// Its placement waits for people to merge it.
    Proposed,
    /// The beginning of its deletion waits for people to merge it.
    DeletionProposed,
    /// The end of its deletion waits for people to merge it.
    EndProposed,
    /// The beginning of its move waits for people to merge it.
    MoveProposed,
    /// The folder is as it should be.
    Rendered,
    /// It has no folder, for it has no worker.
    NotPlaced,
    /// A person changed the output branch.
    HandEdit,
    /// New clusters may come.
    Schedulable,
    /// What is on it shall leave it.
    Draining,
    /// Nothing new may come.
    Cordoned,
    /// Its document does not load.
    NotLoaded,
    /// Its document is gone, and clusters are on it.
    RemovedInUse,
    /// Its deletion has begun.
    Retiring,
    /// Its folder keeps its last good content.
    FolderKept,
    /// There is enough.
    Within,
    /// There is enough once it has grown.
    Growing,
    /// There is not enough.
    Overcommitted,
    /// The policy would place it elsewhere.
    PolicyDiffers,
    /// Nothing is left.
    Empty,
    /// What is left waits for its turn.
    Waits,
    /// It is seen to be gone.
    Gone,
}
