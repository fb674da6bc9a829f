//! carp's own folder on the machine with the nodes: who works on which cluster, and whose it is.
//!
//! Two creations of one name would destroy each other: the one that loses removes the nodes of both
//! (kind, `pkg/cluster/internal/create/create.go`). So a name is held by one process at a time, by a lock
//! of the system that `kind` itself inherits: it stays held until the last of them has ended.
#![expect(clippy::disallowed_methods, reason = "the folder is carp's own")]

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;

use super::failure::EngineFailure;
use super::reason::KindReason;

/// The longest name that a `KINDCluster` may have.
const MOST_NAME: usize = 64;

/// carp's folder.
#[derive(Clone, Debug)]
pub struct StateFolder {
    dir: PathBuf,
}

/// A name that this process holds until this is dropped and every program that was given it has ended.
#[derive(Debug)]
pub struct NameLock {
    file: File,
    path: PathBuf,
}

impl StateFolder {
    /// Opens the folder, which only its owner may look into; it is made where it is not there.
    ///
    /// # Errors
    /// The disk failed.
    pub fn open(dir: &Path) -> Result<Self, EngineFailure> {
        let names = dir.join("names");
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&names).map_err(|e| failed("making", &names, &e))?;
        Ok(Self { dir: dir.to_owned() })
    }

    /// A new folder that only its owner may look into, and that is gone when it is dropped.
    ///
    /// # Errors
    /// The disk failed.
    pub fn private(&self) -> Result<TempDir, EngineFailure> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("work-");
        // Without this a folder is as open as the person's other new ones.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let made = builder.tempdir_in(&self.dir);
        made.map_err(|e| failed("making a folder in", &self.dir, &e))
    }

    /// Holds a name.
    ///
    /// # Errors
    /// Another process holds it ([`KindReason::Busy`]), it is no name, or the disk failed.
    pub fn hold(&self, name: &str) -> Result<NameLock, EngineFailure> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.' || c == '-';
        if name.is_empty() || name.len() > MOST_NAME || !name.chars().all(plain) {
            let message = format!("`{name}` is not a cluster's name");
            return Err(EngineFailure::new(KindReason::InvalidName, message));
        }
        let path = self.dir.join("names").join(format!("{name}.owner"));
        let file = File::options().create(true).truncate(false).read(true).write(true).open(&path);
        let file = file.map_err(|e| failed("opening", &path, &e))?;
        match file.try_lock() {
            Ok(()) => Ok(NameLock { file, path }),
            Err(TryLockError::WouldBlock) => {
                let message = format!("another process works on the cluster {name}");
                Err(EngineFailure::new(KindReason::Busy, message))
            }
            Err(TryLockError::Error(e)) => Err(failed("locking", &path, &e)),
        }
    }

    /// Removes what processes left that were killed: the folders of no living one are known by nobody
    /// holding any name.
    pub fn sweep(&self) {
        let names = fs::read_dir(self.dir.join("names")).into_iter().flatten().flatten();
        let idle = names
            .filter_map(|entry| File::open(entry.path()).ok())
            .all(|file| file.try_lock().is_ok());
        if !idle {
            return;
        }
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with("work-") {
                // What cannot be removed does no harm.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

impl NameLock {
    /// Whose the cluster is; empty where nobody's is known.
    ///
    /// # Errors
    /// The disk failed.
    pub fn owner(&self) -> Result<String, EngineFailure> {
        let mut text = String::new();
        let read = (&self.file).rewind().and_then(|()| (&self.file).read_to_string(&mut text));
        read.map_err(|e| failed("reading", &self.path, &e))?;
        Ok(text.trim().to_owned())
    }

    /// Writes down whose the cluster is; nobody's with an empty text.
    ///
    /// # Errors
    /// The disk failed.
    pub fn set_owner(&self, owner: &str) -> Result<(), EngineFailure> {
        let write = || -> io::Result<()> {
            let mut file = &self.file;
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(owner.as_bytes())?;
            file.sync_all()
        };
        write().map_err(|e| failed("writing", &self.path, &e))
    }

    /// The lock as the input of a program, which holds it too as long as it runs.
    ///
    /// # Errors
    /// The system has no room for another open file.
    pub fn as_input(&self) -> Result<Stdio, EngineFailure> {
        let copy = self.file.try_clone().map_err(|e| failed("opening", &self.path, &e))?;
        Ok(copy.into())
    }
}

fn failed(doing: &str, path: &Path, error: &io::Error) -> EngineFailure {
    EngineFailure::new(
        KindReason::StateFailed,
        format!("{doing} `{}` failed: {error}", path.display()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_held_by_one_at_a_time_and_remembers_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::open(&folder.path().join("a/b")).unwrap();
        let held = state.hold("x").unwrap();
        assert_eq!(state.hold("x").unwrap_err().reason, KindReason::Busy);
        state.hold("y").unwrap();
        assert_eq!(held.owner().unwrap(), "");
        held.set_owner("somebody with a long name").unwrap();
        held.set_owner("me").unwrap();
        drop(held);
        assert_eq!(state.hold("x").unwrap().owner().unwrap(), "me");
        for wrong in ["", "..", "a/b", "A", &"x".repeat(65)] {
            let held = state.hold(wrong);
            assert!(
                wrong == ".." || held.unwrap_err().reason == KindReason::InvalidName,
                "{wrong}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_name_stays_held_while_a_program_that_was_given_it_runs() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::open(folder.path()).unwrap();
        let held = state.hold("x").unwrap();
        let mut command = std::process::Command::new("sleep");
        let mut child = command.arg("600").stdin(held.as_input().unwrap()).spawn().unwrap();
        drop((held, command));
        assert_eq!(state.hold("x").unwrap_err().reason, KindReason::Busy);
        child.kill().unwrap();
        child.wait().unwrap();
        state.hold("x").unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_looks_into_the_folder_and_leftovers_go() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::open(&folder.path().join("state")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder.path().join("state")), 0o700);
        let work = state.private().unwrap().keep();
        assert_eq!(mode(&work), 0o700);
        let held = state.hold("x").unwrap();
        state.sweep();
        assert!(work.exists(), "somebody is at work");
        drop(held);
        state.sweep();
        assert!(!work.exists());
    }
}
