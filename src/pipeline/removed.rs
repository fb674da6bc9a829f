//! What the folders of a run lose, found where they are chosen.

use std::collections::BTreeMap;

use super::choosing::{Choosing, placed_at};
use super::data_stores;
use crate::change::{LossOwner, PLATFORM};
use crate::gate::{self, Objection};
use crate::model::{Cluster, ClusterRow, Id, Name, StoreError, Worker, WorkerLock, paths};
use crate::render::{self, Files, FolderChange, Job, OwnChange};

impl Choosing<'_> {
    /// Whether a new folder may follow the last one, for what it leaves out or replaces. `before` makes the folder that
    /// the owner would have now if its document were what it was.
    ///
    /// # Errors
    /// It is held.
    pub(super) fn loses(
        &mut self,
        (name, tenant): (&Name, &str),
        change: &FolderChange,
        own: OwnChange,
        before: impl FnOnce(&Self) -> Option<Job>,
    ) -> Result<(), Objection> {
        let mut losses = render::losses(change, own);
        if losses.are_asked() {
            let files = before(self).and_then(|job| job.render().ok());
            let without = files.map(|files| change.to(&files));
            losses = losses.but_for(without.as_ref(), own.steps);
        }
        self.losses.count(LossOwner { name: name.as_str(), tenant }, losses)
    }

    /// Counts what a cluster loses, which follows its last good folder on a worker.
    ///
    /// # Errors
    /// It is held.
    pub(super) fn cluster_loses(
        &mut self,
        (cluster, worker): (&Cluster, &Name),
        old: &ClusterRow,
        change: &FolderChange,
    ) -> Result<(), Objection> {
        let own = self.own_change(cluster, old);
        self.loses((&cluster.name, &cluster.tenant), change, own, |choosing| {
            let before = Cluster { spec: change.last_spec()?, ..cluster.clone() };
            Some(choosing.run.cluster_jobs().job_at(&before, worker, &old.rendered_versions()))
        })
    }

    /// What a cluster's own document changed. What its class says is the class's, unless the document took another
    /// one.
    fn own_change(&self, cluster: &Cluster, old: &ClusterRow) -> OwnChange {
        let name = cluster.spec.class.as_ref();
        let classes = &self.run.read.loaded.fleet.classes;
        let class = name.and_then(|name| classes.get(name.as_str())).map(|class| &class.value);
        let class = class.filter(|_| name == old.row.class.as_ref());
        let of_class = class.is_some_and(|class| class.node_pools == cluster.spec.node_pools);
        let anything = old.facts != cluster.facts;
        OwnChange {
            anything,
            pools: anything && !of_class,
            // What a class can say of these may have been its own until now, and it may have taken it back.
            others: anything && class.is_none(),
            steps: old.versions.is_some(),
        }
    }

    /// Whether the own files of a worker may follow its last ones: they may not for what may not change, nor for a
    /// data store in use, nor for objects that they leave out. Only files that differ are read.
    pub(super) fn may_follow_own(
        &mut self,
        (worker, job): (&Worker, &Job),
        lock: &WorkerLock,
        new: &Files,
        ids: &BTreeMap<String, Id>,
    ) -> Result<Result<(), Objection>, StoreError> {
        let (last, new) = self.differing(&lock.files, new, ids)?;
        let change = FolderChange::between(&last, &new);
        let frozen = job.forbidden_changes(&change).into_iter();
        let frozen = frozen.map(|found| placed_at(found, &worker.file, worker.document));
        let found = frozen.chain(data_stores::missing(worker, lock)).collect();
        if let Err(objection) = gate::forbidden_change(found) {
            return Ok(Err(objection));
        }
        Ok(self.loses((&worker.name, PLATFORM), &change, OwnChange::default(), |_| None))
    }

    /// Notes what the control plane's own files lose, which are of no worker.
    pub(super) fn control_plane_loses(
        &mut self,
        old: &BTreeMap<String, Id>,
        new: &Files,
        ids: &BTreeMap<String, Id>,
    ) -> Result<bool, StoreError> {
        let (last, new) = self.differing(old, new, ids)?;
        let losses = render::losses(&FolderChange::between(&last, &new), OwnChange::default());
        let owner = LossOwner { name: paths::CONTROL_PLANE, tenant: PLATFORM };
        Ok(self.losses.count(owner, losses).is_err())
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
