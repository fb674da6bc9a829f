//! Whether the locks of the last output belong together. They are the only memory there is, so one that
//! is missing would be taken for "nothing was there": clusters would be placed a second time, and a
//! worker in use would look empty.

use std::collections::BTreeMap;

use crate::change::entry_at;
use crate::diag::{Code, Diagnostic, Diagnostics, Place};
use crate::model::{Name, Previous, Snapshot, Store, StoreError, paths};

/// What is missing, or said twice. Any finding stops the run.
pub(super) fn check(
    snapshot: &Snapshot,
    store: &dyn Store,
    previous: &Previous,
) -> Result<Diagnostics, StoreError> {
    let mut found = Diagnostics::default();
    let fleet_lock = format!("{}/{}", paths::CONTROL_PLANE, paths::FLEET_LOCK);
    let pending_lock = format!("{}/{}", paths::DECISIONS, paths::PENDING_LOCK);
    let Some(lock) = &previous.fleet else {
        if !previous.workers.is_empty() || !previous.pending.clusters.is_empty() {
            found.push(missing(&fleet_lock));
        }
        return Ok(found);
    };
    let path = paths::in_repository(&snapshot.input.prefix, &pending_lock);
    let there = snapshot.previous.map(|root| entry_at(store, root, &path)).transpose()?.flatten();
    if there.is_none() {
        found.push(missing(&pending_lock));
    }
    for worker in lock.workers.keys().filter(|name| !previous.workers.contains_key(*name)) {
        found.push(missing(&format!("{}/{}", paths::worker(worker), paths::WORKER_LOCK)));
    }
    found.extend(placed_twice(previous));
    Ok(found)
}

fn missing(path: &str) -> Diagnostic {
    unreadable(path, format!("`{path}` of the output branch is missing"))
}

fn placed_twice(previous: &Previous) -> Vec<Diagnostic> {
    let mut seen: BTreeMap<&Name, &Name> = BTreeMap::new();
    let mut found = Vec::new();
    for (cluster, worker) in previous.placements() {
        if let Some(other) = seen.insert(cluster, worker) {
            let path = format!("{}/{}", paths::worker(worker), paths::WORKER_LOCK);
            let message = format!("`{path}` lists {cluster}, which is on {other} too");
            found.push(unreadable(&path, message));
        }
    }
    found
}

fn unreadable(path: &str, message: String) -> Diagnostic {
    Diagnostic::new(Code::RecordUnreadable, message)
        .at(Place::file(path))
        .help("bring back its last good version with `git revert` on the output branch")
}
