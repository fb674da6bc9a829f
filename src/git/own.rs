//! A clone that only carp uses: held by one process, swept of what a killed one left, thrown away and
//! made anew where it is damaged.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::locks::sweep;
use super::{Error, Redacted, Repository};
use crate::fault::{self, Point};

/// How often a clone that another process holds is asked for, and how long each wait is: a turn takes
/// seconds.
const TRIES: u32 = 600;
const WAIT: Duration = Duration::from_millis(100);

/// A clone that only carp uses. This process holds it until this is dropped, or until it ends in
/// whatever way: the lock is the system's.
pub struct OwnClone {
    dir: PathBuf,
    url: String,
    _held: File,
}

impl OwnClone {
    /// Holds the clone of a remote in a folder, which need not be there yet. Waits a minute for another
    /// process that holds it.
    ///
    /// # Errors
    /// The other process still holds it, or the disk failed.
    pub fn hold(dir: &Path, url: &str) -> Result<Self, Error> {
        super::remote::check_remote(url)?;
        let beside = with_suffix(dir, "held");
        let failed = |e: &io::Error| disk("holding", &beside, e);
        if let Some(folder) = dir.parent() {
            fs::create_dir_all(folder).map_err(|e| failed(&e))?;
        }
        let file = File::options().create(true).truncate(false).write(true).open(&beside);
        let file = file.map_err(|e| failed(&e))?;
        for _ in 0..TRIES {
            match file.try_lock() {
                Ok(()) => {
                    return Ok(Self { dir: dir.to_owned(), url: url.to_owned(), _held: file });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(WAIT),
                Err(TryLockError::Error(e)) => return Err(failed(&e)),
            }
        }
        Err(Error::Held { clone: dir.to_owned(), seconds: u64::from(TRIES) / 10 })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Opens the clone. One that is not there is made; one that cannot be opened, that is a clone of
    /// another remote, or that an earlier run did not come back from, is made anew.
    ///
    /// # Errors
    /// The disk failed.
    pub fn open(&self) -> Result<Repository, Error> {
        self.finish_discard()?;
        if !self.dir.exists() {
            return self.make();
        }
        sweep(&self.dir).map_err(|e| disk("removing stale locks from", &self.dir, &e))?;
        let usable = |clone: &Repository| {
            clone.fetch_address("origin").as_deref() == Some(self.url.as_str())
                && clone.unreadable().is_none()
        };
        match Repository::open(&self.dir) {
            Ok(clone) if usable(&clone) => Ok(clone),
            Ok(_) | Err(_) => self.anew(),
        }
    }

    /// Throws the clone away and makes it anew. Nothing is lost: all of it is at the remote.
    ///
    /// # Errors
    /// The disk failed.
    pub fn anew(&self) -> Result<Repository, Error> {
        let failed = |e: &io::Error| disk("throwing away", &self.dir, e);
        fault::at(Point::BeforeDiscard).map_err(|e| failed(&e))?;
        // Renamed first: a folder that is half removed is never taken for a clone.
        fs::rename(&self.dir, self.discarded()).map_err(|e| failed(&e))?;
        fault::at(Point::HalfDiscard).map_err(|e| failed(&e))?;
        self.finish_discard()?;
        fault::at(Point::AfterDiscard).map_err(|e| failed(&e))?;
        self.make()
    }

    fn finish_discard(&self) -> Result<(), Error> {
        match fs::remove_dir_all(self.discarded()) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                Err(disk("removing", &self.discarded(), &e))
            }
            _ => Ok(()),
        }
    }

    fn make(&self) -> Result<Repository, Error> {
        let failed = |e: &io::Error| disk("making", &self.dir, e);
        fault::at(Point::BeforeClone).map_err(|e| failed(&e))?;
        let clone = Repository::clone_bare_cache(&self.url, &self.dir)?;
        fault::at(Point::AfterClone).map_err(|e| failed(&e))?;
        Ok(clone)
    }

    fn discarded(&self) -> PathBuf {
        with_suffix(&self.dir, "discarded")
    }
}

fn with_suffix(dir: &Path, suffix: &str) -> PathBuf {
    let mut name = dir.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

fn disk(doing: &str, path: &Path, error: &io::Error) -> Error {
    Error::Repository {
        what: format!("{doing} carp's own clone at `{}`", path.display()),
        detail: Redacted::new(error.to_string()),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests read and write files")]
mod tests {
    use super::*;

    #[test]
    fn a_clone_of_another_remote_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("clone");
        let made = OwnClone::hold(&dir, "https://h/one").unwrap();
        made.open().unwrap();
        fs::write(dir.join("carp-was-here"), "").unwrap();
        made.open().unwrap();
        assert!(dir.join("carp-was-here").exists(), "a sound one is kept");
        drop(made);
        let other = OwnClone::hold(&dir, "https://h/two").unwrap();
        let clone = other.open().unwrap();
        assert!(!dir.join("carp-was-here").exists());
        assert_eq!(clone.fetch_address("origin").as_deref(), Some("https://h/two"));
    }

    #[test]
    fn a_clone_that_cannot_be_opened_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("clone");
        let own = OwnClone::hold(&dir, "https://h/one").unwrap();
        own.open().unwrap();
        fs::write(dir.join("HEAD"), "").unwrap();
        fs::write(dir.join("config"), "[core\n").unwrap();
        own.open().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "the clone and what holds it");
    }
}
