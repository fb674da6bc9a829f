//! All that was decided about one cluster, with its reasons. What is rare takes no room where it is not so.

use std::collections::BTreeSet;

use super::{
    Deletion, DeletionStep, Move, Name, Reason, ReasonCode, Resources, Stay, Term, TransferStep,
    VersionStep,
};

/// What was decided about one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterPlan {
    /// The decision.
    pub decision: Decision,
    /// What the cluster takes, or will take: fixed at the decision.
    pub demand: Resources,
    /// A wish for more than its worker has free: the demand that is held back.
    pub resize_blocked: Option<Resources>,
    /// Where it is on its way to the desired version; `None` where its folder has that.
    pub version: Option<Box<VersionStep>>,
    /// Its deletion, where one begins, is under way, ends or is called off.
    pub deletion: Option<Box<Deletion>>,
    /// Its move, where one begins, is under way, ends or is called off.
    pub moved: Option<Box<Move>>,
    /// What names it, where it does not move all the same.
    pub stay: Option<Box<Stay>>,
    /// Why its policy would not place it now where it is.
    pub violations: Box<[Reason]>,
}

impl ClusterPlan {
    /// A decision, and what the cluster takes by it; nothing else is said of it.
    #[must_use]
    pub fn new(decision: Decision, demand: Resources) -> Self {
        Self {
            decision,
            demand,
            resize_blocked: None,
            version: None,
            deletion: None,
            moved: None,
            stay: None,
            violations: Box::default(),
        }
    }

    /// Whether it is on its new worker already, and only what is left behind on the old one goes.
    #[must_use]
    pub fn is_adopted(&self) -> bool {
        let transfer = self.moved.as_ref().and_then(|moved| moved.transfer.as_ref());
        transfer.is_some_and(|transfer| transfer.row.step == TransferStep::Adopt)
    }

    /// Whether it moves, is named by something, or is where its policy would not place it.
    #[must_use]
    pub const fn is_told(&self) -> bool {
        self.moved.is_some() || self.stay.is_some() || !self.violations.is_empty()
    }
}

/// A decision about one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It stays where it is.
    Keep {
        /// Its worker.
        worker: Name,
    },
    /// It is given a worker now.
    Bind(Binding),
    /// No worker takes it.
    Wait {
        /// Its place in the queue.
        seen: u64,
        /// Why, over all workers.
        reasons: BTreeSet<ReasonCode>,
    },
    /// It is being deleted.
    Delete {
        /// Its worker.
        worker: Name,
        /// How far that is after this run.
        step: DeletionStep,
    },
    /// It leaves its worker for another one.
    Move {
        /// The worker that it leaves.
        from: Name,
        /// How far its deletion there is after this run; `None` while nothing is deleted because that
        /// worker is not heard of.
        step: Option<DeletionStep>,
        /// The worker that keeps its place, with what decided.
        binding: Box<Binding>,
    },
    /// Nothing of it is left, or was ever made, and its document is gone; so is its record.
    Forget,
}

impl Decision {
    /// The worker that the cluster is on after this decision. One that moves is on the worker that it
    /// leaves.
    #[must_use]
    pub fn worker(&self) -> Option<&Name> {
        match self {
            Self::Keep { worker }
            | Self::Delete { worker, .. }
            | Self::Move { from: worker, .. } => Some(worker),
            Self::Bind(binding) => Some(&binding.worker),
            Self::Wait { .. } | Self::Forget => None,
        }
    }

    /// The worker that keeps a place for the cluster beside the one that it is on.
    #[must_use]
    pub fn reserved(&self) -> Option<&Name> {
        match self {
            Self::Move { binding, .. } => Some(&binding.worker),
            _ => None,
        }
    }
}

/// A worker for a cluster, with what decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The worker.
    pub worker: Name,
    /// The policy that applied.
    pub policy: Option<Name>,
    /// The term that told the worker from the runner-up; `None` without a runner-up.
    pub decided_by: Option<Term>,
    /// The worker that came second.
    pub runner_up: Option<Name>,
    /// The group of the policy's affinity that the worker is in; `None` for a policy without groups.
    pub group: Option<String>,
}
