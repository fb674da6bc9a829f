//! Those that wait, all of them. Where a cluster comes that no worker takes at once, where one that waits is edited or gone, or
//! where one that is gone gives back room that somebody lacked, the whole queue is planned, by what stands on the workers: who
//! of it comes and why the others wait hangs on all of them, and on nobody who is placed but by what stands.

use std::collections::{BTreeMap, BTreeSet};

use super::super::decide;
use super::super::read::Read;
use super::locks;
use super::read::{self, AffectedRead, CandidateWorkers};
use super::scope::AffectedScope;
use super::{DecidedBy, candidates_of, count_standing, removed};
use crate::diag::Severity;
use crate::load::{ChangedDocuments, WeighedPolicies};
use crate::model::{
    Baseline, Decision, DocumentGrowth, DocumentIndex, Name, PendingRow, Plan, Proposal, Snapshot,
    StandingWorker, Store, StoreError,
};

/// What comes of a scope, what stands after it, and by how much it was decided: held against no fewer workers than `candidates`
/// says, and where that does not tell, with all that wait. `None` where more may be affected.
pub(super) fn decide_part(
    snapshot: &Snapshot,
    store: &dyn Store,
    baseline: &Baseline,
    scope: impl Fn() -> Result<Option<AffectedScope>, StoreError>,
    (index, candidates): (&dyn DocumentIndex, CandidateWorkers),
) -> Result<Option<(Proposal, Baseline, CandidateWorkers)>, StoreError> {
    let Some(first) = scope()? else { return Ok(None) };
    let adds = !first.changed.added().is_empty();
    let by = DecidedBy {
        index,
        candidates: candidates_of(&first).max(candidates),
        ended: BTreeMap::new(),
    };
    let part = super::decide_part(snapshot, store, baseline, first, &by)?;
    if let Some((proposal, next)) = part {
        return Ok(Some((proposal, next, by.candidates)));
    }
    let is_error = |severity| severity == Severity::Error;
    let is_unsure = baseline.findings.iter().any(|finding| is_error(finding.severity));
    let waits = baseline.counts.pending > 0 || adds;
    if !waits || !baseline.quiet || is_unsure {
        return Ok(None);
    }
    let Some(again) = scope()? else { return Ok(None) };
    let Some(EndedClusters { ended, without }) = ending(snapshot, store, baseline, &again, index)?
    else {
        return Ok(None);
    };
    let mut standing = baseline.standing.clone();
    standing.extend(without);
    let baseline = &Baseline { standing, ..baseline.clone() };
    let by = DecidedBy { index, candidates: CandidateWorkers::Queue, ended };
    let part = super::decide_part(snapshot, store, baseline, again, &by)?;
    Ok(part.map(|(proposal, next)| (proposal, next, by.candidates)))
}

/// The clusters that are gone after a run.
#[derive(Default)]
struct EndedClusters {
    /// By the worker that each was on.
    ended: BTreeMap<Name, BTreeSet<Name>>,
    /// What stands on these workers without them.
    without: BTreeMap<Name, StandingWorker>,
}

/// Which clusters end, whoever waits: what they give back is free when the queue is served. `None` where somebody else is
/// concerned.
fn ending(
    snapshot: &Snapshot,
    store: &dyn Store,
    baseline: &Baseline,
    scope: &AffectedScope,
    index: &dyn DocumentIndex,
) -> Result<Option<EndedClusters>, StoreError> {
    let mut going = scope.going.clone();
    if going.is_empty() {
        return Ok(Some(EndedClusters::default()));
    }
    let Some(queue) = locks::pending(snapshot, store)? else { return Ok(None) };
    going.retain(|name| !queue.clusters.contains_key(name));
    let part = AffectedScope {
        changed: ChangedDocuments::default(),
        weighed: WeighedPolicies::default(),
        growth: DocumentGrowth::default(),
        unsettled: BTreeMap::new(),
        going,
        heard: scope.heard.clone(),
        hub: scope.hub.clone(),
    };
    let read = read::part(snapshot, store, baseline, part, (index, CandidateWorkers::Own))?;
    let Some(AffectedRead { read, locks, .. }) = read else { return Ok(None) };
    let mut plan = decide(snapshot, store, None, &read, &BTreeSet::new())?.planning.plan;
    let ended = removed::ended(&plan, &locks);
    let left = ended.keys().cloned().collect();
    if !ended.is_empty() && !count_standing(&mut plan, &locks, &left, baseline) {
        return Ok(None);
    }
    let known = (&plan, &locks, &read.observed);
    let without = removed::left(snapshot, store, (baseline, index), known, (&ended, true))?;
    Ok(without.map(|without| EndedClusters { ended, without }))
}

/// The clusters that go on waiting as they did.
pub(super) fn waits(baseline: &Baseline, read: &Read, plan: &Plan) -> BTreeSet<Name> {
    let is_same = |(name, row): &(&Name, &PendingRow)| {
        let both = plan.clusters.get(*name).zip(read.loaded.fleet.clusters.get(*name));
        let is_so = both.is_some_and(|(planned, cluster)| {
            matches!(&planned.decision, Decision::Wait { seen, reasons }
                if *seen == row.seen && *reasons == row.reasons)
                && planned.demand == row.demand
                && cluster.facts == row.facts
                && cluster.index_row() == row.row
        });
        is_so && !baseline.unsettled.contains_key(*name)
    };
    let rows = read.previous.pending.clusters.iter();
    rows.filter(is_same).map(|(name, _)| name.clone()).collect()
}

/// The files of the clusters that wait after a run and that the index does not know, those in `added` among them.
pub(super) fn waiting(
    baseline: &Baseline,
    index: &dyn DocumentIndex,
    proposal: &Proposal,
    added: &BTreeSet<Name>,
) -> BTreeMap<Name, String> {
    let mut waiting = baseline.waiting.clone();
    waiting.retain(|name, _| {
        let planned = proposal.plan.clusters.get(name);
        planned.is_none_or(|planned| matches!(planned.decision, Decision::Wait { .. }))
    });
    for name in added.iter().filter(|name| index.file_of_cluster(name).is_none()) {
        let waits = |name: &Name| {
            let planned = proposal.plan.clusters.get(name);
            planned.is_some_and(|planned| matches!(planned.decision, Decision::Wait { .. }))
        };
        let cluster = proposal.fleet.clusters.get(name).filter(|_| waits(name));
        waiting.extend(cluster.map(|cluster| (name.clone(), cluster.file.clone())));
    }
    waiting
}
