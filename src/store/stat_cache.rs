//! What the files of a folder were when they were hashed last: a look at a large folder reads those alone that may
//! have changed since.
//!
//! A file is taken for the same where its stat data is, and where that cannot be by chance: what was changed within a
//! tick of the file system's clock after it was hashed would look the same, so what changed just before is not
//! kept (Git's `Documentation/technical/racy-git.adoc`). Git's own index is not asked: it has the ids of what filters and
//! settings of line ends make of a file, and a folder is read as it stands.

use std::convert::Infallible;
use std::fs::{self, Metadata};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::memo_file::{seal, unseal};
use super::stat_data::{self, StatData};
use super::whole_file::write_whole;
use crate::model::Id;

/// How long before a look a file must have changed last, in seconds: the coarsest clock of a file system ticks as often.
const SETTLED_AFTER: i64 = 2;
/// The size of an id, in bytes.
const ID: usize = 20;
/// How many bytes of a cache a file usually takes, or more.
const USUAL: usize = 100;

/// What is known of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CachedFile<'a> {
    /// Below the folder.
    path: &'a [u8],
    stat: StatData,
    id: Id,
}

/// The files that were known, as the bytes that they were read from: most are looked up once and nothing else.
#[derive(Debug, Default)]
struct KnownFiles {
    bytes: Vec<u8>,
    /// Where the path of each begins and ends, in the order of the paths.
    paths: Vec<Range<usize>>,
}

impl KnownFiles {
    /// What [`sealed`] made bytes of; `None` where they are damaged.
    fn unsealed(bytes: Vec<u8>) -> Option<Self> {
        let mut at = bytes.len() - unseal(&bytes)?.len();
        let mut paths = Vec::with_capacity((bytes.len() - at) / USUAL);
        while at < bytes.len() {
            let end = at + memchr::memchr(0, &bytes[at..])?;
            paths.push(at..end);
            at = end + 1 + StatData::SIZE + ID;
        }
        (at == bytes.len()).then_some(Self { bytes, paths })
    }

    fn path(&self, nth: usize) -> Option<&[u8]> {
        self.bytes.get(self.paths.get(nth)?.clone())
    }

    fn file(&self, nth: usize) -> Option<CachedFile<'_>> {
        let path = self.path(nth)?;
        let after = self.bytes.get(self.paths.get(nth)?.end + 1..)?;
        let (stat, after) = after.split_first_chunk()?;
        let (id, _) = after.split_first_chunk::<ID>()?;
        Some(CachedFile { path, stat: StatData::from_bytes(*stat), id: Id::from_bytes(*id) })
    }

    /// Which file has a path. A walk comes by them in nearly the order that they have here, so the `guess` is looked at
    /// first.
    fn find(&self, path: &[u8], guess: usize) -> Option<usize> {
        if self.path(guess) == Some(path) {
            return Some(guess);
        }
        self.paths.binary_search_by(|known| self.bytes[known.clone()].cmp(path)).ok()
    }
}

/// A file of which something was learned.
#[derive(Debug)]
struct LearnedFile {
    path: Vec<u8>,
    stat: StatData,
    id: Id,
}

/// What was known of a folder, and what a look at it learns.
#[derive(Debug, Default)]
pub(super) struct StatCache {
    /// Where it is kept, and what the file system's clock said before the look; `None` where nothing is kept.
    kept: Option<(PathBuf, i64)>,
    before: KnownFiles,
    /// Which of these are as they were.
    same: Vec<usize>,
    learned: Vec<LearnedFile>,
}

impl StatCache {
    /// The cache of this file. There is none where its folder is not there yet or cannot be written to: then nothing
    /// else is known of the folder either, and a look makes nothing. Nor is there where the system does not tell when a
    /// file was changed, but only what its writer says of it.
    pub(super) fn open(path: &Path) -> Self {
        let folder = path.parent().filter(|_| cfg!(unix));
        folder.and_then(clock).map_or_else(Self::default, |began| Self::opened_at(path, began))
    }

    /// As [`open`](Self::open), where the file system's clock says this.
    pub(super) fn opened_at(path: &Path, began: i64) -> Self {
        let before = fs::read(path).ok().and_then(KnownFiles::unsealed).unwrap_or_default();
        let same = Vec::with_capacity(before.paths.len());
        Self { kept: Some((path.to_owned(), began)), before, same, ..Self::default() }
    }

    /// The id of a file that is as it was; `None` where it may not be.
    pub(super) fn known(&mut self, path: &[u8], about: &Metadata) -> Option<Id> {
        self.kept.as_ref()?;
        let guess = self.same.last().map_or(0, |last| last + 1);
        let nth = self.before.find(path, guess)?;
        let file = self.before.file(nth).filter(|file| file.stat == StatData::of(about))?;
        let id = file.id;
        self.same.push(nth);
        Some(id)
    }

    /// Another file has this id. Its stat data was read before it was hashed.
    pub(super) fn learn(&mut self, path: &[u8], about: &Metadata, id: Id) {
        let Some((_, began)) = &self.kept else { return };
        if StatData::changed(about).saturating_add(SETTLED_AFTER) < *began {
            let stat = StatData::of(about);
            self.learned.push(LearnedFile { path: path.to_owned(), stat, id });
        }
    }

    /// Writes what is known now, whole or not at all, where anything was learned, and returns the files that are as they were.
    /// What cannot be written is hashed again.
    pub(super) fn keep(self) -> UnchangedFiles {
        self.write();
        UnchangedFiles { known: self.before, places: self.same, by_id: OnceLock::new() }
    }

    fn write(&self) {
        let Some((path, _)) = self.kept.as_ref().filter(|_| !self.learned.is_empty()) else {
            return;
        };
        let same = self.same.iter().filter_map(|nth| self.before.file(*nth));
        let learned = self.learned.iter().map(|LearnedFile { path, stat, id }| CachedFile {
            path,
            stat: *stat,
            id: *id,
        });
        let mut now: Vec<_> = same.chain(learned).collect();
        now.sort_unstable_by_key(|file| file.path);
        let _ = write_whole(path, &sealed(&now));
    }
}

/// The files of a folder that are as they were, found by their ids: few of them are read.
#[derive(Debug, Default)]
pub(super) struct UnchangedFiles {
    known: KnownFiles,
    /// Which of these they are.
    places: Vec<usize>,
    /// The same in the order of their ids, once one was sought.
    by_id: OnceLock<Vec<usize>>,
}

impl UnchangedFiles {
    /// A file with these bytes: where it is below the folder, and what the file system said of it.
    pub(super) fn find(&self, id: Id) -> Option<(PathBuf, StatData)> {
        let id_of = |place: &usize| self.known.file(*place).map(|file| file.id);
        let by_id = self.by_id.get_or_init(|| {
            let mut by_id = self.places.clone();
            by_id.sort_by_cached_key(id_of);
            by_id
        });
        let at = by_id.binary_search_by_key(&Some(id), id_of).ok()?;
        let CachedFile { path, stat, .. } = self.known.file(by_id[at])?;
        Some((stat_data::path(path), stat))
    }
}

/// What the clock says of the file system that a folder is on, in seconds; `None` where nothing can be written there.
fn clock(folder: &Path) -> Option<i64> {
    let file = tempfile::NamedTempFile::new_in(folder).ok()?;
    file.as_file().metadata().ok().map(|about| StatData::changed(&about))
}

/// The files as bytes: each with its path up to a zero byte, its stat data and its id, behind the digest of all of them.
fn sealed(files: &[CachedFile<'_>]) -> Vec<u8> {
    let sealed = seal(|bytes| {
        for CachedFile { path, stat, id } in files {
            bytes.extend([path, &[0][..], stat.bytes(), id.as_bytes()].concat());
        }
        Ok::<_, Infallible>(())
    });
    sealed.unwrap_or_else(|never| match never {})
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::model::{Digest, blob_id};

    /// A folder with one file, and where what is known of it is kept.
    struct Folder {
        _root: tempfile::TempDir,
        file: PathBuf,
        kept: PathBuf,
    }

    impl Folder {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            let (file, kept) = (root.path().join("a.yaml"), root.path().join("folder.stat"));
            fs::write(&file, "before").unwrap();
            Self { _root: root, file, kept }
        }

        fn about(&self) -> Metadata {
            fs::symlink_metadata(&self.file).unwrap()
        }

        /// Looks at the file when the clock says this; returns its id, and whether it was hashed.
        fn look(&self, clock: i64) -> (Id, bool) {
            let mut cache = StatCache::opened_at(&self.kept, clock);
            let about = self.about();
            let known = cache.known(b"a.yaml", &about);
            let id = known.unwrap_or_else(|| {
                let id = blob_id(&fs::read(&self.file).unwrap());
                cache.learn(b"a.yaml", &about, id);
                id
            });
            let unchanged = cache.keep();
            let same = known.map(|_| (PathBuf::from("a.yaml"), StatData::of(&about)));
            assert_eq!(unchanged.find(id), same);
            (id, known.is_none())
        }

        fn changed(&self) -> i64 {
            StatData::changed(&self.about())
        }

        /// Does this to the file until the file system's clock has gone on.
        fn change(&self, mut change: impl FnMut(&Path)) {
            let before = StatData::of(&self.about());
            while StatData::of(&self.about()) == before {
                change(&self.file);
            }
        }
    }

    const LATER: i64 = i64::MAX;

    #[test]
    fn a_file_that_is_as_it_was_is_not_hashed_again() {
        let folder = Folder::new();
        let id = blob_id(b"before");
        assert_eq!([folder.look(LATER), folder.look(LATER)], [(id, true), (id, false)]);
        assert_eq!(folder.look(LATER), (id, false), "what nothing was learned of is still known");
    }

    #[test]
    fn what_changed_just_before_a_look_is_hashed_again_by_the_next() {
        let folder = Folder::new();
        let settled = folder.changed() + SETTLED_AFTER + 1;
        let hashed = |clock| folder.look(clock).1;
        assert_eq!(
            [settled - 1, settled - 1, settled, settled].map(hashed),
            [true, true, true, false]
        );
    }

    #[test]
    fn a_change_is_seen_though_its_size_and_its_time_are_the_same() {
        let folder = Folder::new();
        folder.look(LATER);
        let then = folder.about().modified().unwrap();
        folder.change(|file| {
            fs::write(file, "after!").unwrap();
            fs::File::options().write(true).open(file).unwrap().set_modified(then).unwrap();
        });
        assert_eq!(folder.about().modified().unwrap(), then);
        assert_eq!(folder.look(LATER), (blob_id(b"after!"), true));
        assert_eq!(folder.look(LATER), (blob_id(b"after!"), false));
    }

    #[test]
    fn another_file_in_its_place_is_hashed() {
        let folder = Folder::new();
        folder.look(LATER);
        let other = folder.file.with_extension("other");
        fs::write(&other, "after!").unwrap();
        fs::rename(other, &folder.file).unwrap();
        assert_eq!(folder.look(LATER), (blob_id(b"after!"), true));
    }

    #[test]
    fn what_is_kept_is_whole_or_not_believed() {
        let folder = Folder::new();
        folder.look(LATER);
        let whole = fs::read(&folder.kept).unwrap();
        let flipped = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        };
        let cut = |at: usize| whole[..at].to_vec();
        for bytes in (0..whole.len()).flat_map(|at| [flipped(at), cut(at)]) {
            fs::write(&folder.kept, bytes).unwrap();
            assert_eq!(folder.look(0), (blob_id(b"before"), true));
        }
        // A digest proves nothing of the rest.
        for body in ["a", "a\0", "a\0short"] {
            let digest = Digest::of(body.as_bytes());
            fs::write(&folder.kept, format!("{digest}\n{body}")).unwrap();
            assert_eq!(folder.look(0), (blob_id(b"before"), true));
        }
    }

    #[test]
    fn where_nothing_is_kept_yet_nothing_is_made() {
        let folder = Folder::new();
        let kept = folder.file.with_file_name("carp").join("folder.stat");
        let mut cache = StatCache::open(&kept);
        for _ in 0..2 {
            assert_eq!(cache.known(b"a.yaml", &folder.about()), None);
            cache.learn(b"a.yaml", &folder.about(), blob_id(b"before"));
        }
        cache.keep();
        assert!(!kept.parent().unwrap().exists());
    }
}
