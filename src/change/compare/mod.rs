//! What differs between a folder and what is expected in it. Equal ids are never entered.

use std::collections::BTreeMap;

use crate::model::{Dir, Edit, Entry, EntryKind, Id, Store, StoreError};

/// A folder as it should be: paths in it, files and whole folders.
pub type ExpectedFolder = BTreeMap<String, Entry>;

/// What a folder has otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unlike {
    /// What is expected and is another or not there, with what it should be.
    pub edited: Vec<(String, Edit, Entry)>,
    /// What is there and is not expected; of a folder only its own path.
    pub foreign: Vec<(String, Entry)>,
}

impl Unlike {
    /// Whether all is as expected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { edited, foreign } = self;
        edited.is_empty() && foreign.is_empty()
    }
}

/// Compares a folder, which need not be there, with what is expected in it.
///
/// # Errors
/// A folder that differs cannot be read. One that was expected and is in the store no more is no error:
/// what is there instead of it counts as changed.
pub fn compare(
    store: &dyn Store,
    actual: Option<Entry>,
    expected: &ExpectedFolder,
) -> Result<Unlike, StoreError> {
    let mut walk = CompareWalk { store, expected, unlike: Unlike::default() };
    match actual {
        Some(entry) if entry.kind == EntryKind::Dir => walk.dir(entry.id, "")?,
        _ => walk.missing(""),
    }
    walk.unlike.edited.sort();
    walk.unlike.foreign.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(walk.unlike)
}

/// The files of a folder, by path.
///
/// # Errors
/// The folder cannot be read.
pub fn files_of(store: &dyn Store, folder: Id) -> Result<ExpectedFolder, StoreError> {
    let mut files = ExpectedFolder::new();
    list(store, folder, "", &mut files)?;
    Ok(files)
}

fn list(
    store: &dyn Store,
    folder: Id,
    path: &str,
    into: &mut ExpectedFolder,
) -> Result<(), StoreError> {
    for (name, entry) in store.dir(folder)?.iter() {
        let path = join(path, name);
        if entry.kind == EntryKind::Dir {
            list(store, entry.id, &path, into)?;
        } else {
            into.insert(path, entry);
        }
    }
    Ok(())
}

struct CompareWalk<'a> {
    store: &'a dyn Store,
    expected: &'a ExpectedFolder,
    unlike: Unlike,
}

impl CompareWalk<'_> {
    fn dir(&mut self, id: Id, path: &str) -> Result<(), StoreError> {
        let dir = self.store.dir(id)?;
        for (name, entry) in dir.iter() {
            self.entry(join(path, name), entry)?;
        }
        for path in self.children(path) {
            let name = path.rsplit('/').next().unwrap_or_default();
            if dir.get(name).is_none() {
                self.missing(&path);
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: String, entry: Entry) -> Result<(), StoreError> {
        match self.expected.get(&path) {
            Some(wanted) if *wanted == entry => {}
            Some(wanted) if wanted.kind == EntryKind::Dir && entry.kind == EntryKind::Dir => {
                self.folder(&path, *wanted, entry)?;
            }
            // What somebody put into a folder in its place is theirs.
            Some(wanted) if entry.kind == EntryKind::Dir => {
                self.unlike.edited.push((path.clone(), Edit::Removed, *wanted));
                self.unlike.foreign.push((path, entry));
            }
            Some(wanted) => self.unlike.edited.push((path, Edit::Changed, *wanted)),
            None if !self.is_on_the_way(&path) => self.unlike.foreign.push((path, entry)),
            None if entry.kind == EntryKind::Dir => self.dir(entry.id, &path)?,
            // A file stands where a folder should be: it is nobody's, and what is below is gone.
            None => {
                self.missing(&path);
                self.unlike.foreign.push((path, entry));
            }
        }
        Ok(())
    }

    /// A folder that is owned as a whole and is another.
    fn folder(&mut self, path: &str, wanted: Entry, is: Entry) -> Result<(), StoreError> {
        let expected = match files_of(self.store, wanted.id) {
            Err(StoreError::Absent { .. }) => {
                self.unlike.edited.push((path.to_owned(), Edit::Changed, wanted));
                return Ok(());
            }
            read => read?,
        };
        let inner = compare(self.store, Some(is), &expected)?;
        let below = |inner: String| format!("{path}/{inner}");
        self.unlike.edited.extend(inner.edited.into_iter().map(|(p, e, w)| (below(p), e, w)));
        self.unlike.foreign.extend(inner.foreign.into_iter().map(|(p, e)| (below(p), e)));
        Ok(())
    }

    /// Everything that is expected at a path or below it is gone.
    fn missing(&mut self, path: &str) {
        let gone: Vec<_> = match self.expected.get(path) {
            Some(wanted) => vec![(path.to_owned(), Edit::Removed, *wanted)],
            None => self
                .below(path)
                .map(|(path, wanted)| (path.clone(), Edit::Removed, *wanted))
                .collect(),
        };
        self.unlike.edited.extend(gone);
    }

    fn below(&self, path: &str) -> impl Iterator<Item = (&String, &Entry)> {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let from = self.expected.range(prefix.clone()..);
        from.take_while(move |(path, _)| path.starts_with(&prefix))
    }

    fn is_on_the_way(&self, path: &str) -> bool {
        self.below(path).next().is_some()
    }

    /// The paths right below a folder at which, or below which, something is expected.
    fn children(&self, path: &str) -> Vec<String> {
        let skip = if path.is_empty() { 0 } else { path.len() + 1 };
        let child = |full: &String| {
            let end = full[skip..].find('/').map_or(full.len(), |at| skip + at);
            full[..end].to_owned()
        };
        let mut children: Vec<_> = self.below(path).map(|(path, _)| child(path)).collect();
        children.dedup();
        children
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// A folder with what others put into it: the new content, and what was there before beside the old.
/// Where something of theirs is in the way, the paths are returned instead.
///
/// # Errors
/// A folder cannot be read, or the new one cannot be kept.
pub fn beside_foreign(
    store: &dyn Store,
    actual: Option<Entry>,
    old: Option<Id>,
    new: Id,
) -> Result<Result<Id, Vec<String>>, StoreError> {
    let Some(actual) = actual.filter(|entry| Some(entry.id) != old && entry.id != new) else {
        return Ok(Ok(new));
    };
    let expected = match old {
        // A folder that is in the store no more cannot tell what is whose.
        Some(old) => match files_of(store, old) {
            Err(StoreError::Absent { .. }) => files_of(store, new)?,
            read => read?,
        },
        None => ExpectedFolder::new(),
    };
    if actual.kind != EntryKind::Dir {
        let ours = old.is_some();
        return Ok(if ours { Ok(new) } else { Err(vec![String::new()]) });
    }
    let mut merged = new;
    let mut taken = Vec::new();
    for (path, entry) in compare(store, Some(actual), &expected)?.foreign {
        match place(store, merged, &path, entry)? {
            Some(id) => merged = id,
            None => taken.push(path),
        }
    }
    Ok(if taken.is_empty() { Ok(merged) } else { Err(taken) })
}

/// A folder with one entry more; `None` where something else is in its place.
fn place(
    store: &dyn Store,
    folder: Id,
    path: &str,
    entry: Entry,
) -> Result<Option<Id>, StoreError> {
    let dir = store.dir(folder)?;
    let (name, rest) = path.split_once('/').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let there = dir.get(name);
    let placed = match (there, rest) {
        (None, None) => entry,
        (Some(there), None) if there == entry => return Ok(Some(folder)),
        // Both have a folder there: theirs goes in file by file.
        (Some(there), None) if there.kind == EntryKind::Dir && entry.kind == EntryKind::Dir => {
            let mut id = there.id;
            for (name, inner) in store.dir(entry.id)?.iter() {
                let Some(next) = place(store, id, name, inner)? else { return Ok(None) };
                id = next;
            }
            Entry { kind: EntryKind::Dir, id }
        }
        (there, Some(rest)) if there.is_none_or(|there| there.kind == EntryKind::Dir) => {
            let inner = match there {
                Some(there) => there.id,
                None => store.put_dir(&Dir::default())?,
            };
            let Some(id) = place(store, inner, rest, entry)? else { return Ok(None) };
            Entry { kind: EntryKind::Dir, id }
        }
        _ => return Ok(None),
    };
    let mut dir = Dir::clone(&dir);
    dir.insert(name, placed);
    store.put_dir(&dir).map(Some)
}

#[cfg(test)]
mod tests;
