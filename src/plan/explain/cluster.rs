//! Explaining one cluster.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::remedy::remedies;
use super::{Explanation, PolicyLoss, Remedies, WorkerVerdict, margin, summary};
use crate::model::{Cluster, ClusterPlan, Decision, Name, ReasonCode, WaitingAhead};
use crate::plan::PlanInput;
use crate::plan::assign::PlanRun;
use crate::plan::candidate::{Leaving, MoveKind, Request};
use crate::plan::pick::{Pick, Ranks};
use crate::plan::policy::precedence;
use crate::plan::pre_filter_state::PreFilterState;
use crate::plan::taking::Taking;
use crate::plan::worker_states::WorkerStates;
use crate::plan::{cycle, filter, ongoing, scale, score};

/// Explains what [`plan`](crate::plan::plan) decides about a cluster; `None` where it is neither
/// desired nor recorded.
#[must_use]
pub fn explain_cluster(input: &PlanInput<'_>, name: &Name) -> Option<Explanation> {
    let input = &PlanInput { settled: None, ..*input };
    scale::settle(input, |input, run, _| told(input, &run, name))
}

/// Explains what is decided about a cluster, and works out by the same plan up to three smallest sets of changes of which each
/// would place it if it waits, or let it grow if its growth is held. `ahead` are those that wait before it and are not in the
/// input. The changes are `None` where the input has what stands on the workers counted only, and that does not tell: a change
/// asks for other counts, or a placed cluster may leave its worker.
#[must_use]
pub fn explain_with_remedies(
    input: &PlanInput<'_>,
    ahead: &WaitingAhead,
    name: &Name,
) -> Option<(Explanation, Option<Remedies>)> {
    let input = &PlanInput { settled: None, ..*input };
    scale::settle(input, |settled, run, _| {
        Some((told(settled, &run, name)?, remedies(input, ahead, &run, name)))
    })
}

fn told(input: &PlanInput<'_>, run: &PlanRun<'_>, name: &Name) -> Option<Explanation> {
    let planned = run.clusters.get(name)?.clone();
    let mut explanation = bare(name, &planned);
    let Some(cluster) = input.fleet.clusters.get(name) else { return Some(explanation) };
    let states = states_met(input, run, cluster, &planned);
    let leaving = match &planned.decision {
        Decision::Move { from, .. } => {
            let moved = run.moves.get(name);
            let transfers = moved.is_some_and(|moved| moved.transfer.is_some());
            let how = if transfers { MoveKind::Transfer } else { MoveKind::Rebuild };
            Some(Leaving { worker: from, takes: &planned.demand, how })
        }
        _ => None,
    };
    let request = Request { leaving, ..run.request(cluster) };
    let pre_filter = PreFilterState::of(&request, &states, &states.counts);
    let request = request.within(&pre_filter);
    explanation.policy = request.policy.map(|p| p.name.clone());
    explanation.lost = lost(run, cluster);
    explanation.workers = table(&request, &states);
    let held = is_held(&planned);
    let line = if held { summary::held } else { summary::line };
    explanation.summary = Some(line(&explanation.workers));
    if matches!(planned.decision, Decision::Wait { .. }) && !held {
        explanation.pools = scale::verdicts(input, run, cluster);
    }
    if let Some(pick) = pick(&explanation.workers) {
        if let Some((second, term)) = pick.second {
            explanation.margin = Some(margin::between(&pick.best, &second, term));
            explanation.runner_up = Some(second.worker);
            explanation.decided_by = Some(term);
        }
        explanation.winner = Some(pick.best.worker);
    }
    Some(explanation)
}

/// Whether a cluster waits because a policy or class did not load, whatever the workers say.
fn is_held(planned: &ClusterPlan) -> bool {
    matches!(&planned.decision, Decision::Wait { reasons, .. } if reasons.contains(&ReasonCode::PlacementsHeld))
}

fn bare(name: &Name, planned: &ClusterPlan) -> Explanation {
    Explanation {
        cluster: name.clone(),
        planned: planned.clone(),
        policy: None,
        lost: Vec::new(),
        workers: BTreeMap::new(),
        winner: None,
        runner_up: None,
        decided_by: None,
        margin: None,
        summary: None,
        pools: BTreeMap::new(),
    }
}

/// The workers as the cluster meets them: at its turn where it is placed now, after the run where it
/// waits, and after the run without itself where it was placed before.
fn states_met<'r, 'a>(
    input: &PlanInput<'a>,
    after: &'r PlanRun<'a>,
    cluster: &Cluster,
    planned: &ClusterPlan,
) -> Cow<'r, WorkerStates<'a>> {
    match &planned.decision {
        Decision::Bind(_) => {
            let mut run = cycle::begin(input);
            run.serve_until(&cluster.name);
            Cow::Owned(run.states)
        }
        Decision::Wait { .. } | Decision::Forget => Cow::Borrowed(&after.states),
        Decision::Keep { worker } | Decision::Delete { worker, .. } => {
            let mut states = after.states.clone();
            states.unbind(worker, cluster, Taking::all(&planned.demand));
            Cow::Owned(states)
        }
        Decision::Move { binding, .. } => {
            let mut states = after.states.clone();
            let kept = ongoing::kept(input, &cluster.name, &binding.worker);
            let there = kept.map_or(&cluster.demand, |row| &row.demand);
            let taking = Taking::besides(there, &planned.demand);
            states.unbind(&binding.worker, cluster, taking);
            Cow::Owned(states)
        }
    }
}

fn table(request: &Request<'_>, states: &WorkerStates<'_>) -> BTreeMap<Name, WorkerVerdict> {
    let verdict = |candidate| {
        let mut reasons = Vec::new();
        filter::refuse(request, candidate, &mut reasons);
        match candidate.worker {
            Some(worker) if reasons.is_empty() => {
                WorkerVerdict::Fits(score::rank(request, candidate, worker))
            }
            _ => WorkerVerdict::Refused(reasons),
        }
    };
    states.considered().map(|candidate| (candidate.name.clone(), verdict(candidate))).collect()
}

fn pick(workers: &BTreeMap<Name, WorkerVerdict>) -> Option<Pick> {
    let mut ranks = Ranks::default();
    for verdict in workers.values() {
        if let WorkerVerdict::Fits(rank) = verdict {
            ranks.add(rank.clone());
        }
    }
    ranks.into_pick()
}

fn lost(run: &PlanRun<'_>, cluster: &Cluster) -> Vec<PolicyLoss> {
    let mut selecting = run.policies.selecting(cluster);
    let Some(winner) = selecting.next() else { return Vec::new() };
    selecting
        .map(|loser| PolicyLoss { policy: loser.name.clone(), to: precedence(winner, loser) })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::model::{Decision, Term};
    use crate::plan::Precedence;
    use crate::plan::world::{World, name};

    const THREE: &str = "worker w1 1/4; worker w2 0/4 taint:k=v:NoSchedule; worker w3 0/4;";

    #[test]
    fn a_cluster_that_is_placed_now_is_explained_as_it_was_decided() {
        let world = World::read(&format!("{THREE} cluster a; cluster b"));
        for cluster in ["a", "b"] {
            let told = world.explain(cluster);
            let Decision::Bind(binding) = &told.planned.decision else { panic!("{told:?}") };
            assert_eq!(told.winner.as_ref(), Some(&binding.worker));
            assert_eq!(told.runner_up, binding.runner_up);
            assert_eq!(told.decided_by, binding.decided_by);
        }
        let a = world.explain("a");
        assert_eq!((a.winner, a.decided_by), (Some(name("w3")), Some(Term::ShareUsed)));
        assert_eq!(a.margin.as_deref(), Some("25 % used against 50 %"));
        assert_eq!(
            a.summary.as_deref(),
            Some("2/3 workers are available: 1 worker(s) had untolerated taint {k=v:NoSchedule}.")
        );
    }

    #[test]
    fn a_placed_cluster_is_not_counted_against_itself() {
        let told = World::read("worker w1 0/1; cluster a on=w1").explain("a");
        assert_eq!(told.winner, Some(name("w1")));
        assert_eq!(told.planned.decision, Decision::Keep { worker: name("w1") });
    }

    #[test]
    fn the_policies_that_lost_are_listed() {
        let world = World::read(
            "worker w1; cluster a label:env=prod;
             policy p priority=1; policy q for:env=prod; policy r; policy s priority=1; policy t for:env=x",
        );
        let told = world.explain("a");
        assert_eq!(told.policy, Some(name("p")));
        let lost: Vec<_> = told.lost.into_iter().map(|l| (l.policy.to_string(), l.to)).collect();
        assert_eq!(
            lost,
            [
                ("s".to_owned(), Precedence::Name),
                ("q".to_owned(), Precedence::Priority),
                ("r".to_owned(), Precedence::Priority),
            ]
        );
    }

    #[test]
    fn a_cluster_without_a_document_has_no_table() {
        let told = World::read("worker w1; cluster a on=w1 gone").explain("a");
        assert!(told.workers.is_empty());
        assert_eq!(told.summary, None);
        assert!(World::read("worker w1").try_explain("a").is_none(), "nobody knows it");
    }
}
