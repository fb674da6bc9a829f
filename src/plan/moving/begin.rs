//! Which of the clusters that are named begin to move, and where to.
//!
//! A move begins only where another worker takes the cluster, and takes its place there at once. How many
//! are away at a time is bounded by what the locks say is away, so that planning again begins no more; a
//! bound on each run could not be kept so.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::model::api::{Failover, OnWorkerLoss};
use crate::model::{
    Blocker, Cluster, Decision, Deletion, DeletionStep, HoldKind, Missing, Move, MoveCause,
    MoveProgress, Name, Progress, ReasonCode, Stay, Transfer,
};
use crate::plan::assign::PlanRun;
use crate::plan::candidate::{Leaving, MoveKind, Pools, Request};
use crate::plan::choose::choose;
use crate::plan::pick::{Pick, SelectedWorker};
use crate::plan::pre_filter_state::PreFilterState;
use crate::plan::taking::Taking;
use crate::plan::{deletion, move_cause, transfer};

/// A cluster that something names.
pub(super) struct Named<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) on: Name,
    pub(super) cause: MoveCause,
}

/// Begins what drains, taints and failover name, before anything that waits is placed: these clusters lose
/// what they have.
pub(in crate::plan) fn begin(run: &mut PlanRun<'_>) {
    note_violations(run);
    let named = all_named(run);
    for cause in [MoveCause::Drain, MoveCause::NoExecute, MoveCause::Failover] {
        let of_cause = named.iter().filter(|named| named.cause == cause);
        begin_of(run, of_cause.collect(), cause);
    }
}

/// Begins what policies name, after everything that waits was placed: a guard may hold these moves, and
/// nobody waits for the place that such a one keeps.
pub(in crate::plan) fn begin_for_violations(run: &mut PlanRun<'_>) {
    if !move_cause::policies_move(&run.input) {
        return;
    }
    let named = all_named(run);
    let of_cause = named.iter().filter(|named| named.cause == MoveCause::Violation);
    begin_of(run, of_cause.collect(), MoveCause::Violation);
}

fn note_violations(run: &mut PlanRun<'_>) {
    if run.input.fleet.holds_placements() {
        return;
    }
    let (fleet, asked) = (run.input.fleet, move_cause::policies_require(&run.input));
    for (name, planned) in &mut run.clusters {
        let Decision::Keep { worker } = &planned.decision else { continue };
        let Some(cluster) = fleet.clusters.get(name) else { continue };
        let own = cluster.spec.narrows();
        if !asked && !own && Pools::of(fleet, &cluster.tenant) == Pools::All {
            continue;
        }
        let violations = move_cause::violations(&run.input, &run.policies, cluster, worker);
        planned.violations = violations.into();
    }
}

/// The placed clusters that something names and that are not on the move.
fn all_named<'a>(run: &PlanRun<'a>) -> Vec<Named<'a>> {
    let input = run.input;
    if input.fleet.holds_placements() {
        return Vec::new();
    }
    let suspects: BTreeSet<&Name> =
        input.fleet.workers.keys().filter(|worker| move_cause::may_name(&input, worker)).collect();
    let by_policy = move_cause::policies_move(&input);
    if suspects.is_empty() && !by_policy {
        return Vec::new();
    }
    let named = |(name, planned): (&Name, &crate::model::ClusterPlan)| {
        let Decision::Keep { worker } = &planned.decision else { return None };
        if !by_policy && !suspects.contains(worker) {
            return None;
        }
        let cluster = input.fleet.clusters.get(name)?;
        let arrives = run.moves.get(name).is_some_and(|m| m.progress == MoveProgress::Arrives);
        let cause =
            move_cause::named(&input, &run.policies, cluster, worker).filter(|_| !arrives)?;
        Some(Named { cluster, on: worker.clone(), cause })
    };
    run.clusters.iter().filter_map(named).collect()
}

fn begin_of<'a>(run: &mut PlanRun<'a>, mut named: Vec<&Named<'a>>, cause: MoveCause) {
    let priority = |n: &&Named<'_>| n.cluster.spec.priority.unwrap_or(0);
    match cause {
        // The least important goes first: if something is wrong with the new worker, it shows there.
        MoveCause::Drain | MoveCause::NoExecute | MoveCause::Violation | MoveCause::Rebalance => {
            named.sort_by_key(|n| (priority(n), n.cluster.name.clone()));
        }
        // What is lost is missed already; the most important is there again first.
        MoveCause::Failover => {
            named.sort_by_key(|n| (Reverse(priority(n)), n.cluster.name.clone()));
        }
    }
    let breaker = cause == MoveCause::Failover && move_cause::breaker_is_open(&run.input);
    for one in named {
        let name = &one.cluster.name;
        let blocker = match blocked(run, one, breaker) {
            Some(blocker) => blocker,
            None => match go(run, one) {
                Ok(()) => continue,
                Err(blocker) => blocker,
            },
        };
        let held = match blocker {
            Blocker::FailoverBreaker => Some(HoldKind::FailoverBreaker),
            Blocker::DeletionsHeld => Some(HoldKind::DeletionsHeld),
            _ => None,
        };
        if let Some(kind) = held {
            run.holds.add(kind, name);
        }
        if let Some(planned) = run.clusters.get_mut(name) {
            let stay = Stay { worker: one.on.clone(), cause: one.cause, blocker };
            planned.stay = Some(Box::new(stay));
        }
    }
}

/// Why a named cluster does not move, whatever other workers there are.
pub(super) fn blocked(run: &PlanRun<'_>, named: &Named<'_>, breaker: bool) -> Option<Blocker> {
    let (cluster, input) = (named.cluster, &run.input);
    let lock = input.previous.workers.get(&named.on);
    let row = lock.and_then(|lock| lock.clusters.get(&cluster.name));
    let transfers = transfer::kind(input, cluster, named.cause) == MoveKind::Transfer;
    if !transfers && cluster.spec.on_worker_loss != OnWorkerLoss::Rebuild {
        Some(Blocker::NotMovable)
    } else if cluster.spec.paused {
        Some(Blocker::Paused)
    } else if row.is_none_or(|row| row.folder.is_none()) {
        Some(Blocker::NotRendered)
    } else if input.previous.kept.holds(&cluster.name, &named.on) {
        Some(Blocker::FolderKept)
    } else if transfers && !transfer::is_heard(input, &named.on) {
        Some(Blocker::NotHeard)
    } else if breaker {
        Some(Blocker::FailoverBreaker)
    } else if input.deletions_wait_of(&cluster.tenant) {
        Some(Blocker::DeletionsHeld)
    } else if away(run, named) >= most(run, named) {
        Some(Blocker::WaitsItsTurn)
    } else {
        None
    }
}

/// How many may be away for what names a cluster.
fn most(run: &PlanRun<'_>, named: &Named<'_>) -> usize {
    match named.cause {
        MoveCause::Drain | MoveCause::NoExecute => {
            run.input.fleet.workers.get(&named.on).map_or(1, |w| w.spec.max_unavailable())
        }
        MoveCause::Failover => {
            let policy = run.policies.select(named.cluster);
            policy.and_then(|p| p.spec.failover.as_ref()).map_or(0, Failover::rate)
        }
        // A rebalance counts its moves itself.
        MoveCause::Violation | MoveCause::Rebalance => usize::MAX,
    }
}

/// How many of those that count with a cluster are away already.
fn away(run: &PlanRun<'_>, named: &Named<'_>) -> usize {
    let policy = |cluster| run.policies.select(cluster).map(|policy| &policy.name);
    let alike = |(name, moved): &(&Name, &Move)| match named.cause {
        MoveCause::Drain | MoveCause::NoExecute => moved.from == named.on,
        MoveCause::Failover => {
            let other = run.input.fleet.clusters.get(*name);
            moved.cause == MoveCause::Failover
                && other.is_some_and(|other| policy(other) == policy(named.cluster))
        }
        MoveCause::Violation | MoveCause::Rebalance => false,
    };
    run.moves.iter().filter(|(_, moved)| moved.is_away()).filter(alike).count()
}

/// Begins a move where another worker takes the cluster.
pub(super) fn go<'a>(run: &mut PlanRun<'a>, named: &Named<'a>) -> Result<(), Blocker> {
    let (cluster, on) = (named.cluster, &named.on);
    let how = transfer::kind(&run.input, cluster, named.cause);
    let pick = elsewhere(run, cluster, (on, how)).map_err(Blocker::NoWorkerFits)?;
    let binding = run.binding(cluster, SelectedWorker::of(&pick, &run.states));
    let to = binding.worker.clone();
    let takes = run.takes(&cluster.name);
    run.take_place(&to, cluster, Taking::besides(&cluster.demand, &takes));
    let name = &cluster.name;
    let (step, transfer) = if how == MoveKind::Transfer {
        let row = transfer::begins(&run.input, name, (on, &to));
        (None, Some(Box::new(Transfer { row, advances: true, waits: None })))
    } else {
        let deletion = first_step(run, on);
        let step = deletion.step;
        run.deletions.insert(name.clone(), deletion);
        (step, None)
    };
    let moved = Move {
        from: on.clone(),
        to,
        cause: named.cause,
        progress: MoveProgress::Begins,
        demand: cluster.demand.clone(),
        awaited: true,
        transfer,
    };
    run.moves.insert(name.clone(), moved);
    if let Some(planned) = run.clusters.get_mut(name) {
        planned.decision = Decision::Move { from: on.clone(), step, binding: binding.into() };
        planned.resize_blocked = None;
        planned.version = None;
    }
    Ok(())
}

/// What happens on the old worker first: its deletion begins, or nothing where it is not heard of.
fn first_step(run: &PlanRun<'_>, on: &Name) -> Deletion {
    let begins = deletion::begins(&run.input, on, DeletionStep::D1);
    match begins.missing {
        Some(Missing::Silent | Missing::NeverReported) => {
            Deletion { step: None, progress: Progress::Waits, ..begins }
        }
        _ => begins,
    }
}

/// The best worker for a cluster that leaves one.
pub(super) fn elsewhere(
    run: &PlanRun<'_>,
    cluster: &Cluster,
    (from, how): (&Name, MoveKind),
) -> Result<Pick, BTreeSet<ReasonCode>> {
    let takes = run.takes(&cluster.name);
    let leaving = Leaving { worker: from, takes: &takes, how };
    let request = Request { leaving: Some(leaving), ..run.request(cluster) };
    let pre_filter = PreFilterState::of(&request, &run.states, &run.states.counts);
    choose(&request.within(&pre_filter), &run.states)
}
