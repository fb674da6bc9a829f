//! What the output branch says: the only memory there is.

use std::collections::BTreeMap;

use super::{FleetLock, Name, PendingLock, WorkerLock};

/// The state that the last commit left, read from its locks.
#[derive(Clone, Debug, Default)]
pub struct Previous {
    /// By worker.
    pub workers: BTreeMap<Name, WorkerLock>,
    /// The clusters that wait.
    pub pending: PendingLock,
    /// What is in force; `None` before the first run.
    pub fleet: Option<FleetLock>,
}

impl Previous {
    /// The worker that a cluster is on.
    pub fn placements(&self) -> impl Iterator<Item = (&Name, &Name)> {
        self.workers.iter().flat_map(|(w, lock)| lock.clusters.keys().map(move |c| (c, w)))
    }

    /// How many clusters are placed.
    #[must_use]
    pub fn bound(&self) -> usize {
        self.workers.values().map(|lock| lock.clusters.len()).sum()
    }
}
