//! What becomes of the moves that have begun: whether the place is kept, and which step comes next.

use std::collections::BTreeMap;

use super::PlanInput;
use super::deletion::{self, Deletions};
use super::ongoing::{Ongoing, is_removed, row_there};
use super::open::is_open;
use super::transfer::{self, TransferVerdict};
use crate::model::api::Observation;
use crate::model::{
    Binding, ClusterRow, Decision, DeletionStep, Freshness, Move, MoveProgress, MoveRow, Name,
    Progress, Transfer, TransferRow, TransferStep, TransferWait,
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
    let moves = kept.moves.as_ref();
    let leaves = moves.and_then(|m| Some((m, row_there(input, &m.from, name)?)));
    if let Some(moves) = moves.filter(|moves| moves.transfer.is_some()) {
        // It may be what the cluster is made of by now.
        return leaves.is_none_or(|(_, row)| {
            let one = Ongoing { from: &moves.from, row, to, kept, moves };
            transfer::judge(input, name, one) != Some(TransferVerdict::CalledOff)
        });
    }
    if is_removed(input, name, &kept.row.tenant) {
        return false;
    }
    if leaves.is_none() {
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
        transfer: None,
    };
    if let Some(row) = &ongoing.moves.transfer {
        return Some(handed_over(input, name, (ongoing, row), deletions, (entry, moves)));
    }
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
            let binding = bound_before(to, kept);
            let step = deletion.step;
            Some((from, row, Decision::Move { from: from.clone(), step, binding: binding.into() }))
        }
    }
}

/// A place that was chosen by an earlier run.
fn bound_before(to: &Name, kept: &ClusterRow) -> Binding {
    let group = kept.group.clone();
    Binding { worker: to.clone(), policy: None, decided_by: None, runner_up: None, group }
}

/// The move of a cluster that is handed over as it is. It goes nowhere else, whatever becomes of the new worker: where
/// the evidence is missing it waits.
fn handed_over<'a>(
    input: &PlanInput<'_>,
    name: &Name,
    (ongoing, row): (Ongoing<'a>, &TransferRow),
    deletions: &Deletions,
    (entry, moves): (impl Fn(MoveProgress) -> Move, &mut Moves),
) -> (&'a Name, &'a ClusterRow, Decision) {
    let Ongoing { from, row: here, to, kept, .. } = ongoing;
    let told = |progress, row: TransferRow, advances, waits| {
        let transfer = Some(Box::new(Transfer { row, advances, waits }));
        Move { transfer, ..entry(progress) }
    };
    let at = |step| TransferRow { step, ..row.clone() };
    let leaves =
        |step| Decision::Move { from: from.clone(), step, binding: bound_before(to, kept).into() };
    let (told, decision) = match transfer::judge(input, name, ongoing) {
        Some(TransferVerdict::Waits(wait)) => {
            (told(MoveProgress::Leaves, row.clone(), false, Some(wait)), leaves(None))
        }
        Some(TransferVerdict::HandsOver(expects)) => {
            let row = TransferRow { expects: Some(expects), ..at(TransferStep::HandOver) };
            let waits = Some(TransferWait::NotHandedOver);
            (told(MoveProgress::Leaves, row, true, waits), leaves(None))
        }
        Some(TransferVerdict::Adopts) => {
            let row = at(TransferStep::Adopt);
            (told(MoveProgress::Leaves, row, true, None), leaves(Some(DeletionStep::D2)))
        }
        Some(TransferVerdict::CalledOff) => {
            moves.insert(name.clone(), told(MoveProgress::CalledOff, row.clone(), true, None));
            return (from, here, Decision::Keep { worker: from.clone() });
        }
        None if deletion::ends(deletions, name) => {
            moves.insert(name.clone(), told(MoveProgress::Arrives, row.clone(), true, None));
            return (to, kept, Decision::Keep { worker: to.clone() });
        }
        None => {
            let step = deletions.get(name).and_then(|deletion| deletion.step);
            (told(MoveProgress::Leaves, row.clone(), false, None), leaves(step))
        }
    };
    moves.insert(name.clone(), told);
    (from, here, decision)
}

/// The move of a cluster that has arrived and is not reported running; `None` for every other one. Where
/// nobody looks it counts as running at once.
pub(super) fn starts(
    input: &PlanInput<'_>,
    name: &Name,
    on: &Name,
    row: &ClusterRow,
) -> Option<Move> {
    let MoveRow { from, cause, transfer } = row.moves.as_ref()?;
    let told = |row: &TransferRow| Transfer { row: row.clone(), advances: false, waits: None };
    (!runs(input, name, on)).then(|| Move {
        from: from.clone(),
        to: on.clone(),
        cause: *cause,
        progress: MoveProgress::Starts,
        demand: row.demand.clone(),
        awaited: true,
        transfer: transfer.as_ref().map(|row| Box::new(told(row))),
    })
}

fn runs(input: &PlanInput<'_>, name: &Name, on: &Name) -> bool {
    let worker = input.fleet.workers.get(on);
    let observed = worker.is_none_or(|w| w.spec.observation == Observation::Agent);
    let report = input.observed.workers.get(on).filter(|r| r.freshness == Freshness::Fresh);
    let seen = report.and_then(|report| report.clusters.get(name));
    !observed || seen.is_some_and(|seen| seen.phase == "Running")
}
