//! Giving workers to the clusters that wait.
//!
//! Clusters are served one after the other, each against all workers as the ones before it left them.
//! What is said of those that go on waiting is said of the workers as they are after the last one was
//! placed, so that planning again says the same.
//!
//! Two things make that cheap, and both stand on one fact: while clusters are placed only what is
//! allocated changes, it only grows, and of the filters only capacity reads it
//! (`filter::tests::only_the_capacity_filter_depends_on_what_is_placed`). Hence
//! - a cluster that no worker took fits nowhere later in the run either. So where the last run ended in
//!   the very context in which this one begins, a cluster that waited then and is unchanged waits
//!   still, and is not looked at;
//! - the reasons of a cluster that waits can gain [`ReasonCode::Capacity`] and nothing else. So those
//!   that have it stay as they are, whatever is placed, and the others are compared with what is left on
//!   the workers that were given a cluster, by that one rule.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::{Pools, Request};
use super::choose::{Pick, choose};
use super::deletion::{self, Deletions};
use super::holds::Holds;
use super::placed::Placed;
use super::policy::Policies;
use super::queue::{self, Waiting};
use super::roster::Roster;
use super::{PlanInput, context, filter, placed};
use crate::model::{
    Binding, Cluster, Decision, Digest, HoldKind, Name, Offer, Planned, ReasonCode, Term,
    VersionStep,
};

/// A run of the planner, from the workers as the last run left them to the last decision.
#[derive(Clone, Debug)]
pub(super) struct Run<'a> {
    input: PlanInput<'a>,
    /// The policies.
    pub(super) policies: Policies<'a>,
    /// The workers at this point.
    pub(super) roster: Roster<'a>,
    /// What was decided so far.
    pub(super) clusters: BTreeMap<Name, Planned>,
    /// The clusters on their way to another version.
    pub(super) versions: BTreeMap<Name, VersionStep>,
    /// What is being deleted.
    pub(super) deletions: Deletions,
    /// What was held so far.
    pub(super) holds: Holds,
    /// For how many clusters the filters ran.
    pub(super) evaluated: u64,
    queue: Vec<Waiting<'a>>,
    /// The groups in which clusters were placed, where their policies have groups.
    groups: BTreeMap<&'a Name, &'a str>,
    unseen: Vec<Name>,
    bindings: usize,
    /// The workers that were given a cluster.
    given: BTreeSet<Name>,
}

/// What is said of a cluster that goes on waiting.
struct Refused<'a> {
    waiting: Waiting<'a>,
    reasons: BTreeSet<ReasonCode>,
    /// How many clusters had been placed when the reasons were found.
    placed: usize,
    evaluated: bool,
}

impl<'a> Run<'a> {
    /// Decides about everything that has a place already, and lines up the rest.
    pub(super) fn begin(input: &PlanInput<'a>) -> Self {
        let mut holds = Holds::default();
        let mut deletions = deletion::under_way(input);
        let mut roster = Roster::new(input, &mut deletions, &mut holds);
        let Placed { mut clusters, versions, evaluated } =
            placed::decide(input, &mut deletions, &mut roster, &mut holds);
        let queue = queue::line_up(input, &clusters);
        let left = queue::left(input, &clusters);
        let is_waiting = |(_, p): &(&Name, &Planned)| matches!(p.decision, Decision::Wait { .. });
        let unseen = left.iter().filter(is_waiting).map(|(name, _)| name.clone()).collect();
        clusters.extend(left);
        let policies = Policies::of(input.fleet);
        Self {
            input: *input,
            policies,
            roster,
            clusters,
            versions,
            deletions,
            holds,
            evaluated,
            queue,
            groups: groups(input),
            unseen,
            bindings: 0,
            given: BTreeSet::new(),
        }
    }

    /// A cluster as filters and scores see it.
    pub(super) fn request(&self, cluster: &'a Cluster) -> Request<'a> {
        Request {
            cluster,
            policy: self.policies.select(cluster),
            pools: Pools::of(self.input.fleet, &cluster.tenant),
            group: self.groups.get(&cluster.name).copied(),
            offer: offer(&self.input),
        }
    }

    /// The digest of the context at this point.
    pub(super) fn context(&self) -> Digest {
        context::digest(&self.input, &self.roster, &self.unseen)
    }

    /// Serves the queue to its end.
    pub(super) fn finish(&mut self) {
        if self.input.fleet.holds_placements() {
            self.hold_placements();
            return;
        }
        let mut refused = self.serve(None);
        let last = self.bindings;
        for waiting in &mut refused {
            if waiting.placed < last
                && !waiting.reasons.contains(&ReasonCode::Capacity)
                && self.lacks_capacity_now(waiting.waiting.cluster)
            {
                waiting.reasons.insert(ReasonCode::Capacity);
                waiting.evaluated = true;
            }
        }
        self.evaluated += refused.iter().filter(|r| r.evaluated).count() as u64;
        self.wait(refused.into_iter().map(|r| (r.waiting.cluster, r.reasons)).collect());
    }

    /// Whether a worker that was given a cluster in this run has too little left for another one.
    fn lacks_capacity_now(&self, cluster: &Cluster) -> bool {
        let given = self.given.iter().filter_map(|worker| self.roster.get(worker));
        given.into_iter().any(|worker| filter::lacks_capacity(&cluster.demand, worker))
    }

    /// Serves the queue up to a cluster, which is then next. Whether anything is held makes no
    /// difference here.
    pub(super) fn serve_until(&mut self, name: &Name) {
        self.serve(Some(name));
    }

    /// Places what can be placed and returns what cannot.
    fn serve(&mut self, until: Option<&Name>) -> Vec<Refused<'a>> {
        let settled = self.is_settled();
        let mut unchanged = Vec::new();
        let mut queue = Vec::new();
        let start = self.bindings;
        for waiting in std::mem::take(&mut self.queue) {
            if let Some(row) = waiting.row.filter(|_| settled && waiting.is_unchanged()) {
                let reasons = row.reasons.clone();
                unchanged.push(Refused { waiting, reasons, placed: start, evaluated: false });
            } else {
                queue.push(waiting);
            }
        }
        let (mut refused, mut stopped) = self.pass(queue, until);
        // What fits nowhere now may fit once a worker has grown.
        if !stopped && self.roster.grow() {
            let left = refused.iter().map(|refused| refused.waiting).collect();
            (refused, stopped) = self.pass(left, until);
        }
        refused.extend(unchanged);
        if stopped { Vec::new() } else { refused }
    }

    /// Serves some clusters, each once. Returns those that go on waiting, and whether it stopped before
    /// the one that it is to stop before, which would have been placed next.
    fn pass(&mut self, queue: Vec<Waiting<'a>>, until: Option<&Name>) -> (Vec<Refused<'a>>, bool) {
        let mut refused = Vec::new();
        for waiting in queue {
            match choose(&self.request(waiting.cluster), &self.roster) {
                Ok(_) if until == Some(&waiting.cluster.name) => return (refused, true),
                Ok(pick) => {
                    self.evaluated += 1;
                    self.bind(waiting.cluster, pick);
                }
                Err(reasons) => {
                    let placed = self.bindings;
                    refused.push(Refused { waiting, reasons, placed, evaluated: true });
                }
            }
        }
        (refused, false)
    }

    /// Whether the last run ended in the context in which this one begins, with the clusters waiting
    /// that wait now.
    fn is_settled(&self) -> bool {
        self.input.settled.is_some_and(|settled| {
            self.input.pending_id == Some(settled.pending) && settled.context == self.context()
        })
    }

    fn bind(&mut self, cluster: &'a Cluster, pick: Pick) {
        let group = self.group(cluster, pick.best.group);
        let worker = pick.best.worker;
        self.roster.bind(&worker, &cluster.demand);
        let (runner_up, decided_by): (Option<Name>, Option<Term>) =
            pick.second.map(|(rank, term)| (rank.worker, term)).unzip();
        let policy = self.policies.select(cluster).map(|p| p.name.clone());
        self.given.insert(worker.clone());
        let decision = Decision::Bind(Binding { worker, policy, decided_by, runner_up, group });
        self.decide(cluster, decision);
        self.bindings += 1;
    }

    /// The name of a group of the policy that applies to a cluster.
    fn group(&self, cluster: &Cluster, at: Option<usize>) -> Option<String> {
        let affinity = self.policies.select(cluster)?.spec.affinity.as_ref()?;
        affinity.groups.get(at?).map(|group| group.name.clone())
    }

    fn hold_placements(&mut self) {
        let queue = std::mem::take(&mut self.queue);
        for waiting in &queue {
            self.holds.add(HoldKind::PlacementsHeld, &waiting.cluster.name);
        }
        let held = BTreeSet::from([ReasonCode::PlacementsHeld]);
        self.wait(queue.into_iter().map(|w| (w.cluster, held.clone())).collect());
    }

    fn wait(&mut self, waiting: Vec<(&'a Cluster, BTreeSet<ReasonCode>)>) {
        let seen = queue::number(&self.input, waiting.iter().map(|(cluster, _)| &cluster.name));
        for (cluster, reasons) in waiting {
            let seen = seen.get(&cluster.name).copied().unwrap_or_default();
            self.decide(cluster, Decision::Wait { seen, reasons });
        }
    }

    fn decide(&mut self, cluster: &Cluster, decision: Decision) {
        let demand = cluster.demand.clone();
        let planned = Planned { decision, demand, resize_blocked: None };
        self.clusters.insert(cluster.name.clone(), planned);
    }
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

#[cfg(test)]
mod tests {
    use crate::plan::world::{World, check};

    /// A world whose last plan was committed, with another fleet.
    fn then(before: &str, fleet: &str) -> World {
        let before = World::read(before);
        let committed = before.after(&before.plan());
        let World { previous, settled, .. } = committed;
        World { previous, settled, ..World::read(fleet) }
    }

    #[test]
    fn what_did_not_load_and_may_matter_holds_new_placements() {
        check(
            "worker w1; cluster a on=w1; cluster b; cluster c; unloaded PlacementPolicy ? blocking",
            "a on w1; b waits PlacementsHeld; c waits PlacementsHeld; hold PlacementsHeld b c",
        );
        check("worker w1; cluster a on=w1; unloaded PlacementPolicy ? blocking", "a on w1");
        check("worker w1; cluster b; unloaded ManagedCluster x", "b -> w1");
    }

    #[test]
    fn without_a_worker_that_is_the_reason() {
        check("cluster a", "a waits NoWorkers");
    }

    #[test]
    fn every_worker_adds_its_reasons() {
        check(
            "worker w1 cordoned 1/1; worker w2 taint:k=v:NoSchedule; worker w3 agent; cluster a",
            "a waits NeverReported Cordoned Capacity Taint",
        );
    }

    #[test]
    fn reasons_are_those_of_the_workers_after_the_last_placement() {
        // When `a` is looked at w1 still has a place, and the label alone keeps `a` away.
        check(
            "worker w1 0/1; cluster a with:zone=1 priority=1; cluster b",
            "a waits Capacity AffinityLabels; b -> w1",
        );
    }

    #[test]
    fn where_nothing_changed_nothing_is_looked_at() {
        let fleet = "worker w1 cap:mem=1; cluster a; cluster b with:zone=1; cluster c needs:mem=2";
        assert_eq!(World::read(fleet).plan().plan.evaluated, 3);
        assert_eq!(then(fleet, fleet).plan().plan.evaluated, 0);
    }

    #[test]
    fn a_new_cluster_is_looked_at_and_those_that_wait_only_where_it_takes_a_place() {
        let fleet = "worker w1 0/1 cap:mem=1; cluster b with:zone=1; cluster c needs:mem=2";
        let placed = then(fleet, &format!("{fleet}; cluster a"));
        // `c` lacks capacity already; `b` may lack it from now on.
        assert_eq!(placed.plan().plan.evaluated, 2);
        let waits = then(fleet, &format!("{fleet}; cluster a only=w9"));
        assert_eq!(waits.plan().plan.evaluated, 1);
    }

    #[test]
    fn a_changed_class_makes_a_cluster_be_looked_at_again() {
        let fleet = "worker w1 0/1; cluster a needs=2";
        let changed = then(fleet, "worker w1 0/1; cluster a needs=1");
        let plan = changed.plan().plan;
        assert_eq!(changed.describe(&plan, ""), "a -> w1");
    }

    #[test]
    fn a_changed_worker_makes_all_be_looked_at_again() {
        let fleet = "worker w1 cordoned; cluster a; cluster b";
        let changed = then(fleet, "worker w1; cluster a; cluster b");
        assert_eq!(changed.describe(&changed.plan().plan, ""), "a -> w1; b -> w1");
    }

    #[test]
    fn a_settled_state_of_another_pending_lock_counts_for_nothing() {
        let fleet = "worker w1 cordoned; cluster a";
        let world = then(fleet, fleet);
        let mut input = world.input();
        assert_eq!(crate::plan::plan(&input).plan.evaluated, 0);
        input.pending_id = None;
        assert_eq!(crate::plan::plan(&input).plan.evaluated, 1);
        input.pending_id = Some(crate::model::blob_id(b"another"));
        assert_eq!(crate::plan::plan(&input).plan.evaluated, 1);
    }

    #[test]
    fn a_cluster_whose_document_was_broken_is_looked_at_again_when_it_is_whole() {
        let waits = "worker w1 cordoned; cluster a";
        let before = World::read(waits);
        let committed = before.after(&before.plan());
        let broken = World {
            previous: committed.previous.clone(),
            settled: committed.settled.clone(),
            ..World::read("worker w1; unloaded ManagedCluster a")
        };
        let plan = broken.plan();
        assert_eq!(broken.describe(&plan.plan, ""), "a waits Cordoned", "as it was recorded");
        let committed = broken.after(&plan);
        let whole = World {
            previous: committed.previous.clone(),
            settled: committed.settled.clone(),
            ..World::read("worker w1; cluster a")
        };
        assert_eq!(whole.describe(&whole.plan().plan, ""), "a -> w1");
    }

    #[test]
    fn a_change_of_a_placed_cluster_counts_once() {
        let fleet = "worker w1; cluster a; cluster b";
        let changed = then(fleet, "worker w1; cluster a at=eastus; cluster b");
        let plan = changed.plan().plan;
        assert_eq!(changed.describe(&plan, ""), "a on w1; b on w1");
        assert_eq!(plan.evaluated, 1);
    }
}
