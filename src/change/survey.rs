//! The output branch as it is, against what the locks say that carp left there.
//!
//! Ids are compared, so no file is read, and a folder in which an earlier survey found nothing is not
//! entered. The cost follows the change.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::compare::{ExpectedFolder, Unlike, compare};
use crate::model::{
    Clean, Dir, Drifted, Entry, EntryKind, FleetLock, Id, Name, Owned, Previous, Store, StoreError,
    Survey, WorkerLock, paths,
};

/// Finds what is not as the locks say.
///
/// # Errors
/// A folder cannot be read.
pub fn survey(
    store: &dyn Store,
    root: &Dir,
    previous: &Previous,
    clean: &Clean,
) -> Result<Survey, StoreError> {
    let mut found = Survey::default();
    let workers = subdir(root, paths::WORKERS);
    surveyed_workers(store, workers, previous, clean, &mut found)?;
    if let Some(lock) = &previous.fleet {
        let folder = subdir(root, paths::CONTROL_PLANE);
        let unlike = compare(store, folder, &of_control_plane(lock))?;
        let made: BTreeMap<&str, &Name> = lock.workers.keys().map(|n| (n.as_str(), n)).collect();
        add(&mut found, without(unlike, paths::FLEET_LOCK), paths::CONTROL_PLANE, |path| {
            let first = path.split('/').next().unwrap_or_default();
            Some(made.get(first).map_or(Owned::ControlPlane, |name| Owned::Made((*name).clone())))
        });
    }
    decisions(store, subdir(root, paths::DECISIONS), workers, previous, clean, &mut found)?;
    found.drifted.sort();
    found.foreign.sort();
    Ok(found)
}

/// Notes the trees in which nothing was found, or that a run left as its locks say.
///
/// # Errors
/// The workers' folder cannot be read.
pub fn remember(
    store: &dyn Store,
    root: &Dir,
    workers: impl IntoIterator<Item = Name>,
    clean: &mut Clean,
) -> Result<(), StoreError> {
    let (folder, decisions) = (subdir(root, paths::WORKERS), subdir(root, paths::DECISIONS));
    let listing = folder.map(|entry| store.dir(entry.id)).transpose()?.unwrap_or_default();
    let known = workers.into_iter().filter_map(|name| listing.get(&name));
    clean.workers = known.map(|entry| entry.id).collect();
    clean.decisions = folder.zip(decisions).map(|(workers, own)| (own.id, workers.id));
    Ok(())
}

fn subdir(root: &Dir, name: &str) -> Option<Entry> {
    root.get(name).filter(|entry| entry.kind == EntryKind::Dir)
}

fn surveyed_workers(
    store: &dyn Store,
    folder: Option<Entry>,
    previous: &Previous,
    clean: &Clean,
    found: &mut Survey,
) -> Result<(), StoreError> {
    let listing: Arc<Dir> =
        folder.map(|entry| store.dir(entry.id)).transpose()?.unwrap_or_default();
    for (name, lock) in &previous.workers {
        let entry = listing.get(name);
        let known = entry.is_some_and(|entry| clean.workers.contains(&entry.id));
        if known {
            continue;
        }
        let unlike = compare(store, entry, &of_worker(lock))?;
        let clusters: BTreeMap<&str, &Name> =
            lock.clusters.keys().map(|name| (name.as_str(), name)).collect();
        add(found, without(unlike, paths::WORKER_LOCK), &paths::worker(name), |path| {
            let mut parts = path.split('/');
            let inner = (parts.next() == Some(paths::CLUSTERS)).then(|| parts.next()).flatten();
            Some(match inner.and_then(|name| clusters.get(name)) {
                Some(cluster) => Owned::Cluster((*cluster).clone()),
                None => Owned::Worker(name.clone()),
            })
        });
    }
    Ok(())
}

/// What a worker's lock lists.
fn of_worker(lock: &WorkerLock) -> ExpectedFolder {
    let files = lock.files.iter().map(|(path, id)| (path.clone(), file(*id)));
    let folders = lock
        .clusters
        .iter()
        .filter_map(|(name, row)| Some((format!("{}/{name}", paths::CLUSTERS), dir(row.folder?))));
    files.chain(folders).collect()
}

fn of_control_plane(lock: &FleetLock) -> ExpectedFolder {
    let files = lock.files.iter().map(|(path, id)| (path.clone(), file(*id)));
    let folders =
        lock.workers.iter().filter_map(|(name, row)| Some((name.to_string(), dir(row.folder?))));
    files.chain(folders).collect()
}

/// The records and the lock of those that wait.
fn decisions(
    store: &dyn Store,
    folder: Option<Entry>,
    workers: Option<Entry>,
    previous: &Previous,
    clean: &Clean,
    found: &mut Survey,
) -> Result<(), StoreError> {
    let pair = folder.zip(workers).map(|(own, workers)| (own.id, workers.id));
    if pair.is_some() && pair == clean.decisions {
        return Ok(());
    }
    let placed = previous
        .workers
        .values()
        .flat_map(|lock| lock.clusters.iter().filter_map(|(name, row)| Some((name, row.record?))));
    let waiting = previous.pending.clusters.iter();
    let waiting = waiting.filter_map(|(name, row)| Some((name, row.record?)));
    let mut names = BTreeMap::new();
    let mut expected = ExpectedFolder::new();
    for (name, id) in placed.chain(waiting) {
        let path = format!("{}/{name}.yaml", paths::shard(name));
        names.insert(path.clone(), name.clone());
        expected.insert(path, file(id));
    }
    let unlike = without(compare(store, folder, &expected)?, paths::PENDING_LOCK);
    add(found, unlike, paths::DECISIONS, |path| names.get(path).cloned().map(Owned::Record));
    Ok(())
}

fn file(id: Id) -> Entry {
    Entry { kind: EntryKind::File, id }
}

fn dir(id: Id) -> Entry {
    Entry { kind: EntryKind::Dir, id }
}

/// A lock lists all but itself.
fn without(mut unlike: Unlike, lock: &str) -> Unlike {
    unlike.foreign.retain(|(path, _)| path != lock);
    unlike
}

/// Adds what is unlike in a folder, whose paths belong to what `owner` says.
fn add(found: &mut Survey, unlike: Unlike, folder: &str, owner: impl Fn(&str) -> Option<Owned>) {
    found.drifted.extend(unlike.edited.into_iter().filter_map(|(path, edit, was)| {
        let of = owner(&path)?;
        Some(Drifted { of, path: format!("{folder}/{path}"), edit, was: Some(was) })
    }));
    found.foreign.extend(unlike.foreign.into_iter().map(|(path, entry)| {
        let end = if entry.kind == EntryKind::Dir { "/" } else { "" };
        format!("{folder}/{path}{end}")
    }));
}
