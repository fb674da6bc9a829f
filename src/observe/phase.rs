//! The phase of a cluster, from its conditions.
//!
//! `status.phase` of a `Cluster` is not read: Cluster API says that software must not interpret it, and
//! its `Provisioned` is not "ready" (cluster-api v1.14, `api/core/v1beta2/cluster_types.go`).

use jiff::Timestamp;

use super::object::ObservedObject;

/// The phases that a report names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportedPhase {
    /// It is applied, and Cluster API has not made anything of it.
    Pending,
    /// Something of it is not there for the first time yet.
    Provisioning,
    /// It is available and as desired.
    Running,
    /// It is available and on its way to what is desired.
    Updating,
    /// It was available and is not.
    Degraded,
    /// Its deletion has begun.
    Deleting,
}

impl ReportedPhase {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Provisioning => "Provisioning",
            Self::Running => "Running",
            Self::Updating => "Updating",
            Self::Degraded => "Degraded",
            Self::Deleting => "Deleting",
        }
    }

    /// The phase of a `Cluster`. Whether it was available before is not in its conditions; the status
    /// of the ManagedCluster, which the agent itself writes, remembers it.
    pub(super) fn of(cluster: Option<&ObservedObject>, managed: Option<&ObservedObject>) -> Self {
        let Some(cluster) = cluster else {
            return if managed.is_some_and(ObservedObject::is_deleting) {
                Self::Deleting
            } else {
                Self::Pending
            };
        };
        if cluster.is_deleting() || cluster.is_true("Deleting") {
            return Self::Deleting;
        }
        if cluster.is_true("Available") {
            return if is_changing(cluster) { Self::Updating } else { Self::Running };
        }
        if was_available(managed) && is_initialized(cluster) {
            return Self::Degraded;
        }
        if cluster.status.conditions.is_empty() { Self::Pending } else { Self::Provisioning }
    }
}

impl ReportedPhase {
    /// Since when a cluster is in its phase: the last time at which a condition changed that the phase
    /// follows from. `None` where that is not said, or where the phase follows from no condition.
    pub(super) fn since(self, cluster: Option<&ObservedObject>) -> Option<Timestamp> {
        let cluster = cluster?;
        let of = |kinds: &[&str]| kinds.iter().filter_map(|kind| cluster.since(kind)).max();
        match self {
            Self::Degraded => of(&["Available"]),
            Self::Running => of(&["Available"]).max(of(&CHANGES)),
            Self::Updating if cluster.is_observed() => {
                let changing: Vec<_> =
                    CHANGES.into_iter().filter(|kind| cluster.is_true(kind)).collect();
                of(&["Available"]).max(of(&changing))
            }
            _ => None,
        }
    }
}

/// The conditions of a cluster on its way to what is desired.
const CHANGES: [&str; 3] = ["RollingOut", "ScalingUp", "ScalingDown"];

fn is_changing(cluster: &ObservedObject) -> bool {
    !cluster.is_observed() || CHANGES.iter().any(|kind| cluster.is_true(kind))
}

fn is_initialized(cluster: &ObservedObject) -> bool {
    let begun = cluster.status.initialization.as_ref();
    begun.is_some_and(|i| i.infrastructure_provisioned && i.control_plane_initialized)
}

fn was_available(managed: Option<&ObservedObject>) -> bool {
    let phase = managed.and_then(|m| m.status.phase.as_deref());
    matches!(phase, Some("Running" | "Updating" | "Degraded"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn cluster(status: Value) -> ObservedObject {
        let metadata = json!({"name": "a", "namespace": "a", "generation": 3});
        serde_json::from_value(json!({"metadata": metadata, "status": status})).unwrap()
    }

    fn conditions(all: &[(&str, &str)]) -> Value {
        let all = all.iter().map(|(kind, status)| json!({"type": kind, "status": status}));
        json!({
            "observedGeneration": 3,
            "initialization": {"infrastructureProvisioned": true, "controlPlaneInitialized": true},
            "conditions": all.collect::<Vec<_>>(),
        })
    }

    fn managed(phase: &str) -> ObservedObject {
        serde_json::from_value(json!({"status": {"phase": phase}})).unwrap()
    }

    fn phase(all: &[(&str, &str)], before: &str) -> &'static str {
        ReportedPhase::of(Some(&cluster(conditions(all))), Some(&managed(before))).name()
    }

    #[test]
    fn a_cluster_is_what_its_conditions_say() {
        assert_eq!(phase(&[("Available", "True")], "Provisioning"), "Running");
        assert_eq!(phase(&[("Available", "True"), ("RollingOut", "True")], "Running"), "Updating");
        assert_eq!(phase(&[("Available", "True"), ("ScalingUp", "True")], "Running"), "Updating");
        assert_eq!(phase(&[("Available", "True"), ("Deleting", "True")], "Running"), "Deleting");
    }

    #[test]
    fn what_was_never_available_is_provisioning_and_not_degraded() {
        for unavailable in ["False", "Unknown"] {
            assert_eq!(phase(&[("Available", unavailable)], "Provisioning"), "Provisioning");
            assert_eq!(phase(&[("Available", unavailable)], "Running"), "Degraded");
            assert_eq!(phase(&[("Available", unavailable)], "Degraded"), "Degraded", "it stays so");
        }
    }

    #[test]
    fn a_status_of_an_older_generation_is_on_its_way() {
        let mut old = conditions(&[("Available", "True")]);
        old["observedGeneration"] = json!(2);
        assert_eq!(ReportedPhase::of(Some(&cluster(old)), None), ReportedPhase::Updating);
    }

    #[test]
    fn a_phase_holds_since_the_last_change_of_what_it_follows_from() {
        let at = |kind: &str, status: &str, minute: u32| {
            let time = format!("2026-11-01T08:{minute:02}:00Z");
            json!({"type": kind, "status": status, "lastTransitionTime": time})
        };
        let since = |all: Vec<Value>, before: &str| {
            let mut status = conditions(&[]);
            status["conditions"] = all.into();
            let cluster = cluster(status);
            let phase = ReportedPhase::of(Some(&cluster), Some(&managed(before)));
            let since = phase.since(Some(&cluster)).map(|t| t.to_string());
            (phase.name(), since.map(|t| t[14..16].to_owned()))
        };
        let minute = |text: &str| Some(text.to_owned());
        let rolled = vec![at("Available", "True", 1), at("RollingOut", "False", 7)];
        assert_eq!(since(rolled, "Running"), ("Running", minute("07")));
        let rolls = vec![
            at("Available", "True", 1),
            at("RollingOut", "True", 3),
            at("ScalingUp", "False", 9),
        ];
        assert_eq!(since(rolls, "Running"), ("Updating", minute("03")));
        let down = vec![at("Available", "False", 5), at("ScalingUp", "True", 9)];
        assert_eq!(
            since(down.clone(), "Running"),
            ("Degraded", minute("05")),
            "what it scales is no news"
        );
        assert_eq!(since(down, "Provisioning"), ("Provisioning", None), "that goes one way");
        let untold = vec![json!({"type": "Available", "status": "True"})];
        assert_eq!(since(untold, "Running"), ("Running", None));
    }

    #[test]
    fn without_a_cluster_there_is_nothing_yet_or_nothing_any_more() {
        assert_eq!(ReportedPhase::of(None, Some(&managed("Running"))), ReportedPhase::Pending);
        let going = json!({"metadata": {"deletionTimestamp": "2026-11-01T00:00:00Z"}});
        let going: ObservedObject = serde_json::from_value(going).unwrap();
        assert_eq!(ReportedPhase::of(None, Some(&going)), ReportedPhase::Deleting);
        assert_eq!(ReportedPhase::of(Some(&going), None), ReportedPhase::Deleting);
    }

    #[test]
    fn a_cluster_without_conditions_is_pending() {
        assert_eq!(
            ReportedPhase::of(Some(&cluster(json!({}))), Some(&managed("Running"))),
            ReportedPhase::Pending
        );
    }
}
