//! The guard over objects: what has machines, storage or network behind it and would be left out of a folder
//! is held, whatever the cause, and the folder keeps its last good content.
//!
//! A deletion that was decided makes its folders by steps of its own and is no matter of this guard.

use std::collections::{BTreeMap, BTreeSet};

use super::Files;
use super::choosing::Choosing;
use crate::model::{Cluster, ClusterRow, Hold, HoldKind, Id, Name, StoreError, paths};
use crate::render;

/// What a run would leave out, and whether somebody acknowledged exactly that.
#[derive(Default)]
pub(super) struct Removed {
    /// Each object, with its worker before it where its namespace does not say whose it is.
    objects: BTreeSet<String>,
    /// Whether they go.
    pub(super) acknowledged: bool,
}

impl Removed {
    /// Takes note of the objects that a folder leaves out; returns whether they hold the folder.
    fn hold(&mut self, owner: &str, objects: Vec<String>) -> bool {
        let held = !objects.is_empty() && !self.acknowledged;
        self.objects.extend(objects.into_iter().map(|object| of(owner, object)));
        held
    }

    /// All that is left out, as a hold; `None` where nothing is.
    pub(super) fn all(&self) -> Option<Hold> {
        let names: Vec<_> = self.objects.iter().cloned().collect();
        let hold = Hold { kind: HoldKind::ObjectsRemoved, names, allowed: None };
        (!hold.names.is_empty()).then_some(hold)
    }

    /// What is held of it.
    pub(super) fn held(&self) -> Option<Hold> {
        self.all().filter(|_| !self.acknowledged)
    }
}

/// An object as the hold names it: a cluster's own are in the namespace of its name.
fn of(owner: &str, object: String) -> String {
    let (_, place) = object.split_once(' ').unwrap_or_default();
    let namespace = place.split_once('/').map_or(place, |(namespace, _)| namespace);
    if namespace == owner { object } else { format!("{owner}: {object}") }
}

impl Choosing<'_> {
    /// Whether a folder keeps its last good content because the new one leaves objects out.
    pub(super) fn leaves_out(&mut self, name: &Name, last: &Files, new: &Files, own: bool) -> bool {
        self.removed.hold(name, render::removed_objects(last, new, own))
    }

    /// Whether it is a cluster's own document that changed its pools. Those of a class are the class's,
    /// unless the document took another one.
    pub(super) fn owns_pools(&self, cluster: &Cluster, old: &ClusterRow) -> bool {
        let class = cluster.spec.class.as_ref();
        let classes = &self.run.read.loaded.fleet.classes;
        let of_class = class
            .and_then(|class| classes.get(class.as_str()))
            .is_some_and(|class| class.value.node_pools == cluster.spec.node_pools);
        old.facts != cluster.facts && (!of_class || class != old.row.class.as_ref())
    }

    /// The objects that the own files of a worker leave out. Only files that differ are read.
    pub(super) fn leaves_out_own(
        &mut self,
        name: &Name,
        old: &BTreeMap<String, Id>,
        new: &Files,
        ids: &BTreeMap<String, Id>,
    ) -> Result<bool, StoreError> {
        let (last, new) = self.differing(old, new, ids)?;
        Ok(self.leaves_out(name, &last, &new, false))
    }

    /// The same for the control plane's own files, which are of no worker.
    pub(super) fn control_plane_leaves_out(
        &mut self,
        old: &BTreeMap<String, Id>,
        new: &Files,
        ids: &BTreeMap<String, Id>,
    ) -> Result<bool, StoreError> {
        let (last, new) = self.differing(old, new, ids)?;
        Ok(self.removed.hold(paths::CONTROL_PLANE, render::removed_objects(&last, &new, false)))
    }

    /// The files that are not the same before and after.
    fn differing(
        &self,
        old: &BTreeMap<String, Id>,
        new: &Files,
        ids: &BTreeMap<String, Id>,
    ) -> Result<(Files, Files), StoreError> {
        let written = [paths::CLUSTERS_INDEX, paths::SENTINEL, paths::WORKERS_INDEX];
        let mut last = Files::new();
        for (path, id) in old.iter().filter(|(path, _)| !written.contains(&path.as_str())) {
            if ids.get(path) != Some(id) {
                last.insert(path.clone(), self.run.store.blob(*id)?.to_vec());
            }
        }
        let changed = new.iter().filter(|(path, _)| old.get(*path) != ids.get(*path));
        Ok((last, changed.map(|(path, bytes)| (path.clone(), bytes.clone())).collect()))
    }
}
