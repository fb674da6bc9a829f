//! The files of the desired root that are not the same in two trees.

use std::cmp::Ordering;
use std::sync::Arc;

use super::desired::is_desired;
use crate::model::{Dir, DocumentGrowth, Entry, EntryKind, Id, Store, StoreError};

/// The most files that may differ. Beyond that everything is loaded.
pub(super) const MOST_FILES: usize = 256;
/// The most files and folders that there may be more.
const MOST_ENTRIES: u64 = DocumentGrowth::MOST.entries;
/// The deepest folder that is looked into. Git knows no bound, and this walk is as deep as the folders.
pub(super) const DEEPEST: usize = 64;

/// A file that differs: its path, and what it is on either side.
pub(super) struct DifferingFile {
    pub(super) path: String,
    pub(super) sides: [Option<Entry>; 2],
}

/// The files that differ between two directories.
#[derive(Default)]
pub(super) struct DifferingFiles {
    pub(super) files: Vec<DifferingFile>,
    /// Whether there are others, which are not read.
    pub(super) unread: bool,
    /// How many files and folders there are more, however many there are less.
    pub(super) entries: u64,
}

impl DifferingFiles {
    /// Finds those below two directories, so many levels down; `false` where there are too many, the folders are too
    /// deep, or there is a file more that is not read: it counts like any other, and is nobody's document.
    pub(super) fn below(
        &mut self,
        store: &dyn Store,
        (path, depth): (&str, usize),
        sides: [Option<Id>; 2],
    ) -> Result<bool, StoreError> {
        if depth > DEEPEST {
            return Ok(false);
        }
        let dir = |id: Option<Id>| id.map_or_else(|| Ok(Arc::default()), |id| store.dir(id));
        let [before, after] = [dir(sides[0])?, dir(sides[1])?];
        for (name, entries) in side_by_side(&before, &after) {
            let Ok(name) = std::str::from_utf8(name) else { return Ok(false) };
            let path = format!("{path}/{name}");
            let of_kind = |kind: fn(&Entry) -> bool| entries.map(|entry| entry.filter(kind));
            let dirs = of_kind(|entry| entry.kind == EntryKind::Dir);
            if dirs != [None, None] {
                let ids = dirs.map(|dir| dir.map(|entry| entry.id));
                if !self.below(store, (&path, depth + 1), ids)? {
                    return Ok(false);
                }
            }
            let plain = of_kind(|entry| entry.kind != EntryKind::Dir);
            let read = plain.map(|entry| entry.filter(|entry| is_desired(&path, *entry)));
            self.unread |= plain != read;
            if entries[0].is_none() {
                self.entries += 1;
                if plain[1].is_some() && read[1].is_none() {
                    return Ok(false);
                }
            }
            if read != [None, None] {
                self.files.push(DifferingFile { path, sides: read });
            }
            if self.files.len() > MOST_FILES || self.entries > MOST_ENTRIES {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The entries that are not the same in two directories, by their names.
fn side_by_side<'a>(
    before: &'a Dir,
    after: &'a Dir,
) -> impl Iterator<Item = (&'a [u8], [Option<Entry>; 2])> {
    let (mut left, mut right) = (before.iter_bytes().peekable(), after.iter_bytes().peekable());
    let next = move || {
        let (name, order) = match (left.peek(), right.peek()) {
            (None, None) => return None,
            (Some((name, _)), None) => (*name, Ordering::Less),
            (None, Some((name, _))) => (*name, Ordering::Greater),
            (Some((l, _)), Some((r, _))) => ((*l).min(*r), l.cmp(r)),
        };
        let was = left.next_if(|_| order != Ordering::Greater).map(|(_, entry)| entry);
        let is = right.next_if(|_| order != Ordering::Less).map(|(_, entry)| entry);
        Some((name, [was, is]))
    };
    std::iter::from_fn(next).filter(|(_, [was, is])| was != is)
}
