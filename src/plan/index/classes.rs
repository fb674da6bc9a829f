//! The classes of a run with their heaps: the two best workers for a cluster of a class.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::rc::Rc;

use super::class::{Class, Terms, Tier};
use super::heap::{Heap, HeapEntry};
use super::rooms::Rooms;
use crate::model::Resources;
use crate::plan::pick::SelectedWorker;
use crate::plan::score::STILL;
use crate::plan::worker_states::WorkerStates;

/// The classes of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    /// By number.
    pub(super) list: Vec<Class>,
    heaps: Vec<Heap>,
    /// The heaps by the workers in them and by what the clusters take.
    shared: BTreeMap<(Rc<[usize]>, u32), usize>,
    pub(super) rooms: Rooms,
    /// How many places of workers are kept, or what takes as much room.
    pub(super) kept: usize,
}

/// What a cluster takes, with its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberedDemand<'d> {
    pub(super) number: u32,
    pub(super) amounts: &'d Resources,
}

/// By the number of the domains ([`Class::domains`]): the soft violations there; `None` where they are closed.
pub(super) type OpenDomains = [Option<u32>];

impl Classes {
    /// Adds a class.
    pub(super) fn add(&mut self, class: Class) -> usize {
        self.kept += class.places();
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
            let heap = self.heap(class, tier, demand, states);
            let (heap, rooms) = (&mut self.heaps[heap], &mut self.rooms);
            let two = match accept {
                Some(accept) => heap.accepted(rooms, states, accept),
                None => heap.two(rooms, states),
            };
            two.into_iter().flatten().for_each(|entry| found.add(terms, entry));
        }
        found
    }

    /// The heap of a tier. Classes share those of the same workers.
    fn heap(
        &mut self,
        class: usize,
        tier: usize,
        demand: NumberedDemand<'_>,
        states: &WorkerStates<'_>,
    ) -> usize {
        let tier = &mut self.list[class].tiers[tier];
        if let Some(heap) = tier.heaps.get(&demand.number) {
            return *heap;
        }
        self.rooms.add(demand.number, demand.amounts, states);
        let id = (Rc::clone(&tier.places), demand.number);
        let (heaps, kept) = (&mut self.heaps, &mut self.kept);
        let heap = *self.shared.entry(id).or_insert_with(|| {
            let heap = Heap::new(&tier.places, demand.number, &mut self.rooms, states);
            *kept += heap.len();
            heaps.push(heap);
            heaps.len() - 1
        });
        tier.heaps.insert(demand.number, heap);
        heap
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
    fn add(&mut self, terms: Terms, entry: HeapEntry) {
        let better = |than: &Option<(Terms, HeapEntry)>| {
            than.as_ref().is_none_or(|(other_terms, other)| {
                terms < *other_terms || (terms == *other_terms && entry.is_better(other))
            })
        };
        if better(&self.best) {
            self.second = self.best.replace((terms, entry));
        } else if better(&self.second) {
            self.second = Some((terms, entry));
        }
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
        Some(SelectedWorker { place: best.place(), group: None, runner_up })
    }
}
