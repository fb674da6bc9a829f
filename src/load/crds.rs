//! The definitions of a fleet's kinds, as text.

use std::path::Path;
use std::sync::Arc;

use super::read;
use super::tree;
use crate::model::{CrdFiles, Dir, Entry, EntryKind, Fleet, Id, Input, Store, StoreError};

/// The largest file, in bytes: no API server takes a larger definition.
const MOST_OF_A_FILE: u64 = 3 << 20;
/// The most bytes of all files together, and the most files.
const MOST: u64 = 64 << 20;
const MOST_FILES: usize = 2_000;

/// The files below the folder of definitions, by their path from there. Files that begin with a dot, and those that are no YAML
/// (a lock, a page for people), are left out. One that cannot be read is there with the reason.
pub(super) fn read(store: &dyn Store, fleet: Id, root: &str) -> Result<CrdFiles, StoreError> {
    let mut files = CrdFiles::new();
    let Some(dir) = tree::dir_at(store, fleet, root)? else {
        if let Some(why) = no_folder(store, fleet, root)? {
            files.insert(String::new(), Err(why.to_owned()));
        }
        return Ok(files);
    };
    let (mut seen, mut bytes) = (0, 0);
    let mut may = |_: &str| {
        seen += 1;
        seen <= MOST_FILES * 2
    };
    for (path, entry) in tree::files_that(store, dir, &[], &mut may)? {
        let is_hidden = path.split('/').any(|part| part.starts_with('.'));
        if is_hidden || !is_looked_at(&path, entry) {
            continue;
        }
        // What is too much is not read: a small object of Git may say it a thousand times.
        if bytes > MOST || files.len() >= MOST_FILES {
            let why = format!(
                "there are more files than {MOST_FILES}, or more than {} MiB of them",
                MOST >> 20
            );
            files.insert(path, Err(why));
            continue;
        }
        let text = read::text_of_at_most(store, &path, entry, MOST_OF_A_FILE)?;
        bytes += text.as_ref().map_or(0, |text| text.len() as u64);
        files.insert(path, text.map(Arc::from).map_err(|finding| finding.message));
    }
    Ok(files)
}

/// Whether a file is to be a definition, or a link in the place of a folder of them, which no run follows: what has an ending
/// of letters is a file.
fn is_looked_at(path: &str, entry: Entry) -> bool {
    let ending = Path::new(path).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_file = ending.starts_with(|c: char| c.is_ascii_alphabetic());
    matches!(ending, "yaml" | "yml") || entry.kind == EntryKind::Symlink && !is_file
}

/// Why there is something in the place of the folder that is none; `None` where nothing is there.
fn no_folder(store: &dyn Store, fleet: Id, root: &str) -> Result<Option<&'static str>, StoreError> {
    let mut dir = store.dir(fleet)?;
    for name in root.split('/') {
        match dir.get(name) {
            Some(Entry { kind: EntryKind::Dir, id }) => dir = store.dir(id)?,
            Some(Entry { kind: EntryKind::Symlink, .. }) => {
                return Ok(Some("it is a symbolic link, which no run follows"));
            }
            Some(_) => return Ok(Some("it is no folder")),
            None => return Ok(None),
        }
    }
    Ok(None)
}

/// The definitions of a fleet that has loaded, by path below their root, as loading reads them.
///
/// # Errors
/// The store failed.
pub fn own_definitions(
    input: &Input,
    store: &dyn Store,
    fleet: &Fleet,
) -> Result<CrdFiles, StoreError> {
    let root = fleet.spec.roots.clone().unwrap_or_default().crds;
    match tree::dir_at(store, input.tree, &input.prefix)? {
        Some(dir) => read(store, Dir::id(&dir), &root),
        None => Ok(CrdFiles::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CARP, Memory, load_files, load_tree};
    use super::*;

    #[test]
    fn definitions_are_text_by_path() {
        let loaded = load_files(&[
            ("carp.yaml", CARP),
            ("crds/as.x.io.yaml", "a"),
            ("crds/capi/bs.x.io.yml", "b"),
            ("crds/crds.lock", "{}"),
            ("crds/README.md", ""),
            ("crds/.hidden/cs.x.io.yaml", ""),
        ]);
        let paths: Vec<_> = loaded.crds.keys().map(String::as_str).collect();
        assert_eq!(paths, ["as.x.io.yaml", "capi/bs.x.io.yml"]);
        assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    }

    #[test]
    fn a_link_in_the_place_of_the_folder_or_of_one_in_it_is_told() {
        let store = Memory::default();
        let carp = store.put_blob(CARP.as_bytes()).unwrap();
        let link = store.put_blob(b"../elsewhere").unwrap();
        let read = |path: &'static str, kind| {
            let carp = ("carp.yaml", Entry { kind: EntryKind::File, id: carp });
            let loaded = load_tree(&store, &[carp, (path, Entry { kind, id: link })]);
            loaded.crds.into_iter().map(|(path, text)| (path, text.unwrap_err())).next()
        };
        let (path, why) = read("crds", EntryKind::Symlink).unwrap();
        assert_eq!((&*path, &*why), ("", "it is a symbolic link, which no run follows"));
        assert_eq!(read("crds", EntryKind::File).unwrap().1, "it is no folder");
        for inner in ["crds/pulled", "crds/cluster-api-v1.13"] {
            let (path, why) = read(inner, EntryKind::Symlink).unwrap();
            assert!(inner.ends_with(&path) && why.contains("symbolic link"), "{inner}: {why}");
        }
        assert_eq!(read("crds/README.md", EntryKind::Symlink), None);
        assert_eq!(read("crds/.old", EntryKind::Symlink), None);
    }

    #[test]
    fn what_is_too_much_is_not_read() {
        let store = Memory::default();
        let carp = store.put_blob(CARP.as_bytes()).unwrap();
        let large = store.put_blob(&vec![b' '; 3 << 20]).unwrap();
        let names: Vec<_> = (100..130).map(|nth| format!("crds/as.x{nth}.io.yaml")).collect();
        let file = |id| Entry { kind: EntryKind::File, id };
        let mut entries: Vec<_> = names.iter().map(|name| (name.as_str(), file(large))).collect();
        entries.push(("carp.yaml", file(carp)));
        let loaded = load_tree(&store, &entries);
        let read = loaded.crds.values().take_while(|text| text.is_ok()).count() as u64;
        assert_eq!(read, MOST / (3 << 20) + 1, "up to the one that is too much");
        let told = loaded.crds.values().skip_while(|text| text.is_ok());
        assert!(told.into_iter().all(|text| text.as_ref().unwrap_err().contains("64 MiB")));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_there_with_the_reason() {
        let store = Memory::default();
        let large = store.put_blob(&vec![b' '; 50 << 20]).unwrap();
        let link = store.put_blob(b"/etc/passwd").unwrap();
        let entries = [
            ("crds/as.x.io.yaml", Entry { kind: EntryKind::File, id: large }),
            ("crds/bs.x.io.yaml", Entry { kind: EntryKind::Symlink, id: link }),
        ];
        let carp = store.put_blob(CARP.as_bytes()).unwrap();
        let carp = ("carp.yaml", Entry { kind: EntryKind::File, id: carp });
        let entries: Vec<_> = entries.into_iter().chain([carp]).collect();
        let loaded = load_tree(&store, &entries);
        let why: Vec<_> = loaded.crds.values().map(|text| text.clone().unwrap_err()).collect();
        assert!(why[0].starts_with("the file has more than 49 MiB"), "{why:?}");
        assert!(why[1].contains("symbolic link"), "{why:?}");
    }
}
