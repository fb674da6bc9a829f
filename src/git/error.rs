//! Why Git could not do what was asked.

use std::path::PathBuf;

use super::Redacted;
use crate::model::{Id, StoreError};

/// A failure of the world as Git shows it: what was tried, on what, and what happens next.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no repository.
    #[error("`{}` is not a Git repository; run `git init` there, or name another folder", path.display())]
    NotARepository {
        /// The path that was opened.
        path: PathBuf,
    },
    /// The repository belongs to somebody else, so Git does not trust it.
    #[error(
        "the repository `{path}` belongs to another user, and Git does not open it; if you trust it, \
         run `git config --global --add safe.directory {path}`",
        path = path.display()
    )]
    NotOwned {
        /// The path that was opened.
        path: PathBuf,
    },
    /// The repository uses SHA-256 ids.
    #[error(
        "the repository `{}` uses SHA-256 object ids, and carp reads SHA-1 repositories only; keep the \
         fleet in one made by `git init --object-format=sha1`",
        path.display()
    )]
    Sha256 {
        /// The path that was opened.
        path: PathBuf,
    },
    /// The repository keeps its refs in a reftable.
    #[error(
        "the repository `{}` keeps its refs in a reftable, which carp cannot read; run `git refs migrate \
         --ref-format=files` there, or name a clone made with `git clone --ref-format=files`",
        path.display()
    )]
    Reftable {
        /// The path that was opened.
        path: PathBuf,
    },
    /// Pushes to a remote go to another repository than the one that is read.
    #[error(
        "the remote `{remote}` is read from one repository, and pushes to it go to another, `{push}`: there is \
         no compare-and-swap between two; nothing was pushed; mend its `pushurl` or `pushInsteadOf` (`git \
         remote -v` shows both addresses)"
    )]
    PushedElsewhere {
        /// The remote.
        remote: Redacted,
        /// Where pushes go.
        push: Redacted,
    },
    /// A ref that must be there is not. It is never taken for an empty one.
    #[error("the ref `{name}` is not in this repository; bring it with `{fetch}`, then run again")]
    MissingRef {
        /// The full name of the ref.
        name: String,
        /// The command that brings it.
        fetch: Redacted,
    },
    /// A revision that a person named does not lead to a commit.
    #[error("`{rev}` names no commit here: {detail}")]
    UnknownRevision {
        /// What was named.
        rev: String,
        /// What Git says.
        detail: Redacted,
    },
    /// The history that is needed was cut off.
    #[error(
        "{what} cannot be known, because this clone is shallow; run `git fetch --unshallow`, then run \
         again"
    )]
    Shallow {
        /// The question.
        what: String,
    },
    /// A ref stays locked: another process is at work, or one was killed.
    #[error(
        "the ref `{name}` is locked by another process, so it was not moved; if no Git command is \
         running, remove `{}`, then run again",
        lock.display()
    )]
    Locked {
        /// The full name of the ref.
        name: String,
        /// The lock file.
        lock: PathBuf,
    },
    /// A lock file stays: another process is at work, or one was killed.
    #[error(
        "{what} failed, because `{}` is there: another Git command is at work, or one was killed; if none \
         is running, remove that file, then run again",
        lock.display()
    )]
    LockFile {
        /// What was tried, and where.
        what: String,
        /// The lock file.
        lock: PathBuf,
    },
    /// Another carp works with a clone that only one may use.
    #[error(
        "another carp has worked with the clone `{}` for {seconds} s; wait until it has ended, then run \
         again",
        clone.display()
    )]
    Held {
        /// The clone.
        clone: PathBuf,
        /// How long this one waited.
        seconds: u64,
    },
    /// Something in a clone is not what it was.
    #[error("{what} failed: {detail}")]
    Damaged {
        /// What was tried, and where.
        what: String,
        /// What Git says.
        detail: Redacted,
    },
    /// An object could not be read or written.
    #[error(transparent)]
    Object(#[from] StoreError),
    /// libgit2 failed.
    #[error("{what} failed: {detail}")]
    Repository {
        /// What was tried, and on what.
        what: String,
        /// What libgit2 says.
        detail: Redacted,
    },
    /// The `git` program is not there or does not start.
    #[error("the program `{program}` cannot be run: {detail}")]
    ProgramMissing {
        /// The program.
        program: String,
        /// What the system says, and what helps.
        detail: String,
    },
    /// The `git` program is too old.
    #[error("git 2.41 or later is needed, and `{program}` says `{found}`; install a later one")]
    ProgramTooOld {
        /// The program.
        program: String,
        /// What it says.
        found: String,
    },
    /// The `git` program failed on this machine.
    #[error("{what} failed: {line}")]
    Program {
        /// What was tried, and on what.
        what: String,
        /// The line in which git says why.
        line: Redacted,
    },
    /// The remote does not let us in.
    #[error(
        "{what} at `{remote}` was refused: {line}; check the credentials that git uses for it, nothing \
         was changed"
    )]
    Auth {
        /// What was tried.
        what: String,
        /// The remote.
        remote: Redacted,
        /// The line in which git says why.
        line: Redacted,
    },
    /// There is no repository at the remote's address.
    #[error("{what} at `{remote}` failed: {line}; check the remote's address with `git remote -v`")]
    RemoteMissing {
        /// What was tried.
        what: String,
        /// The remote.
        remote: Redacted,
        /// The line in which git says why.
        line: Redacted,
    },
    /// The remote did not answer, or not in a way that Git understands.
    #[error("{what} at `{remote}` failed: {line}; nothing was changed here, run again later")]
    Remote {
        /// What was tried.
        what: String,
        /// The remote.
        remote: Redacted,
        /// The line in which git says why.
        line: Redacted,
    },
    /// A commit could not be signed, so it was not made.
    #[error(
        "signing the commit failed ({tried}): {detail}; spec.git.signing in carp.yaml asks for signatures, \
         so nothing was pushed"
    )]
    Signing {
        /// The program that was run, with which key.
        tried: Redacted,
        /// What it said.
        detail: Redacted,
    },
    /// A commit was to be pushed over one that is not its parent, which would lose that one.
    #[error("commit {commit} does not follow {expected}, so it was not pushed to `{name}`")]
    NotAChild {
        /// The commit to push.
        commit: Id,
        /// The commit that it should follow.
        expected: Id,
        /// The ref.
        name: String,
    },
    /// A commit with a history was to be put in the place of another one.
    #[error("commit {commit} has parents, so it was not put in the place of `{name}`")]
    NotParentless {
        /// The commit to push.
        commit: Id,
        /// The ref.
        name: String,
    },
    /// A remote, ref or path that cannot be one.
    #[error("`{value}` cannot be {what}")]
    Argument {
        /// What it should have been.
        what: &'static str,
        /// What was given.
        value: Redacted,
    },
}

impl Error {
    /// Whether a clone is damaged, so that another one would do.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Damaged { .. } => true,
            Self::Object(error) => error.is_damage(),
            _ => false,
        }
    }

    /// An error of libgit2 while doing something.
    pub(super) fn libgit2(what: impl Into<String>, error: &git2::Error) -> Self {
        Self::Repository { what: what.into(), detail: Redacted::new(error.message()) }
    }
}
