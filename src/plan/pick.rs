//! The best of the workers that can take a cluster, and how it won.

use super::worker_states::WorkerStates;
use crate::model::{Rank, Term};

/// The best worker for a cluster, and how it won.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pick {
    /// Where the best worker stands.
    pub(super) best: Rank,
    /// Where the second one stands, and the term that told them apart.
    pub(super) second: Option<(Rank, Term)>,
}

/// What is taken over from a [`Pick`]: the places of the two in the worker states, and what told them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SelectedWorker {
    /// The best worker.
    pub(super) place: usize,
    /// Which group of the policy's affinity it is in.
    pub(super) group: Option<usize>,
    /// The second one, and the term that told them apart.
    pub(super) runner_up: Option<(usize, Term)>,
}

/// What is known of a cluster without asking any worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// This worker is the best.
    Selected(SelectedWorker),
    /// No worker takes it.
    Refused,
    /// Nothing: the workers are to be asked.
    Unknown,
}

impl SelectedWorker {
    /// What is taken over of a pick among these workers.
    pub(super) fn of(pick: &Pick, states: &WorkerStates<'_>) -> Self {
        let place =
            |rank: &Rank| states.place(&rank.worker).expect("the worker was one of those asked");
        Self {
            place: place(&pick.best),
            group: pick.best.group,
            runner_up: pick.second.as_ref().map(|(rank, term)| (place(rank), *term)),
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
