//! Moves: what names a cluster ([`cause`]), which of the named begin to move ([`begin`]), and what becomes
//! of the moves that have begun. [`rebalance`] names clusters where a person asks for it.
//!
//! No flavor can carry a cluster to another worker, so a move is a rebuild: a deletion by evidence on the
//! old worker, and a new, empty cluster on the new one, whose place there is kept from the first commit on.
//! Where the old worker is not heard of nothing is deleted: the move waits until a person says that the
//! worker is gone for ever (`abandon`), and is called off if it comes back. See `docs/adr/0032`.

mod begin;
mod cause;
mod rebalance;
mod target;
#[cfg(test)]
mod tests;
mod together;

pub(super) use begin::{begin, begin_for_violations};
pub(super) use cause::lost_since;
pub(super) use rebalance::rebalance;
pub(super) use target::{choose_again, give_up};
pub(super) use together::note as note_together;

use std::collections::BTreeMap;

use super::deletion::Deletions;
use super::policy::Policies;
use super::{PlanInput, unloaded};
use crate::model::api::Observation;
use crate::model::{
    Binding, ClusterRow, ClusterState, Decision, Freshness, Move, MoveCause, MoveProgress, MoveRow,
    Name, Progress, Worker, WorkerHealth,
};

/// The moves of a run.
pub(super) type Moves = BTreeMap<Name, Move>;

/// A move that has begun: the place is kept, and the cluster is still on the worker that it leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ongoing<'a> {
    pub(super) from: &'a Name,
    /// The row on the worker that it leaves.
    pub(super) row: &'a ClusterRow,
    pub(super) to: &'a Name,
    /// The row on the worker that keeps its place.
    pub(super) kept: &'a ClusterRow,
    pub(super) moves: &'a MoveRow,
}

/// The moves that have begun, by cluster.
pub(super) fn ongoing<'a>(input: &PlanInput<'a>) -> BTreeMap<&'a Name, Ongoing<'a>> {
    let mut all = BTreeMap::new();
    for (to, lock) in &input.previous.workers {
        for (name, kept) in &lock.clusters {
            if kept.state == ClusterState::Reserved
                && let Some(moves) = &kept.moves
                && let Some(row) = row_there(input, &moves.from, name)
            {
                all.insert(name, Ongoing { from: &moves.from, row, to, kept, moves });
            }
        }
    }
    all
}

fn row_there<'a>(input: &PlanInput<'a>, worker: &Name, name: &Name) -> Option<&'a ClusterRow> {
    let row = input.previous.workers.get(worker)?.clusters.get(name)?;
    (row.state != ClusterState::Reserved).then_some(row)
}

/// The place that is kept for a cluster on a worker.
pub(super) fn kept<'a>(
    input: &PlanInput<'a>,
    name: &Name,
    worker: &Name,
) -> Option<&'a ClusterRow> {
    let row = input.previous.workers.get(worker)?.clusters.get(name)?;
    (row.state == ClusterState::Reserved).then_some(row)
}

/// Whether a cluster's document is gone for sure: then nothing is made anew, and its place is free.
pub(super) fn is_removed(input: &PlanInput<'_>, name: &Name, tenant: &str) -> bool {
    !input.fleet.clusters.contains_key(name)
        && !input.fleet.is_broken(name, tenant)
        && !input.deletions_wait_of(tenant)
}

impl Ongoing<'_> {
    /// Whether something names it still. Where its document cannot be read that is taken for so, and a
    /// rebalance names it to the end: what made it worth while is changed by the move itself.
    pub(super) fn is_named(
        &self,
        input: &PlanInput<'_>,
        policies: &Policies<'_>,
        name: &Name,
    ) -> bool {
        let cluster = input.fleet.clusters.get(name);
        let unsure = input.fleet.holds_placements();
        let rebalanced = self.moves.cause == MoveCause::Rebalance;
        unsure
            || rebalanced
            || cluster.is_none_or(|c| cause::named(input, policies, c, self.from).is_some())
    }

    /// Whether files of it are kept as they are, on either worker.
    pub(super) fn is_kept(&self, input: &PlanInput<'_>, name: &Name) -> bool {
        let kept = &input.previous.kept;
        kept.holds(name, self.from) || kept.holds(name, self.to)
    }
}

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
fn has_document(input: &PlanInput<'_>, worker: &Name) -> bool {
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
fn is_well(input: &PlanInput<'_>, worker: &Worker) -> bool {
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
