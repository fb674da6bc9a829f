//! How many of what there is: what `fleet.yaml`, the turns and the metrics say.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ClusterPlan, ClusterState, Decision};

/// What is said of a phase that nobody knows.
const UNKNOWN: &str = "Unknown";

/// What there is, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct FleetCounts {
    /// Clusters by phase.
    pub clusters: BTreeMap<String, u64>,
    /// Workers by phase.
    pub workers: BTreeMap<String, u64>,
    /// Clusters that have a worker.
    pub bound: u64,
    /// Clusters that wait for one.
    pub pending: u64,
    /// Clusters that are being deleted.
    pub deleting: u64,
}

impl FleetCounts {
    /// Counts a cluster by what is planned of it. One that was handed over is on its new worker, whatever goes on the
    /// old one.
    pub fn add_planned(&mut self, planned: &ClusterPlan) {
        if planned.is_adopted() {
            self.bound += 1;
        } else {
            self.add_decision(&planned.decision);
        }
    }

    /// Counts a cluster by its decision.
    pub fn add_decision(&mut self, decision: &Decision) {
        match decision {
            Decision::Keep { .. } | Decision::Bind(_) | Decision::Move { step: None, .. } => {
                self.bound += 1;
            }
            Decision::Wait { .. } => self.pending += 1,
            Decision::Delete { .. } | Decision::Move { .. } => self.deleting += 1,
            Decision::Forget => {}
        }
    }

    /// Counts a cluster by its phase.
    pub fn add_cluster(&mut self, phase: Option<String>) {
        *self.clusters.entry(phase.unwrap_or_else(|| UNKNOWN.to_owned())).or_default() += 1;
    }

    /// Counts a worker by its phase.
    pub fn add_worker(&mut self, phase: Option<String>) {
        *self.workers.entry(phase.unwrap_or_else(|| UNKNOWN.to_owned())).or_default() += 1;
    }

    /// Takes a cluster out that was counted in this phase.
    pub fn take_cluster(&mut self, phase: Option<&str>) {
        take(&mut self.clusters, phase);
    }

    /// Takes a cluster out that was counted as placed in this state.
    pub fn take_state(&mut self, state: Option<ClusterState>) {
        let counted = match state {
            Some(ClusterState::Bound) => &mut self.bound,
            Some(ClusterState::Deleting) => &mut self.deleting,
            Some(ClusterState::Reserved) | None => return,
        };
        *counted = counted.saturating_sub(1);
    }

    /// Takes a cluster out that waited.
    pub fn take_pending(&mut self) {
        self.pending = self.pending.saturating_sub(1);
    }

    /// Takes a worker out that was counted in this phase.
    pub fn take_worker(&mut self, phase: Option<&str>) {
        take(&mut self.workers, phase);
    }
}

fn take(counts: &mut BTreeMap<String, u64>, phase: Option<&str>) {
    let phase = phase.unwrap_or(UNKNOWN);
    if let Some(count) = counts.get_mut(phase) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(phase);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_that_changes_its_phase_is_counted_once() {
        let mut counts = FleetCounts::default();
        counts.add_cluster(Some("Running".to_owned()));
        counts.add_cluster(Some("Running".to_owned()));
        counts.take_cluster(Some("Running"));
        counts.add_cluster(Some("Updating".to_owned()));
        let of = |counts: &FleetCounts| counts.clusters.clone().into_iter().collect::<Vec<_>>();
        assert_eq!(of(&counts), [("Running".to_owned(), 1), ("Updating".to_owned(), 1)]);
        counts.take_cluster(Some("Updating"));
        assert_eq!(of(&counts), [("Running".to_owned(), 1)], "no phase has no cluster");
        counts.add_cluster(None);
        assert_eq!(counts.clusters["Unknown"], 1);
    }
}
