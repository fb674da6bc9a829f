//! Bringing a fleet's branches from its remote.

use std::collections::BTreeSet;

use super::known_names::names_in;
use super::sources::{names, remote};
use super::{Error, FleetPlace, Names};
use crate::diag::visible;
use crate::git::{Gone, Repository};
use crate::model::Id;
use crate::model::api::{Branches, FleetSpec};

/// How often `carp.yaml` may send to another input branch before that is taken for a mistake.
const HOPS: u32 = 3;

/// How many branches that are not read are named.
const MOST_NAMED: usize = 5;

/// Brings the fleet's branches, and says what they are called. The names of the branches stand in
/// `carp.yaml` on the input branch, and which branch that is stands there too. So a first guess is
/// brought, read, and followed until what was read names the branch that it was read from.
pub(super) fn refresh(place: &FleetPlace, repository: &Repository) -> Result<Refreshed, Error> {
    let mut names = first_guess(place, repository)?;
    let mut rewritten = Vec::new();
    for _ in 0..HOPS {
        let before = tips(repository, &names)?;
        rewritten.extend(bring(repository, &names)?);
        let after = tips(repository, &names)?;
        rewritten.extend(rewrites(repository, &before, &after));
        let said = said_by_input(place, repository, &names)?;
        match said.filter(|said| *said != names) {
            None => return Ok(Refreshed { names, rewritten }),
            Some(said) => names = said,
        }
    }
    Err(Error::InputBranch { branch: names.branches.input })
}

/// What the branches of a fleet are called, as far as it is known without asking a remote: by the commit
/// that is checked out, and by the input branch that it names.
pub(super) fn known(place: &FleetPlace, repository: &Repository) -> Result<Names, Error> {
    let default = || names(Some(repository), &FleetSpec::default(), &place.prefix);
    let guess = checked_out(place, repository).unwrap_or_else(default);
    Ok(said_by_input(place, repository, &guess)?.unwrap_or(guess))
}

impl FleetPlace {
    /// The repository, and what the fleet's branches are called there. Those of a URL are brought first; a
    /// folder is taken as it is.
    ///
    /// # Errors
    /// There is no repository, or the remote failed.
    pub fn branches(&self) -> Result<(&Repository, Names), Error> {
        let folder = || self.folder.clone().unwrap_or_default();
        let repository = self.repository.as_ref().ok_or_else(|| Error::NoRepository(folder()))?;
        let names = match &self.folder {
            None => refresh(self, repository)?.names,
            Some(_) => known(self, repository)?,
        };
        Ok((repository, names))
    }
}

/// What was brought.
pub(super) struct Refreshed {
    /// The names of the refs.
    pub(super) names: Names,
    /// What people should know: branches that no longer contain what they did.
    pub(super) rewritten: Vec<String>,
}

/// Each branch with its commit.
type BranchTips = Vec<(String, Option<Id>)>;

fn tips(repository: &Repository, names: &Names) -> Result<BranchTips, Error> {
    if names.remote.is_none() {
        return Ok(BranchTips::new());
    }
    let Branches { input, output, status, .. } = &names.branches;
    let tip = |(branch, here): (&String, String)| Ok((branch.clone(), repository.resolve(&here)?));
    let all = [(input, names.input()), (output, names.output()), (status, names.status())];
    all.into_iter().map(tip).collect()
}

/// The branches that were rewound or replaced at the remote. What is there now is what counts: what was
/// there before is never pushed back.
fn rewrites(repository: &Repository, before: &BranchTips, after: &BranchTips) -> Vec<String> {
    let moves = before.iter().zip(after).filter_map(|((branch, old), (_, new))| {
        Some((branch, (*old)?, (*new)?)).filter(|(_, old, new)| old != new)
    });
    // Where a shallow clone cannot tell, nothing is said.
    let lost =
        moves.filter(|(_, old, new)| matches!(repository.is_ancestor(*old, *new), Ok(false)));
    lost.map(|(branch, old, new)| {
        format!(
            "the branch {branch} was rewritten at the remote: it was at {} and is at {}, which does not \
             contain it; carp goes on from what is there",
            old.short(),
            new.short()
        )
    })
    .collect()
}

/// Brings the branches; returns what people should know of those that were not brought.
fn bring(repository: &Repository, names: &Names) -> Result<Option<String>, Error> {
    let mut left = BTreeSet::new();
    for (from, specs) in names.fetches() {
        left.extend(repository.fetch(&from, &specs, Gone::Prune)?.left);
    }
    Ok((!left.is_empty()).then(|| not_brought(&left)))
}

/// Branches where the reports are that are not read: no worker can have such a name, or there are too many.
fn not_brought(left: &BTreeSet<String>) -> String {
    let named: Vec<_> = left.iter().take(MOST_NAMED).map(|name| visible::line(name)).collect();
    let more = left.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "branches where reports are expected are not read: {}{more}; no worker has such a name, or there \
         are more of them than of any fleet: remove them at the remote",
        named.join(", ")
    )
}

/// The names that the commit which is checked out gives; without one the defaults, with the branch that
/// the remote's `HEAD` names.
fn first_guess(place: &FleetPlace, repository: &Repository) -> Result<Names, Error> {
    if let Some(names) = checked_out(place, repository) {
        return Ok(names);
    }
    let mut names = Names { remote: remote(repository), ..Names::default() };
    let head = names.remote.as_ref().map(|remote| repository.remote_head(remote)).transpose()?;
    if let Some(branch) = head.flatten().as_deref().and_then(|h| h.strip_prefix("refs/heads/")) {
        branch.clone_into(&mut names.branches.input);
    }
    Ok(names)
}

/// The names that the commit which is checked out gives, where its `carp.yaml` can be read.
fn checked_out(place: &FleetPlace, repository: &Repository) -> Option<Names> {
    let commit = repository.rev_parse("HEAD").ok()?;
    let tree = repository.commit_tree(commit).ok()?;
    names_in(place, repository, tree).ok()?
}

/// The names that the input branch gives; `None` where it is not there, or where its `carp.yaml` cannot
/// be read: then the run ends soon.
fn said_by_input(
    place: &FleetPlace,
    repository: &Repository,
    names: &Names,
) -> Result<Option<Names>, Error> {
    let Some(input) = repository.resolve(&names.input())? else { return Ok(None) };
    names_in(place, repository, repository.commit_tree(input)?)
}
