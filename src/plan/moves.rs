//! What becomes of the moves that have begun: whether the place is kept, and which step comes next.

use std::collections::BTreeMap;

use super::deletion::Deletions;
use super::ongoing::{Ongoing, is_removed, row_there};
use super::{PlanInput, unloaded};
use crate::model::api::Observation;
use crate::model::{
    Binding, ClusterRow, Decision, Freshness, Move, MoveProgress, MoveRow, Name, Progress, Worker,
    WorkerHealth,
};

/// The moves of a run.
pub(super) type Moves = BTreeMap<Name, Move>;

/// Whether a place that is kept on a worker stays kept in this run.
pub(super) fn keeps_its_place(
    input: &PlanInput<'_>,
    deletions: &Deletions,
    name: &Name,
    (to, kept): (&Name, &ClusterRow),
) -> bool {
    if is_removed(input, name, &kept.row.tenant) {
        return false;
    }
    let from = kept.moves.as_ref().map(|moves| &moves.from);
    if from.and_then(|from| row_there(input, from, name)).is_none() {
        return true;
    }
    match deletions.get(name).map(|deletion| deletion.progress) {
        Some(Progress::Cancelled) => false,
        Some(Progress::Ends(_)) => is_open(input, to),
        _ => has_document(input, to),
    }
}

/// Whether a worker is there to make the cluster on. While something did not load it may be.
pub(super) fn has_document(input: &PlanInput<'_>, worker: &Name) -> bool {
    input.fleet.workers.contains_key(worker) || input.deletions_wait()
}

/// Whether a worker takes anything new, as the filters `ready` and `schedulable` say it.
fn is_open(input: &PlanInput<'_>, name: &Name) -> bool {
    let Some(worker) = input.fleet.workers.get(name) else { return false };
    let spec = &worker.spec;
    let kept = input.previous.kept.workers.contains(name);
    is_well(input, worker)
        && !kept
        && !spec.unschedulable
        && !spec.is_draining()
        && !unloaded::overlay(input.fleet, name)
}

/// Whether a worker's agent says that it is well; where nobody looks it is.
pub(super) fn is_well(input: &PlanInput<'_>, worker: &Worker) -> bool {
    worker.spec.observation == Observation::None
        || input.observed.health(&worker.name) == WorkerHealth::Healthy
}

/// What becomes of a move that has begun: the worker whose row goes on, the row, and the decision; `None`
/// where the old one is gone and the new worker takes nothing any more, so that the cluster waits like a
/// new one.
pub(super) fn decide<'a>(
    input: &PlanInput<'_>,
    name: &Name,
    ongoing: Ongoing<'a>,
    deletions: &Deletions,
    moves: &mut Moves,
) -> Option<(&'a Name, &'a ClusterRow, Decision)> {
    let Ongoing { from, row, to, kept, .. } = ongoing;
    let entry = |progress| Move {
        from: from.clone(),
        to: to.clone(),
        cause: ongoing.moves.cause,
        progress,
        demand: kept.demand.clone(),
        awaited: !runs(input, name, to),
    };
    let deletion = deletions.get(name)?;
    match deletion.progress {
        Progress::Ends(_) => {
            if !is_open(input, to) {
                return None;
            }
            moves.insert(name.clone(), entry(MoveProgress::Arrives));
            Some((to, kept, Decision::Keep { worker: to.clone() }))
        }
        Progress::Cancelled => {
            moves.insert(name.clone(), entry(MoveProgress::CalledOff));
            Some((from, row, Decision::Keep { worker: from.clone() }))
        }
        Progress::Begins | Progress::Waits | Progress::Steps => {
            moves.insert(name.clone(), entry(MoveProgress::Leaves));
            let binding = Binding {
                worker: to.clone(),
                policy: None,
                decided_by: None,
                runner_up: None,
                group: kept.group.clone(),
            };
            let step = deletion.step;
            Some((from, row, Decision::Move { from: from.clone(), step, binding }))
        }
    }
}

/// The move of a cluster that has arrived and is not reported running; `None` for every other one. Where
/// nobody looks it counts as running at once.
pub(super) fn starts(
    input: &PlanInput<'_>,
    name: &Name,
    on: &Name,
    row: &ClusterRow,
) -> Option<Move> {
    let MoveRow { from, cause } = row.moves.as_ref()?;
    (!runs(input, name, on)).then(|| Move {
        from: from.clone(),
        to: on.clone(),
        cause: *cause,
        progress: MoveProgress::Starts,
        demand: row.demand.clone(),
        awaited: true,
    })
}

fn runs(input: &PlanInput<'_>, name: &Name, on: &Name) -> bool {
    let worker = input.fleet.workers.get(on);
    let observed = worker.is_none_or(|w| w.spec.observation == Observation::Agent);
    let report = input.observed.workers.get(on).filter(|r| r.freshness == Freshness::Fresh);
    let seen = report.and_then(|report| report.clusters.get(name));
    !observed || seen.is_some_and(|seen| seen.phase == "Running")
}
