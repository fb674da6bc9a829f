//! Whether a worker takes what comes to it from another one.

use super::{PlanInput, unloaded};
use crate::model::api::Observation;
use crate::model::{Name, Worker, WorkerHealth};

/// Whether a worker takes anything new, as the filters `ready` and `schedulable` say it.
pub(super) fn is_open(input: &PlanInput<'_>, name: &Name) -> bool {
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
