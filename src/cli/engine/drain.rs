//! What a drain does to the clusters on a worker.

use std::collections::BTreeMap;

use super::super::show::DrainedView;
use crate::model::{Blocker, Decision, Name, Plan};

/// The clusters that a plan leaves on a worker, by why they stay, and those that leave it.
pub(super) fn drained(plan: &Plan, worker: &Name) -> DrainedView {
    let mut stay: BTreeMap<&Blocker, Vec<Name>> = BTreeMap::new();
    for (name, of) in plan.stays().filter(|(_, stay)| stay.worker == *worker) {
        stay.entry(&of.blocker).or_default().push(name.clone());
    }
    let moves = plan.clusters.iter().filter(|(_, planned)| match &planned.decision {
        Decision::Move { from, .. } => from == worker,
        decision => planned.moved.is_some() && decision.worker() == Some(worker),
    });
    DrainedView {
        stay: stay
            .into_iter()
            .map(|(why, names)| (why.of_clusters(names.len()), why.name().to_owned(), names))
            .map(|(words, code, names)| (names, words, code))
            .collect(),
        leave: moves.map(|(name, _)| name.clone()).collect(),
    }
}
