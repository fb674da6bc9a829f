//! A first run places every cluster, so what is no first run must not be taken for one: the output branch was
//! lost, or it is in another repository. A run and a look at what it would do ask the same here.

use std::collections::BTreeMap;

use super::sources::Observing;
use super::verify::Vouched;
use super::{Error, Names};
use crate::change::entry_at;
use crate::git::Repository;
use crate::load;
use crate::model::api::FleetSpec;
use crate::model::{EntryKind, Id, Memo, Name, Proposal, Report, Snapshot, Store, paths};

/// Where a fleet is, as far as a first run is told from a lost output by it.
pub(super) struct FirstRunCheck<'a> {
    pub(super) repository: Option<&'a Repository>,
    pub(super) names: &'a Names,
    pub(super) spec: &'a FleetSpec,
    pub(super) observing: &'a Observing,
}

impl FirstRunCheck<'_> {
    /// What one run would commit. Nothing where the input may not be read, and no first run that is none.
    pub(super) fn propose(
        &self,
        vouched: &Vouched,
        snapshot: &Snapshot,
        store: &dyn Store,
        memo: &mut Memo,
    ) -> Result<Proposal, Error> {
        self.check(snapshot, store)?;
        Ok(vouched.propose(snapshot, store, memo)?)
    }

    fn check(&self, snapshot: &Snapshot, store: &dyn Store) -> Result<(), Error> {
        let names = self.names;
        if !has_no_output(store, names, snapshot.previous, &snapshot.input.prefix)? {
            return Ok(());
        }
        // Reports that a person or an example pins prove nothing here.
        let example = self.spec.example.is_some();
        let pinned = example || self.observing.folder.is_some();
        let reports = snapshot.reports.as_ref().filter(|_| !pinned);
        nothing_is_placed(store, names, snapshot, reports)?;
        match (self.repository, &names.output_url) {
            (Some(repository), Some(_)) if !example => self.is_asked(repository, snapshot, store),
            _ => Ok(()),
        }
    }

    /// Where carp writes to another repository, that it is empty proves little: the fleet may have had its
    /// output elsewhere until now. So the fleet's own repository is looked at, and a person is asked.
    fn is_asked(
        &self,
        repository: &Repository,
        snapshot: &Snapshot,
        store: &dyn Store,
    ) -> Result<(), Error> {
        let names = self.names;
        let branches = [names.branches.output.as_str(), names.branches.status.as_str()];
        let there = match &names.remote {
            Some(remote) => {
                let patterns = branches.map(Names::there);
                repository.ls_remote(remote, &patterns.each_ref().map(String::as_str))?
            }
            None => repository.list_refs("refs/heads/")?,
        };
        let target = names.target_shown().unwrap_or_default();
        let has = |branch: &&&str| there.iter().any(|(name, _)| *name == Names::there(branch));
        if let Some(branch) = branches.iter().find(has) {
            let (branch, from) = ((*branch).to_owned(), names.remote.clone());
            let from = from.unwrap_or_else(|| "this repository".to_owned());
            return Err(Error::OutputMoved { branch, from, target });
        }
        let tree = snapshot.previous.map(|tree| store.dir(tree)).transpose()?;
        let seeded = tree.is_some_and(|tree| tree.iter().next().is_none());
        if seeded || self.observing.first_run {
            return Ok(());
        }
        Err(Error::FirstRunNotAsked { branch: names.branches.output.clone(), target })
    }
}

/// The commit that the last output was made from, where none of `commits` contains it: the input branch was
/// rewound. They are what a run reads; for a look, what is looked at and the branch that it is merged into.
pub(super) fn rewound_from(
    repository: &Repository,
    output: Option<Id>,
    commits: impl IntoIterator<Item = Id>,
) -> Result<Option<Id>, Error> {
    let mut from = None;
    for commit in commits {
        from = repository.rewound_from(output, commit)?;
        if from.is_none() {
            return Ok(None);
        }
    }
    Ok(from)
}

/// Whether an output tree has nothing of the fleet: then this is a first run, or all of it was lost. Where
/// carp proposes, an output branch without anything is one into which nothing was merged yet, and people
/// look at what is proposed.
fn has_no_output(
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
fn nothing_is_placed(
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
