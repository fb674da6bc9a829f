//! The locks of the output branch: the memory of what carp decided and owns.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::reports::newer;
use super::tree;
use crate::diag::{Code, Diagnostic, Diagnostics, Place};
use crate::model::paths::{
    CONTROL_PLANE, DECISIONS, FLEET_LOCK, PENDING_LOCK, SENTINEL, WORKER_LOCK, WORKERS,
};
use crate::model::{
    Damage, Dir, EntryKind, FLEET_LOCK_SCHEMA, Id, LockFault, LockName, Memo, Name, PENDING_SCHEMA,
    Previous, Store, StoreError, WORKER_LOCK_SCHEMA, WorkerLock, lock_from_bytes,
};

const MISSING: &str = "it is missing";

/// Reads the locks of an output tree. One that is missing, cannot be read or is not as carp wrote it is
/// listed as damaged, for somebody else to rebuild. One of a newer format is an error: this carp does
/// not know what it says, and the caller stops.
///
/// # Errors
/// The store failed.
pub fn previous(
    store: &dyn Store,
    output: Option<Id>,
    prefix: &str,
    memo: &mut Memo,
) -> Result<(Previous, Diagnostics), StoreError> {
    let root = output.map(|tree| tree::dir_at(store, tree, prefix)).transpose()?.flatten();
    let Some(root) = root else {
        memo.locks.clear();
        return Ok((Previous::default(), Diagnostics::default()));
    };
    let mut reader = Reader { store, root: &root, locks: ReadLocks::default() };
    let unlocked = reader.workers(memo)?;
    if let Some(lock) = reader.one(DECISIONS, PENDING_LOCK, LockName::Pending, PENDING_SCHEMA)? {
        reader.locks.previous.pending = lock;
    } else {
        reader.locks.lost(LockName::Pending, MISSING);
    }
    let fleet = reader.one(CONTROL_PLANE, FLEET_LOCK, LockName::Fleet, FLEET_LOCK_SCHEMA)?;
    if fleet.is_none() {
        reader.locks.lost(LockName::Fleet, MISSING);
    }
    reader.locks.previous.fleet = fleet;
    let decided = entry_in(store, &root, DECISIONS)?.is_some();
    Ok(reader.locks.close(unlocked, decided))
}

/// What was read so far.
#[derive(Default)]
struct ReadLocks {
    previous: Previous,
    found: Diagnostics,
    /// The locks of a newer format. They are not lost.
    newer: BTreeSet<LockName>,
}

impl ReadLocks {
    /// Notes that a lock is of no use, unless that is known.
    fn lost(&mut self, lock: LockName, why: impl Into<String>) {
        if !self.previous.is_damaged(&lock) && !self.newer.contains(&lock) {
            self.previous.damaged.push(Damage { lock, why: why.into() });
        }
    }

    fn fault(&mut self, lock: LockName, schema: u32, fault: LockFault) {
        match fault {
            LockFault::Damaged(why) => self.lost(lock, why),
            LockFault::Newer(version) => {
                let path = lock.path();
                let message = format!("`{path}`: {}", newer(version, schema));
                let finding = Diagnostic::new(Code::NewerFormat, message).at(Place::file(path));
                self.found.push(finding.help("use the carp that wrote it, or a newer one"));
                self.newer.insert(lock);
            }
        }
    }

    /// A worker's lock is missing where another lock or the worker's own files speak of it. Where there
    /// is nothing of carp's at all, nothing is missing: it is the first run.
    fn close(mut self, unlocked: Vec<Name>, decided: bool) -> (Previous, Diagnostics) {
        let made = self.previous.fleet.iter().flat_map(|lock| lock.workers.keys().cloned());
        let missing: Vec<Name> = unlocked.into_iter().chain(made).collect();
        for worker in missing {
            if !self.previous.workers.contains_key(&worker) {
                self.lost(LockName::Worker(worker), MISSING);
            }
        }
        let workers = self.previous.damaged.iter().any(|d| matches!(d.lock, LockName::Worker(_)));
        let unread = self.previous.damaged.iter().any(|damage| damage.why != MISSING);
        let any = decided || workers || unread || self.previous.fleet.is_some();
        if !any && self.previous.workers.is_empty() {
            self.previous.damaged.clear();
        }
        self.previous.damaged.sort();
        (self.previous, self.found)
    }
}

struct Reader<'a> {
    store: &'a dyn Store,
    root: &'a Dir,
    locks: ReadLocks,
}

impl Reader<'_> {
    /// Reads the workers' locks. Returns the workers whose folder is carp's and has none.
    fn workers(&mut self, memo: &mut Memo) -> Result<Vec<Name>, StoreError> {
        let mut used = BTreeMap::new();
        let mut unlocked = Vec::new();
        let workers = entry_in(self.store, self.root, WORKERS)?.unwrap_or_default();
        for (folder, _) in workers.iter().filter(|(_, e)| e.kind == EntryKind::Dir) {
            let Ok(name) = Name::parse(folder) else { continue };
            let Some(id) = file_in(self.store, &workers, folder, WORKER_LOCK)? else {
                // A folder without a lock is not carp's, unless carp's mark lies in it.
                if file_in(self.store, &workers, folder, SENTINEL)?.is_some() {
                    unlocked.push(name);
                }
                continue;
            };
            let lock = LockName::Worker(name.clone());
            let kept = match memo.locks.remove(&id) {
                Some(kept) => Some(kept),
                None => self.read(id, lock.clone(), WORKER_LOCK_SCHEMA)?.map(Arc::new),
            };
            let Some(kept) = kept else { continue };
            if kept.worker == name {
                self.locks.previous.ids.insert(name.clone(), id);
                self.locks.previous.workers.insert(name, WorkerLock::clone(&kept));
            } else {
                self.locks.lost(lock, format!("it is the lock of {}", kept.worker));
            }
            used.insert(id, kept);
        }
        memo.locks = used;
        Ok(unlocked)
    }

    fn one<T: DeserializeOwned>(
        &mut self,
        dir: &str,
        file: &str,
        lock: LockName,
        schema: u32,
    ) -> Result<Option<T>, StoreError> {
        match file_in(self.store, self.root, dir, file)? {
            Some(id) => self.read(id, lock, schema),
            None => Ok(None),
        }
    }

    fn read<T: DeserializeOwned>(
        &mut self,
        id: Id,
        lock: LockName,
        schema: u32,
    ) -> Result<Option<T>, StoreError> {
        match lock_from_bytes(&self.store.blob(id)?, schema) {
            Ok(read) => Ok(Some(read)),
            Err(fault) => {
                self.locks.fault(lock, schema, fault);
                Ok(None)
            }
        }
    }
}

fn entry_in(store: &dyn Store, root: &Dir, dir: &str) -> Result<Option<Arc<Dir>>, StoreError> {
    let dir = root.get(dir).filter(|e| e.kind == EntryKind::Dir);
    dir.map(|e| store.dir(e.id)).transpose()
}

fn file_in(store: &dyn Store, root: &Dir, dir: &str, file: &str) -> Result<Option<Id>, StoreError> {
    let dir = entry_in(store, root, dir)?;
    let entry = dir.and_then(|dir| dir.get(file));
    Ok(entry.filter(|e| e.kind == EntryKind::File).map(|e| e.id))
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

    /// What of the locks is lost, in words.
    fn lost(files: &[(&str, Vec<u8>)]) -> Vec<String> {
        let (previous, found) = read(files, &mut Memo::default());
        assert_eq!(found, []);
        let told = |damage: &Damage| format!("{}: {}", damage.lock.path(), damage.why);
        previous.damaged.iter().map(told).collect()
    }

    /// All three locks of a fleet with one worker.
    fn whole() -> Vec<(&'static str, Vec<u8>)> {
        let fleet = serde_json::json!({
            "schemaVersion": FLEET_LOCK_SCHEMA,
            "renderKey": Digest::of(b"r"),
            "workers": {"w1": {"renderKey": Digest::of(b"r"), "state": "Bound"}},
        });
        vec![
            ("workers/w1/carp.lock", lock_to_bytes(&worker_lock("w1"))),
            ("decisions/pending.lock", lock_to_bytes(&PendingLock::default())),
            ("control-plane/fleet.lock", lock_to_bytes(&fleet)),
        ]
    }

    #[test]
    fn locks_are_read_and_remembered() {
        let mut files = whole();
        files.push(("workers/theirs/README.md", b"not carp's".to_vec()));
        let mut memo = Memo::default();
        memo.locks.insert(Id::EMPTY_DIR, Arc::new(worker_lock("gone")));
        let (previous, found) = read(&files, &mut memo);
        assert_eq!((previous.workers.len(), found, previous.damaged.len()), (1, vec![], 0));
        assert!(previous.fleet.is_some());
        let kept: Vec<_> = memo.locks.values().map(|l| l.worker.to_string()).collect();
        assert_eq!(kept, ["w1"]);
        let (again, _) = read(&files, &mut memo);
        assert_eq!(again.workers, previous.workers);
    }

    #[test]
    fn a_lock_that_is_no_lock_is_lost() {
        for at in 0..3 {
            for bytes in [&b"{"[..], b"", b"{\"schemaVersion\": 1, \"x\": 1}", b"<<<<<<< ours\n"] {
                let mut files = whole();
                files[at].1 = bytes.to_vec();
                let told = lost(&files);
                assert_eq!(told.len(), 1, "{told:?}");
                assert!(told[0].starts_with(files[at].0), "{told:?}");
            }
        }
        let mut files = whole();
        files[0].1 = lock_to_bytes(&worker_lock("w2"));
        assert_eq!(lost(&files), ["workers/w1/carp.lock: it is the lock of w2"]);
    }

    #[test]
    fn a_lock_that_is_missing_is_lost() {
        for at in 0..3 {
            let mut files = whole();
            let (path, _) = files.remove(at);
            assert_eq!(lost(&files), [format!("{path}: it is missing")]);
        }
        // A worker that the control plane does not make is known by its sentinel.
        let mut files = whole();
        files.push(("workers/w2/sentinel.yaml", Vec::new()));
        assert_eq!(lost(&files), ["workers/w2/carp.lock: it is missing"]);
    }

    #[test]
    fn a_lock_of_a_newer_format_is_an_error_and_not_lost() {
        for at in 0..3 {
            let mut files = whole();
            files[at].1 = b"{\"schemaVersion\": 9}".to_vec();
            let (previous, found) = read(&files, &mut Memo::default());
            assert_eq!(found, [Code::NewerFormat]);
            assert_eq!(previous.damaged, []);
        }
    }

    #[test]
    fn before_the_first_run_there_is_nothing() {
        let mut memo = Memo::default();
        let (previous, found) = previous(&Memory::default(), None, "", &mut memo).unwrap();
        assert!(previous.workers.is_empty() && found.is_empty());
        assert_eq!(
            lost(&[("README.md", Vec::new()), ("workers/theirs/x.yaml", Vec::new())]).len(),
            0
        );
    }
}
