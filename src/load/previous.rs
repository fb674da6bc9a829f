//! The locks of the output branch: the only memory there is.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::reports::newer;
use super::tree;
use crate::diag::{Code, Diagnostic, Diagnostics, Place};
use crate::model::paths::{
    CONTROL_PLANE, DECISIONS, FLEET_LOCK, PENDING_LOCK, WORKER_LOCK, WORKERS,
};
use crate::model::{
    Dir, EntryKind, FLEET_LOCK_SCHEMA, Id, Memo, Name, PENDING_SCHEMA, Previous, Store, StoreError,
    WORKER_LOCK_SCHEMA, WorkerLock, lock_from_bytes,
};

/// Reads the locks of an output tree. One that cannot be read, or is of a newer format, is an error, and
/// the caller stops: without it carp would not know what it owns.
///
/// # Errors
/// The store failed.
pub fn previous(
    store: &dyn Store,
    output: Option<Id>,
    prefix: &str,
    memo: &mut Memo,
) -> Result<(Previous, Diagnostics), StoreError> {
    let mut previous = Previous::default();
    let mut found = Diagnostics::default();
    let Some(root) = output.map(|tree| tree::dir_at(store, tree, prefix)).transpose()?.flatten()
    else {
        memo.locks.clear();
        return Ok((previous, found));
    };
    workers(store, &root, memo, &mut previous, &mut found)?;
    if let Some(id) = file_in(store, &root, DECISIONS, PENDING_LOCK)? {
        let path = format!("{DECISIONS}/{PENDING_LOCK}");
        previous.pending = lock(store, id, &path, PENDING_SCHEMA, &mut found)?.unwrap_or_default();
    }
    if let Some(id) = file_in(store, &root, CONTROL_PLANE, FLEET_LOCK)? {
        let path = format!("{CONTROL_PLANE}/{FLEET_LOCK}");
        previous.fleet = lock(store, id, &path, FLEET_LOCK_SCHEMA, &mut found)?;
    }
    Ok((previous, found))
}

fn workers(
    store: &dyn Store,
    root: &Dir,
    memo: &mut Memo,
    previous: &mut Previous,
    found: &mut Diagnostics,
) -> Result<(), StoreError> {
    let mut used = BTreeMap::new();
    let workers = root.get(WORKERS).filter(|e| e.kind == EntryKind::Dir);
    let workers = workers.map(|e| store.dir(e.id)).transpose()?.unwrap_or_default();
    for (folder, _) in workers.iter().filter(|(_, e)| e.kind == EntryKind::Dir) {
        // A folder without a lock is not carp's.
        let Some(id) = file_in(store, &workers, folder, WORKER_LOCK)? else { continue };
        let path = format!("{WORKERS}/{folder}/{WORKER_LOCK}");
        let kept = match memo.locks.remove(&id) {
            Some(kept) => Some(kept),
            None => lock::<WorkerLock>(store, id, &path, WORKER_LOCK_SCHEMA, found)?.map(Arc::new),
        };
        let Some(kept) = kept else { continue };
        match Name::parse(folder).ok().filter(|name| kept.worker == *name) {
            Some(name) => {
                previous.workers.insert(name, WorkerLock::clone(&kept));
            }
            None => found.push(unreadable(&path, &format!("it is of `{}`", kept.worker))),
        }
        used.insert(id, kept);
    }
    memo.locks = used;
    Ok(())
}

fn file_in(store: &dyn Store, root: &Dir, dir: &str, file: &str) -> Result<Option<Id>, StoreError> {
    let Some(dir) = root.get(dir).filter(|e| e.kind == EntryKind::Dir) else { return Ok(None) };
    let entry = store.dir(dir.id)?.get(file);
    Ok(entry.filter(|e| e.kind == EntryKind::File).map(|e| e.id))
}

fn lock<T: DeserializeOwned>(
    store: &dyn Store,
    id: Id,
    path: &str,
    schema: u32,
    found: &mut Diagnostics,
) -> Result<Option<T>, StoreError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Version {
        schema_version: u64,
    }
    let bytes = store.blob(id)?;
    match lock_from_bytes(&bytes, schema) {
        Ok(lock) => Ok(Some(lock)),
        Err(why) => {
            let version = serde_json::from_slice::<Version>(&bytes).map(|v| v.schema_version);
            found.push(match version {
                Ok(version) if version > u64::from(schema) => {
                    let message = format!("`{path}`: {}", newer(version, schema));
                    let finding = Diagnostic::new(Code::NewerFormat, message);
                    finding.at(Place::file(path)).help("use the carp that wrote it, or a newer one")
                }
                _ => unreadable(path, &why),
            });
            Ok(None)
        }
    }
}

fn unreadable(path: &str, why: &str) -> Diagnostic {
    let message = format!("`{path}` of the output branch cannot be read: {why}");
    let help = "bring back its last good version with `git revert` on the output branch";
    Diagnostic::new(Code::RecordUnreadable, message).at(Place::file(path)).help(help)
}

#[cfg(test)]
mod tests {
    use super::super::tests::Memory;
    use super::*;
    use crate::model::{Digest, Entry, PendingLock, lock_to_bytes};

    fn worker_lock(name: &str) -> WorkerLock {
        WorkerLock {
            schema_version: WORKER_LOCK_SCHEMA,
            worker: Name::parse(name).unwrap(),
            facts: Digest::of(b"f"),
            render_key: Digest::of(b"r"),
            clusters: BTreeMap::new(),
            files: BTreeMap::new(),
        }
    }

    fn read(files: &[(&str, Vec<u8>)], memo: &mut Memo) -> (Previous, Vec<Code>) {
        let store = Memory::default();
        let entry =
            |bytes: &[u8]| Entry { kind: EntryKind::File, id: store.put_blob(bytes).unwrap() };
        let files: Vec<_> = files.iter().map(|(path, bytes)| (*path, entry(bytes))).collect();
        let tree = store.tree(&files);
        let (previous, found) = previous(&store, Some(tree), "", memo).unwrap();
        (previous, found.iter().map(|d| d.code).collect())
    }

    #[test]
    fn locks_are_read_and_remembered() {
        let files = [
            ("workers/w1/carp.lock", lock_to_bytes(&worker_lock("w1"))),
            ("workers/theirs/README.md", b"not carp's".to_vec()),
            ("decisions/pending.lock", lock_to_bytes(&PendingLock::default())),
        ];
        let mut memo = Memo::default();
        memo.locks.insert(Id::EMPTY_DIR, Arc::new(worker_lock("gone")));
        let (previous, found) = read(&files, &mut memo);
        assert_eq!((previous.workers.len(), found), (1, vec![]));
        assert!(previous.fleet.is_none());
        let kept: Vec<_> = memo.locks.values().map(|l| l.worker.to_string()).collect();
        assert_eq!(kept, ["w1"]);
        let (again, _) = read(&files, &mut memo);
        assert_eq!(again.workers, previous.workers);
    }

    #[test]
    fn a_lock_that_cannot_be_read_is_an_error() {
        let codes = |path: &'static str, bytes: &[u8]| {
            read(&[(path, bytes.to_vec())], &mut Memo::default()).1
        };
        for path in ["workers/w1/carp.lock", "decisions/pending.lock", "control-plane/fleet.lock"] {
            assert_eq!(codes(path, b"{"), [Code::RecordUnreadable]);
            assert_eq!(codes(path, b"{\"schemaVersion\": 1, \"x\": 1}"), [Code::RecordUnreadable]);
            assert_eq!(codes(path, b"{\"schemaVersion\": 2}"), [Code::NewerFormat]);
        }
        let other = lock_to_bytes(&worker_lock("w2"));
        assert_eq!(codes("workers/w1/carp.lock", &other), [Code::RecordUnreadable]);
    }

    #[test]
    fn before_the_first_run_there_is_nothing() {
        let mut memo = Memo::default();
        let (previous, found) = previous(&Memory::default(), None, "", &mut memo).unwrap();
        assert!(previous.workers.is_empty() && found.is_empty());
    }
}
