//! What changes in each file, as people read it.

use similar::TextDiff;

use super::super::show::plan::FileDiff;
use crate::model::{Change, Id, Store, paths};

/// The most files that are compared line by line: more do not fit into a comment anyway.
const MOST_FILES: usize = 200;

/// The locks, by the ends of their paths.
const LOCKS: [&str; 3] = [paths::WORKER_LOCK, paths::PENDING_LOCK, paths::FLEET_LOCK];

/// The unified diffs of the first changes, as far as their files can be read.
pub(super) fn diffs(store: &dyn Store, changes: &[Change]) -> Vec<FileDiff> {
    let text = |id: Option<Id>| match id {
        Some(id) => store.blob(id).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        None => Some(String::new()),
    };
    let diff = |change: &Change| {
        let (before, after) = (text(change.before)?, text(change.after)?);
        let diff = TextDiff::from_lines(&before, &after);
        let text = diff.unified_diff().context_radius(3).to_string();
        Some(FileDiff { path: change.path.clone(), text })
    };
    // The locks repeat in digests what the other files say.
    let is_lock = |change: &Change| LOCKS.iter().any(|lock| change.path.ends_with(lock));
    let telling = changes.iter().filter(|change| !is_lock(change));
    telling.take(MOST_FILES).filter_map(diff).collect()
}
