//! Phases: each sums up the conditions of a cluster or a worker in one word.

use super::words::words;

words! {
    /// How far a ManagedCluster is.
    pub ClusterPhase:
    /// No worker takes it yet.
    Pending,
    /// It has a worker, which has not reported it.
    Scheduled,
    /// It is being made, and was never available.
    Provisioning,
    /// It is available and as desired.
    Running,
    /// It is available and on its way to what is desired, a later version included.
    Updating,
    /// It was available and is not.
    Degraded,
    /// Its deletion has begun.
    Deleting,
    /// Its worker's reports stopped, or say a phase that carp does not know.
    Unknown,
}

impl ClusterPhase {
    /// The phase that a report says; [`Self::Unknown`] for a word that is none.
    #[must_use]
    pub fn reported(word: &str) -> Self {
        Self::ALL.iter().copied().find(|phase| phase.name() == word).unwrap_or(Self::Unknown)
    }

    /// Whether it can be used.
    #[must_use]
    pub const fn is_available(self) -> bool {
        matches!(self, Self::Running | Self::Updating)
    }
}

words! {
    /// How far a Worker is.
    pub WorkerPhase:
    /// No report of it has come.
    Pending,
    /// It reports, or its cluster is being made, and not all below its clusters was applied once.
    Provisioning,
    /// It can host clusters, or has no agent.
    Running,
    /// It reports that it cannot host clusters.
    Degraded,
    /// It runs, and what is on it shall leave it.
    Draining,
    /// Its reports stopped.
    Unknown,
    /// Its document is gone, and its own cluster is being deleted.
    Terminating,
}
