//! What a change affects: where only some clusters' documents, or some workers' reports of some clusters, say
//! something else than when the fleet last stood, those clusters alone are loaded, planned, rendered, compared and
//! written.
//!
//! Everything else stands, because nothing that it reads has changed. That is so where
//! - the output, the status and carp itself are as the last run left them, and no deadline has passed (`scope`);
//! - the workers whose reports changed are to decisions the hosts that they were (`heard`);
//! - the clusters are placed, and what others read of them is the same: labels that a rule reads, tenant,
//!   location, priority, class, their own rules, and what they take (`neutral`); or they are new, and nobody else reads
//!   that they came (`added`); or their documents are gone, and nobody else reads that they go (`removed`);
//! - what they lose goes without saying by what is in force, held and remembered (`choose`);
//! - nothing comes of it that anybody must be told and was not told before (`told`): no finding, move, or hold but
//!   of a removal of which nobody said what becomes. What is held, kept, on its way or found stays so, and is told again.
//!
//! Where any of that is not so the answer is `None`, and everything is looked at. So this decides nothing of its
//! own: it asks the same planner and the same writer about fewer clusters.

mod added;
mod choose;
mod heard;
mod locks;
mod made;
mod neutral;
mod queue;
mod read;
mod removed;
mod scope;
mod sought;
mod told;
mod verified;
mod waiting;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::baseline::{output_entries, status_entries};
use super::contents::Choice;
use super::loss_guards::Remembered;
use super::read::Read;
use super::run::Run;
use super::status::Documents;
use super::writing::{Writing, WrittenTree};
use super::{Decided, decide, finish};
use crate::model::{
    Baseline, ClusterPlan, Decision, DocumentIndex, Hold, Name, Observed, PendingLock, Plan,
    Previous, Proposal, ReportsSince, Snapshot, StandingWorker, Store, StoreError,
};
use crate::plan::{self, PlanInput};
use heard::Heard;
use read::{AffectedRead, CandidateWorkers};
use scope::AffectedScope;
use verified::DifferingDocuments;

pub use sought::{Sought, SoughtAnswer, propose_sought};

/// What one run would commit, worked out of what changed since the fleet last stood, and what stands after it.
/// `None` where more may be affected than clusters' own documents: then [`propose`](super::propose) says it.
///
/// The proposal has the affected clusters and their workers only, in the plan as in what was read. Its trees,
/// message and counts are those that a look at everything gives, and its deadline is no later.
///
/// `reports` are those that changed since the baseline; what the others say is folded. The snapshot's own are not
/// read.
///
/// # Errors
/// The store failed. Nothing that was put counts then.
pub fn propose_affected(
    snapshot: &Snapshot,
    reports: &ReportsSince,
    store: &dyn Store,
    baseline: &Baseline,
    index: &dyn DocumentIndex,
) -> Result<Option<(Proposal, Baseline)>, StoreError> {
    let scope = || scope::of(snapshot, reports, store, baseline, index);
    let part =
        queue::decide_part(snapshot, store, baseline, scope, (index, CandidateWorkers::Own))?;
    let reports = reports.digest;
    Ok(part.map(|(proposal, next, _)| (proposal, Baseline { reports, ..next })))
}

/// What was decided about a few clusters.
struct PartDecided {
    /// What was read; the locks are whole.
    read: Read,
    decided: Decided,
    heard: Heard,
    /// The workers of which something else is known now.
    anew: BTreeSet<Name>,
    /// The workers to which new clusters come.
    hosts: BTreeSet<Name>,
    /// What stands on the workers of which the index says something older.
    standing: BTreeMap<Name, StandingWorker>,
    /// What is held.
    holds: Vec<Hold>,
    candidates: CandidateWorkers,
}

/// The clusters that are another than those that stay.
struct OtherClusters {
    /// Those that are new.
    added: BTreeSet<Name>,
    /// Those that have no document.
    going: BTreeSet<Name>,
}

/// By what a part of a fleet is decided.
struct DecidedBy<'a> {
    index: &'a dyn DocumentIndex,
    candidates: CandidateWorkers,
    /// The clusters that end, by their workers, where what stands was counted without them.
    ended: BTreeMap<Name, BTreeSet<Name>>,
}

/// What comes of these clusters, and what stands after it; `None` where more may be affected.
fn decide_part(
    snapshot: &Snapshot,
    store: &dyn Store,
    baseline: &Baseline,
    scope: AffectedScope,
    by: &DecidedBy<'_>,
) -> Result<Option<(Proposal, Baseline)>, StoreError> {
    let differing = DifferingDocuments::of(&scope.changed, &scope.weighed);
    let other = OtherClusters { added: scope.changed.added().clone(), going: scope.going.clone() };
    let growth = scope.growth;
    if !added::are_free(snapshot, store, (baseline, by.index), &other.added)? {
        return Ok(None);
    }
    let Some(read) = read::part(snapshot, store, baseline, scope, (by.index, by.candidates))?
    else {
        return Ok(None);
    };
    let Some(part) = decide_read(snapshot, store, baseline, (read, by), &other)? else {
        return Ok(None);
    };
    let standing = part.standing.clone();
    let placed = baseline.placed || !part.hosts.is_empty();
    let Some(written) = write(snapshot, store, baseline, part)? else { return Ok(None) };
    let PartWritten { mut proposal, changed, counts_until } = written;
    let edited = !differing.is_form_only;
    if !told::is_the_same(baseline, &proposal.diagnostics, (&differing.files, edited)) {
        return Ok(None);
    }
    proposal.diagnostics = baseline.findings.iter().cloned().collect();
    proposal.fleet.unloaded.clone_from(&baseline.unloaded);
    let until = [proposal.valid_until, baseline.until].into_iter().flatten().min();
    // What this run counts is counted once: the next one stands on without it.
    proposal.valid_until = [until, counts_until].into_iter().flatten().min();
    let gone = removed::gone(&baseline.gone, (&proposal.plan, &other.going), &changed);
    let verified = baseline.verified.as_ref();
    let keys = &baseline.label_keys;
    let verified = verified.and_then(|before| verified::after(before, &differing, &proposal, keys));
    let waiting = queue::waiting(baseline, by.index, &proposal, &other.added);
    let next = next(snapshot, store, baseline, &proposal, &changed)?;
    Ok(Some((
        proposal,
        Baseline { until, gone, placed, standing, waiting, growth, verified, ..next },
    )))
}

/// Decides about what was read.
fn decide_read(
    snapshot: &Snapshot,
    store: &dyn Store,
    baseline: &Baseline,
    (read, by): (AffectedRead, &DecidedBy<'_>),
    other: &OtherClusters,
) -> Result<Option<PartDecided>, StoreError> {
    let AffectedRead { mut read, mut locks, heard, mut anew } = read;
    let mut decided = decide(snapshot, store, None, &read, &BTreeSet::new())?;
    let holds = removed::held(&decided.planning.plan, baseline, &other.going);
    let is_queue = by.candidates == CandidateWorkers::Queue;
    let stays = stays(&decided, other, is_queue.then_some(&locks.pending));
    let Some(holds) = holds.filter(|_| stays) else { return Ok(None) };
    let ended = removed::ended(&decided.planning.plan, &locks);
    let known = (&locks, &read.observed);
    let without = without(snapshot, store, baseline, (&mut decided, known, &ended), by)?;
    let Some(without) = without else { return Ok(None) };
    anew.extend(ended.into_keys());
    let plan = &decided.planning.plan;
    let input = PlanInput::new(&read.loaded.fleet, &read.previous, &read.observed);
    let comes = (plan, &other.added, is_queue);
    let hosts = added::hosts(snapshot, store, baseline, &input, comes)?;
    let Some(hosts) = hosts else { return Ok(None) };
    let mut standing = baseline.standing.clone();
    standing.extend(without);
    if !hosts.is_empty() {
        let Some(after) = added::stand(&input, plan, &hosts) else { return Ok(None) };
        let all = after.standing.iter().flat_map(|standing| &standing.workers);
        let came = all.filter(|(worker, _)| hosts.contains_key(*worker));
        standing.extend(came.map(|(worker, clusters)| (worker.clone(), clusters.clone())));
    }
    for worker in hosts.keys() {
        if !locks::read_lock(snapshot, store, worker.clone(), &mut locks)? {
            return Ok(None);
        }
    }
    // What is written stands among the other clusters of its worker.
    read.previous = locks;
    let hosts = hosts.into_keys().collect();
    Ok(Some(PartDecided {
        read,
        decided,
        heard,
        anew,
        hosts,
        standing,
        holds,
        candidates: by.candidates,
    }))
}

/// What stands on the workers that clusters leave for good, without those; `None` where somebody else is concerned.
fn without(
    snapshot: &Snapshot,
    store: &dyn Store,
    baseline: &Baseline,
    (decided, (locks, observed), ended): (
        &mut Decided,
        (&Previous, &Observed),
        &BTreeMap<Name, BTreeSet<Name>>,
    ),
    by: &DecidedBy<'_>,
) -> Result<Option<BTreeMap<Name, StandingWorker>>, StoreError> {
    let plan = &mut decided.planning.plan;
    match by.candidates {
        // They are taken out of what stands already.
        CandidateWorkers::Queue => return Ok((*ended == by.ended).then(BTreeMap::new)),
        CandidateWorkers::EveryWorker if !ended.is_empty() => return Ok(None),
        CandidateWorkers::EveryWorker => {}
        CandidateWorkers::Own => {
            let left = ended.keys().cloned().collect();
            if !ended.is_empty() && !count_standing(plan, locks, &left, baseline) {
                return Ok(None);
            }
        }
    }
    let known = (&*plan, locks, observed);
    removed::left(snapshot, store, (baseline, by.index), known, (ended, false))
}

/// What was written of a few clusters.
struct PartWritten {
    proposal: Proposal,
    /// The clusters that have another row or status.
    changed: BTreeSet<Name>,
    /// How long what the run did counts as its own.
    counts_until: Option<Timestamp>,
}

/// Chooses the folders, and writes them, the records and the status.
fn write(
    snapshot: &Snapshot,
    store: &dyn Store,
    baseline: &Baseline,
    part: PartDecided,
) -> Result<Option<PartWritten>, StoreError> {
    let PartDecided { read, mut decided, heard, mut anew, hosts, holds, candidates, .. } = part;
    let is_queue = candidates == CandidateWorkers::Queue;
    let run = Run { snapshot, store, read: &read, plan: &decided.planning.plan };
    let chosen = choose::choose(run, &decided.guarded, &baseline.holds)?;
    let Some((choice, lock)) = chosen else { return Ok(None) };
    let Choice { contents, standing, mut told, losses, .. } = choice;
    let did = losses.did(&decided.guarded, &told.gates);
    let counts_until = losses.until(&did, lock.as_ref(), snapshot.now);
    standing.settle(&mut decided.planning.plan, None, None);
    // What is held and kept is so still.
    decided.planning.plan.holds = holds;
    told.gates.clone_from(&baseline.gates);
    let run = Run { snapshot, store, read: &read, plan: &decided.planning.plan };
    let remembered = Remembered { did, ..Remembered::default() };
    let writing = Writing::new(run, contents, Vec::new(), remembered);
    let Some((written, rewritten)) = writing.write_part(lock.as_ref(), is_queue)? else {
        return Ok(None);
    };
    // Where all workers are known, so is what stands on them.
    let is_counted = candidates != CandidateWorkers::Own
        || count_standing(&mut decided.planning.plan, &read.previous, &anew, baseline);
    if !is_plain(&written) || !is_counted {
        return Ok(None);
    }
    anew.extend(hosts);
    let documents =
        Documents { fleet: &read.loaded.fleet, previous: &read.previous, observed: &read.observed };
    let planned = &decided.planning.plan;
    let waits = queue::waits(baseline, &read, planned);
    let of = (&anew, &waits);
    let (status, stated) = documents.write_part(snapshot, store, planned, &baseline.counts, of)?;
    let reported = heard.reported(baseline.reported, &read);
    let mut proposal = finish(snapshot, store, read, decided, (told, written), status)?;
    proposal.reported = reported;
    let changed = rewritten.into_iter().chain(stated).collect();
    Ok(Some(PartWritten { proposal, changed, counts_until }))
}

/// The workers that the clusters are held against: one that is new may go to any.
fn candidates_of(scope: &AffectedScope) -> CandidateWorkers {
    if scope.changed.added().is_empty() {
        CandidateWorkers::Own
    } else {
        CandidateWorkers::EveryWorker
    }
}

/// Counts all clusters of these workers as there that are so after the run, for their status.
fn count_standing(
    plan: &mut Plan,
    previous: &Previous,
    workers: &BTreeSet<Name>,
    baseline: &Baseline,
) -> bool {
    let forgotten = plan.clusters.iter().filter(|(_, p)| p.decision == Decision::Forget);
    let over: BTreeSet<Name> = forgotten.map(|(name, _)| name.clone()).collect();
    let (is_over, is_gone) =
        (|name: &Name| over.contains(name), |name: &Name| baseline.gone.contains_key(name));
    let mut locks = workers.iter().filter_map(|name| Some((name, previous.workers.get(name)?)));
    locks.all(|(name, lock)| {
        let planned = plan.workers.get_mut(name);
        planned.is_some_and(|planned| plan::count_standing(planned, lock, is_over, is_gone))
    })
}

/// Whether every decision is that a cluster stays where it is, as it is, that a new one comes, or that one without a
/// document goes; of those in the `queue`, that one comes or waits.
fn stays(decided: &Decided, other: &OtherClusters, queue: Option<&PendingLock>) -> bool {
    let waits = |name: &Name| queue.is_some_and(|queue| queue.clusters.contains_key(name));
    let Plan { clusters, retirements, pools, .. } = &decided.planning.plan;
    let is_still = |(name, planned): (&Name, &ClusterPlan)| {
        !planned.is_told() && (planned.deletion.is_none() || other.going.contains(name))
    };
    let keeps = |(name, planned): (&Name, &ClusterPlan)| match planned.decision {
        Decision::Keep { .. } => planned.resize_blocked.is_none(),
        Decision::Bind(_) => other.added.contains(name) || waits(name),
        Decision::Wait { .. } => queue.is_some() && (other.added.contains(name) || waits(name)),
        Decision::Delete { .. } | Decision::Forget => other.going.contains(name),
        Decision::Move { .. } => false,
    };
    clusters.iter().all(|one| keeps(one) && is_still(one))
        && retirements.is_empty()
        && pools.is_empty()
        && decided.planning.made.is_empty()
        && decided.spent.is_empty()
        && decided.mismatches.is_empty()
}

/// Whether everything was written as it was chosen.
fn is_plain(written: &WrittenTree) -> bool {
    written.taken.is_empty() && written.set_back.is_empty()
}

/// What stands after a run that wrote the clusters in `changed`.
fn next(
    snapshot: &Snapshot,
    store: &dyn Store,
    baseline: &Baseline,
    proposal: &Proposal,
    changed: &BTreeSet<Name>,
) -> Result<Baseline, StoreError> {
    let clusters = &proposal.fleet.clusters;
    let file = |name: &Name| Some((name.clone(), clusters.get(name)?.file.clone()));
    Ok(Baseline {
        input: snapshot.input.tree,
        output: output_entries(snapshot, store, proposal.tree)?,
        status: status_entries(snapshot, store, proposal.status_tree)?,
        from: snapshot.now,
        until: proposal.valid_until,
        unsettled: changed.iter().filter_map(file).collect(),
        counts: proposal.counts.clone(),
        reported: proposal.reported,
        holds: proposal.plan.holds.clone(),
        quiet: baseline.quiet
            && proposal.plan.versions().next().is_none()
            && proposal.plan.holds.is_empty(),
        ..baseline.clone()
    })
}
