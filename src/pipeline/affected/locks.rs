//! The locks and other files of the output branch, and what the last runs left standing on all workers.

use std::sync::Arc;

use super::super::folders::make_listed_on;
use crate::change::entry_at;
use crate::load;
use crate::model::{
    Baseline, DecisionRecord, DocumentIndex, FLEET_LOCK_SCHEMA, FleetLock, Id, Name,
    PENDING_SCHEMA, PendingLock, Previous, Snapshot, StandingClusters, Store, StoreError,
    WORKER_LOCK_SCHEMA, WorkerLock, lock_from_bytes, paths,
};

/// A file of the output branch.
pub(super) fn file(
    snapshot: &Snapshot,
    store: &dyn Store,
    path: &str,
) -> Result<Option<Id>, StoreError> {
    let Some(output) = snapshot.previous else { return Ok(None) };
    let path = paths::in_repository(&snapshot.input.prefix, path);
    Ok(entry_at(store, output, &path)?.map(|entry| entry.id))
}

/// The decision record of a cluster; `None` where there is none that can be read.
pub(super) fn record(
    snapshot: &Snapshot,
    store: &dyn Store,
    cluster: &Name,
) -> Result<Option<DecisionRecord>, StoreError> {
    let Some(id) = file(snapshot, store, &paths::decision(cluster))? else { return Ok(None) };
    Ok(load::read_yaml(&store.blob(id)?).ok())
}

/// Reads the lock of a worker, unless it is there; `false` where it cannot be read.
pub(super) fn read_lock(
    snapshot: &Snapshot,
    store: &dyn Store,
    worker: Name,
    previous: &mut Previous,
) -> Result<bool, StoreError> {
    if previous.workers.contains_key(&worker) {
        return Ok(true);
    }
    let path = format!("{}/{}", paths::worker(&worker), paths::WORKER_LOCK);
    let Some(id) = file(snapshot, store, &path)? else { return Ok(false) };
    let lock = lock_from_bytes::<WorkerLock>(&store.blob(id)?, WORKER_LOCK_SCHEMA).ok();
    let of_now =
        |lock: &WorkerLock| lock.worker == worker && lock.schema_version == WORKER_LOCK_SCHEMA;
    let Some(lock) = lock.filter(of_now) else { return Ok(false) };
    make_listed_on(store, &lock)?;
    previous.ids.insert(worker.clone(), id);
    previous.workers.insert(worker, lock);
    Ok(true)
}

/// The lock of the clusters that wait.
pub(super) fn pending_id(snapshot: &Snapshot, store: &dyn Store) -> Result<Option<Id>, StoreError> {
    file(snapshot, store, &format!("{}/{}", paths::DECISIONS, paths::PENDING_LOCK))
}

/// The clusters that wait; `None` where that is not known.
pub(super) fn pending(
    snapshot: &Snapshot,
    store: &dyn Store,
) -> Result<Option<PendingLock>, StoreError> {
    let Some(id) = pending_id(snapshot, store)? else { return Ok(None) };
    let lock = lock_from_bytes::<PendingLock>(&store.blob(id)?, PENDING_SCHEMA).ok();
    Ok(lock.filter(|lock| lock.schema_version == PENDING_SCHEMA))
}

/// What is in force for the fleet as a whole; `None` where the lock is lost, or of another format than this carp writes.
pub(super) fn fleet_lock(
    snapshot: &Snapshot,
    store: &dyn Store,
) -> Result<Option<FleetLock>, StoreError> {
    let path = format!("{}/{}", paths::CONTROL_PLANE, paths::FLEET_LOCK);
    let Some(id) = file(snapshot, store, &path)? else { return Ok(None) };
    let lock = lock_from_bytes::<FleetLock>(&store.blob(id)?, FLEET_LOCK_SCHEMA).ok();
    Ok(lock.filter(|lock| lock.schema_version == FLEET_LOCK_SCHEMA))
}

/// What stands on all workers.
pub(super) fn standing(
    baseline: &Baseline,
    index: &dyn DocumentIndex,
) -> Option<Arc<StandingClusters>> {
    let mut standing = index.standing()?;
    if !baseline.standing.is_empty() {
        Arc::make_mut(&mut standing).workers.extend(baseline.standing.clone());
    }
    Some(standing)
}
