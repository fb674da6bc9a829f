//! What is known of the workers when a plan is made.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::words::words;
use super::{FoldedReport, Freshness, Name, PoolFact};

/// The folded reports of all workers: all that a plan knows of the world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// By worker.
    pub workers: BTreeMap<Name, FoldedReport>,
    /// The workers whose report of now does not count, and why. No decision reads it; statuses tell it.
    pub refused: BTreeMap<Name, Refusal>,
    /// The entries of `supportedVersions` in `carp.yaml` whose time has come, by their `version`.
    pub expired: BTreeSet<String>,
    /// What time did to the workers of pools.
    pub pools: BTreeMap<Name, PoolFact>,
    /// The moments that decisions may ask for and that have come by the time of the run.
    pub passed: BTreeSet<Timestamp>,
}

words! {
    /// Why a worker's report does not count.
    #[derive(Serialize, Deserialize)]
    pub Refusal:
    /// It comes from another cluster than the one that the worker is: that was built anew.
    OtherCluster,
    /// It names another worker.
    OtherWorker,
    /// It was made before something that is known already.
    Late,
    /// It is no report that can be read.
    Unreadable,
}

impl Refusal {
    /// What that means, for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::OtherCluster => {
                "the reports come from another cluster than the one that this worker was"
            }
            Self::OtherWorker => "the report names another worker",
            Self::Late => "the report is older than what is known already",
            Self::Unreadable => "the report cannot be read",
        }
    }
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
        /// Since when.
        since: Timestamp,
    },
    /// No report ever came.
    NeverReported,
}

impl Observed {
    /// Whether a moment has come. It must be one of those that were asked for before the plan was made.
    #[must_use]
    pub fn has_passed(&self, moment: Timestamp) -> bool {
        self.passed.contains(&moment)
    }

    /// The namespaces on a worker that carp did not make; `None` where none is known.
    #[must_use]
    pub fn foreign_namespaces(&self, worker: &str) -> Option<&BTreeSet<Name>> {
        let report = self.workers.get(worker)?;
        Some(&report.foreign_namespaces).filter(|names| !names.is_empty())
    }

    /// What is known of a worker that is observed by its agent.
    #[must_use]
    pub fn health(&self, worker: &str) -> WorkerHealth {
        match self.workers.get(worker) {
            None => WorkerHealth::NeverReported,
            Some(r) if r.freshness == Freshness::Silent => {
                WorkerHealth::Silent { since: r.freshness_since }
            }
            Some(r) if !r.healthy => WorkerHealth::Unhealthy {
                reason: r.reason.clone().unwrap_or_else(|| "NotHealthy".to_owned()),
            },
            Some(_) => WorkerHealth::Healthy,
        }
    }
}
