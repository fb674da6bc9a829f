//! The steps of a deletion as folders and rows, for a cluster and for a worker's own cluster alike.

use super::choosing::Choosing;
use super::folders::{put_folder, read_folder};
use super::writing::Writing;
use crate::change::files_of;
use crate::diag::Diagnostics;
use crate::gate;
use crate::model::{
    ClusterRow, ClusterState, ControlPlaneRow, DeletionRow, DeletionStep, Id, Name, Progress,
    Store, StoreError,
};
use crate::render::{self, Templates};

/// The folder after a step, made from the last good one, and what the lock keeps of it. The flavor of a
/// worker's own cluster is in no lock: its folder says it.
fn take(
    store: &dyn Store,
    templates: &Templates,
    (folder, flavor): (Id, Option<&str>),
    (step, worker_uid): (DeletionStep, Option<String>),
) -> Result<Result<(Id, DeletionRow), Diagnostics>, StoreError> {
    let last = read_folder(store, folder)?;
    let flavor = flavor.map_or_else(|| render::worker_flavor(&last), str::to_owned);
    match render::deletion_folder(&flavor, &last, templates, step) {
        Ok(files) => Ok(Ok((put_folder(store, &files)?, render::deletion_row(&files, worker_uid)))),
        Err(found) => Ok(Err(found)),
    }
}

impl Choosing<'_> {
    /// A cluster at a step of its deletion, made once: afterwards its folder stays until the next step
    /// has its evidence.
    pub(super) fn deleting(
        &mut self,
        name: &Name,
        worker: &Name,
        step: DeletionStep,
        old: Option<&ClusterRow>,
    ) -> Result<Option<ClusterRow>, StoreError> {
        let Some((old, folder)) = old.and_then(|o| o.folder.map(|f| (o, f))) else {
            return Ok(old.cloned());
        };
        if old.deletion.as_ref().is_some_and(|deletion| deletion.step == step) {
            return Ok(Some(old.clone()));
        }
        let uid = self.pinned(worker, old.deletion.as_ref());
        let templates = &self.run.read.templates;
        match take(self.run.store, templates, (folder, Some(&old.row.flavor)), (step, uid))? {
            Ok((folder, deletion)) => Ok(Some(ClusterRow {
                state: ClusterState::Deleting,
                suspended: false,
                deletion: Some(deletion),
                folder: Some(folder),
                ..old.clone()
            })),
            Err(found) => {
                // What is there stays, and nothing may say that the step was taken.
                let begun = old.deletion.as_ref().map(|before| before.step);
                self.standing.cluster(name, worker, begun);
                self.object(name, gate::not_rendered(found));
                Ok(Some(old.clone()))
            }
        }
    }

    /// A worker's own cluster on its way out. Its folder and `workers/<worker>/` stay to the end.
    pub(super) fn retiring(
        &mut self,
        name: &Name,
        before: Option<&ControlPlaneRow>,
    ) -> Result<Option<ControlPlaneRow>, StoreError> {
        let planned = self.run.plan.retirements.get(name);
        let step = planned.filter(|p| matches!(p.progress, Progress::Begins | Progress::Steps));
        let step = step.and_then(|planned| planned.step);
        let Some((before, folder)) = before.and_then(|b| b.folder.map(|f| (b, f))) else {
            return Ok(before.cloned());
        };
        let Some(step) = step else { return Ok(Some(before.clone())) };
        let reporter = planned.and_then(|planned| planned.reporter.clone());
        let uid = reporter.and_then(|reporter| self.pinned(&reporter, before.deletion.as_ref()));
        let templates = &self.run.read.templates;
        match take(self.run.store, templates, (folder, None), (step, uid))? {
            Ok((folder, deletion)) => Ok(Some(ControlPlaneRow {
                state: ClusterState::Deleting,
                deletion: Some(deletion),
                folder: Some(folder),
                ..before.clone()
            })),
            Err(found) => {
                let begun = before.deletion.as_ref().map(|before| before.step);
                self.standing.made(name, begun);
                self.object(name, gate::not_rendered(found));
                Ok(Some(before.clone()))
            }
        }
    }

    /// The identity of the cluster whose reports count: the one that reported when the deletion began.
    fn pinned(&self, reporter: &Name, before: Option<&DeletionRow>) -> Option<String> {
        match before {
            Some(before) => before.worker_uid.clone(),
            None => self.run.read.observed.workers.get(reporter).map(|r| r.worker_uid.clone()),
        }
    }

    /// A deletion that could not be called off, for what is wanted could not be made, is where it was.
    pub(super) fn note_not_called_off(&mut self, name: &Name, worker: &Name, row: &ClusterRow) {
        if let Some(before) = &row.deletion {
            self.standing.cluster(name, worker, Some(before.step));
        }
    }
}

impl Writing<'_> {
    /// Removes the files of a folder that carp put there. What others put beside them stays.
    pub(super) fn remove_folder(&mut self, path: &str, folder: Id) -> Result<(), StoreError> {
        for inner in files_of(self.run.store, folder)?.keys() {
            self.remove(&format!("{path}/{inner}"));
        }
        Ok(())
    }
}
