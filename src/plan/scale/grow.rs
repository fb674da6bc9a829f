//! Growing: which workers a pool makes.
//!
//! Those that are missing to `min` come first, each where the pool has fewest. Then those that clusters wait
//! for: the clusters are gone through as the queue has them, each joins a new worker that takes it, and
//! where none does one more is made, of the pool and at the place at which it takes the most of those that
//! wait. (First fit: the fewest workers for all that waits, as far as a queue that nobody may jump allows;
//! the exact fewest is bin packing.) A worker is made for a cluster only if it passes every filter there.

use super::{PoolChanges, PoolVerdict};
use crate::model::{
    Cluster, Fleet, Name, Pending, Pool, PoolWorker, Reason, Resources, Worker, WorkerPlan,
    WorkerState,
};
use crate::plan::assign::PlanRun;
use crate::plan::candidate::{Candidate, Request};
use crate::plan::pool_workers::{leaving, of_pool};
use crate::plan::pre_filter_state::PreFilterState;
use crate::plan::{PlanInput, amounts, filter, score, worker_states};

/// Makes what is missing to each pool's `min`.
pub(super) fn to_minimum(
    input: &PlanInput<'_>,
    fleet: &mut Option<Fleet>,
    change: &mut PoolChanges,
) {
    for pool in input.fleet.pools.values() {
        loop {
            let now = fleet.as_ref().unwrap_or(input.fleet);
            let there = of_pool(now, &pool.name).count();
            let room = (pool.spec.max as usize).saturating_sub(leaving(input, &pool.name));
            if there >= room.min(pool.spec.min as usize) {
                break;
            }
            let at = |location: &&&str| {
                of_pool(now, &pool.name).filter(|w| w.spec.location == **location).count()
            };
            let locations = pool.locations();
            let Some(location) = locations.iter().min_by_key(at) else { break };
            let now = PlanInput { fleet: now, ..*input };
            let Some(worker) = next_worker(&now, pool, location, &[]) else { break };
            change.made.insert(worker.name.clone(), true);
            let fleet = fleet.get_or_insert_with(|| input.fleet.clone());
            fleet.workers.insert(worker.name.clone(), worker);
        }
    }
}

/// The workers that clusters wait for after a run, and that the pools may make now.
pub(super) fn needed(input: &PlanInput<'_>, run: &PlanRun<'_>) -> Vec<Worker> {
    let mut growth = Growth::after(input, run);
    let waiting: Vec<&Cluster> =
        run.unplaced().filter(|cluster| !growth.is_incomplete(cluster)).collect();
    for (at, cluster) in waiting.iter().enumerate() {
        let taker = growth.new.iter().position(|new| growth.takes(new, cluster));
        if let Some(taker) = taker {
            growth.new[taker].bind(cluster);
        } else if let Some(mut new) = growth.best(cluster, &waiting[at..]) {
            new.bind(cluster);
            growth.new.push(new);
        }
    }
    growth.new.into_iter().map(|new| new.worker).collect()
}

/// A worker that is to be made, with what would come to it.
pub(super) struct New {
    worker: Worker,
    plan: WorkerPlan,
}

impl New {
    pub(super) fn of(worker: Worker) -> Self {
        let plan = WorkerPlan {
            state: WorkerState::Desired,
            capacity: worker.spec.capacity.clone(),
            reserved: worker.spec.reserved.clone(),
            ceiling: worker_states::ceiling(&worker.spec),
            allocated: Resources::new(),
            clusters: 0,
            pending: None,
        };
        Self { worker, plan }
    }

    fn bind(&mut self, cluster: &Cluster) {
        self.plan.clusters = self.plan.clusters.saturating_add(1);
        amounts::add(&mut self.plan.allocated, &cluster.demand);
    }

    /// The worker as the filters see it once it is running.
    fn candidate(&self) -> Candidate<'_> {
        Candidate {
            name: &self.worker.name,
            worker: Some(&self.worker),
            health: None,
            foreign: None,
            plan: self.plan.clone(),
            uses_ceiling: false,
            assumed: Vec::new(),
            reserving: true,
        }
    }
}

/// The pools after a run, and what they are to make.
pub(super) struct Growth<'g, 'r> {
    input: &'g PlanInput<'g>,
    run: &'g PlanRun<'r>,
    new: Vec<New>,
}

impl<'g, 'r> Growth<'g, 'r> {
    /// Nothing is to be made yet.
    pub(super) fn after(input: &'g PlanInput<'g>, run: &'g PlanRun<'r>) -> Self {
        Self { input, run, new: Vec::new() }
    }

    /// Whether nobody knows if a worker that is there takes the cluster: all that speaks against one is
    /// that it does not say what it has.
    pub(super) fn is_incomplete(&self, cluster: &Cluster) -> bool {
        let incomplete = |request: &Request<'_>| {
            let mut reasons = Vec::new();
            self.run.states.considered().any(|candidate| {
                reasons.clear();
                filter::refuse(request, candidate, &mut reasons);
                let unknown = |reason: &Reason| matches!(reason, Reason::CapacityUnknown { .. });
                !reasons.is_empty() && reasons.iter().all(unknown)
            })
        };
        self.asked(cluster, incomplete).unwrap_or(true)
    }

    /// What is said of a cluster with all that it meets; `None` where it is not desired.
    fn asked<T>(&self, cluster: &Cluster, ask: impl FnOnce(&Request<'_>) -> T) -> Option<T> {
        let request = self.run.request_of(&cluster.name)?;
        let states = &self.run.states;
        let pre_filter = PreFilterState::of(&request, states, &states.counts);
        Some(ask(&request.within(&pre_filter)))
    }

    /// Why a new worker does not take a cluster; nothing where it does.
    pub(super) fn reasons(&self, new: &New, cluster: &Cluster) -> Vec<Reason> {
        let refused = |request: &Request<'_>| {
            let mut reasons = Vec::new();
            filter::refuse(request, &new.candidate(), &mut reasons);
            reasons
        };
        self.asked(cluster, refused).unwrap_or_default()
    }

    fn takes(&self, new: &New, cluster: &Cluster) -> bool {
        self.run.request_of(&cluster.name).is_some() && self.reasons(new, cluster).is_empty()
    }

    /// The worker that takes a cluster and the most of those behind it; of equal ones the better one for
    /// the cluster.
    fn best(&self, cluster: &Cluster, waiting: &[&Cluster]) -> Option<New> {
        let request = self.run.request_of(&cluster.name)?;
        let mut best: Option<(usize, crate::model::Rank, New)> = None;
        for pool in self.input.fleet.pools.values().filter(|pool| self.may_grow(pool)) {
            for location in pool.locations() {
                let worker = next_worker(self.input, pool, location, &self.new);
                let Some(new) = worker.map(New::of).filter(|new| self.takes(new, cluster)) else {
                    continue;
                };
                let rank = score::rank(&request, &new.candidate(), &new.worker);
                let count = self.fill(New::of(new.worker.clone()), waiting);
                let better = best.as_ref().is_none_or(|(most, than, _)| {
                    count > *most || (count == *most && rank.compare(than).0.is_lt())
                });
                if better {
                    best = Some((count, rank, new));
                }
            }
        }
        best.map(|(_, _, new)| new)
    }

    /// How many of those that wait a worker takes.
    fn fill(&self, mut new: New, waiting: &[&Cluster]) -> usize {
        let mut count = 0;
        for cluster in waiting {
            if self.takes(&new, cluster) {
                new.bind(cluster);
                count += 1;
            }
        }
        count
    }

    fn may_grow(&self, pool: &Pool) -> bool {
        self.limit(pool).is_none()
    }

    /// What keeps a pool from growing at all; `None` where nothing does.
    pub(super) fn limit(&self, pool: &Pool) -> Option<PoolVerdict> {
        let of = |new: &&New| new.worker.spec.pool.as_deref() == Some(pool.name.as_str());
        let new = self.new.iter().filter(of).count();
        let there = of_pool(self.input.fleet, &pool.name).count();
        let all = there + new + leaving(self.input, &pool.name);
        let awaited = of_pool(self.input.fleet, &pool.name).filter(|worker| {
            let candidate = self.run.states.get(&worker.name);
            candidate.is_some_and(|c| c.plan.pending == Some(Pending::Awaited))
        });
        let pending = awaited.count() + new;
        if all >= pool.spec.max as usize {
            return Some(PoolVerdict::HasMax(pool.spec.max));
        }
        let most = pool.max_pending().filter(|most| pending >= *most as usize)?;
        Some(PoolVerdict::HasMaxPending(most))
    }
}

/// The next worker of a pool, with an ordinal that none had and a name that nobody has; `None` where the
/// pattern gives no name.
pub(super) fn next_worker(
    input: &PlanInput<'_>,
    pool: &Pool,
    location: &str,
    beside: &[New],
) -> Option<Worker> {
    let locked = input.previous.pools().get(&pool.name).map_or(0, |lock| lock.last);
    let made = of_pool(input.fleet, &pool.name).chain(beside.iter().map(|new| &new.worker));
    let made = made.filter_map(|worker| worker.made_by.as_ref());
    let made = made.filter(|made| made.pool == pool.name).map(|made| made.made.ordinal);
    let mut ordinal = made.max().unwrap_or(0).max(locked);
    loop {
        ordinal = ordinal.checked_add(1)?;
        let name = pool.name_of(ordinal, location)?;
        if !is_taken(input, &name) && beside.iter().all(|new| new.worker.name != name) {
            let row = PoolWorker {
                ordinal,
                location: location.to_owned(),
                zones: pool.zones_at(location),
                leaving: false,
                running: false,
            };
            return Some(pool.worker(&name, &row));
        }
    }
}

/// Whether anything has a name, or had it and is not gone.
fn is_taken(input: &PlanInput<'_>, name: &Name) -> bool {
    let PlanInput { fleet, previous, .. } = input;
    let hub = fleet.spec.control_plane.as_ref().is_some_and(|hub| hub.name == name.as_str());
    let made = previous.fleet.as_ref().is_some_and(|lock| lock.workers.contains_key(name));
    let unloaded = fleet.unloaded.iter().filter(|unloaded| unloaded.is_anybodys());
    let unloaded = unloaded.filter_map(|u| u.name.as_deref()).any(|u| u == name.as_str());
    let desired = fleet.workers.contains_key(name) || fleet.clusters.contains_key(name);
    let recorded = previous.workers.contains_key(name) || previous.index_row(name).is_some();
    hub || made || unloaded || desired || recorded
}
