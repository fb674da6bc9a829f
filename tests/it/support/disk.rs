//! A fleet on a remote, put back after each accident, and the accidents that befall a Git directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use super::people;
use super::prepared::Archive;
use super::reconciled::Ran;
use super::small;
use super::{git, git_may_fail};

/// The time of every run: the same run makes the same commits.
const NOW: &str = "2026-11-01T09:00:00Z";

/// A remote, a person's clone in which carp ran once, and a change of the fleet that it has not seen.
/// All of it is gone when this is dropped.
pub(crate) struct World {
    dir: TempDir,
}

impl World {
    /// The small fleet, reconciled, and one cluster more. It is made once a process, and each test gets a copy.
    pub(crate) fn new() -> Self {
        static MADE: OnceLock<(String, Archive)> = OnceLock::new();
        let (url, archive) = MADE.get_or_init(|| {
            let world = Self::made();
            (world.url(), Archive::of(world.root()))
        });
        let world = Self { dir: tempfile::tempdir().unwrap() };
        archive.lay_into(world.root());
        for clone in ["other", "fleet"] {
            let config = world.root().join(clone).join(".git/config");
            let text = fs::read_to_string(&config).unwrap();
            assert!(text.contains(url), "{text}");
            fs::write(config, text.replace(url, &world.url())).unwrap();
        }
        world
    }

    fn made() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        let (root, url) = (world.dir.path(), world.url());
        git(root, &["init", "--quiet", "--bare", "--template=", "-b", "main", "remote.git"]);
        git(root, &["clone", "--quiet", &url, "other"]);
        git(root, &["clone", "--quiet", &url, "fleet"]);
        for name in ["other", "fleet"] {
            git(&root.join(name), &["symbolic-ref", "HEAD", "refs/heads/main"]);
        }
        world.others_push(&small::files());
        git(&world.fleet(), &["pull", "--quiet", "origin", "main"]);
        let first = world.reconcile(&[]);
        assert_eq!(first.exit, 0, "{}{}", first.out, first.err);
        world.others_push_one("fleet/clusters/golf.yaml", &small::cluster("golf", "eastus"));
        world
    }

    /// Keeps all of it as it is now.
    pub(crate) fn saved(&self) -> TempDir {
        let saved = tempfile::tempdir().unwrap();
        copy(self.root(), saved.path());
        saved
    }

    /// Makes all of it what it was.
    pub(crate) fn restore(&self, saved: &TempDir) {
        for entry in fs::read_dir(self.root()).unwrap() {
            fs::remove_dir_all(entry.unwrap().path()).unwrap();
        }
        copy(saved.path(), self.root());
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn url(&self) -> String {
        self.remote().to_str().unwrap().to_owned()
    }

    pub(crate) fn remote(&self) -> PathBuf {
        self.dir.path().join("remote.git")
    }

    /// The clone that carp runs in.
    pub(crate) fn fleet(&self) -> PathBuf {
        self.dir.path().join("fleet")
    }

    /// The clone that carp makes of the remote by itself, when it is given the URL.
    pub(crate) fn cache(&self) -> PathBuf {
        let folder = self.dir.path().join("cache/carp");
        let is_clone = |path: &PathBuf| path.join("HEAD").exists();
        let found =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).find(is_clone);
        found.expect("carp made a clone")
    }

    /// Somebody else commits files and pushes them.
    pub(crate) fn others_push(&self, files: &BTreeMap<String, String>) {
        let other = self.dir.path().join("other");
        for (path, text) in files {
            let path = other.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        git(&other, &["add", "--all"]);
        git(&other, &["commit", "--quiet", "-m", "an edit"]);
        git(&other, &["push", "--quiet", "origin", "main"]);
    }

    pub(crate) fn others_push_one(&self, path: &str, text: &str) {
        self.others_push(&BTreeMap::from([(path.to_owned(), text.to_owned())]));
    }

    /// A run in the person's clone.
    pub(crate) fn reconcile(&self, env: &[(&str, &str)]) -> Ran {
        self.reconcile_at(".", env)
    }

    /// A run on the remote's URL, in carp's own clone.
    pub(crate) fn reconcile_url(&self, env: &[(&str, &str)]) -> Ran {
        self.reconcile_at(&format!("file://{}", self.url()), env)
    }

    fn reconcile_at(&self, fleet: &str, env: &[(&str, &str)]) -> Ran {
        // An abort is to be told as that, which a bound of memory takes for its own.
        let args = ["reconcile", "--once", "--turn-memory", "none", "--fleet", fleet];
        Ran::of(self.command(&args, env))
    }

    /// `carp ARGS` in the person's clone.
    pub(crate) fn command(&self, args: &[&str], env: &[(&str, &str)]) -> Command {
        let args = [args, &["--now", NOW, "--read-timeout", "1s"]].concat();
        let mut command = people::carp(&self.fleet(), &args);
        command.env("XDG_CACHE_HOME", self.dir.path().join("cache"));
        command.envs(env.iter().copied());
        command
    }

    /// Where the branches of the remote are.
    pub(crate) fn refs(&self) -> String {
        refs(&self.remote())
    }

    /// The files of the output.
    pub(crate) fn output(&self) -> String {
        git(&self.remote(), &["ls-tree", "-r", "--name-only", "carp/rendered"])
    }

    /// Whether the change of the fleet is in the output.
    #[track_caller]
    pub(crate) fn has_golf(&self) {
        assert!(self.output().contains("clusters/golf/cluster.yaml"), "{}", self.output());
    }
}

fn copy(from: &Path, to: &Path) {
    let from = format!("{}/.", from.display());
    assert!(Command::new("cp").args(["-a", &from]).arg(to).status().unwrap().success());
}

/// Where the branches of a repository are.
pub(crate) fn refs(repository: &Path) -> String {
    git(repository, &["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads"])
}

/// The object that a revision names.
pub(crate) fn id_of(repository: &Path, rev: &str) -> String {
    git(repository, &["rev-parse", "--verify", rev])
}

/// The Git directory of a clone.
pub(crate) fn git_dir(repository: &Path) -> PathBuf {
    let inner = repository.join(".git");
    if inner.exists() { inner } else { repository.to_owned() }
}

/// Makes every object a file of its own.
pub(crate) fn unpack(repository: &Path) {
    let packs = git_dir(repository).join("objects/pack");
    let aside = tempfile::tempdir_in(git_dir(repository)).unwrap();
    for file in fs::read_dir(&packs).unwrap().map(|entry| entry.unwrap().path()) {
        fs::rename(&file, aside.path().join(file.file_name().unwrap())).unwrap();
    }
    for file in fs::read_dir(aside.path()).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_some_and(|extension| extension == "pack") {
            let mut command = Command::new("git");
            command.arg("-C").arg(repository).args(["unpack-objects", "-q"]);
            command.stdin(fs::File::open(file).unwrap());
            assert!(command.status().unwrap().success());
        }
    }
}

/// The file of a loose object.
pub(crate) fn loose(repository: &Path, id: &str) -> PathBuf {
    git_dir(repository).join("objects").join(&id[..2]).join(&id[2..])
}

/// The packs of a clone, by an extension.
pub(crate) fn packs(repository: &Path, extension: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(git_dir(repository).join("objects/pack")).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|e| e == extension)).collect()
}

/// What happens to a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Accident {
    /// Its second half is gone.
    CutOff,
    /// It has no bytes.
    Emptied,
    /// One bit of its middle is another.
    Flipped,
    /// It is gone.
    Gone,
}

impl Accident {
    pub(crate) fn befall(self, file: &Path) {
        let mut bytes = fs::read(file).unwrap();
        // Git's objects are read-only.
        fs::remove_file(file).unwrap();
        let middle = bytes.len() / 2;
        match self {
            Self::CutOff => bytes.truncate(middle),
            Self::Emptied => bytes.clear(),
            Self::Flipped => bytes[middle] ^= 0x10,
            Self::Gone => return,
        }
        fs::write(file, bytes).unwrap();
    }
}

/// The locks and half-written files below a Git directory.
pub(crate) fn left_behind(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            found.extend(left_behind(&path));
        } else if name.ends_with(".lock")
            || [".tmp", "tmp_", "pack_git2_"].iter().any(|start| name.starts_with(start))
        {
            found.push(path);
        }
    }
    found
}

/// Whether git finds nothing wrong with a clone.
pub(crate) fn is_sound(repository: &Path) -> bool {
    git_may_fail(repository, &["fsck", "--full", "--no-dangling"]).status.success()
}
