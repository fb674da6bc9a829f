//! What a run of the reconciler comes to.

use crate::model::{
    Attempt as Attempted, HeldBack, Id, Proposal, Turn, TurnCommit, TurnForge, TurnStatus,
};
use crate::status::FleetStatus;

/// Whether a commit became the tip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Published {
    /// It did.
    Done,
    /// Somebody else was faster: what it was made from is old.
    Raced,
}

/// How a run went.
pub enum ReconcileResult {
    /// It looked at everything.
    Through(Box<Outcome>),
    /// It ended at once: nothing is different from a run that found nothing to do and nothing to tell.
    Settled(Box<Turn>),
}

/// What a run did.
pub struct Outcome {
    /// What was proposed.
    pub proposal: Proposal,
    /// How it ended on the output branch.
    pub verdict: Verdict,
    /// How the status branch fared; `None` where nothing was to be written.
    pub status: Option<TurnStatus>,
    /// How the forge was told; `None` where there was nothing to tell, or nobody to tell it to.
    pub forge: Option<TurnForge>,
    /// `fleet.yaml` as it is now; `None` where the run was stopped.
    pub fleet: Option<FleetStatus>,
    /// What was seen and would be written.
    pub attempt: Attempted,
    /// How many races were lost on the way.
    pub races: u32,
    /// How many pushes reached the remote, lost ones included.
    pub pushes: u32,
    /// The fleet's root in its repository.
    pub prefix: String,
    /// The input tree, whose files findings speak of.
    pub input: Id,
    /// The input commit.
    pub input_commit: Id,
    /// The last commit of people on the input branch: the same, unless carp writes there too.
    pub people: Id,
    /// The time that was used.
    pub now: jiff::Timestamp,
    /// What a person should know: edits that were not read.
    pub notes: Vec<String>,
    /// Whether signatures were asked for.
    pub(super) asks_signatures: bool,
}

/// How a run ended on the output branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A commit was made.
    Committed(TurnCommit),
    /// There was nothing to commit.
    Unchanged,
    /// A proposal was made or brought up to date; it counts when people have merged it.
    Proposes(TurnCommit),
    /// The proposal that is there says all already.
    Proposed(TurnCommit),
    /// People have approved the proposal that is there, so it waits for them as it is.
    Approved(TurnCommit),
    /// Nothing may be committed.
    Stopped,
    /// There is something to commit, and the orders hold it back.
    Held(HeldBack),
}
