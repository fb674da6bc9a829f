//! Deletions in the words of the tests: what is committed, what is reported, what is said of them.

use std::fmt::Write as _;

use super::{World, name, transfer};
use crate::model::api::ControlPlaneCluster;
use crate::model::{
    ClusterState, Condition, ConditionStatus, Deletion, DeletionRow, DeletionStep, Digest,
    FoldedCluster, Name, Plan, Progress, fixture,
};

/// A step by its name.
pub(super) fn step(text: &str) -> DeletionStep {
    match text {
        "D1" => DeletionStep::D1,
        "D2" => DeletionStep::D2,
        "Orphan" => DeletionStep::Orphan,
        other => panic!("no such step: {other}"),
    }
}

/// The state in a lock.
pub(super) fn state(step: Option<DeletionStep>) -> ClusterState {
    step.map_or(ClusterState::Bound, |_| ClusterState::Deleting)
}

/// What a lock keeps at a step. The digest of its folder is that of its name.
pub(super) fn row(step: DeletionStep) -> DeletionRow {
    let mut keeps = vec!["Namespace", "ManagedCluster", "Worker", "ConfigMap"];
    match step {
        DeletionStep::D1 => keeps.push("HelmChartProxy"),
        DeletionStep::D2 => {}
        DeletionStep::Orphan => keeps.extend(["HelmChartProxy", "Cluster"]),
    }
    DeletionRow {
        step,
        digest: digest(&format!("{step:?}")),
        keeps: keeps.into_iter().map(str::to_owned).collect(),
        worker_uid: Some("uid".to_owned()),
    }
}

pub(super) fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

impl World {
    /// What a worker reports of a cluster. A worker `w1` of another identity is `w1:other`.
    pub(super) fn seen(&mut self, worker: &str, cluster: &str, applied: &str, words: &[&str]) {
        let (worker, uid) = worker.split_once(':').unwrap_or((worker, "uid"));
        let report = self.observed.workers.get_mut(&name(worker)).expect("a report comes first");
        uid.clone_into(&mut report.worker_uid);
        let mut seen = FoldedCluster {
            digest: (applied != "-").then(|| digest(applied)),
            ..fixture::folded("Running", report.healthy_since)
        };
        for word in words {
            match word.split_once('=').unwrap_or((word, "")) {
                (key, value) if transfer::of_report(&mut seen, key, value) => {}
                ("has", kinds) => seen.present = kinds.split(',').map(str::to_owned).collect(),
                ("uid", "") => seen.uid = Some("c".to_owned()),
                ("unsynced", "") => seen.conditions.push(Condition {
                    kind: "Synced".to_owned(),
                    status: ConditionStatus::False,
                    reason: "ReconciliationFailed".to_owned(),
                    message: String::new(),
                    last_transition_time: None,
                    observed_generation: None,
                }),
                (phase, "") => phase.clone_into(&mut seen.phase),
                other => panic!("what is {other:?}?"),
            }
        }
        report.clusters.insert(name(cluster), seen);
    }

    /// The control-plane cluster.
    pub(super) fn hub(&mut self, name: &str) {
        let control_plane =
            ControlPlaneCluster { name: name.to_owned(), ..ControlPlaneCluster::default() };
        self.fleet.spec.control_plane = Some(control_plane);
    }
}

/// `deletes w1`, with the step where it is not the first, and with what is missing where the expectation
/// speaks of that.
pub(super) fn told(
    worker: &Name,
    step: DeletionStep,
    deletion: Option<&Deletion>,
    expected: &str,
) -> String {
    let mut words = format!("deletes {worker}");
    if step != DeletionStep::D1 {
        let _ = write!(words, " {step:?}");
    }
    let missing = deletion.and_then(|d| d.missing.as_ref()).filter(|_| expected.contains('('));
    if let Some(missing) = missing {
        let _ = write!(words, " ({})", missing.code().name());
    }
    words
}

/// The deletions that end or are called off, and those of workers where the expectation speaks of them.
pub(super) fn ends(plan: &Plan, expected: &str) -> Vec<String> {
    let said = |(name, deletion): (&Name, &Deletion)| match deletion.progress {
        Progress::Ends(how) => Some(format!("{name} ends {how:?}")),
        Progress::Cancelled => Some(format!("{name} called off")),
        _ if plan.workers.contains_key(name) && expected.contains('(') => {
            let step = deletion.step.map(|step| format!(" {step:?}")).unwrap_or_default();
            let missing = deletion.missing.as_ref().map_or("", |missing| missing.code().name());
            Some(format!("{name} retires{step} ({missing})"))
        }
        _ => None,
    };
    plan.deletions().into_iter().filter_map(said).collect()
}
