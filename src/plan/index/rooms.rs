//! What the workers have of what the clusters take, by number: what the capacity rule and the share used read of a worker,
//! without looking for the name of a resource. `tests` hold both to it.

use std::collections::BTreeMap;

use crate::model::{Quantity, Resources};
use crate::plan::candidate::Candidate;
use crate::plan::score::MovingTerms;
use crate::plan::score::share;
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
    demands: Vec<Vec<Needs>>,
    there: Vec<SeenWorker>,
}

/// How much clusters take of a resource.
#[derive(Clone, Copy, Debug)]
struct Needs {
    resource: usize,
    amount: Quantity,
    /// The same in thousandths; `None` where it is too much to be counted so.
    small: Option<i64>,
}

/// What the workers have of one resource.
#[derive(Clone, Debug)]
struct RoomOfResource {
    name: String,
    /// By place; `None` where one has or is given too much to be counted so.
    of: Option<Vec<WorkerRoom>>,
}

/// What one worker has of one resource, in thousandths.
#[derive(Clone, Copy, Debug)]
struct WorkerRoom {
    /// The most that counts.
    limit: i64,
    /// What is left of what clusters may take; less than nothing where nobody knows what it has.
    left: i64,
    /// What they take.
    allocated: i64,
}

/// What else was seen of a worker.
#[derive(Clone, Copy, Debug)]
struct SeenWorker {
    clusters: u64,
    /// How often it had been changed when it was looked at.
    stamp: u32,
    /// Whether a pool is making it.
    is_pending: bool,
}

impl SeenWorker {
    fn at(place: usize, states: &WorkerStates<'_>) -> Self {
        let plan = &states.at(place).plan;
        let is_pending = plan.pending.is_some();
        Self { clusters: plan.clusters, stamp: states.stamp(place), is_pending }
    }
}

impl WorkerRoom {
    /// `None` where it is too much.
    fn of(candidate: &Candidate<'_>, resource: &str) -> Option<Self> {
        Some(Self {
            limit: small(candidate.limit(resource))?,
            left: candidate.left(resource).map_or(Some(i64::MIN), small)?,
            allocated: small(candidate.allocated(resource))?,
        })
    }

    fn take(&mut self, needs: i64) -> Option<()> {
        self.left = self.left.checked_sub(needs)?;
        self.allocated = self.allocated.checked_add(needs)?;
        Some(())
    }
}

impl RoomOfResource {
    fn of(name: &str, states: &WorkerStates<'_>) -> Self {
        let of = states.places().map(|(_, candidate)| WorkerRoom::of(candidate, name)).collect();
        Self { name: name.to_owned(), of }
    }

    /// Changes what is counted of a worker, or counts no more where it is too much.
    fn change(&mut self, place: usize, change: impl FnOnce(&str, &mut WorkerRoom) -> Option<()>) {
        let Self { name, of } = self;
        if of.as_mut().is_some_and(|of| change(name, &mut of[place]).is_none()) {
            *of = None;
        }
    }

    /// The share of a worker that is used once so much more is; `None` where it has too little room.
    fn share(&self, place: usize, needs: &Needs, states: &WorkerStates<'_>) -> Option<(u64, u64)> {
        let Some((of, amount)) = self.of.as_ref().zip(needs.small) else {
            return self.share_of(states.at(place), needs.amount);
        };
        let WorkerRoom { limit, left, allocated } = of[place];
        if amount > left {
            return None;
        }
        Some(share::small(i128::from(allocated) + i128::from(amount), limit.into()))
    }

    fn share_of(&self, candidate: &Candidate<'_>, needs: Quantity) -> Option<(u64, u64)> {
        candidate.left(&self.name).filter(|left| needs <= *left)?;
        let used = candidate.allocated(&self.name).plus(needs);
        Some(share::small(used.thousandths(), candidate.limit(&self.name).thousandths()))
    }
}

impl Rooms {
    /// Takes note of what clusters take that have this number.
    pub(super) fn add(&mut self, number: u32, demand: &Resources, states: &WorkerStates<'_>) {
        let number = number as usize;
        if self.demands.get(number).is_some_and(|known| !known.is_empty()) {
            return;
        }
        if self.there.is_empty() {
            self.there = (0..states.len()).map(|at| SeenWorker::at(at, states)).collect();
        }
        let taken = demand.iter().filter(|(_, needs)| **needs != Quantity::ZERO);
        let taken = taken.map(|(name, needs)| {
            let resource = self.resource(name, states);
            Needs { resource, amount: *needs, small: small(*needs) }
        });
        let taken = taken.collect();
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
        self.resources.push(RoomOfResource::of(name, states));
        self.numbers.insert(name.to_owned(), next);
        next
    }

    /// Takes note of a worker that has just been given a cluster which takes what has this number.
    pub(super) fn take(&mut self, place: usize, demand: u32, states: &WorkerStates<'_>) {
        let (stamp, demand) = (states.stamp(place), self.demands.get(demand as usize));
        let Some((there, demand)) = self.there.get_mut(place).zip(demand) else { return };
        if there.stamp.wrapping_add(1) == stamp {
            (there.stamp, there.clusters) = (stamp, there.clusters.saturating_add(1));
            for needs in demand {
                let take = |_: &str, room: &mut WorkerRoom| room.take(needs.small?);
                self.resources[needs.resource].change(place, take);
            }
        }
    }

    /// Looks at a worker again, where it was given a cluster since of which nobody took note.
    fn renew(&mut self, place: usize, states: &WorkerStates<'_>) {
        if self.there[place].stamp == states.stamp(place) {
            return;
        }
        let candidate = states.at(place);
        for resource in &mut self.resources {
            resource.change(place, |name, room| {
                *room = WorkerRoom::of(candidate, name)?;
                Some(())
            });
        }
        self.there[place] = SeenWorker::at(place, states);
    }

    /// Whether a worker has room for what has this number.
    pub(super) fn has(&mut self, place: usize, demand: u32, states: &WorkerStates<'_>) -> bool {
        self.renew(place, states);
        let mut needs = self.demands[demand as usize].iter();
        needs.all(|needs| self.resources[needs.resource].share(place, needs, states).is_some())
    }

    /// Where a worker stands for clusters that take so much, by the terms that move; `None` where there is too little room.
    pub(super) fn moving(
        &mut self,
        place: usize,
        demand: u32,
        states: &WorkerStates<'_>,
    ) -> Option<MovingTerms> {
        self.renew(place, states);
        let mut largest = share::NOTHING;
        for needs in &self.demands[demand as usize] {
            let share = self.resources[needs.resource].share(place, needs, states)?;
            largest = share::larger(largest, share);
        }
        let SeenWorker { clusters, is_pending, .. } = self.there[place];
        Some(MovingTerms::new(share::filled(largest, is_pending), clusters))
    }
}

/// An amount in thousandths; `None` where it is too much to be counted so.
fn small(amount: Quantity) -> Option<i64> {
    i64::try_from(amount.thousandths()).ok()
}
