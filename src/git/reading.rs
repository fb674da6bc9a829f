//! What libgit2 reads just now, told to whoever watches.
//!
//! libgit2 up to 1.9.7 never comes back from a loose object that was cut off: it inflates nothing, for
//! ever (libgit2 issue 7342). Nothing in this process can stop it, so a thread that watches ends the
//! process: see `cli::watchdog`. Whose object it was is kept in a mark, so that the next run does not
//! read it again.
#![expect(clippy::disallowed_methods, reason = "the mark is a file of carp's own")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Repository;
use crate::model::Id;

/// Reads that began and did not end.
static UNDER_WAY: Mutex<Vec<(u64, Reading)>> = Mutex::new(Vec::new());
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// The file that names the object which a run did not come back from.
const MARK: &str = "carp/unreadable";

/// One read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The object; `None` where many are read at once, as in a walk over the history.
    pub id: Option<Id>,
    /// The Git directory.
    pub directory: Arc<Path>,
}

/// The read that began first of those that did not end, with its number: a read that keeps its number
/// for long hangs.
pub fn reading() -> Option<(u64, Reading)> {
    let under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    under_way.iter().min_by_key(|(number, _)| *number).cloned()
}

/// Begins a read, which ends when the result is dropped.
pub(super) fn begin(id: Option<Id>, directory: &Arc<Path>) -> Under {
    let number = BEGUN.fetch_add(1, Ordering::Relaxed);
    let reading = Reading { id, directory: Arc::clone(directory) };
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).push((number, reading));
    Under(number)
}

/// A read under way.
pub(super) struct Under(u64);

impl Drop for Under {
    fn drop(&mut self) {
        let mut under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = under_way.iter().position(|(number, _)| *number == self.0) {
            under_way.swap_remove(at);
        }
    }
}

impl Reading {
    /// Keeps which object this was for the next run. It stands until the object's file changes.
    ///
    /// # Errors
    /// The disk failed; then the next run hangs again.
    pub fn mark(&self) -> io::Result<()> {
        let mark = self.directory.join(MARK);
        let id = self.id.map_or_else(|| "-".to_owned(), |id| id.to_string());
        let size = self.id.and_then(|id| loose_size(&self.directory, id)).unwrap_or_default();
        fs::create_dir_all(mark.parent().unwrap_or(Path::new(".")))?;
        fs::write(mark, format!("{id} {size}\n"))
    }
}

impl Repository {
    /// Whether a read of this repository did not come to an end, as far as anybody noted.
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.directory.join(MARK).exists()
    }

    /// What an earlier run did not come back from. An object is named as long as its file is what it
    /// was; a mark that no longer holds is removed.
    pub fn unreadable(&self) -> Option<String> {
        let mark = self.directory.join(MARK);
        let text = fs::read_to_string(&mark).ok()?;
        let (id, size) = text.trim().split_once(' ')?;
        if let Ok(id) = id.parse::<Id>() {
            let same = loose_size(&self.directory, id).is_some_and(|now| now.to_string() == size);
            if same {
                return Some(format!("object {id}"));
            }
            let _ = fs::remove_file(mark);
            return None;
        }
        // Nobody knows which one it was. This run keeps away from it, the next one looks again.
        let _ = fs::remove_file(mark);
        Some("an object of the history".to_owned())
    }
}

fn loose_size(directory: &Path, id: Id) -> Option<u64> {
    let id = id.to_string();
    let file: PathBuf = directory.join("objects").join(&id[..2]).join(&id[2..]);
    fs::metadata(file).ok().map(|meta| meta.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_is_seen_until_it_ends() {
        // Other tests of this process read too: this one looks for its own directory.
        let directory: Arc<Path> = Path::new("/nowhere/of/this/test").into();
        let mine = || {
            let under_way = UNDER_WAY.lock().unwrap();
            under_way.iter().filter(|(_, r)| r.directory == directory).count()
        };
        let (one, two) = (begin(None, &directory), begin(Some(Id::EMPTY_DIR), &directory));
        assert_eq!(mine(), 2);
        drop(one);
        assert_eq!(mine(), 1);
        drop(two);
        assert_eq!(mine(), 0);
    }
}
