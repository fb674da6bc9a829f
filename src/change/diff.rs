//! What differs between two trees. Equal ids are never entered, so the cost follows the change.

use std::collections::BTreeSet;

use crate::model::{Change, ChangeKind, Dir, Entry, EntryKind, Id, Store, StoreError};

/// The paths that differ, and how many new objects that makes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// The files that differ, sorted by path.
    pub changes: Vec<Change>,
    /// The files and directories of the new tree that the old one does not have in their place.
    pub objects: u64,
}

/// Compares two trees; `None` is the empty one.
///
/// # Errors
/// A directory that differs cannot be read.
pub fn diff(
    store: &dyn Store,
    before: Option<Id>,
    after: Option<Id>,
) -> Result<Difference, StoreError> {
    let mut difference = Difference::default();
    let dir = |id: Option<Id>| id.map(|id| Entry { kind: EntryKind::Dir, id });
    walk(store, dir(before), dir(after), "", &mut difference)?;
    difference.changes.sort();
    Ok(difference)
}

fn walk(
    store: &dyn Store,
    before: Option<Entry>,
    after: Option<Entry>,
    path: &str,
    found: &mut Difference,
) -> Result<(), StoreError> {
    if before == after {
        return Ok(());
    }
    found.objects += u64::from(after.is_some());
    let file = |e: Option<Entry>| e.filter(|e| e.kind != EntryKind::Dir).map(|e| e.id);
    match (file(before), file(after)) {
        (None, None) => {}
        (was, is) => {
            let kind = match (was, is) {
                (None, _) => ChangeKind::Create,
                (_, None) => ChangeKind::Delete,
                _ => ChangeKind::Update,
            };
            found.changes.push(Change { path: path.to_owned(), kind, before: was, after: is });
        }
    }
    let read = |e: Option<Entry>| match e {
        Some(e) if e.kind == EntryKind::Dir => store.dir(e.id).map(|d| (*d).clone()),
        _ => Ok(Dir::default()),
    };
    let (old, new) = (read(before)?, read(after)?);
    let names: BTreeSet<&str> = old.iter().chain(new.iter()).map(|(n, _)| n).collect();
    for name in names {
        let child = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        walk(store, old.get(name), new.get(name), &child, found)?;
    }
    Ok(())
}
