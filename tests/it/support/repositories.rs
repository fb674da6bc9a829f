//! Temporary repositories.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use carp::git::{CommitDraft, Repository};
use carp::model::{Dir, Entry, EntryKind, Id, Store};
use tempfile::TempDir;

/// Runs git in a folder and returns what it printed. People's own settings are kept out.
#[track_caller]
pub(crate) fn git(dir: &Path, args: &[&str]) -> String {
    let output = git_may_fail(dir, args);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?} in {}: {error}", dir.display());
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// As [`git`], for commands that are meant to fail.
pub(crate) fn git_may_fail(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new("git");
    command.arg("-C").arg(dir).args(args).env_remove("GIT_DIR").env_remove("GIT_WORK_TREE");
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "person");
        command.env(format!("GIT_{who}_EMAIL"), "person@example.com");
    }
    command.output().expect("the tests need git")
}

/// A commit by the tests on a tree.
pub(crate) fn draft(tree: Id, parents: &[Id], message: &str) -> CommitDraft {
    CommitDraft {
        tree,
        parents: parents.to_vec(),
        message: message.to_owned(),
        name: "carp".to_owned(),
        email: "carp@example.com".to_owned(),
        time: "2026-01-02T03:04:05Z".parse().unwrap(),
    }
}

/// A bare repository that others push to. It is gone when this is dropped.
pub(crate) struct Remote {
    dir: TempDir,
}

impl Remote {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Repository::init_bare(&dir.path().join("fleet.git"), "main").unwrap();
        let remote = Self { dir };
        git(&remote.path(), &["config", "http.receivepack", "true"]);
        remote
    }

    /// The folder that holds the repository, which an HTTP server may serve.
    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("fleet.git")
    }

    pub(crate) fn url(&self) -> String {
        self.path().to_str().unwrap().to_owned()
    }

    /// Where a ref is now.
    pub(crate) fn at(&self, name: &str) -> Option<Id> {
        Repository::open(&self.path()).unwrap().resolve(name).unwrap()
    }

    /// Installs a hook.
    #[cfg(unix)]
    pub(crate) fn hook(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.path().join("hooks").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// A bare clone, as a run of carp has one. It is gone when this is dropped.
pub(crate) struct Clone {
    dir: TempDir,
    pub(crate) repository: Repository,
}

impl Clone {
    pub(crate) fn of(url: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cache");
        let repository = Repository::clone_bare_cache(url, &path).unwrap();
        // A proxy of the machine must not stand between the tests and loopback.
        git(&path, &["config", "http.proxy", ""]);
        #[cfg(unix)]
        if let Some(command) = super::servers::ssh_command(url) {
            git(&path, &["config", "core.sshCommand", &command]);
        }
        Self { dir, repository }
    }

    /// The Git directory.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("cache")
    }

    /// Makes a commit that adds a file at the top of the parent's tree, and puts it on disk.
    pub(crate) fn commit_file(&self, parent: Option<Id>, name: &str, text: &str) -> Id {
        let store = self.repository.store().unwrap();
        let mut top = match parent {
            Some(parent) => {
                Dir::clone(&store.dir(self.repository.commit_tree(parent).unwrap()).unwrap())
            }
            None => Dir::default(),
        };
        let id = store.put_blob(text.as_bytes()).unwrap();
        top.insert(name, Entry { kind: EntryKind::File, id });
        let tree = store.put_dir(&top).unwrap();
        let parents: Vec<Id> = parent.into_iter().collect();
        let commit = store.commit(&draft(tree, &parents, &format!("add {name}\n")));
        store.flush().unwrap();
        commit
    }
}
