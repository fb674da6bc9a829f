//! A heap of workers that are alike but for what is on them, for clusters that take the same: the best
//! comes first.
//!
//! It is lazy. While clusters are placed a worker only gets worse, so what was noted of it is at best
//! what it is now: the first one is looked at again if it changed since, and sinks, until one is first
//! that did not change. A worker that lacks room for such a cluster never has it again, and is dropped.
//! The second is one of those right below the first, and nothing is taken out to find it.

use super::rooms::Rooms;
use crate::plan::score::MovingTerms;
use crate::plan::worker_states::WorkerStates;

/// A worker as it was when it was last looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeapEntry {
    /// Its moving terms.
    pub(super) moving: MovingTerms,
    place: u32,
    stamp: u32,
}

impl HeapEntry {
    fn of(place: usize, demand: u32, rooms: &mut Rooms, states: &WorkerStates<'_>) -> Option<Self> {
        let moving = rooms.moving(place, demand, states)?;
        let number = u32::try_from(place).ok()?;
        Some(Self { moving, place: number, stamp: states.stamp(place) })
    }

    /// Its place in the worker states, which is that of its name.
    pub(super) fn place(&self) -> usize {
        self.place as usize
    }

    /// Whether it is better than another one, by the terms that move and the name.
    pub(super) fn is_better(&self, other: &Self) -> bool {
        self.moving.is_better(&other.moving, self.place < other.place)
    }
}

/// How many are right below one.
const WIDTH: usize = 4;

/// Such workers.
#[derive(Clone, Debug)]
pub(super) struct Heap {
    /// What clusters take, by number.
    demand: u32,
    /// None is better than the one above it, which has four below it: half as many steps from the first to the last as with two.
    entries: Vec<HeapEntry>,
}

impl Heap {
    /// Of the workers at these places those that have room for what clusters with this number take.
    pub(super) fn new(
        places: &[usize],
        demand: u32,
        rooms: &mut Rooms,
        states: &WorkerStates<'_>,
    ) -> Self {
        let entry = |place: &usize| HeapEntry::of(*place, demand, rooms, states);
        let entries = places.iter().filter_map(entry).collect();
        let mut heap = Self { demand, entries };
        (0..heap.entries.len().div_ceil(WIDTH)).rev().for_each(|at| heap.sink(at));
        heap
    }

    /// The best, as it is now; `None` where there is none that is better than another one.
    pub(super) fn first(
        &mut self,
        than: Option<&HeapEntry>,
        rooms: &mut Rooms,
        states: &WorkerStates<'_>,
    ) -> Option<HeapEntry> {
        self.settled(than, rooms, states, |_| Some(0))
    }

    /// The one after the best, once that was asked for; `None` where there is none that is better than another one.
    pub(super) fn second(
        &mut self,
        than: Option<&HeapEntry>,
        rooms: &mut Rooms,
        states: &WorkerStates<'_>,
    ) -> Option<HeapEntry> {
        self.settled(than, rooms, states, |heap| heap.best_below(0))
    }

    /// The best of those that are accepted, the best first, two at most.
    pub(super) fn accepted(
        &mut self,
        rooms: &mut Rooms,
        states: &WorkerStates<'_>,
        accept: impl Fn(usize) -> bool,
    ) -> [Option<HeapEntry>; 2] {
        let (mut found, mut aside) = ([None; 2], Vec::new());
        while found[1].is_none() {
            let Some(first) = self.first(None, rooms, states) else { break };
            self.remove(0);
            aside.push(first);
            if accept(first.place()) {
                found[usize::from(found[0].is_some())] = Some(first);
            }
        }
        for entry in aside {
            self.entries.push(entry);
            self.rise(self.entries.len() - 1, 0);
        }
        found
    }

    /// The one at the place that is told, once it is one that did not change, as long as it may be better than another one: at
    /// best it is what was noted of it.
    fn settled(
        &mut self,
        than: Option<&HeapEntry>,
        rooms: &mut Rooms,
        states: &WorkerStates<'_>,
        place: impl Fn(&Self) -> Option<usize>,
    ) -> Option<HeapEntry> {
        loop {
            let at = place(self)?;
            let entry = *self.entries.get(at)?;
            if than.is_some_and(|other| !entry.is_better(other)) {
                return None;
            }
            if entry.stamp == states.stamp(entry.place()) {
                return Some(entry);
            }
            match HeapEntry::of(entry.place(), self.demand, rooms, states) {
                Some(changed) => {
                    self.entries[at] = changed;
                    self.sink(at);
                }
                None => self.remove(at),
            }
        }
    }

    fn remove(&mut self, at: usize) {
        self.entries.swap_remove(at);
        if at < self.entries.len() {
            self.sink(at);
            self.rise(at, 0);
        }
    }

    /// Puts the one at a place below those that are better. It was the best and is hardly so now, so it is put to the end at once and
    /// rises from there.
    fn sink(&mut self, top: usize) {
        let (entry, mut at) = (self.entries[top], top);
        while let Some(below) = self.best_below(at) {
            self.entries[at] = self.entries[below];
            at = below;
        }
        self.entries[at] = entry;
        self.rise(at, top);
    }

    /// The place of the best of those right below a place.
    fn best_below(&self, at: usize) -> Option<usize> {
        let first = WIDTH * at + 1;
        let below = self.entries.get(first..)?;
        let better = |one: usize, other: usize| {
            if below[other].is_better(&below[one]) { other } else { one }
        };
        let best = match below.len() {
            0 => return None,
            // Two of these comparisons wait for nothing.
            WIDTH.. => better(better(0, 1), better(2, 3)),
            few => (1..few).fold(0, better),
        };
        Some(first + best)
    }

    /// Puts the one at a place above those that are worse, no further than to the top.
    fn rise(&mut self, mut at: usize, top: usize) {
        let entry = self.entries[at];
        while at > top {
            let above = (at - 1) / WIDTH;
            if !entry.is_better(&self.entries[above]) {
                break;
            }
            self.entries[at] = self.entries[above];
            at = above;
        }
        self.entries[at] = entry;
    }
}
