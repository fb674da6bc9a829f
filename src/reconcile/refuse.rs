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
    match (&spec.example, &names.remote) {
        (Some(_), Some(remote)) if !repository.is_local(remote) => {
            let remote =
                repository.remote_url(remote).map_or_else(|| remote.clone(), |url| url.to_string());
            Err(Error::ExampleRemote { remote })
        }
        _ => Ok(()),
    }
}

/// The input commit of the last output, where the input branch no longer contains it.
pub(super) fn rewound_from(
    repository: &Repository,
    output: Option<Id>,
    input: Id,
) -> Result<Option<Id>, Error> {
    let Some(output) = output else { return Ok(None) };
    let Some(last) = last_input(repository, output)? else { return Ok(None) };
    // A full clone has every commit that comes before the input; what it does not have is none of them.
    let gone = !repository.has_commit(last) && !repository.is_shallow();
    Ok((gone || !repository.is_ancestor(last, input)?).then_some(last))
}

/// The input commit that carp's last commit on the output branch names. People commit there too: a
/// revert, or everything where it is the input branch.
fn last_input(repository: &Repository, output: Id) -> Result<Option<Id>, Error> {
    let mut commit = Some(output);
    while let Some(here) = commit {
        let trailers: BTreeMap<String, String> = repository.trailers(here)?.into_iter().collect();
        if let Some(last) = trailers.get("Carp-Input").and_then(|id| id.parse::<Id>().ok()) {
            return Ok(Some(last));
        }
        commit = repository.parents(here)?.first().copied();
    }
    Ok(None)
}

/// Whether an output tree has nothing of the fleet: then this is a first run, or all of it was lost.
pub(super) fn has_no_output(
    store: &dyn Store,
    output: Option<Id>,
    prefix: &str,
) -> Result<bool, Error> {
    let Some(output) = output else { return Ok(true) };
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
