//! The status of what carp wrote: of a ManagedCluster on its worker, and of a Worker on the control-plane
//! cluster, so that `kubectl get` tells the truth there too.

use jiff::Timestamp;
use serde_json::Value;

use crate::model::api::{ErrorStatus, ManagedClusterStatus, NodeCounts, WorkerStatus};
use crate::model::{
    ClusterPhase, Condition, ConditionStatus, ConditionType, Name, ReportedCluster, WorkerPhase,
};
use crate::observe::ObservedKind;

/// What a status is made of.
pub(super) struct StatusInputs<'a> {
    /// What the report says.
    pub(super) cluster: &'a ReportedCluster,
    /// The generation of the object that gets the status.
    pub(super) generation: i64,
    /// Its condition `Ready` as it stands. The time of one that has not changed stays.
    pub(super) before: Option<&'a Condition>,
    /// The time.
    pub(super) now: Timestamp,
}

/// The status of an object of a kind. `by` is who reports: the worker that a ManagedCluster is on.
///
/// # Errors
/// Never in practice: a status serialises to JSON.
pub(super) fn of(
    kind: ObservedKind,
    by: &Name,
    seen: &StatusInputs<'_>,
) -> serde_json::Result<Value> {
    match kind {
        ObservedKind::Worker => serde_json::to_value(of_worker(seen)),
        _ => serde_json::to_value(of_cluster(by, seen)),
    }
}

fn of_cluster(worker: &Name, seen: &StatusInputs<'_>) -> ManagedClusterStatus {
    let cluster = seen.cluster;
    ManagedClusterStatus {
        phase: Some(cluster.phase.clone()),
        assigned_worker: Some(worker.to_string()),
        errors: errors(cluster),
        conditions: conditions(seen, &cluster.phase),
        version: cluster.version.clone(),
        endpoint: cluster.endpoint.clone(),
        nodes: cluster.nodes.map(|n| NodeCounts { desired: n.desired, ready: n.ready }),
        data_store: None,
        observed_generation: Some(seen.generation),
    }
}

/// The status of a worker as far as its own cluster goes; what runs on it its own agent says, and the
/// whole of it stands on the status branch.
fn of_worker(seen: &StatusInputs<'_>) -> WorkerStatus {
    let phase = match seen.cluster.phase.as_str() {
        word if word == ClusterPhase::Updating.name() => WorkerPhase::Running.name(),
        word if word == ClusterPhase::Deleting.name() => WorkerPhase::Terminating.name(),
        same => same,
    };
    WorkerStatus {
        phase: Some(phase.to_owned()),
        errors: errors(seen.cluster),
        conditions: conditions(seen, phase),
        observed_generation: Some(seen.generation),
        ..WorkerStatus::default()
    }
}

fn errors(cluster: &ReportedCluster) -> Vec<ErrorStatus> {
    let told = cluster.errors.iter().map(|error| ErrorStatus {
        code: error.code.clone(),
        message: error.message.clone(),
        user_error: error.user_error,
    });
    told.collect()
}

fn conditions(seen: &StatusInputs<'_>, phase: &str) -> Vec<Condition> {
    let mut all = vec![ready(seen, phase)];
    all.extend(seen.cluster.conditions.iter().cloned());
    all
}

fn ready(seen: &StatusInputs<'_>, phase: &str) -> Condition {
    let status = if ClusterPhase::reported(phase).is_available() {
        ConditionStatus::True
    } else {
        ConditionStatus::False
    };
    let message = if status == ConditionStatus::True {
        String::new()
    } else {
        seen.cluster.errors.first().map(|error| error.message.clone()).unwrap_or_default()
    };
    let since = seen
        .before
        .filter(|before| before.status == status)
        .and_then(|before| before.last_transition_time.clone());
    Condition {
        kind: ConditionType::Ready.name().to_owned(),
        status,
        reason: phase.to_owned(),
        message,
        last_transition_time: Some(since.unwrap_or_else(|| seconds(seen.now))),
        observed_generation: Some(seen.generation),
    }
}

/// A time as Kubernetes writes it: to the second.
fn seconds(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::fixture;

    fn status(kind: ObservedKind, phase: &str, before: Option<&Condition>, second: i64) -> Value {
        let (by, cluster) = (Name::parse("w1").unwrap(), fixture::reported("a", phase));
        let now = Timestamp::from_second(second).unwrap();
        of(kind, &by, &StatusInputs { cluster: &cluster, generation: 1, before, now }).unwrap()
    }

    fn ready_of(phase: &str, before: Option<&Condition>, second: i64) -> Condition {
        let mut status = status(ObservedKind::ManagedCluster, phase, before, second);
        serde_json::from_value(status["conditions"][0].take()).unwrap()
    }

    #[test]
    fn ready_keeps_its_time_until_it_changes() {
        let first = ready_of("Running", None, 0);
        assert_eq!(first.last_transition_time.as_deref(), Some("1970-01-01T00:00:00Z"));
        let updating = ready_of("Updating", Some(&first), 60);
        assert_eq!(updating.last_transition_time, first.last_transition_time);
        assert_eq!(updating.reason, "Updating");
        let degraded = ready_of("Degraded", Some(&updating), 120);
        assert_eq!(degraded.status, ConditionStatus::False);
        assert_eq!(degraded.last_transition_time.as_deref(), Some("1970-01-01T00:02:00Z"));
    }

    #[test]
    fn a_worker_has_the_phases_of_a_worker() {
        for (cluster, worker) in [
            ("Pending", "Pending"),
            ("Provisioning", "Provisioning"),
            ("Running", "Running"),
            ("Updating", "Running"),
            ("Degraded", "Degraded"),
            ("Deleting", "Terminating"),
        ] {
            let status = status(ObservedKind::Worker, cluster, None, 0);
            assert_eq!(status["phase"], worker);
            assert_eq!(status.get("assignedWorker"), None, "it is on no worker");
        }
        assert_eq!(
            status(ObservedKind::ManagedCluster, "Updating", None, 0)["assignedWorker"],
            "w1"
        );
    }
}
