//! Where the two meet that know nothing of each other: who renders, and what policies override.

use std::sync::Arc;

use crate::diag::Diagnostics;
use crate::model::{Cluster, Fleet, Name, Worker};
use crate::overrides::{self, Overrides};
use crate::render::{self, Job, ReadinessJobs, ReadinessStep, Templates, cluster_job};

/// The job of a cluster's folder on a worker, with the overrides that apply there. Without any it is the same job, of the
/// same key.
pub(super) fn overridden(job: Job, fleet: &Fleet, cluster: &Cluster, worker: &Name) -> Job {
    match overrides::applying(fleet, cluster, worker) {
        Some(all) => edited(job, all),
        None => job,
    }
}

/// The job of a worker's own files, with the overrides that apply there.
pub(super) fn layers_job(fleet: &Fleet, worker: &Worker, of: &Templates, prefix: &str) -> Job {
    let job = render::worker_job(fleet, worker, of, prefix);
    edited(job, overrides::applying_to_layers(fleet, worker))
}

/// The job of the cluster that a worker is, with the overrides that apply there; `None` where carp does not make it.
pub(super) fn made_worker_job(
    fleet: &Fleet,
    worker: &Worker,
    of: &Templates,
    prefix: &str,
) -> Option<Job> {
    let job = render::control_plane_worker_job(fleet, worker, of, prefix)?;
    Some(edited(job, overrides::applying_to_worker(fleet, worker)))
}

/// The steps by which a worker and some clusters on it come up, with the overrides that apply there.
///
/// # Errors
/// What does not render.
pub fn readiness(
    fleet: &Fleet,
    worker: &Worker,
    clusters: &[&Cluster],
    of: &Templates,
    prefix: &str,
) -> Result<Vec<ReadinessStep>, Diagnostics> {
    let folder = |cluster: &Cluster| {
        overridden(cluster_job(fleet, cluster, &worker.name, of), fleet, cluster, &worker.name)
    };
    let jobs = ReadinessJobs {
        layers: layers_job(fleet, worker, of, prefix),
        made: made_worker_job(fleet, worker, of, prefix),
        clusters: clusters.iter().map(|cluster| (*cluster, folder(cluster))).collect(),
    };
    render::readiness(fleet, worker, &jobs, of, prefix)
}

fn edited(job: Job, all: Overrides) -> Job {
    if all.is_empty() { job } else { job.with_edits(Arc::new(all)) }
}
