//! Directories that were read or written. One with many entries, as that of the workers of a large fleet, is on the way to whatever is below
//! it, and to read it means to inflate, hash and parse all of it; so a few of these are kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::{Dir, Id};

/// How many are kept.
const KEPT: usize = 16;
/// How many entries all that are kept have at most: what a repository may hold is for others to bound.
const MOST_ENTRIES: usize = 50_000;
/// The fewest entries of one that is kept: a smaller one is read as fast.
const MANY: usize = 64;

/// The directories that were read last, the newest in front.
#[derive(Default)]
pub(super) struct ReadDirs(Mutex<VecDeque<(Id, Arc<Dir>)>>);

impl ReadDirs {
    /// The directory with this id, if it is kept.
    pub(super) fn get(&self, id: Id) -> Option<Arc<Dir>> {
        let kept = self.kept();
        kept.iter().find(|(known, _)| *known == id).map(|(_, dir)| Arc::clone(dir))
    }

    /// Keeps a directory that was read, if it is worth it.
    pub(super) fn keep(&self, id: Id, dir: &Arc<Dir>) {
        if !(MANY..=MOST_ENTRIES).contains(&dir.len()) {
            return;
        }
        let mut kept = self.kept();
        kept.push_front((id, Arc::clone(dir)));
        while kept.len() > KEPT
            || kept.iter().map(|(_, dir)| dir.len()).sum::<usize>() > MOST_ENTRIES
        {
            kept.pop_back();
        }
    }

    /// Keeps a directory that was written, if it is worth it.
    pub(super) fn keep_written(&self, id: Id, dir: &Dir) {
        if dir.len() >= MANY && self.get(id).is_none() {
            self.keep(id, &Arc::new(dir.clone()));
        }
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<(Id, Arc<Dir>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Entry, EntryKind};

    fn dir(entries: usize, id: Id) -> Arc<Dir> {
        let mut dir = Dir::default();
        for entry in 0..entries {
            dir.insert(entry.to_string().as_bytes(), Entry { kind: EntryKind::File, id });
        }
        Arc::new(dir)
    }

    #[test]
    fn the_last_large_ones_are_kept() {
        let dirs = ReadDirs::default();
        let all: Vec<_> = (0..=KEPT).map(|n| dir(MANY + n, Id::EMPTY_DIR)).collect();
        for dir in &all {
            dirs.keep(dir.id(), dir);
        }
        assert!(dirs.get(all[0].id()).is_none(), "it was the first");
        for dir in &all[1..] {
            assert!(Arc::ptr_eq(&dirs.get(dir.id()).unwrap(), dir));
        }
        for entries in [MANY - 1, MOST_ENTRIES + 1] {
            let other = dir(entries, Id::EMPTY_DIR);
            dirs.keep(other.id(), &other);
            assert!(dirs.get(other.id()).is_none(), "{entries}");
        }
        let large = dir(MOST_ENTRIES - MANY - KEPT, Id::EMPTY_DIR);
        dirs.keep(large.id(), &large);
        assert!(dirs.get(large.id()).is_some());
        assert!(dirs.get(all[KEPT].id()).is_some(), "there is room for one more");
        assert!(dirs.get(all[KEPT - 1].id()).is_none());
    }

    #[test]
    fn one_that_was_written_is_kept_once() {
        let dirs = ReadDirs::default();
        let [large, small] = [MANY, MANY - 1].map(|entries| dir(entries, Id::EMPTY_DIR));
        for _ in 0..2 {
            dirs.keep_written(large.id(), &large);
            dirs.keep_written(small.id(), &small);
        }
        assert_eq!(dirs.get(large.id()), Some(large));
        assert_eq!(dirs.kept().len(), 1);
    }
}
