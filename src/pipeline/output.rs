//! One run's output: which folder each cluster gets, and the tree that results.

use std::collections::{BTreeMap, BTreeSet};

use super::folders::{put_folder, read_folder};
use super::found::Found;
use super::{Read, deletion};
use crate::change::{TreeEdit, entry_at};
use crate::diag::{Code, Diagnostic, Diagnostics, Place};
use crate::model::{
    AcknowledgementSpent, Cluster, ClusterRow, ClusterState, Decision, Gate, GateReason, Id, Name,
    Plan, Planned, Snapshot, Store, StoreError, paths,
};
use crate::render::{self, Forbidden};

/// What a run wrote.
pub(super) struct Written {
    pub(super) tree: Id,
    pub(super) gates: Vec<Gate>,
    pub(super) found: Diagnostics,
    pub(super) rendered: u64,
    /// A file that carp does not own is where carp must write, so nothing may be committed.
    pub(super) collided: bool,
    /// Clusters that keep their last good folder, and with it another demand than was planned.
    pub(super) not_resized: BTreeSet<Name>,
}

/// The run as it goes.
pub(super) struct Run<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) store: &'a dyn Store,
    pub(super) read: &'a Read,
    pub(super) plan: &'a mut Plan,
    pub(super) spent: Vec<AcknowledgementSpent>,
    pub(super) gates: Vec<Gate>,
    pub(super) found: Found,
    /// The rows of each worker's lock after the run.
    pub(super) rows: BTreeMap<Name, BTreeMap<Name, ClusterRow>>,
    edit: TreeEdit,
    rendered: u64,
    collided: bool,
    not_resized: BTreeSet<Name>,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        snapshot: &'a Snapshot,
        store: &'a dyn Store,
        read: &'a Read,
        plan: &'a mut Plan,
    ) -> Self {
        Self {
            snapshot,
            store,
            read,
            plan,
            spent: Vec::new(),
            gates: Vec::new(),
            found: Found::default(),
            rows: BTreeMap::new(),
            edit: TreeEdit::default(),
            rendered: 0,
            collided: false,
            not_resized: BTreeSet::new(),
        }
    }

    pub(super) fn write(mut self) -> Result<Written, StoreError> {
        let planned = self.plan.clusters.clone();
        for (name, planned) in &planned {
            if let Some((worker, row)) = self.cluster(name, planned)? {
                if row.demand != planned.demand {
                    self.not_resized.insert(name.clone());
                }
                self.rows.entry(worker).or_default().insert(name.clone(), row);
            }
        }
        let workers: Vec<Name> = self.plan.workers.keys().cloned().collect();
        for worker in &workers {
            self.worker(worker)?;
        }
        self.control_plane()?;
        self.records()?;
        let tree = self.edit.apply(self.store, self.snapshot.previous)?;
        self.gates.sort_by(|a, b| (&a.name, a.reason).cmp(&(&b.name, b.reason)));
        Ok(Written {
            tree,
            gates: self.gates,
            found: self.found.told(&self.read.diagnostics, &self.read.loaded.fleet),
            rendered: self.rendered,
            collided: self.collided,
            not_resized: self.not_resized,
        })
    }

    /// The worker of a cluster and its row there; `None` for a cluster that is on no worker.
    fn cluster(
        &mut self,
        name: &Name,
        planned: &Planned,
    ) -> Result<Option<(Name, ClusterRow)>, StoreError> {
        let Some(worker) = planned.decision.worker() else { return Ok(None) };
        let old = self.read.previous.workers.get(worker).and_then(|l| l.clusters.get(name));
        let row = match (&planned.decision, self.read.loaded.fleet.clusters.get(name)) {
            (Decision::Delete { .. }, _) => self.deleting(name, worker, old)?,
            (_, Some(cluster)) => Some(self.desired(cluster, worker, planned, old)?),
            (_, None) => {
                self.note_unloaded(name);
                old.cloned()
            }
        };
        Ok(row.map(|row| (worker.clone(), row)))
    }

    fn note_unloaded(&mut self, name: &Name) {
        let unloaded = &self.read.loaded.fleet.unloaded;
        if unloaded.iter().any(|u| u.name.as_deref() == Some(name)) {
            self.keep_last(name, GateReason::NotLoaded, Vec::new());
        }
    }

    fn desired(
        &mut self,
        cluster: &Cluster,
        worker: &Name,
        planned: &Planned,
        old: Option<&ClusterRow>,
    ) -> Result<ClusterRow, StoreError> {
        if let (Some(old), Some(_)) = (old, &planned.resize_blocked) {
            self.keep_last(&cluster.name, GateReason::ResizeBlocked, Vec::new());
            return Ok(old.clone());
        }
        let fleet = &self.read.loaded.fleet;
        let job = render::cluster_job(fleet, cluster, worker, &self.read.templates);
        let row = |folder| ClusterRow {
            state: ClusterState::Bound,
            facts: cluster.facts,
            render_key: job.key(),
            folder,
            demand: planned.demand.clone(),
            row: cluster.index_row(),
        };
        if let Some(old) = old.filter(|o| o.render_key == job.key() && o.folder.is_some()) {
            return Ok(row(old.folder));
        }
        self.rendered += 1;
        let last_good = || old.cloned().unwrap_or_else(|| row(None));
        let files = match job.render() {
            Ok(files) => files,
            Err(found) => {
                self.keep_last(&cluster.name, reason_of(&found), found.into_iter().collect());
                return Ok(last_good());
            }
        };
        if let Some((old, folder)) = old.and_then(|o| o.folder.map(|f| (o, f))) {
            let last = read_folder(self.store, folder)?;
            let mut found = render::forbidden_changes(&last, &files);
            found.extend(render::version_step(&old.row.version, &cluster.spec.version));
            if !found.is_empty() {
                let found = placed_at(found, &cluster.file, cluster.document);
                self.keep_last(&cluster.name, GateReason::ForbiddenChange, found);
                return Ok(last_good());
            }
        }
        Ok(row(Some(put_folder(self.store, &files)?)))
    }

    /// D1 of a cluster, once: afterwards its folder stays until a later step has its evidence.
    fn deleting(
        &mut self,
        name: &Name,
        worker: &Name,
        old: Option<&ClusterRow>,
    ) -> Result<Option<ClusterRow>, StoreError> {
        let Some((old, folder)) = old.and_then(|o| o.folder.map(|f| (o, f))) else {
            return Ok(old.cloned());
        };
        if old.state == ClusterState::Deleting {
            return Ok(Some(old.clone()));
        }
        match deletion::first_step(self.store, folder, &old.row.flavor, &self.read.templates)? {
            Ok(folder) => {
                let state = ClusterState::Deleting;
                Ok(Some(ClusterRow { state, folder: Some(folder), ..old.clone() }))
            }
            Err(found) => {
                // The deletion did not begin, so nothing may say that it did.
                if let Some(planned) = self.plan.clusters.get_mut(name) {
                    planned.decision = Decision::Keep { worker: worker.clone() };
                }
                self.keep_last(name, GateReason::RenderFailed, found.into_iter().collect());
                Ok(Some(old.clone()))
            }
        }
    }

    /// Notes that a folder keeps its last good content.
    pub(super) fn keep_last(&mut self, name: &Name, reason: GateReason, findings: Vec<Diagnostic>) {
        for finding in &findings {
            self.found.on(name, finding.clone());
        }
        self.gates.push(Gate { name: name.clone(), reason, findings });
    }

    /// Sets a file that carp owns from now on. `owned` says whether the last lock listed it.
    pub(super) fn set_file(&mut self, path: &str, id: Id, owned: bool) -> Result<(), StoreError> {
        let path = paths::in_repository(&self.snapshot.input.prefix, path);
        self.check_collision(&path, id, owned)?;
        self.edit.file(&path, id);
        Ok(())
    }

    /// Sets a folder that carp owns from now on.
    pub(super) fn set_dir(&mut self, path: &str, id: Id, owned: bool) -> Result<(), StoreError> {
        let path = paths::in_repository(&self.snapshot.input.prefix, path);
        self.check_collision(&path, id, owned)?;
        self.edit.dir(&path, id);
        Ok(())
    }

    /// Removes what the last lock listed.
    pub(super) fn remove(&mut self, path: &str) {
        self.edit.remove(&paths::in_repository(&self.snapshot.input.prefix, path));
    }

    fn check_collision(&mut self, path: &str, id: Id, owned: bool) -> Result<(), StoreError> {
        let Some(base) = self.snapshot.previous.filter(|_| !owned) else { return Ok(()) };
        if entry_at(self.store, base, path)?.is_none_or(|there| there.id == id) {
            return Ok(());
        }
        self.collided = true;
        let message = format!("`{path}` is on the output branch and is not carp's");
        self.found.push(Diagnostic::new(Code::OutputCollision, message).help(
            "move or remove that file on the output branch; carp never overwrites what it does not own",
        ));
        Ok(())
    }
}

/// Whether the templates failed or a check of what they made.
pub(super) fn reason_of(found: &Diagnostics) -> GateReason {
    let template = |d: &Diagnostic| matches!(d.code, Code::TemplateFailed | Code::TemplateBudget);
    if found.iter().any(template) { GateReason::RenderFailed } else { GateReason::CheckFailed }
}

/// Findings about a rendered folder, shown at the document that the folder was made from.
pub(super) fn placed_at(found: Vec<Forbidden>, file: &str, document: usize) -> Vec<Diagnostic> {
    let placed = |f: Forbidden| f.finding.at(Place::field(file, document, f.field));
    found.into_iter().map(placed).collect()
}
