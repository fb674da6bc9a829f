//! What the workers have of what the clusters take, by number: what the capacity rule and the share used read of a worker,
//! without looking for the name of a resource. `tests` hold both to it.

use std::collections::BTreeMap;

use crate::model::{Quantity, Resources};
use crate::plan::amounts;
use crate::plan::candidate::Candidate;
use crate::plan::score::{self, MovingTerms};
use crate::plan::worker_states::WorkerStates;

/// What a cluster takes, with its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberedDemand<'d> {
    pub(super) number: u32,
    pub(super) amounts: &'d Resources,
}

/// What the workers have, by place.
#[derive(Clone, Debug, Default)]
pub(super) struct Rooms {
    numbers: BTreeMap<String, usize>,
    /// By the number of the resource.
    resources: Vec<RoomOfResource>,
    /// By the number of what clusters take: the numbers of the resources and how much of each, nothing left out but those of
    /// which it is nothing.
    demands: Vec<Vec<(usize, Quantity)>>,
    /// Of each worker how often it had been changed when it was looked at.
    stamps: Vec<u32>,
    /// The clusters there, and whether it is a worker that a pool is making.
    there: Vec<(u64, bool)>,
}

/// What the workers have of one resource.
#[derive(Clone, Debug)]
struct RoomOfResource {
    name: String,
    /// By place.
    of: Vec<WorkerRoom>,
}

/// What one worker has of one resource.
#[derive(Clone, Copy, Debug)]
struct WorkerRoom {
    /// The most that counts.
    limit: Quantity,
    /// What is left of what clusters may take; `None` where nobody knows what it has.
    left: Option<Quantity>,
    /// What they take.
    allocated: Quantity,
}

impl WorkerRoom {
    fn of(candidate: &Candidate<'_>, resource: &str) -> Self {
        Self {
            limit: candidate.limit(resource),
            left: candidate.left(resource),
            allocated: amounts::of(&candidate.plan.allocated, resource),
        }
    }

    fn has(&self, needs: Quantity) -> bool {
        self.left.is_some_and(|left| needs <= left)
    }

    fn take(&mut self, needs: Quantity) {
        self.left = self.left.map(|left| left.minus(needs));
        self.allocated = self.allocated.plus(needs);
    }
}

impl Rooms {
    /// Takes note of what clusters take that have this number.
    pub(super) fn add(&mut self, number: u32, demand: &Resources, states: &WorkerStates<'_>) {
        let number = number as usize;
        if self.demands.get(number).is_some_and(|known| !known.is_empty()) {
            return;
        }
        if self.stamps.is_empty() {
            self.stamps = (0..states.len()).map(|place| states.stamp(place)).collect();
            self.there = states.places().map(|(_, candidate)| there(candidate)).collect();
        }
        let taken = demand.iter().filter(|(_, needs)| **needs != Quantity::ZERO);
        let taken: Vec<_> =
            taken.map(|(name, needs)| (self.resource(name, states), *needs)).collect();
        if self.demands.len() <= number {
            self.demands.resize_with(number + 1, Vec::new);
        }
        self.demands[number] = taken;
    }

    fn resource(&mut self, name: &str, states: &WorkerStates<'_>) -> usize {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        let next = self.resources.len();
        let of = states.places().map(|(_, candidate)| WorkerRoom::of(candidate, name)).collect();
        self.resources.push(RoomOfResource { name: name.to_owned(), of });
        self.numbers.insert(name.to_owned(), next);
        next
    }

    /// Takes note of a worker that has just been given a cluster which takes what has this number.
    pub(super) fn take(&mut self, place: usize, demand: u32, states: &WorkerStates<'_>) {
        let (stamp, demand) = (states.stamp(place), self.demands.get(demand as usize));
        let Some((was, demand)) = self.stamps.get_mut(place).zip(demand) else { return };
        if was.wrapping_add(1) == stamp {
            *was = stamp;
            for (resource, needs) in demand {
                self.resources[*resource].of[place].take(*needs);
            }
            self.there[place] = there(states.at(place));
        }
    }

    /// Looks at a worker again, where it was given a cluster since of which nobody took note.
    fn renew(&mut self, place: usize, states: &WorkerStates<'_>) {
        let stamp = states.stamp(place);
        if self.stamps[place] == stamp {
            return;
        }
        let candidate = states.at(place);
        for resource in &mut self.resources {
            resource.of[place] = WorkerRoom::of(candidate, &resource.name);
        }
        self.there[place] = there(candidate);
        self.stamps[place] = stamp;
    }

    /// Whether a worker has room for what has this number.
    pub(super) fn has(&mut self, place: usize, demand: u32, states: &WorkerStates<'_>) -> bool {
        self.renew(place, states);
        let mut demand = self.demands[demand as usize].iter();
        demand.all(|(resource, needs)| self.resources[*resource].of[place].has(*needs))
    }

    /// Where a worker stands for clusters that take so much, by the terms that move; `None` where there is too little room.
    pub(super) fn moving(
        &mut self,
        place: usize,
        demand: u32,
        states: &WorkerStates<'_>,
    ) -> Option<MovingTerms> {
        if !self.has(place, demand, states) {
            return None;
        }
        let demand = &self.demands[demand as usize];
        let amounts = demand.iter().map(|(resource, needs)| {
            let room = &self.resources[*resource].of[place];
            (room.allocated.plus(*needs), room.limit)
        });
        let (clusters, is_pending) = self.there[place];
        Some(MovingTerms { share: score::share::of_amounts(amounts, is_pending), clusters })
    }
}

fn there(candidate: &Candidate<'_>) -> (u64, bool) {
    (candidate.plan.clusters, candidate.plan.pending.is_some())
}
