//! How far each deletion is, and whether the evidence for its next step is there.
//!
//! The evidence is a fold of the cluster that was the worker when the deletion began: fresh, complete,
//! with the digest of exactly the folder that is committed, and with nothing in the namespace but what
//! that folder still has. Whatever is not so moves nothing. A later report than the commit it must be: no
//! earlier one can know the digest.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use super::ongoing::{is_removed, ongoing};
use super::policy::Policies;
use super::{PlanInput, unloaded};
use crate::model::api::Observation;
use crate::model::{
    ClusterRow, ClusterState, Condition, ConditionStatus, ControlPlaneRow, Deletion, DeletionRow,
    DeletionStep, Ending, FoldedCluster, FoldedReport, Freshness, Missing, Name, Progress, Stuck,
};

/// Deletions of a run, of clusters or of workers' own clusters: one name may be among both.
pub(super) type Deletions = BTreeMap<Name, Deletion>;

/// The object that a cluster is.
const CLUSTER: &str = "Cluster";
/// The condition that repeats whether Flux applied a cluster's folder.
const SYNCED: &str = "Synced";

/// What one acknowledgement could abandon, by who should report.
#[must_use]
pub fn stuck(input: &PlanInput<'_>) -> Vec<Stuck> {
    let (clusters, workers) = (under_way(input), retirements(input));
    Stuck::sets(clusters.iter().chain(&workers))
}

/// The deletions of clusters that have begun, with what this run does about them.
pub(super) fn under_way(input: &PlanInput<'_>) -> Deletions {
    let mut all = Deletions::new();
    let all_moves = ongoing(input);
    let policies = LazyCell::new(|| Policies::of(input.fleet));
    for (worker, lock) in &input.previous.workers {
        for (name, row) in &lock.clusters {
            let tenant = &row.row.tenant;
            let is_removed = || is_removed(input, name, tenant);
            // What is handed over is so to its end, and what its document says counts then.
            let moved = all_moves.get(name).filter(|moved| moved.transfers() || !is_removed());
            let leaves =
                moved.is_some_and(|moved| !moved.transfers()) && row.state == ClusterState::Bound;
            if (row.state == ClusterState::Deleting || leaves) && !all.contains_key(name) {
                let moved = moved.map(|moved| Moved {
                    is_named: moved.is_named(input, &policies, name),
                    is_kept: moved.is_kept(input, name),
                    transfers: moved.transfers(),
                });
                all.insert(name.clone(), of_cluster(input, name, worker, row, moved));
            }
        }
    }
    all
}

/// The deletions of workers' own clusters that have begun, with what this run does about them.
pub(super) fn retirements(input: &PlanInput<'_>) -> Deletions {
    let rows = input.previous.fleet.iter().flat_map(|lock| &lock.workers);
    let going = rows.filter(|(_, row)| row.state == ClusterState::Deleting);
    going.map(|(name, row)| (name.clone(), of_worker(input, name, row))).collect()
}

/// Whether a deletion that is part of a move would be called off if it were none.
pub(super) fn is_called_off_alone(
    input: &PlanInput<'_>,
    name: &Name,
    worker: &Name,
    row: &ClusterRow,
) -> bool {
    of_cluster(input, name, worker, row, None).progress == Progress::Cancelled
}

/// A cluster's deletion that begins now.
pub(super) fn begins(input: &PlanInput<'_>, worker: &Name, step: DeletionStep) -> Deletion {
    let missing = unheard(input, Some(worker), None).err().unwrap_or(Missing::NotApplied);
    Deletion {
        reporter: Some(worker.clone()),
        step: Some(step),
        progress: Progress::Begins,
        missing: Some(missing),
    }
}

/// The retirement of a worker whose document is gone and of which no cluster is recorded, and whose own
/// cluster stands: it begins unless clusters are reported there. One that carp did not make goes at once.
pub(super) fn retires(input: &PlanInput<'_>, name: &Name) -> Deletion {
    let lock = input.previous.fleet.as_ref();
    let made = lock.and_then(|lock| lock.workers.get(name)).is_some_and(|row| row.folder.is_some());
    let progress = if made { Progress::Begins } else { Progress::Ends(Ending::Detached) };
    let (reporter, step) =
        if made { (control_plane(input), Some(DeletionStep::D1)) } else { (None, None) };
    let missing =
        made.then(|| unheard(input, reporter.as_ref(), None).err().unwrap_or(Missing::NotApplied));
    match reported_there(input, name, made) {
        None => Deletion { reporter, step, progress, missing },
        Some(missing) => Deletion {
            reporter: Some(name.clone()),
            step: None,
            progress: Progress::Waits,
            missing: Some(missing),
        },
    }
}

/// What a report says that keeps a worker from retiring: clusters that no lock knows (let go of, or not
/// quite gone). Of a worker that is silent the locks say all that is known; if it has a cluster of its
/// own, that goes.
fn reported_there(input: &PlanInput<'_>, name: &Name, made: bool) -> Option<Missing> {
    let report = input.observed.workers.get(name)?;
    if input.abandoned.contains(name) {
        return None;
    }
    match (report.freshness, made) {
        (Freshness::Silent, true) => None,
        (Freshness::Silent, false) => Some(Missing::Silent),
        (Freshness::Fresh, _) if !report.complete => Some(Missing::Incomplete),
        (Freshness::Fresh, _) if report.clusters.is_empty() => None,
        (Freshness::Fresh, _) => {
            Some(Missing::Occupied(report.clusters.keys().map(ToString::to_string).collect()))
        }
    }
}

fn control_plane(input: &PlanInput<'_>) -> Option<Name> {
    let control_plane = input.fleet.spec.control_plane.as_ref()?;
    Name::parse(&control_plane.name).ok()
}

fn of_cluster(
    input: &PlanInput<'_>,
    name: &Name,
    worker: &Name,
    row: &ClusterRow,
    moved: Option<Moved>,
) -> Deletion {
    let desired = input.fleet.clusters.get(name);
    // Whoever brings back exactly what was removed means that the removal was a mistake.
    let same = desired.is_some_and(|c| c.facts == row.facts && c.index_row() == row.row);
    let kept = input.previous.kept.holds(name, worker) || moved.is_some_and(|m| m.is_kept);
    let case = Case {
        begun: row.state == ClusterState::Deleting,
        moved,
        input,
        name,
        tenant: Some(&row.row.tenant),
        reporter: Some(worker.clone()),
        row: row.deletion.as_ref(),
        desired: desired.is_some(),
        same,
        kept,
    };
    case.judge()
}

fn of_worker(input: &PlanInput<'_>, name: &Name, row: &ControlPlaneRow) -> Deletion {
    let kept = &input.previous.kept;
    let desired = input.fleet.workers.get(name);
    // A worker's own cluster goes nowhere.
    let (begun, moved) = (true, None);
    let facts = input.previous.workers.get(name).map(|lock| lock.facts);
    let case = Case {
        input,
        name,
        tenant: None,
        begun,
        moved,
        reporter: control_plane(input),
        row: row.deletion.as_ref(),
        desired: desired.is_some(),
        same: desired.is_some_and(|worker| Some(worker.facts) == facts),
        kept: kept.control_plane || kept.made.contains(name) || kept.workers.contains(name),
    };
    case.judge()
}

/// What is known of a move of which a deletion is part.
#[derive(Clone, Copy)]
struct Moved {
    /// Whether anything names the cluster still.
    is_named: bool,
    /// Whether files of it are kept as they are on either worker.
    is_kept: bool,
    /// Whether the cluster was handed over, so that what is deleted is what was left behind.
    transfers: bool,
}

/// A deletion that has begun, or that begins as part of a move once the worker is heard of.
struct Case<'a> {
    input: &'a PlanInput<'a>,
    name: &'a Name,
    /// Whose cluster has the name; `None` for a worker.
    tenant: Option<&'a str>,
    /// Whether its first step is committed.
    begun: bool,
    /// The move of which it is part.
    moved: Option<Moved>,
    reporter: Option<Name>,
    /// `None` where nobody knows what is committed.
    row: Option<&'a DeletionRow>,
    /// Whether a document of the name is there again.
    desired: bool,
    /// Whether it is the one that was removed.
    same: bool,
    kept: bool,
}

impl Case<'_> {
    fn judge(self) -> Deletion {
        let step = self.row.map_or(DeletionStep::D1, |row| row.step);
        let deletion = |step, progress, missing| Deletion {
            reporter: self.reporter.clone(),
            step: Some(step),
            progress,
            missing,
        };
        let waits = |missing| deletion(step, Progress::Waits, Some(missing));
        if !self.begun {
            return self.not_begun();
        }
        if self.kept {
            return waits(Missing::FolderKept);
        }
        if self.moved.is_some_and(|moved| !moved.transfers) && !self.desired {
            return waits(Missing::NotLoaded);
        }
        if step == DeletionStep::Orphan && self.is_broken() {
            return waits(Missing::NotLoaded);
        }
        if self.is_cancelled(step) {
            return deletion(step, Progress::Cancelled, None);
        }
        if self.input.abandoned.contains(self.name) {
            return deletion(step, Progress::Ends(Ending::Abandoned), None);
        }
        match (self.evidence(step), step) {
            (Err(missing), _) => waits(missing),
            (Ok(()), DeletionStep::D1) => {
                deletion(DeletionStep::D2, Progress::Steps, Some(Missing::NotApplied))
            }
            (Ok(()), DeletionStep::D2) => deletion(step, Progress::Ends(Ending::Deleted), None),
            (Ok(()), DeletionStep::Orphan) => {
                deletion(step, Progress::Ends(Ending::Orphaned), None)
            }
        }
    }

    /// The deletion of a cluster that is to leave a worker which was not heard of: nothing of it is
    /// deleted until the worker is heard of again, or somebody says that it never will be.
    fn not_begun(&self) -> Deletion {
        let deletion = |step, progress, missing| Deletion {
            reporter: self.reporter.clone(),
            step,
            progress,
            missing,
        };
        let waits = |missing| deletion(None, Progress::Waits, Some(missing));
        if self.kept {
            return waits(Missing::FolderKept);
        }
        if !self.desired {
            return waits(Missing::NotLoaded);
        }
        if self.moved.is_none_or(|moved| !moved.is_named) {
            return deletion(None, Progress::Cancelled, None);
        }
        if self.input.abandoned.contains(self.name) {
            return deletion(None, Progress::Ends(Ending::Abandoned), None);
        }
        match unheard(self.input, self.reporter.as_ref(), None) {
            Err(missing @ (Missing::Silent | Missing::NeverReported)) => waits(missing),
            _ if self.is_unsure() => waits(Missing::NotLoaded),
            _ => deletion(Some(DeletionStep::D1), Progress::Begins, Some(Missing::NotApplied)),
        }
    }

    /// Whether its document is there and did not load.
    fn is_broken(&self) -> bool {
        let fleet = self.input.fleet;
        self.tenant.map_or_else(
            || unloaded::names(fleet, "Worker", self.name),
            |tenant| fleet.is_broken(self.name, tenant),
        )
    }

    /// Whether nobody knows for sure what is gone.
    fn is_unsure(&self) -> bool {
        let input = self.input;
        self.tenant.map_or_else(|| input.deletions_wait(), |tenant| input.deletions_wait_of(tenant))
    }

    /// Whether the document came back in time. Where Flux was told to let go nothing was deleted, so
    /// that is always in time. A deletion is called off by the very document that was removed, as long
    /// as the worker says that its first step is not applied.
    fn is_cancelled(&self, step: DeletionStep) -> bool {
        match step {
            DeletionStep::Orphan => self.desired,
            DeletionStep::D1 => {
                let meant = self.moved.map_or(self.same, |moved| !moved.is_named);
                meant && self.is_untouched()
            }
            DeletionStep::D2 => false,
        }
    }

    /// Whether the worker reports the cluster as it was before the first step.
    fn is_untouched(&self) -> bool {
        let Some(row) = self.row else { return false };
        let heard = unheard(self.input, self.reporter.as_ref(), Some(row));
        heard.ok().and_then(|report| report.clusters.get(self.name)).is_some_and(|seen| {
            seen.digest.is_some_and(|digest| digest != row.digest)
                && seen.present.iter().any(|kind| kind == CLUSTER)
                && seen.phase != "Deleting"
        })
    }

    fn evidence(&self, step: DeletionStep) -> Result<(), Missing> {
        let report = unheard(self.input, self.reporter.as_ref(), self.row)?;
        let row = self.row.ok_or(Missing::NotApplied)?;
        let seen = report.clusters.get(self.name).ok_or(Missing::NotApplied)?;
        if seen.digest != Some(row.digest) {
            return Err(Missing::NotApplied);
        }
        match step {
            DeletionStep::Orphan => is_synced(&seen.conditions),
            DeletionStep::D1 | DeletionStep::D2 => is_gone(seen, row),
        }
    }
}

/// The fold of the cluster that reports, where it counts for a deletion.
fn unheard<'a>(
    input: &PlanInput<'a>,
    reporter: Option<&Name>,
    row: Option<&DeletionRow>,
) -> Result<&'a FoldedReport, Missing> {
    heard(input, reporter, row.and_then(|row| row.worker_uid.as_deref()))
}

/// The fold of a cluster that reports, where it counts as evidence. `pinned` is the identity that it must have.
pub(super) fn heard<'a>(
    input: &PlanInput<'a>,
    reporter: Option<&Name>,
    pinned: Option<&str>,
) -> Result<&'a FoldedReport, Missing> {
    let Some(reporter) = reporter else { return Err(Missing::NotObserved) };
    let Some(report) = input.observed.workers.get(reporter) else {
        let worker = input.fleet.workers.get(reporter);
        let observed = worker.is_none_or(|worker| worker.spec.observation == Observation::Agent);
        return Err(if observed { Missing::NeverReported } else { Missing::NotObserved });
    };
    if pinned.is_some_and(|pinned| pinned != report.worker_uid) {
        Err(Missing::AnotherWorker)
    } else if report.freshness == Freshness::Silent {
        Err(Missing::Silent)
    } else if report.complete {
        Ok(report)
    } else {
        Err(Missing::Incomplete)
    }
}

/// Whether nothing is left but what the committed folder has.
fn is_gone(seen: &FoldedCluster, row: &DeletionRow) -> Result<(), Missing> {
    let left: BTreeSet<String> =
        seen.present.iter().filter(|kind| !row.keeps.contains(*kind)).cloned().collect();
    if !left.is_empty() {
        return Err(Missing::StillThere(left));
    }
    // What has an identity is there, whatever the list says.
    if seen.uid.is_some() { Err(Missing::Contradictory) } else { Ok(()) }
}

/// Whether Flux applied the whole folder. The ManagedCluster with its digest may come before the rest.
fn is_synced(conditions: &[Condition]) -> Result<(), Missing> {
    let synced = conditions.iter().find(|condition| condition.kind == SYNCED);
    let applied = synced.is_none_or(|condition| condition.status == ConditionStatus::True);
    if applied { Ok(()) } else { Err(Missing::NotApplied) }
}

/// Whether a deletion ends in this run.
pub(super) fn ends(deletions: &Deletions, name: &Name) -> bool {
    deletions.get(name).is_some_and(|d| matches!(d.progress, Progress::Ends(_)))
}

/// Whether a deletion is called off in this run.
pub(super) fn is_cancelled(deletions: &Deletions, name: &Name) -> bool {
    deletions.get(name).is_some_and(|d| d.progress == Progress::Cancelled)
}

#[cfg(test)]
mod tests;
