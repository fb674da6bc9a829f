//! The status of a ManagedCluster on its worker: so that `kubectl get managedclusters` tells the truth
//! there too.

use jiff::Timestamp;

use crate::model::api::{ErrorStatus, ManagedClusterStatus, NodeCounts};
use crate::model::{Condition, ConditionStatus, Name, ReportedCluster};

/// The status, given what the object says now. The time of a condition that has not changed stays.
pub(super) fn of(
    worker: &Name,
    cluster: &ReportedCluster,
    generation: i64,
    before: Option<&Condition>,
    now: Timestamp,
) -> ManagedClusterStatus {
    let mut conditions = vec![ready(cluster, generation, before, now)];
    conditions.extend(cluster.conditions.iter().cloned());
    ManagedClusterStatus {
        phase: Some(cluster.phase.clone()),
        assigned_worker: Some(worker.to_string()),
        errors: cluster
            .errors
            .iter()
            .map(|error| ErrorStatus {
                code: error.code.clone(),
                message: error.message.clone(),
                user_error: error.user_error,
            })
            .collect(),
        conditions,
        version: cluster.version.clone(),
        endpoint: cluster.endpoint.clone(),
        nodes: cluster.nodes.map(|n| NodeCounts { desired: n.desired, ready: n.ready }),
        observed_generation: Some(generation),
    }
}

fn ready(
    cluster: &ReportedCluster,
    generation: i64,
    before: Option<&Condition>,
    now: Timestamp,
) -> Condition {
    let status = match cluster.phase.as_str() {
        "Running" | "Updating" => ConditionStatus::True,
        _ => ConditionStatus::False,
    };
    let message = if status == ConditionStatus::True {
        String::new()
    } else {
        cluster.errors.first().map(|error| error.message.clone()).unwrap_or_default()
    };
    let since = before
        .filter(|before| before.status == status)
        .and_then(|before| before.last_transition_time.clone());
    Condition {
        kind: "Ready".to_owned(),
        status,
        reason: cluster.phase.clone(),
        message,
        last_transition_time: Some(since.unwrap_or_else(|| seconds(now))),
        observed_generation: Some(generation),
    }
}

/// A time as Kubernetes writes it: to the second.
fn seconds(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(phase: &str) -> ReportedCluster {
        ReportedCluster {
            name: Name::parse("a").unwrap(),
            uid: None,
            digest: None,
            phase: phase.to_owned(),
            version: None,
            endpoint: None,
            nodes: None,
            conditions: Vec::new(),
            errors: Vec::new(),
            present: Vec::new(),
        }
    }

    fn ready_of(phase: &str, before: Option<&Condition>, second: i64) -> Condition {
        let worker = Name::parse("w1").unwrap();
        let now = Timestamp::from_second(second).unwrap();
        of(&worker, &cluster(phase), 1, before, now).conditions.remove(0)
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
}
