//! What stopped a run that is nobody's mistake in the fleet.

use std::path::PathBuf;

use crate::git;
use crate::model::{Attempt, StoreError};

/// How many names a message lists before it counts the rest.
const MOST_NAMES: usize = 10;

/// A failure of the world, or of the way carp was called.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Git or a remote failed.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// An object could not be read or written; nothing was committed.
    #[error("{0}; nothing was committed")]
    Store(#[from] StoreError),
    /// A clone is damaged, and there is nothing to clone it from again.
    #[error(
        "{why}; there is no remote to clone from again, so restore the repository in `{}`: `git fsck` names \
         what is damaged, and objects can be fetched from any other clone",
        folder.display()
    )]
    Damaged {
        /// What failed.
        why: String,
        /// The fleet's folder.
        folder: PathBuf,
    },
    /// There is no `carp.yaml` in the folder nor above it.
    #[error(
        "there is no carp.yaml in `{}` nor in a folder above it; name the fleet's folder with --fleet, \
         or make one with `carp init DIR`",
        .0.display()
    )]
    NoFleet(PathBuf),
    /// The folder that was named is not there.
    #[error("there is no folder `{}`; name the folder that holds the fleet's carp.yaml", .0.display())]
    NoFolder(PathBuf),
    /// The folder of definitions that was named is not there.
    #[error("there is no folder `{}`; --crds names one with definitions, each called `<plural>.<group>.yaml`", .0.display())]
    NoDefinitions(PathBuf),
    /// The fleet's file has another name.
    #[error("`{}` is not read; rename it to carp.yaml", .0.display())]
    Misnamed(PathBuf),
    /// Reconciling begins at the fleet's root.
    #[error(
        "`{}` is not the root of a fleet: its carp.yaml is in `{}`; name that folder",
        folder.display(), root.display()
    )]
    NotTheRoot {
        /// What was named.
        folder: PathBuf,
        /// Where the fleet's root is.
        root: PathBuf,
    },
    /// Reconciling follows a branch.
    #[error("reconcile reads the input branch, not a revision")]
    Revision {
        /// What was named.
        revision: String,
    },
    /// The command needs commits and there is no repository.
    #[error(
        "`{}` is not in a Git repository, and commits are all that reconcile reads; run `git init` there \
         and commit the fleet",
        .0.display()
    )]
    NoRepository(PathBuf),
    /// The input branch is not there.
    #[error(
        "the input branch `{branch}` is not on the remote `{remote}`; push it there, or name another as \
         spec.branches.input in carp.yaml"
    )]
    NotOnRemote {
        /// The branch.
        branch: String,
        /// The remote, which was asked.
        remote: String,
    },
    /// The input branch has no commit in a repository without a remote.
    #[error(
        "the input branch `{branch}` has no commit; commit the fleet on it, or name another as \
         spec.branches.input in carp.yaml"
    )]
    NoCommit {
        /// The branch.
        branch: String,
    },
    /// `carp.yaml` sends from one input branch to the next.
    #[error(
        "carp.yaml names the input branch `{branch}`, and the one there names another; let \
         spec.branches.input of both name the same branch"
    )]
    InputBranch {
        /// The last one that was named.
        branch: String,
    },
    /// Branches that carp writes are on the remote and not in this clone.
    #[error(
        "this clone lacks `{branch}`, which {remote} has and which could not be brought ({why}), so every \
         cluster would be taken for a new one; bring what is missing: {line}"
    )]
    OnlyElsewhere {
        /// The branches.
        branch: String,
        /// Where they are.
        remote: String,
        /// Why they could not be brought.
        why: String,
        /// The line that brings them.
        line: String,
    },
    /// Branches that carp writes are not in this clone, and whether they are on the remote is not known.
    #[error(
        "this clone lacks `{branch}`, and {remote} could not be asked for that ({why}), so nobody knows whether \
         this is a first run; bring what is missing: {line}"
    )]
    MaybeElsewhere {
        /// The branches.
        branch: String,
        /// Where they may be.
        remote: String,
        /// Why that could not be asked.
        why: String,
        /// The line that brings them.
        line: String,
    },
    /// The output branch is gone although clusters were placed.
    #[error(
        "the output branch `{branch}` is not there or has nothing of this fleet, and {evidence} names \
         clusters; restore the branch, for a first run would place them all anew"
    )]
    OutputGone {
        /// The branch.
        branch: String,
        /// Which branch names clusters.
        evidence: String,
    },
    /// The output is to be in another repository, and is where it was until now.
    #[error(
        "{target} has nothing of this fleet, and {from} has `{branch}`; push the output and the status branch \
         from there, for a first run would place every cluster anew"
    )]
    OutputMoved {
        /// The branch that is elsewhere.
        branch: String,
        /// Where it is.
        from: String,
        /// Where carp is to write.
        target: String,
    },
    /// The output is in another repository, which is empty, and nobody said that this is a first run.
    #[error(
        "`{branch}` is not in {target}, where this fleet writes to, and may be in another repository; if no \
         cluster of this fleet runs yet, say so with --first-run"
    )]
    FirstRunNotAsked {
        /// The branch.
        branch: String,
        /// Where carp is to write.
        target: String,
    },
    /// A demonstration must stay on this machine.
    #[error(
        "this fleet is an example (spec.example is set), and `{remote}` is not a path on this machine; \
         remove spec.example from carp.yaml to use the fleet for real"
    )]
    ExampleRemote {
        /// The remote's address.
        remote: String,
    },
    /// A change does not merge.
    #[error(
        "{what} does not merge into `{base}`: both change {}; merge or rebase it first, for nobody can tell \
         what would be merged",
        listed(files)
    )]
    Conflicts {
        /// What is merged.
        what: String,
        /// What it is merged into.
        base: String,
        /// The files that both change.
        files: Vec<String>,
    },
    /// The remote refused a commit for good.
    #[error(
        "`{branch}` was not accepted by the remote: {detail}; carp does not try again by itself"
    )]
    Refused {
        /// The branch.
        branch: String,
        /// What the remote said.
        detail: String,
        /// The attempt, where it was one on the output branch: the same one would be refused again.
        attempt: Option<Box<Attempt>>,
    },
    /// Whether a push arrived is not known, and the remote could not be asked.
    #[error(
        "whether the commit reached `{branch}` is not known: {detail}; the next run looks first"
    )]
    Unknown {
        /// The branch.
        branch: String,
        /// What came back.
        detail: String,
    },
    /// The branch that carp would move is the one that the work tree shows.
    #[error(
        "`{branch}` is checked out here, so carp does not move it; check out another branch, or give the \
         repository a remote"
    )]
    CheckedOut {
        /// The branch.
        branch: String,
    },
    /// The remote does not let carp in.
    #[error(
        "the remote did not let us write `{branch}`: {detail}; check the credentials that git uses"
    )]
    Auth {
        /// The branch.
        branch: String,
        /// What the remote said.
        detail: String,
    },
    /// Another writer was faster every time.
    #[error("another writer was faster {attempts} times on `{branch}`; nothing is lost, run again")]
    Races {
        /// The branch.
        branch: String,
        /// How often it was tried.
        attempts: u32,
    },
    /// A value given on the command line or in `carp.yaml` is not a time.
    #[error("`{text}` is not a time like 2026-11-01T09:00:00Z ({whose})")]
    NotATime {
        /// What was given.
        text: String,
        /// Where it stands.
        whose: String,
    },
    /// A revision of the fleet was named besides the one that is looked at.
    #[error("`@{revision}` names a revision, and another one is looked at; name the folder alone")]
    TwoRevisions {
        /// What was named with the fleet.
        revision: String,
    },
    /// A revision that no run had to do with.
    #[error(
        "`{revision}` is no commit of this fleet: it has no carp.yaml that can be read, and its message \
         names no input that carp made it from"
    )]
    NoPast {
        /// What was named.
        revision: String,
    },
    /// What a run read is not here any more.
    #[error(
        "the output commit {output} was made with {what}, which is not in this repository; fetch the \
         branch that has it, or ask somebody whose clone still does"
    )]
    PastGone {
        /// The commit that was made then.
        output: String,
        /// What is missing.
        what: String,
    },
    /// The folder given as `--observed` cannot be read.
    #[error("cannot read the reports in `{}`: {detail}", folder.display())]
    Observed {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        detail: String,
    },
}

impl Error {
    /// Whether a clone is damaged, so that another one would do.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Git(error) => error.is_damage(),
            Self::Store(error) => error.is_damage(),
            _ => false,
        }
    }
}

fn listed(names: &[String]) -> String {
    let first = names.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
