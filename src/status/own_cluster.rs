//! The cluster that a worker is, as the agent on the control-plane cluster sees it.
//!
//! A worker's own agent speaks once the worker is there; until then, and when it is lost, what is known of
//! it is what Cluster API says where it is made.

use super::{StatusInput, condition, since};
use crate::model::api::ErrorStatus;
use crate::model::{
    ClusterPhase, Condition, ConditionReason, ConditionStatus, ConditionType, FoldedCluster,
    FoldedReport, Freshness, Name, WorkerPhase,
};

/// What is known of a worker's own cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnCluster<'a> {
    report: &'a FoldedReport,
    seen: &'a FoldedCluster,
}

impl<'a> OwnCluster<'a> {
    /// `None` where the control-plane cluster has no agent, or does not know the worker: an attached one
    /// is not made there.
    pub(super) fn of(input: StatusInput<'a>, worker: &Name) -> Option<Self> {
        let control_plane = input.fleet.spec.control_plane.as_ref()?;
        let report = input.observed.workers.get(control_plane.name.as_str())?;
        Some(Self { report, seen: report.clusters.get(worker)? })
    }

    /// The worker's phase, given the one by what its own agent says: that counts where it says
    /// something.
    pub(super) fn phase(self, by_agent: WorkerPhase, heard: bool) -> WorkerPhase {
        let runs = by_agent == WorkerPhase::Running;
        let waits = by_agent == WorkerPhase::Pending || (runs && !heard);
        match ClusterPhase::reported(&self.seen.phase) {
            _ if !waits || self.is_silent() => by_agent,
            ClusterPhase::Degraded | ClusterPhase::Deleting => WorkerPhase::Degraded,
            own if own.is_available() && runs => WorkerPhase::Running,
            // It runs, and its agent was not heard of yet: its components are still to come.
            _ => WorkerPhase::Provisioning,
        }
    }

    /// Whether the cluster is available, as a condition `ClusterReady`.
    pub(super) fn condition(self) -> Condition {
        let kind = ConditionType::ClusterReady;
        if self.is_silent() {
            let (name, last) = (&self.report.worker, self.report.freshness_since);
            let message = format!("no report of the control-plane cluster {name} since {last}");
            let unknown =
                condition(kind, ConditionStatus::Unknown, ConditionReason::Silent, message);
            return since(unknown, Some(last));
        }
        let phase = self.seen.phase.as_str();
        let told = if ClusterPhase::reported(phase).is_available() {
            condition(kind, ConditionStatus::True, phase, String::new())
        } else {
            condition(kind, ConditionStatus::False, phase, self.why())
        };
        since(told, Some(self.seen.since))
    }

    /// What is wrong with it.
    pub(super) fn errors(self) -> impl Iterator<Item = ErrorStatus> + use<'a> {
        self.seen.errors.iter().map(|error| ErrorStatus {
            code: error.code.clone(),
            message: error.message.clone(),
            user_error: error.user_error,
        })
    }

    fn is_silent(self) -> bool {
        self.report.freshness == Freshness::Silent
    }

    /// The first error, or else the first condition that says why it does not hold.
    fn why(self) -> String {
        let error = self.seen.errors.first().map(|error| error.message.clone());
        let mut conditions = self.seen.conditions.iter();
        let holds_not = |c: &&Condition| c.status != ConditionStatus::True && !c.message.is_empty();
        let condition = || conditions.find(holds_not).map(|c| format!("{}: {}", c.kind, c.message));
        error.or_else(condition).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::{ControlPlaneCluster, FleetSpec};
    use crate::model::{Fleet, Observed, ReportedError, fixture};
    use crate::status::tests::Given;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    fn own(phase: &str) -> FoldedCluster {
        fixture::folded(phase, "2026-11-01T12:00:00Z".parse().unwrap())
    }

    fn by_hub(own: FoldedCluster, freshness: Freshness) -> Observed {
        let since = "2026-11-01T11:00:00Z".parse().unwrap();
        let report = FoldedReport {
            freshness,
            clusters: [(name("w"), own)].into(),
            ..fixture::folded_report("hub", since)
        };
        Observed { workers: [(name("hub"), report)].into(), ..Observed::default() }
    }

    fn fleet() -> Fleet {
        let hub = ControlPlaneCluster { name: "hub".to_owned(), ..ControlPlaneCluster::default() };
        let spec = FleetSpec { control_plane: Some(hub), ..FleetSpec::default() };
        Fleet { spec, ..Fleet::default() }
    }

    /// The phase of the worker and its condition.
    fn seen(
        own: FoldedCluster,
        freshness: Freshness,
        by_agent: WorkerPhase,
        heard: bool,
    ) -> (WorkerPhase, Condition) {
        let observed = by_hub(own, freshness);
        let given = Given { fleet: fleet(), observed, ..Given::default() };
        let input = given.input();
        let own = OwnCluster::of(input, &name("w")).unwrap();
        assert!(OwnCluster::of(input, &name("attached")).is_none());
        (own.phase(by_agent, heard), own.condition())
    }

    #[test]
    fn a_worker_that_never_reported_is_what_its_cluster_is() {
        for (own_phase, worker) in [
            ("Pending", WorkerPhase::Provisioning),
            ("Provisioning", WorkerPhase::Provisioning),
            ("Running", WorkerPhase::Provisioning),
            ("Degraded", WorkerPhase::Degraded),
            ("Deleting", WorkerPhase::Degraded),
        ] {
            let (phase, condition) =
                seen(own(own_phase), Freshness::Fresh, WorkerPhase::Pending, false);
            assert_eq!(phase, worker, "{own_phase}");
            assert_eq!(condition.reason, own_phase);
        }
    }

    #[test]
    fn a_worker_that_nobody_observes_runs_once_its_cluster_does() {
        let phase =
            |own_phase| seen(own(own_phase), Freshness::Fresh, WorkerPhase::Running, false).0;
        assert_eq!(phase("Provisioning"), WorkerPhase::Provisioning);
        assert_eq!(phase("Updating"), WorkerPhase::Running);
        assert_eq!(phase("Degraded"), WorkerPhase::Degraded);
    }

    #[test]
    fn what_the_worker_says_itself_counts_more() {
        use WorkerPhase::{Degraded, Running, Terminating, Unknown};
        for by_agent in [Running, Degraded, Unknown, Terminating] {
            let (phase, condition) = seen(own("Degraded"), Freshness::Fresh, by_agent, true);
            assert_eq!(phase, by_agent);
            assert_eq!(condition.status, ConditionStatus::False, "and the condition tells both");
        }
    }

    #[test]
    fn the_reason_is_the_error_or_what_does_not_hold() {
        let mut cluster = own("Provisioning");
        let message = "Network: creating".to_owned();
        cluster.conditions.push(Condition {
            kind: "InfrastructureReady".to_owned(),
            message,
            ..condition(ConditionType::Ready, ConditionStatus::False, "NotReady", String::new())
        });
        let why = |cluster| seen(cluster, Freshness::Fresh, WorkerPhase::Pending, false).1.message;
        assert_eq!(why(cluster.clone()), "InfrastructureReady: Network: creating");
        let message = "QuotaExceeded".to_owned();
        let code = "QuotaExceeded".to_owned();
        cluster.errors.push(ReportedError { code, message, user_error: true });
        assert_eq!(why(cluster), "QuotaExceeded");
    }

    #[test]
    fn where_the_control_planes_reports_stopped_nothing_is_known() {
        let (phase, condition) =
            seen(own("Running"), Freshness::Silent, WorkerPhase::Pending, false);
        assert_eq!(phase, WorkerPhase::Pending);
        assert_eq!(condition.status, ConditionStatus::Unknown);
        assert!(condition.message.contains("control-plane cluster hub"), "{}", condition.message);
    }
}
