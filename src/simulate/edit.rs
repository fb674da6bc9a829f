//! Changes as edits of the input tree: what a person would write, change or remove.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Amount, By, Error, SimulatedChange, SimulatedFleet, add};
use crate::change::{TreeEdit, entry_at};
use crate::load::{emit_yaml, without_documents};
use crate::model::api::{API_VERSION, Drain, WorkerOverlaySpec};
use crate::model::{Fleet, Id, Name, Quantity, paths};

/// What becomes of the files.
struct FileEdits<'a> {
    fleet: &'a Fleet,
    /// The overlays that are other ones after it.
    overlays: BTreeMap<Name, WorkerOverlaySpec>,
    /// The documents that go, by file.
    gone: BTreeMap<String, BTreeSet<usize>>,
    /// The documents that come, by the folder that they come to.
    new: BTreeMap<String, Vec<Value>>,
    added: Vec<Name>,
}

/// The input tree with the changes made, and the clusters that were added.
pub(super) fn input(
    scene: &SimulatedFleet<'_>,
    changes: &[SimulatedChange],
    notes: &mut Vec<String>,
) -> Result<(Id, Vec<Name>), Error> {
    let fleet = &scene.before.fleet;
    let (overlays, gone) = (BTreeMap::new(), BTreeMap::new());
    let new = BTreeMap::new();
    let mut edit = FileEdits { fleet, overlays, gone, new, added: Vec::new() };
    for change in changes {
        edit.make(change, scene, notes)?;
    }
    edit.close();
    Ok((edit.apply(scene)?, edit.added))
}

/// The input tree with one more document.
pub(super) fn write(scene: &SimulatedFleet<'_>, document: Value) -> Result<Id, Error> {
    let (overlays, gone) = (BTreeMap::new(), BTreeMap::new());
    let fleet = &scene.before.fleet;
    let new = BTreeMap::from([(desired_folder(fleet), vec![document])]);
    FileEdits { fleet, overlays, gone, new, added: Vec::new() }.apply(scene)
}

impl FileEdits<'_> {
    fn make(
        &mut self,
        change: &SimulatedChange,
        scene: &SimulatedFleet<'_>,
        notes: &mut Vec<String>,
    ) -> Result<(), Error> {
        match change {
            SimulatedChange::Lose(worker) => return known(self.fleet, worker),
            SimulatedChange::Cordon(worker) => self.overlay(worker)?.unschedulable = Some(true),
            SimulatedChange::Uncordon(worker) => self.overlay(worker)?.unschedulable = Some(false),
            SimulatedChange::Drain(worker, max_unavailable) => {
                let drain = Drain { max_unavailable: *max_unavailable, ..Drain::default() };
                self.overlay(worker)?.drain = Some(drain);
            }
            SimulatedChange::Capacity(worker, amounts) => {
                for amount in amounts {
                    self.capacity(worker, amount)?;
                }
            }
            SimulatedChange::Add(clusters) => {
                let documents = add::documents(scene, clusters, self.added.len(), notes)?;
                for (name, document) in documents {
                    self.added.push(name);
                    self.new
                        .entry(clusters_folder(self.fleet, &document))
                        .or_default()
                        .push(document);
                }
            }
            SimulatedChange::Remove(worker) => {
                known(self.fleet, worker)?;
                let own = self.fleet.workers.get(worker);
                self.drop_document(own.map(|worker| (worker.file.clone(), worker.document)));
                let overlay = self.fleet.overlays.get(worker);
                self.drop_document(overlay.map(|overlay| (overlay.file.clone(), overlay.document)));
            }
            SimulatedChange::RemovePolicy(name) => {
                let policies = &self.fleet.policies;
                let policy = policies
                    .get(name)
                    .ok_or_else(|| Error::unknown("policy", name, policies.keys()))?;
                let Some(file) = &policy.file else { return Err(Error::BuiltIn(name.clone())) };
                self.drop_document(Some((file.clone(), policy.document)));
            }
        }
        Ok(())
    }

    /// The overlay of a worker as it is to be.
    fn overlay(&mut self, worker: &Name) -> Result<&mut WorkerOverlaySpec, Error> {
        known(self.fleet, worker)?;
        let there = || self.fleet.overlays.get(worker).map(|overlay| overlay.value.clone());
        Ok(self.overlays.entry(worker.clone()).or_insert_with(|| there().unwrap_or_default()))
    }

    fn capacity(&mut self, worker: &Name, amount: &Amount) -> Result<(), Error> {
        known(self.fleet, worker)?;
        let resource = &amount.resource;
        let of = |spec: &BTreeMap<String, Quantity>| spec.get(resource).copied();
        let declared = self.fleet.workers.get(worker).and_then(|w| of(&w.spec.capacity));
        let overlay = self.overlay(worker)?;
        let has = of(&overlay.capacity).or(declared).unwrap_or_default();
        let wanted = match amount.by {
            By::To(quantity) => quantity,
            By::Plus(quantity) => has.plus(quantity),
        };
        if wanted.is_negative() {
            let (worker, resource) = (worker.clone(), resource.clone());
            return Err(Error::Negative { worker, resource, amount: wanted });
        }
        overlay.capacity.insert(resource.clone(), wanted);
        Ok(())
    }

    fn drop_document(&mut self, place: Option<(String, usize)>) {
        if let Some((file, document)) = place {
            self.gone.entry(file).or_default().insert(document);
        }
    }

    /// Puts the overlays in the place of those that are there. One of a worker that goes goes with it.
    fn close(&mut self) {
        let removed = |edit: &Self, worker: &Name| {
            let of = edit.fleet.workers.get(worker);
            of.is_some_and(|w| edit.gone.get(&w.file).is_some_and(|g| g.contains(&w.document)))
        };
        for (worker, spec) in std::mem::take(&mut self.overlays) {
            if removed(self, &worker) {
                continue;
            }
            let there = self.fleet.overlays.get(&worker);
            self.drop_document(there.map(|overlay| (overlay.file.clone(), overlay.document)));
            self.new.entry(desired_folder(self.fleet)).or_default().push(json!({
                "apiVersion": API_VERSION,
                "kind": "WorkerOverlay",
                "metadata": {"name": worker},
                "spec": spec,
            }));
        }
    }

    fn apply(&self, scene: &SimulatedFleet<'_>) -> Result<Id, Error> {
        let (store, input) = (scene.store, &scene.snapshot.input);
        let mut edit = TreeEdit::default();
        for (file, gone) in &self.gone {
            let path = paths::in_repository(&input.prefix, file);
            let Some(entry) = entry_at(store, input.tree, &path)? else { continue };
            let text = String::from_utf8_lossy(&store.blob(entry.id)?).into_owned();
            match without_documents(&text, gone) {
                Some(left) => edit.file(&path, store.put_blob(left.as_bytes())?),
                None => edit.remove(&path),
            }
        }
        for (folder, documents) in &self.new {
            let texts: Vec<_> = documents.iter().map(emit_yaml).collect();
            let id = store.put_blob(texts.join("---\n").as_bytes())?;
            edit.file(&free_path(scene, folder)?, id);
        }
        Ok(edit.apply(store, Some(input.tree))?)
    }
}

/// The folder of what people want.
fn desired_folder(fleet: &Fleet) -> String {
    fleet.spec.roots.clone().unwrap_or_default().fleet
}

/// The folder that a new cluster's document comes to: the first of its tenant's, where it has any.
fn clusters_folder(fleet: &Fleet, document: &Value) -> String {
    let tenant = document.pointer("/metadata/namespace").and_then(Value::as_str);
    let tenant = tenant.and_then(|name| fleet.tenant(name));
    let own = tenant.and_then(|tenant| tenant.paths.first());
    own.map_or_else(|| desired_folder(fleet), |path| path.trim_end_matches('/').to_owned())
}

/// A file of a folder that is not there.
fn free_path(scene: &SimulatedFleet<'_>, folder: &str) -> Result<String, Error> {
    let (store, input) = (scene.store, &scene.snapshot.input);
    for number in 1_u32.. {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = format!("{folder}/simulated{suffix}.yaml");
        let path = paths::in_repository(&input.prefix, &path);
        if entry_at(store, input.tree, &path)?.is_none() {
            return Ok(path);
        }
    }
    unreachable!("a folder has fewer files than there are numbers")
}

/// Whether a worker is declared.
pub(super) fn known(fleet: &Fleet, worker: &Name) -> Result<(), Error> {
    if fleet.workers.contains_key(worker) {
        return Ok(());
    }
    Err(Error::unknown("worker", worker, fleet.workers.keys()))
}
