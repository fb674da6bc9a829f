//! Proofs: the whole fleet, planned with some changes made.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::documents::{EditedDocuments, well};
use super::super::fix::FixReach;
use super::ahead::{ClustersAhead, Joining};
use super::amounts::{self, QueueAhead};
use super::{Goal, meet, to_grow, to_place};
use crate::model::{
    Cluster, ClusterPlan, Counted, Decision, Fleet, Name, Observed, Previous, Quantity, Resources,
    StandingClusters, WaitingAhead,
};
use crate::plan::assign::PlanRun;
use crate::plan::explain::{Fix, Remedy};
use crate::plan::queue::is_served_in_order;
use crate::plan::{PlanInput, SoleWorker, amounts as demands, is_counted_by, move_cause, scale};

/// What a plan of the edited fleet came to.
pub(super) enum ProofOutcome {
    /// It is as it should be, by these changes. With amounts that are no larger than what was taken by then the
    /// changes would be the second.
    Reached(Box<Remedy>, Vec<Fix>),
    /// It is not; what the worker says now asks for these changes.
    Missed(Vec<Fix>),
}

/// The place in the queue: the smaller comes first.
type ProofTurn = (Reverse<i32>, u64, Name);

/// Plans edited fleets, and counts how often.
pub(super) struct Proof<'p> {
    base: &'p PlanInput<'p>,
    name: &'p Name,
    goal: Goal,
    /// A copy of the fleet, as it is between two plans, without those behind the cluster that make no difference to it, and with
    /// those before it that take part besides.
    fleet: Fleet,
    /// What stood before it, with these.
    previous: Cow<'p, Previous>,
    /// Whether there are all workers in both. Otherwise a plan has the changed one alone.
    has_all_workers: bool,
    observed: Cow<'p, Observed>,
    counted: Arc<Counted>,
    ahead: ClustersAhead<'p>,
    /// How many of these are asked first which the changed worker may take.
    first_asked: usize,
    /// The clusters that wait where nothing is changed, with their turns.
    waiting: BTreeMap<Name, ProofTurn>,
    turn: ProofTurn,
    /// The clusters that are on the move where nothing is changed, or would be if another worker took them.
    moving: BTreeSet<Name>,
    done: u32,
    /// Whether where nothing is changed all that wait were looked at, and the workers are as they were.
    is_still: bool,
    /// Whether what stands did not tell how a fleet is planned.
    unsure: bool,
}

impl<'p> Proof<'p> {
    /// Of a cluster, after a run in which nothing is changed, with those `ahead` that it was not asked about, and how many of them
    /// are asked first which a worker may take.
    pub(super) fn new(
        base: &'p PlanInput<'p>,
        ahead: (&'p WaitingAhead, usize),
        run: &'p PlanRun<'p>,
        name: &'p Name,
        goal: Goal,
        is_still: bool,
    ) -> Self {
        let turn = |name: &Name, seen| {
            let priority = base.fleet.clusters.get(name).and_then(|c| c.spec.priority);
            (Reverse(priority.unwrap_or(0)), seen, name.clone())
        };
        let waits = run.clusters.iter().filter_map(|(name, planned)| match &planned.decision {
            Decision::Wait { seen, .. } => Some((name.clone(), turn(name, *seen))),
            _ => None,
        });
        let waiting: BTreeMap<Name, ProofTurn> = waits.collect();
        let own = waiting.get(name).cloned().unwrap_or_else(|| turn(name, 0));
        let is_alone =
            goal == Goal::Place && base.previous.standing.is_some() && waiting.len() == 1;
        let mut fleet = if is_alone { base.fleet.without_workers() } else { base.fleet.clone() };
        let workers = run.states.considered().map(|candidate| &candidate.plan);
        let is_in_order = is_served_in_order(base.fleet, waiting.keys(), workers);
        if goal == Goal::Place && is_still && is_in_order {
            let is_behind = |name: &Name| waiting.get(name).is_some_and(|turn| *turn > own);
            fleet.clusters.retain(|name, _| !is_behind(name));
        }
        let stays = run.clusters.iter().filter(|(_, p)| p.stay.is_some()).map(|(name, _)| name);
        Self {
            base,
            name,
            goal,
            fleet,
            previous: Cow::Borrowed(base.previous),
            has_all_workers: !is_alone,
            observed: Cow::Borrowed(base.observed),
            counted: run.states.counts.counted().0,
            ahead: ClustersAhead::new(ahead.0, run),
            first_asked: ahead.1,
            turn: own,
            waiting,
            moving: run.moves.keys().chain(stays).cloned().collect(),
            done: 0,
            is_still,
            unsure: false,
        }
    }

    /// How many fleets were planned.
    pub(super) fn done(&self) -> u32 {
        self.done
    }

    /// Whether a fleet could not be planned, for what stands does not tell how.
    pub(super) fn is_unsure(&self) -> bool {
        self.unsure
    }

    /// Plans the fleet with these changes, of which those of a worker are about this one.
    pub(super) fn of(&mut self, worker: &Name, fixes: &[Fix]) -> ProofOutcome {
        let Some(documents) = self.edited(worker, fixes) else {
            return ProofOutcome::Missed(Vec::new());
        };
        self.done += 1;
        let reach = fixes.iter().map(Fix::reach).max().unwrap_or(FixReach::Worker);
        let is_sole = self.is_still && reach < FixReach::Others;
        // Where neither the cluster nor its policy is another, the other workers refuse it as they did.
        let is_other = reach > FixReach::Worker;
        let policy = documents.policy.as_ref().map(|policy| &policy.name);
        let sole = is_sole.then(|| SoleWorker {
            worker,
            cluster: is_other.then_some(self.name),
            policy: policy.filter(|_| is_other),
        });
        self.let_in(worker, sole);
        documents.put(&mut self.fleet);
        if documents.well {
            let reported = well(self.base.observed, worker);
            self.observed.to_mut().workers.insert(worker.clone(), reported);
        }
        let mut outcome = self.planned((worker, fixes), sole, self.first_asked);
        if outcome.as_ref().is_some_and(|(_, is_known)| !is_known) {
            outcome = self.planned((worker, fixes), sole, usize::MAX);
        }
        documents.put_back(&mut self.fleet, self.base.fleet);
        if documents.well {
            self.observed = Cow::Borrowed(self.base.observed);
        }
        self.unsure |= outcome.is_none();
        outcome.map_or(ProofOutcome::Missed(Vec::new()), |(outcome, _)| outcome)
    }

    /// What a plan of the fleet as it is now comes to, with `most` of those before the cluster that the changed worker may take; and
    /// whether it comes to the same with all of them. `None` where what stands does not tell.
    fn planned(
        &mut self,
        (worker, fixes): (&Name, &[Fix]),
        sole: Option<SoleWorker<'_>>,
        most: usize,
    ) -> Option<(ProofOutcome, bool)> {
        let left_out = self.let_join(sole, most);
        let input = self.input(sole);
        let told = is_told(&input, worker, fixes);
        told.then(|| {
            scale::settle(&input, |_, run, _| {
                let outcome = self.outcome(&run, worker, fixes);
                let is_missed = matches!(outcome, ProofOutcome::Missed(_));
                let is_full = |turn: &ProofTurn| self.is_full_before(&run, worker, turn);
                let is_known = left_out.as_ref().is_none_or(|turn| is_missed && is_full(turn));
                (outcome, is_known)
            })
        })
    }

    /// Whether a worker has no room for any of those before the cluster, and took none that comes after this turn.
    fn is_full_before(&self, run: &PlanRun<'_>, worker: &Name, turn: &ProofTurn) -> bool {
        let takes_nobody = run.states.get(worker).is_some_and(|it| self.ahead.takes_nobody(it));
        let mut planned = run.clusters.iter();
        let comes = |planned: &ClusterPlan| matches!(planned.decision, Decision::Bind(_));
        takes_nobody && planned.all(|(name, planned)| !comes(planned) || self.is_before(name, turn))
    }

    /// What a plan of the fleet reads as it is now.
    fn input<'s>(&'s self, sole: Option<SoleWorker<'s>>) -> PlanInput<'s> {
        PlanInput {
            fleet: &self.fleet,
            previous: &self.previous,
            observed: &self.observed,
            counted: Some(&self.counted),
            sole,
            ..*self.base
        }
    }

    /// Lets the workers in that make a difference: the changed one, where nobody who waits is taken by another or minds who
    /// is on it.
    fn let_in(&mut self, worker: &Name, sole: Option<SoleWorker<'_>>) {
        if self.has_all_workers {
            return;
        }
        self.fleet.workers.clear();
        self.has_all_workers = !sole.is_some_and(|sole| self.ahead.is_plain_with(self.name, sole));
        if self.has_all_workers {
            self.fleet.workers.clone_from(&self.base.fleet.workers);
            self.previous.to_mut().standing.clone_from(&self.base.previous.standing);
            return;
        }
        self.previous.to_mut().standing = self.base.previous.standing.as_ref().map(|all| {
            let there = all.workers.get_key_value(worker);
            let workers = there.map(|(name, there)| (name.clone(), there.clone()));
            Arc::new(StandingClusters { rules: all.rules, workers: workers.into_iter().collect() })
        });
    }

    /// Adds those before the cluster that take part in a plan of the fleet as it is now, `most` of those that are the changed
    /// worker's. The turn of the first one that is left out.
    fn let_join(&mut self, sole: Option<SoleWorker<'_>>, most: usize) -> Option<ProofTurn> {
        let input = PlanInput { fleet: &self.fleet, observed: &self.observed, sole, ..*self.base };
        let Joining { clusters, left_out } = self.ahead.joining(&input, most);
        let turn = |seen, cluster: &Cluster| {
            (Reverse(cluster.spec.priority.unwrap_or(0)), seen, cluster.name.clone())
        };
        for (row, cluster) in clusters {
            self.waiting.insert(cluster.name.clone(), turn(row.seen, &cluster));
            self.previous.to_mut().pending.clusters.insert(cluster.name.clone(), row);
            self.fleet.clusters.insert(cluster.name.clone(), cluster);
        }
        left_out.map(|(seen, cluster)| turn(seen, &cluster))
    }

    /// Raises what the changes raise by what all before the cluster could take.
    pub(super) fn widen(&self, fixes: &mut [Fix]) {
        let mut ahead = QueueAhead::default();
        let own = self.cluster();
        let looked_at = self.waiting.keys().filter(|name| self.is_ahead(name));
        let looked_at = looked_at.filter_map(|name| self.base.fleet.clusters.get(name));
        for cluster in looked_at.chain(self.ahead.clusters()) {
            ahead.count = ahead.count.saturating_add(1);
            demands::add(&mut ahead.takes, &cluster.demand);
            if own.is_some_and(|own| own.tenant == cluster.tenant) {
                demands::add(&mut ahead.of_tenant, &cluster.demand);
                if own.is_some_and(|own| own.spec.location == cluster.spec.location) {
                    demands::add(&mut ahead.of_location, &cluster.demand);
                }
            }
        }
        amounts::widen(fixes, &ahead);
    }

    fn cluster(&self) -> Option<&'p Cluster> {
        self.base.fleet.clusters.get(self.name)
    }

    fn is_ahead(&self, other: &Name) -> bool {
        self.is_before(other, &self.turn)
    }

    fn is_before(&self, other: &Name, turn: &ProofTurn) -> bool {
        self.waiting.get(other).is_some_and(|own| own < turn)
    }

    fn edited(&self, worker: &Name, fixes: &[Fix]) -> Option<EditedDocuments> {
        let fleet = self.base.fleet;
        let cluster = self.cluster()?;
        let policy = crate::plan::policy::policy_of(fleet, cluster);
        let mut documents = EditedDocuments::of(fleet, cluster, policy, fleet.workers.get(worker)?);
        for fix in fixes {
            fix.edit(&mut documents);
        }
        Some(documents)
    }

    fn outcome(&self, run: &PlanRun<'_>, worker: &Name, fixes: &[Fix]) -> ProofOutcome {
        let taken_by = self.reached(run).filter(|_| self.moves_nobody(run));
        match taken_by {
            Some(taken_by) => {
                let after = run.clusters.iter().filter_map(|(name, planned)| {
                    let comes = matches!(planned.decision, Decision::Bind(_));
                    (comes && self.is_ahead(name)).then(|| name.clone())
                });
                let after = if self.goal == Goal::Place { after.collect() } else { Vec::new() };
                let remedy = Remedy { worker: taken_by, fixes: fixes.to_vec(), after };
                let tight = amounts::cut(fixes, |fix| self.needed(run, fix));
                ProofOutcome::Reached(Box::new(remedy), tight)
            }
            None => ProofOutcome::Missed(self.more(run, worker)),
        }
    }

    /// The worker on which the cluster is as it should be.
    fn reached(&self, run: &PlanRun<'_>) -> Option<Name> {
        let planned = run.clusters.get(self.name)?;
        match (self.goal, &planned.decision) {
            (Goal::Place, Decision::Bind(binding)) => Some(binding.worker.clone()),
            (Goal::Grow, Decision::Keep { worker }) if planned.resize_blocked.is_none() => {
                Some(worker.clone())
            }
            _ => None,
        }
    }

    /// Whether no cluster leaves its worker but those that are named already: a remedy costs nobody a cluster.
    fn moves_nobody(&self, run: &PlanRun<'_>) -> bool {
        run.moves.keys().all(|name| self.moving.contains(name))
    }

    /// What the worker still lacks.
    fn more(&self, run: &PlanRun<'_>, worker: &Name) -> Vec<Fix> {
        let set = match self.goal {
            Goal::Place => run.states.get(worker).and_then(|candidate| {
                meet(run, self.name, |request| to_place(run, self.base, request, candidate))?
            }),
            Goal::Grow => to_grow(run, self.base, self.name),
        };
        set.map(|set| set.fixes).unwrap_or_default()
    }

    /// How much of what a change raises is taken in a plan, those left out that come after the cluster.
    fn needed(&self, run: &PlanRun<'_>, fix: &Fix) -> Option<Quantity> {
        let of = |resources: &Resources, resource: &str| demands::of(resources, resource);
        match fix {
            Fix::Grow { worker, resource, .. }
            | Fix::RaiseCeiling { worker, resource, .. }
            | Fix::Declare { worker, resource, .. } => {
                let plan = &run.states.get(worker)?.plan;
                let behind = self.behind(run, resource, |_, on| on == worker);
                let taken = of(&plan.allocated, resource).plus(of(&plan.reserved, resource));
                let spec = &self.base.fleet.workers.get(worker)?.spec;
                let has = match fix {
                    Fix::Grow { .. } => of(&spec.capacity, resource),
                    Fix::RaiseCeiling { .. } => of(&spec.ceiling, resource),
                    _ => Quantity::ZERO,
                };
                Some(taken.minus(behind).minus(has))
            }
            Fix::RaiseQuota { tenant, location, resource, .. } => {
                let usage = run.states.counts.usage(tenant)?;
                let quota = self.base.fleet.tenant(tenant)?.quota.as_ref()?;
                let (taken, limits) = match location {
                    Some(at) => (usage.locations.get(at.as_str())?, quota.locations.get(at)?),
                    None => (&usage.total, &quota.total),
                };
                let here = |cluster: &Cluster| {
                    let at = location.as_ref().is_none_or(|at| *at == cluster.spec.location);
                    at && cluster.tenant == *tenant
                };
                let behind = self.behind(run, resource, |cluster, _| here(cluster));
                Some(of(taken, resource).minus(behind).minus(of(limits, resource)))
            }
            Fix::RaiseMaxSkew { key, .. } => {
                let skew = amounts::skew(run, self.name, key)?;
                Some(Quantity::units(i64::try_from(skew).unwrap_or(i64::MAX)))
            }
            _ => None,
        }
    }

    /// What the clusters take that are placed only with the changes made, and after the cluster.
    fn behind(
        &self,
        run: &PlanRun<'_>,
        resource: &str,
        counts: impl Fn(&Cluster, &Name) -> bool,
    ) -> Quantity {
        let behind = |name: &Name| self.waiting.get(name).is_some_and(|turn| *turn > self.turn);
        let takes = run.clusters.iter().filter_map(|(name, planned)| {
            let Decision::Bind(binding) = &planned.decision else { return None };
            let cluster = self.base.fleet.clusters.get(name).filter(|_| behind(name))?;
            counts(cluster, &binding.worker).then(|| demands::of(&planned.demand, resource))
        });
        takes.fold(Quantity::ZERO, Quantity::plus)
    }
}

/// Whether all that a plan of an edited fleet reads of placed clusters is known where what stands is counted only: it counts
/// as that was counted, and nobody who stands on the worker leaves it.
fn is_told(input: &PlanInput<'_>, worker: &Name, fixes: &[Fix]) -> bool {
    let Some(standing) = &input.previous.standing else { return true };
    let some_stand = standing.workers.get(worker).is_none_or(|there| there.clusters > 0);
    let may_violate = some_stand && fixes.iter().any(Fix::may_violate);
    is_counted_by(input) && !(may_violate && move_cause::policies_move(input))
}
