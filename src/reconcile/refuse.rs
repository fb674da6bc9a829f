//! What a run refuses before it proposes anything.

use super::{Error, Names};
use crate::git::Repository;
use crate::model::Id;
use crate::model::api::FleetSpec;

/// An example pins its time and its reports, so it must never reach a remote that others read.
pub(super) fn stays_on_this_machine(
    repository: &Repository,
    names: &Names,
    spec: &FleetSpec,
) -> Result<(), Error> {
    match (&spec.example, names.target()) {
        (Some(_), Some(target)) if !repository.is_local(target) => {
            let url = repository.remote_url(target).map(|url| url.to_string());
            let shown = url.or_else(|| names.target_shown());
            Err(Error::ExampleRemote { remote: shown.unwrap_or_default() })
        }
        _ => Ok(()),
    }
}

/// The last input commit that is not carp's: where it writes to the input branch, its own commit there is
/// no news.
pub(super) fn last_of_people(
    repository: &Repository,
    names: &Names,
    input: Id,
) -> Result<Id, Error> {
    let own = if names.share_a_branch() { repository.provenance(input)? } else { None };
    Ok(own.map_or(input, |own| own.input))
}
