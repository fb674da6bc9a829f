//! The workers of a run: their states, and what the clusters on them take as the run goes on.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::Candidate;
use super::counts::{Counts, NumberedParts};
use super::deletion::Deletions;
use super::group::ClusterInfo;
use super::holds::Holds;
use super::occupancy::there;
use super::policy::Policies;
use super::taking::Taking;
use super::{PlanInput, amounts, pool_workers};
use crate::model::api::{Observation, WorkerSpec};
use crate::model::{
    Cluster, ClusterRow, ClusterState, Name, Pending, Quantity, Resources, WorkerLock, WorkerPlan,
    WorkerState,
};

mod worker_state;

use worker_state::state;

/// Every worker that is desired or recorded, in the order of the names.
#[derive(Clone, Debug)]
pub(super) struct WorkerStates<'a> {
    workers: Vec<Candidate<'a>>,
    /// The places of the workers whose documents did not load.
    unloaded: Vec<usize>,
    have_documents: bool,
    /// How often what a worker has to give was changed.
    stamps: Vec<u32>,
    /// The places of the workers that were given a cluster, one for each.
    given: Vec<usize>,
    /// How often anything but a cluster's coming changed a worker.
    epoch: u64,
    /// Who is placed where.
    pub(super) counts: Counts<'a>,
}

impl<'a> WorkerStates<'a> {
    /// The workers as the last run left them, with the states that this run gives them.
    pub(super) fn new(
        input: &PlanInput<'a>,
        policies: &Policies<'a>,
        deletions: &Deletions,
        retirements: &mut Deletions,
        holds: &mut Holds,
    ) -> Self {
        let recorded = input.previous.workers.keys();
        let made = input.previous.fleet.iter().flat_map(|lock| lock.workers.keys());
        let names: BTreeSet<&Name> =
            input.fleet.workers.keys().chain(recorded).chain(made).collect();
        let workers = names
            .into_iter()
            .map(|name| candidate(input, name, (deletions, &mut *retirements), holds));
        let workers: Vec<_> = workers.collect();
        let stamps = vec![0; workers.len()];
        let counts =
            Counts::new(input, policies, deletions, workers.iter().map(|c| c.name).collect());
        let unknown =
            |c: &Candidate<'_>| c.plan.state == WorkerState::NotLoaded && c.worker.is_none();
        let places = workers.iter().enumerate().filter(|(_, candidate)| unknown(candidate));
        let unloaded = places.map(|(place, _)| place).collect();
        let have_documents = workers.iter().all(|candidate| candidate.worker.is_some());
        Self { workers, unloaded, have_documents, stamps, given: Vec::new(), epoch: 0, counts }
    }

    /// A worker that is another in this input, with what is on it here.
    pub(super) fn edited<'e>(
        &self,
        input: &PlanInput<'e>,
        name: &'e Name,
    ) -> Option<Candidate<'e>> {
        let there = &self.get(name)?.plan;
        let (deletions, mut retirements) = (Deletions::new(), Deletions::new());
        let nothing_is_said = &mut Holds::default();
        let edited = candidate(input, name, (&deletions, &mut retirements), nothing_is_said);
        let allocated = there.allocated.clone();
        let plan = WorkerPlan { allocated, clusters: there.clusters, ..edited.plan };
        Some(Candidate { plan, ..edited })
    }

    /// The workers that a cluster is matched with. One that is empty and on its way out says so.
    pub(super) fn considered(&self) -> impl Iterator<Item = &Candidate<'a>> {
        self.places().map(|(_, candidate)| candidate)
    }

    /// The workers that a cluster is matched with, each with its place, in the order of the names.
    pub(super) fn places(&self) -> impl Iterator<Item = (usize, &Candidate<'a>)> {
        self.workers.iter().enumerate()
    }

    /// The workers whose documents did not load, so that only their names are known, and what is on them.
    pub(super) fn unloaded(&self) -> impl Iterator<Item = &'a Name> {
        self.unloaded.iter().map(|place| self.workers[*place].name)
    }

    /// Whether all workers have documents, so that nothing about them is unknown.
    pub(super) fn have_documents(&self) -> bool {
        self.have_documents
    }

    /// The worker at a place.
    pub(super) fn at(&self, place: usize) -> &Candidate<'a> {
        &self.workers[place]
    }

    /// The place of a worker.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.find(name)
    }

    /// How many workers there are, those on their way out included.
    pub(super) fn len(&self) -> usize {
        self.workers.len()
    }

    /// A number that grows with every change of the worker at a place.
    pub(super) fn stamp(&self, place: usize) -> u32 {
        self.stamps[place]
    }

    /// The places of the workers that were given a cluster, in the order in which they were.
    pub(super) fn given(&self) -> &[usize] {
        &self.given
    }

    /// Whether the worker at a place was given a cluster.
    pub(super) fn is_given(&self, place: usize) -> bool {
        self.stamps[place] != 0
    }

    /// A number that changes when a worker changes otherwise than by being given a cluster. While it stands, workers have only got
    /// less to give, so what was refused for want of that is refused still.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The worker at a place; `None` for one that is not of the run, and of which is known only what stands there.
    pub(super) fn get_at(&self, place: usize) -> Option<&Candidate<'a>> {
        self.workers.get(place)
    }

    /// A worker.
    pub(super) fn get(&self, name: &Name) -> Option<&Candidate<'a>> {
        self.find(name).map(|at| &self.workers[at])
    }

    /// What is left of a resource on a worker once it has grown; `None` where that is not known.
    pub(super) fn room(&self, worker: &Name, resource: &str) -> Option<Quantity> {
        self.get(worker).and_then(|c| c.plan.room(resource))
    }

    /// From now on ceilings count; returns whether that makes any difference.
    pub(super) fn grow(&mut self) -> bool {
        let mut grows = false;
        for candidate in &mut self.workers {
            grows |= !candidate.uses_ceiling && !candidate.plan.ceiling.is_empty();
            candidate.uses_ceiling = true;
        }
        self.epoch += 1;
        grows
    }

    /// From now on clusters are given to workers that pools are making; returns whether there are any.
    pub(super) fn reserve(&mut self) -> bool {
        for candidate in &mut self.workers {
            candidate.reserving = true;
        }
        self.epoch += 1;
        self.workers.iter().any(|c| c.plan.pending == Some(Pending::Awaited))
    }

    /// Whether clusters are given to workers that pools are making. These are packed.
    pub(super) fn is_reserving(&self) -> bool {
        self.workers.first().is_some_and(|candidate| candidate.reserving)
    }

    /// So many clusters are likely to be given workers.
    pub(super) fn expect(&mut self, clusters: usize) {
        self.given.reserve(clusters);
    }

    /// A cluster with these parts of groups comes to the worker at a place.
    pub(super) fn bind(
        &mut self,
        place: usize,
        info: ClusterInfo<'a>,
        parts: NumberedParts<'_>,
        taking: Taking<'_>,
    ) {
        amounts::add(&mut self.workers[place].plan.allocated, taking.there);
        self.give(place);
        self.counts.bind(info, parts, place, taking);
    }

    /// A cluster with these parts of groups is assumed on the worker at a place.
    pub(super) fn assume(
        &mut self,
        place: usize,
        info: ClusterInfo<'a>,
        parts: NumberedParts<'_>,
        takes: &'a Resources,
    ) {
        self.workers[place].assume(takes);
        self.give(place);
        self.counts.bind(info, parts, place, Taking::all(takes));
    }

    fn give(&mut self, place: usize) {
        let plan = &mut self.workers[place].plan;
        plan.clusters = plan.clusters.saturating_add(1);
        self.stamps[place] = self.stamps[place].wrapping_add(1);
        self.given.push(place);
    }

    /// Adds up what is assumed.
    pub(super) fn add_up(&mut self) {
        self.workers.iter_mut().for_each(Candidate::add_up);
    }

    /// A cluster is taken off a worker, to see what would be without it.
    pub(super) fn unbind(&mut self, worker: &Name, cluster: &Cluster, taking: Taking<'_>) {
        self.change(worker, |plan| {
            plan.clusters = plan.clusters.saturating_sub(1);
            amounts::take(&mut plan.allocated, taking.there);
        });
        self.counts.unbind(cluster, worker, &taking.of_quota());
    }

    /// A cluster on a worker takes another amount than before.
    pub(super) fn resize(
        &mut self,
        worker: &Name,
        cluster: &Cluster,
        from: &Resources,
        to: &Resources,
    ) {
        self.change(worker, |plan| {
            amounts::take(&mut plan.allocated, from);
            amounts::add(&mut plan.allocated, to);
        });
        self.counts.resize(&cluster.tenant, &cluster.spec.location, from, to);
    }

    /// The workers as the plan lists them.
    pub(super) fn into_plans(self) -> BTreeMap<Name, WorkerPlan> {
        self.workers.into_iter().map(|c| (c.name.clone(), c.plan)).collect()
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.workers.binary_search_by(|c| c.name.as_str().cmp(name)).ok()
    }

    fn change(&mut self, worker: &Name, change: impl FnOnce(&mut WorkerPlan)) {
        if let Some(at) = self.find(worker) {
            change(&mut self.workers[at].plan);
            self.epoch += 1;
        }
    }
}

fn candidate<'a>(
    input: &PlanInput<'a>,
    name: &'a Name,
    (deletions, retirements): (&Deletions, &mut Deletions),
    holds: &mut Holds,
) -> Candidate<'a> {
    let lock = input.previous.workers.get(name);
    let found = lock.into_iter().flat_map(|lock| there(input, name, lock, deletions));
    let rows: Vec<&ClusterRow> = found.map(|(_, row)| row).collect();
    let standing = input.previous.standing.as_ref().and_then(|all| all.workers.get(name));
    let clusters = standing.map_or(rows.len() as u64, |standing| standing.clusters);
    let state = state(input, name, clusters, retirements, holds);
    let worker = input.fleet.workers.get(name);
    let observed = worker.filter(|w| w.spec.observation == Observation::Agent);
    // What a document says of which a part did not load may not be what people mean.
    let said = worker.filter(|_| state != WorkerState::NotLoaded);
    Candidate {
        name,
        worker,
        health: observed.map(|_| input.observed.health(name)),
        foreign: input.observed.foreign_namespaces(name),
        plan: WorkerPlan {
            state,
            capacity: said.map(|w| w.spec.capacity.clone()).unwrap_or_default(),
            reserved: said.map(|w| w.spec.reserved.clone()).unwrap_or_default(),
            ceiling: said.map(|w| ceiling(&w.spec)).unwrap_or_default(),
            allocated: standing.map_or_else(|| allocated(&rows), |s| s.allocated.clone()),
            clusters,
            pending: worker.and_then(|w| pool_workers::pending(input, w)),
        },
        assumed: Vec::new(),
        uses_ceiling: false,
        reserving: false,
    }
}

/// Where a worker can have more than it has; what it says of anything else adds nothing.
pub(super) fn ceiling(spec: &WorkerSpec) -> Resources {
    let more = |(resource, limit): &(&String, &Quantity)| {
        spec.capacity.get(*resource).is_some_and(|capacity| *limit > capacity)
    };
    let ceiling = spec.ceiling.iter().filter(more);
    ceiling.map(|(resource, limit)| (resource.clone(), *limit)).collect()
}

/// Counts all clusters of a worker's lock as there but those that are over, in a plan that was made for a few of them
/// while the others stand. `is_gone` says of which it is known that they are being deleted. `false` where one is not
/// plainly there, so that it may not count.
#[must_use]
pub fn count_standing(
    plan: &mut WorkerPlan,
    lock: &WorkerLock,
    is_over: impl Fn(&Name) -> bool,
    is_gone: impl Fn(&Name) -> bool,
) -> bool {
    let there: Vec<_> = lock.clusters.iter().filter(|(name, _)| !is_over(name)).collect();
    let rows: Vec<&ClusterRow> = there.iter().map(|(_, row)| *row).collect();
    plan.allocated = allocated(&rows);
    plan.clusters = rows.len() as u64;
    there.iter().all(|(name, row)| {
        let is_plain = match row.state {
            ClusterState::Bound => true,
            ClusterState::Deleting => is_gone(name),
            ClusterState::Reserved => false,
        };
        is_plain && row.moves.is_none()
    })
}

/// Whether a worker, once it has grown, has as much left as a cluster needs.
#[must_use]
pub fn has_room(worker: &WorkerPlan, demand: &Resources) -> bool {
    let mut needed = demand.iter().filter(|(_, needs)| **needs != Quantity::ZERO);
    needed.all(|(resource, needs)| worker.room(resource).is_some_and(|left| *needs <= left))
}

fn allocated(rows: &[&ClusterRow]) -> Resources {
    let mut sum = Resources::new();
    for row in rows {
        amounts::add(&mut sum, &row.demand);
    }
    sum
}
