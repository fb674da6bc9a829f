//! The queue, as it is kept beside the documents' index. Many who wait say the same but for their names and labels.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Name, SharedMap};

/// The queue of a [`PendingLock`](super::PendingLock), in the order in which its clusters are served.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingQueue {
    /// The clusters.
    pub clusters: Vec<QueuedCluster>,
    /// Their labels with these keys, each set only once.
    pub labels: Vec<SharedMap<String>>,
    /// The keys that any rule reads, as [`Baseline::label_keys`](super::Baseline::label_keys) has them.
    pub keys: BTreeSet<String>,
}

/// A cluster in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(Name, u64, usize, usize)", into = "(Name, u64, usize, usize)")]
pub struct QueuedCluster {
    /// Its name.
    pub name: Name,
    /// What its lock says of its place; see [`PendingRow::seen`](super::PendingRow::seen).
    pub seen: u64,
    /// The place in the queue, from 0, of the first one of the same tenant with the same `spec`. It is its own where none before
    /// it is alike, or where that is not known.
    pub alike: usize,
    /// The place of its labels in [`WaitingQueue::labels`].
    pub labels: usize,
}

impl From<(Name, u64, usize, usize)> for QueuedCluster {
    fn from((name, seen, alike, labels): (Name, u64, usize, usize)) -> Self {
        Self { name, seen, alike, labels }
    }
}

impl From<QueuedCluster> for (Name, u64, usize, usize) {
    fn from(QueuedCluster { name, seen, alike, labels }: QueuedCluster) -> Self {
        (name, seen, alike, labels)
    }
}
