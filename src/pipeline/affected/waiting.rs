//! One cluster that waits, asked for where nothing changed since the fleet last stood: whoever waits goes on waiting. Of them
//! those are read that stand before it in the queue, where nobody behind it makes a difference to it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::decide;
use super::super::read::Read;
use super::heard::Heard;
use super::scope::AffectedScope;
use super::{locks, made, read};
use crate::diag::Severity;
use crate::load::{self, ChangedDocuments};
use crate::model::{
    Baseline, ClusterPlan, Decision, DocumentIndex, Fleet, Name, PendingLock, PendingReasons,
    PendingRow, Plan, Previous, Proposal, QueuedCluster, RecordState, Snapshot, Store, StoreError,
};
use crate::plan::{self, PlanInput};

/// What is known of a cluster that waits, with those before it in the queue; `None` where it does not wait, or where more
/// must be looked at.
pub(super) fn reasoned(
    snapshot: &Snapshot,
    store: &dyn Store,
    baseline: &Baseline,
    scope: impl Fn() -> Result<Option<AffectedScope>, StoreError>,
    index: &dyn DocumentIndex,
    name: &Name,
) -> Result<Option<Proposal>, StoreError> {
    let is_error = |severity| severity == Severity::Error;
    let is_unsure = baseline.findings.iter().any(|finding| is_error(finding.severity));
    let is_new = snapshot.input.tree != baseline.input;
    if is_unsure || is_new || baseline.acknowledged || !baseline.in_order {
        return Ok(None);
    }
    // Most clusters do not wait, and the queue is long.
    let record = locks::record(snapshot, store, name)?;
    if record.is_some_and(|record| record.state != RecordState::Pending) {
        return Ok(None);
    }
    let Some(lock) = locks::pending_id(snapshot, store)? else { return Ok(None) };
    let known = index.queue(lock).zip(index.pending(lock));
    let Some((mut queue, known)) = known else { return Ok(None) };
    let Some(place) = queue.clusters.iter().position(|queued| queued.name == *name) else {
        return Ok(None);
    };
    queue.clusters.truncate(place + 1);
    let queue = queue.clusters;
    let scope = scope()?.filter(|scope| scope.going.is_empty());
    let Some(scope) = scope else { return Ok(None) };
    let Some(read) = read_queue(snapshot, store, baseline, (&scope, index), &queue)? else {
        return Ok(None);
    };
    let (clusters, pending) = as_known(known, &read);
    if clusters.len() != queue.len() {
        return Ok(None);
    }
    // What is not affected stands, which a debug build looks at all the same.
    if cfg!(debug_assertions) {
        let decided = decide(snapshot, store, None, &read, &BTreeSet::new())?;
        assert_eq!(decided.planning.plan.clusters, clusters);
    }
    let proposal = read.stop(snapshot, store, baseline.holds.clone())?;
    let fleet = Fleet { unloaded: baseline.unloaded.clone(), ..proposal.fleet };
    Ok(Some(Proposal {
        fleet,
        plan: Plan { clusters, ..proposal.plan },
        pending,
        gates: baseline.gates.clone(),
        diagnostics: baseline.findings.iter().cloned().collect(),
        stopped: false,
        counts: baseline.counts.clone(),
        ..proposal
    }))
}

/// Those that were read, which go on waiting for what is `known` of them, and the others.
fn as_known(known: PendingReasons, read: &Read) -> (BTreeMap<Name, ClusterPlan>, PendingReasons) {
    let (mut clusters, mut others) = (BTreeMap::new(), Vec::new());
    for (reasons, names) in known.0 {
        let mut behind = Vec::with_capacity(names.len());
        for name in names {
            let Some(row) = read.previous.pending.clusters.get(&name) else {
                behind.push(name);
                continue;
            };
            let decision = Decision::Wait { seen: row.seen, reasons: reasons.clone() };
            clusters.insert(name, ClusterPlan::new(decision, row.demand.clone()));
        }
        others.push((reasons, behind));
    }
    (clusters, PendingReasons(others))
}

/// Reads those that wait, in their order, and all workers.
fn read_queue(
    snapshot: &Snapshot,
    store: &dyn Store,
    baseline: &Baseline,
    (scope, index): (&AffectedScope, &dyn DocumentIndex),
    queue: &[QueuedCluster],
) -> Result<Option<Read>, StoreError> {
    let file = |queued: &QueuedCluster| read::waiting(&queued.name, scope, baseline, index);
    let Some(mut sources) = queue.iter().map(file).collect() else { return Ok(None) };
    let Some(standing) = read::everyone(baseline, index, &mut sources) else { return Ok(None) };
    let placed = usize::try_from(baseline.counts.bound + baseline.counts.deleting).ok();
    let locks = Previous { placed, ..Previous::default() };
    let beside = (&locks, read::checked(&baseline.findings));
    let changed = ChangedDocuments::default();
    let mut loaded = load::load_part(&snapshot.input, store, changed, &sources, index, beside)?;
    loaded.iter_mut().for_each(made::without_pools);
    let is_whole = |fleet: &Fleet| fleet.unloaded.is_empty() && fleet.clusters.len() == queue.len();
    let loaded = loaded.filter(|loaded| is_whole(&loaded.fleet));
    let Some(loaded) = loaded.filter(|loaded| read::has_workers(loaded, &locks, Some(&standing)))
    else {
        return Ok(None);
    };
    let known = (loaded, &locks);
    let folded = read::folded(snapshot, store, baseline, known, (&Heard::default(), None))?;
    let Some((mut read, _)) = folded else { return Ok(None) };
    let pending = rows(&read.loaded.fleet, queue);
    read.previous = Previous { standing: Some(standing), pending, partial: true, ..locks };
    let input = PlanInput::new(&read.loaded.fleet, &read.previous, &read.observed);
    Ok(plan::is_counted_by(&input).then_some(read))
}

/// What their lock has of those that wait, but why: that is found anew.
fn rows(fleet: &Fleet, queue: &[QueuedCluster]) -> PendingLock {
    let row = |queued: &QueuedCluster| {
        let cluster = fleet.clusters.get(&queued.name)?;
        let row = PendingRow {
            seen: queued.seen,
            facts: cluster.facts,
            reasons: BTreeSet::new(),
            record: None,
            demand: cluster.demand.clone(),
            row: cluster.index_row(),
        };
        Some((queued.name.clone(), row))
    };
    let clusters = queue.iter().filter_map(row).collect();
    PendingLock { clusters, ..PendingLock::default() }
}
