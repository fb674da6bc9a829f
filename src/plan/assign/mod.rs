//! Giving workers to the clusters that wait.
//!
//! Clusters are served one after the other, each against all workers as the ones before it left them. A
//! cluster that is placed may let one before it in: that it is placed in the domain that had the fewest
//! raises the fewest, and a domain that was full is so no longer. So after each binding it is always the
//! first in the queue that fits which comes next, until none fits; a cluster that fits nowhere keeps
//! nobody up. What is said of those that go on waiting is said of the workers as they are after the last
//! one was placed, so that planning again says the same.
//!
//! What makes that cheap is what can change while clusters are placed (`filter::tests` hold the filters
//! to it):
//! - what is free only shrinks. So a cluster that was refused can gain [`ReasonCode::Capacity`] by it and
//!   nothing else. Those that have it stay as they are, and the others are compared with what is left on
//!   the workers that were given a cluster, by that one rule;
//! - what else depends on what is placed is in the cluster's [`PreFilterState`](super::pre_filter_state::PreFilterState), and a
//!   refusal stands on their [`RefusalGrounds`]. While these are the same the cluster is not looked at again.
//!   They can change only where something that its own rules read has changed;
//! - only a rise of the fewest lets a cluster in, and that can be only where the last of the domains that
//!   have the fewest was given one. So it is for that alone that the queue is looked through again.
//!
//! Clusters that are alike are refused together: where one was refused and nothing let it in, so are those that come after it with
//! the same signature and the same values of the labels that their rules read. They are let in one by one, the first of them first.
//!
//! Where the last run ended in the very context in which this one begins, a cluster that waited then and
//! is unchanged was refused on the grounds of that context, and the same is true of it.

mod bound;
mod line;
mod serve;
mod signed;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use self::bound::BoundCluster;
use self::signed::SignedQueue;
use super::candidate::{Pools, Request};
use super::choose::WorkerSearch;
use super::counts::{self, Counts};
use super::deletion::{self, Deletions};
use super::group::{ClusterInfo, Group};
use super::holds::Holds;
use super::moves::Moves;
use super::placed::Placed;
use super::policy::Policies;
use super::pre_filter::Floor;
use super::pre_filter_state::{NOTHING, RefusalGrounds};
use super::queue::{self, Waiting};
use super::resize::Resizes;
use super::taking::Taking;
use super::worker_states::WorkerStates;
use super::{PlanInput, SearchMode, context, filter, placed};
use crate::model::{
    Cluster, ClusterPlan, Decision, Digest, Fleet, HoldKind, Name, Offer, ReasonCode, Rebalanced,
    Resources, packed,
};

/// A run of the planner, from the workers as the last run left them to the last decision.
#[derive(Clone, Debug)]
pub(super) struct PlanRun<'a> {
    pub(super) input: PlanInput<'a>,
    /// The policies.
    pub(super) policies: Policies<'a>,
    /// The names of namespaces that carp did not make, on any worker.
    taken_names: BTreeSet<&'a Name>,
    /// The workers at this point.
    pub(super) states: WorkerStates<'a>,
    /// What was decided so far, but for what is in `bound`.
    pub(super) clusters: BTreeMap<Name, ClusterPlan>,
    /// The clusters of the queue that were given workers: nobody reads it before all of them are served.
    bound: Vec<BoundCluster<'a>>,
    /// The clusters that are being deleted. It is known before anything is decided.
    pub(super) deletions: Deletions,
    /// The workers' own clusters that are being deleted.
    pub(super) retirements: Deletions,
    /// What is on the move: the turns of the others are counted by it.
    pub(super) moves: Moves,
    /// What a rebalance begins to move.
    pub(super) rebalanced: Vec<Rebalanced>,
    /// What was held so far.
    pub(super) holds: Holds,
    /// For how many clusters the filters ran.
    pub(super) evaluated: u64,
    queue: Vec<Waiting<'a>>,
    /// The groups in which clusters were placed, where their policies have groups.
    groups: BTreeMap<&'a Name, &'a str>,
    unseen: Vec<Name>,
    bindings: usize,
    /// The clusters that no worker took, in the order in which they were served.
    unplaced: Vec<&'a Cluster>,
    choice: WorkerSearch<'a>,
    /// What told last that a domain may have opened to those that wait for that.
    rises: u64,
    /// Whether it was found out which clusters of the queue are alike.
    is_signed: bool,
    /// The clusters of the queue by what rules read of them, where so many are served that it is worth it.
    signed: Option<SignedQueue<'a>>,
    /// The counts before the first one was placed, where the last run ended with them.
    before: Counts<'a>,
}

/// What is said of a cluster that goes on waiting.
#[derive(Clone, Debug)]
pub(super) struct Refused<'a> {
    waiting: Waiting<'a>,
    /// Whether the last run said why it waits, and nothing has changed since.
    known: bool,
    reasons: BTreeSet<ReasonCode>,
    /// How many clusters had been placed when the reasons were found.
    placed: usize,
    evaluated: bool,
    /// How many had been placed when the grounds were compared last.
    compared: u64,
    /// What the reasons stand on; `None`: what was so before the first one was placed.
    grounds: Option<RefusalGrounds<'a>>,
    /// When it is requeued.
    hint: QueueingHint<'a>,
}

/// When a cluster that was refused is requeued after a binding, as kube-scheduler's `QueueingHintFn` has it.
#[derive(Clone, Debug)]
enum QueueingHint<'a> {
    /// After each.
    Any,
    /// Where the fewest rise of what one of its constraints counts.
    Floors(Vec<Floor<'a>>),
    /// The same, where it is alike to others: they have risen since so many bindings.
    Since(u64),
}

impl<'a> PlanRun<'a> {
    /// Decides about everything that has a place already, and lines up the rest. What those with a place want
    /// more or less of is still open.
    pub(super) fn of_placed(input: &PlanInput<'a>) -> (Self, Resizes<'a>) {
        let mut holds = Holds::default();
        let policies = Policies::of(input.fleet);
        let mut deletions = deletion::under_way(input);
        let mut retirements = deletion::retirements(input);
        let states = WorkerStates::new(input, &policies, &deletions, &mut retirements, &mut holds);
        let Placed { mut clusters, moves, resizes, evaluated } =
            placed::decide(input, &mut deletions, &mut holds);
        let queue = queue::sort_queue(input, &clusters);
        let left = queue::left(input, &clusters);
        let is_waiting =
            |(_, p): &(&Name, &ClusterPlan)| matches!(p.decision, Decision::Wait { .. });
        let unseen = left.iter().filter(is_waiting).map(|(name, _)| name.clone()).collect();
        clusters.extend(left);
        let run = Self {
            input: *input,
            policies,
            taken_names: taken_names(input),
            before: Counts::default(),
            states,
            clusters: packed(clusters),
            bound: Vec::new(),
            deletions,
            retirements,
            moves,
            rebalanced: Vec::new(),
            holds,
            evaluated,
            queue,
            groups: groups(input),
            unseen,
            bindings: 0,
            unplaced: Vec::new(),
            choice: WorkerSearch::of(input.fleet).among(input.sole),
            rises: 0,
            is_signed: false,
            signed: None,
        };
        (run, resizes)
    }

    /// A place on a worker is taken.
    pub(super) fn take_place(&mut self, worker: &Name, cluster: &'a Cluster, taking: Taking<'_>) {
        if let Some(place) = self.states.place(worker) {
            self.take(place, cluster, taking);
        }
        self.bindings += 1;
    }

    fn take(&mut self, place: usize, cluster: &'a Cluster, taking: Taking<'_>) {
        let membership = self.states.counts.membership(&self.request(cluster));
        let mut parts = Vec::new();
        let info = ClusterInfo::of(cluster);
        self.states.counts.number_members(&membership, &info, &mut parts);
        self.states.bind(place, info, membership.members(&parts), taking);
    }

    /// What a cluster takes where it is.
    pub(super) fn takes(&self, name: &Name) -> Resources {
        self.clusters.get(name).map(|planned| planned.demand.clone()).unwrap_or_default()
    }

    /// Whether the run places nobody and moves nobody, so that the workers are at its end as they were at its beginning.
    pub(super) fn is_still(&self) -> bool {
        self.bindings == 0 && self.moves.is_empty() && self.rebalanced.is_empty()
    }

    /// How often a worker was looked for, and how often of that the index knew.
    pub(super) fn searched(&self) -> (u64, u64) {
        self.choice.searched()
    }

    /// Finds workers in that way.
    pub(super) fn by(self, way: SearchMode) -> Self {
        Self { choice: self.choice.by(way), ..self }
    }

    /// A cluster as filters and scores see it, without what it meets.
    pub(super) fn request(&self, cluster: &'a Cluster) -> Request<'a> {
        let tenant = self.input.fleet.tenant(&cluster.tenant);
        Request {
            cluster,
            policy: self.policies.select(cluster),
            pools: Pools::of(self.input.fleet, &cluster.tenant),
            group: self.groups.get(&cluster.name).copied(),
            offer: offer(&self.input),
            networks_apart: needs_networks_apart(self.input.fleet, cluster),
            is_name_taken: self.taken_names.contains(&cluster.name),
            quota: tenant.and_then(|tenant| tenant.quota.as_ref()),
            pre_filter: &NOTHING,
            leaving: None,
        }
    }

    /// The clusters that were looked at and that no worker took, in the order in which they were served.
    pub(super) fn unplaced(&self) -> impl Iterator<Item = &'a Cluster> {
        self.unplaced.iter().copied()
    }

    /// A desired cluster as filters and scores see it, without what it meets.
    pub(super) fn request_of(&self, name: &Name) -> Option<Request<'a>> {
        self.input.fleet.clusters.get(name).map(|cluster| self.request(cluster))
    }

    /// The digest of the context after the run.
    pub(super) fn context(&self) -> Digest {
        let have_rules = self.states.counts.has_own_rules();
        let clusters = have_rules.then_some(&self.clusters).into_iter().flatten();
        let waiting =
            clusters.filter(|(_, planned)| matches!(planned.decision, Decision::Wait { .. }));
        self.context_with(waiting.flat_map(|(name, _)| self.own_groups_after(name)))
    }

    /// The groups that the rules ask for which the lock will have of a cluster that waits.
    fn own_groups_after(&self, name: &Name) -> impl Iterator<Item = Group<'a>> {
        let kept = self.input.previous.kept.clusters.contains(name);
        let cluster = self.input.fleet.clusters.get(name).filter(|_| !kept);
        let row = || self.input.previous.pending.clusters.get(name).map(|pending| &pending.row);
        let row = if cluster.is_none() { row() } else { None };
        let of_cluster = cluster.into_iter().flat_map(counts::own_groups_of);
        of_cluster.chain(row.into_iter().flat_map(counts::own_groups))
    }

    fn context_with<'r>(&'r self, asked: impl Iterator<Item = Group<'r>>) -> Digest {
        let counts = self.states.counts.context(&self.policies, asked);
        context::digest(&self.input, &self.states, counts, &self.unseen)
    }

    /// Lets those wait that no worker took, for what is so after the last one was placed.
    pub(super) fn refuse(&mut self, mut refused: Vec<Refused<'a>>) {
        let last = self.bindings;
        self.unplaced = refused.iter().filter(|r| r.evaluated).map(|r| r.waiting.cluster).collect();
        let mut lacking = BTreeMap::new();
        for waiting in &mut refused {
            let demand = &waiting.waiting.cluster.demand;
            if waiting.placed < last
                && !waiting.reasons.contains(&ReasonCode::Capacity)
                && *lacking.entry(demand).or_insert_with(|| self.lacks_capacity_now(demand))
            {
                waiting.reasons.insert(ReasonCode::Capacity);
                waiting.evaluated = true;
            }
        }
        self.evaluated += refused.iter().filter(|r| r.evaluated).count() as u64;
        self.add_decided(refused.into_iter().map(|r| (r.waiting, r.reasons)).collect());
    }

    /// Whether a worker that was given a cluster in this run has too little left for another one.
    fn lacks_capacity_now(&self, demand: &Resources) -> bool {
        let mut given = self.states.places().filter(|(at, _)| self.states.is_given(*at));
        given.any(|(_, candidate)| filter::lacks_capacity(demand, candidate))
    }

    /// Serves the queue until a cluster is about to be placed. Whether anything is held makes no
    /// difference here.
    pub(super) fn serve_until(&mut self, name: &Name) {
        self.serve(Some(name));
        self.add_decided(Vec::new());
    }

    /// Whether the last run ended in the context in which this one begins, with the clusters waiting
    /// that wait now.
    fn is_settled(&self) -> bool {
        let rows = self.input.previous.pending.clusters.values();
        self.input.settled.is_some_and(|settled| {
            self.input.pending_id == Some(settled.pending)
                && settled.context
                    == self.context_with(rows.flat_map(|row| counts::own_groups(&row.row)))
        })
    }

    /// Lets all that wait go on waiting: something that says where they may go did not load.
    pub(super) fn hold_placements(&mut self) {
        let queue = std::mem::take(&mut self.queue);
        for waiting in &queue {
            self.holds.add(HoldKind::PlacementsHeld, &waiting.cluster.name);
        }
        let held = BTreeSet::from([ReasonCode::PlacementsHeld]);
        self.add_decided(queue.into_iter().map(|waiting| (waiting, held.clone())).collect());
    }
}

/// The names of the namespaces that carp did not make, on all workers.
fn taken_names<'a>(input: &PlanInput<'a>) -> BTreeSet<&'a Name> {
    let reports = input.observed.workers.values();
    reports.flat_map(|report| &report.foreign_namespaces).collect()
}

/// Whether a cluster's flavor needs other addresses than its worker has.
fn needs_networks_apart(fleet: &Fleet, cluster: &Cluster) -> bool {
    fleet.networks_apart.contains(cluster.flavor())
}

/// The versions that the fleet offers.
fn offer<'a>(input: &PlanInput<'a>) -> Offer<'a> {
    Offer { listed: &input.fleet.spec.supported_versions, expired: &input.observed.expired }
}

/// The groups that the locks remember of the clusters that are placed.
fn groups<'a>(input: &PlanInput<'a>) -> BTreeMap<&'a Name, &'a str> {
    let rows = input.previous.workers.values().flat_map(|lock| &lock.clusters);
    rows.filter_map(|(name, row)| Some((name, row.group.as_deref()?))).collect()
}
