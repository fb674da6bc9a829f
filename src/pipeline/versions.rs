//! The versions that clusters' folders get, and what the locks keep of them.

use super::output::Run;
use crate::model::{Cluster, ClusterRow, Name, StepWait, SteppedVersions, Versions};
use crate::render::{self, Files, Forbidden, Job};

impl Run<'_> {
    /// The versions that a cluster's folder gets: the desired one, unless it is on its way there.
    fn versions(&self, cluster: &Cluster) -> Versions {
        let step = self.plan.versions.get(&cluster.name);
        step.map_or_else(|| Versions::both(&cluster.spec.version), |step| step.versions.clone())
    }

    /// The job that makes a cluster's folder.
    pub(super) fn job(&self, cluster: &Cluster, worker: &Name) -> Job {
        let versions = self.versions(cluster);
        let fleet = &self.read.loaded.fleet;
        render::cluster_job_at(fleet, cluster, worker, &versions, &self.read.templates)
    }

    /// What a lock keeps of a cluster's versions; `files` are its folder's, `None` where they stay as they
    /// were.
    pub(super) fn stepped(
        &self,
        cluster: &Cluster,
        files: Option<&Files>,
        old: Option<&ClusterRow>,
    ) -> Option<SteppedVersions> {
        let step = self.plan.versions.get(&cluster.name)?;
        let digest = match files {
            Some(files) => {
                let parts = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
                Some(render::folder_digest(parts))
            }
            None => old.and_then(|old| old.versions.as_ref()).and_then(|known| known.digest),
        };
        Some(SteppedVersions { versions: step.versions.clone(), digest, uid: step.uid.clone() })
    }

    /// Notes that a folder is another from now on: no report can speak of it yet.
    pub(super) fn note_new_folder(&mut self, name: &Name) {
        if let Some(step) = self.plan.versions.get_mut(name)
            && step.waits != StepWait::NoReport
        {
            step.waits = StepWait::NotApplied;
        }
    }

    /// Whether the control plane may go from what its folder has to what it gets.
    pub(super) fn version_step(&self, cluster: &Cluster, old: &ClusterRow) -> Option<Forbidden> {
        let from = old.rendered_versions().control_plane;
        render::version_step(&from, &self.versions(cluster).control_plane)
    }
}
