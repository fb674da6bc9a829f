//! One planning cycle, from the workers as the last run left them to the last decision. The steps stand here; what
//! each does stands in a room of its own.

use super::assign::{PlanRun, Refused};
use super::resize::Resizes;
use super::{PlanInput, moving};

/// Decides about everything that has a place already, begins the moves that come before anything is placed, and
/// lines up the rest.
pub(super) fn begin<'a>(input: &PlanInput<'a>) -> PlanRun<'a> {
    let (mut run, resizes) = PlanRun::of_placed(input);
    settle(&mut run, resizes);
    moving::begin(&mut run);
    moving::rebalance(&mut run);
    run
}

/// Serves the queue to its end.
pub(super) fn finish(run: &mut PlanRun<'_>) {
    let refused = decide(run);
    conclude(run, refused);
}

/// Decides who of the queue is given a worker, and returns those that are not; `None` where nobody is.
pub(super) fn decide<'a>(run: &mut PlanRun<'a>) -> Option<Vec<Refused<'a>>> {
    if run.input.fleet.holds_placements() {
        return None;
    }
    let refused = run.serve(None);
    moving::begin_for_violations(run);
    Some(refused)
}

/// Says of each cluster of the queue what was decided.
pub(super) fn conclude<'a>(run: &mut PlanRun<'a>, refused: Option<Vec<Refused<'a>>>) {
    match refused {
        Some(refused) => run.refuse(refused),
        None => run.hold_placements(),
    }
    moving::note_together(run);
}

/// Decides what the placed clusters take, and where moves go whose target takes nothing any more: each may free
/// what the other waits for.
fn settle<'a>(run: &mut PlanRun<'a>, mut resizes: Resizes<'a>) {
    resizes.settle(&run.input, &mut run.states);
    while moving::choose_again(run) {
        resizes.settle(&run.input, &mut run.states);
    }
    moving::give_up(run);
    for (name, resized) in resizes.into_settled() {
        if let Some(planned) = run.clusters.get_mut(&name) {
            planned.demand = resized.demand;
            planned.resize_blocked = resized.blocked;
        }
    }
}
