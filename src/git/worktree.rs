//! Questions about the work tree and the remotes.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use git2::StatusOptions;

use super::outcome::why;
use super::{Error, Redacted, Repository};

/// Up to how many files a work tree is looked through in passing: a millisecond or two.
const FEW_FILES: u32 = 1_000;

impl Repository {
    /// Whether the work tree has so few files, or none, that a run may look through all of them in passing.
    /// It is read off the head of the index.
    pub fn has_few_files(&self) -> bool {
        let index = self.inner.path().join("index");
        self.work_tree().is_none() || files_in(&index).is_some_and(|files| files <= FEW_FILES)
    }

    /// When `HEAD` moved last, by the time of its log (gitrepository-layout(5)); `None` where there is none.
    #[must_use]
    pub fn head_moved(&self) -> Option<SystemTime> {
        fs::metadata(self.inner.path().join("logs/HEAD")).ok()?.modified().ok()
    }

    /// The paths below a prefix that differ from the last commit, staged, edited, removed or never
    /// added, relative to the top of the work tree and sorted. What Git ignores is not among them. A
    /// bare repository has none.
    ///
    /// # Errors
    /// git cannot be run or fails.
    pub fn uncommitted(&self, prefix: &str) -> Result<Vec<String>, Error> {
        if self.work_tree().is_none() || self.has_few_files() && self.looks_clean(prefix) {
            return Ok(Vec::new());
        }
        let below = format!(":(top,literal){prefix}");
        let args = [
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=all",
            "--no-renames",
            "--",
            &below,
        ];
        let output = self.ask(args)?;
        if output.code != Some(0) {
            let what = format!("looking for uncommitted edits in {}", self.name());
            return Err(Error::Program { what, line: why(&output) });
        }
        Ok(paths(&output.stdout))
    }

    /// Whether libgit2 finds nothing: that is cheaper than a process while there are few files. Where it finds
    /// anything, or fails, git is asked, which knows filters and sparse work trees.
    fn looks_clean(&self, prefix: &str) -> bool {
        let mut options = StatusOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(true).include_ignored(false);
        if !prefix.is_empty() {
            options.pathspec(prefix).disable_pathspec_match(true);
        }
        self.inner.statuses(Some(&mut options)).is_ok_and(|found| found.is_empty())
    }

    /// The branch that is checked out, such as `main`, also where it has no commit yet; `None` where
    /// `HEAD` is on no branch.
    pub fn head_branch(&self) -> Option<String> {
        let head = self.inner.find_reference("HEAD").ok()?;
        let target = head.symbolic_target().ok()??;
        target.strip_prefix("refs/heads/").map(str::to_owned)
    }

    /// Whether a ref is the branch that the work tree shows, so that moving it would leave the files
    /// behind. Never in a bare repository.
    pub fn is_checked_out(&self, name: &str) -> bool {
        let branch = self.head_branch().filter(|_| self.work_tree().is_some());
        branch.is_some_and(|branch| name.strip_prefix("refs/heads/") == Some(&branch))
    }

    /// The names of the remotes, `origin` first.
    pub fn remotes(&self) -> Vec<String> {
        let Ok(names) = self.inner.remotes() else { return Vec::new() };
        let mut names: Vec<String> =
            names.iter().filter_map(|name| name.ok().flatten().map(str::to_owned)).collect();
        names.sort_by_key(|name| (name != "origin", name.clone()));
        names
    }

    /// Where pushes to a remote go, to be shown: without credentials. `None` if there is no such remote.
    pub fn remote_url(&self, name: &str) -> Option<Redacted> {
        self.push_address(name).map(Redacted::new)
    }

    /// Whether pushes to a remote (a name or a URL) stay on this machine: a path or `file://`.
    pub fn is_local(&self, remote: &str) -> bool {
        is_path(&self.push_address(remote).unwrap_or_else(|| remote.to_owned()))
    }

    /// The Git directory whose refs move when somebody writes to a fleet on this machine: that of the
    /// remote where it is a path, this repository's own where there is no remote. `None`: elsewhere.
    pub fn git_dir_of(&self, remote: Option<&str>) -> Option<PathBuf> {
        let Some(remote) = remote else { return Some(self.inner.commondir().to_owned()) };
        let address = self.push_address(remote).filter(|address| is_path(address))?;
        let path = address.strip_prefix("file://").unwrap_or(&address);
        let path = self.work_tree().unwrap_or(self.inner.path()).join(path);
        let there = git2::Repository::open(path).ok()?;
        Some(there.commondir().to_owned())
    }

    /// The address that is pushed to, as it is configured.
    pub fn push_address(&self, name: &str) -> Option<String> {
        let remote = self.inner.find_remote(name).ok()?;
        let push = remote.pushurl().ok().flatten().map(str::to_owned);
        push.or_else(|| remote.url().ok().map(str::to_owned))
    }
}

/// How many files an index lists: `DIRC`, a version and a number
/// (<https://git-scm.com/docs/index-format>); `None` where there is no index.
fn files_in(index: &Path) -> Option<u32> {
    let mut head = [0; 12];
    File::open(index).ok()?.read_exact(&mut head).ok()?;
    let [b'D', b'I', b'R', b'C', _, _, _, _, count @ ..] = head else { return None };
    Some(u32::from_be_bytes(count))
}

/// The paths of `git status -z`: each `XY path NUL`.
fn paths(status: &str) -> Vec<String> {
    let mut paths: Vec<String> =
        status.split('\0').filter_map(|entry| entry.get(3..)).map(str::to_owned).collect();
    paths.sort();
    paths
}

/// As Git tells them apart: `host:path` is ssh, unless a `/` comes before the `:`.
pub(super) fn is_path(address: &str) -> bool {
    if let Some((scheme, _)) = address.split_once("://") {
        return scheme == "file";
    }
    match address.find(':') {
        Some(colon) => address[..colon].contains('/'),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_status() {
        assert_eq!(paths(" M b c.yaml\0?? a.yaml\0"), ["a.yaml", "b c.yaml"]);
        assert!(paths("").is_empty());
    }

    #[test]
    fn addresses_on_this_machine() {
        for path in ["/srv/r.git", "../r.git", "r", "./a:b", "file:///srv/r"] {
            assert!(is_path(path), "{path}");
        }
        for url in ["https://h/r", "git@h:r", "ssh://h/r", "h:r"] {
            assert!(!is_path(url), "{url}");
        }
    }
}
