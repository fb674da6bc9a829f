//! Where a fleet is: what `--fleet` names.

use std::path::{Path, PathBuf};

use super::Error;
use super::sources::remote;
use crate::git::{self, OwnClone, Repository, Tidied};
use crate::model::paths;

/// A fleet that was found.
pub struct FleetPlace {
    /// The repository that it is in; `None` for a folder outside any.
    pub repository: Option<Repository>,
    /// The folder with its `carp.yaml`; `None` where the fleet is read from commits only.
    pub folder: Option<PathBuf>,
    /// That folder, relative to the repository: empty, or without a `/` at its ends.
    pub prefix: String,
    /// The revision that was named: `FOLDER@REV`.
    pub revision: Option<String>,
    /// The folder that was named; `None` for a URL.
    pub named: Option<PathBuf>,
    /// Whether that folder itself has the `carp.yaml`.
    pub named_root: bool,
    /// The clone of carp's own that the repository is, where it is one.
    pub(super) own: Option<LentClone>,
}

/// A clone of carp's own.
pub(super) struct LentClone {
    pub(super) clone: OwnClone,
    /// The person's clone that it stands in for, and the name of its remote.
    pub(super) lender: Option<(Repository, String)>,
}

impl LentClone {
    /// Lets the clone reach the remote as the person's clone does.
    pub(super) fn lend_to(&self, clone: &Repository) -> Result<(), git::Error> {
        match &self.lender {
            Some((person, remote)) => person.copy_remote_config(remote, clone),
            None => Ok(()),
        }
    }
}

impl FleetPlace {
    /// Finds the fleet that `what` names: a folder (the nearest `carp.yaml` in it or above it),
    /// `FOLDER@REV`, or a Git URL, which is cloned below `cache` and kept there, with `@REV` or without. A
    /// bare repository on this machine is taken as a URL is.
    ///
    /// # Errors
    /// There is no fleet, or the repository cannot be opened or cloned.
    pub fn find(what: &str, cache: &Path) -> Result<Self, Error> {
        match elsewhere(what) {
            Some((url, revision)) => Ok(Self { revision, ..Self::remote(&url, cache)? }),
            None => Self::here(what),
        }
    }

    /// Finds the fleet in a folder.
    fn here(what: &str) -> Result<Self, Error> {
        let (folder, revision) = split_revision(what);
        let folder = Path::new(folder);
        // A folder that is not there is not looked for above: what was named is not what would be found.
        if !folder.is_dir() {
            return Err(Error::NoFolder(folder.to_owned()));
        }
        // A revision may have a fleet where the work tree has none.
        let root = match enclosing_root(folder) {
            Some(root) => root,
            None if revision.is_some() => folder.to_owned(),
            None => return Err(no_fleet(folder)),
        };
        let (repository, prefix) = match Repository::discover(&root)? {
            Some((repository, prefix)) => (Some(repository), prefix),
            None if revision.is_none() => (None, String::new()),
            None => return Err(Error::NoRepository(root)),
        };
        let named_root = folder.join(paths::FLEET_FILE).is_file();
        let named = Some(folder.to_owned());
        let own = None;
        Ok(Self { repository, folder: Some(root), prefix, revision, named, named_root, own })
    }

    /// Finds the fleet in a folder of a clone that has no remote, at no revision; `None` where it is anything else.
    pub(super) fn without_remote(what: &str) -> Option<Self> {
        let place = Self::here(what).ok().filter(|_| elsewhere(what).is_none())?;
        let is_alone = remote(place.repository.as_ref()?).is_none() && place.revision.is_none();
        is_alone.then_some(place)
    }

    /// Opens a fleet for a look at the past: nothing but the repository is needed, so the folder may be any
    /// folder of it, or a bare repository, and need not hold a fleet today.
    ///
    /// # Errors
    /// There is no repository, or it cannot be opened or cloned; a revision was named.
    pub fn of_past(what: &str, cache: &Path) -> Result<Self, Error> {
        let found = match if is_url(what) { Self::find(what, cache) } else { Self::here(what) } {
            Err(Error::NoFleet(folder) | Error::Misnamed(folder)) => {
                let there = Path::new(what);
                let Some((repository, prefix)) = Repository::discover(there)? else {
                    return Err(Error::NoFleet(folder));
                };
                let named = Some(there.to_owned());
                let (repository, folder) = (Some(repository), named.clone());
                let (revision, own, named_root) = (None, None, false);
                Self { repository, folder, prefix, revision, named, named_root, own }
            }
            found => found?,
        };
        match found.revision {
            Some(revision) => Err(Error::TwoRevisions { revision }),
            None => Ok(found),
        }
    }

    /// Makes carp's own clone anew, which is damaged. Returns whether `what` names a fleet that is read
    /// from one: of a person's clone nothing is touched.
    ///
    /// # Errors
    /// The disk failed.
    pub fn renew(what: &str, cache: &Path) -> Result<bool, Error> {
        let Some((url, _)) = elsewhere(what) else { return Ok(false) };
        own_clone(&url, cache)?.anew()?;
        Ok(true)
    }

    /// The Git directory on this machine whose refs say that something changed; `None` where the fleet
    /// is elsewhere.
    #[must_use]
    pub fn watched(&self) -> Option<PathBuf> {
        let repository = self.repository.as_ref()?;
        repository.git_dir_of(remote(repository).as_deref())
    }

    /// Keeps carp's own clone of a URL small; see [`Repository::tidy`]. A person's clone stays as it is.
    ///
    /// # Errors
    /// Git failed; nothing is lost.
    pub fn tidy(&self, now: jiff::Timestamp) -> Result<Tidied, Error> {
        match &self.repository {
            Some(own) if self.named.is_none() && self.folder.is_none() => Ok(own.tidy(now)?),
            _ => Ok(Tidied::No),
        }
    }

    fn remote(url: &str, cache: &Path) -> Result<Self, Error> {
        let own = LentClone { clone: own_clone(url, cache)?, lender: None };
        let repository = Some(own.clone.open()?);
        let prefix = String::new();
        let (folder, revision, named) = (None, None, None);
        let own = Some(own);
        Ok(Self { repository, folder, prefix, revision, named, named_root: true, own })
    }
}

fn own_clone(url: &str, cache: &Path) -> Result<OwnClone, git::Error> {
    let digest = crate::model::Digest::of(url.as_bytes()).short(16);
    OwnClone::hold(&cache.join(digest), url)
}

fn no_fleet(folder: &Path) -> Error {
    let other = folder.join("carp.yml");
    if other.is_file() {
        Error::Misnamed(other.strip_prefix(".").unwrap_or(&other).to_owned())
    } else {
        Error::NoFleet(folder.to_owned())
    }
}

/// The nearest folder with a `carp.yaml`, from `folder` upwards.
fn enclosing_root(folder: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(folder).ok()?;
    let found = absolute.ancestors().position(|dir| dir.join(paths::FLEET_FILE).is_file())?;
    let mut root = folder.to_owned();
    for _ in 0..found {
        root.push("..");
    }
    if found == 0 { Some(root) } else { Some(absolute.ancestors().nth(found)?.to_owned()) }
}

/// Whether the text names a repository elsewhere: `https://…`, `ssh://…`, `git@host:path`.
fn is_url(what: &str) -> bool {
    what.contains("://")
        || what.split_once(':').is_some_and(|(host, _)| {
            host.contains('@') && !host.contains('/') && !Path::new(what).exists()
        })
}

/// The repository that is cloned to be read, and the revision of it that is named: `URL`, `URL@REV`, and the
/// same of a bare repository on this machine.
fn elsewhere(what: &str) -> Option<(String, Option<String>)> {
    if is_url(what) {
        return Some(split_url(what));
    }
    let (folder, revision) = split_revision(what);
    let has = |part: &str| Path::new(folder).join(part).exists();
    let is_bare = ["HEAD", "objects", "refs"].into_iter().all(has) && !has(paths::FLEET_FILE);
    let path = std::path::absolute(folder).ok().filter(|_| is_bare)?;
    Some((path.display().to_string(), revision))
}

/// `URL@REV`: the `@` stands in the path, for one before it is part of who logs in.
fn split_url(url: &str) -> (String, Option<String>) {
    let path = match url.find("://") {
        Some(at) => url[at + 3..].find('/').map(|slash| at + 3 + slash),
        None => url.find(':'),
    };
    let at = path.and_then(|path| url[path..].rfind('@').map(|at| path + at));
    match at.filter(|at| at + 1 < url.len()) {
        Some(at) => (url[..at].to_owned(), Some(url[at + 1..].to_owned())),
        None => (url.to_owned(), None),
    }
}

/// `FOLDER@REV`, unless a folder has exactly that name.
fn split_revision(what: &str) -> (&str, Option<String>) {
    match what.rsplit_once('@') {
        Some((folder, revision)) if !revision.is_empty() && !Path::new(what).exists() => {
            (if folder.is_empty() { "." } else { folder }, Some(revision.to_owned()))
        }
        _ => (what, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_revisions_and_urls_are_told_apart() {
        assert!(is_url("https://git.example.com/fleet.git"));
        assert!(is_url("git@example.com:org/fleet.git"));
        assert!(!is_url("fleet@main") && !is_url("./a:b"));
        let url = |text| {
            let (url, revision) = split_url(text);
            format!("{url} {}", revision.unwrap_or_default())
        };
        assert_eq!(url("https://git.example.com/fleet.git"), "https://git.example.com/fleet.git ");
        assert_eq!(url("https://a@h/fleet.git@feature/x"), "https://a@h/fleet.git feature/x");
        assert_eq!(url("ssh://git@h:22/fleet.git"), "ssh://git@h:22/fleet.git ");
        assert_eq!(url("git@h:org/fleet.git@v1"), "git@h:org/fleet.git v1");
        assert_eq!(split_revision("fleet@main"), ("fleet", Some("main".to_owned())));
        assert_eq!(split_revision("@HEAD~1"), (".", Some("HEAD~1".to_owned())));
        assert_eq!(split_revision("fleet"), ("fleet", None));
    }
}
