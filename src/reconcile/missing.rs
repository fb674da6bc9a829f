//! Branches that carp writes and that are not in a clone: a first run is told from a clone that lacks them.
//!
//! A clone of one branch, or one that is shallow (`git clone --single-branch`, `actions/checkout`), has no
//! output branch. What is planned there as a first run places every cluster anew and names none of the real
//! changes, so the remote is asked first.

use super::{Error, Names};
use crate::git::Repository;
use crate::model::Id;

/// What becomes of a look for which a branch that carp writes is not here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingBranches {
    /// It goes on as in a first run, and says so with the line that brings the branch.
    #[default]
    Noted,
    /// It goes on only where it is known that the branch is nowhere; the remote is asked.
    Refused,
}

impl MissingBranches {
    /// The same, where it may be known already that what is not here is nowhere.
    pub(super) fn unless(self, known: bool) -> Self {
        if known { Self::Noted } else { self }
    }
}

/// The trees of the output and of the status branch, as far as they are here.
pub(super) fn written(
    repository: Option<&Repository>,
    names: &Names,
    missing: MissingBranches,
    notes: &mut Vec<String>,
) -> Result<(Option<Id>, Option<Id>), Error> {
    let Some(repository) = repository else {
        notes.push("this folder is in no Git repository, so this is a first run".to_owned());
        return Ok((None, None));
    };
    let tree = |name: String| -> Result<Option<Id>, Error> {
        let commit = repository.resolve(&name)?;
        Ok(commit.map(|commit| repository.commit_tree(commit)).transpose()?)
    };
    let (output, status) = (tree(names.output())?, tree(names.status())?);
    let lacking = [(output, &names.branches.output), (status, &names.branches.status)];
    let lacking = lacking.into_iter().filter(|(there, _)| there.is_none());
    let lacking: Vec<_> = lacking.map(|(_, branch)| branch.as_str()).collect();
    let mut known = names.target().is_none();
    if let (MissingBranches::Refused, Some(target), false) =
        (missing, names.target(), lacking.is_empty())
    {
        ask(repository, names, target, &lacking)?;
        known = true;
    }
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
    Ok((output, status))
}

/// Asks the repository that carp writes to for branches that are not here; fails unless it has none of them.
fn ask(
    repository: &Repository,
    names: &Names,
    target: &str,
    lacking: &[&str],
) -> Result<(), Error> {
    let remote = names.target_shown().unwrap_or_default();
    let patterns: Vec<_> = lacking.iter().map(|branch| Names::there(branch)).collect();
    let patterns: Vec<_> = patterns.iter().map(String::as_str).collect();
    let there = match repository.ls_remote(target, &patterns) {
        Ok(there) => there,
        Err(error) => {
            let (branch, why) = (lacking.join("` and `"), error.to_string());
            return Err(Error::MaybeElsewhere {
                branch,
                remote,
                why,
                line: names.fetch_line(lacking),
            });
        }
    };
    let has = |branch: &&&str| there.iter().any(|(name, _)| *name == Names::there(branch));
    let has: Vec<_> = lacking.iter().filter(has).copied().collect();
    if has.is_empty() {
        return Ok(());
    }
    Err(Error::OnlyElsewhere { branch: has.join("` and `"), remote, line: names.fetch_line(&has) })
}
