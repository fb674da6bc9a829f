//! The guards: what counts too many is held, and the rest goes on.
//!
//! A guard never looks at how a decision was reached, so a defect in placement is held like a mistake
//! in a pull request. Of the input's and `fleet.lock`'s guards the stricter holds, so that a commit that
//! loosens a guard does not profit from it.

use std::collections::{BTreeMap, BTreeSet};

use super::Acknowledged;
use crate::model::api::{AcknowledgementKind, Guards};
use crate::model::{
    ClusterState, ControlPlaneRow, Decision, Ending, Fleet, Hold, HoldKind, MoveCause,
    MoveProgress, Name, Pending, Plan, Previous, Progress, WorkerState,
};

/// What the guards look at.
#[derive(Clone, Copy, Debug)]
pub struct GuardInput<'a> {
    /// What people want.
    pub fleet: &'a Fleet,
    /// What the output branch says.
    pub previous: &'a Previous,
}

/// Holds what is too much: the held decisions become "keep". Returns the acknowledgements that let
/// something through and are thereby spent.
pub fn guard(plan: &mut Plan, input: GuardInput<'_>, acknowledged: &Acknowledged) -> Vec<Name> {
    let bound = u32::try_from(input.previous.bound()).unwrap_or(u32::MAX);
    let lock = input.previous.fleet.as_ref().map(|lock| lock.guards);
    let limits = stricter(input.fleet.spec.guards.unwrap_or_default(), lock, bound);
    another_root(plan, input);
    let deletions = starting_deletions(plan, input.previous);
    let allowed = limits.max_deletions;
    let mut spent = Vec::new();
    let over = Hold { kind: HoldKind::MassDeletion, names: deletions, allowed: Some(allowed) };
    spent.extend(hold_unless(plan, over, AcknowledgementKind::Deletions, acknowledged));

    let moves = moves(plan, input.previous);
    let allowed = limits.max_moves;
    let names = moves.keys().map(ToString::to_string).collect();
    let over = Hold { kind: HoldKind::MassMove, names, allowed: Some(allowed) };
    let let_through = hold_unless(plan, over, AcknowledgementKind::Moves, acknowledged);
    if let_through.is_none() && moves.len() > allowed as usize {
        for (cluster, from) in moves {
            plan.hold(&cluster, &from, None);
        }
    }
    spent.extend(let_through);
    spent
}

/// The numbers that a run is held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most clusters whose deletion may start.
    pub max_deletions: u32,
    /// The most clusters that may change their worker.
    pub max_moves: u32,
}

/// Of the input's guards and the lock's the stricter, number by number, where `bound` clusters are
/// placed. An unset number is its default: `max(3, 5 % of the placed clusters, rounded up)` deletions,
/// no move.
#[must_use]
pub fn stricter(input: Guards, lock: Option<Guards>, bound: u32) -> Limits {
    let numbers = |guards: Guards| {
        let deletions = guards.max_deletions.unwrap_or_else(|| bound.div_ceil(20).max(3));
        (deletions, guards.max_moves.unwrap_or(0))
    };
    let (wanted, in_force) = (numbers(input), numbers(lock.unwrap_or(input)));
    Limits { max_deletions: wanted.0.min(in_force.0), max_moves: wanted.1.min(in_force.1) }
}

/// Where `roots.fleet` is another folder than in the last run, what is not below it was not removed: it
/// may lie in the old folder still. Nothing is taken for removed until all that is there is found again.
fn another_root(plan: &mut Plan, input: GuardInput<'_>) {
    let Some(lock) = &input.previous.fleet else { return };
    let root = &input.fleet.spec.roots.clone().unwrap_or_default().fleet;
    let names = starting_deletions(plan, input.previous);
    if lock.roots.fleet != *root && !names.is_empty() {
        hold(plan, Hold { kind: HoldKind::RootChanged, names, allowed: None });
    }
}

/// What a run would begin to delete: clusters, and the own clusters of workers that retire, or the folders
/// of those that carp did not make. The two share one set of names.
fn starting_deletions(plan: &Plan, previous: &Previous) -> Vec<String> {
    let made = |name: &Name| previous.fleet.as_ref().and_then(|lock| lock.workers.get(name));
    let retiring = plan.workers.iter().filter(|(name, worker)| {
        let stands =
            |row: &ControlPlaneRow| row.state == ClusterState::Bound && row.folder.is_some();
        let progress = plan.deletions.get(name.as_str()).map(|deletion| deletion.progress);
        let starts = match progress {
            Some(Progress::Ends(Ending::Detached)) => true,
            Some(Progress::Waits) => false,
            _ => made(name).is_some_and(stands),
        };
        worker.state == WorkerState::Retiring && starts
    });
    let clusters = starting_clusters(plan, previous);
    let all: BTreeSet<&Name> = retiring.map(|(name, _)| name).chain(clusters).collect();
    all.into_iter().map(ToString::to_string).collect()
}

/// The clusters whose deletion would start in this run.
fn starting_clusters<'a>(plan: &'a Plan, previous: &'a Previous) -> impl Iterator<Item = &'a Name> {
    let was_bound = |name: &Name, worker: &Name| {
        let row = previous.workers.get(worker).and_then(|lock| lock.clusters.get(name));
        row.is_some_and(|row| row.state == ClusterState::Bound)
    };
    let starting = plan.clusters.iter().filter(move |(name, planned)| match &planned.decision {
        Decision::Delete { worker, .. } => was_bound(name, worker),
        _ => false,
    });
    starting.map(|(name, _)| name)
}

/// The clusters that would change their worker, with the worker they are on. What a drain, a taint or
/// failover names has bounds of its own.
fn moves(plan: &Plan, previous: &Previous) -> BTreeMap<Name, Name> {
    let placements: BTreeMap<&Name, &Name> = previous.placements().collect();
    // What is forgotten goes nowhere, and what is made anew was deleted before.
    let over = |name: &Name| {
        plan.deletions.get(name.as_str()).is_some_and(|d| matches!(d.progress, Progress::Ends(_)))
    };
    // What was never rendered on a worker that is not running in time moves nowhere.
    let never_there = |name: &Name| {
        let Some(from) = placements.get(name).copied() else { return false };
        let overdue = plan.workers.get(from).is_some_and(|w| w.pending == Some(Pending::Overdue));
        let row = previous.workers.get(from).and_then(|lock| lock.clusters.get(name));
        overdue && row.is_some_and(|row| row.folder.is_none())
    };
    let there = plan
        .clusters
        .iter()
        .filter(|(name, p)| p.decision != Decision::Forget && !over(name) && !never_there(name));
    let moved = there.filter_map(|(name, planned)| {
        let from = *placements.get(name)?;
        let to = planned.decision.worker();
        let begins = plan.moves.get(name).is_some_and(|moved| {
            moved.progress == MoveProgress::Begins && moved.cause == MoveCause::Violation
        });
        (to != Some(from) || begins).then(|| (name.clone(), from.clone()))
    });
    moved.collect()
}

/// Adds the hold if it counts too many and nobody acknowledged exactly this set; deletions that are held
/// become "keep". Returns the acknowledgement that let it through.
fn hold_unless(
    plan: &mut Plan,
    over: Hold,
    kind: AcknowledgementKind,
    acknowledged: &Acknowledged,
) -> Option<Name> {
    if over.names.len() <= over.allowed.unwrap_or(0) as usize {
        return None;
    }
    if let Some(name) = acknowledged.covers(kind, &over) {
        return Some(name);
    }
    hold(plan, over);
    None
}

/// Adds the hold. Deletions that it names become "keep", and workers that it names stay as they are.
fn hold(plan: &mut Plan, over: Hold) {
    for name in &over.names {
        if let Some((cluster, planned)) = plan.clusters.get_key_value(name.as_str())
            && let Decision::Delete { worker, .. } = &planned.decision
        {
            let (cluster, on) = (cluster.clone(), worker.clone());
            plan.hold(&cluster, &on, None);
        }
        if let Some(worker) = plan.workers.get_mut(name.as_str())
            && worker.state == WorkerState::Retiring
        {
            worker.state = WorkerState::NotLoaded;
            plan.deletions.remove(name.as_str());
        }
    }
    plan.holds.push(over);
    plan.holds.sort_by(|a, b| (a.kind, &a.names).cmp(&(b.kind, &b.names)));
}

#[cfg(test)]
mod tests;
