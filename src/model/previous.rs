//! What the output branch says: the only memory there is.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    ClusterState, Damage, FleetLock, Id, IndexRow, Kept, LockName, Name, PendingLock, PoolLock,
    StandingClusters, WorkerLock,
};

/// The state that the last commit left, read from its locks.
#[derive(Clone, Debug, Default)]
pub struct Previous {
    /// By worker.
    pub workers: BTreeMap<Name, WorkerLock>,
    /// The ids of the blobs of those that were read, and not worked out anew.
    pub ids: BTreeMap<Name, Id>,
    /// The clusters that wait.
    pub pending: PendingLock,
    /// What is in force; `None` before the first run.
    pub fleet: Option<FleetLock>,
    /// The locks that were lost. What stands above of them was worked out from what else is there, so
    /// while there is one no deletion, move or retirement starts.
    pub damaged: Vec<Damage>,
    /// What this run does not write.
    pub kept: Kept,
    /// Whether the locks have the rows of some clusters alone: what depends on all that is placed is not known.
    pub partial: bool,
    /// How many clusters are placed, where not all locks are here; `None`: those that are placed here.
    pub placed: Option<usize>,
    /// What stands on the workers besides, all rows of the locks included; `None` where the locks say all that is
    /// asked.
    pub standing: Option<Arc<StandingClusters>>,
}

impl Previous {
    /// Whether a lock was lost.
    #[must_use]
    pub fn is_damaged(&self, lock: &LockName) -> bool {
        self.damaged.iter().any(|damage| damage.lock == *lock)
    }

    /// What is remembered of the pools.
    #[must_use]
    pub fn pools(&self) -> &BTreeMap<Name, PoolLock> {
        static NONE: BTreeMap<Name, PoolLock> = BTreeMap::new();
        self.fleet.as_ref().map_or(&NONE, |lock| &lock.pools)
    }

    /// The pool that made a worker, desired or not.
    #[must_use]
    pub fn pool_of(&self, worker: &str) -> Option<&Name> {
        self.pools()
            .iter()
            .find(|(_, lock)| lock.workers.contains_key(worker))
            .map(|(pool, _)| pool)
    }

    /// The worker that a cluster is on. Where a place is only kept for it, it is not.
    pub fn placements(&self) -> impl Iterator<Item = (&Name, &Name)> {
        self.workers.iter().flat_map(|(worker, lock)| {
            let here = lock.clusters.iter().filter(|(_, row)| row.state != ClusterState::Reserved);
            here.map(move |(cluster, _)| (cluster, worker))
        })
    }

    /// What the locks keep of a cluster, placed or waiting.
    #[must_use]
    pub fn index_row(&self, cluster: &str) -> Option<&IndexRow> {
        let placed = self.workers.values().find_map(|lock| lock.clusters.get(cluster));
        let waiting = || self.pending.clusters.get(cluster).map(|row| &row.row);
        placed.map(|row| &row.row).or_else(waiting)
    }

    /// What rules read of all clusters that are placed or wait, as the locks have it.
    #[must_use]
    pub fn index_rows(&self) -> BTreeMap<&Name, &IndexRow> {
        let waiting = self.pending.clusters.iter().map(|(name, row)| (name, &row.row));
        let placed = self.workers.values().flat_map(|lock| &lock.clusters);
        waiting.chain(placed.map(|(name, row)| (name, &row.row))).collect()
    }

    /// How many clusters are placed.
    #[must_use]
    pub fn bound(&self) -> usize {
        self.placed.unwrap_or_else(|| self.placements().count())
    }
}
