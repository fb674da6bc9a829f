//! The versions that clusters' folders get, and what the locks keep of them.

use super::output::Run;
use crate::diag::{Code, Diagnostic, FieldPath};
use crate::model::{
    Cluster, ClusterRow, KubeVersion, Name, NotOffered, Offer, Reason, StepWait, SteppedVersions,
    Versions,
};
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

    /// Whether a placed cluster may change to the version that it wants: its worker's components support it,
    /// and the fleet offers it. A cluster that changes nothing of its version is asked nothing.
    fn version_refused(
        &self,
        cluster: &Cluster,
        worker: &Name,
        old: &ClusterRow,
    ) -> Option<Forbidden> {
        let wanted = cluster.spec.version.as_str();
        let stays = old.rendered_versions() == self.versions(cluster) || old.row.version == wanted;
        let version = wanted.parse::<KubeVersion>().ok().filter(|_| !stays)?;
        let fleet = &self.read.loaded.fleet;
        let document = fleet.workers.get(worker);
        let by = document.and_then(|w| w.unsupported(cluster.flavor(), version).into_iter().next());
        let listed = &fleet.spec.supported_versions;
        let offer = Offer { listed, expired: &self.read.observed.expired };
        let why = match (by, offer.refuses(version)) {
            (Some(by), _) => Reason::Version { version, by },
            (None, Some(NotOffered::NotListed)) => Reason::VersionNotOffered { version },
            (None, Some(NotOffered::Expired(entry))) => {
                let since = entry.expires.clone().unwrap_or_default();
                Reason::VersionExpired { version, since }
            }
            (None, None) => return None,
        };
        let message = format!("{} cannot change to {version} on {worker}: {why}", cluster.name);
        let help = "take a version that the worker supports and the fleet offers";
        let finding = Diagnostic::new(Code::VersionRefused, message).help(help);
        Some(Forbidden { field: FieldPath::keys("spec.version"), finding })
    }

    /// Why a cluster may not go from the version that its folder has to the one that it gets: the step is
    /// none, or the version is refused.
    pub(super) fn version_change(
        &self,
        cluster: &Cluster,
        worker: &Name,
        old: &ClusterRow,
    ) -> impl Iterator<Item = Forbidden> {
        let from = old.rendered_versions().control_plane;
        let step = render::version_step(&from, &self.versions(cluster).control_plane);
        step.into_iter().chain(self.version_refused(cluster, worker, old))
    }
}
