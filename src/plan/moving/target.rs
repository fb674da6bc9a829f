//! Moves under way whose target takes nothing any more.

use std::collections::BTreeMap;

use super::begin::elsewhere;
use crate::model::{
    Binding, Cluster, ClusterState, Decision, Deletion, DeletionStep, HoldKind, MoveProgress, Name,
    Progress,
};
use crate::plan::assign::PlanRun;
use crate::plan::candidate::MoveKind;
use crate::plan::ongoing::{Ongoing, ongoing};
use crate::plan::pick::SelectedWorker;
use crate::plan::taking::Taking;
use crate::plan::{deletion, filter, moves};

/// Gives them another one, where one fits; whether any was given one. Where none fits they go on waiting for
/// theirs.
pub(in crate::plan) fn choose_again(run: &mut PlanRun<'_>) -> bool {
    let mut any = false;
    for (name, one, cluster) in on_closed(run) {
        let has_place = moves::has_document(&run.input, one.to);
        let kept = Taking::besides(&one.kept.demand, &one.row.demand);
        if has_place {
            run.states.unbind(one.to, cluster, kept);
        }
        match elsewhere(run, cluster, (one.from, MoveKind::Rebuild)) {
            Ok(pick) => {
                let binding = run.binding(cluster, SelectedWorker::of(&pick, &run.states));
                let taking = Taking::besides(&cluster.demand, &one.row.demand);
                run.take_place(&binding.worker, cluster, taking);
                go_to(run, &name, binding);
                any = true;
            }
            // Back to what it is kept for, which is not always what the document says by now.
            Err(_) if has_place => run.take_place(one.to, cluster, kept),
            Err(_) => {}
        }
    }
    any
}

/// Where the target is not there any more and no other fits, the cluster goes into the queue at the end of
/// its deletion, or stays where nothing is deleted.
pub(in crate::plan) fn give_up(run: &mut PlanRun<'_>) {
    for (name, one, _) in on_closed(run) {
        if !moves::has_document(&run.input, one.to) {
            end(run, &name, one);
        }
    }
}

/// The moves under way that go to such a worker still.
fn on_closed<'a>(run: &PlanRun<'a>) -> Vec<(Name, Ongoing<'a>, &'a Cluster)> {
    let leaves =
        |name: &&Name| run.moves.get(*name).map(|m| m.progress) == Some(MoveProgress::Leaves);
    if run.input.deletions_wait() || !run.moves.keys().any(|name| leaves(&name)) {
        return Vec::new();
    }
    let all: BTreeMap<_, _> = ongoing(&run.input);
    let closed = |(name, one): (&'a Name, Ongoing<'a>)| {
        // What is handed over has its place prepared, and goes nowhere else.
        let goes_there =
            !one.transfers() && run.moves.get(name).is_some_and(|moved| moved.to == *one.to);
        let open = run.states.get(one.to).is_some_and(|c| filter::shut(c).is_empty());
        let cluster = run.input.fleet.clusters.get(name).filter(|_| goes_there && !open)?;
        Some((name.clone(), one, cluster))
    };
    all.into_iter().filter(|(name, _)| leaves(name)).filter_map(closed).collect()
}

fn go_to(run: &mut PlanRun<'_>, name: &Name, to: Binding) {
    if let Some(moved) = run.moves.get_mut(name) {
        moved.to = to.worker.clone();
    }
    if let Some(planned) = run.clusters.get_mut(name)
        && let Decision::Move { binding, .. } = &mut planned.decision
    {
        **binding = to;
    }
}

/// A move that goes nowhere: what is being deleted is made anew when a worker takes it, and what is not
/// stays.
fn end(run: &mut PlanRun<'_>, name: &Name, one: Ongoing<'_>) {
    let Some(deletion) = run.deletions.get(name).cloned() else { return };
    let begun = one.row.state == ClusterState::Deleting;
    let waits = deletion.progress == Progress::Waits;
    let stays =
        !begun || (waits && deletion::is_called_off_alone(&run.input, name, one.from, one.row));
    let worker = one.from.clone();
    let decision = if stays {
        let called_off = Deletion { progress: Progress::Cancelled, missing: None, ..deletion };
        if begun {
            run.deletions.insert(name.clone(), called_off);
        } else {
            run.deletions.remove(name);
        }
        if let Some(moved) = run.moves.get_mut(name) {
            moved.progress = MoveProgress::CalledOff;
        }
        Decision::Keep { worker }
    } else {
        run.moves.remove(name);
        run.holds.add(HoldKind::NameStillDeleting, name);
        let step = deletion.step.unwrap_or(DeletionStep::D1);
        Decision::Delete { worker, step }
    };
    if let Some(planned) = run.clusters.get_mut(name) {
        planned.decision = decision;
    }
}
