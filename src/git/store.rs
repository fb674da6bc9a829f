//! A Git repository as a store: reads by libgit2, puts collected for one pack.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use git2::{ErrorClass, ErrorCode, Odb, OdbLookupFlags};

use super::locks::sweep_packs;
use super::pack::{Entries, ObjectType};
use super::read_dirs::ReadDirs;
use super::reading::begin;
use super::repository::{Repository, oid};
use super::{CommitDraft, Error, Redacted, Signature};
use crate::model::{Dir, Entry, EntryKind, Id, Store, StoreError};

/// The objects of a repository. What is put is readable at once and is in the repository only after
/// [`GitStore::flush`]; a store that is dropped before has written nothing.
pub struct GitStore<'r> {
    odb: Odb<'r>,
    name: String,
    directory: Arc<Path>,
    pending: Mutex<PendingObjects>,
    dirs: ReadDirs,
}

struct PendingObjects {
    entries: Entries,
    /// Objects in packs that were flushed before.
    flushed: u64,
    /// Whether nothing of what is put is looked for among the repository's objects.
    all_new: bool,
}

/// What a flush wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flushed {
    /// How many objects.
    pub objects: usize,
    /// The pack; `None` where there was nothing to write.
    pub pack: Option<PathBuf>,
}

impl Repository {
    /// The objects of this repository, with room for new ones.
    ///
    /// # Errors
    /// The object database cannot be opened.
    pub fn store(&self) -> Result<GitStore<'_>, Error> {
        let odb = self.inner.odb().map_err(|e| self.failed("opening the objects", &e))?;
        Ok(GitStore {
            odb,
            name: self.name(),
            directory: Arc::clone(&self.directory),
            pending: Mutex::new(PendingObjects {
                entries: Entries::beside(&self.directory),
                flushed: 0,
                all_new: false,
            }),
            dirs: ReadDirs::default(),
        })
    }
}

impl GitStore<'_> {
    /// How many objects were put that the repository did not have, flushed or not.
    pub fn objects_written(&self) -> u64 {
        let pending = self.pending();
        pending.flushed + pending.entries.len() as u64
    }

    /// Nothing of what is put until the next flush is looked for among the repository's objects, as before a first run nothing
    /// is there. What is there all the same is written twice, which does no harm.
    pub fn expect_new(&self) {
        self.pending().all_new = true;
    }

    /// Puts a commit beside the files and directories of its tree, and returns its id. No ref moves.
    pub fn commit(&self, draft: &CommitDraft) -> Id {
        self.put(ObjectType::Commit, &draft.to_bytes())
    }

    /// Puts a commit that has a signature of its draft as a header.
    pub fn signed_commit(&self, draft: &CommitDraft, signature: &Signature) -> Id {
        self.put(ObjectType::Commit, &draft.to_signed_bytes(signature.as_str()))
    }

    /// Writes everything that was put as one pack with its index, and returns when both are on disk.
    /// This comes before any ref moves.
    ///
    /// # Errors
    /// The disk is full or failed; then nothing was written and the objects stay pending.
    pub fn flush(&self) -> Result<Flushed, Error> {
        let mut pending = self.pending();
        let objects = pending.entries.len();
        if objects == 0 {
            return Ok(Flushed::default());
        }
        let pack = pending.entries.write(&self.directory).map_err(|e| self.not_written(&e))?;
        sweep_packs(&pack);
        let failed = |e| Error::libgit2(format!("reading the new pack of {}", self.name), &e);
        self.odb.refresh().map_err(failed)?;
        pending.entries = Entries::beside(&self.directory);
        pending.flushed += objects as u64;
        pending.all_new = false;
        Ok(Flushed { objects, pack: Some(pack) })
    }

    fn not_written(&self, error: &io::Error) -> Error {
        Error::Repository {
            what: format!("writing a pack into {}", self.name),
            detail: Redacted::new(error.to_string()),
        }
    }

    fn put(&self, kind: ObjectType, body: &[u8]) -> Id {
        let id = kind.id(body);
        let mut pending = self.pending();
        if pending.entries.contains(id) {
            return id;
        }
        // Without a refresh: a directory listing per new object would cost more than the objects. An
        // object that another process wrote meanwhile is then written again, which does no harm.
        if pending.all_new || !self.odb.exists_ext(oid(id), OdbLookupFlags::NO_REFRESH) {
            pending.entries.add(id, kind, body);
        }
        id
    }

    /// What `says` makes of the body of an object that must be of a kind.
    fn read<T>(
        &self,
        id: Id,
        wanted: ObjectType,
        says: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, StoreError> {
        let pending = self.pending();
        if let Some((kind, _)) = pending.entries.header(id) {
            self.expect(id, kind.name(), wanted)?;
            let body = pending.entries.read(id).expect("its header was just found");
            return body.map(|body| says(&body)).map_err(|e| self.damaged(id, e.to_string()));
        }
        drop(pending);
        let _reading = begin(Some(id), &self.directory);
        let object = self.odb.read(oid(id)).map_err(|e| self.unreadable(id, &e))?;
        self.expect(id, object.kind().str(), wanted)?;
        Ok(says(object.data()))
    }

    fn expect(&self, id: Id, found: &str, wanted: ObjectType) -> Result<(), StoreError> {
        if found == wanted.name() {
            return Ok(());
        }
        Err(self.damaged(id, format!("it is a {found}, not a {}", wanted.name())))
    }

    fn unreadable(&self, id: Id, error: &git2::Error) -> StoreError {
        let detail = Redacted::new(error.message()).to_string();
        if error.code() == ErrorCode::NotFound {
            return StoreError::Absent { id, store: self.name.clone() };
        }
        match error.class() {
            ErrorClass::Zlib | ErrorClass::Odb | ErrorClass::Object => self.damaged(id, detail),
            _ => StoreError::Medium {
                store: self.name.clone(),
                detail: format!("reading object {id} failed: {detail}"),
            },
        }
    }

    fn damaged(&self, id: Id, detail: String) -> StoreError {
        StoreError::Damaged { id, store: self.name.clone(), detail }
    }

    fn pending(&self) -> MutexGuard<'_, PendingObjects> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for GitStore<'_> {
    fn dir(&self, id: Id) -> Result<Arc<Dir>, StoreError> {
        if id == Id::EMPTY_DIR {
            return Ok(Arc::default());
        }
        if let Some(known) = self.dirs.get(id) {
            return Ok(known);
        }
        let parsed = self.read(id, ObjectType::Tree, parse_tree)?.map(Arc::new);
        let dir = parsed.ok_or_else(|| self.damaged(id, "it is not a tree".to_owned()))?;
        self.dirs.keep(id, &dir);
        Ok(dir)
    }

    fn blob(&self, id: Id) -> Result<Arc<[u8]>, StoreError> {
        self.read(id, ObjectType::Blob, |body| Arc::from(body))
    }

    fn blob_size(&self, id: Id) -> Result<u64, StoreError> {
        if let Some((kind, size)) = self.pending().entries.header(id) {
            self.expect(id, kind.name(), ObjectType::Blob)?;
            return Ok(size as u64);
        }
        let _reading = begin(Some(id), &self.directory);
        let (size, kind) = self.odb.read_header(oid(id)).map_err(|e| self.unreadable(id, &e))?;
        self.expect(id, kind.str(), ObjectType::Blob)?;
        Ok(size as u64)
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Id, StoreError> {
        Ok(self.put(ObjectType::Blob, bytes))
    }

    fn put_dir(&self, dir: &Dir) -> Result<Id, StoreError> {
        if let Some((name, _)) = dir.iter_bytes().find(|(name, _)| !may_stand_in_a_tree(name)) {
            return Err(StoreError::Medium {
                store: self.name.clone(),
                detail: format!("`{}` cannot be a name in a tree", String::from_utf8_lossy(name)),
            });
        }
        let id = self.put(ObjectType::Tree, &dir.to_tree());
        // It is compared with the one before soon.
        self.dirs.keep_written(id, dir);
        Ok(id)
    }
}

/// Git refuses a tree with any other name, at the latest when it is pushed.
fn may_stand_in_a_tree(name: &[u8]) -> bool {
    let special = matches!(name, b"" | b"." | b"..") || name.eq_ignore_ascii_case(b".git");
    !special && !name.iter().any(|byte| matches!(byte, b'/' | 0))
}

/// How many bytes an entry takes in a tree at least: a mode, a space, a name, a zero and an id.
const SMALLEST_ENTRY: usize = 5 + 1 + 1 + 1 + 20;

/// Entries of `mode SP name NUL id`. Old modes such as `100664` are read as what they mean today.
fn parse_tree(mut body: &[u8]) -> Option<Dir> {
    let mut dir = Dir::with_capacity(body.len() / SMALLEST_ENTRY);
    while !body.is_empty() {
        let space = body.iter().position(|&b| b == b' ')?;
        let end = space + body[space..].iter().position(|&b| b == 0)?;
        let id = body.get(end + 1..end + 21)?;
        let entry =
            Entry { kind: kind_of(&body[..space])?, id: Id::from_bytes(id.try_into().ok()?) };
        dir.insert(&body[space + 1..end], entry);
        body = &body[end + 21..];
    }
    Some(dir)
}

fn kind_of(mode: &[u8]) -> Option<EntryKind> {
    let mode = u32::from_str_radix(std::str::from_utf8(mode).ok()?, 8).ok()?;
    match mode >> 12 {
        0o04 => Some(EntryKind::Dir),
        0o10 if mode & 0o100 != 0 => Some(EntryKind::Executable),
        0o10 => Some(EntryKind::File),
        0o12 => Some(EntryKind::Symlink),
        0o16 => Some(EntryKind::Submodule),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_parses_to_what_it_was_written_from() {
        let mut dir = Dir::default();
        let id = ObjectType::Blob.id(b"x");
        for (name, kind) in [
            ("file", EntryKind::File),
            ("run", EntryKind::Executable),
            ("link", EntryKind::Symlink),
            ("dir", EntryKind::Dir),
            ("dir.b", EntryKind::File),
            ("sub", EntryKind::Submodule),
        ] {
            dir.insert(name, Entry { kind, id });
        }
        assert_eq!(parse_tree(&dir.to_tree()), Some(dir.clone()));
        let body = dir.to_tree();
        assert_eq!(parse_tree(&body[..body.len() - 1]), None);
    }

    #[test]
    fn names_that_git_refuses_are_refused() {
        for name in ["", ".", "..", ".git", ".GIT", "a/b", "a\0b"] {
            assert!(!may_stand_in_a_tree(name.as_bytes()), "{name:?}");
        }
        assert!(may_stand_in_a_tree(b".gitignore"));
    }
}
