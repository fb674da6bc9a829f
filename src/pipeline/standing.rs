//! What became of the decisions once their folders were made. The gate says it in one value, and the final plan
//! follows from that value alone: whatever writes, records or tells reads the final plan.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::model::{DeletionStep, Hold, Name, Plan, StepWait};

/// Where the folders do not stand as the plan had it.
#[derive(Default)]
pub(super) struct FolderStanding {
    /// The clusters whose step was not taken, or whose deletion was not called off: the worker that they are on,
    /// and the step that is committed there.
    clusters: BTreeMap<Name, (Name, Option<DeletionStep>)>,
    /// The workers whose own clusters' step was not taken, with the step that is committed.
    made: BTreeMap<Name, Option<DeletionStep>>,
    /// The clusters whose folder is another from now on.
    anew: BTreeSet<Name>,
}

impl FolderStanding {
    /// A cluster stays at a step of its deletion; `None`: it is not being deleted.
    pub(super) fn cluster(&mut self, name: &Name, on: &Name, begun: Option<DeletionStep>) {
        self.clusters.insert(name.clone(), (on.clone(), begun));
    }

    /// A worker's own cluster stays at a step of its deletion.
    pub(super) fn made(&mut self, name: &Name, begun: Option<DeletionStep>) {
        self.made.insert(name.clone(), begun);
    }

    /// A cluster's folder is another from now on: no report can speak of it yet.
    pub(super) fn anew(&mut self, name: &Name) {
        self.anew.insert(name.clone());
    }

    /// The plan as it is carried out, with what the guards over objects and machines hold; `until` says how long what
    /// they remember and hold is the same.
    pub(super) fn settle(
        self,
        plan: &mut Plan,
        holds: impl IntoIterator<Item = Hold>,
        until: Option<Timestamp>,
    ) {
        for (name, (on, begun)) in &self.clusters {
            plan.hold(name, on, *begun);
        }
        for (name, begun) in &self.made {
            plan.hold_retirement(name, *begun);
        }
        for name in &self.anew {
            let planned = plan.clusters.get_mut(name);
            if let Some(step) = planned.and_then(|planned| planned.version.as_mut())
                && step.waits != StepWait::NoReport
            {
                step.waits = StepWait::NotApplied;
            }
        }
        plan.holds.extend(holds);
        plan.valid_until = [plan.valid_until, until].into_iter().flatten().min();
        plan.holds.sort_by(|a, b| (a.kind, &a.names).cmp(&(b.kind, &b.names)));
    }
}
