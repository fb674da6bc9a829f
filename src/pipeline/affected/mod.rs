//! What a change affects: where only some clusters' documents, or some workers' reports of some clusters, say
//! something else than when the fleet last stood, those clusters alone are loaded, planned, rendered, compared and
//! written.
//!
//! Everything else stands, because nothing that it reads has changed. That is so where
//! - the output, the status and carp itself are as the last run left them, and no deadline has passed (`scope`);
//! - the workers whose reports changed are to decisions the hosts that they were (`heard`);
//! - the clusters are placed, and what others read of them is the same: labels that a rule reads, tenant,
//!   location, priority, class, their own rules, and what they take (`neutral`);
//! - what they lose goes without saying by what is in force, held and remembered (`choose`);
//! - nothing comes of it that anybody must be told and was not told before (`told`): no finding, hold, move or
//!   deletion. What is held, kept, on its way or found stays so, and is told again.
//!
//! Where any of that is not so the answer is `None`, and everything is looked at. So this decides nothing of its
//! own: it asks the same planner and the same writer about fewer clusters.

mod choose;
mod heard;
mod made;
mod neutral;
mod read;
mod scope;
mod told;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use super::baseline::{output_entries, status_entries};
use super::contents::Choice;
use super::loss_guards::Remembered;
use super::run::Run;
use super::status::Documents;
use super::writing::{Writing, WrittenTree};
use super::{Decided, decide, finish};
use crate::model::{
    Baseline, Decision, DocumentIndex, Memo, Name, Plan, Planned, Previous, Proposal, ReportsSince,
    Snapshot, Store, StoreError,
};
use crate::plan;
use read::AffectedRead;

/// What one run would commit, worked out of what changed since the fleet last stood, and what stands after it.
/// `None` where more may be affected than clusters' own documents: then [`propose`](super::propose) says it.
///
/// The proposal has the affected clusters and their workers only, in the plan as in what was read. Its trees,
/// message, counts and deadline are those that a look at everything gives.
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
    let Some(scope) = scope::of(snapshot, reports, store, baseline, index)? else {
        return Ok(None);
    };
    let files = scope.files();
    let changed_files = scope.changed.clusters();
    let Some(AffectedRead { mut read, locks, heard, anew }) =
        read::part(snapshot, store, baseline, scope, index)?
    else {
        return Ok(None);
    };
    let mut decided = decide(snapshot, store, &Memo::default(), &read, &BTreeSet::new())?;
    if !stays(&decided) {
        return Ok(None);
    }
    // What is written stands among the other clusters of its worker.
    read.previous = locks;
    let run = Run { snapshot, store, read: &read, plan: &decided.planning.plan };
    let chosen = choose::choose(run, &decided.guarded, &baseline.holds)?;
    let Some((choice, lock)) = chosen else { return Ok(None) };
    let Choice { contents, standing, mut told, losses, .. } = choice;
    let did = losses.did(&decided.guarded, &told.gates);
    let counts_until = losses.until(&did, lock.as_ref(), snapshot.now);
    standing.settle(&mut decided.planning.plan, None, None);
    // What is held and kept is so still.
    decided.planning.plan.holds.clone_from(&baseline.holds);
    told.gates.clone_from(&baseline.gates);
    let run = Run { snapshot, store, read: &read, plan: &decided.planning.plan };
    let remembered = Remembered { did, ..Remembered::default() };
    let writing = Writing::new(run, contents, Vec::new(), remembered);
    let Some((written, rewritten)) = writing.write_part(lock.as_ref())? else { return Ok(None) };
    if !is_plain(&written) {
        return Ok(None);
    }
    if !count_standing(&mut decided.planning.plan, &read.previous, &anew) {
        return Ok(None);
    }
    let documents =
        Documents { fleet: &read.loaded.fleet, previous: &read.previous, observed: &read.observed };
    let planned = &decided.planning.plan;
    let (status, stated) =
        documents.write_part(snapshot, store, planned, &baseline.counts, &anew)?;
    let reported = heard.reported(baseline.reported, &read);
    let mut proposal = finish(snapshot, store, read, decided, (told, written), status)?;
    let edited = changed_files.values().map(String::as_str).collect();
    if !told::is_the_same(baseline, &proposal.diagnostics, &edited) {
        return Ok(None);
    }
    proposal.diagnostics = baseline.findings.iter().cloned().collect();
    proposal.reported = reported;
    let until = [proposal.valid_until, baseline.until].into_iter().flatten().min();
    // What this run counts is counted once: the next one stands on without it.
    proposal.valid_until = [until, counts_until].into_iter().flatten().min();
    let changed: BTreeSet<Name> = rewritten.into_iter().chain(stated).collect();
    let next = next(snapshot, store, baseline, &proposal, &files, &changed)?;
    Ok(Some((proposal, Baseline { reports: reports.digest, reported, until, ..next })))
}

/// Counts all clusters of these workers as there, for their status.
fn count_standing(plan: &mut Plan, previous: &Previous, workers: &BTreeSet<Name>) -> bool {
    let mut locks = workers.iter().filter_map(|name| Some((name, previous.workers.get(name)?)));
    locks.all(|(name, lock)| {
        plan.workers.get_mut(name).is_some_and(|planned| plan::count_standing(planned, lock))
    })
}

/// Whether every decision is that a cluster stays where it is, as it is.
fn stays(decided: &Decided) -> bool {
    let Plan { clusters, pools, deletions, moves, stays, violations, holds, .. } =
        &decided.planning.plan;
    let keeps = |planned: &Planned| {
        matches!(planned.decision, Decision::Keep { .. }) && planned.resize_blocked.is_none()
    };
    clusters.values().all(keeps)
        && pools.is_empty()
        && deletions.is_empty()
        && moves.is_empty()
        && stays.is_empty()
        && violations.is_empty()
        && holds.is_empty()
        && decided.planning.made.is_empty()
        && decided.spent.is_empty()
        && decided.mismatches.is_empty()
}

/// Whether everything was written as it was chosen.
fn is_plain(written: &WrittenTree) -> bool {
    written.taken.is_empty() && written.set_back.is_empty()
}

/// What stands after a run that wrote the clusters in `changed`, of which `files` names the files.
fn next(
    snapshot: &Snapshot,
    store: &dyn Store,
    baseline: &Baseline,
    proposal: &Proposal,
    files: &BTreeMap<Name, String>,
    changed: &BTreeSet<Name>,
) -> Result<Baseline, StoreError> {
    let file = |name: &Name| Some((name.clone(), files.get(name)?.clone()));
    Ok(Baseline {
        input: snapshot.input.tree,
        output: output_entries(snapshot, store, proposal.tree)?,
        status: status_entries(snapshot, store, proposal.status_tree)?,
        from: snapshot.now,
        until: proposal.valid_until,
        unsettled: changed.iter().filter_map(file).collect(),
        counts: proposal.counts.clone(),
        ..baseline.clone()
    })
}
