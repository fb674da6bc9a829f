//! Ready: a worker that is observed by its agent takes new clusters while a fresh report says that it
//! is well. One that is not observed is always ready, but for what is handed over, which goes by reports. The filter
//! never moves what is there.
//!
//! One that a pool is making takes what fits nowhere else, which waits there until it is running. One that
//! is not running in time takes nothing.

use crate::model::{Pending, Reason, WorkerHealth};
use crate::plan::candidate::{Candidate, MoveKind, Request};
use crate::plan::depends_on::DependsOn;

pub(super) const READS: &[DependsOn] = &[DependsOn::Health, DependsOn::Pending];

pub(super) fn refuse(request: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    let transfers = request.leaving.is_some_and(|leaving| leaving.how == MoveKind::Transfer);
    if transfers && candidate.health.is_none() {
        reasons.push(Reason::NeverReported);
    }
    of_worker(candidate, reasons);
}

/// Adds why a worker is not ready, for any cluster.
pub(super) fn of_worker(candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    match candidate.plan.pending {
        Some(Pending::Overdue) => return reasons.push(Reason::ProvisionTimeout),
        Some(Pending::Awaited) if candidate.reserving => return,
        Some(Pending::Awaited) | None => {}
    }
    reasons.extend(match &candidate.health {
        None | Some(WorkerHealth::Healthy) => None,
        Some(WorkerHealth::NeverReported) => Some(Reason::NeverReported),
        Some(WorkerHealth::Silent { since }) => Some(Reason::Silent { since: *since }),
        Some(WorkerHealth::Unhealthy { reason }) => {
            Some(Reason::Unhealthy { reason: reason.into() })
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::plan::world::check;

    #[test]
    fn an_observed_worker_is_ready_when_a_fresh_report_says_so() {
        check("worker w1 agent:healthy; cluster a", "a -> w1");
        check("worker w1 agent:silent; cluster a", "a waits Silent");
        check("worker w1 agent:unhealthy; cluster a", "a waits Unhealthy");
        check("worker w1 agent; cluster a", "a waits NeverReported");
    }

    #[test]
    fn a_worker_that_is_not_observed_is_ready() {
        check("worker w1; cluster a", "a -> w1");
        check("worker w1 report:silent; cluster a", "a -> w1");
        check("worker w1 report:unhealthy; cluster a", "a -> w1");
    }

    #[test]
    fn a_worker_that_falls_silent_keeps_its_clusters() {
        check("worker w1 agent:silent; worker w2; cluster a on=w1", "a on w1");
    }
}
