//! The jobs that make clusters' folders: the versions that they get, what the locks keep of these, and overrides.

use super::choosing::placed_at;
use super::overriding::overridden;
use super::run::Run;
use crate::diag::Diagnostic;
use crate::gate::{self, Objection, VersionChange};
use crate::model::{Cluster, ClusterRow, Name, SteppedVersions, Versions};
use crate::overrides;
use crate::render::{self, Files, Job};

impl Run<'_> {
    /// The versions that a cluster's folder gets: the desired one, unless it is on its way there.
    fn versions(self, cluster: &Cluster) -> Versions {
        let step = self.plan.version(&cluster.name);
        step.map_or_else(|| Versions::both(&cluster.spec.version), |step| step.versions.clone())
    }

    /// The job that makes a cluster's folder.
    pub(super) fn job(self, cluster: &Cluster, worker: &Name) -> Job {
        self.job_at(cluster, worker, &self.versions(cluster))
    }

    /// The job that makes it at given versions.
    pub(super) fn job_at(self, cluster: &Cluster, worker: &Name, versions: &Versions) -> Job {
        let fleet = &self.read.loaded.fleet;
        let at = (versions, self.data_store_before(cluster, worker));
        let job = render::cluster_job_at(fleet, cluster, worker, at, &self.read.templates);
        overridden(job, fleet, cluster, worker)
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
        let (from, to) = (old.rendered_versions(), self.versions(cluster));
        let step = render::version_step(&from.control_plane, &to.control_plane);
        let step = step.map(|found| placed_at(found, &cluster.file, cluster.document));
        let wanted_before = old.row.version.as_str();
        let change = VersionChange { cluster, worker, wanted_before, from: &from, to: &to };
        let expired = &self.read.observed.expired;
        let refused = gate::version_refused(&self.read.loaded.fleet, expired, change);
        step.into_iter().chain(refused)
    }
}
