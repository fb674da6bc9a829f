//! What would have to change for a cluster to be placed: found by asking each worker why it refuses, and proven
//! by planning the whole fleet with the changes made.
//!
//! What one worker says is only where a set of changes comes from. Others wait too, and may be the first to use
//! what opens; a change of who may use a worker changes the domains over which clusters are spread; pools make
//! workers. So nothing is told but what a plan of the edited fleet came to, and the worker that is named is the
//! one that this plan chose.
//!
//! Each plan is counted, and there are [`MOST_PROOFS`] at most: the sets with the fewest changes are tried first.
//! Where the worker still refuses in the plan of the edited fleet, its reasons there make the set larger. Where
//! it does so for want of an amount that the set has raised, others took it: then the set gives as much as all
//! that stand before the cluster could take, and the plan says how much of that they took.

mod ahead;
mod amounts;
mod proof;
mod trial;

use std::collections::BTreeSet;

use self::proof::{Proof, ProofOutcome};
use self::trial::RemedyTrial;
use super::{Fix, Remedies, Remedy};
use crate::model::{Decision, Name, Reason, ReasonCode, Resources, WaitingAhead};
use crate::plan::assign::PlanRun;
use crate::plan::candidate::{Candidate, Request};
use crate::plan::pool_workers::may_scale;
use crate::plan::pre_filter_state::PreFilterState;
use crate::plan::taking::Taking;
use crate::plan::{PlanInput, amounts as demands};

/// The most remedies that are shown.
const MOST: usize = 3;

/// The most plans of edited fleets for one cluster.
pub const MOST_PROOFS: u32 = 12;

/// How many of those that wait before the cluster are asked first which a worker may take: as a rule it is full by then.
const FIRST_ASKED: usize = 100;

/// How often a set of changes is made larger.
const ROUNDS: u32 = 3;

/// Up to so many changes each smaller part of a set is planned, too.
const FEW: usize = 4;

/// Works out, after a run in which nothing is changed, up to three smallest sets of changes of which each would place a
/// cluster that waits, or let one grow whose growth is held; none for any other.
///
/// `None` where the input has what stands on the workers counted only, and that does not tell: a change asks for other
/// counts, or a placed cluster may leave its worker. Nor where the run places or moves somebody while there are others `ahead`
/// that it did not look at.
pub(super) fn remedies(
    input: &PlanInput<'_>,
    ahead: &WaitingAhead,
    run: &PlanRun<'_>,
    name: &Name,
) -> Option<Remedies> {
    // Where pools make workers, an edited fleet may have others than this one has.
    let is_still = run.is_still() && !may_scale(input);
    if !is_still && !ahead.is_empty() {
        return None;
    }
    remedies_after(input, (ahead, FIRST_ASKED), run, name, is_still)
}

/// `is_still`: the run leaves the workers as they were, and all that wait were looked at.
fn remedies_after(
    input: &PlanInput<'_>,
    ahead: (&WaitingAhead, usize),
    run: &PlanRun<'_>,
    name: &Name,
    is_still: bool,
) -> Option<Remedies> {
    let Some(goal) = Goal::of(run, name) else { return Some(Remedies::default()) };
    let mut search = RemedySearch {
        proof: Proof::new(input, ahead, run, name, goal, is_still),
        tried: BTreeSet::new(),
        found: Vec::new(),
    };
    match goal {
        Goal::Place => {
            meet(run, name, |request| {
                let workers = run.states.considered();
                search.all(workers.filter_map(|worker| to_place(run, input, request, worker)));
            });
        }
        Goal::Grow => search.all(to_grow(run, input, name)),
    }
    let mut found = search.found;
    found.sort_by_key(|remedy| (remedy.fixes.len(), remedy.worker.clone()));
    let proofs = search.proof.done();
    (!search.proof.is_unsure()).then_some(Remedies { list: found, proofs })
}

/// What the changes are to bring about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    /// A cluster that waits is given a worker.
    Place,
    /// A placed cluster gets what it wants.
    Grow,
}

impl Goal {
    /// `None` for a cluster that lacks nothing. No change of a worker or cluster mends a policy that did not
    /// load.
    fn of(run: &PlanRun<'_>, name: &Name) -> Option<Self> {
        let planned = run.clusters.get(name)?;
        match &planned.decision {
            Decision::Wait { reasons, .. } if !reasons.contains(&ReasonCode::PlacementsHeld) => {
                Some(Self::Place)
            }
            Decision::Keep { .. } if planned.resize_blocked.is_some() => Some(Self::Grow),
            _ => None,
        }
    }
}

/// A cluster as filters see it after a run, with what it meets; `None` where it has no document.
fn meet<T>(run: &PlanRun<'_>, name: &Name, then: impl FnOnce(&Request<'_>) -> T) -> Option<T> {
    let request = run.request_of(name)?;
    let pre_filter = PreFilterState::of(&request, &run.states, &run.states.counts);
    Some(then(&request.within(&pre_filter)))
}

/// What a worker lacks for a cluster that waits, after a run.
fn to_place(
    run: &PlanRun<'_>,
    input: &PlanInput<'_>,
    request: &Request<'_>,
    worker: &Candidate<'_>,
) -> Option<Set> {
    input.fleet.workers.get(worker.name)?;
    let fixes = RemedyTrial::of(request, worker, run.input.fleet)?.changes()?;
    (!fixes.is_empty()).then(|| Set::new(worker.name.clone(), fixes, 0))
}

/// What a placed cluster's worker, and its tenant's quota, lack for the growth that is held.
fn to_grow(run: &PlanRun<'_>, input: &PlanInput<'_>, name: &Name) -> Option<Set> {
    let cluster = run.input.fleet.clusters.get(name)?;
    let planned = run.clusters.get(name)?;
    let worker = planned.decision.worker()?;
    let mut without_it = run.states.clone();
    without_it.unbind(worker, cluster, Taking::all(&planned.demand));
    let request = run.request_of(name)?;
    let pre_filter = PreFilterState::of(&request, &without_it, &without_it.counts);
    let request = request.within(&pre_filter);
    input.fleet.workers.get(worker)?;
    let scene = RemedyTrial::of(&request, without_it.get(worker)?, run.input.fleet)?;
    let fixes = lacking(&scene, &planned.demand, &cluster.demand);
    (!fixes.is_empty()).then(|| Set::new(worker.clone(), fixes, 0))
}

/// The changes that answer the want of what is raised; nothing else keeps a placed cluster from growing.
fn lacking(scene: &RemedyTrial<'_>, takes: &Resources, wants: &Resources) -> Vec<Fix> {
    let raised = |resource: &str| demands::of(takes, resource) < demands::of(wants, resource);
    let lacking = scene.reasons().into_iter().filter(|reason| match reason {
        Reason::Capacity { resource, .. }
        | Reason::Ceiling { resource, .. }
        | Reason::CapacityUnknown { resource }
        | Reason::Quota { resource, .. } => raised(resource),
        _ => false,
    });
    lacking.filter_map(|reason| scene.fix(&reason)).collect()
}

/// Changes that one worker's reasons ask for. The order is that in which they are tried.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Set {
    count: usize,
    /// The worker whose reasons they answer.
    worker: Name,
    fixes: Vec<Fix>,
    /// How often it was made larger.
    round: u32,
}

impl Set {
    fn new(worker: Name, fixes: Vec<Fix>, round: u32) -> Self {
        Self { count: fixes.len(), worker, fixes, round }
    }
}

struct RemedySearch<'p> {
    proof: Proof<'p>,
    tried: BTreeSet<Vec<Fix>>,
    found: Vec<Remedy>,
}

impl RemedySearch<'_> {
    /// Tries the sets in their order. `first` has them by their workers' names: none comes before one of a single change,
    /// so what the workers after that one lack need not be known yet.
    fn all(&mut self, first: impl IntoIterator<Item = Set>) {
        let mut first = first.into_iter();
        let mut open = BTreeSet::new();
        while self.found.len() < MOST && !self.is_spent() && !self.proof.is_unsure() {
            let single = first.by_ref().find_map(|set| {
                if set.count == 1 {
                    return Some(set);
                }
                open.insert(set);
                None
            });
            let Some(set) = single.or_else(|| open.pop_first()) else { return };
            if self.is_covered(&set.fixes) || !self.tried.insert(set.fixes.clone()) {
                continue;
            }
            match self.proof.of(&set.worker, &set.fixes) {
                ProofOutcome::Reached(remedy, _) => self.keep(&set.worker, *remedy),
                ProofOutcome::Missed(more) if set.round < ROUNDS => {
                    open.extend(self.enlarged(set, &more));
                }
                ProofOutcome::Missed(_) => {}
            }
        }
    }

    /// A larger set where the worker says in the plan what more it lacks. Where that is an amount that the set
    /// has raised, it is tried at once with what all before the cluster could take besides.
    fn enlarged(&mut self, set: Set, more: &[Fix]) -> Option<Set> {
        let mut fixes = set.fixes;
        if more.is_empty() {
            return None;
        }
        if !amounts::join(&mut fixes, more) {
            return Some(Set::new(set.worker, fixes, set.round + 1));
        }
        self.proof.widen(&mut fixes);
        if self.is_spent() || self.is_covered(&fixes) || !self.tried.insert(fixes.clone()) {
            return None;
        }
        if let ProofOutcome::Reached(wide, tight) = self.proof.of(&set.worker, &fixes) {
            let worth_it = tight != fixes && !self.is_spent();
            let tight = worth_it.then(|| self.proof.of(&set.worker, &tight));
            match tight {
                Some(ProofOutcome::Reached(tight, _)) => self.keep(&set.worker, *tight),
                _ => self.keep(&set.worker, *wide),
            }
        }
        None
    }

    /// Shows a remedy, without the changes that it does without.
    fn keep(&mut self, worker: &Name, mut remedy: Remedy) {
        let mut at = if remedy.fixes.len() <= FEW { remedy.fixes.len() } else { 0 };
        while at > 0 && remedy.fixes.len() > 1 && !self.is_spent() {
            at -= 1;
            let mut fewer = remedy.fixes.clone();
            fewer.remove(at);
            if let ProofOutcome::Reached(smaller, _) = self.proof.of(worker, &fewer) {
                remedy = *smaller;
            }
        }
        if !self.is_covered(&remedy.fixes) {
            self.found.push(remedy);
        }
    }

    fn is_spent(&self) -> bool {
        self.proof.done() >= MOST_PROOFS
    }

    /// Whether one that was found needs nothing more.
    fn is_covered(&self, fixes: &[Fix]) -> bool {
        let achieved = |fix: &Fix| fixes.iter().any(|more| more.achieves(fix));
        self.found.iter().any(|found| found.fixes.iter().all(achieved))
    }
}

#[cfg(test)]
mod tests;
