//! The status of one Worker.

use super::deletion;
use super::kept::{kept_errors, rendered};
use super::own_cluster::OwnCluster;
use super::{
    DataStoreUse, STATUS_SCHEMA, StatusInput, WorkerDocument, condition, drifted, moving, since,
};
use crate::model::api::{ErrorStatus, Observation, WorkerStatus};
use crate::model::{
    Condition, ConditionReason, ConditionStatus, ConditionType, FoldedReport, Freshness, Name,
    Pending, Quantity, Resources, WorkerHealth, WorkerPhase, WorkerPlan, WorkerState, count,
};

/// The status document of a worker, the times of its conditions unset. `used` are the data stores of the clusters.
#[must_use]
pub fn worker_status(
    input: StatusInput<'_>,
    name: &Name,
    used: &DataStoreUse,
) -> Option<WorkerDocument> {
    let planned = input.plan.workers.get(name)?;
    let desired = input.fleet.workers.get(name);
    let observation = desired.map(|w| w.spec.observation).unwrap_or_default();
    let report = input.observed.workers.get(name);
    let health = input.observed.health(name);
    let own = OwnCluster::of(input, name);
    let phase = phase(planned.state, observation, &health);
    let heard = observation == Observation::Agent;
    let phase = own.map_or(phase, |own| own.phase(phase, heard));
    let draining = desired.is_some_and(|w| w.spec.is_draining());
    let drains = draining && phase == WorkerPhase::Running;
    let phase = if drains { WorkerPhase::Draining } else { phase };
    let cordoned = desired.is_some_and(|w| w.spec.unschedulable);
    let status = WorkerStatus {
        phase: Some(phase.name().to_owned()),
        errors: errors(input, name, planned, report, own),
        conditions: [
            since(ready(phase, observation, &health), report.map(ready_since)),
            schedulable(planned.state, cordoned, draining),
            capacity(planned),
            rendered(input, name, true),
        ]
        .into_iter()
        .chain(own.map(OwnCluster::condition))
        .chain(drifted(input, name))
        .chain(refused(input, name))
        .chain(moving::drained(input, name))
        .chain(deletion::conditions(input, name, input.plan.retirements.get(name)))
        .collect(),
        capacity: planned.capacity.clone(),
        allocated: planned.allocated.clone(),
        available_capacity: available(planned),
        fresh_since: report
            .filter(|r| r.freshness == Freshness::Fresh)
            .map(|r| r.freshness_since.to_string()),
        applied_revision: report.and_then(|r| r.applied_revision.clone()),
        components: report.map(|r| r.components.clone()).unwrap_or_default(),
        data_stores: used.on(input.fleet, name),
        observed_generation: None,
    };
    Some(WorkerDocument {
        schema_version: STATUS_SCHEMA,
        kind: "Worker".to_owned(),
        name: name.clone(),
        facts: desired.map(|w| w.facts),
        status,
    })
}

/// The word of a report for a worker whose layers below the clusters were not all applied once: it is
/// still being made.
const BEING_MADE: &str = "LayerNotApplied";

/// `Pending` until it reports, `Provisioning` until all below the clusters was applied once, `Running`;
/// `Degraded`, `Unknown` while it is silent, `Terminating`. Without an agent there is nothing to know, so
/// such a worker counts as running.
fn phase(state: WorkerState, observation: Observation, health: &WorkerHealth) -> WorkerPhase {
    match (state, observation, health) {
        (WorkerState::Retiring, _, _) => WorkerPhase::Terminating,
        (_, Observation::None, _) | (_, _, WorkerHealth::Healthy) => WorkerPhase::Running,
        (_, _, WorkerHealth::NeverReported) => WorkerPhase::Pending,
        (_, _, WorkerHealth::Unhealthy { reason }) if reason == BEING_MADE => {
            WorkerPhase::Provisioning
        }
        (_, _, WorkerHealth::Unhealthy { .. }) => WorkerPhase::Degraded,
        (_, _, WorkerHealth::Silent { .. }) => WorkerPhase::Unknown,
    }
}

fn ready(phase: WorkerPhase, observation: Observation, health: &WorkerHealth) -> Condition {
    if observation == Observation::None {
        return condition(
            ConditionType::Ready,
            ConditionStatus::Unknown,
            ConditionReason::NotObserved,
            String::new(),
        );
    }
    match health {
        WorkerHealth::Healthy => {
            condition(ConditionType::Ready, ConditionStatus::True, phase, String::new())
        }
        WorkerHealth::NeverReported => condition(
            ConditionType::Ready,
            ConditionStatus::Unknown,
            ConditionReason::NeverReported,
            "no report of the worker's agent has come yet".to_owned(),
        ),
        WorkerHealth::Silent { since } => {
            let message = format!("no report since {since}");
            condition(
                ConditionType::Ready,
                ConditionStatus::Unknown,
                ConditionReason::Silent,
                message,
            )
        }
        WorkerHealth::Unhealthy { reason } => {
            condition(ConditionType::Ready, ConditionStatus::False, reason, String::new())
        }
    }
}

/// Since when a worker's reports say what they say: the later of two transitions.
fn ready_since(report: &FoldedReport) -> jiff::Timestamp {
    match report.freshness {
        Freshness::Fresh => report.freshness_since.max(report.healthy_since),
        Freshness::Silent => report.freshness_since,
    }
}

fn schedulable(state: WorkerState, cordoned: bool, draining: bool) -> Condition {
    let (status, reason) = match state {
        WorkerState::Desired if draining => (ConditionStatus::False, ConditionReason::Draining),
        WorkerState::Desired if cordoned => (ConditionStatus::False, ConditionReason::Cordoned),
        WorkerState::Desired => (ConditionStatus::True, ConditionReason::Schedulable),
        WorkerState::NotLoaded => (ConditionStatus::False, ConditionReason::NotLoaded),
        WorkerState::RemovedInUse => (ConditionStatus::False, ConditionReason::RemovedInUse),
        WorkerState::Retiring => (ConditionStatus::False, ConditionReason::Retiring),
        WorkerState::Kept => (ConditionStatus::False, ConditionReason::FolderKept),
    };
    condition(ConditionType::Schedulable, status, reason, String::new())
}

/// Lowering a worker's capacity below its use evicts nobody; it is said here, as it is said that a worker
/// has to grow for what was placed there.
fn capacity(planned: &WorkerPlan) -> Condition {
    let over: Vec<String> = planned
        .allocated
        .keys()
        .filter(|r| planned.free(r).is_some_and(Quantity::is_negative))
        .map(|r| {
            let of = |m: &Resources| m.get(r).copied().unwrap_or_default();
            let used = format!("{r} {}/{}", of(&planned.allocated), of(&planned.capacity));
            let ceiling = planned.ceiling.get(r).map(|ceiling| format!(", up to {ceiling}"));
            used + &ceiling.unwrap_or_default()
        })
        .collect();
    let grows = |r: &String| !planned.room(r).is_some_and(Quantity::is_negative);
    if over.is_empty() {
        condition(
            ConditionType::CapacityRespected,
            ConditionStatus::True,
            ConditionReason::Within,
            String::new(),
        )
    } else if planned.allocated.keys().all(grows) {
        condition(
            ConditionType::CapacityRespected,
            ConditionStatus::True,
            ConditionReason::Growing,
            over.join(", "),
        )
    } else {
        condition(
            ConditionType::CapacityRespected,
            ConditionStatus::False,
            ConditionReason::Overcommitted,
            over.join(", "),
        )
    }
}

fn available(planned: &WorkerPlan) -> Resources {
    let free = |resource: &String| planned.free(resource).map(|q| (resource.clone(), q));
    planned.capacity.keys().filter_map(free).collect()
}

/// Whether the worker's reports of now do not count. Without such a report there is no such condition.
fn refused(input: StatusInput<'_>, name: &Name) -> Option<Condition> {
    let refusal = input.observed.refused.get(name)?;
    let message = refusal.words().to_owned();
    Some(condition(ConditionType::ReportRefused, ConditionStatus::True, refusal.name(), message))
}

fn errors(
    input: StatusInput<'_>,
    name: &Name,
    planned: &WorkerPlan,
    report: Option<&FoldedReport>,
    own: Option<OwnCluster<'_>>,
) -> Vec<ErrorStatus> {
    let mut all = kept_errors(input, name);
    if planned.state == WorkerState::RemovedInUse {
        all.push(ErrorStatus {
            code: "WorkerInUse".to_owned(),
            message: format!(
                "its document is gone and it still has {}",
                count(planned.clusters, "cluster")
            ),
            user_error: true,
        });
    }
    if planned.pending == Some(Pending::Overdue) {
        all.push(ErrorStatus {
            code: "WorkerProvisionTimeout".to_owned(),
            message: "its pool made it, and it is not running in time".to_owned(),
            user_error: false,
        });
    }
    if let Some(report) = report.filter(|r| !r.healthy) {
        all.push(ErrorStatus {
            code: report.reason.clone().unwrap_or_else(|| "NotHealthy".to_owned()),
            message: report.message.clone().unwrap_or_default(),
            user_error: false,
        });
    }
    all.extend(own.into_iter().flat_map(OwnCluster::errors));
    all
}
