//! `carp.lock` of a worker, from the records, the folders and the sentinel.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::overriding::{layers_job, overridden};
use super::records::{Records, nothing_known};
use super::{RebuildInput, no_key};
use crate::change::{ExpectedFolder, files_of};
use crate::load::read_yaml;
use crate::model::{
    Cluster, ClusterRow, ClusterState, DecisionRecord, Digest, Drifted, Edit, Entry, EntryKind, Id,
    MoveCause, MoveRow, Name, Owned, Previous, Quantity, RecordState, Resources, StoreError,
    WORKER_LOCK_SCHEMA, WorkerLock, paths,
};
use crate::pipeline::folders::{put_files, put_folder, read_folder};
use crate::pipeline::rows::{folder_digest, rendered};
use crate::render::{self, Appliers, Evidence, Files};

/// A rebuilt lock, and what of it is not as carp wrote it.
pub(super) struct RebuiltWorkerLock {
    pub(super) lock: WorkerLock,
    pub(super) drifted: Vec<Drifted>,
}

pub(super) fn rebuild(
    ground: RebuildInput<'_>,
    worker: &Name,
    previous: &Previous,
    records: &Records,
) -> Result<RebuiltWorkerLock, StoreError> {
    let mut clusters = BTreeMap::new();
    let mut drifted = Vec::new();
    for name in there(ground, worker, previous, records)? {
        let (row, edited) = row(ground, worker, &name, records)?;
        drifted.extend(edited);
        clusters.insert(name, row);
    }
    let files = owned_files(ground, worker, &clusters)?;
    let lock = WorkerLock {
        schema_version: WORKER_LOCK_SCHEMA,
        worker: worker.clone(),
        facts: no_key(),
        render_key: no_key(),
        clusters,
        files,
    };
    Ok(RebuiltWorkerLock { lock, drifted })
}

/// The clusters on a worker: those whose record says so, and those without a record whose folder is
/// here. What another lock lists is there and not here.
fn there(
    ground: RebuildInput<'_>,
    worker: &Name,
    previous: &Previous,
    records: &Records,
) -> Result<BTreeSet<Name>, StoreError> {
    let moving = |name: &Name| {
        records.get(name).is_some_and(|(_, record)| record.state == RecordState::Moving)
    };
    let elsewhere = |name: &Name| {
        if moving(name) {
            return false;
        }
        previous.pending.clusters.contains_key(name)
            || previous.workers.iter().any(|(w, l)| w != worker && l.clusters.contains_key(name))
    };
    let here = records.iter().filter(|(_, (_, record))| {
        let named = [&record.worker, &record.target];
        record.state != RecordState::Pending && named.contains(&&Some(worker.clone()))
    });
    let mut names: BTreeSet<Name> = here.map(|(name, _)| name.clone()).collect();
    let folders = ground.dir(&format!("{}/{}", paths::worker(worker), paths::CLUSTERS))?;
    let folders = folders.map(|entry| ground.store.dir(entry.id)).transpose()?.unwrap_or_default();
    for (folder, entry) in folders.iter().filter(|(_, entry)| entry.kind == EntryKind::Dir) {
        let name = Name::parse(folder).ok().filter(|name| records.get(name).is_none());
        if let Some(name) = name
            && render::evidence(&name, &read_folder(ground.store, entry.id)?, None).named
        {
            names.insert(name);
        }
    }
    names.retain(|name| !elsewhere(name));
    Ok(names)
}

fn row(
    ground: RebuildInput<'_>,
    worker: &Name,
    name: &Name,
    records: &Records,
) -> Result<(ClusterRow, Option<Drifted>), StoreError> {
    let desired = ground.fleet.clusters.get(name);
    let path = paths::cluster(worker, name);
    let job = desired.map(|cluster| {
        let job = render::cluster_job(ground.fleet, cluster, worker, ground.templates);
        overridden(job, ground.fleet, cluster, worker)
    });
    let expected = job.and_then(|job| job.render().ok());
    let folder = folder(ground, name, &path, expected.as_ref())?;
    let (evidence, own) = folder.map(|own| (own.evidence, (own.id, own.files))).unzip();
    let (id, files) = own.unzip();
    let record = records.get(name);
    let said = record.map(|(_, record)| record.demand.clone()).filter(|d| !d.is_empty());
    let demand = said.or_else(|| desired.map(|cluster| cluster.demand.clone()));
    let edited = evidence.as_ref().filter(|e| !e.proven).map(|_| edited(worker, path));
    let deleting = evidence.as_ref().is_some_and(|e| e.deleting);
    let versions = evidence.as_ref().and_then(|e| e.versions.clone());
    let data_store = evidence.as_ref().and_then(|e| e.data_store.clone());
    let row = evidence.and_then(|e| e.row).or_else(|| desired.map(Cluster::index_row));
    let moves = record.and_then(|(_, record)| kept_place(worker, record));
    let state = match moves {
        Some(_) => ClusterState::Reserved,
        None => super::state_of(records, name, deleting),
    };
    // How far a deletion is says its folder, once all locks are there.
    let row = ClusterRow {
        state,
        deletion: None,
        moves,
        suspended: record.is_some_and(|(_, record)| record.suspends_on(worker)),
        facts: desired.map_or_else(no_key, |cluster| cluster.facts),
        render_key: no_key(),
        folder: id,
        files: files.unwrap_or_default(),
        record: record.map(|(id, _)| *id),
        versions,
        group: record.and_then(|(_, record)| record.group.clone()),
        data_store,
        demand: demand.unwrap_or_else(one_cluster),
        row: row.unwrap_or_else(nothing_known),
    };
    Ok((row, edited))
}

/// The move of a cluster whose place this worker keeps.
fn kept_place(worker: &Name, record: &DecisionRecord) -> Option<MoveRow> {
    let kept = record.state == RecordState::Moving && record.target.as_ref() == Some(worker);
    let from = record.worker.clone().filter(|_| kept)?;
    let transfer = record.transfer.clone();
    Some(MoveRow { from, cause: record.cause.unwrap_or(MoveCause::Drain), transfer })
}

fn one_cluster() -> Resources {
    [("clusters".to_owned(), Quantity::units(1))].into()
}

/// An edited folder where no lock says what carp had left. If it is to be kept, the worker's whole folder
/// is: a rebuilt lock that listed the edit would make it carp's.
fn edited(worker: &Name, path: String) -> Drifted {
    Drifted { of: Owned::Worker(worker.clone()), path, edit: Edit::Changed, was: None }
}

/// What is carp's of a folder.
pub(super) struct OwnFolder {
    pub(super) evidence: Evidence,
    /// The id that this alone has.
    pub(super) id: Id,
    /// Its files, where others' lie beside them.
    pub(super) files: BTreeMap<String, Id>,
}

/// What is carp's of a folder; `None` where nothing of it is there.
pub(super) fn folder(
    ground: RebuildInput<'_>,
    name: &Name,
    path: &str,
    expected: Option<&Files>,
) -> Result<Option<OwnFolder>, StoreError> {
    let Some(entry) = ground.dir(path)? else { return Ok(None) };
    let evidence = render::evidence(name, &read_folder(ground.store, entry.id)?, expected);
    if evidence.own.is_empty() {
        return Ok(None);
    }
    let id = put_folder(ground.store, &evidence.own)?;
    let files =
        if id == entry.id { BTreeMap::new() } else { put_files(ground.store, &evidence.own)? };
    Ok(Some(OwnFolder { evidence, id, files }))
}

/// The worker's own files, as far as anything proves that they are carp's: the sentinel has the digest
/// of them all, and what would be rendered now is carp's where it is there already.
fn owned_files(
    ground: RebuildInput<'_>,
    worker: &Name,
    rows: &BTreeMap<Name, ClusterRow>,
) -> Result<BTreeMap<String, Id>, StoreError> {
    let Some(entry) = ground.dir(&paths::worker(worker))? else { return Ok(BTreeMap::new()) };
    let below = format!("{}/", paths::CLUSTERS);
    let all: ExpectedFolder = files_of(ground.store, entry.id)?
        .into_iter()
        .filter(|(path, entry)| {
            entry.kind == EntryKind::File && path != paths::WORKER_LOCK && !path.starts_with(&below)
        })
        .collect();
    let sentinel = sentinel(ground, worker, &all)?;
    let candidates = ids(all.iter().filter(|(path, _)| *path != paths::SENTINEL));
    let platform = all.get(paths::PLATFORM).map(|entry| ground.store.blob(entry.id)).transpose()?;
    let appliers = platform.map(|platform| Appliers::of(&platform)).unwrap_or_default();
    let expected = expected_files(ground, worker, rows, &appliers)?;
    let usual: BTreeMap<_, _> =
        candidates.iter().filter(|(path, _)| expected.contains_key(*path)).map(own).collect();
    let said = sentinel.as_ref().map(|(_, digest)| *digest);
    let proven = [&candidates, &usual].into_iter().find(|f| said == Some(folder_digest(f, rows)));
    let mut files = match proven {
        Some(files) => files.clone(),
        None => {
            usual.iter().filter(|(path, id)| expected.get(*path) == Some(id)).map(own).collect()
        }
    };
    files.extend(sentinel.map(|(id, _)| (paths::SENTINEL.to_owned(), id)));
    Ok(files)
}

fn own((path, id): (&String, &Id)) -> (String, Id) {
    (path.clone(), *id)
}

fn ids<'a>(files: impl Iterator<Item = (&'a String, &'a Entry)>) -> BTreeMap<String, Id> {
    files.map(|(path, entry)| (path.clone(), entry.id)).collect()
}

/// The sentinel, if it is as carp writes it, and the digest that it carries.
fn sentinel(
    ground: RebuildInput<'_>,
    worker: &Name,
    files: &ExpectedFolder,
) -> Result<Option<(Id, Digest)>, StoreError> {
    let Some(entry) = files.get(paths::SENTINEL) else { return Ok(None) };
    let bytes = ground.store.blob(entry.id)?;
    let value: Option<Value> = read_yaml(&bytes).ok();
    let digest = value.as_ref().and_then(|v| v.pointer("/data/digest")?.as_str()?.parse().ok());
    let is_ours = |digest: &Digest| render::sentinel(worker, digest) == *bytes;
    Ok(digest.filter(is_ours).map(|digest| (entry.id, digest)))
}

/// What the worker's own files would be now, where its document loaded.
fn expected_files(
    ground: RebuildInput<'_>,
    worker: &Name,
    rows: &BTreeMap<Name, ClusterRow>,
    appliers: &Appliers,
) -> Result<BTreeMap<String, Id>, StoreError> {
    let RebuildInput { fleet, prefix, templates, store, .. } = ground;
    let job = fleet.workers.get(worker);
    let job = job.map(|document| layers_job(fleet, document, templates, prefix));
    let files = job.and_then(|job| job.render().ok()).unwrap_or_default();
    let mut files = put_files(store, &files)?;
    let index = render::clusters_index(fleet, worker, rendered(rows), appliers, prefix);
    files.insert(paths::CLUSTERS_INDEX.to_owned(), store.put_blob(&index)?);
    Ok(files)
}
