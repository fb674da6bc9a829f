//! Version steps: which versions a cluster's folder has on its way to the one that its document wants.
//!
//! On a worker with an agent:
//! - the control plane goes first, to any patch at once and to a later minor one at a time, through the
//!   table in `policies/` (KubeadmControlPlane's webhook: at most one minor a step);
//! - the pools follow once a report shows that all of the control plane is there: a kubelet is never newer
//!   than its API server (Kubernetes' version skew policy), and a new machine joins only a control plane
//!   of its own minor (Cluster API, `KubeadmVersionSkew`);
//! - the next minor comes once the pools are there, too, and the cluster is running;
//! - evidence is a fresh and complete report of the pinned worker, made after the worker applied the
//!   folder with these versions, of the `Cluster` object that was there when the step began.
//!
//! What was never available has nothing to skew with: its parts step together. A worker without an agent
//! gives no evidence, so there a step is one commit for all parts, at most one minor, and Cluster API's own
//! checks before it makes a machine keep the order. A version that goes back is refused by what renders.
//! See `docs/adr/0021`.

#[cfg(test)]
mod tests;

use super::PlanInput;
use crate::model::api::Observation;
use crate::model::{
    Cluster, ClusterRow, FoldedCluster, Freshness, KubeVersion, Name, StepWait, VersionStep,
    Versions, tables,
};

/// The step of a cluster that has a worker; `None` where its folder has, or gets now, what its document
/// wants.
pub(super) fn step(
    input: &PlanInput<'_>,
    worker: &Name,
    row: &ClusterRow,
    cluster: &Cluster,
) -> Option<VersionStep> {
    if row.versions.is_none() && row.row.version == cluster.spec.version {
        return None;
    }
    row.folder?;
    let document = input.fleet.workers.get(worker);
    if document.is_some_and(|worker| worker.spec.observation == Observation::None) {
        return None;
    }
    let rendered = row.rendered_versions();
    let now = FolderVersions {
        control_plane: parse(&rendered.control_plane)?,
        pools: parse(&rendered.pools)?,
    };
    let desired: KubeVersion = parse(&cluster.spec.version)?;
    if desired < now.control_plane {
        return None;
    }
    let evidence = VersionEvidence::new(input, worker, row, cluster);
    let has_pools = !cluster.spec.node_pools.is_empty();
    let (next, waits) = match next(now, desired, has_pools, &evidence)? {
        NextVersion::Goes(next) => (next, evidence.after_a_step()),
        NextVersion::Waits(wait) => (now, wait),
    };
    let next = if has_pools { next } else { FolderVersions { pools: next.control_plane, ..next } };
    if next == (FolderVersions { control_plane: desired, pools: desired }) {
        return None;
    }
    let uid = if next == now { evidence.pinned } else { evidence.pinned.or(evidence.uid()) };
    let versions =
        Versions { control_plane: next.control_plane.to_string(), pools: next.pools.to_string() };
    let desired = cluster.spec.version.clone();
    Some(VersionStep { versions, desired, waits, uid: uid.map(str::to_owned) })
}

fn parse(version: &str) -> Option<KubeVersion> {
    version.parse().ok()
}

/// The versions of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FolderVersions {
    control_plane: KubeVersion,
    pools: KubeVersion,
}

enum NextVersion {
    Goes(FolderVersions),
    Waits(StepWait),
}

/// What comes next; `None` where the table knows no way, which what renders refuses.
fn next(
    now: FolderVersions,
    desired: KubeVersion,
    has_pools: bool,
    evidence: &VersionEvidence<'_>,
) -> Option<NextVersion> {
    let same_minor = |to: KubeVersion| {
        (to.major, to.minor) == (now.control_plane.major, now.control_plane.minor)
    };
    if has_pools && now.pools < now.control_plane {
        return Some(match evidence.of_the_control_plane(now) {
            Ok(()) => NextVersion::Goes(FolderVersions { pools: now.control_plane, ..now }),
            Err(_) if desired > now.control_plane && same_minor(desired) => {
                NextVersion::Goes(FolderVersions { control_plane: desired, ..now })
            }
            Err(wait) => NextVersion::Waits(wait),
        });
    }
    let to = towards(now.control_plane, desired)?;
    if to == now.control_plane {
        return Some(NextVersion::Goes(now));
    }
    if same_minor(to) {
        return Some(NextVersion::Goes(FolderVersions { control_plane: to, ..now }));
    }
    Some(match evidence.of_all(now, has_pools) {
        Ok(EverMade::Before) => NextVersion::Goes(FolderVersions { control_plane: to, ..now }),
        Ok(EverMade::NotYet) => NextVersion::Goes(FolderVersions { control_plane: to, pools: to }),
        Err(wait) => NextVersion::Waits(wait),
    })
}

/// The version that a control plane goes to next: the desired one, or one of the minor before it.
fn towards(from: KubeVersion, desired: KubeVersion) -> Option<KubeVersion> {
    let beyond = desired.major != from.major || desired.minor > from.minor + 1;
    if beyond { tables::version_between(from.major, from.minor + 1) } else { Some(desired) }
}

/// Whether a cluster was ever available.
enum EverMade {
    Before,
    NotYet,
}

/// What is known of a cluster on its worker.
struct VersionEvidence<'a> {
    row: &'a ClusterRow,
    /// Whether there is a fresh and complete report of its worker.
    reported: bool,
    /// What that says of it; `None` where nothing of it is there.
    seen: Option<&'a FoldedCluster>,
    /// The `Cluster` object that counts; `None`: any does.
    pinned: Option<&'a str>,
}

impl<'a> VersionEvidence<'a> {
    fn new(input: &PlanInput<'a>, worker: &Name, row: &'a ClusterRow, cluster: &Cluster) -> Self {
        let report = input.observed.workers.get(worker);
        let report = report.filter(|r| r.freshness == Freshness::Fresh && r.complete);
        let seen = report.and_then(|report| report.clusters.get(&cluster.name));
        let mut evidence = Self { row, reported: report.is_some(), seen, pinned: None };
        // A person who changes the document means the cluster that is there now.
        evidence.pinned = match &row.versions {
            Some(stepped) if cluster.facts == row.facts => stepped.uid.as_deref(),
            _ => evidence.uid(),
        };
        evidence
    }

    fn uid(&self) -> Option<&'a str> {
        self.seen?.uid.as_deref()
    }

    /// What is waited for once a step was taken: no report can know of it yet.
    fn after_a_step(&self) -> StepWait {
        if self.reported { StepWait::NotApplied } else { StepWait::NoReport }
    }

    /// The cluster as reported, if the report speaks of the folder as it is.
    fn current(&self) -> Result<Option<&'a FoldedCluster>, StepWait> {
        if !self.reported {
            return Err(StepWait::NoReport);
        }
        let Some(stepped) = &self.row.versions else { return Ok(self.seen) };
        let applied = self.seen.and_then(|seen| seen.digest);
        if stepped.digest.is_none() || applied != stepped.digest {
            return Err(StepWait::NotApplied);
        }
        if self.pinned.is_some() && self.uid() != self.pinned {
            return Err(StepWait::OtherObject);
        }
        Ok(self.seen)
    }

    /// Whether all of the control plane is where the folder has it.
    fn of_the_control_plane(&self, now: FolderVersions) -> Result<(), StepWait> {
        let seen = self.current()?.ok_or(StepWait::NotApplied)?;
        let version = seen.control_plane_version.as_deref().and_then(parse);
        (version == Some(now.control_plane)).then_some(()).ok_or(StepWait::ControlPlane)
    }

    /// Whether all of the cluster is where the folder has it, or nothing of it was ever available.
    fn of_all(&self, now: FolderVersions, has_pools: bool) -> Result<EverMade, StepWait> {
        let Some(seen) = self.current()? else { return Ok(EverMade::NotYet) };
        if matches!(seen.phase.as_str(), "Pending" | "Provisioning") {
            return Ok(EverMade::NotYet);
        }
        self.of_the_control_plane(now)?;
        if has_pools && seen.pool_version.as_deref().and_then(parse) != Some(now.pools) {
            return Err(StepWait::Pools);
        }
        match seen.phase.as_str() {
            "Running" | "Updating" => Ok(EverMade::Before),
            _ => Err(StepWait::NotRunning),
        }
    }
}
