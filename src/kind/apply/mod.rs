//! Local clusters over Git, without any cluster that says so: what the output branch asks for is made on this machine, and
//! what became of it is a branch of its own.
//!
//! There is no API server, so a status file is what an object's status is, and its finalizer too: it is
//! removed only when the cluster is gone.

mod branch;
mod desired;
mod record;
mod turn;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub use record::{KIND_RECORD_SCHEMA, KindRecord};
pub use turn::apply;

/// What to apply, and where.
#[derive(Clone, Debug)]
pub struct ApplySettings {
    /// The fleet's repository, as this machine reaches it.
    pub url: String,
    /// The output branch.
    pub branch: String,
    /// The folder on it, relative to the repository: `workers/<worker>` or `control-plane`.
    pub folder: String,
    /// The branch of the status.
    pub status: String,
    /// Where carp's own clone is kept.
    pub cache: PathBuf,
    /// Where kubeconfigs go, one file for each cluster.
    pub kubeconfigs: PathBuf,
    /// The `kind` program.
    pub program: OsString,
    /// carp's folder on this machine.
    pub state: PathBuf,
    /// What this machine is called.
    pub host: String,
    /// How long a creation may take.
    pub limit: Duration,
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// One row for each cluster, sorted by namespace and name.
    pub rows: Vec<AppliedCluster>,
    /// What of the folder could not be read, and why. While there is any, nothing is deleted.
    pub broken: Vec<String>,
    /// Whether it was told to stop before all was done.
    pub interrupted: bool,
}

/// What became of one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedCluster {
    /// The object's namespace.
    pub namespace: String,
    /// The object's name.
    pub name: String,
    /// What kind calls the cluster.
    pub cluster: String,
    /// In one word: `Ready`, `Deleted`, `Paused`, `Held` or a [`KindReason`](super::KindReason).
    pub state: String,
    /// For people; empty where all is well.
    pub message: String,
    /// Whether it is not as it was asked for.
    pub failed: bool,
}

impl Applied {
    /// Whether everything is as it was asked for.
    #[must_use]
    pub fn is_fine(&self) -> bool {
        !self.interrupted && self.broken.is_empty() && self.rows.iter().all(|row| !row.failed)
    }
}
