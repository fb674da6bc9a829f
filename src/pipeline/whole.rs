//! Whether the locks of the last output belong together: a cluster that two of them list would be
//! written twice.

use std::collections::BTreeMap;

use crate::diag::{Code, Diagnostic, Place};
use crate::model::{Name, Previous, paths};

/// What is said twice. Any finding stops the run.
pub(super) fn placed_twice(previous: &Previous) -> Vec<Diagnostic> {
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
