//! Schedulable: a worker takes nothing new while it is cordoned or drained, while its document did not load, and
//! once its document is gone.

use crate::model::{Reason, WorkerState};
use crate::plan::candidate::{Candidate, Request};
use crate::plan::depends_on::DependsOn;

pub(super) const READS: &[DependsOn] = &[DependsOn::State, DependsOn::Cordon, DependsOn::Drain];

pub(super) fn refuse(_: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    of_worker(candidate, reasons);
}

/// Adds why a worker is not schedulable, for any cluster.
pub(super) fn of_worker(candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    reasons.extend(match candidate.plan.state {
        WorkerState::Desired => None,
        WorkerState::NotLoaded => Some(Reason::NotLoaded),
        WorkerState::Kept => Some(Reason::FolderKept),
        WorkerState::RemovedInUse | WorkerState::Retiring => Some(Reason::BeingRemoved),
    });
    if candidate.worker.is_some_and(|w| w.spec.unschedulable) {
        reasons.push(Reason::Cordoned);
    }
    if candidate.worker.is_some_and(|w| w.spec.is_draining()) {
        reasons.push(Reason::Draining);
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::world::check;

    #[test]
    fn a_cordoned_worker_takes_nothing_new_and_keeps_what_it_has() {
        check("worker w1 cordoned; cluster a", "a waits Cordoned");
        check("worker w1 cordoned; worker w2; cluster a on=w1; cluster b", "a on w1; b -> w2");
    }

    #[test]
    fn a_drained_worker_takes_nothing_new_and_what_cannot_move_stays() {
        check("worker w1 drain; cluster a", "a waits Draining");
        check("worker w1 drain; worker w2; cluster a on=w1; cluster b", "a on w1; b -> w2");
        check("worker w1 drain cordoned; cluster a", "a waits Cordoned Draining");
    }

    #[test]
    fn a_worker_that_did_not_load_takes_nothing_new_and_keeps_what_it_has() {
        check(
            "worker w1 broken; cluster a on=w1; cluster b",
            "a on w1; b waits NotLoaded; worker w1 NotLoaded",
        );
    }

    #[test]
    fn a_worker_whose_document_is_gone_takes_nothing_new_and_keeps_what_it_has() {
        check(
            "worker w1 gone; cluster a on=w1; cluster b",
            "a on w1; b waits BeingRemoved; worker w1 RemovedInUse; hold WorkerInUse w1",
        );
    }

    #[test]
    fn a_broken_overlay_may_be_a_cordon() {
        check(
            "worker w1; cluster a; unloaded WorkerOverlay w1",
            "a waits NotLoaded CapacityUnknown; worker w1 NotLoaded",
        );
    }
}
