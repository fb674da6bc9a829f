//! The best of the workers that can take a cluster, and how it won.

use crate::model::{Name, Rank, Term};

/// The best worker for a cluster, and how it won.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pick {
    /// Where the best worker stands.
    pub(super) best: Rank,
    /// Where the second one stands, and the term that told them apart.
    pub(super) second: Option<(Rank, Term)>,
}

/// What is taken over from a [`Pick`]: the names of the two, and what told them apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SelectedWorker {
    /// The best worker.
    pub(super) worker: Name,
    /// Its place in the worker states, where that is known.
    pub(super) place: Option<usize>,
    /// Which group of the policy's affinity it is in.
    pub(super) group: Option<usize>,
    /// The second one, and the term that told them apart.
    pub(super) runner_up: Option<(Name, Term)>,
}

/// What is known of a cluster without asking any worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// This worker is the best.
    Selected(SelectedWorker),
    /// No worker takes it.
    Refused,
    /// Nothing: the workers are to be asked.
    Unknown,
}

impl From<Pick> for SelectedWorker {
    fn from(pick: Pick) -> Self {
        Self {
            worker: pick.best.worker,
            place: None,
            group: pick.best.group,
            runner_up: pick.second.map(|(rank, term)| (rank.worker, term)),
        }
    }
}

/// The two best of the ranks that were added.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    best: Option<Rank>,
    second: Option<Rank>,
}

impl Ranks {
    /// Adds one.
    pub(super) fn add(&mut self, rank: Rank) {
        let better =
            |than: &Option<Rank>| than.as_ref().is_none_or(|other| rank.compare(other).0.is_lt());
        if better(&self.best) {
            self.second = self.best.replace(rank);
        } else if better(&self.second) {
            self.second = Some(rank);
        }
    }

    /// The best one; `None` where none was added.
    pub(super) fn into_pick(self) -> Option<Pick> {
        let best = self.best?;
        let second = self.second.map(|second| {
            let term = best.compare(&second).1;
            (second, term)
        });
        Some(Pick { best, second })
    }
}
