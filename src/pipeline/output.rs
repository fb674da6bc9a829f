//! One run's output: which folder each cluster gets, and the tree that results.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::Files;
use super::folders::{put_folder, read_folder};
use super::form::Forms;
use super::found::Found;
use super::read::Read;
use super::records::ListedClusters;
use super::removed::Removed;
use crate::change::TreeEdit;
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::gate::{self, Chosen, NotMade, Objection};
use crate::model::{
    AcknowledgementSpent, Cluster, ClusterRow, ClusterState, Decision, Digest, Drifted, Gate, Hold,
    Id, Name, Owned, Plan, Planned, Snapshot, SteppedVersions, Store, StoreError, paths,
};
use crate::render::{self, Forbidden, Job};

/// What a run wrote.
pub(super) struct Written {
    pub(super) tree: Id,
    /// The tree with only what is the same in another form.
    pub(super) form: Option<Id>,
    pub(super) gates: Vec<Gate>,
    pub(super) found: Diagnostics,
    pub(super) rendered: u64,
    /// What a file that carp does not own is in the way of, with those files.
    pub(super) taken: BTreeMap<Owned, BTreeSet<String>>,
    /// The lock of the clusters that wait.
    pub(super) pending: Id,
    /// What was edited by hand and is as it was again.
    pub(super) set_back: Vec<Drifted>,
    /// Clusters that keep their last good folder, and with it another demand than was planned.
    pub(super) not_resized: BTreeSet<Name>,
    /// The objects that folders leave out.
    pub(super) removed: Option<Hold>,
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
    pub(super) edit: TreeEdit,
    pub(super) forms: Forms,
    rendered: u64,
    pub(super) taken: BTreeMap<Owned, BTreeSet<String>>,
    not_resized: BTreeSet<Name>,
    pub(super) removed: Removed,
    /// The clusters of all locks, once somebody asks.
    pub(super) placed: OnceCell<ListedClusters<'a>>,
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
            forms: Forms::default(),
            rendered: 0,
            taken: BTreeMap::new(),
            not_resized: BTreeSet::new(),
            removed: Removed::default(),
            placed: OnceCell::new(),
        }
    }

    pub(super) fn write(mut self) -> Result<Written, StoreError> {
        let set_back = self.set_back()?;
        self.note_kept();
        self.clusters()?;
        let waiting = self.records()?;
        let pending = self.pending_lock(&waiting)?;
        let workers: Vec<Name> = self.plan.workers.keys().cloned().collect();
        for worker in &workers {
            self.worker(worker)?;
        }
        self.gone_workers();
        self.control_plane()?;
        self.plan.holds.extend(self.removed.held());
        self.plan.holds.sort_by(|a, b| (a.kind, &a.names).cmp(&(b.kind, &b.names)));
        self.close(set_back, pending)
    }

    /// Makes the folder of every planned cluster, and its row.
    pub(super) fn clusters(&mut self) -> Result<(), StoreError> {
        let planned = self.plan.clusters.clone();
        for (name, planned) in &planned {
            if let Some((worker, row)) = self.cluster(name, planned)? {
                let row = ClusterRow { moves: self.arrived(name, &worker), ..row };
                if row.demand != planned.demand {
                    self.not_resized.insert(name.clone());
                }
                self.rows.entry(worker).or_default().insert(name.clone(), row);
            }
            self.keep_place(name);
        }
        Ok(())
    }

    /// Makes the tree.
    pub(super) fn close(
        mut self,
        set_back: Vec<Drifted>,
        pending: Id,
    ) -> Result<Written, StoreError> {
        let tree = self.edit.apply(self.store, self.snapshot.previous)?;
        let form = self.form_tree()?;
        self.gates.sort_by(|a, b| (&a.name, a.reason).cmp(&(&b.name, b.reason)));
        Ok(Written {
            tree,
            form,
            gates: self.gates,
            found: self.found.told(&self.read.diagnostics, &self.read.loaded.fleet),
            rendered: self.rendered,
            taken: self.taken,
            pending,
            set_back,
            not_resized: self.not_resized,
            removed: self.removed.all(),
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
        if self.read.previous.kept.holds(name, worker) {
            self.note_waiting(name, worker, old);
            return Ok(old.map(|row| (worker.clone(), row.clone())));
        }
        let row = match (&planned.decision, self.read.loaded.fleet.clusters.get(name)) {
            (Decision::Delete { step, .. }, _) => self.deleting(name, worker, *step, old)?,
            (Decision::Move { step, .. }, _) => self.leaving(name, worker, *step, old)?,
            (_, Some(cluster)) => {
                let row = self.desired(cluster, worker, planned, old)?;
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
        if let Err(objection) = gate::not_loaded(&self.read.loaded.fleet, name, &old.row.tenant) {
            self.object(name, objection);
        }
    }

    fn desired(
        &mut self,
        cluster: &Cluster,
        worker: &Name,
        planned: &Planned,
        old: Option<&ClusterRow>,
    ) -> Result<ClusterRow, StoreError> {
        let before = old.and_then(|old| old.folder);
        // What was deleted under this name, or is not deleted after all, is made anew.
        let old = old.filter(|_| !self.is_over(&cluster.name));
        let job = self.job(cluster, worker);
        let key = job.key();
        let row = |folder, versions| ClusterRow {
            state: ClusterState::Bound,
            deletion: None,
            moves: None,
            facts: cluster.facts,
            render_key: key,
            folder,
            record: old.and_then(|old| old.record),
            versions,
            group: group_of(planned, old),
            demand: planned.demand.clone(),
            row: cluster.index_row(),
        };
        let attempt = self.wanted(cluster, (worker, planned), (&job, key), (old, before));
        let attempt = attempt.map(|(folder, versions)| row(folder, versions));
        let chosen = gate::choose(attempt, || old.cloned().unwrap_or_else(|| row(None, None)))?;
        Ok(self.chosen(&cluster.name, chosen))
    }

    /// The folder of a cluster as it is wanted, which follows that of `old` and stands where `before` stood, and
    /// what the lock keeps of its versions.
    fn wanted(
        &mut self,
        cluster: &Cluster,
        (worker, planned): (&Name, &Planned),
        (job, key): (&Job, Digest),
        (old, before): (Option<&ClusterRow>, Option<Id>),
    ) -> Result<(Option<Id>, Option<SteppedVersions>), NotMade> {
        gate::resize_blocked(planned, old.is_some())?;
        let stands = |o: &&ClusterRow| o.state == ClusterState::Bound && o.folder.is_some();
        if let Some(old) = old.filter(stands).filter(|o| o.render_key == key) {
            return Ok((old.folder, self.stepped(cluster, None, Some(old))));
        }
        if before.is_none() && self.is_pending(worker) {
            return Ok((None, None));
        }
        self.rendered += 1;
        let files = job.render().map_err(gate::not_made)?;
        let mut same = false;
        if let Some((old, folder)) = old.and_then(|o| o.folder.map(|f| (o, f))) {
            let last = read_folder(self.store, folder)?;
            same = render::same_objects(&last, &files);
            self.may_follow(cluster, worker, old, (&last, &files))?;
        }
        let folder = put_folder(self.store, &files)?;
        self.fits(&paths::cluster(worker, &cluster.name), before, folder)?;
        if same {
            self.forms.cluster(&cluster.name, before, (key, folder));
        }
        if before != Some(folder) {
            self.note_new_folder(&cluster.name);
        }
        Ok((Some(folder), self.stepped(cluster, Some(&files), old)))
    }

    /// Whether a cluster's last good folder may be followed by a new one: it may not for what may not change,
    /// nor for objects that it leaves out.
    fn may_follow(
        &mut self,
        cluster: &Cluster,
        worker: &Name,
        old: &ClusterRow,
        (last, new): (&Files, &Files),
    ) -> Result<(), Objection> {
        let found = render::forbidden_changes(last, new).into_iter();
        let found = found.map(|found| placed_at(found, &cluster.file, cluster.document));
        gate::forbidden_change(found.chain(self.version_change(cluster, worker, old)).collect())?;
        let own = self.owns_pools(cluster, old);
        gate::objects_removed(self.leaves_out(&cluster.name, last, new, own))
    }

    /// Whether a pool is making the worker: what is given to it waits there and is not rendered yet.
    fn is_pending(&self, worker: &Name) -> bool {
        self.plan.workers.get(worker).is_some_and(|plan| plan.pending.is_some())
    }

    /// Takes what was chosen of a folder, and notes why where that is the last good one.
    pub(super) fn chosen<F>(&mut self, name: &Name, chosen: Chosen<F>) -> F {
        if let Some(objection) = chosen.objection {
            self.object(name, objection);
        }
        chosen.folder
    }

    /// Notes that a folder keeps its last good content.
    pub(super) fn object(&mut self, name: &Name, objection: Objection) {
        for finding in &objection.findings {
            self.found.on(name, finding.clone());
        }
        self.gates.push(objection.of(name));
    }
}

/// A finding about a rendered folder, shown at the document that the folder was made from.
pub(super) fn placed_at(found: Forbidden, file: &str, document: usize) -> Diagnostic {
    found.finding.at(Place::field(file, document, found.field))
}

/// The group of its policy's affinity that a cluster is placed in.
fn group_of(planned: &Planned, old: Option<&ClusterRow>) -> Option<String> {
    match &planned.decision {
        Decision::Bind(binding) => binding.group.clone(),
        _ => old.and_then(|old| old.group.clone()),
    }
}
