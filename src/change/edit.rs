//! An edit of a tree: only the directories on the way to an edited path are read and written.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{Dir, Entry, EntryKind, Id, Store, StoreError};

/// Paths to set and to remove below one directory. Whatever is not named stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeEdit {
    children: BTreeMap<String, EditStep>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum EditStep {
    Set(Entry),
    Remove,
    Into(TreeEdit),
}

impl TreeEdit {
    /// Sets a file.
    pub fn file(&mut self, path: &str, id: Id) {
        self.put(path, EditStep::Set(Entry { kind: EntryKind::File, id }));
    }

    /// Sets a whole directory, in place of what was there.
    pub fn dir(&mut self, path: &str, id: Id) {
        self.put(path, EditStep::Set(Entry { kind: EntryKind::Dir, id }));
    }

    /// Sets an entry of any kind.
    pub fn set(&mut self, path: &str, entry: Entry) {
        self.put(path, EditStep::Set(entry));
    }

    /// Removes a file or directory; nothing happens where there is none.
    pub fn remove(&mut self, path: &str) {
        self.put(path, EditStep::Remove);
    }

    /// Whether nothing is edited.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    fn put(&mut self, path: &str, step: EditStep) {
        match path.split_once('/') {
            None => {
                self.children.insert(path.to_owned(), step);
            }
            Some((first, rest)) => {
                let child = self.children.entry(first.to_owned());
                let child = child.or_insert_with(|| EditStep::Into(Self::default()));
                if !matches!(child, EditStep::Into(_)) {
                    *child = EditStep::Into(Self::default());
                }
                if let EditStep::Into(edit) = child {
                    edit.put(rest, step);
                }
            }
        }
    }

    /// The tree after the edit. A directory that the edit leaves empty goes, as Git has none.
    ///
    /// # Errors
    /// A directory on the way cannot be read, or the new one cannot be kept.
    pub fn apply(&self, store: &dyn Store, base: Option<Id>) -> Result<Id, StoreError> {
        let before = match base {
            Some(id) => store.dir(id)?,
            None => Arc::new(Dir::default()),
        };
        let mut after = (*before).clone();
        for (name, step) in &self.children {
            match step {
                EditStep::Set(entry) => after.insert(name, *entry),
                EditStep::Remove => {
                    after.remove(name);
                }
                EditStep::Into(edit) => {
                    let inner = before.get(name).filter(|e| e.kind == EntryKind::Dir);
                    let id = edit.apply(store, inner.map(|e| e.id))?;
                    if id == Id::EMPTY_DIR {
                        after.remove(name);
                    } else {
                        after.insert(name, Entry { kind: EntryKind::Dir, id });
                    }
                }
            }
        }
        match base {
            Some(id) if after == *before => Ok(id),
            _ => store.put_dir(&after),
        }
    }
}

/// What is in the way of a file or folder at a path: the entry there, or a file where a folder on the way
/// should be, with its path.
///
/// # Errors
/// A directory on the way cannot be read.
pub fn in_the_way<'a>(
    store: &dyn Store,
    root: Id,
    path: &'a str,
) -> Result<Option<(&'a str, Entry)>, StoreError> {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    for end in ends {
        match entry_at(store, root, &path[..end])? {
            None => return Ok(None),
            Some(entry) if end == path.len() || entry.kind != EntryKind::Dir => {
                return Ok(Some((&path[..end], entry)));
            }
            Some(_) => {}
        }
    }
    Ok(None)
}

/// The entry at a path below a tree.
///
/// # Errors
/// A directory on the way cannot be read.
pub fn entry_at(store: &dyn Store, root: Id, path: &str) -> Result<Option<Entry>, StoreError> {
    let mut entry = Entry { kind: EntryKind::Dir, id: root };
    for name in path.split('/').filter(|n| !n.is_empty()) {
        if entry.kind != EntryKind::Dir {
            return Ok(None);
        }
        match store.dir(entry.id)?.get(name) {
            Some(next) => entry = next,
            None => return Ok(None),
        }
    }
    Ok(Some(entry))
}
