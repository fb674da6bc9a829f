//! One cluster that waits, asked for where nothing changed since the fleet last stood: whoever waits goes on waiting. Of those that
//! stand before it in the queue the first ones are read that are alike, where nobody behind it makes a difference to it.

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
    PendingRow, Plan, Previous, Proposal, QueuedCluster, ReasonCode, RecordState, Snapshot, Store,
    StoreError, WaitingAhead, WaitingQueue,
};
use crate::plan::{self, PlanInput};

/// What is known of a cluster that waits, with what those before it in the queue say; `None` where it does not wait, or where more
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
    let place = queue.clusters.iter().position(|queued| queued.name == *name);
    // A run that was killed may have left the queue of another look at everything, where other labels were read.
    let Some(place) = place.filter(|_| queue.keys == baseline.label_keys) else { return Ok(None) };
    queue.clusters.truncate(place + 1);
    let scope = scope()?.filter(|scope| scope.going.is_empty());
    let Some(scope) = scope else { return Ok(None) };
    // What is not affected stands, which a debug build looks at all the same.
    if cfg!(debug_assertions) {
        let all: Vec<&QueuedCluster> = queue.clusters.iter().collect();
        let all = read_queue(snapshot, store, baseline, (&scope, index), &all)?;
        assert_wait(snapshot, store, all.as_ref(), (&queue, &known))?;
    }
    let Some(asked) = queue.clusters.pop() else { return Ok(None) };
    let each = queue.clusters.iter().enumerate();
    let each_first = each.filter(|(at, queued)| queued.alike == *at);
    let few: Vec<&QueuedCluster> = each_first.map(|(_, queued)| queued).chain([&asked]).collect();
    let read = read_queue(snapshot, store, baseline, (&scope, index), &few)?;
    let Some(mut read) = read else { return Ok(None) };
    let Some(ahead) = set_apart(&mut read, queue, &asked.name) else { return Ok(None) };
    let Some((planned, pending)) = as_known(known, &read, &asked.name) else { return Ok(None) };
    let proposal = read.stop(snapshot, store, baseline.holds.clone())?;
    let fleet = Fleet { unloaded: baseline.unloaded.clone(), ..proposal.fleet };
    Ok(Some(Proposal {
        fleet,
        plan: Plan { clusters: [(asked.name, planned)].into(), ..proposal.plan },
        pending,
        ahead,
        gates: baseline.gates.clone(),
        diagnostics: baseline.findings.iter().cloned().collect(),
        stopped: false,
        counts: baseline.counts.clone(),
        ..proposal
    }))
}

/// Leaves of the clusters that were read the one that is asked for alone. The others are the first of those in the `queue` before
/// it that say the same; `None` where one of these was not read.
fn set_apart(read: &mut Read, queue: WaitingQueue, asked: &Name) -> Option<WaitingAhead> {
    let Read { loaded, previous, .. } = read;
    let mut clusters = std::mem::take(&mut loaded.fleet.clusters);
    loaded.fleet.clusters.extend(clusters.remove_entry(asked));
    previous.pending.clusters.retain(|name, _| name == asked);
    let first = queue.clusters.iter().enumerate();
    let first = first.filter_map(|(at, queued)| Some((at, clusters.remove(&queued.name)?)));
    let ahead = WaitingAhead { first: first.collect(), queue };
    let is_read = |queued: &QueuedCluster| {
        ahead.first_like(queued).is_some() && queued.labels < ahead.queue.labels.len()
    };
    ahead.queue.clusters.iter().all(is_read).then_some(ahead)
}

/// What is `known` of the cluster that is asked for, and of the others.
fn as_known(
    known: PendingReasons,
    read: &Read,
    asked: &Name,
) -> Option<(ClusterPlan, PendingReasons)> {
    let row = read.previous.pending.clusters.get(asked)?;
    let mut others = known;
    let (reasons, names) = others.0.iter_mut().find(|(_, names)| names.contains(asked))?;
    names.retain(|name| name != asked);
    let decision = Decision::Wait { seen: row.seen, reasons: reasons.clone() };
    Some((ClusterPlan::new(decision, row.demand.clone()), others))
}

/// Looks whether all those in the `queue` go on waiting for what is `known` of them, and say what it says of them.
fn assert_wait(
    snapshot: &Snapshot,
    store: &dyn Store,
    read: Option<&Read>,
    (queue, known): (&WaitingQueue, &PendingReasons),
) -> Result<(), StoreError> {
    let Some(read) = read else { return Ok(()) };
    let decided = decide(snapshot, store, None, read, &BTreeSet::new())?;
    let reasons =
        known.0.iter().flat_map(|(reasons, names)| names.iter().map(move |n| (n, reasons)));
    let reasons: BTreeMap<&Name, &BTreeSet<ReasonCode>> = reasons.collect();
    let clusters = &read.loaded.fleet.clusters;
    for queued in &queue.clusters {
        let wait = Decision::Wait { seen: queued.seen, reasons: reasons[&queued.name].clone() };
        let first = &queue.clusters[queued.alike];
        let [one, first] = [queued, first].map(|queued| &clusters[&queued.name]);
        let planned = ClusterPlan::new(wait, one.demand.clone());
        assert_eq!(decided.planning.plan.clusters[&queued.name], planned);
        assert_eq!((&one.tenant, &one.demand), (&first.tenant, &first.demand));
        assert_eq!(*one.spec, *first.spec);
        let is_read = |(key, _): &(&String, &String)| queue.keys.contains(*key);
        assert!(one.labels.iter().filter(is_read).eq(&*queue.labels[queued.labels]));
    }
    Ok(())
}

/// Reads these of those that wait, and all workers.
fn read_queue(
    snapshot: &Snapshot,
    store: &dyn Store,
    baseline: &Baseline,
    (scope, index): (&AffectedScope, &dyn DocumentIndex),
    queue: &[&QueuedCluster],
) -> Result<Option<Read>, StoreError> {
    let file = |queued: &&QueuedCluster| read::waiting(&queued.name, scope, baseline, index);
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
fn rows(fleet: &Fleet, queue: &[&QueuedCluster]) -> PendingLock {
    let row = |queued: &&QueuedCluster| {
        let cluster = fleet.clusters.get(&queued.name)?;
        Some((queued.name.clone(), PendingRow::without_reasons(cluster, queued.seen)))
    };
    let clusters = queue.iter().filter_map(row).collect();
    PendingLock { clusters, ..PendingLock::default() }
}
