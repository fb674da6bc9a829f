//! A heap of workers that are alike but for what is on them, for clusters that take the same: the best
//! comes first.
//!
//! It is lazy. While clusters are placed a worker only gets worse, so what was noted of it is at best
//! what it is now: the first one is looked at again if it changed since, and sinks, until one is first
//! that did not change. A worker that lacks room for such a cluster never has it again, and is dropped.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::plan::candidate::Request;
use crate::plan::filter;
use crate::plan::score::{self, MovingTerms};
use crate::plan::worker_states::WorkerStates;

/// A worker as it was when it was last looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeapEntry {
    /// Its moving terms.
    moving: MovingTerms,
    /// Its place in the worker states, which is that of its name.
    pub(super) place: usize,
    stamp: u32,
}

impl HeapEntry {
    fn of(place: usize, request: &Request<'_>, states: &WorkerStates<'_>) -> Self {
        let moving = score::moving(request, states.at(place));
        Self { moving, place, stamp: states.stamp(place) }
    }
}

/// The greatest is the best, by the terms that move and the name.
impl Ord for HeapEntry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.moving.compare(&self.moving).then(other.place.cmp(&self.place))
    }
}

impl PartialOrd for HeapEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for HeapEntry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for HeapEntry {}

/// Such workers.
#[derive(Clone, Debug)]
pub(super) struct Heap {
    entries: BinaryHeap<HeapEntry>,
}

impl Heap {
    /// Of the workers at these places those that have room for the cluster.
    pub(super) fn new(places: &[usize], request: &Request<'_>, states: &WorkerStates<'_>) -> Self {
        let room = places.iter().filter(|at| filter::has_room(request.demand(), states.at(**at)));
        let entries = room.map(|at| HeapEntry::of(*at, request, states)).collect();
        Self { entries }
    }

    /// How many workers it holds.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds the best of those that are accepted to what was found, the best first, until it has two.
    pub(super) fn best(
        &mut self,
        found: &mut Vec<HeapEntry>,
        request: &Request<'_>,
        states: &WorkerStates<'_>,
        accept: impl Fn(usize) -> bool,
    ) {
        let mut aside = Vec::new();
        while found.len() < 2 {
            let Some(first) = self.settled(request, states) else { break };
            aside.push(first);
            if accept(first.place) {
                found.push(first);
            }
        }
        self.entries.extend(aside);
    }

    /// Takes the first one out, once it is one that did not change.
    fn settled(&mut self, request: &Request<'_>, states: &WorkerStates<'_>) -> Option<HeapEntry> {
        loop {
            let mut first = self.entries.peek_mut()?;
            let place = first.place;
            if first.stamp == states.stamp(place) {
                return Some(PeekMut::pop(first));
            }
            if filter::has_room(request.demand(), states.at(place)) {
                *first = HeapEntry::of(place, request, states);
            } else {
                PeekMut::pop(first);
            }
        }
    }
}
