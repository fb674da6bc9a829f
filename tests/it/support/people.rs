//! A person's clone of a fleet, and the real program run in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

use super::git;

/// A clone with a work tree. It is gone when this is dropped.
pub(crate) struct Person {
    dir: TempDir,
}

impl Person {
    /// Clones a remote and checks out `main`, which need not have a commit yet.
    pub(crate) fn cloning(url: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["-c", "http.proxy=", "clone", "--quiet", url, "fleet"]);
        let person = Self { dir };
        git(&person.path(), &["config", "http.proxy", ""]);
        git(&person.path(), &["symbolic-ref", "HEAD", "refs/heads/main"]);
        person
    }

    /// The top of the work tree.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("fleet")
    }

    /// Writes a file without committing it.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes, commits and pushes files.
    pub(crate) fn push(&self, files: &BTreeMap<String, String>) {
        for (path, text) in files {
            self.write(path, text);
        }
        git(&self.path(), &["add", "--all"]);
        git(&self.path(), &["commit", "--quiet", "-m", "an edit"]);
        git(&self.path(), &["push", "--quiet", "origin", "main"]);
    }

    /// Commits one file and pushes it.
    pub(crate) fn push_one(&self, path: &str, text: &str) {
        self.push(&BTreeMap::from([(path.to_owned(), text.to_owned())]));
    }

    /// Each commit of carp's at the remote follows from what it names; returns how many there are.
    #[track_caller]
    pub(crate) fn replays(&self) -> usize {
        git(&self.path(), &["fetch", "--quiet", "origin"]);
        super::replayed::replays(&self.path())
    }

    /// `carp ARGS` in the work tree.
    pub(crate) fn carp(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// One run that goes well; what it printed.
    #[track_caller]
    pub(crate) fn reconciles(&self) -> String {
        let output = self.carp(&["reconcile", "--once"]);
        let said = printed(&output);
        assert!(output.status.success(), "{said}");
        said
    }

    /// `carp ARGS` in the work tree, left running, with other programs first on the path.
    pub(crate) fn start(&self, args: &[&str], path_first: &Path, env: &[(&str, &str)]) -> Child {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = self.command(args);
        command.env("PATH", format!("{}:{path}", path_first.display()));
        command.envs(env.iter().copied());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// `carp ARGS` in the work tree, to be run.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        carp(&self.path(), args)
    }
}

/// The real program, in a folder, without what the machine's own settings would add.
pub(crate) fn carp(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carp"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").env("NO_COLOR", "1");
    // In a pull request of this repository they would say what other repositories are merged into.
    command.env_remove("GITHUB_BASE_REF").env_remove("CI_MERGE_REQUEST_TARGET_BRANCH_NAME");
    command.env_remove("CARP_FLEET").env_remove("COLUMNS");
    // What is on this machine is reached directly.
    for proxy in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env_remove(proxy);
    }
    command
}

/// The same command under limits of the shell's (`ulimit -n 20`), which hold for what it starts, too.
#[cfg(unix)]
pub(crate) fn within(limits: &str, command: &Command) -> Command {
    let mut bounded = Command::new("sh");
    bounded.args(["-c", &format!("{limits} && exec \"$@\""), "sh"]);
    bounded.arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    bounded.current_dir(command.get_current_dir().unwrap_or(Path::new(".")));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => bounded.env(name, value),
            None => bounded.env_remove(name),
        };
    }
    bounded
}

/// What a program printed, both streams.
pub(crate) fn printed(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}
