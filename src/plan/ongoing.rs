//! The moves that have begun, as the locks say it.

use std::collections::BTreeMap;

use super::PlanInput;
use crate::model::{ClusterRow, ClusterState, MoveRow, Name};

/// A move that has begun: the place is kept, and the cluster is still on the worker that it leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ongoing<'a> {
    pub(super) from: &'a Name,
    /// The row on the worker that it leaves.
    pub(super) row: &'a ClusterRow,
    pub(super) to: &'a Name,
    /// The row on the worker that keeps its place.
    pub(super) kept: &'a ClusterRow,
    pub(super) moves: &'a MoveRow,
}

/// The moves that have begun, by cluster.
pub(super) fn ongoing<'a>(input: &PlanInput<'a>) -> BTreeMap<&'a Name, Ongoing<'a>> {
    let mut all = BTreeMap::new();
    for (to, lock) in &input.previous.workers {
        for (name, kept) in &lock.clusters {
            if kept.state == ClusterState::Reserved
                && let Some(moves) = &kept.moves
                && let Some(row) = row_there(input, &moves.from, name)
            {
                all.insert(name, Ongoing { from: &moves.from, row, to, kept, moves });
            }
        }
    }
    all
}

/// The row of a cluster on a worker where it is; `None` where only its place is kept.
pub(super) fn row_there<'a>(
    input: &PlanInput<'a>,
    worker: &Name,
    name: &Name,
) -> Option<&'a ClusterRow> {
    let row = input.previous.workers.get(worker)?.clusters.get(name)?;
    (row.state != ClusterState::Reserved).then_some(row)
}

/// The place that is kept for a cluster on a worker.
pub(super) fn kept<'a>(
    input: &PlanInput<'a>,
    name: &Name,
    worker: &Name,
) -> Option<&'a ClusterRow> {
    let row = input.previous.workers.get(worker)?.clusters.get(name)?;
    (row.state == ClusterState::Reserved).then_some(row)
}

/// Whether a cluster's document is gone for sure: then nothing is made anew, and its place is free.
pub(super) fn is_removed(input: &PlanInput<'_>, name: &Name, tenant: &str) -> bool {
    !input.fleet.clusters.contains_key(name)
        && !input.fleet.is_broken(name, tenant)
        && !input.deletions_wait_of(tenant)
}

impl Ongoing<'_> {
    /// Whether the cluster is handed over as it is, and not made anew.
    pub(super) const fn transfers(&self) -> bool {
        self.moves.transfer.is_some()
    }

    /// Whether files of it are kept as they are, on either worker.
    pub(super) fn is_kept(&self, input: &PlanInput<'_>, name: &Name) -> bool {
        let kept = &input.previous.kept;
        kept.holds(name, self.from) || kept.holds(name, self.to)
    }
}
