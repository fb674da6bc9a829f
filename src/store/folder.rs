//! A plain folder as it stands.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::scan::{FolderScan, Limits, ScannedFile, bytes};
use super::stat_cache::{StatCache, UnchangedFiles};
use crate::model::{Dir, Id, Store, StoreError, blob_id};

/// The files of a folder, hashed once and read again when they are asked for.
///
/// Everything below the folder is seen except `.git` and one folder where that is said, what Git would ignore included; symbolic links
/// are entries of their own and never followed. The store is read-only: lay an
/// [`Overlay`](super::Overlay) over it.
#[derive(Debug)]
pub struct FolderStore {
    name: String,
    root: PathBuf,
    /// Where it is kept what the files were when they were hashed.
    kept: Option<PathBuf>,
    /// Those that were hashed now, by id.
    files: Vec<(Id, ScannedFile)>,
    /// The others.
    unchanged: UnchangedFiles,
    dirs: BTreeMap<Id, Arc<Dir>>,
}

impl FolderStore {
    /// Walks a folder and returns the store with the id of its tree.
    ///
    /// # Errors
    /// The folder, or something in it, cannot be read, or it is larger than the limits.
    pub fn scan(root: &Path, limits: Limits) -> Result<(Self, Id), StoreError> {
        Self::scanned((root, None), limits, None, StatCache::default())
    }

    /// As [`scan`](Self::scan), without what lies below `except`, and without reading again what is as it was when this was called
    /// last with the same file to keep that in.
    ///
    /// # Errors
    /// As for [`scan`](Self::scan). What cannot be kept is no error.
    pub fn scan_again(
        root: &Path,
        except: Option<&Path>,
        limits: Limits,
        kept: Option<&Path>,
    ) -> Result<(Self, Id), StoreError> {
        Self::scanned((root, except), limits, kept, kept.map(StatCache::open).unwrap_or_default())
    }

    fn scanned(
        (root, except): (&Path, Option<&Path>),
        limits: Limits,
        kept: Option<&Path>,
        cache: StatCache,
    ) -> Result<(Self, Id), StoreError> {
        let name = format!("the folder `{}`", root.display());
        let mut scan = FolderScan::new(&name, root, limits, cache).except(except);
        let (tree, unchanged) = scan.walk()?;
        let (mut files, dirs) = (scan.files, scan.dirs);
        files.sort_unstable_by_key(|(id, _)| *id);
        let (root, kept) = (root.to_owned(), kept.map(Path::to_owned));
        Ok((Self { name, root, kept, files, unchanged, dirs }, tree))
    }

    fn found(&self, id: Id) -> Result<ScannedFile, StoreError> {
        if let Ok(at) = self.files.binary_search_by_key(&id, |(id, _)| *id) {
            return Ok(self.files[at].1.clone());
        }
        let (path, stat) = self.unchanged.find(id).ok_or_else(|| self.absent(id))?;
        let path = self.root.join(path);
        Ok(ScannedFile { path, size: stat.size(), is_symlink: stat.is_symlink() })
    }

    fn absent(&self, id: Id) -> StoreError {
        StoreError::Absent { id, store: self.name.clone() }
    }

    fn read_only(&self) -> StoreError {
        StoreError::Medium {
            store: self.name.clone(),
            detail: "the folder is read as it stands and never written to".to_owned(),
        }
    }
}

impl Store for FolderStore {
    fn dir(&self, id: Id) -> Result<Arc<Dir>, StoreError> {
        match self.dirs.get(&id) {
            Some(dir) => Ok(Arc::clone(dir)),
            None => Err(self.absent(id)),
        }
    }

    fn blob(&self, id: Id) -> Result<Arc<[u8]>, StoreError> {
        let found = self.found(id)?;
        let bytes = bytes(&self.name, &found)?;
        if blob_id(&bytes) == id {
            return Ok(bytes.into());
        }
        // It has another id than the one that was kept, or changed just now; who runs again reads it in any case.
        let _ = self.kept.as_ref().map(fs::remove_file);
        Err(StoreError::Damaged {
            id,
            store: self.name.clone(),
            detail: format!("`{}` changed since the run began; run again", found.path.display()),
        })
    }

    fn blob_size(&self, id: Id) -> Result<u64, StoreError> {
        self.found(id).map(|found| found.size)
    }

    fn put_blob(&self, _: &[u8]) -> Result<Id, StoreError> {
        Err(self.read_only())
    }

    fn put_dir(&self, _: &Dir) -> Result<Id, StoreError> {
        Err(self.read_only())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::model::EntryKind;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn files_read_back_and_git_and_empty_folders_are_not_seen() {
        let root = folder(&[("fleet/a.yaml", "a"), (".git/HEAD", "ref"), ("sub/.git", "gitdir")]);
        fs::create_dir(root.path().join("empty")).unwrap();
        let (store, tree) = FolderStore::scan(root.path(), Limits::default()).unwrap();
        let top = store.dir(tree).unwrap();
        assert_eq!(top.iter().map(|(n, _)| n).collect::<Vec<_>>(), ["fleet"]);
        let fleet = store.dir(top.get("fleet").unwrap().id).unwrap();
        let file = fleet.get("a.yaml").unwrap();
        assert_eq!((file.kind, &*store.blob(file.id).unwrap()), (EntryKind::File, &b"a"[..]));
        assert!(store.put_blob(b"").is_err());
    }

    #[test]
    fn a_folder_that_is_left_out_is_as_if_it_were_not_there() {
        let files = [("fleet/a.yaml", "same"), ("outside/b.yaml", "same")];
        let (root, without) = (folder(&files), folder(&files));
        fs::create_dir_all(root.path().join("sub/out")).unwrap();
        fs::write(root.path().join("sub/out/c.yaml"), "same").unwrap();
        let (whole, tree) = FolderStore::scan(without.path(), Limits::default()).unwrap();
        let scan = |except: Option<&str>| {
            let except = except.map(|except| root.path().join(except));
            FolderStore::scan_again(root.path(), except.as_deref(), Limits::default(), None)
                .unwrap()
        };
        for except in ["sub/out", "sub", "fleet/../sub/out/"] {
            let (store, seen) = scan(Some(except));
            assert_eq!((seen, store.files.len()), (tree, whole.files.len()), "{except}");
        }
        // A file, what is not there, the folder itself and what lies above it leave nothing out.
        let (_, all) = scan(None);
        for except in ["fleet/a.yaml", "nowhere", "", ".."] {
            assert_eq!(scan(Some(except)).1, all, "{except}");
        }
    }

    #[test]
    fn a_file_that_changed_is_an_error_and_not_other_bytes() {
        let root = folder(&[("a", "before")]);
        let (store, tree) = FolderStore::scan(root.path(), Limits::default()).unwrap();
        let id = store.dir(tree).unwrap().get("a").unwrap().id;
        fs::write(root.path().join("a"), "after!").unwrap();
        assert!(store.blob(id).unwrap_err().to_string().contains("run again"));
        fs::remove_file(root.path().join("a")).unwrap();
        assert!(matches!(store.blob(id), Err(StoreError::Medium { .. })));
    }

    #[test]
    fn the_size_is_known_without_reading() {
        let root = folder(&[("a", "12345")]);
        let (store, tree) = FolderStore::scan(root.path(), Limits::default()).unwrap();
        let id = store.dir(tree).unwrap().get("a").unwrap().id;
        fs::remove_file(root.path().join("a")).unwrap();
        assert_eq!(store.blob_size(id).unwrap(), 5);
    }

    #[test]
    fn a_large_file_is_hashed_as_git_would() {
        let root = tempfile::tempdir().unwrap();
        let bytes = vec![3; (8 << 20) + 1];
        fs::write(root.path().join("large"), &bytes).unwrap();
        let (store, tree) = FolderStore::scan(root.path(), Limits::default()).unwrap();
        assert_eq!(store.dir(tree).unwrap().get("large").unwrap().id, blob_id(&bytes));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_entries_and_never_followed() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let root = folder(&[("run.sh", "#!/bin/sh")]);
        let run = root.path().join("run.sh");
        fs::set_permissions(&run, fs::Permissions::from_mode(0o755)).unwrap();
        symlink("/", root.path().join("everything")).unwrap();
        symlink(".", root.path().join("loop")).unwrap();
        let (store, tree) = FolderStore::scan(root.path(), Limits::default()).unwrap();
        let top = store.dir(tree).unwrap();
        assert_eq!(top.get("run.sh").unwrap().kind, EntryKind::Executable);
        let link = top.get("everything").unwrap();
        assert_eq!((link.kind, &*store.blob(link.id).unwrap()), (EntryKind::Symlink, &b"/"[..]));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_as_it_was_is_read_where_it_was_found() {
        use std::os::unix::fs::symlink;
        let root = folder(&[("a.yaml", "a"), ("sub/b.yaml", "before"), ("sub/c.yaml", "before")]);
        symlink("a.yaml", root.path().join("link")).unwrap();
        let beside = tempfile::tempdir().unwrap();
        let kept = beside.path().join("folder.stat");
        let look = || {
            let cache = StatCache::opened_at(&kept, i64::MAX);
            FolderStore::scanned((root.path(), None), Limits::default(), Some(&kept), cache)
                .unwrap()
        };
        let (first, tree) = look();
        let (again, same) = look();
        assert_eq!((first.files.len(), again.files.len(), same), (4, 0, tree));
        for bytes in ["a", "before", "a.yaml"].map(str::as_bytes) {
            let id = blob_id(bytes);
            assert_eq!(again.blob_size(id).unwrap(), bytes.len() as u64);
            assert_eq!(&*again.blob(id).unwrap(), bytes);
        }
        assert!(matches!(again.blob(blob_id(b"other")), Err(StoreError::Absent { .. })));
        fs::write(root.path().join("a.yaml"), "other").unwrap();
        assert!(again.blob(blob_id(b"a")).unwrap_err().to_string().contains("run again"));
        assert!(!kept.exists(), "it is not believed any more");
    }

    #[test]
    fn the_limits_stop_a_walk_in_the_wrong_place() {
        let root = folder(&[("a/b/c", ""), ("d", "")]);
        let limits = |entries, depth| FolderStore::scan(root.path(), Limits { entries, depth });
        assert!(limits(4, 2).is_ok());
        assert!(limits(3, 2).unwrap_err().to_string().contains("3 entries"));
        assert!(limits(4, 1).unwrap_err().to_string().contains("1 levels"));
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let error = FolderStore::scan(&root.path().join("nope"), Limits::default()).unwrap_err();
        assert!(error.to_string().contains("listing"), "{error}");
    }
}
