//! A fleet in a repository on disk, reconciled, and the real program run in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::people;
use super::prepared::{Archive, Prepared};
use super::repositories::git;

/// The time of every run.
const NOW: &str = "2026-11-01T09:00:00Z";

/// A repository without a remote. It is gone when this is dropped.
pub(crate) struct Reconciled {
    dir: TempDir,
}

/// What a run of the program gave.
pub(crate) struct Ran {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) exit: i32,
}

impl Reconciled {
    /// Commits files and reconciles them. That is done once a process for the same files, and each test gets a copy.
    pub(crate) fn of(files: &BTreeMap<String, String>) -> Self {
        static MADE: Prepared<BTreeMap<String, String>, Archive> = Prepared::new();
        let archive = MADE.of(files.clone(), |files| Archive::of(Self::made(files).dir.path()));
        let fleet = Self { dir: tempfile::tempdir().unwrap() };
        archive.lay_into(fleet.dir.path());
        fleet
    }

    fn made(files: &BTreeMap<String, String>) -> Self {
        let fleet = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(fleet.path()).unwrap();
        git(&fleet.path(), &["init", "--quiet", "--template=", "-b", "main"]);
        for (path, text) in files {
            fleet.write(path, text.as_bytes());
        }
        fleet.commit("the fleet");
        let ran = fleet.carp(&["reconcile", "--once"]);
        assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
        fleet
    }

    /// The same in a folder of its own.
    pub(crate) fn copy(&self) -> Self {
        let copy = Self { dir: tempfile::tempdir().unwrap() };
        copy_folder(&self.path(), &copy.path());
        copy
    }

    /// The top of the work tree.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("fleet")
    }

    /// A folder beside it.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap()
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.path().join(path)).unwrap();
    }

    /// Commits all that is in the work tree.
    pub(crate) fn commit(&self, message: &str) {
        git(&self.path(), &["add", "--all"]);
        git(&self.path(), &["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    /// Runs `carp ARGS` at the top of the work tree.
    pub(crate) fn carp(&self, args: &[&str]) -> Ran {
        let args = [args, &["--now", NOW]].concat();
        Ran::of(people::carp(&self.path(), &args))
    }

    /// The id of the output's tree.
    pub(crate) fn output_tree(&self) -> String {
        git(&self.path(), &["rev-parse", "carp/rendered^{tree}"])
    }

    /// Every file of the output, with the id of its bytes.
    pub(crate) fn output(&self) -> BTreeMap<String, String> {
        let listed = git(&self.path(), &["ls-tree", "-r", "carp/rendered"]);
        let entry = |line: &str| {
            let (meta, path) = line.split_once('\t').unwrap();
            (path.to_owned(), meta.rsplit(' ').next().unwrap().to_owned())
        };
        listed.lines().map(entry).collect()
    }
}

impl Ran {
    /// Runs a program to its end.
    pub(crate) fn of(mut command: std::process::Command) -> Self {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let exit = output.status.code().unwrap_or(-1);
        Self { out: text(output.stdout), err: text(output.stderr), exit }
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
