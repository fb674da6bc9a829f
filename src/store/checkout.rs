//! The way back: a tree becomes files below a folder.

use std::ffi::OsStr;
use std::path::Path;

use super::medium;
use super::opened::{Folder, Standing};
use crate::model::{Dir, Entry, EntryKind, Id, Store, StoreError};

const STORE: &str = "the output folder";

/// What happens to files in the folder that the tree does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prune {
    /// They stay; one that stands where the tree needs its place is an error.
    Keep,
    /// They go. `.git` stays in any case.
    Remove,
}

/// What [`checkout`] did. Paths are relative to the folder, with `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedOut {
    /// Files that were written.
    pub written: Vec<String>,
    /// How many files had the right bytes already and were not touched.
    pub unchanged: usize,
    /// Files and folders that were removed.
    pub removed: Vec<String>,
    /// Symbolic links and submodules of the tree: carp writes plain files only.
    pub skipped: Vec<String>,
}

/// Writes a tree below a folder, which is made if it is not there. Each file is either the old or the
/// new one at any time; a file that has the right bytes is not written.
///
/// # Errors
/// The tree cannot be read or has a name that may not become a file, something stands in the way, or
/// the disk failed. What was written until then stays.
pub fn checkout(
    store: &dyn Store,
    tree: Id,
    dir: &Path,
    prune: Prune,
) -> Result<CheckedOut, StoreError> {
    let folder = Folder::named(dir).map_err(|e| medium(STORE, "making", dir, e))?;
    let mut run = CheckoutRun { store, prune, done: CheckedOut::default() };
    run.folder(tree, &folder, "")?;
    Ok(run.done)
}

struct CheckoutRun<'a> {
    store: &'a dyn Store,
    prune: Prune,
    done: CheckedOut,
}

impl CheckoutRun<'_> {
    fn folder(&mut self, tree: Id, at: &Folder, below: &str) -> Result<(), StoreError> {
        let dir = self.store.dir(tree)?;
        if self.prune == Prune::Remove {
            self.remove_foreign(&dir, at, below)?;
        }
        for (name, entry) in dir.iter_bytes() {
            let name = safe_name(tree, name)?;
            let shown = join(below, name);
            match entry.kind {
                EntryKind::Dir => self.subfolder(entry.id, (at, name), &shown)?,
                EntryKind::File | EntryKind::Executable => self.file(entry, (at, name), shown)?,
                EntryKind::Symlink | EntryKind::Submodule => self.done.skipped.push(shown),
            }
        }
        Ok(())
    }

    fn subfolder(
        &mut self,
        id: Id,
        (at, name): (&Folder, &str),
        shown: &str,
    ) -> Result<(), StoreError> {
        match look(at, name)? {
            Some(Standing::Dir) | None => {}
            Some(other) => self.clear(other, (at, name), shown)?,
        }
        let below = at.folder(name).map_err(|e| medium(STORE, "making", &at.shown(name), e))?;
        self.folder(id, &below, shown)
    }

    fn file(
        &mut self,
        entry: Entry,
        (at, name): (&Folder, &str),
        shown: String,
    ) -> Result<(), StoreError> {
        let bytes = self.store.blob(entry.id)?;
        let failed = |what| move |e| medium(STORE, what, &at.shown(name), e);
        match look(at, name)? {
            Some(Standing::File(kind))
                if kind == entry.kind && at.holds(name, &bytes).map_err(failed("reading"))? =>
            {
                self.done.unchanged += 1;
                return Ok(());
            }
            None | Some(Standing::File(_)) => {}
            Some(other) => self.clear(other, (at, name), &shown)?,
        }
        at.write(name, &bytes, entry.kind).map_err(failed("writing"))?;
        self.done.written.push(shown);
        Ok(())
    }

    /// Takes away what stands where the tree needs the place, if that was asked for.
    fn clear(
        &mut self,
        what: Standing,
        (at, name): (&Folder, &str),
        shown: &str,
    ) -> Result<(), StoreError> {
        let path = at.shown(name);
        if self.prune == Prune::Keep {
            let detail = format!(
                "`{}` is {}, and carp does not write through or over it; move it away, or name \
                 another folder",
                path.display(),
                what.name()
            );
            return Err(StoreError::Medium { store: STORE.to_owned(), detail });
        }
        at.remove(name).map_err(|e| medium(STORE, "removing", &path, e))?;
        self.done.removed.push(shown.to_owned());
        Ok(())
    }

    fn remove_foreign(&mut self, dir: &Dir, at: &Folder, below: &str) -> Result<(), StoreError> {
        let names = at.names().map_err(|e| medium(STORE, "listing", &at.shown(""), e))?;
        for name in names.iter().filter(|name| !belongs(dir, name)) {
            let shown = name.to_string_lossy();
            at.remove(name).map_err(|e| medium(STORE, "removing", &at.shown(&shown), e))?;
            self.done.removed.push(join(below, &shown));
        }
        Ok(())
    }
}

fn look(at: &Folder, name: &str) -> Result<Option<Standing>, StoreError> {
    at.look(name).map_err(|e| medium(STORE, "looking at", &at.shown(name), e))
}

fn belongs(dir: &Dir, name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(".git") || name.to_str().is_some_and(|name| dir.get(name).is_some())
}

/// A name of a tree that may become a file's: not one that leads out of the folder or into `.git`.
fn safe_name(tree: Id, name: &[u8]) -> Result<&str, StoreError> {
    let refused = |why: &str| StoreError::Damaged {
        id: tree,
        store: "the tree to write".to_owned(),
        detail: format!("its entry `{}` {why}", String::from_utf8_lossy(name)),
    };
    let text = std::str::from_utf8(name).map_err(|_| refused("is not UTF-8"))?;
    let leads_away = matches!(text, "" | "." | "..") || text.contains(['/', '\\', '\0']);
    if leads_away || text.eq_ignore_ascii_case(".git") {
        return Err(refused("may not become a file"));
    }
    Ok(text)
}

fn join(below: &str, name: &str) -> String {
    if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::super::{FolderStore, Limits, MemoryStore};
    use super::*;
    use std::collections::BTreeMap;
    use std::fs;

    fn tree(store: &MemoryStore, files: &[(&str, &str)]) -> Id {
        let mut dir = Dir::default();
        let mut below: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
        for (path, text) in files {
            if let Some((top, rest)) = path.split_once('/') {
                below.entry(top).or_default().push((rest, text));
            } else {
                let id = store.put_blob(text.as_bytes()).unwrap();
                dir.insert(path, Entry { kind: EntryKind::File, id });
            }
        }
        for (name, files) in below {
            dir.insert(name, Entry { kind: EntryKind::Dir, id: tree(store, &files) });
        }
        store.put_dir(&dir).unwrap()
    }

    fn check(store: &MemoryStore, id: Id, dir: &Path, prune: Prune) -> CheckedOut {
        checkout(store, id, dir, prune).unwrap()
    }

    #[test]
    fn a_tree_written_and_scanned_is_the_same_tree() {
        let (store, dir) = (MemoryStore::new(), tempfile::tempdir().unwrap());
        let out = dir.path().join("new/out");
        let id = tree(&store, &[("a", "1"), ("b/c", "2"), ("b/d/e", "3")]);
        let done = check(&store, id, &out, Prune::Keep);
        assert_eq!(done.written, ["a", "b/c", "b/d/e"]);
        assert_eq!(FolderStore::scan(&out, Limits::default()).unwrap().1, id);
        let again = check(&store, id, &out, Prune::Keep);
        assert_eq!((again.unchanged, again.written.len()), (3, 0));
    }

    #[test]
    fn foreign_files_go_only_when_told_and_git_stays() {
        let (store, dir) = (MemoryStore::new(), tempfile::tempdir().unwrap());
        for path in [".git/HEAD", "foreign/x", "b/old"] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let id = tree(&store, &[("b/c", "2")]);
        assert!(check(&store, id, dir.path(), Prune::Keep).removed.is_empty());
        assert!(dir.path().join("foreign/x").exists());
        let done = check(&store, id, dir.path(), Prune::Remove);
        assert_eq!(done.removed, ["foreign", "b/old"]);
        assert!(dir.path().join(".git/HEAD").exists());
        assert_eq!(FolderStore::scan(dir.path(), Limits::default()).unwrap().1, id);
    }

    #[test]
    fn a_folder_where_a_file_must_be_is_in_the_way() {
        let (store, dir) = (MemoryStore::new(), tempfile::tempdir().unwrap());
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        let id = tree(&store, &[("a", "1")]);
        let error = checkout(&store, id, dir.path(), Prune::Keep).unwrap_err().to_string();
        assert!(error.contains("is a folder"), "{error}");
        assert_eq!(check(&store, id, dir.path(), Prune::Remove).removed, ["a"]);
        assert_eq!(fs::read(dir.path().join("a")).unwrap(), b"1");
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        use std::os::unix::fs::symlink;
        let (store, dir) = (MemoryStore::new(), tempfile::tempdir().unwrap());
        let (out, elsewhere) = (dir.path().join("out"), dir.path().join("elsewhere"));
        fs::create_dir_all(&out).unwrap();
        fs::create_dir_all(&elsewhere).unwrap();
        symlink(&elsewhere, out.join("b")).unwrap();
        let id = tree(&store, &[("b/c", "2")]);
        let error = checkout(&store, id, &out, Prune::Keep).unwrap_err().to_string();
        assert!(error.contains("symbolic link"), "{error}");
        check(&store, id, &out, Prune::Remove);
        assert!(elsewhere.read_dir().unwrap().next().is_none());
        assert!(out.join("b/c").exists());
    }

    /// Somebody exchanges a folder for a link to another one, again and again, while files are written.
    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link_that_is_exchanged_meanwhile() {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use std::os::unix::fs::symlink;
        use std::sync::atomic::{AtomicBool, Ordering};
        let (store, dir) = (MemoryStore::new(), tempfile::tempdir().unwrap());
        let [out, elsewhere, link] = ["out", "elsewhere", "link"].map(|n| dir.path().join(n));
        fs::create_dir_all(out.join("b")).unwrap();
        fs::create_dir_all(&elsewhere).unwrap();
        symlink(&elsewhere, &link).unwrap();
        let exchange =
            || renameat_with(CWD, &link, CWD, out.join("b"), RenameFlags::EXCHANGE).is_ok();
        if !exchange() || !exchange() {
            return; // This file system cannot exchange two names.
        }
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    exchange();
                }
            });
            for i in 0..2_000 {
                let id = tree(&store, &[("b/c", &*format!("{i}")), ("b/d", "2")]);
                // It may find the link there, and say so.
                let _ = checkout(&store, id, &out, Prune::Keep);
            }
            over.store(true, Ordering::Relaxed);
        });
        assert_eq!(elsewhere.read_dir().unwrap().count(), 0, "nothing is written there");
    }

    #[cfg(unix)]
    #[test]
    fn the_executable_bit_is_written_and_links_are_skipped() {
        use std::os::unix::fs::PermissionsExt as _;
        let (store, dir) = (MemoryStore::new(), tempfile::tempdir().unwrap());
        let id = store.put_blob(b"x").unwrap();
        let mut top = Dir::default();
        top.insert("run", Entry { kind: EntryKind::Executable, id });
        top.insert("link", Entry { kind: EntryKind::Symlink, id });
        let top = store.put_dir(&top).unwrap();
        assert_eq!(check(&store, top, dir.path(), Prune::Keep).skipped, ["link"]);
        let mode = fs::metadata(dir.path().join("run")).unwrap().permissions().mode();
        assert_eq!(mode & 0o100, 0o100);
        assert_eq!(check(&store, top, dir.path(), Prune::Keep).unchanged, 1);
    }

    #[test]
    fn names_that_lead_away_are_refused() {
        for name in ["..", ".GIT", "a/b", "a\\b", ""] {
            let (store, dir) = (MemoryStore::new(), tempfile::tempdir().unwrap());
            let id = store.put_blob(b"x").unwrap();
            let mut top = Dir::default();
            top.insert(name, Entry { kind: EntryKind::File, id });
            let top = store.put_dir(&top).unwrap();
            assert!(checkout(&store, top, dir.path(), Prune::Keep).is_err(), "{name:?}");
        }
    }
}
