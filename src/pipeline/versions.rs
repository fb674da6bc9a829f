//! The jobs that make clusters' folders: the versions that they get, what the locks keep of these, and overrides.

use super::ahead::FolderJobs;
use super::choosing::placed_at;
use super::overriding::overridden;
use super::read::Read;
use super::run::Run;
use crate::diag::Diagnostic;
use crate::gate::{self, Objection, VersionChange};
use crate::model::{
    Cluster, ClusterPlan, ClusterRow, ClusterState, DEFAULT_DATA_STORE, Decision, Digest, Name,
    Plan, Progress, SteppedVersions, Versions,
};
use crate::overrides;
use crate::render::{self, Files, Job};

/// What makes the jobs of clusters. It reads no store, so that several threads may ask it.
#[derive(Clone, Copy)]
pub(super) struct ClusterJobs<'a> {
    read: &'a Read,
    plan: &'a Plan,
}

impl<'a> ClusterJobs<'a> {
    /// The versions that a cluster's folder gets: the desired one, unless it is on its way there.
    fn versions(self, cluster: &Cluster) -> Versions {
        let step = self.plan.version(&cluster.name);
        step.map_or_else(|| Versions::both(&cluster.spec.version), |step| step.versions.clone())
    }

    /// The job that makes a cluster's folder.
    pub(super) fn of(self, cluster: &Cluster, worker: &Name) -> Job {
        self.job_at(cluster, worker, &self.versions(cluster))
    }

    /// The job that makes it at given versions.
    pub(super) fn job_at(self, cluster: &Cluster, worker: &Name, versions: &Versions) -> Job {
        let fleet = &self.read.loaded.fleet;
        let at = (versions, self.data_store_before(cluster, worker));
        let job = render::cluster_job_at(fleet, cluster, worker, at, &self.read.templates);
        overridden(job, fleet, cluster, worker)
    }

    /// The row that a worker's lock has of a cluster, unless what stood under its name is over.
    pub(super) fn row_that_stands(self, name: &Name, worker: &Name) -> Option<&'a ClusterRow> {
        let row = self.read.previous.workers.get(worker)?.clusters.get(name);
        row.filter(|_| !self.is_over(name))
    }

    /// Whether a cluster that stood under a name is over in this run, so that nothing of it binds what comes.
    pub(super) fn is_over(self, name: &Name) -> bool {
        // What ended of a cluster that was handed over is what was left behind.
        if self.plan.moved(name).is_some_and(|moved| moved.transfer.is_some()) {
            return false;
        }
        let deletion = self.plan.deletion(name);
        deletion.is_some_and(|d| matches!(d.progress, Progress::Ends(_)))
    }

    /// The data store that a cluster's folder on a worker names; `None` where it has no folder there, or what stood
    /// under its name is over.
    pub(super) fn data_store_before(self, cluster: &Cluster, worker: &Name) -> Option<&'a str> {
        let row = self.row_that_stands(&cluster.name, worker)?;
        row.folder.is_some().then(|| row.data_store.as_deref().unwrap_or(DEFAULT_DATA_STORE))
    }
}

impl<'a> FolderJobs for ClusterJobs<'a> {
    type Of = (&'a Name, &'a ClusterPlan);

    /// `None` for a cluster that is on no worker, goes, or whose document is gone.
    fn job(self, (name, planned): Self::Of) -> Option<Job> {
        let worker = planned.decision.worker()?;
        if matches!(planned.decision, Decision::Delete { .. } | Decision::Move { .. }) {
            return None;
        }
        let cluster = self.read.loaded.fleet.clusters.get(name)?;
        Some(self.of(cluster, worker))
    }

    fn stands(self, (name, planned): Self::Of, key: Digest) -> bool {
        let row = planned.decision.worker().and_then(|on| self.row_that_stands(name, on));
        standing(row, key).is_some()
    }
}

/// The row of a folder that stands as a job of this key makes it.
pub(super) fn standing(row: Option<&ClusterRow>, key: Digest) -> Option<&ClusterRow> {
    let bound = |row: &&ClusterRow| row.state == ClusterState::Bound && row.folder.is_some();
    row.filter(bound).filter(|row| row.render_key == key)
}

impl<'a> Run<'a> {
    /// What makes the jobs of clusters.
    pub(super) fn cluster_jobs(self) -> ClusterJobs<'a> {
        ClusterJobs { read: self.read, plan: self.plan }
    }

    /// Whether all overrides of a cluster on its worker are known.
    pub(super) fn may_render(self, cluster: &Cluster, worker: &Name) -> Result<(), Objection> {
        let fleet = &self.read.loaded.fleet;
        let known = overrides::applying(fleet, cluster, worker).is_some();
        gate::overrides_not_loaded(fleet, cluster, worker, known)
    }

    /// What a lock keeps of a cluster's versions; `files` are its folder's, `None` where they stay as they
    /// were.
    pub(super) fn stepped(
        self,
        cluster: &Cluster,
        files: Option<&Files>,
        old: Option<&ClusterRow>,
    ) -> Option<SteppedVersions> {
        let step = self.plan.version(&cluster.name)?;
        let digest = match files {
            Some(files) => {
                let parts = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
                Some(render::folder_digest(parts))
            }
            None => old.and_then(|old| old.versions.as_ref()).and_then(|known| known.digest),
        };
        Some(SteppedVersions { versions: step.versions.clone(), digest, uid: step.uid.clone() })
    }

    /// Why a cluster may not go from the version that its folder has to the one that it gets: the step is
    /// none, or the version is refused.
    pub(super) fn version_change(
        self,
        cluster: &Cluster,
        worker: &Name,
        old: &ClusterRow,
    ) -> impl Iterator<Item = Diagnostic> {
        let (from, to) = (old.rendered_versions(), self.cluster_jobs().versions(cluster));
        let step = render::version_step(&from.control_plane, &to.control_plane);
        let step = step.map(|found| placed_at(found, &cluster.file, cluster.document));
        let wanted_before = old.row.version.as_str();
        let change = VersionChange { cluster, worker, wanted_before, from: &from, to: &to };
        let expired = &self.read.observed.expired;
        let refused = gate::version_refused(&self.read.loaded.fleet, expired, change);
        step.into_iter().chain(refused)
    }
}
