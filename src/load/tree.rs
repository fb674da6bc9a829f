//! The input tree, walked by object id.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{Dir, Entry, EntryKind, Id, Store, StoreError};

/// The files below a folder by their path from it, in byte order.
pub(super) type TreeFiles = BTreeMap<String, Entry>;

/// The directory at a path below another; `None` where it is not there, or no directory.
pub(super) fn dir_at(
    store: &dyn Store,
    tree: Id,
    path: &str,
) -> Result<Option<Arc<Dir>>, StoreError> {
    let mut dir = store.dir(tree)?;
    for name in path.split('/').filter(|n| !n.is_empty()) {
        match dir.get(name) {
            Some(Entry { kind: EntryKind::Dir, id }) => dir = store.dir(id)?,
            _ => return Ok(None),
        }
    }
    Ok(Some(dir))
}

/// Everything below a directory that is not a directory itself. A name that is not UTF-8 is kept with
/// `\u{fffd}` for what could not be read; `skip` names folders, by their path, that are left out.
pub(super) fn files(
    store: &dyn Store,
    dir: Arc<Dir>,
    skip: &[&str],
) -> Result<TreeFiles, StoreError> {
    files_that(store, dir, skip, &mut |_| true)
}

/// The files of a folder that `may` be looked at, which is asked of each file and each folder. A few objects can be folders in
/// folders without end.
pub(super) fn files_that(
    store: &dyn Store,
    dir: Arc<Dir>,
    skip: &[&str],
    may: &mut dyn FnMut(&str) -> bool,
) -> Result<TreeFiles, StoreError> {
    let mut found = TreeFiles::new();
    let mut open = vec![(String::new(), dir)];
    while let Some((prefix, dir)) = open.pop() {
        for (name, entry) in dir.iter_bytes() {
            let path = format!("{prefix}{}", String::from_utf8_lossy(name));
            if !may(&path) {
                continue;
            }
            if entry.kind != EntryKind::Dir {
                found.insert(path, entry);
            } else if !skip.contains(&path.as_str()) {
                open.push((format!("{path}/"), store.dir(entry.id)?));
            }
        }
    }
    Ok(found)
}
