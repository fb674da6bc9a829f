//! The workers that pools made. They have no document of their own: the pool's document says what they are, and the
//! fleet's lock where.

use std::collections::{BTreeMap, BTreeSet};

use super::locks::fleet_lock;
use crate::load::Loaded;
use crate::model::{DocumentIndex, DocumentName, FleetLock, Name, Snapshot, Store, StoreError};

/// Where the workers come from that have no document.
#[derive(Default)]
pub(super) struct MadeByPools {
    /// The fleet's lock, of whose pools it has these workers alone. `None` where all workers have documents.
    pub(super) lock: Option<FleetLock>,
    /// The files of their pools.
    pub(super) files: BTreeMap<DocumentName, String>,
}

/// Which pools made these workers. `None` where one of them was not running once, or leaves: pools decide about those.
pub(super) fn made(
    snapshot: &Snapshot,
    store: &dyn Store,
    workers: &BTreeSet<Name>,
    index: &dyn DocumentIndex,
) -> Result<Option<MadeByPools>, StoreError> {
    if workers.is_empty() {
        return Ok(Some(MadeByPools::default()));
    }
    let Some(mut lock) = fleet_lock(snapshot, store)? else { return Ok(None) };
    for pool in lock.pools.values_mut() {
        pool.workers.retain(|name, row| workers.contains(name) && row.running && !row.leaving);
    }
    lock.pools.retain(|_, pool| !pool.workers.is_empty());
    let found: usize = lock.pools.values().map(|pool| pool.workers.len()).sum();
    let mut files = BTreeMap::new();
    for pool in lock.pools.keys() {
        let document = DocumentName::new("WorkerPool", pool);
        let Some(file) = index.file_of(&document) else { return Ok(None) };
        files.insert(document, file);
    }
    Ok((found == workers.len()).then_some(MadeByPools { lock: Some(lock), files }))
}

/// Takes the pools out of what was loaded: what they make and give up is decided by looking at everything, and a worker
/// that was running once is to clusters like any other.
pub(super) fn without_pools(loaded: &mut Loaded) {
    loaded.fleet.pools.clear();
    for worker in loaded.fleet.workers.values_mut() {
        worker.made_by = None;
    }
}
