//! The walk over a folder.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, DirEntry, File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha1::{Digest as _, Sha1};

use super::medium;
use super::stat_cache::{StatCache, UnchangedFiles};
use crate::model::{Dir, Entry, EntryKind, Id, StoreError, blob_id};

/// Files above this size are hashed piece by piece, so that a folder with a huge file costs no memory.
const STREAMED_ABOVE: u64 = 8 << 20;

/// How large a folder may be. The bounds stop a walk that was started in the wrong place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of files and directories.
    pub entries: usize,
    /// The number of directories inside each other.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 2_000_000, depth: 64 }
    }
}

/// Where a file of the folder is, to be read again.
#[derive(Clone, Debug)]
pub(super) struct ScannedFile {
    pub(super) path: PathBuf,
    pub(super) size: u64,
    pub(super) is_symlink: bool,
}

/// What a walk found.
#[derive(Debug)]
pub(super) struct FolderScan<'a> {
    store: &'a str,
    limits: Limits,
    entries: usize,
    /// Where the walk is.
    path: PathBuf,
    /// How many bytes of that stand before what is below the root.
    above: usize,
    /// The folder below the root that is left out.
    except: Option<PathBuf>,
    cache: StatCache,
    /// Those that were hashed, in the order of the walk.
    pub(super) files: Vec<(Id, ScannedFile)>,
    pub(super) dirs: BTreeMap<Id, Arc<Dir>>,
}

impl<'a> FolderScan<'a> {
    pub(super) fn new(store: &'a str, root: &Path, limits: Limits, cache: StatCache) -> Self {
        let (files, dirs) = (Vec::new(), BTreeMap::new());
        let above = root.join("x").as_os_str().len() - 1;
        let (path, except) = (root.to_owned(), None);
        Self { store, limits, entries: 0, path, above, except, cache, files, dirs }
    }

    /// Leaves a folder out, where it lies below the root.
    pub(super) fn except(mut self, folder: Option<&Path>) -> Self {
        let real = |path: &Path| fs::canonicalize(path).ok();
        let below = folder.and_then(real).zip(real(&self.path));
        let below =
            below.and_then(|(folder, root)| Some(folder.strip_prefix(root).ok()?.to_owned()));
        self.except = below.filter(|below| !below.as_os_str().is_empty());
        self
    }

    /// Walks the folder and returns its id, and the files that are as they were; what was hashed is kept for the next walk.
    pub(super) fn walk(&mut self) -> Result<(Id, UnchangedFiles), StoreError> {
        let id = self.folder(0)?;
        Ok((id, std::mem::take(&mut self.cache).keep()))
    }

    /// The id of the folder where the walk is. Directories without files are left out, as Git does.
    fn folder(&mut self, depth: usize) -> Result<Id, StoreError> {
        if depth > self.limits.depth {
            return Err(self.too_large(&format!("{} levels", self.limits.depth)));
        }
        let listing = self.listing()?;
        let mut dir = Dir::with_capacity(listing.len());
        for (name, item) in listing {
            self.path.push(&name);
            let entry = self.entry(&item, depth)?;
            self.path.pop();
            if let Some(entry) = entry {
                dir.insert(name.as_encoded_bytes(), entry);
            }
        }
        let id = dir.id();
        self.dirs.insert(id, Arc::new(dir));
        Ok(id)
    }

    /// What is in the folder where the walk is, but for what is Git's own, in the order of names, which is that of the cache.
    /// Of a folder with too much in it one more than the walk may see.
    fn listing(&self) -> Result<Vec<(OsString, DirEntry)>, StoreError> {
        let failed = |e| medium(self.store, "listing", &self.path, e);
        let items = fs::read_dir(&self.path).map_err(failed)?;
        let named = items.map(|item| item.map(|item| (item.file_name(), item)));
        let is_own = |name: &OsString| name.eq_ignore_ascii_case(".git");
        let others = named.filter(|item| !item.as_ref().is_ok_and(|(name, _)| is_own(name)));
        let most = self.limits.entries.saturating_add(1);
        let mut listing: Vec<_> = others.take(most).collect::<Result<_, _>>().map_err(failed)?;
        listing.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Ok(listing)
    }

    /// The entry of what the walk has come to.
    fn entry(&mut self, item: &DirEntry, depth: usize) -> Result<Option<Entry>, StoreError> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(self.too_large(&format!("{} entries", self.limits.entries)));
        }
        // The entry's own metadata: a symbolic link is looked at, never followed.
        let about = item.metadata().map_err(|e| medium(self.store, "looking at", &self.path, e))?;
        if about.is_dir() {
            if self.is_left_out() {
                return Ok(None);
            }
            let id = self.folder(depth + 1)?;
            return Ok((id != Id::EMPTY_DIR).then_some(Entry { kind: EntryKind::Dir, id }));
        }
        let Some(kind) = kind_of(&about) else {
            // Sockets, pipes and devices: Git does not see them either.
            return Ok(None);
        };
        let below = below(&self.path, self.above);
        if let Some(id) = self.cache.known(below, &about) {
            return Ok(Some(Entry { kind, id }));
        }
        let is_symlink = kind == EntryKind::Symlink;
        let mut found = ScannedFile { path: self.path.clone(), size: about.len(), is_symlink };
        let id = hash(self.store, &mut found)?;
        self.cache.learn(below, &about, id);
        self.files.push((id, found));
        Ok(Some(Entry { kind, id }))
    }

    fn is_left_out(&self) -> bool {
        let here = below(&self.path, self.above);
        self.except.as_ref().is_some_and(|except| except.as_os_str().as_encoded_bytes() == here)
    }

    fn too_large(&self, bound: &str) -> StoreError {
        StoreError::Medium {
            store: self.store.to_owned(),
            detail: format!(
                "there are more than {bound} at `{}`; name the folder that holds the fleet itself",
                self.path.display()
            ),
        }
    }
}

/// What of a path is behind so many bytes.
fn below(path: &Path, above: usize) -> &[u8] {
    &path.as_os_str().as_encoded_bytes()[above..]
}

fn kind_of(about: &Metadata) -> Option<EntryKind> {
    if about.is_symlink() {
        return Some(EntryKind::Symlink);
    }
    about
        .is_file()
        .then(|| if is_executable(about) { EntryKind::Executable } else { EntryKind::File })
}

#[cfg(unix)]
fn is_executable(about: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    about.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}

/// The bytes that Git would keep for a file: of a symbolic link, the path it points to.
pub(super) fn bytes(store: &str, found: &ScannedFile) -> Result<Vec<u8>, StoreError> {
    let path = &found.path;
    if found.is_symlink {
        let target = fs::read_link(path).map_err(|e| medium(store, "reading the link", path, e))?;
        return Ok(target.as_os_str().as_encoded_bytes().to_vec());
    }
    fs::read(path).map_err(|e| medium(store, "reading", path, e))
}

/// The id of a file, and with it the size that was really read.
fn hash(store: &str, found: &mut ScannedFile) -> Result<Id, StoreError> {
    if found.is_symlink || found.size <= STREAMED_ABOVE {
        let bytes = bytes(store, found)?;
        found.size = bytes.len() as u64;
        return Ok(blob_id(&bytes));
    }
    let path = &found.path;
    let file = File::open(path).map_err(|e| medium(store, "opening", path, e))?;
    hash_stream(file, found.size).map_err(|e| medium(store, "reading", path, e))
}

/// The id of a blob that is read piece by piece. Its size is part of what is hashed, so a stream of
/// another length than was announced is an error.
fn hash_stream(mut from: impl Read, size: u64) -> std::io::Result<Id> {
    let mut hasher = Sha1::new();
    hasher.update(format!("blob {size}\0").as_bytes());
    let mut buffer = vec![0; 1 << 16];
    let mut seen = 0;
    loop {
        let got = from.read(&mut buffer)?;
        if got == 0 {
            break;
        }
        seen += got as u64;
        hasher.update(&buffer[..got]);
    }
    if seen != size {
        return Err(std::io::Error::other("the file changed while it was read"));
    }
    Ok(Id::from_bytes(hasher.finalize().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_the_id_of_its_bytes_and_must_keep_its_size() {
        let bytes = vec![7; 200_000];
        assert_eq!(hash_stream(&bytes[..], 200_000).unwrap(), blob_id(&bytes));
        assert!(hash_stream(&bytes[..], 199_999).is_err());
        assert!(hash_stream(&bytes[..], 200_001).is_err());
    }
}
