//! Lost locks, worked out anew from what else the output branch holds.
//!
//! The records are the truth about placement; where a record is lost too, the folder that holds the
//! cluster's ManagedCluster is. Folders carry a digest of themselves, a worker's sentinel one of all of
//! them, and what would be rendered now is known: a file is carp's if one of these proves it. All others
//! are nobody knows whose, and stay. A rebuilt lock names no render key, so all that it lists is rendered
//! again and compared, and the lock comes out as it was.

mod fleet;
mod records;
mod worker;

use std::collections::BTreeSet;

use crate::diag::{Code, Diagnostic, Diagnostics, Place};
use crate::model::{
    ClusterState, Damage, Digest, Dir, Drifted, Entry, EntryKind, Fleet, LockName, Name, Previous,
    RecordState, Store, StoreError, Survey, paths,
};
use crate::render::Templates;

use records::Records;

/// What locks are rebuilt from.
#[derive(Clone, Copy)]
pub(super) struct RebuildInput<'a> {
    pub(super) store: &'a dyn Store,
    /// The fleet's root on the output branch.
    pub(super) root: &'a Dir,
    pub(super) fleet: &'a Fleet,
    pub(super) templates: &'a Templates,
    /// The fleet's root in its repository.
    pub(super) prefix: &'a str,
}

impl RebuildInput<'_> {
    fn dir(&self, path: &str) -> Result<Option<Entry>, StoreError> {
        let entry = crate::change::entry_at(self.store, self.root.id(), path)?;
        Ok(entry.filter(|entry| entry.kind == EntryKind::Dir))
    }
}

/// A render key that no job has.
fn no_key() -> Digest {
    Digest::of(b"")
}

/// Rebuilds the locks that are damaged. Returns what in their folders is not as carp wrote it, and what
/// was found; an error among it stops the run.
pub(super) fn lost_locks(
    ground: RebuildInput<'_>,
    previous: &mut Previous,
) -> Result<(Vec<Drifted>, Diagnostics), StoreError> {
    let mut found = Diagnostics::default();
    if previous.damaged.is_empty() {
        return Ok((Vec::new(), found));
    }
    let records = records::read(ground, &mut found)?;
    found.extend(nothing_left(ground, previous)?);
    if found.has_errors() {
        return Ok((Vec::new(), found));
    }
    let mut drifted = Vec::new();
    for damage in previous.damaged.clone() {
        match &damage.lock {
            LockName::Worker(name) => {
                let mut lock = worker::rebuild(ground, name, previous, &records)?;
                drifted.append(&mut lock.drifted);
                previous.workers.insert(name.clone(), lock.lock);
            }
            LockName::Fleet => {
                let mut lock = fleet::rebuild(ground)?;
                drifted.append(&mut lock.drifted);
                previous.fleet = Some(lock.lock);
            }
            // After the workers' locks, for what is placed does not wait.
            LockName::Pending => previous.pending = records::pending(ground, previous, &records),
        }
        found.push(told(&damage));
    }
    Ok((drifted, found))
}

fn told(damage: &Damage) -> Diagnostic {
    let path = damage.lock.path();
    let message = format!("`{path}` of the output branch is of no use: {}", damage.why);
    Diagnostic::new(Code::LockRebuilt, message).at(Place::file(path)).help(
        "it is rebuilt from the records and folders that are there; no deletion, move or retirement starts \
         in this run",
    )
}

/// With neither records nor folders there is nothing to rebuild from, and clusters that run would be
/// placed a second time.
fn nothing_left(
    ground: RebuildInput<'_>,
    previous: &Previous,
) -> Result<Option<Diagnostic>, StoreError> {
    if ground.dir(paths::DECISIONS)?.is_some() {
        return Ok(None);
    }
    for damage in &previous.damaged {
        let LockName::Worker(name) = &damage.lock else { continue };
        if ground.dir(&paths::worker(name))?.is_none() {
            let path = damage.lock.path();
            let message =
                format!("`{path}` is lost, and so are the records and the worker's folder");
            let finding = Diagnostic::new(Code::RecordUnreadable, message).at(Place::file(path));
            return Ok(Some(finding.help(
                "bring back the last good commit of the output branch with `git revert`: nobody knows what \
                 was on the worker",
            )));
        }
    }
    Ok(None)
}

/// The workers that records name and that have no lock: their folder is gone as a whole.
pub(super) fn workers_of_records(
    ground: RebuildInput<'_>,
    previous: &Previous,
    survey: &Survey,
) -> Result<Vec<Damage>, StoreError> {
    let mut lost = BTreeSet::new();
    let below = format!("{}/", paths::DECISIONS);
    if survey.foreign.iter().any(|path| path.starts_with(&below)) {
        let records = records::read(ground, &mut Diagnostics::default())?;
        lost.extend(
            records.workers().filter(|name| !previous.workers.contains_key(*name)).cloned(),
        );
    }
    let damage = |name| Damage { lock: LockName::Worker(name), why: "it is missing".to_owned() };
    Ok(lost.into_iter().map(damage).collect())
}

/// The locks of format 1 do not name the records; those that are there are taken for carp's.
pub(super) fn name_records(
    ground: RebuildInput<'_>,
    previous: &mut Previous,
) -> Result<(), StoreError> {
    let at = |name: &Name| -> Result<_, StoreError> {
        let entry =
            crate::change::entry_at(ground.store, ground.root.id(), &paths::decision(name))?;
        Ok(entry.filter(|entry| entry.kind == EntryKind::File).map(|entry| entry.id))
    };
    for lock in previous.workers.values_mut().filter(|lock| lock.schema_version == 1) {
        for (name, row) in lock.clusters.iter_mut().filter(|(_, row)| row.record.is_none()) {
            row.record = at(name)?;
        }
    }
    if previous.pending.schema_version == 1 {
        for (name, row) in &mut previous.pending.clusters {
            row.record = at(name)?;
        }
    }
    Ok(())
}

fn state_of(records: &Records, name: &Name, deleting: bool) -> ClusterState {
    match records.get(name).map(|(_, record)| record.state) {
        Some(RecordState::Deleting) => ClusterState::Deleting,
        None | Some(RecordState::Moving) if deleting => ClusterState::Deleting,
        _ => ClusterState::Bound,
    }
}
