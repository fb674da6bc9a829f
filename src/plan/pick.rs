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
    place: u32,
    group: Option<u32>,
    runner_up: Option<(u32, Term)>,
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

/// A place or a number in half of the room: one is kept of every cluster that is given a worker.
fn small(number: usize) -> u32 {
    u32::try_from(number).expect("there is memory for fewer workers, and for fewer groups")
}

impl SelectedWorker {
    /// The worker at a place, in a group of the policy's affinity, with the place of the second one and the term that told them
    /// apart.
    pub(super) fn new(
        place: usize,
        group: Option<usize>,
        runner_up: Option<(usize, Term)>,
    ) -> Self {
        let runner_up = runner_up.map(|(place, term)| (small(place), term));
        Self { place: small(place), group: group.map(small), runner_up }
    }

    /// The place of the best worker.
    pub(super) fn place(&self) -> usize {
        self.place as usize
    }

    /// Which group of the policy's affinity it is in.
    pub(super) fn group(&self) -> Option<usize> {
        self.group.map(|group| group as usize)
    }

    /// The place of the second one, and the term that told them apart.
    pub(super) fn runner_up(&self) -> Option<(usize, Term)> {
        self.runner_up.map(|(place, term)| (place as usize, term))
    }

    /// What is taken over of a pick among these workers.
    pub(super) fn of(pick: &Pick, states: &WorkerStates<'_>) -> Self {
        let place =
            |rank: &Rank| states.place(&rank.worker).expect("the worker was one of those asked");
        let runner_up = pick.second.as_ref().map(|(rank, term)| (place(rank), *term));
        Self::new(place(&pick.best), pick.best.group, runner_up)
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
