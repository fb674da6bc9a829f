//! Which of the clusters that a lock lists hold their place on the worker.

use super::deletion::{self, Deletions};
use super::pool_workers::is_lost;
use super::{PlanInput, moves};
use crate::model::{ClusterRow, ClusterState, Name, WorkerLock};

/// The clusters of a lock that hold their place on the worker.
pub(super) fn there<'a>(
    input: &PlanInput<'a>,
    worker: &'a Name,
    lock: &'a WorkerLock,
    deletions: &Deletions,
) -> impl Iterator<Item = (&'a Name, &'a ClusterRow)> {
    lock.clusters.iter().filter(move |(cluster, row)| match row.state {
        ClusterState::Reserved => moves::keeps_its_place(input, deletions, cluster, (worker, row)),
        ClusterState::Bound | ClusterState::Deleting => {
            !deletion::ends(deletions, cluster)
                && !is_forgotten(input, cluster, worker, row)
                && !is_lost(input, worker, row)
        }
    })
}

/// Whether a cluster that was given this worker is gone and never rendered: there is nothing to delete,
/// so it takes nothing from now on.
pub(super) fn is_forgotten(
    input: &PlanInput<'_>,
    name: &Name,
    worker: &Name,
    row: &ClusterRow,
) -> bool {
    row.state == ClusterState::Bound
        && row.folder.is_none()
        && !input.fleet.clusters.contains_key(name)
        && !input.deletions_wait_of(&row.row.tenant)
        && !input.previous.kept.holds(name, worker)
}
