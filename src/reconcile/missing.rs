//! Branches that carp writes and that are not in a clone: a first run is told from a clone that lacks them.
//!
//! A clone of one branch, or one that is shallow (`git clone --single-branch`, `actions/checkout`), has no
//! output branch. What is planned there as a first run places every cluster anew and names none of the real
//! changes, so the remote is asked first, and what it has is brought.

use jiff::Timestamp;

use super::{Error, Names};
use crate::git::{RefSpec, Repository};
use crate::model::Id;

/// What becomes of a look for which a branch that carp writes is not here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingBranches {
    /// It goes on as in a first run, and says so with the line that brings the branch.
    #[default]
    Noted,
    /// It is brought. Where that cannot be, the look goes on only if it is known that the branch is nowhere.
    Brought,
}

impl MissingBranches {
    /// This answer, unless it is known already that what is not here is nowhere.
    pub(super) fn unless(self, known: bool) -> Self {
        if known { Self::Noted } else { self }
    }
}

/// The branches that carp writes, as far as they are here now.
pub(super) struct BranchesHere {
    /// The output's tree.
    pub(super) output: Option<Id>,
    /// The status branch's.
    pub(super) status: Option<Id>,
    /// What was brought for this look.
    pub(super) brought: Option<Brought>,
}

/// Branches that a clone lacked and that were brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brought {
    /// The branches.
    pub branches: Vec<String>,
    /// Where they came from.
    pub remote: String,
    /// When the last output commit was made.
    pub made: Timestamp,
}

/// The trees of the output and of the status branch. What is not here is brought, where that is asked for.
pub(super) fn written(
    repository: Option<&Repository>,
    names: &Names,
    missing: MissingBranches,
    notes: &mut Vec<String>,
) -> Result<BranchesHere, Error> {
    let Some(repository) = repository else {
        notes.push("this folder is in no Git repository, so this is a first run".to_owned());
        return Ok(BranchesHere { output: None, status: None, brought: None });
    };
    let mut known = names.target().is_none();
    let mut brought = Vec::new();
    if let (MissingBranches::Brought, Some(target)) = (missing, names.target()) {
        brought = bring(repository, names, target)?;
        known = true;
    }
    let tip = |name: String| repository.resolve(&name);
    let tree = |commit: Option<Id>| commit.map(|commit| repository.commit_tree(commit)).transpose();
    let (output, status) = (tip(names.output())?, tip(names.status())?);
    if output.is_none() {
        let branch = &names.branches.output;
        let bring = if known {
            String::new()
        } else {
            format!("; if the remote has it, bring it: {}", names.fetch_line(&[branch]))
        };
        notes
            .push(format!("the output branch {branch} is not here, so this is a first run{bring}"));
    }
    let brought = match output.or(status).filter(|_| !brought.is_empty()) {
        Some(tip) => Some(Brought {
            branches: brought,
            remote: names.target_shown().unwrap_or_default(),
            made: repository.commit_time(tip)?,
        }),
        None => None,
    };
    Ok(BranchesHere { output: tree(output)?, status: tree(status)?, brought })
}

/// Brings what this clone lacks of the branches that carp writes, and returns which the repository that carp
/// writes to has of them.
fn bring(repository: &Repository, names: &Names, target: &str) -> Result<Vec<String>, Error> {
    let all = [(names.output(), &names.branches.output), (names.status(), &names.branches.status)];
    let mut lacking = Vec::new();
    for (here, branch) in all {
        if repository.resolve(&here)?.is_none() {
            lacking.push(branch.as_str());
        }
    }
    if lacking.is_empty() {
        return Ok(Vec::new());
    }
    let remote = names.target_shown().unwrap_or_default();
    let patterns: Vec<_> = lacking.iter().map(|branch| Names::there(branch)).collect();
    let patterns: Vec<_> = patterns.iter().map(String::as_str).collect();
    let there = match repository.ls_remote(target, &patterns) {
        Ok(there) => there,
        Err(error) => {
            let (branch, why) = (lacking.join("` and `"), error.to_string());
            let line = names.fetch_line(&lacking);
            return Err(Error::MaybeElsewhere { branch, remote, why, line });
        }
    };
    lacking.retain(|branch| there.iter().any(|(name, _)| *name == Names::there(branch)));
    if lacking.is_empty() {
        return Ok(Vec::new());
    }
    let spec = |branch: &&str| RefSpec::new(Names::there(branch), names.written(branch));
    let specs: Vec<_> = lacking.iter().map(spec).collect();
    match repository.bring(target, &specs) {
        Ok(()) => Ok(lacking.into_iter().map(str::to_owned).collect()),
        Err(error) => Err(Error::OnlyElsewhere {
            branch: lacking.join("` and `"),
            remote,
            why: error.to_string(),
            line: names.fetch_line(&lacking),
        }),
    }
}
