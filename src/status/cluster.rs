//! The status of one ManagedCluster: conditions carry the truth, the phase sums them up.

use super::data_store::data_store;
use super::deletion;
use super::kept::{kept_errors, rendered};
use super::proposed::proposed;
use super::{ClusterDocument, STATUS_SCHEMA, StatusInput, condition, drifted, moving, since};
use crate::model::api::{ErrorStatus, ManagedClusterStatus, NodeCounts, Observation};
use crate::model::{
    ClusterPhase, ClusterPlan, Condition, ConditionReason, ConditionStatus, ConditionType,
    Decision, FoldedCluster, Freshness, Hold, HoldKind, Name, ReasonCode, VersionStep,
};

/// The status document of a cluster, the times of its conditions unset. `None` for one that is gone.
#[must_use]
pub fn cluster_status(input: StatusInput<'_>, name: &Name) -> Option<ClusterDocument> {
    let planned = input.plan.clusters.get(name)?;
    let proposed = proposed(input, name, &planned.decision);
    if planned.decision == Decision::Forget && proposed.is_none() {
        return None;
    }
    let adopted = planned.decision.reserved().filter(|_| planned.is_adopted());
    let adopted = adopted.map(|worker| Decision::Keep { worker: worker.clone() });
    let counts = proposed.as_ref().map(|(counts, _)| counts).or(adopted.as_ref());
    let decision = counts.unwrap_or(&planned.decision);
    let worker = decision.worker();
    let report = worker.and_then(|w| input.observed.workers.get(w));
    let silent = report.is_some_and(|r| r.freshness == Freshness::Silent);
    let seen = report.and_then(|r| r.clusters.get(name));
    let step = planned.version.as_deref();
    let phase = phase(decision, seen, silent, step);
    let status = ManagedClusterStatus {
        phase: Some(phase.name().to_owned()),
        assigned_worker: worker.map(ToString::to_string),
        errors: errors(input, name, seen),
        conditions: [
            since(
                ready(phase, seen, is_observed(input, worker), silent),
                seen.filter(|_| !silent).map(|s| s.since),
            ),
            match &proposed {
                Some((_, condition)) => condition.clone(),
                None => placed(planned, input, name),
            },
            rendered(input, name, !matches!(decision, Decision::Wait { .. })),
        ]
        .into_iter()
        .chain(step.map(updating))
        .chain(drifted(input, name))
        .chain(moving::conditions(input, name))
        .chain(deletion::conditions(input, name, input.plan.deletion(name)))
        .collect(),
        version: seen.and_then(|s| s.version.clone()),
        endpoint: seen.and_then(|s| s.endpoint.clone()),
        nodes: seen
            .and_then(|s| s.nodes)
            .map(|n| NodeCounts { desired: n.desired, ready: n.ready }),
        data_store: data_store(input, name, decision).map(ToOwned::to_owned),
        observed_generation: None,
    };
    Some(ClusterDocument {
        schema_version: STATUS_SCHEMA,
        kind: "ManagedCluster".to_owned(),
        name: name.clone(),
        facts: input.fleet.clusters.get(name).map(|c| c.facts),
        status,
    })
}

/// `Pending → Scheduled → Provisioning → Running`, plus `Updating`, `Degraded`, `Deleting`, `Unknown`. A
/// cluster that runs and is on its way to another version is `Updating`, also between two steps.
fn phase(
    decision: &Decision,
    seen: Option<&FoldedCluster>,
    silent: bool,
    step: Option<&VersionStep>,
) -> ClusterPhase {
    match (decision, seen) {
        (Decision::Wait { .. } | Decision::Forget, _) => ClusterPhase::Pending,
        (Decision::Delete { .. } | Decision::Move { step: Some(_), .. }, _) => {
            ClusterPhase::Deleting
        }
        (_, Some(_)) if silent => ClusterPhase::Unknown,
        (_, None) => ClusterPhase::Scheduled,
        (_, Some(seen)) => match ClusterPhase::reported(&seen.phase) {
            ClusterPhase::Running if step.is_some() => ClusterPhase::Updating,
            ClusterPhase::Pending => ClusterPhase::Provisioning,
            // Only carp knows of a place that nobody has reported.
            ClusterPhase::Scheduled => ClusterPhase::Unknown,
            same => same,
        },
    }
}

/// Whether anybody looks at a cluster on that worker.
fn is_observed(input: StatusInput<'_>, worker: Option<&Name>) -> bool {
    let worker = worker.and_then(|worker| input.fleet.workers.get(worker));
    worker.is_none_or(|worker| worker.spec.observation == Observation::Agent)
}

fn ready(
    phase: ClusterPhase,
    seen: Option<&FoldedCluster>,
    observed: bool,
    silent: bool,
) -> Condition {
    if phase == ClusterPhase::Scheduled && !observed {
        let message = "its worker has no agent, so nobody reports it".to_owned();
        return condition(
            ConditionType::Ready,
            ConditionStatus::Unknown,
            ConditionReason::NotObserved,
            message,
        );
    }
    let (status, message) = match phase {
        _ if phase.is_available() => (ConditionStatus::True, String::new()),
        ClusterPhase::Unknown if silent => {
            (ConditionStatus::Unknown, "the worker's reports stopped".to_owned())
        }
        ClusterPhase::Unknown => {
            (ConditionStatus::Unknown, "its worker reports an unknown phase".to_owned())
        }
        _ => {
            let error = seen.and_then(|s| s.errors.first());
            (ConditionStatus::False, error.map(|e| e.message.clone()).unwrap_or_default())
        }
    };
    condition(ConditionType::Ready, status, phase, message)
}

/// Where a cluster is on its way to the desired version. Without such a way there is no such condition.
fn updating(step: &VersionStep) -> Condition {
    let message = format!("{}; {}", step.words(), step.waits_words());
    condition(ConditionType::Updating, ConditionStatus::True, step.waits.name(), message)
}

fn placed(planned: &ClusterPlan, input: StatusInput<'_>, name: &Name) -> Condition {
    let deletion_held = |kind| {
        let names = |h: &Hold| h.names.binary_search_by(|held| held.as_str().cmp(name)).is_ok();
        input.plan.holds.iter().any(|hold| hold.kind == kind && names(hold))
    };
    match &planned.decision {
        Decision::Wait { reasons, .. } => condition(
            ConditionType::Placed,
            ConditionStatus::False,
            ConditionReason::NoWorkerFits,
            ReasonCode::sentence(reasons),
        ),
        Decision::Delete { worker, step } => condition(
            ConditionType::Placed,
            ConditionStatus::True,
            ConditionReason::Deleting,
            format!("{step:?} is committed; the next step waits for a report of {worker}"),
        ),
        Decision::Move { binding, .. } if !planned.is_adopted() => {
            let message = format!("its place on {} is kept", binding.worker);
            condition(
                ConditionType::Placed,
                ConditionStatus::True,
                ConditionReason::Moving,
                message,
            )
        }
        _ if deletion_held(HoldKind::DeletionPolicyUnset) => condition(
            ConditionType::Placed,
            ConditionStatus::True,
            ConditionReason::DeletionHeld,
            "its document is gone and its deletionPolicy was unset".to_owned(),
        ),
        _ if deletion_held(HoldKind::MassDeletion) || deletion_held(HoldKind::DeletionsHeld) => {
            let message = "its document is gone and a guard holds the deletion".to_owned();
            condition(
                ConditionType::Placed,
                ConditionStatus::True,
                ConditionReason::DeletionHeld,
                message,
            )
        }
        _ => condition(
            ConditionType::Placed,
            ConditionStatus::True,
            ConditionReason::Bound,
            String::new(),
        ),
    }
}

fn errors(input: StatusInput<'_>, name: &Name, seen: Option<&FoldedCluster>) -> Vec<ErrorStatus> {
    let reported = seen.into_iter().flat_map(|s| &s.errors).map(|error| ErrorStatus {
        code: error.code.clone(),
        message: error.message.clone(),
        user_error: error.user_error,
    });
    kept_errors(input, name).into_iter().chain(reported).collect()
}
