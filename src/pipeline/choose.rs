//! Choosing: which content each folder gets, the one that the plan asks for or its last good one. It reads the plan
//! and changes nothing of it; where a folder does not stand as the plan had it, the choice says so
//! ([`Standing`](super::standing::Standing)).

use std::collections::BTreeMap;

use super::ahead::{FolderJob, take_each};
use super::choosing::{Choosing, placed_at};
use super::contents::Choice;
use super::folders::{put_folder, read_folder};
use super::handing_over::arrived;
use super::loss_guards::LossGuards;
use super::run::Run;
use super::versions::standing;
use crate::diag::FieldPath;
use crate::gate::{self, NotMade, Objection};
use crate::model::{
    Build, Cluster, ClusterPlan, ClusterRow, ClusterState, Decision, Id, Name, SteppedVersions,
    StoreError, WorkStage, paths,
};
use crate::render::{self, FolderChange, Job};

/// The field of a cluster that decides over its data store.
const DATA_STORE: &str = "spec.dataStore";

/// Chooses the content of every folder; `losses` says what is held of what they lose.
///
/// # Errors
/// The store failed.
pub(super) fn choose(run: Run<'_>, losses: LossGuards) -> Result<Choice, StoreError> {
    let mut choosing = Choosing::new(run, losses);
    choosing.note_kept();
    choosing.clusters()?;
    let own = choosing.workers()?;
    let control_plane = choosing.control_plane()?;
    Ok(choosing.close(own, control_plane))
}

/// Chooses the content of the planned clusters' folders alone.
///
/// # Errors
/// The store failed.
pub(super) fn choose_clusters(run: Run<'_>, losses: LossGuards) -> Result<Choice, StoreError> {
    let mut choosing = Choosing::new(run, losses);
    choosing.clusters()?;
    Ok(choosing.close(BTreeMap::new(), None))
}

impl Choosing<'_> {
    /// Makes the folder of every planned cluster, and its row.
    fn clusters(&mut self) -> Result<(), StoreError> {
        let Run { snapshot, plan, .. } = self.run;
        let Build { work, threads, .. } = &snapshot.build;
        work.begin(WorkStage::Rendering, plan.clusters.len());
        let jobs = self.run.cluster_jobs();
        take_each(jobs, *threads, plan.clusters.iter(), |(name, planned), job| {
            work.step();
            if let Some((worker, row)) = self.cluster(name, planned, job)? {
                let leaves = matches!(planned.decision, Decision::Move { .. });
                let row = ClusterRow { moves: None, suspended: row.suspended && leaves, ..row };
                if row.demand != planned.demand {
                    self.not_resized.insert(name.clone());
                }
                self.rows.entry(worker).or_default().insert(name.clone(), row);
            }
            Ok(())
        })
    }

    /// The worker of a cluster and its row there; `None` for a cluster that is on no worker.
    fn cluster(
        &mut self,
        name: &Name,
        planned: &ClusterPlan,
        job: Option<&FolderJob>,
    ) -> Result<Option<(Name, ClusterRow)>, StoreError> {
        let Some(worker) = planned.decision.worker() else { return Ok(None) };
        let old = self.run.read.previous.workers.get(worker).and_then(|l| l.clusters.get(name));
        if self.stands_still(name, planned, old) {
            return Ok(None);
        }
        let arrived = arrived(planned, old);
        let old = arrived.as_ref().or(old);
        let kept = self.run.read.previous.kept.holds(name, worker);
        if let Some(row) = self.handing_over(name, planned, old)? {
            if kept {
                self.note_waiting(name, worker, old);
            }
            return Ok(Some((worker.clone(), row)));
        }
        if kept {
            self.note_waiting(name, worker, old);
            return Ok(old.map(|row| (worker.clone(), row.clone())));
        }
        let cluster = self.run.read.loaded.fleet.clusters.get(name);
        let row = match (&planned.decision, cluster.zip(job)) {
            (Decision::Delete { step, .. }, _) => self.deleting(name, worker, *step, old)?,
            (Decision::Move { step, .. }, _) => self.leaving(name, worker, *step, old)?,
            (_, Some((cluster, job))) => {
                let row = self.desired(cluster, (worker, planned), job, old)?;
                self.note_not_called_off(name, worker, &row);
                Some(row)
            }
            (_, None) => {
                self.note_unloaded(name, old);
                old.cloned()
            }
        };
        Ok(row.map(|row| (worker.clone(), row)))
    }

    fn note_unloaded(&mut self, name: &Name, old: Option<&ClusterRow>) {
        let Some(old) = old else { return };
        if let Err(objection) = gate::not_loaded(&self.run.read.loaded.fleet, name, &old.row.tenant)
        {
            self.object(name, objection);
        }
    }

    fn desired(
        &mut self,
        cluster: &Cluster,
        (worker, planned): (&Name, &ClusterPlan),
        job: &FolderJob,
        old: Option<&ClusterRow>,
    ) -> Result<ClusterRow, StoreError> {
        let before = old.and_then(|old| old.folder);
        // What was deleted under this name, or is not deleted after all, is made anew.
        let old = old.filter(|_| !self.run.cluster_jobs().is_over(&cluster.name));
        let data_store = self.run.data_store(cluster, worker);
        let row = |folder, versions| ClusterRow {
            state: ClusterState::Bound,
            deletion: None,
            moves: None,
            suspended: false,
            facts: cluster.facts,
            render_key: job.key,
            folder,
            files: listed(old, folder),
            record: old.and_then(|old| old.record),
            versions,
            group: group_of(planned, old),
            data_store: data_store.clone(),
            demand: planned.demand.clone(),
            row: cluster.index_row(),
        };
        let attempt = self.wanted(cluster, (worker, planned), job, (old, before));
        let attempt = attempt.map(|(folder, versions)| row(folder, versions));
        let chosen = gate::choose(attempt, || old.cloned().unwrap_or_else(|| row(None, None)))?;
        Ok(self.chosen(&cluster.name, chosen))
    }

    /// The folder of a cluster as it is wanted, which follows that of `old` and stands where `before` stood, and
    /// what the lock keeps of its versions.
    fn wanted(
        &mut self,
        cluster: &Cluster,
        (worker, planned): (&Name, &ClusterPlan),
        job: &FolderJob,
        (old, before): (Option<&ClusterRow>, Option<Id>),
    ) -> Result<(Option<Id>, Option<SteppedVersions>), NotMade> {
        gate::resize_blocked(planned, old.is_some())?;
        if let Some(old) = standing(old, job.key) {
            return Ok((old.folder, self.run.stepped(cluster, None, Some(old))));
        }
        if before.is_none() && self.run.is_pending(worker) {
            return Ok((None, None));
        }
        self.run.may_render(cluster, worker)?;
        self.rendered += 1;
        let told = |found| {
            let found = (found, &self.trials);
            gate::not_made(self.run.at_parameters_of_cluster(cluster, worker, found))
        };
        let files = job.files().map_err(told)?;
        let mut same = false;
        if let Some((old, folder)) = old.and_then(|o| o.folder.map(|f| (o, f))) {
            let last = read_folder(self.run.store, folder)?;
            same = render::same_objects(&last, files);
            // Where both say the same there is nothing to compare.
            let change =
                if same { FolderChange::default() } else { FolderChange::between(&last, files) };
            self.may_follow(cluster, (worker, &job.job), old, &change)?;
        }
        let folder = put_folder(self.run.store, files)?;
        self.run.fits(&paths::cluster(worker, &cluster.name), before, folder)?;
        if same {
            self.forms.cluster(&cluster.name, before, (job.key, folder));
        }
        if before != Some(folder) {
            self.standing.anew(&cluster.name);
        }
        Ok((Some(folder), self.run.stepped(cluster, Some(files), old)))
    }

    /// Whether a cluster's last good folder may be followed by a new one: it may not for what may not change,
    /// nor for objects that it leaves out.
    fn may_follow(
        &mut self,
        cluster: &Cluster,
        (worker, job): (&Name, &Job),
        old: &ClusterRow,
        change: &FolderChange,
    ) -> Result<(), Objection> {
        let moves = self.run.changes_store(cluster, worker);
        let found = job.forbidden_changes(change).into_iter();
        let found = found.filter(|found| !moves || found.field != FieldPath::keys(DATA_STORE));
        let found = found.map(|found| placed_at(found, &cluster.file, cluster.document));
        gate::forbidden_change(
            found.chain(self.run.version_change(cluster, worker, old)).collect(),
        )?;
        self.cluster_loses((cluster, worker), old, change)
    }
}

/// What the lock lists of a folder that stays as it is.
fn listed(old: Option<&ClusterRow>, folder: Option<Id>) -> BTreeMap<String, Id> {
    old.filter(|old| old.folder == folder).map(|old| old.files.clone()).unwrap_or_default()
}

/// The group of its policy's affinity that a cluster is placed in.
fn group_of(planned: &ClusterPlan, old: Option<&ClusterRow>) -> Option<String> {
    match &planned.decision {
        Decision::Bind(binding) => binding.group.clone(),
        _ => old.and_then(|old| old.group.clone()),
    }
}
