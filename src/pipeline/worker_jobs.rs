//! The jobs that make workers' folders: their own files, and the clusters that they are.

use super::ahead::FolderJobs;
use super::overriding::{layers_job, made_worker_job};
use super::read::Read;
use super::run::Run;
use crate::model::{
    ClusterState, ControlPlaneRow, Digest, Name, Plan, Worker, WorkerPlan, WorkerState,
};
use crate::render::Job;

/// What makes the jobs of workers' own files.
#[derive(Clone, Copy)]
pub(super) struct OwnFilesJobs<'a>(WorkerJobInputs<'a>);

/// What makes the jobs of the clusters that workers are.
#[derive(Clone, Copy)]
pub(super) struct WorkerClusterJobs<'a>(WorkerJobInputs<'a>);

#[derive(Clone, Copy)]
struct WorkerJobInputs<'a> {
    read: &'a Read,
    plan: &'a Plan,
    /// Where the fleet lies in its repository.
    prefix: &'a str,
}

impl<'a> Run<'a> {
    /// What makes the jobs of workers' own files.
    pub(super) fn own_files_jobs(self) -> OwnFilesJobs<'a> {
        OwnFilesJobs(self.worker_job_inputs())
    }

    /// What makes the jobs of the clusters that workers are.
    pub(super) fn worker_cluster_jobs(self) -> WorkerClusterJobs<'a> {
        WorkerClusterJobs(self.worker_job_inputs())
    }

    fn worker_job_inputs(self) -> WorkerJobInputs<'a> {
        let Run { read, plan, snapshot, .. } = self;
        WorkerJobInputs { read, plan, prefix: &snapshot.input.prefix }
    }
}

impl<'a> FolderJobs for OwnFilesJobs<'a> {
    type Of = &'a Name;

    /// `None` for a worker whose document is gone or did not load, or whose overlay did not.
    fn job(self, name: &'a Name) -> Option<Job> {
        let WorkerJobInputs { read, plan, prefix } = self.0;
        let planned = plan.workers.get(name);
        // A worker whose overlay did not load is among the workers and stays as it is all the same.
        if planned.is_some_and(|worker| worker.state != WorkerState::Desired) {
            return None;
        }
        let fleet = &read.loaded.fleet;
        Some(layers_job(fleet, fleet.workers.get(name)?, &read.templates, prefix))
    }

    fn stands(self, name: &'a Name, key: Digest) -> bool {
        let lock = self.0.read.previous.workers.get(name);
        lock.is_some_and(|lock| lock.render_key == key)
    }
}

impl WorkerClusterJobs<'_> {
    /// The job of a worker's own cluster; `None` where carp does not make it.
    pub(super) fn of(self, worker: &Worker) -> Option<Job> {
        let WorkerJobInputs { read, prefix, .. } = self.0;
        made_worker_job(&read.loaded.fleet, worker, &read.templates, prefix)
    }

    /// The row that the fleet's lock has of a folder that stands as a job of this key makes it.
    pub(super) fn standing(
        before: Option<&ControlPlaneRow>,
        key: Digest,
    ) -> Option<&ControlPlaneRow> {
        let bound =
            |row: &&ControlPlaneRow| row.state == ClusterState::Bound && row.folder.is_some();
        before.filter(bound).filter(|row| row.render_key == key)
    }
}

impl<'a> FolderJobs for WorkerClusterJobs<'a> {
    type Of = (&'a Name, &'a WorkerPlan);

    /// `None` for a worker that goes, whose folder is kept, or that carp does not make.
    fn job(self, (name, planned): Self::Of) -> Option<Job> {
        let Read { loaded, previous, .. } = self.0.read;
        let wanted = matches!(planned.state, WorkerState::Desired | WorkerState::Kept);
        let worker = loaded.fleet.workers.get(name)?;
        (wanted && !previous.kept.made.contains(name)).then(|| self.of(worker)).flatten()
    }

    fn stands(self, (name, _): Self::Of, key: Digest) -> bool {
        let lock = self.0.read.previous.fleet.as_ref();
        Self::standing(lock.and_then(|lock| lock.workers.get(name)), key).is_some()
    }
}
