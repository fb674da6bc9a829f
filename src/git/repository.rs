//! Opening and making repositories.
#![expect(clippy::disallowed_methods, reason = "this room looks at folders")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use git2::{ErrorClass, ErrorCode, ObjectFormat, Oid, RepositoryInitOptions};

use super::program::Program;
use super::reading::{Under, begin};
use super::{Error, Redacted};
use crate::fault::{self, Point};
use crate::model::Id;

/// A Git repository on this machine.
pub struct Repository {
    pub(super) inner: git2::Repository,
    pub(super) program: Program,
    /// The Git directory that all work trees share.
    pub(super) directory: Arc<Path>,
}

impl Repository {
    /// Opens the repository at a path: a work tree's top folder, or a Git directory.
    ///
    /// # Errors
    /// There is none, it belongs to another user, or it uses SHA-256.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let inner = git2::Repository::open(path).map_err(|e| opening(path, &e))?;
        Self::checked(inner, path)
    }

    /// This repository, opened anew: libgit2 remembers where a clone was cut.
    ///
    /// # Errors
    /// It is not there any more, or cannot be read.
    pub fn opened_again(&self) -> Result<Self, Error> {
        Self::open(self.inner.path())
    }

    /// Finds the repository that a folder is in, and where in its work tree the folder is: empty for
    /// the top, otherwise a path with `/` and none at its ends. `None` outside any repository.
    ///
    /// # Errors
    /// As for [`Repository::open`]; the folder's path is not UTF-8.
    pub fn discover(path: &Path) -> Result<Option<(Self, String)>, Error> {
        let inner = match git2::Repository::discover(path) {
            Ok(inner) => inner,
            Err(e) if e.code() == ErrorCode::NotFound => return Ok(None),
            Err(e) => return Err(opening(path, &e)),
        };
        let repository = Self::checked(inner, path)?;
        let prefix = repository.prefix_of(path)?;
        Ok(Some((repository, prefix)))
    }

    /// Makes an empty repository without a work tree, or opens the one that is there.
    ///
    /// # Errors
    /// The disk failed.
    pub fn init_bare(path: &Path, branch: &str) -> Result<Self, Error> {
        let mut options = RepositoryInitOptions::new();
        options.bare(true).initial_head(branch).mkpath(true).external_template(false);
        let inner = git2::Repository::init_opts(path, &options).map_err(|e| {
            Error::libgit2(format!("making a repository at `{}`", path.display()), &e)
        })?;
        Ok(Self::around(inner))
    }

    /// Clones a repository with its work tree, as `git clone` does.
    ///
    /// # Errors
    /// The remote cannot be reached, or the folder is there and not empty.
    pub fn clone_to(url: &str, dir: &Path) -> Result<Self, Error> {
        Program::default().clone_repository(url, dir)?;
        Self::open(dir)
    }

    /// A clone without a work tree that only carp uses: made on first use, opened after that, with the
    /// remote called `origin`. The caller fetches what it needs.
    ///
    /// # Errors
    /// The folder holds something else, or the disk failed.
    pub fn clone_bare_cache(url: &str, dir: &Path) -> Result<Self, Error> {
        super::remote::check_remote(url)?;
        let empty = std::fs::read_dir(dir).map_or(true, |mut entries| entries.next().is_none());
        let mut cache = if empty { Self::init_bare(dir, "main")? } else { Self::open(dir)? };
        let address = url;
        let shown = Redacted::new(url);
        let url = shown.as_str();
        cache.program.reach_by(address, url);
        let known = cache.inner.find_remote("origin").ok().map(|r| r.url_bytes().to_vec());
        match known {
            Some(known) if known == url.as_bytes() => {}
            Some(_) => cache.set_origin(|repo| repo.remote_set_url("origin", url))?,
            None => cache.set_origin(|repo| repo.remote("origin", url).map(|_| ()))?,
        }
        cache.keep_packs()?;
        Ok(cache)
    }

    /// Lets this handle run another program than the `git` on the path.
    #[must_use]
    pub fn with_program(mut self, program: impl Into<OsString>) -> Self {
        self.program = Program::new(program);
        self
    }

    /// Another handle on the same repository.
    ///
    /// # Errors
    /// As for [`Repository::open`].
    pub fn again(&self) -> Result<Self, Error> {
        Self::open(self.inner.path())
    }

    /// Sets a value in this repository's own configuration.
    ///
    /// # Errors
    /// The configuration cannot be written.
    pub fn configure(&self, key: &str, value: &str) -> Result<(), Error> {
        let set = self.inner.config().and_then(|mut config| config.set_str(key, value));
        set.map_err(|e| self.failed(&format!("setting `{key}`"), &e))
    }

    /// The top folder of the work tree; `None` in a bare repository.
    pub fn work_tree(&self) -> Option<&Path> {
        self.inner.workdir()
    }

    /// carp's own folder in the Git directory, shared by all work trees. It is made on first use.
    pub fn carp_dir(&self) -> PathBuf {
        self.inner.commondir().join("carp")
    }

    /// Whether history was cut off when this repository was cloned.
    pub fn is_shallow(&self) -> bool {
        self.inner.is_shallow()
    }

    /// The repository as a person would name it.
    pub(super) fn name(&self) -> String {
        let path = self.work_tree().unwrap_or_else(|| self.inner.path());
        let text = path.display().to_string();
        format!("the repository `{}`", text.trim_end_matches('/'))
    }

    /// Says that a read begins, of an object or of many, until the result is dropped.
    pub(super) fn reads(&self, id: Option<Id>) -> Under {
        begin(id, &self.directory)
    }

    pub(super) fn failed(&self, what: &str, error: &git2::Error) -> Error {
        let what = format!("{what} in {}", self.name());
        if !is_damage(error) {
            return Error::libgit2(what, error);
        }
        Error::Damaged { what, detail: Redacted::new(error.message()) }
    }

    fn checked(inner: git2::Repository, path: &Path) -> Result<Self, Error> {
        if inner.object_format() != ObjectFormat::Sha1 {
            return Err(Error::Sha256 { path: path.to_owned() });
        }
        Ok(Self::around(inner))
    }

    fn around(inner: git2::Repository) -> Self {
        let directory = inner.commondir().into();
        Self { inner, program: Program::default(), directory }
    }

    fn set_origin(
        &self,
        set: impl FnOnce(&git2::Repository) -> Result<(), git2::Error>,
    ) -> Result<(), Error> {
        set(&self.inner).map_err(|e| self.failed("setting the remote `origin`", &e))
    }

    fn prefix_of(&self, path: &Path) -> Result<String, Error> {
        let Some(top) = self.work_tree() else { return Ok(String::new()) };
        let real = |path: &Path| {
            path.canonicalize().map_err(|e| Error::Repository {
                what: format!("looking at `{}`", path.display()),
                detail: Redacted::new(e.to_string()),
            })
        };
        let (top, path) = (real(top)?, real(path)?);
        let below = path.strip_prefix(&top).unwrap_or(Path::new(""));
        let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
        parts.map(|parts| parts.join("/")).ok_or_else(|| Error::Argument {
            what: "the folder of a fleet: its path is not UTF-8",
            value: Redacted::new(path.to_string_lossy()),
        })
    }
}

fn opening(path: &Path, error: &git2::Error) -> Error {
    let path = path.to_owned();
    match error.code() {
        ErrorCode::NotFound => Error::NotARepository { path },
        ErrorCode::Owner => Error::NotOwned { path },
        // libgit2 without SHA-256 support names the extension that it does not know.
        _ if error.message().contains("object format")
            || error.message().contains("objectformat") =>
        {
            Error::Sha256 { path }
        }
        _ if error.message().to_lowercase().contains("refstorage") => Error::Reftable { path },
        _ => Error::libgit2(format!("opening the repository at `{}`", path.display()), error),
    }
}

/// Passes a point at which tests let a run fail.
pub(super) fn pass(point: Point, what: impl Fn() -> String) -> Result<(), Error> {
    fault::at(point).map_err(|error| Error::Repository {
        what: what(),
        detail: Redacted::new(error.to_string()),
    })
}

/// Whether libgit2 says that what is on the disk cannot be right.
pub(super) fn is_damage(error: &git2::Error) -> bool {
    match error.class() {
        ErrorClass::Zlib | ErrorClass::Odb | ErrorClass::Object | ErrorClass::Indexer => true,
        ErrorClass::Reference => error.message().contains("corrupt"),
        _ => false,
    }
}

pub(super) fn oid(id: Id) -> Oid {
    Oid::from_bytes(id.as_bytes()).expect("an id has the 20 bytes of a SHA-1")
}

pub(super) fn id(oid: Oid) -> Id {
    let bytes = oid.as_bytes().try_into().expect("only SHA-1 repositories are opened");
    Id::from_bytes(bytes)
}
