//! What differs between two trees. Equal ids are never entered, so the cost follows the change.

use std::iter::Peekable;

use crate::model::{Change, ChangeKind, Entry, EntryKind, Id, Store, StoreError};

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
    walk(store, dir(before), dir(after), &mut String::new(), &mut difference)?;
    difference.changes.sort();
    Ok(difference)
}

fn walk(
    store: &dyn Store,
    before: Option<Entry>,
    after: Option<Entry>,
    path: &mut String,
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
            found.changes.push(Change { path: path.clone(), kind, before: was, after: is });
        }
    }
    let read = |e: Option<Entry>| match e {
        Some(e) if e.kind == EntryKind::Dir => store.dir(e.id).map(Some),
        _ => Ok(None),
    };
    let (old, new) = (read(before)?, read(after)?);
    let mut old = old.iter().flat_map(|dir| dir.iter()).peekable();
    let mut new = new.iter().flat_map(|dir| dir.iter()).peekable();
    let length = path.len();
    while let Some((name, was, is)) = next_name(&mut old, &mut new) {
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(name);
        walk(store, was, is, path, found)?;
        path.truncate(length);
    }
    Ok(())
}

/// The next name of two directories, whose entries come in the order of their names, with what each of the two has there.
fn next_name<'a>(
    old: &mut Peekable<impl Iterator<Item = (&'a str, Entry)>>,
    new: &mut Peekable<impl Iterator<Item = (&'a str, Entry)>>,
) -> Option<(&'a str, Option<Entry>, Option<Entry>)> {
    let first = |next: Option<&(&'a str, Entry)>| next.map(|(name, _)| *name);
    let name = first(old.peek()).into_iter().chain(first(new.peek())).min()?;
    let is_it = |next: &(&str, Entry)| next.0 == name;
    let (was, is) = (old.next_if(is_it), new.next_if(is_it));
    Some((name, was.map(|(_, entry)| entry), is.map(|(_, entry)| entry)))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use crate::change::fixture::{Memory, folder};
    use crate::model::blob_id;

    type Texts = BTreeMap<&'static str, &'static str>;

    /// Files by path; a folder stands beside a file whose name goes on with a dash.
    fn texts() -> impl Strategy<Value = Texts> {
        let paths = ["a", "a-b", "a.b", "d/a", "d/b", "d-e", "d/e/f/g", "d/e/f/h", "z/a"];
        let path = prop::sample::select(paths.to_vec());
        prop::collection::btree_map(path, prop::sample::select(vec!["1", "2"]), 0..7)
    }

    fn tree(store: &Memory, texts: &Texts) -> Id {
        let files: Vec<_> = texts.iter().map(|(path, text)| format!("{path}={text}")).collect();
        folder(store, &files.join(" "))
    }

    fn change(path: &str, [before, after]: [Option<&&str>; 2]) -> Option<Change> {
        let kind = match (before, after) {
            (before, after) if before == after => return None,
            (None, _) => ChangeKind::Create,
            (_, None) => ChangeKind::Delete,
            _ => ChangeKind::Update,
        };
        let [before, after] = [before, after].map(|text| text.map(|text| blob_id(text.as_bytes())));
        Some(Change { path: path.to_owned(), kind, before, after })
    }

    proptest! {
        #[test]
        fn two_trees_differ_in_the_files_that_differ(before in texts(), after in texts()) {
            let store = Memory::default();
            let (old, new) = (tree(&store, &before), tree(&store, &after));
            let paths: BTreeSet<_> = before.keys().chain(after.keys()).collect();
            let changes = paths.into_iter().filter_map(|path| {
                change(path, [&before, &after].map(|texts| texts.get(path)))
            });
            let found = diff(&store, Some(old), Some(new)).unwrap();
            prop_assert_eq!(found.changes, changes.collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_a_new_tree_has_is_counted_with_its_folders() {
        let store = Memory::default();
        let tree = folder(&store, "a=1 d/e/f=1 d/g=2");
        assert_eq!(diff(&store, None, Some(tree)).unwrap().objects, 6, "with the root");
        assert_eq!(diff(&store, Some(tree), None).unwrap().objects, 0);
        assert_eq!(diff(&store, Some(tree), Some(tree)).unwrap(), Difference::default());
    }
}
