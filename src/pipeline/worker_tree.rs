//! `workers/<worker>/`: the worker's own files, the index of its clusters, the sentinel and the lock.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::ahead::{FolderJob, take_each};
use super::choosing::Choosing;
use super::contents::OwnFiles;
use super::drift::must_write;
use super::folders::put_files;
use super::rows::{folder_digest, rendered};
use super::run::Run;
use super::writing::Writing;
use crate::gate;
use crate::model::paths::{CLUSTERS_INDEX, PLATFORM, SENTINEL};
use crate::model::{
    ClusterRow, Digest, Id, Name, Owned, StoreError, WORKER_LOCK_SCHEMA, WorkerLock, lock_to_bytes,
    paths,
};
use crate::render::{self, Appliers};

impl Choosing<'_> {
    /// The own files of every worker whose folder is written.
    pub(super) fn workers(&mut self) -> Result<BTreeMap<Name, OwnFiles>, StoreError> {
        let Run { snapshot, read, plan, .. } = self.run;
        let kept = &read.previous.kept.workers;
        let names: Vec<_> = plan.workers.keys().filter(|name| !kept.contains(*name)).collect();
        let (jobs, mut all) = (self.run.own_files_jobs(), BTreeMap::new());
        take_each(jobs, snapshot.build.threads, names.into_iter(), |name, made| {
            all.extend(self.own_files(name, made)?.map(|own| (name.clone(), own)));
            Ok(())
        })?;
        Ok(all)
    }

    /// The worker's own files: as they were where what they are made from is the same, or where there is no job that
    /// makes them.
    fn own_files(
        &mut self,
        name: &Name,
        made: Option<&FolderJob>,
    ) -> Result<Option<OwnFiles>, StoreError> {
        let old = self.run.read.previous.workers.get(name);
        let fleet = &self.run.read.loaded.fleet;
        let Some((worker, made)) = fleet.workers.get(name).zip(made) else {
            return Ok(old.map(|lock| OwnFiles::kept(lock, lock.facts)));
        };
        let (facts, render_key) = (worker.facts, made.key);
        if let Some(lock) = old.filter(|lock| lock.render_key == render_key) {
            return Ok(Some(OwnFiles::kept(lock, facts)));
        }
        let files = gate::worker_overrides_not_loaded(fleet, worker)
            .and_then(|()| made.files().map_err(gate::not_made));
        match files {
            Ok(files) => {
                let ids = put_files(self.run.store, files)?;
                if let Some(lock) = old {
                    let of = (worker, &made.job);
                    if let Err(objection) = self.may_follow_own(of, lock, files, &ids)? {
                        self.object(name, objection);
                        return Ok(Some(OwnFiles::kept(lock, lock.facts)));
                    }
                    self.note_form(name, lock, (render_key, files), &ids)?;
                }
                let appliers = files.get(PLATFORM).map(|platform| Appliers::of(platform));
                Ok(Some(OwnFiles { facts, render_key, files: ids, appliers }))
            }
            Err(objection) => {
                self.object(name, objection);
                if let Some(lock) = old {
                    return Ok(Some(OwnFiles::kept(lock, lock.facts)));
                }
                let none = Digest::of(b"");
                let files = put_files(self.run.store, &render::bare_folder(&[SENTINEL]))?;
                Ok(Some(OwnFiles { facts, render_key: none, files, appliers: None }))
            }
        }
    }
}

impl Writing<'_> {
    /// Writes a worker's folder if anything in it changed.
    pub(super) fn worker(&mut self, name: &Name, own: OwnFiles) -> Result<(), StoreError> {
        let rows = self.contents.rows.remove(name).unwrap_or_default();
        let old = self.run.read.previous.workers.get(name);
        let same = old.is_some_and(|lock| {
            lock.clusters == rows && lock.facts == own.facts && lock.render_key == own.render_key
        });
        if same && !must_write(&self.run.read.previous, name) {
            Ok(())
        } else {
            self.write_worker(name, rows, own)
        }
    }

    pub(super) fn write_worker(
        &mut self,
        name: &Name,
        mut rows: BTreeMap<Name, ClusterRow>,
        own: OwnFiles,
    ) -> Result<(), StoreError> {
        let old = self.run.read.previous.workers.get(name);
        let OwnFiles { facts, render_key, mut files, appliers } = own;
        if !files.contains_key(CLUSTERS_INDEX) {
            let index = match appliers {
                Some(appliers) => self.index_applied_by(name, &rows, &appliers),
                None => self.index(name, &rows, &files)?,
            };
            files.insert(CLUSTERS_INDEX.to_owned(), self.run.store.put_blob(&index)?);
        }
        let digest = folder_digest(&files, &rows);
        let sentinel = render::sentinel(name, &digest);
        files.insert(SENTINEL.to_owned(), self.run.store.put_blob(&sentinel)?);

        let root = paths::worker(name);
        let of = Owned::Worker(name.clone());
        let owned = |path: &str| old.is_some_and(|lock| lock.files.contains_key(path));
        for (path, id) in &files {
            if old.and_then(|lock| lock.files.get(path)) != Some(id) {
                self.set_file(&of, &format!("{root}/{path}"), *id, owned(path))?;
            }
        }
        for path in old.iter().flat_map(|lock| lock.files.keys()) {
            if !files.contains_key(path) {
                self.remove(&format!("{root}/{path}"));
            }
        }
        self.cluster_folders(name, &mut rows)?;
        let lock = WorkerLock {
            schema_version: WORKER_LOCK_SCHEMA,
            worker: name.clone(),
            facts,
            render_key,
            clusters: rows,
            files,
        };
        let id = self.run.store.put_blob(&lock_to_bytes(&lock))?;
        self.set_file(&of, &format!("{root}/{}", paths::WORKER_LOCK), id, true)
    }

    /// The list of a worker's clusters, where its own files are those of the commit before.
    pub(super) fn index(
        &mut self,
        name: &Name,
        rows: &BTreeMap<Name, ClusterRow>,
        files: &BTreeMap<String, Id>,
    ) -> Result<Vec<u8>, StoreError> {
        let appliers = match files.get(PLATFORM) {
            Some(platform) => self.appliers(*platform)?,
            None => Rc::default(),
        };
        Ok(self.index_applied_by(name, rows, &appliers))
    }

    fn index_applied_by(
        &self,
        name: &Name,
        rows: &BTreeMap<Name, ClusterRow>,
        appliers: &Appliers,
    ) -> Vec<u8> {
        let (fleet, prefix) = (&self.run.read.loaded.fleet, &self.run.snapshot.input.prefix);
        render::clusters_index(fleet, name, rendered(rows), appliers, prefix)
    }

    /// The accounts of a platform layer. Workers of one flavor share its text, so few are read.
    fn appliers(&mut self, platform: Id) -> Result<Rc<Appliers>, StoreError> {
        if let Some(known) = self.appliers.get(&platform) {
            return Ok(Rc::clone(known));
        }
        let read = Rc::new(Appliers::of(&self.run.store.blob(platform)?));
        self.appliers.insert(platform, Rc::clone(&read));
        Ok(read)
    }

    fn cluster_folders(
        &mut self,
        worker: &Name,
        rows: &mut BTreeMap<Name, ClusterRow>,
    ) -> Result<(), StoreError> {
        let none = BTreeMap::new();
        let old = self.run.read.previous.workers.get(worker).map_or(&none, |lock| &lock.clusters);
        for (cluster, row) in rows.iter_mut() {
            let last = old.get(cluster).map(|last| (last.folder, &last.files));
            row.files = self.set_folder(&paths::cluster(worker, cluster), row.folder, last)?;
        }
        let still = |name: &Name| rows.get(name).is_some_and(|row| row.folder.is_some());
        for (cluster, row) in old.iter().filter(|(name, _)| !still(name)) {
            if let Some(folder) = row.folder {
                self.remove_folder(&paths::cluster(worker, cluster), folder)?;
            }
        }
        Ok(())
    }

    /// The folders of workers that are gone: nothing is on them, and nothing of them is left.
    pub(super) fn gone_workers(&mut self) {
        let previous = &self.run.read.previous;
        let gone =
            previous.workers.iter().filter(|(name, _)| !self.run.plan.workers.contains_key(*name));
        let paths: Vec<String> = gone
            .flat_map(|(name, lock)| {
                let lock = lock.files.keys().map(String::as_str).chain([paths::WORKER_LOCK]);
                lock.map(|path| format!("{}/{path}", paths::worker(name))).collect::<Vec<_>>()
            })
            .collect();
        for path in &paths {
            self.remove(path);
        }
    }
}
