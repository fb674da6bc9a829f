//! Clusters whose documents are gone: their deletion begins, takes its steps by reports, and ends. It is a matter of their
//! own where nothing is held that counts them, and where nobody waits for what they give back.

use std::collections::{BTreeMap, BTreeSet};

use super::locks::{self, fleet_lock, pending};
use crate::diag::{Code, Severity};
use crate::model::{
    Baseline, ClusterRow, ClusterState, Decision, DocumentIndex, FleetLock, GoneCluster, Hold,
    HoldKind, Name, Observed, PendingRow, Plan, Previous, ReasonCode, Snapshot, StandingWorker,
    Store, StoreError,
};
use crate::plan;

/// Whether the deletions of a scope may be decided by themselves: nobody acknowledged anything that no run used, and for
/// those that begin, everything loaded and nothing is held that they may belong to.
pub(super) fn may_go(
    baseline: &Baseline,
    going: &BTreeSet<Name>,
    removed: &BTreeMap<Name, String>,
) -> bool {
    let is_error = |severity| severity == Severity::Error;
    let is_unsure = baseline.findings.iter().any(|finding| is_error(finding.severity));
    let narrowed = baseline.narrowed.iter().flatten().any(|name| removed.contains_key(name));
    let counts_them = |hold: &Hold| {
        use HoldKind::{DeletionsHeld, MassDeletion, RootChanged};
        matches!(hold.kind, DeletionsHeld | MassDeletion | RootChanged)
    };
    let is_held = baseline.holds.iter().any(counts_them);
    let begins = removed.is_empty() || !(is_unsure || narrowed || is_held);
    going.is_empty() || (!baseline.acknowledged && begins)
}

/// Whether a row is of a cluster whose deletion is its own matter: no rule of its own is counted.
pub(super) fn is_plain(row: &ClusterRow) -> bool {
    let there = matches!(row.state, ClusterState::Bound | ClusterState::Deleting);
    let own_rules = row.row.spread.is_empty() && row.row.anti_affinity.is_empty();
    there && own_rules && row.folder.is_some() && row.moves.is_none() && !row.suspended
}

/// What guards hold the deletions to, if any are `going`: the fleet's lock, without the workers that it makes and with the
/// pools of `made` alone.
pub(super) fn guarding(
    snapshot: &Snapshot,
    store: &dyn Store,
    going: &BTreeSet<Name>,
    made: Option<&FleetLock>,
) -> Result<Option<FleetLock>, StoreError> {
    if going.is_empty() {
        return Ok(None);
    }
    let Some(lock) = fleet_lock(snapshot, store)? else { return Ok(None) };
    let pools = made.map(|made| made.pools.clone()).unwrap_or_default();
    Ok(Some(FleetLock { pools, workers: BTreeMap::new(), ..lock }))
}

/// What is held besides: removals of clusters of which nobody said what becomes of them. `None` where something else is
/// held, or somebody else.
pub(super) fn held(plan: &Plan, baseline: &Baseline, going: &BTreeSet<Name>) -> Option<Vec<Hold>> {
    let mut all = baseline.holds.clone();
    for hold in &plan.holds {
        let is_own = hold.names.iter().all(|name| going.contains(name.as_str()));
        if hold.kind != HoldKind::DeletionPolicyUnset || !is_own {
            return None;
        }
        let before = all.iter().position(|before| before.kind == hold.kind);
        let mut names: BTreeSet<String> = hold.names.iter().cloned().collect();
        names.extend(before.map(|at| all.remove(at)).into_iter().flat_map(|hold| hold.names));
        all.push(Hold { names: names.into_iter().collect(), ..hold.clone() });
    }
    all.sort_by(|a, b| (a.kind, &a.names).cmp(&(b.kind, &b.names)));
    Some(all)
}

/// The clusters that are gone after a run, by the worker that they were on.
pub(super) fn ended(plan: &Plan, locks: &Previous) -> BTreeMap<Name, BTreeSet<Name>> {
    let mut ended: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
    for (worker, lock) in &locks.workers {
        let is_over = |name: &&Name| {
            plan.clusters.get(*name).is_some_and(|planned| planned.decision == Decision::Forget)
        };
        let names: BTreeSet<Name> = lock.clusters.keys().filter(is_over).cloned().collect();
        if !names.is_empty() {
            ended.insert(worker.clone(), names);
        }
    }
    ended
}

/// The workers that clusters leave for good, with what stands there without them; `None` where somebody else is
/// concerned: a pool that may give up a worker, or whoever waits and may find room or no longer be kept away. The
/// workers' own numbers are those after the run. Where all that wait are `queued` beside it they are no others.
pub(super) fn left(
    snapshot: &Snapshot,
    store: &dyn Store,
    (baseline, index): (&Baseline, &dyn DocumentIndex),
    (plan, locks, observed): (&Plan, &Previous, &Observed),
    (ended, queued): (&BTreeMap<Name, BTreeSet<Name>>, bool),
) -> Result<Option<BTreeMap<Name, StandingWorker>>, StoreError> {
    if ended.is_empty() {
        return Ok(Some(BTreeMap::new()));
    }
    let standing = locks::standing(baseline, index);
    let (true, Some(standing)) = (baseline.quiet, standing) else { return Ok(None) };
    if !index.all_of("WorkerPool").is_empty() || is_told(baseline, observed, ended) {
        return Ok(None);
    }
    let counts = standing.rules.is_some();
    if baseline.counts.pending > 0 && !queued {
        let Some(lock) = pending(snapshot, store)? else { return Ok(None) };
        let mut waiting = lock.clusters.values();
        if waiting.any(|row| may_come(row, counts, ended.keys(), plan)) {
            return Ok(None);
        }
    }
    let mut rows = BTreeMap::new();
    for (worker, names) in ended {
        let (Some(mut row), Some(planned)) =
            (standing.workers.get(worker).cloned(), plan.workers.get(worker))
        else {
            return Ok(None);
        };
        let of_worker = locks.workers.get(worker).into_iter().flat_map(|lock| &lock.clusters);
        for (name, left) in of_worker.filter(|(name, _)| names.contains(*name)) {
            plan::stand_without(&mut row, name, left);
        }
        (row.clusters, row.allocated) = (planned.clusters, planned.allocated.clone());
        rows.insert(worker.clone(), row);
    }
    Ok(Some(rows))
}

/// Whether reports speak against the records of whom that goes, or will: one that was let go of is there still, and has
/// no record from now on.
fn is_told(
    baseline: &Baseline,
    observed: &Observed,
    ended: &BTreeMap<Name, BTreeSet<Name>>,
) -> bool {
    let runs_on = |worker: &Name, name: &Name| {
        let report = observed.workers.get(worker);
        report.and_then(|report| report.clusters.get(name)).is_some_and(|seen| seen.uid.is_some())
    };
    let mut ended = ended.iter();
    ended.any(|(worker, names)| names.iter().any(|name| runs_on(worker, name)))
        || baseline.findings.iter().any(|found| found.code == Code::ReportContradiction)
}

/// Whether a cluster that waits may come to one of these workers now, or wait for something else: it lacked room and has
/// it there, or a rule that counts who is placed refuses it somewhere.
fn may_come<'a>(
    row: &PendingRow,
    counts: bool,
    mut workers: impl Iterator<Item = &'a Name>,
    plan: &Plan,
) -> bool {
    use ReasonCode::{AntiAffinity, Capacity, Quota, Spread};
    let is_counted = |reason: &ReasonCode| matches!(reason, AntiAffinity | Quota | Spread);
    let has_room = |worker: &Name| {
        plan.workers.get(worker).is_some_and(|planned| plan::has_room(planned, &row.demand))
    };
    let lacks = row.reasons.contains(&Capacity);
    (counts && row.reasons.iter().any(is_counted)) || (lacks && workers.any(has_room))
}

/// The clusters without a document after a run that decided about those that are `going`, of which it wrote those in
/// `changed`.
pub(super) fn gone(
    before: &BTreeMap<Name, GoneCluster>,
    (plan, going): (&Plan, &BTreeSet<Name>),
    changed: &BTreeSet<Name>,
) -> BTreeMap<Name, GoneCluster> {
    let mut gone = before.clone();
    gone.retain(|name, _| !going.contains(name));
    for name in going {
        let worker = plan.clusters.get(name).and_then(|planned| planned.decision.worker());
        let unsettled = changed.contains(name);
        let one = worker.map(|worker| GoneCluster { worker: worker.clone(), unsettled });
        gone.extend(one.map(|one| (name.clone(), one)));
    }
    gone
}
