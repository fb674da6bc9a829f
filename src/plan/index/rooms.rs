//! What the workers have of what the clusters take, by number: what the capacity rule and the share used read of a worker,
//! without looking for the name of a resource. `tests` hold both to it.

use std::collections::BTreeMap;

use crate::model::{Quantity, Resources};
use crate::plan::candidate::Candidate;
use crate::plan::score::{self, MovingTerms};
use crate::plan::worker_states::WorkerStates;

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
    /// The most that clusters may take; `None` where nobody knows what it has.
    allocatable: Option<Quantity>,
    /// What they take.
    allocated: Quantity,
}

impl WorkerRoom {
    fn of(candidate: &Candidate<'_>, resource: &str) -> Self {
        let allocated = allocated(candidate, resource);
        let allocatable = candidate.left(resource).map(|left| left.plus(allocated));
        Self { limit: candidate.limit(resource), allocatable, allocated }
    }

    fn has(&self, needs: Quantity) -> bool {
        self.allocatable.is_some_and(|most| needs <= most.minus(self.allocated))
    }
}

fn allocated(candidate: &Candidate<'_>, resource: &str) -> Quantity {
    candidate.plan.allocated.get(resource).copied().unwrap_or_default()
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

    /// Looks at a worker again, where it was given a cluster since. Nothing but what is taken there is another then.
    fn renew(&mut self, place: usize, states: &WorkerStates<'_>) {
        let stamp = states.stamp(place);
        if self.stamps[place] == stamp {
            return;
        }
        let candidate = states.at(place);
        for resource in &mut self.resources {
            resource.of[place].allocated = allocated(candidate, &resource.name);
        }
        self.there[place] = there(candidate);
        self.stamps[place] = stamp;
    }

    /// Where a worker stands for clusters that take so much, by the terms that move; `None` where there is too little room.
    pub(super) fn moving(
        &mut self,
        place: usize,
        demand: u32,
        states: &WorkerStates<'_>,
    ) -> Option<MovingTerms> {
        self.renew(place, states);
        let demand = &self.demands[demand as usize];
        if !demand.iter().all(|(resource, needs)| self.resources[*resource].of[place].has(*needs)) {
            return None;
        }
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
