//! `control-plane/`: what the cluster that makes the workers syncs, and the fleet's lock.

use std::collections::BTreeMap;

use super::ahead::{FolderJob, take_each};
use super::choosing::{Choosing, placed_at};
use super::contents::ControlPlaneContents;
use super::folders::{put_files, put_folder, read_folder, standing_settings};
use super::loss_guards::Remembered;
use super::run::Run;
use super::worker_jobs::WorkerClusterJobs;
use super::writing::Writing;
use crate::change::{self, PLATFORM};
use crate::gate::{self, NotMade};
use crate::model::paths::WORKERS_INDEX;
use crate::model::{
    ClusterState, ControlPlaneRow, Digest, FLEET_LOCK_SCHEMA, FleetLock, Id, LockName, Name, Owned,
    PoolLock, PoolPlan, Progress, Signers, StoreError, Worker, WorkerState, lock_to_bytes, paths,
};
use crate::render::{self, FolderChange, Job, OwnChange, RenderSettings};

impl Choosing<'_> {
    /// What the control plane gets; `None` where it is not written.
    pub(super) fn control_plane(&mut self) -> Result<Option<ControlPlaneContents>, StoreError> {
        if self.run.read.previous.kept.control_plane {
            return Ok(None);
        }
        let old = self.run.read.previous.fleet.as_ref();
        let workers = self.worker_clusters(old)?;
        let (render_key, files) = self.control_plane_files(old, &workers)?;
        Ok(Some(ControlPlaneContents { workers, render_key, files }))
    }

    /// The row of each worker whose own cluster the control plane makes.
    fn worker_clusters(
        &mut self,
        old: Option<&FleetLock>,
    ) -> Result<BTreeMap<Name, ControlPlaneRow>, StoreError> {
        let Run { snapshot, read, plan, .. } = self.run;
        let (jobs, mut rows) = (self.run.worker_cluster_jobs(), BTreeMap::new());
        let threads = snapshot.build.threads;
        take_each(jobs, threads, plan.workers.iter(), |(name, planned), made| {
            let before = old.and_then(|lock| lock.workers.get(name));
            let kept = read.previous.kept.made.contains(name);
            let row = match planned.state {
                _ if kept => before.cloned(),
                WorkerState::Desired | WorkerState::Kept => {
                    self.worker_cluster(name, before, made)?
                }
                WorkerState::Retiring => self.retiring(name, before)?,
                WorkerState::NotLoaded | WorkerState::RemovedInUse => before.cloned(),
            };
            rows.extend(row.map(|row| (name.clone(), row)));
            Ok(())
        })?;
        Ok(rows)
    }

    fn worker_cluster(
        &mut self,
        name: &Name,
        before: Option<&ControlPlaneRow>,
        made: Option<&FolderJob>,
    ) -> Result<Option<ControlPlaneRow>, StoreError> {
        let worker = self.run.read.loaded.fleet.workers.get(name);
        let Some((worker, made)) = worker.zip(made) else { return Ok(before.cloned()) };
        if let Some(before) = WorkerClusterJobs::standing(before, made.key) {
            return Ok(Some(before.clone()));
        }
        let retired = self.run.plan.retirements.get(name);
        let over = retired.is_some_and(|d| matches!(d.progress, Progress::Ends(_)));
        let last = before.and_then(|before| before.folder).filter(|_| !over);
        let attempt = self.new_worker_cluster(worker, made, before, last);
        let chosen = gate::choose(attempt.map(Some), || before.cloned())?;
        Ok(self.chosen(name, chosen))
    }

    /// The row of a worker's own cluster with a new folder, which follows the folder `last`.
    fn new_worker_cluster(
        &mut self,
        worker: &Worker,
        made: &FolderJob,
        before: Option<&ControlPlaneRow>,
        last: Option<Id>,
    ) -> Result<ControlPlaneRow, NotMade> {
        let name = &worker.name;
        gate::worker_overrides_not_loaded(&self.run.read.loaded.fleet, worker)?;
        let told = |found| {
            let found = (found, &self.trials);
            gate::not_made(self.run.at_parameters_of_worker(worker, found))
        };
        let files = made.files().map_err(told)?;
        let mut same = false;
        if let Some(folder) = last {
            let last = read_folder(self.run.store, folder)?;
            same = render::same_objects(&last, files);
            let change = FolderChange::between(&last, files);
            let found = made.job.forbidden_changes(&change).into_iter();
            let found = found.map(|found| placed_at(found, &worker.file, worker.document));
            gate::forbidden_change(found.collect())?;
            // The pools of a worker that a pool made are that pool's.
            let lock = self.run.read.previous.workers.get(&worker.name);
            let own =
                lock.is_some_and(|lock| lock.facts != worker.facts) && worker.made_by.is_none();
            let own = OwnChange { anything: own, pools: own, others: own, steps: false };
            if !same {
                self.loses((&worker.name, PLATFORM), &change, own, |choosing| {
                    let before = Worker { spec: change.last_spec()?, ..worker.clone() };
                    choosing.run.worker_cluster_jobs().of(&before)
                })?;
            }
        }
        let folder = put_folder(self.run.store, files)?;
        let before = before.and_then(|before| before.folder);
        self.run.fits(&paths::control_plane(name), before, folder)?;
        let row = ControlPlaneRow {
            state: ClusterState::Bound,
            deletion: None,
            render_key: made.key,
            folder: Some(folder),
            files: BTreeMap::new(),
        };
        if same {
            self.forms.made(name, before, row.clone());
        }
        Ok(row)
    }

    /// The control plane's own files, as they were where what they are made from is the same.
    fn control_plane_files(
        &mut self,
        old: Option<&FleetLock>,
        workers: &BTreeMap<Name, ControlPlaneRow>,
    ) -> Result<(Digest, BTreeMap<String, Id>), StoreError> {
        let kept = |lock: &FleetLock| {
            let mut files = lock.files.clone();
            files.remove(WORKERS_INDEX);
            (lock.render_key, files)
        };
        let own = RenderSettings::of(&self.run.read.loaded.fleet.spec);
        let mut job = self.control_plane_job(own.clone());
        // Where nothing changed, what stands was looked at when the lock was made.
        if let Some(lock) = old.filter(|lock| lock.render_key == job.key()) {
            return Ok(kept(lock));
        }
        let Run { read, store, .. } = self.run;
        // What this run makes it makes with the fleet's own.
        let folders = workers.iter().filter_map(|(name, row)| {
            let last = old?.workers.get(name)?.folder;
            row.folder.filter(|folder| last == Some(*folder))
        });
        let settings = standing_settings(store, &read.loaded.fleet, &read.templates, folders)?;
        if settings != own {
            job = self.control_plane_job(settings);
        }
        let key = job.key();
        if let Some(lock) = old.filter(|lock| lock.render_key == key) {
            return Ok(kept(lock));
        }
        match job.render() {
            Ok(files) => {
                let ids = put_files(self.run.store, &files)?;
                if let Some(lock) = old {
                    if self.control_plane_loses(&lock.files, &files, &ids)? {
                        return Ok(kept(lock));
                    }
                    self.note_control_plane_form(lock, (key, &files), &ids)?;
                }
                Ok((key, ids))
            }
            Err(found) => {
                found.into_iter().for_each(|finding| self.found.push(finding));
                if let Some(lock) = old {
                    return Ok(kept(lock));
                }
                let files = put_files(self.run.store, &render::bare_folder(&[WORKERS_INDEX]))?;
                Ok((Digest::of(b""), files))
            }
        }
    }

    fn control_plane_job(&self, settings: RenderSettings) -> Job {
        let Run { read, snapshot, .. } = self.run;
        let prefix = &snapshot.input.prefix;
        render::control_plane_job(&read.loaded.fleet, &read.templates, prefix, settings)
    }
}

impl Writing<'_> {
    pub(super) fn write_control_plane(&mut self) -> Result<(), StoreError> {
        let Some(chosen) = self.contents.control_plane.take() else { return Ok(()) };
        let ControlPlaneContents { mut workers, render_key, mut files } = chosen;
        let old = self.run.read.previous.fleet.as_ref();
        let index = self.workers_index(&workers);
        files.insert(WORKERS_INDEX.to_owned(), self.run.store.put_blob(&index)?);

        self.control_plane_paths(old, &files, &mut workers)?;
        let lock = self.fleet_lock(old, render_key, workers, files);
        let lost = self.run.read.previous.is_damaged(&LockName::Fleet);
        if old == Some(&lock) && !lost {
            return Ok(());
        }
        let id = self.run.store.put_blob(&lock_to_bytes(&lock))?;
        let path = format!("{}/{}", paths::CONTROL_PLANE, paths::FLEET_LOCK);
        self.set_file(&Owned::ControlPlane, &path, id, true)
    }

    /// The list of the workers that the control plane makes.
    pub(super) fn workers_index(&self, workers: &BTreeMap<Name, ControlPlaneRow>) -> Vec<u8> {
        let (fleet, prefix) = (&self.run.read.loaded.fleet, &self.run.snapshot.input.prefix);
        let made = workers.iter().filter(|(_, row)| row.folder.is_some()).map(|(name, _)| name);
        render::control_plane_index(fleet, made, prefix)
    }

    pub(super) fn control_plane_paths(
        &mut self,
        old: Option<&FleetLock>,
        files: &BTreeMap<String, Id>,
        workers: &mut BTreeMap<Name, ControlPlaneRow>,
    ) -> Result<(), StoreError> {
        for (path, id) in files {
            let before = old.and_then(|lock| lock.files.get(path));
            if before != Some(id) {
                let path = format!("{}/{path}", paths::CONTROL_PLANE);
                self.set_file(&Owned::ControlPlane, &path, *id, before.is_some())?;
            }
        }
        for path in old.iter().flat_map(|lock| lock.files.keys()) {
            if !files.contains_key(path) {
                self.remove(&format!("{}/{path}", paths::CONTROL_PLANE));
            }
        }
        for (name, row) in workers.iter_mut() {
            let last = old.and_then(|lock| lock.workers.get(name));
            let last = last.map(|last| (last.folder, &last.files));
            row.files = self.set_folder(&paths::control_plane(name), row.folder, last)?;
        }
        for (name, row) in old.iter().flat_map(|lock| &lock.workers) {
            if let Some(folder) = row.folder.filter(|_| !workers.contains_key(name)) {
                self.remove_folder(&paths::control_plane(name), folder)?;
            }
        }
        Ok(())
    }

    /// What is in force from this run on. In a run that holds something the lock's own guards, roots,
    /// tenants and signers stay: a commit that loosens a guard does not profit from it.
    fn fleet_lock(
        &self,
        old: Option<&FleetLock>,
        render_key: Digest,
        workers: BTreeMap<Name, ControlPlaneRow>,
        files: BTreeMap<String, Id>,
    ) -> FleetLock {
        let spec = &self.run.read.loaded.fleet.spec;
        let holds = !self.run.plan.holds.is_empty();
        let (guards, roots, tenants, signers) = match old.filter(|_| holds) {
            Some(lock) => {
                (lock.guards, lock.roots.clone(), lock.tenants.clone(), lock.signers.clone())
            }
            None => (
                spec.guards.unwrap_or_default(),
                spec.roots.clone().unwrap_or_default(),
                spec.tenants.clone(),
                Signers::of(spec),
            ),
        };
        let recent = old.map(|lock| lock.recent.as_slice()).unwrap_or_default();
        let Remembered { held, did } = &self.remembered;
        FleetLock {
            schema_version: FLEET_LOCK_SCHEMA,
            guards,
            roots,
            tenants,
            signers,
            spent: self.spent.clone(),
            held: held.clone(),
            recent: change::remember_run(recent, did, self.run.snapshot.now),
            render_key,
            pools: self.pools(),
            workers,
            files,
        }
    }

    /// What is remembered of the pools. A worker whose retirement a guard held takes part again, and what
    /// is gone is forgotten.
    fn pools(&self) -> BTreeMap<Name, PoolLock> {
        let fleet = &self.run.read.loaded.fleet;
        let lock = |plan: &PoolPlan| {
            let mut lock = plan.lock.clone();
            lock.workers.retain(|name, row| {
                let state = self.run.plan.workers.get(name).map(|worker| worker.state);
                let begins = plan.spare.contains(name);
                row.leaving &= !begins || state == Some(WorkerState::Retiring);
                state.is_some() || fleet.workers.contains_key(name)
            });
            lock
        };
        self.run.plan.pools.iter().map(|(name, plan)| (name.clone(), lock(plan))).collect()
    }
}
