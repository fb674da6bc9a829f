//! Moves: a cluster leaves its worker for another one. A cluster that manages itself is handed over as it is
//! ([`Transfer`]). The state of a hosted cluster is on its worker, so its move is a rebuild: it is deleted there, by
//! evidence, and made anew and empty elsewhere.
//!
//! The place on the new worker is kept from the first commit on: a row of its lock says so
//! ([`ClusterState::Reserved`](super::ClusterState)). The folder of a rebuilt one comes when the old one is gone.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{DeletionStep, Name, ReasonCode, Resources, Transfer, TransferRow, TransferStep};

/// Why a cluster leaves its worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum MoveCause {
    /// The worker is drained.
    Drain,
    /// The worker has a `NoExecute` taint that is not tolerated, or not any longer.
    NoExecute,
    /// The worker was silent or unhealthy for longer than the policy's grace.
    Failover,
    /// Its policy would not place it there now, and says `onViolation: Move`.
    Violation,
    /// A person acknowledged that it moves, so that its worker is less full.
    Rebalance,
}

impl MoveCause {
    /// The name as users see it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drain => "Drain",
            Self::NoExecute => "NoExecute",
            Self::Failover => "Failover",
            Self::Violation => "Violation",
            Self::Rebalance => "Rebalance",
        }
    }

    /// What names the cluster, said of its worker.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Drain => "is drained",
            Self::NoExecute => "has a NoExecute taint that is not tolerated",
            Self::Failover => "is lost for longer than the policy's grace",
            Self::Violation => "is one where the policy would not place it now",
            Self::Rebalance => "is to be less full, as was acknowledged",
        }
    }
}

/// What the lock of the new worker keeps of a move, until the cluster runs there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MoveRow {
    /// The worker that it leaves, or left.
    pub from: Name,
    /// Why.
    pub cause: MoveCause,
    /// How far it is handed over; absent where it is made anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<TransferRow>,
}

/// One move in a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The worker that the cluster leaves.
    pub from: Name,
    /// The worker that it goes to.
    pub to: Name,
    /// Why.
    pub cause: MoveCause,
    /// How far it is after this run.
    pub progress: MoveProgress,
    /// What the cluster takes on the worker that it goes to: fixed when the place was chosen.
    pub demand: Resources,
    /// Whether it counts until the new worker reports the cluster running.
    pub awaited: bool,
    /// How it is handed over as it is; `None` where it is made anew, and empty.
    pub transfer: Option<Box<Transfer>>,
}

/// How far a move is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MoveProgress {
    /// It begins in this run: the place is kept.
    Begins,
    /// It began earlier, and the cluster is not gone from the old worker.
    Leaves,
    /// The old one is gone, and the new one is made in this run.
    Arrives,
    /// The new one is made, and is not reported running.
    Starts,
    /// What named the cluster does so no longer, and nothing was deleted: it stays.
    CalledOff,
}

impl MoveProgress {
    /// The name as users see it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Begins => "Begins",
            Self::Leaves => "Leaves",
            Self::Arrives => "Arrives",
            Self::Starts => "Starts",
            Self::CalledOff => "CalledOff",
        }
    }
}

impl Move {
    /// Whether the cluster is away: on its way, or not yet running where it went.
    #[must_use]
    pub fn is_away(&self) -> bool {
        match self.progress {
            MoveProgress::Begins | MoveProgress::Leaves => true,
            MoveProgress::Arrives | MoveProgress::Starts => self.awaited,
            MoveProgress::CalledOff => false,
        }
    }

    /// Whether this run takes a step of a hand-over.
    #[must_use]
    pub fn advances(&self) -> bool {
        self.transfer.as_ref().is_some_and(|transfer| transfer.advances)
    }

    /// What the lock of the new worker keeps of it.
    #[must_use]
    pub fn row(&self) -> Option<MoveRow> {
        let transfer = || self.transfer.as_ref().map(|transfer| transfer.row.clone());
        let row = || MoveRow { from: self.from.clone(), cause: self.cause, transfer: transfer() };
        self.is_away().then(row)
    }

    /// The move of a cluster in one line. `step` is that of the deletion on the old worker; `None` where nothing is
    /// deleted because that worker is not heard of.
    #[must_use]
    pub fn words(&self, cluster: &Name, step: Option<DeletionStep>) -> String {
        if let Some(transfer) = &self.transfer {
            return self.transfer_words(cluster, transfer);
        }
        let Self { from, to, cause, progress, .. } = self;
        let why = cause.words();
        let anew = format!("a new, empty cluster is made on {to}");
        match (progress, step) {
            (MoveProgress::Begins | MoveProgress::Leaves, Some(step)) => format!(
                "leaves {from}, which {why}: it is deleted there (step {step:?}), and once that is \
                 reported {anew}"
            ),
            (MoveProgress::Begins | MoveProgress::Leaves, None) => format!(
                "is to leave {from}, which {why} and is not heard of: nothing is deleted there, and \
                 once somebody acknowledges that {from} is gone for ever {anew}"
            ),
            (MoveProgress::Arrives, _) => format!("is gone from {from}, which {why}: {anew}"),
            (MoveProgress::Starts, _) => {
                format!("a new, empty cluster was made on {to}, and is not reported running")
            }
            (MoveProgress::CalledOff, _) => {
                format!("stays on {from}: nothing names it any more, and nothing was deleted")
            }
        }
    }

    /// Where a cluster that is handed over goes, why, and what that waits for.
    fn transfer_words(&self, cluster: &Name, transfer: &Transfer) -> String {
        let Self { from, to, cause, progress, .. } = self;
        let why = cause.words();
        let waits = transfer.waits_words();
        match (progress, transfer.row.step) {
            (MoveProgress::CalledOff, _) => {
                format!("stays on {from}: nothing names it any more, and it was not handed over")
            }
            (MoveProgress::Arrives, _) => {
                format!(
                    "is handed over: nothing of it is left on {from}, which {why}, and it is on {to}"
                )
            }
            (MoveProgress::Starts, _) => {
                format!("was handed over to {to}, and is not reported running")
            }
            (MoveProgress::Begins | MoveProgress::Leaves, TransferStep::Prepare) => format!(
                "is handed over from {from}, which {why}, to {to}: Flux on {from} is to leave it as it is, and {to} \
                 gets its namespace and identity (step Prepare){waits}"
            ),
            (MoveProgress::Begins | MoveProgress::Leaves, TransferStep::HandOver) => {
                let command = Transfer::command(cluster, from, to);
                format!(
                    "is ready to be handed over from {from}, which {why}, to {to}: run `{command}` (step \
                     HandOver){waits}"
                )
            }
            (MoveProgress::Begins | MoveProgress::Leaves, TransferStep::Adopt) => format!(
                "was handed over from {from}, which {why}, to {to}: Flux on {to} applies it now, and what is left on \
                 {from} goes (step Adopt){waits}"
            ),
        }
    }
}

/// A move that a rebalance would begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebalanced {
    /// The cluster.
    pub cluster: Name,
    /// The worker that it leaves.
    pub from: Name,
    /// The worker that it goes to.
    pub to: Name,
    /// What that gains, in whole percent points: by how much less the new worker is used with the cluster
    /// than the old one is.
    pub gain: u32,
}

/// A cluster that something names and that does not move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stay {
    /// The worker that it is on.
    pub worker: Name,
    /// What names it.
    pub cause: MoveCause,
    /// Why it does not move.
    pub blocker: Blocker,
}

/// Why a cluster that is named does not move.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Blocker {
    /// Its state is on the worker, and its document does not say `onWorkerLoss: Rebuild`.
    NotMovable,
    /// It is paused, and Cluster API deletes no paused cluster.
    Paused,
    /// It was never made where it is.
    NotRendered,
    /// It would be handed over, which goes by reports, and its worker does not report.
    NotHeard,
    /// A file of others, or an edit by hand that is kept, is in the way.
    FolderKept,
    /// No other worker takes it.
    NoWorkerFits(BTreeSet<ReasonCode>),
    /// Others go first: as many as may be away at a time are.
    WaitsItsTurn,
    /// So many workers are not ready that the observer is likelier wrong than the fleet.
    FailoverBreaker,
    /// Something did not load, so nothing moves.
    DeletionsHeld,
}

impl Blocker {
    /// The name as users see it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NotMovable => "NotMovable",
            Self::Paused => "Paused",
            Self::NotRendered => "NotRendered",
            Self::NotHeard => "NotHeard",
            Self::FolderKept => "FolderKept",
            Self::NoWorkerFits(_) => "NoWorkerFits",
            Self::WaitsItsTurn => "WaitsItsTurn",
            Self::FailoverBreaker => "FailoverBreaker",
            Self::DeletionsHeld => "DeletionsHeld",
        }
    }

    /// Why they stay, said of so many clusters.
    #[must_use]
    pub fn of_clusters(&self, number: usize) -> String {
        let [it, its, is, was] = match number {
            1 => ["it", "its", "it is", "it was"],
            _ => ["them", "their", "they are", "they were"],
        };
        match self {
            Self::NotMovable => {
                format!("{its} state is on the worker, and `onWorkerLoss` is not `Rebuild`")
            }
            Self::Paused => format!("{is} paused, and a paused cluster is never taken down"),
            Self::NotRendered => format!("{was} never made there, so there is nothing to move"),
            Self::NotHeard => format!(
                "{is} to be handed over by what agents report, and no complete report of the worker counts"
            ),
            Self::FolderKept => "what stands on the output branch is kept as it is".to_owned(),
            Self::NoWorkerFits(codes) => {
                // That it leaves the worker where it is goes without saying.
                let others = codes - &BTreeSet::from([ReasonCode::Evicted]);
                if others.is_empty() {
                    return "there is no other worker".to_owned();
                }
                format!("no other worker takes {it}: {}", ReasonCode::sentence(&others))
            }
            Self::WaitsItsTurn => "as many as may be away at a time are away".to_owned(),
            Self::FailoverBreaker => {
                "so many workers are not ready that nothing fails over".to_owned()
            }
            Self::DeletionsHeld => "something did not load, so nothing moves".to_owned(),
        }
    }
}

impl fmt::Display for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.of_clusters(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_rebuild_says_that_the_cluster_is_new_and_empty() {
        let name = |text: &str| Name::parse(text).unwrap();
        let told = |progress, step| {
            let cause = MoveCause::Drain;
            let (from, to, demand) = (name("w1"), name("w2"), Resources::new());
            let moved = Move { from, to, cause, progress, demand, awaited: true, transfer: None };
            moved.words(&name("c"), step)
        };
        for progress in [MoveProgress::Begins, MoveProgress::Leaves, MoveProgress::Arrives] {
            for step in [Some(DeletionStep::D1), None] {
                assert!(told(progress, step).contains("new, empty cluster"), "{progress:?}");
            }
        }
        assert!(told(MoveProgress::Begins, None).contains("nothing is deleted there"));
        assert!(told(MoveProgress::CalledOff, None).starts_with("stays on w1"));
    }
}
