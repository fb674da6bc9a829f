//! Where the two meet that know nothing of each other: who renders, and what policies override.

use std::sync::Arc;

use crate::model::{Cluster, Fleet, Name};
use crate::overrides;
use crate::render::Job;

/// The job of a cluster's folder on a worker, with the overrides that apply there. Without any it is the same job, of the
/// same key.
pub(super) fn overridden(job: Job, fleet: &Fleet, cluster: &Cluster, worker: &Name) -> Job {
    match overrides::applying(fleet, cluster, worker) {
        Some(all) if !all.is_empty() => job.with_edits(Arc::new(all)),
        _ => job,
    }
}
