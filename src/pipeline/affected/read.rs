//! What a run reads that looks at some clusters: their documents, their workers' locks and what these reported.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::read::Read;
use super::heard::Heard;
use super::locks::{pending, read_lock, record, standing};
use super::made::{self, MadeByPools};
use super::neutral::{is_neutral, is_spread_alike};
use super::scope::AffectedScope;
use super::{removed, told};
use crate::diag::{Diagnostic, Place};
use crate::load::{self, CheckedItems, Loaded};
use crate::model::{
    Baseline, DocumentIndex, DocumentName, Name, PendingLock, Previous, RecordState, Snapshot,
    StandingClusters, Store, StoreError, paths,
};
use crate::plan::{self, PlanInput};

/// What was read.
pub(super) struct AffectedRead {
    /// What the planner is asked about: the locks have the rows of these clusters alone.
    pub(super) read: Read,
    /// These locks, whole.
    pub(super) locks: Previous,
    /// What was heard of workers.
    pub(super) heard: Heard,
    /// The workers of which something else is folded now.
    pub(super) anew: BTreeSet<Name>,
}

/// Which workers a few clusters are held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CandidateWorkers {
    /// Those that they are on.
    Own,
    /// All of them.
    EveryWorker,
    /// All of them, with all clusters that wait.
    Queue,
}

/// Reads what decisions about these clusters read; `None` where more must be looked at.
pub(super) fn part(
    snapshot: &Snapshot,
    store: &dyn Store,
    baseline: &Baseline,
    scope: AffectedScope,
    (index, candidates): (&dyn DocumentIndex, CandidateWorkers),
) -> Result<Option<AffectedRead>, StoreError> {
    let Some(queue) = queue(snapshot, store, candidates)? else { return Ok(None) };
    let mut names = scope.names();
    names.extend(queue.clusters.keys().cloned());
    let going = scope.going.clone();
    let edited: BTreeSet<Name> = scope.changed.clusters().into_keys().collect();
    let added = scope.changed.added().clone();
    let waits = |name: &&Name| queue.clusters.contains_key(*name);
    let placed = names.difference(&added).filter(|name| !waits(name)).cloned().collect();
    let hosts = hosts(snapshot, store, (baseline, index), &scope, &placed)?;
    let Some((mut locks, MadeByPools { lock, files })) = hosts else { return Ok(None) };
    let Some(mut sources) = sources(&locks, &names, &scope, index) else { return Ok(None) };
    let Some(queued) = queued(&queue, &scope, baseline, index) else { return Ok(None) };
    sources.extend(queued);
    sources.extend(files);
    let standing = match candidates {
        CandidateWorkers::Own => None,
        CandidateWorkers::EveryWorker | CandidateWorkers::Queue => {
            match everyone(baseline, index, &mut sources) {
                Some(standing) => Some(standing),
                None => return Ok(None),
            }
        }
    };
    let AffectedScope { changed, heard, hub, .. } = scope;
    let guarding = removed::guarding(snapshot, store, &going, lock.as_ref())?;
    if guarding.is_none() && !going.is_empty() {
        return Ok(None);
    }
    let beside = Previous { fleet: lock, ..locks.clone() };
    let beside = (&beside, checked(&baseline.findings));
    let mut loaded = load::load_part(&snapshot.input, store, changed, &sources, index, beside)?;
    loaded.iter_mut().for_each(made::without_pools);
    let Some(loaded) = loaded
        .filter(|loaded| are_neutral(loaded, &locks, (&names, &added, &going), &queue, baseline))
    else {
        return Ok(None);
    };
    if name_pools(&loaded, &edited) || !has_workers(&loaded, &locks, standing.as_deref()) {
        return Ok(None);
    }
    // What the hub says of a worker is in that one's own status.
    let hub = hub.filter(|_| !heard.last.is_empty());
    let folded = folded(snapshot, store, baseline, (loaded, &locks), (&heard, hub))?;
    let Some((mut read, anew)) = folded else { return Ok(None) };
    locks.pending = queue;
    // A report is held against all that is on its worker.
    read.previous = Previous { standing, fleet: guarding, ..of_clusters(&locks, &names) };
    let input = PlanInput::new(&read.loaded.fleet, &read.previous, &read.observed);
    if candidates != CandidateWorkers::Own && !plan::is_counted_by(&input) {
        return Ok(None);
    }
    Ok(Some(AffectedRead { read, locks, heard, anew }))
}

/// Which documents the rules look at, by what was `found` when all of them were. What is remembered is of files without a finding, so
/// it has none, unless that stands in `carp.yaml`: a document that needs credentials is wrong where those are.
pub(super) fn checked(found: &[Diagnostic]) -> CheckedItems {
    let in_fleet_file = |place: &Place| place.file == paths::FLEET_FILE;
    let is_elsewhere = found.iter().any(|found| found.place.as_ref().is_some_and(in_fleet_file));
    if is_elsewhere { CheckedItems::Every } else { CheckedItems::Changed }
}

/// The workers of the clusters in `placed`, those that were heard of included: their locks, and where those come from that
/// pools made. `None` where one is on its way or told of.
fn hosts(
    snapshot: &Snapshot,
    store: &dyn Store,
    (baseline, index): (&Baseline, &dyn DocumentIndex),
    scope: &AffectedScope,
    placed: &BTreeSet<Name>,
) -> Result<Option<(Previous, MadeByPools)>, StoreError> {
    let AffectedScope { heard, hub, going, .. } = scope;
    let heard = heard.last.keys().filter(|name| hub.as_ref() != Some(*name));
    let Some(mut locks) = locks(snapshot, store, (placed, going), heard)? else {
        return Ok(None);
    };
    locks.placed = usize::try_from(baseline.counts.bound + baseline.counts.deleting).ok();
    if told::is_busy(baseline, locks.workers.keys()) {
        return Ok(None);
    }
    let has_none = |worker: &&Name| index.file_of(&DocumentName::new("Worker", worker)).is_none();
    let without = locks.workers.keys().filter(has_none).cloned().collect();
    let made = made::made(snapshot, store, &without, index)?;
    Ok(made.map(|made| (locks, made)))
}

/// What was loaded, with what its workers and the `hub` say, whose reports do not count, and the workers of which something else is folded now; `None`
/// where not all of it can be read, or a worker is another host to decisions.
pub(super) fn folded(
    snapshot: &Snapshot,
    store: &dyn Store,
    baseline: &Baseline,
    (loaded, locks): (Loaded, &Previous),
    (heard, hub): (&Heard, Option<Name>),
) -> Result<Option<(Read, BTreeSet<Name>)>, StoreError> {
    let (mut read, all_read) = Read::unfolded(loaded, locks.clone());
    let mut workers: BTreeSet<Name> = read.loaded.fleet.workers.keys().cloned().collect();
    workers.extend(hub);
    let (reports, found) = heard.among(&workers, snapshot, store)?;
    if !found.is_empty() {
        return Ok(None);
    }
    read.fold(snapshot, store, reports)?;
    // A report that did not count before and lies there still is not read again.
    read.observed.refused.extend(baseline.refused.clone());
    let anew = heard.folded_anew(&read).filter(|_| all_read && !read.stopped);
    Ok(anew.map(|anew| (read, anew)))
}

/// The locks of these workers and of those that the clusters are on; `None` where one is on none for good, or leaves
/// it and is none of those that are `going`.
fn locks<'a>(
    snapshot: &Snapshot,
    store: &dyn Store,
    (names, going): (&BTreeSet<Name>, &BTreeSet<Name>),
    hosts: impl Iterator<Item = &'a Name>,
) -> Result<Option<Previous>, StoreError> {
    let mut workers: BTreeSet<Name> = hosts.cloned().collect();
    for name in names {
        let record = record(snapshot, store, name)?;
        let is_there = |state| {
            state == RecordState::Bound || (state == RecordState::Deleting && going.contains(name))
        };
        let record = record.filter(|record| is_there(record.state));
        let Some(worker) = record.and_then(|record| record.worker) else { return Ok(None) };
        workers.insert(worker);
    }
    let mut previous = Previous::default();
    for worker in workers {
        if !read_lock(snapshot, store, worker, &mut previous)? {
            return Ok(None);
        }
    }
    Ok(Some(previous))
}

/// The clusters that wait, where all of them are looked at; `None` where they are not known.
fn queue(
    snapshot: &Snapshot,
    store: &dyn Store,
    candidates: CandidateWorkers,
) -> Result<Option<PendingLock>, StoreError> {
    match candidates {
        CandidateWorkers::Own | CandidateWorkers::EveryWorker => Ok(Some(PendingLock::default())),
        CandidateWorkers::Queue => pending(snapshot, store),
    }
}

/// The files of the clusters that wait and whose documents are the same; `None` where one is not known.
fn queued(
    queue: &PendingLock,
    scope: &AffectedScope,
    baseline: &Baseline,
    index: &dyn DocumentIndex,
) -> Option<BTreeMap<DocumentName, String>> {
    let changed = scope.changed.clusters();
    let stay = |name: &&Name| !changed.contains_key(*name) && !scope.going.contains(*name);
    let source = |name| waiting(name, scope, baseline, index);
    queue.clusters.keys().filter(stay).map(source).collect()
}

/// The document of a cluster that waits, with its file; `None` where that is not known.
pub(super) fn waiting(
    name: &Name,
    scope: &AffectedScope,
    baseline: &Baseline,
    index: &dyn DocumentIndex,
) -> Option<(DocumentName, String)> {
    let known = scope.unsettled.get(name).or_else(|| baseline.waiting.get(name)).cloned();
    let file = known.or_else(|| index.file_of_waiting(name))?;
    Some((DocumentName::new("ManagedCluster", name), file))
}

/// The locks with the rows of these clusters alone.
pub(super) fn of_clusters(locks: &Previous, names: &BTreeSet<Name>) -> Previous {
    let mut previous = Previous { partial: true, ..locks.clone() };
    for lock in previous.workers.values_mut() {
        lock.clusters.retain(|name, _| names.contains(name));
    }
    previous
}

/// The files of the workers, their overlays, the clusters' classes, and the clusters whose documents are the
/// same; `None` where one is not known.
fn sources(
    previous: &Previous,
    names: &BTreeSet<Name>,
    scope: &AffectedScope,
    index: &dyn DocumentIndex,
) -> Option<BTreeMap<DocumentName, String>> {
    let mut sources = BTreeMap::new();
    for (worker, lock) in &previous.workers {
        let document = DocumentName::new("Worker", worker);
        sources.extend(index.file_of(&document).map(|file| (document, file)));
        let overlay = DocumentName::new("WorkerOverlay", worker);
        sources.extend(index.file_of(&overlay).map(|file| (overlay, file)));
        let rows = lock.clusters.iter().filter(|(name, _)| names.contains(*name));
        for class in rows.filter_map(|(_, row)| row.row.class.as_ref()) {
            let class = DocumentName::new("ManagedClusterClass", class);
            sources.insert(class.clone(), index.file_of(&class)?);
        }
    }
    for (name, file) in &scope.unsettled {
        sources.insert(DocumentName::new("ManagedCluster", name), file.clone());
    }
    Some(sources)
}

/// What stands on all workers, whose documents are added to what is loaded; `None` where it is not known, or pools make
/// workers: these are decided about by looking at everything.
pub(super) fn everyone(
    baseline: &Baseline,
    index: &dyn DocumentIndex,
    sources: &mut BTreeMap<DocumentName, String>,
) -> Option<Arc<StandingClusters>> {
    let standing = standing(baseline, index).filter(|_| index.all_of("WorkerPool").is_empty())?;
    let kinds = ["Worker", "WorkerOverlay", "ManagedClusterClass"];
    sources.extend(kinds.into_iter().flat_map(|kind| index.all_of(kind)));
    Some(standing)
}

/// Whether any of these clusters names pools: whether there are such is asked of all workers.
fn name_pools(loaded: &Loaded, names: &BTreeSet<Name>) -> bool {
    let mut clusters = names.iter().filter_map(|name| loaded.fleet.clusters.get(name));
    clusters.any(|cluster| {
        cluster.spec.placement.as_ref().is_some_and(|placement| !placement.pools.is_empty())
    })
}

/// Whether all workers loaded that are asked about.
pub(super) fn has_workers(
    loaded: &Loaded,
    locks: &Previous,
    standing: Option<&StandingClusters>,
) -> bool {
    let workers = loaded.fleet.workers.keys();
    match standing {
        Some(standing) => workers.eq(standing.workers.keys()),
        None => workers.eq(locks.workers.keys()),
    }
}

/// Whether all clusters loaded, and the clusters are to others what they were.
fn are_neutral(
    loaded: &Loaded,
    previous: &Previous,
    (names, added, going): (&BTreeSet<Name>, &BTreeSet<Name>, &BTreeSet<Name>),
    queue: &PendingLock,
    baseline: &Baseline,
) -> bool {
    let waits = |name: &&Name| queue.clusters.contains_key(*name);
    let rows: BTreeMap<_, _> = previous.workers.values().flat_map(|lock| &lock.clusters).collect();
    let neutral = |name: &Name| {
        let both = rows.get(name).zip(loaded.fleet.clusters.get(name));
        both.is_some_and(|(row, cluster)| {
            is_neutral(row, cluster, &baseline.label_keys)
                && is_spread_alike(cluster, baseline.narrowed.as_ref())
        })
    };
    let goes = |name: &Name| rows.get(name).is_some_and(|row| removed::is_plain(row));
    let fleet = &loaded.fleet;
    fleet.unloaded.is_empty()
        && fleet.clusters.len() + going.len() == names.len()
        && going.iter().filter(|name| !waits(name)).all(goes)
        && names
            .difference(added)
            .filter(|name| !going.contains(*name) && !waits(name))
            .all(neutral)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;

    #[test]
    fn what_stands_is_looked_at_again_where_something_was_found_in_the_fleets_own_file() {
        let found = |file: &str| Diagnostic::new(Code::UnknownField, "").at(Place::file(file));
        let nowhere = Diagnostic::new(Code::UnknownField, "");
        assert_eq!(checked(&[]), CheckedItems::Changed);
        assert_eq!(checked(&[found("fleet/a.yaml"), nowhere]), CheckedItems::Changed);
        assert_eq!(checked(&[found("fleet/a.yaml"), found("carp.yaml")]), CheckedItems::Every);
    }
}
