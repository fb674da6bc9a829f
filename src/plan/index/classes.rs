//! The classes of a run with their heaps: the two best workers for a cluster of a class.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::class::{Class, Terms, Tier};
use super::heap::{Heap, HeapEntry};
use super::rooms::{NumberedDemand, Rooms};
use super::worker_sets::WorkerSets;
use crate::plan::pick::SelectedWorker;
use crate::plan::score::STILL;
use crate::plan::worker_states::WorkerStates;

/// The classes of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    /// By number.
    pub(super) list: Vec<Class>,
    pub(super) sets: WorkerSets,
    pub(super) rooms: Rooms,
    /// How many places of workers are kept, or what takes as much room.
    pub(super) kept: usize,
}

/// By the number of the domains ([`Class::domains`]): the soft violations there; `None` where they are closed.
pub(super) type OpenDomains = [Option<u32>];

impl Classes {
    /// Adds a class.
    pub(super) fn add(&mut self, mut class: Class, states: &WorkerStates<'_>) -> usize {
        self.kept += class.places();
        for tier in &mut class.tiers {
            tier.sets = self.sets.add(&tier.places, states);
        }
        self.list.push(class);
        self.list.len() - 1
    }

    /// The two best workers of a class, of those domains that are open to the cluster, and of those workers that are
    /// accepted where not all are.
    pub(super) fn best(
        &mut self,
        class: usize,
        demand: NumberedDemand<'_>,
        open: Option<&OpenDomains>,
        accept: Option<&dyn Fn(usize) -> bool>,
        states: &WorkerStates<'_>,
    ) -> TwoBest {
        let mut found = TwoBest::default();
        let mut order = TierOrder::new(&self.list[class].tiers, open);
        while let Some((terms, tier)) = order.next(&self.list[class].tiers)
            && !found.are_before(&terms)
        {
            let Tier { sets, places, .. } = &mut self.list[class].tiers[tier];
            for set in self.sets.now(sets, places) {
                let rooms = &mut self.rooms;
                let heap = self.sets.heap(*set, demand, rooms, states);
                found.add_of(terms, heap, rooms, accept, states);
            }
        }
        found
    }
}

/// The tiers of a class, the best first, with what the cluster meets in their domains.
enum TierOrder<'o> {
    /// Soft violations make no difference: those of the class, but for the domains that are closed.
    OfClass { next: usize, open: Option<&'o OpenDomains> },
    /// Sorted as far as they are asked for.
    Sorted(BinaryHeap<Reverse<(Terms, usize)>>),
}

impl<'o> TierOrder<'o> {
    fn new(tiers: &[Tier], open: Option<&'o OpenDomains>) -> Self {
        match open {
            Some(open) if open.iter().flatten().any(|soft| *soft > 0) => {
                let terms = |(at, tier): (usize, &Tier)| {
                    Some(Reverse((
                        crate::plan::score::with_soft(tier.terms, open[tier.domains]?),
                        at,
                    )))
                };
                Self::Sorted(tiers.iter().enumerate().filter_map(terms).collect())
            }
            _ => Self::OfClass { next: 0, open },
        }
    }

    fn next(&mut self, tiers: &[Tier]) -> Option<(Terms, usize)> {
        match self {
            Self::Sorted(sorted) => sorted.pop().map(|Reverse(tier)| tier),
            Self::OfClass { next, open } => {
                let is_open = |tier: &Tier| open.is_none_or(|open| open[tier.domains].is_some());
                let at = *next + tiers.get(*next..)?.iter().position(is_open)?;
                *next = at + 1;
                Some((tiers[at].terms, at))
            }
        }
    }
}

/// The two best of the workers that were found, each with the terms that do not move.
#[derive(Debug, Default)]
pub(super) struct TwoBest {
    best: Option<(Terms, HeapEntry)>,
    second: Option<(Terms, HeapEntry)>,
}

impl TwoBest {
    /// Adds those of a heap of workers with these terms that are among the two best and accepted.
    fn add_of(
        &mut self,
        terms: Terms,
        heap: &mut Heap,
        rooms: &mut Rooms,
        accept: Option<&dyn Fn(usize) -> bool>,
        states: &WorkerStates<'_>,
    ) {
        let is_accepted = |place: usize| accept.is_none_or(|accept| accept(place));
        let Some(first) = heap.first(self.last(&terms), rooms, states) else { return };
        if !is_accepted(first.place()) {
            for entry in heap.accepted(rooms, states, is_accepted).into_iter().flatten() {
                self.add(terms, entry);
            }
            return;
        }
        // Unless the first is the best of all, the one behind it is none of the two.
        let second = self.add(terms, first).then(|| heap.second(self.last(&terms), rooms, states));
        let Some(second) = second.flatten() else { return };
        if is_accepted(second.place()) {
            self.add(terms, second);
        } else if let [_, Some(second)] = heap.accepted(rooms, states, is_accepted) {
            self.add(terms, second);
        }
    }

    /// The last of two workers with these terms: a worse one is none of the two best.
    fn last(&self, terms: &Terms) -> Option<&HeapEntry> {
        self.second.as_ref().filter(|(others, _)| others == terms).map(|(_, entry)| entry)
    }

    /// Adds a worker, if it is one of the two best. Whether it is the best.
    fn add(&mut self, terms: Terms, entry: HeapEntry) -> bool {
        let better = |than: &Option<(Terms, HeapEntry)>| {
            than.as_ref().is_none_or(|(other_terms, other)| {
                terms < *other_terms || (terms == *other_terms && entry.is_better(other))
            })
        };
        let is_best = better(&self.best);
        if is_best {
            self.second = self.best.replace((terms, entry));
        } else if better(&self.second) {
            self.second = Some((terms, entry));
        }
        is_best
    }

    /// Whether there are two, and no worker with these terms comes before one of them.
    fn are_before(&self, terms: &Terms) -> bool {
        self.second.as_ref().is_some_and(|(second, _)| second < terms)
    }

    /// Their places, and what told them apart; `None` where none was found.
    pub(super) fn into_selected(self) -> Option<SelectedWorker> {
        let (terms, best) = self.best?;
        let runner_up = self.second.map(|(others, second)| {
            let still = STILL.iter().zip(terms.iter().zip(&others)).find(|(_, (a, b))| a != b);
            let term = still.map_or_else(|| best.moving.term(&second.moving), |(s, _)| s.term);
            (second.place(), term)
        });
        Some(SelectedWorker::new(best.place(), None, runner_up))
    }
}
