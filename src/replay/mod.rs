//! Replay: a past commit of carp's is proposed again from what it says that it was made from, and must
//! come out the same.
//!
//! A commit names its input, the folded reports that were read, the time, and the digest of its
//! decisions; the commit before it is the output that it stands on. That is all that `propose` reads, so
//! the repository alone proves a past decision. Nothing is written: what is made again only gets its ids.
//!
//! - Another form that came first by itself ([`FormOnly`](crate::model::FormOnly)) and the commit after it
//!   are one run, and stand on what was there before both.
//! - Where people merge what carp proposes, a proposal stands on the output that it was made for, and a
//!   merge is what was merged.
//! - Signatures were looked at before the commit was made. They are not looked at again: a key that has
//!   left the list since then changes no past decision.

mod commit;
mod grounds;

use crate::diag::Diagnostic;
use crate::git::{self, Provenance, Repository};
use crate::model::{Build, Change, Hold, Id, StoreError};

pub use commit::replay;

/// Where commits are replayed.
pub struct Past<'a> {
    /// The repository.
    pub repository: &'a Repository,
    /// The fleet's root in it: empty, or a path without a `/` at its ends.
    pub prefix: &'a str,
    /// Who replays.
    pub build: &'a Build,
}

/// A commit, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// The commit.
    pub commit: Id,
    /// Its tree.
    pub tree: Id,
    /// The first line of its message.
    pub subject: String,
    /// What it says that it was made from; of a merge, what the merged proposal says. `None` where it is
    /// none of carp's.
    pub said: Option<Provenance>,
    /// What came of it.
    pub verdict: ReplayVerdict,
}

/// What came of a commit.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplayVerdict {
    /// The same tree, by the same decisions.
    Same {
        /// The commit of the output branch that it stands on; `None` for a first run.
        base: Option<Id>,
        /// Which part of the run it is.
        part: CommitPart,
    },
    /// Another tree, or other decisions.
    Differs(Box<Differs>),
    /// What it was made from is not here.
    Missing {
        /// What.
        what: String,
        /// What brings it.
        bring: Bring,
    },
    /// There is nothing to replay: it is none of carp's, or not of this fleet.
    Skipped(Skipped),
}

/// Which part of its run a commit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitPart {
    /// All of it, or the end of it.
    Whole,
    /// What changed only its form, which was committed first.
    Form,
}

/// How a replay came out otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Differs {
    /// The commit of the output branch that it was replayed on.
    pub base: Option<Id>,
    /// The tree of the replay.
    pub tree: Id,
    /// The files that differ: before is the commit's, after the replay's.
    pub changes: Vec<Change>,
    /// The digest of the replayed decisions, where that is not the one that the commit names.
    pub plan: Option<String>,
    /// Whether the replay may not commit anything.
    pub stopped: bool,
    /// What it held and found where it may not.
    pub holds: Vec<Hold>,
    /// The errors that it found.
    pub errors: Vec<Diagnostic>,
}

/// What brings something that is not here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bring {
    /// The input branch.
    Input,
    /// The status branch.
    Status,
    /// The rest of a shallow clone's history.
    History,
    /// The objects that a partial clone left out.
    Objects,
    /// Nothing does: the commit does not name it.
    Nothing,
}

/// Why there is nothing to replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// The message names no input, so it is none of carp's.
    ByOthers,
    /// It is the empty commit with which an output branch for proposals begins.
    Begins,
    /// It changes nothing below this fleet's root.
    OtherFleet,
}

/// A failure of the world.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Git failed.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// An object could not be read.
    #[error("{0}; nothing is known of the commit")]
    Store(#[from] StoreError),
}

impl Error {
    /// The object that is not here, as in a clone that left it out.
    fn absent(&self) -> Option<Id> {
        match self {
            Self::Git(git::Error::Object(StoreError::Absent { id, .. }))
            | Self::Store(StoreError::Absent { id, .. }) => Some(*id),
            _ => None,
        }
    }
}
