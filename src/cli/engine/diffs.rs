//! What changes in each file, as people read it.

use std::collections::{BTreeMap, BTreeSet};

use similar::TextDiff;

use super::super::show::plan::FileDiff;
use crate::model::{Change, ChangeKind, Id, Name, Proposal, Store, paths};
use crate::pipeline::Update;

/// The most files that are compared line by line: more do not fit into a comment anyway.
const MOST_FILES: usize = 200;

/// What repeats in digests what the other files say, by the ends of the paths.
const DIGESTS: [&str; 4] =
    [paths::WORKER_LOCK, paths::PENDING_LOCK, paths::FLEET_LOCK, paths::SENTINEL];
/// Of so many workers the index of their clusters is compared: it lists what the plan has said of each.
const MOST_INDEXES: usize = 2;

/// The unified diffs that say something new: of what is the same change in many clusters the first, of new
/// files none.
pub(super) fn telling(
    store: &dyn Store,
    proposal: &Proposal,
    prefix: &str,
    updates: &BTreeMap<Name, Update>,
) -> (Vec<FileDiff>, usize) {
    let mut kinds = BTreeSet::new();
    let first = |(name, update): (&Name, &Update)| {
        kinds.insert(update.kind()).then(|| name.as_str().to_owned())
    };
    let first: BTreeSet<String> = updates.iter().filter_map(first).collect();
    let root = paths::in_repository(prefix, "");
    let tells = |change: &&Change| {
        let path = change.path.strip_prefix(&root).unwrap_or(&change.path);
        let mut parts = path.split('/').skip_while(|part| *part != paths::CLUSTERS).skip(1);
        let cluster = parts.next().and_then(|name| Name::parse(name).ok());
        let repeats = cluster
            .is_some_and(|name| updates.contains_key(&name) && !first.contains(name.as_str()));
        change.kind != ChangeKind::Create && !repeats
    };
    let changes: Vec<_> = proposal.changes.iter().filter(tells).cloned().collect();
    diffs(store, &changes)
}

/// The unified diffs of the first changes, as far as their files can be read, and how many there are.
fn diffs(store: &dyn Store, changes: &[Change]) -> (Vec<FileDiff>, usize) {
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
    let repeats = |change: &Change| DIGESTS.iter().any(|file| change.path.ends_with(file));
    let mut indexes = 0;
    let tells = |change: &&Change| {
        let is_index = change.path.ends_with(paths::CLUSTERS_INDEX);
        indexes += usize::from(is_index);
        !repeats(change) && (!is_index || indexes <= MOST_INDEXES)
    };
    let telling: Vec<_> = changes.iter().filter(tells).collect();
    let shown = telling.iter().copied().take(MOST_FILES).filter_map(diff).collect();
    (shown, telling.len())
}
