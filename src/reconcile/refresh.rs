//! Bringing a fleet's branches from its remote.

use super::snapshot::{names, remote};
use super::{Error, Names, Place};
use crate::git::{Gone, Repository};
use crate::load;
use crate::model::api::FleetSpec;

/// How often `carp.yaml` may send to another input branch before that is taken for a mistake.
const HOPS: u32 = 3;

/// Brings the fleet's branches, and says what they are called. The names of the branches stand in
/// `carp.yaml` on the input branch, and which branch that is stands there too. So a first guess is
/// brought, read, and followed until what was read names the branch that it was read from.
pub(super) fn refresh(place: &Place, repository: &Repository) -> Result<Names, Error> {
    let mut names = first_guess(place, repository)?;
    for _ in 0..HOPS {
        bring(repository, &names)?;
        let Some(said) = said_by_input(place, repository, &names)? else { return Ok(names) };
        if said == names {
            return Ok(names);
        }
        names = said;
    }
    Err(Error::InputBranch { branch: names.branches.input })
}

fn bring(repository: &Repository, names: &Names) -> Result<(), Error> {
    for (from, specs) in names.fetches() {
        repository.fetch(&from, &specs, Gone::Prune)?;
    }
    Ok(())
}

/// The names that the commit which is checked out gives; without one the defaults, with the branch that
/// the remote's `HEAD` names.
fn first_guess(place: &Place, repository: &Repository) -> Result<Names, Error> {
    if let Some(spec) = checked_out_spec(place, repository) {
        return Ok(names(Some(repository), &spec));
    }
    let mut names = Names { remote: remote(repository), ..Names::default() };
    let head = names.remote.as_ref().map(|remote| repository.remote_head(remote)).transpose()?;
    if let Some(branch) = head.flatten().as_deref().and_then(|h| h.strip_prefix("refs/heads/")) {
        branch.clone_into(&mut names.branches.input);
    }
    Ok(names)
}

/// `carp.yaml` of the commit that is checked out, as far as it can be read.
fn checked_out_spec(place: &Place, repository: &Repository) -> Option<FleetSpec> {
    let commit = repository.rev_parse("HEAD").ok()?;
    let tree = repository.commit_tree(commit).ok()?;
    let store = repository.store().ok()?;
    load::readable_fleet_spec(&store, tree, &place.prefix).ok()?
}

/// The names that the input branch gives; `None` where it is not there, or where its `carp.yaml` cannot
/// be read: then the run ends soon.
fn said_by_input(
    place: &Place,
    repository: &Repository,
    names: &Names,
) -> Result<Option<Names>, Error> {
    let Some(input) = repository.resolve(&names.input())? else { return Ok(None) };
    let store = repository.store()?;
    let tree = repository.commit_tree(input)?;
    let spec = load::readable_fleet_spec(&store, tree, &place.prefix)?;
    Ok(spec.map(|spec| super::snapshot::names(Some(repository), &spec)))
}
