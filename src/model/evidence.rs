//! What is known of the workers when a plan is made.

use std::collections::BTreeMap;

use super::{FoldedReport, Freshness, Name};

/// The folded reports of all workers: all that a plan knows of the world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// By worker.
    pub workers: BTreeMap<Name, FoldedReport>,
}

/// What a folded report says about a worker as a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerHealth {
    /// It reports, and it is well.
    Healthy,
    /// It reports, and it is not well.
    Unhealthy {
        /// The report's own word.
        reason: String,
    },
    /// Its reports stopped.
    Silent {
        /// Since when, as RFC 3339.
        since: String,
    },
    /// No report ever came.
    NeverReported,
}

impl Observed {
    /// What is known of a worker that is observed by its agent.
    #[must_use]
    pub fn health(&self, worker: &str) -> WorkerHealth {
        match self.workers.get(worker) {
            None => WorkerHealth::NeverReported,
            Some(r) if r.freshness == Freshness::Silent => {
                WorkerHealth::Silent { since: r.freshness_since.to_string() }
            }
            Some(r) if !r.healthy => WorkerHealth::Unhealthy {
                reason: r.reason.clone().unwrap_or_else(|| "NotHealthy".to_owned()),
            },
            Some(_) => WorkerHealth::Healthy,
        }
    }
}
