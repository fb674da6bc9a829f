//! What a run refuses before it proposes anything.

use std::collections::BTreeMap;

use super::{Error, Names};
use crate::change::entry_at;
use crate::git::Repository;
use crate::load;
use crate::model::api::FleetSpec;
use crate::model::{EntryKind, Id, Name, Report, Snapshot, Store, paths};

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

/// Whether an output tree has nothing of the fleet: then this is a first run, or all of it was lost. Where
/// carp proposes, an output branch without anything is one into which nothing was merged yet, and people
/// look at what is proposed.
pub(super) fn has_no_output(
    store: &dyn Store,
    names: &Names,
    output: Option<Id>,
    prefix: &str,
) -> Result<bool, Error> {
    let Some(output) = output else { return Ok(true) };
    if names.proposes {
        return Ok(false);
    }
    let there = |path: &str| entry_at(store, output, &paths::in_repository(prefix, path));
    let fleet_lock = format!("{}/{}", paths::CONTROL_PLANE, paths::FLEET_LOCK);
    let pending_lock = format!("{}/{}", paths::DECISIONS, paths::PENDING_LOCK);
    for lock in [fleet_lock, pending_lock] {
        if there(&lock)?.is_some() {
            return Ok(false);
        }
    }
    // With these two lost the workers' own locks are evidence enough.
    let Some(workers) = there(paths::WORKERS)?.filter(|e| e.kind == EntryKind::Dir) else {
        return Ok(true);
    };
    for (worker, _) in store.dir(workers.id)?.iter() {
        let lock = format!("{}/{worker}/{}", paths::WORKERS, paths::WORKER_LOCK);
        if there(&lock)?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Without an output branch this is a first run only if nothing names a cluster: otherwise the branch
/// was lost, and a first run would place everything anew.
/// Reports that a person or an example pins prove nothing here.
pub(super) fn is_a_first_run(
    store: &dyn Store,
    names: &Names,
    snapshot: &Snapshot,
    reports: Option<&BTreeMap<Name, Vec<u8>>>,
) -> Result<(), Error> {
    let branch = names.branches.output.clone();
    let clusters = paths::in_repository(&snapshot.input.prefix, "clusters");
    if let Some(status) = snapshot.status
        && entry_at(store, status, &clusters)?.is_some()
    {
        let evidence = format!("the status branch {}", names.branches.status);
        return Err(Error::OutputGone { branch, evidence });
    }
    let reports = reports.map(load::reports).map(|(reports, _)| reports);
    let naming = |reports: BTreeMap<Name, Report>| {
        reports.into_values().find(|r| !r.clusters.is_empty()).map(|r| r.worker)
    };
    match reports.and_then(naming) {
        Some(worker) => {
            Err(Error::OutputGone { branch, evidence: format!("the report of {worker}") })
        }
        None => Ok(()),
    }
}
