//! What of a run is the same in another form. It gets a tree of its own, which is committed before the
//! rest: nobody has to look for one change of meaning among a thousand changes of quotes.
//!
//! A folder is the unit: one that says something new too is no change of form. The tree is the one before
//! with those folders in it, and with the locks, sentinels and digests that follow them; a run on top of
//! it ends in the same tree as a run on top of the one before.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::choosing::Choosing;
use super::contents::{Forms, OwnFiles};
use super::run::Run;
use super::writing::Writing;
use crate::change;
use crate::model::paths::{CLUSTERS_INDEX, SENTINEL, WORKERS_INDEX};
use crate::model::{
    Change, ClusterRow, Digest, FleetLock, FormOnly, Id, Name, Owned, Snapshot, Store, StoreError,
    WorkerLock, lock_to_bytes, paths,
};
use crate::render::{self, Files};

impl Run<'_> {
    /// Whether changes of form are told apart at all. Where the output branch is not as carp left it,
    /// that is mended first.
    fn tells_forms(self) -> bool {
        self.read.previous.damaged.is_empty() && self.read.drift.survey.drifted.is_empty()
    }
}

impl Choosing<'_> {
    /// Takes note of a worker's own files.
    pub(super) fn note_form(
        &mut self,
        name: &Name,
        old: &WorkerLock,
        new: (Digest, &Files),
        ids: &BTreeMap<String, Id>,
    ) -> Result<(), StoreError> {
        if self.same_files(&old.files, &[CLUSTERS_INDEX, SENTINEL], new.1)? {
            self.forms.differ |= ids.iter().any(|(path, id)| old.files.get(path) != Some(id));
            self.forms.workers.insert(name.clone(), (new.0, ids.clone()));
        }
        Ok(())
    }

    /// Takes note of the control plane's own files.
    pub(super) fn note_control_plane_form(
        &mut self,
        old: &FleetLock,
        new: (Digest, &Files),
        ids: &BTreeMap<String, Id>,
    ) -> Result<(), StoreError> {
        if self.same_files(&old.files, &[WORKERS_INDEX], new.1)? {
            self.forms.differ |= ids.iter().any(|(path, id)| old.files.get(path) != Some(id));
            self.forms.control_plane = Some((new.0, ids.clone()));
        }
        Ok(())
    }

    fn same_files(
        &self,
        old: &BTreeMap<String, Id>,
        without: &[&str],
        new: &Files,
    ) -> Result<bool, StoreError> {
        let own = || old.iter().filter(|(path, _)| !without.contains(&path.as_str()));
        if !self.run.tells_forms() || !own().map(|(path, _)| path).eq(new.keys()) {
            return Ok(false);
        }
        for (path, id) in own() {
            if !render::same_file(&self.run.store.blob(*id)?, &new[path]) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Writing<'_> {
    /// The tree with only the folders that were noted; `None` where there is none.
    pub(super) fn form_tree(&mut self) -> Result<Option<Id>, StoreError> {
        let forms = std::mem::take(&mut self.contents.forms);
        if !forms.differ || !self.run.tells_forms() || !self.taken.is_empty() {
            return Ok(None);
        }
        self.edit = change::TreeEdit::default();
        let read = self.run.read;
        for (name, lock) in &read.previous.workers {
            if !read.previous.kept.workers.contains(name) {
                self.form_of_worker(name, lock, &forms)?;
            }
        }
        if let Some(lock) =
            read.previous.fleet.as_ref().filter(|_| !read.previous.kept.control_plane)
        {
            self.form_of_control_plane(lock, &forms)?;
        }
        Ok(Some(self.edit.apply(self.run.store, self.run.snapshot.previous)?))
    }

    fn form_of_worker(
        &mut self,
        name: &Name,
        lock: &WorkerLock,
        forms: &Forms,
    ) -> Result<(), StoreError> {
        let row = |(cluster, old): (&Name, &ClusterRow)| {
            let row = match forms.clusters.get(cluster) {
                Some((key, folder)) => {
                    ClusterRow { render_key: *key, folder: Some(*folder), ..old.clone() }
                }
                None => old.clone(),
            };
            (cluster.clone(), row)
        };
        let rows: BTreeMap<_, _> = lock.clusters.iter().map(row).collect();
        let own = forms.workers.get(name);
        if rows == lock.clusters && own.is_none() {
            return Ok(());
        }
        let (render_key, mut files) = match own {
            Some((key, files)) => (*key, files.clone()),
            None => (lock.render_key, lock.files.clone()),
        };
        let index = self.index(name, &rows, &lock.files)?;
        files.remove(SENTINEL);
        files.extend(self.index_file(&lock.files, CLUSTERS_INDEX, &index)?);
        self.write_worker(
            name,
            rows,
            OwnFiles { facts: lock.facts, render_key, files, appliers: None },
        )
    }

    fn form_of_control_plane(&mut self, lock: &FleetLock, forms: &Forms) -> Result<(), StoreError> {
        if forms.made.is_empty() && forms.control_plane.is_none() {
            return Ok(());
        }
        let mut lock = lock.clone();
        lock.workers.extend(forms.made.clone());
        if let Some((key, files)) = &forms.control_plane {
            let index = lock.files.remove_entry(WORKERS_INDEX);
            lock.render_key = *key;
            lock.files.clone_from(files);
            lock.files.extend(index);
        }
        let index = self.workers_index(&lock.workers);
        let index = self.index_file(&lock.files, WORKERS_INDEX, &index)?;
        lock.files.extend(index);
        self.control_plane_paths(
            self.run.read.previous.fleet.as_ref(),
            &lock.files,
            &mut lock.workers,
        )?;
        let id = self.run.store.put_blob(&lock_to_bytes(&lock))?;
        let path = format!("{}/{}", paths::CONTROL_PLANE, paths::FLEET_LOCK);
        self.set_file(&Owned::ControlPlane, &path, id, true)
    }

    /// The file that lists others: the new one, unless it lists something else too.
    fn index_file(
        &self,
        old: &BTreeMap<String, Id>,
        path: &str,
        new: &[u8],
    ) -> Result<Option<(String, Id)>, StoreError> {
        let Some(old) = old.get(path) else { return Ok(None) };
        let same = render::same_file(&self.run.store.blob(*old)?, new);
        let id = if same { self.run.store.put_blob(new)? } else { *old };
        Ok(Some((path.to_owned(), id)))
    }
}

/// What a run changes besides the form of files.
pub(super) fn told_apart<'a>(
    store: &dyn Store,
    changes: &'a [Change],
    form: Option<&FormOnly>,
    tree: Id,
) -> Result<Cow<'a, [Change]>, StoreError> {
    match form.filter(|form| form.tree != tree) {
        Some(form) => Ok(change::diff(store, Some(form.tree), Some(tree))?.changes.into()),
        None => Ok(changes.into()),
    }
}

/// What a proposal says of the tree with only the changes of form.
pub(super) fn form_only(
    snapshot: &Snapshot,
    store: &dyn Store,
    tree: Option<Id>,
) -> Result<Option<FormOnly>, StoreError> {
    let Some(tree) = tree.filter(|tree| snapshot.previous != Some(*tree)) else { return Ok(None) };
    let changes = change::diff(store, snapshot.previous, Some(tree))?.changes;
    let message = change::form_message(&changes, &snapshot.input.prefix);
    Ok(Some(FormOnly { tree, changes, message }))
}
