//! The clusters that wait before another one in the queue, with one document for those that are alike.

use std::collections::BTreeMap;

use super::{Cluster, QueuedCluster, WaitingQueue};

/// The clusters that wait before another one, and go on waiting as they did: nothing is decided of them.
#[derive(Clone, Debug, Default)]
pub struct WaitingAhead {
    /// All of them.
    pub queue: WaitingQueue,
    /// The first of those that are alike, by its place in the queue.
    pub first: BTreeMap<usize, Cluster>,
}

impl WaitingAhead {
    /// How many they are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.clusters.len()
    }

    /// Whether nobody waits before the cluster, or everybody who does was looked at.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first one that is like one of them.
    #[must_use]
    pub fn first_like(&self, queued: &QueuedCluster) -> Option<&Cluster> {
        self.first.get(&queued.alike)
    }

    /// One of them as far as a decision reads it: it has the labels that any rule reads, and where its document stands, and the
    /// digest of that, are those of the first one that is like it.
    #[must_use]
    pub fn cluster(&self, queued: &QueuedCluster) -> Option<Cluster> {
        let labels = self.queue.labels.get(queued.labels)?.clone();
        Some(Cluster { name: queued.name.clone(), labels, ..self.first_like(queued)?.clone() })
    }
}
