//! `propose`: the only composition of the pure core. validate, plan, render, reconcile and the rest all
//! call it.
//!
//! ```text
//! load → fold → plan → guard → choose (render, gate) → write
//! ```

mod affected;
mod ahead;
mod at_parameters;
mod baseline;
mod choose;
mod choosing;
mod contents;
mod control_plane;
mod data_stores;
mod deletion;
mod drift;
mod edits;
mod folders;
mod form;
mod found;
mod handing_over;
mod kept;
mod loss_guards;
mod moving;
mod overriding;
mod read;
mod rebalancing;
mod rebuild;
mod recall;
mod records;
mod removed;
mod rows;
mod run;
mod settle;
mod standing;
mod status;
mod updates;
mod versions;
mod whole;
mod worker_jobs;
mod worker_tree;
mod write;
mod writing;

use std::collections::BTreeSet;

use crate::change::{self, Acknowledged, GuardInput, Guarded, MessageInput};
use crate::diag::Diagnostic;
use crate::model::api::AcknowledgementKind;
use crate::model::{
    Fleet, Hold, HoldKind, Memo, Name, PendingReasons, Plan, PlanOverrides, Progress, Proposal,
    Snapshot, Store, StoreError, Stuck, WaitingAhead, Work, paths,
};
use crate::plan::{self, PlanInput, Planning};
use contents::{Choice, ToldOfFolders};
use loss_guards::{Judged, LossGuards, Remembered};
use read::Read;
use rebalancing::RebalancedPlan;
use run::Run;
use status::{Documents, StatusTrees};
use writing::{Writing, WrittenTree};

pub use affected::{Sought, SoughtAnswer, propose_affected, propose_sought};
pub use baseline::baseline;
pub use overriding::readiness;
pub use status::{FleetDocument, fleet_document};
pub use updates::{Update, nodes_words, update_lines, updates, updates_of_some};

/// Works out what one run would commit.
///
/// It reads through the store only, puts what it renders into it as it is made, and is a function of
/// the snapshot: the memo changes what it costs, never what it says.
///
/// # Errors
/// The store failed. Nothing that was put counts then.
pub fn propose(
    snapshot: &Snapshot,
    store: &dyn Store,
    memo: &mut Memo,
) -> Result<Proposal, StoreError> {
    let mut read = Read::new(snapshot, store, memo)?;
    if read.stopped {
        return read.stop(snapshot, store, Vec::new());
    }
    if let Some((hold, found)) = rewound(snapshot, &read) {
        read.diagnostics.extend(found);
        return read.stop(snapshot, store, vec![hold]);
    }
    let (decided, told, written) = carry_out(snapshot, store, memo, &mut read)?;
    settle::remember(snapshot, store, memo, &decided.planning, &written, &read)?;
    let documents =
        Documents { fleet: &read.loaded.fleet, previous: &read.previous, observed: &read.observed };
    let status = documents.write(snapshot, store, memo, &decided.planning.plan, &told.gates)?;
    finish(snapshot, store, read, decided, (told, written), status)
}

/// Decides, chooses the folders and writes them: the decisions as they are carried out, what the folders tell, and
/// the tree.
///
/// What keeps its last good folder keeps what that takes, and others may have been given the room: it is an input
/// of the decisions, so they are taken again before anything is written. Only a file of others that is in the
/// way of a worker's own is found in the writing.
fn carry_out(
    snapshot: &Snapshot,
    store: &dyn Store,
    memo: &Memo,
    read: &mut Read,
) -> Result<(Decided, ToldOfFolders, WrittenTree), StoreError> {
    let mut frozen = BTreeSet::new();
    // What becomes of what folders lose, once that is known.
    let mut verdicts: Option<Judged> = None;
    loop {
        let mut decided = decide(snapshot, store, Some(memo), read, &frozen)?;
        // What pools make is among the workers from now on, as it is in the next run.
        let made = std::mem::take(&mut decided.planning.made).into_iter();
        read.loaded.fleet.workers.extend(made.map(|worker| (worker.name.clone(), worker)));
        let lock = read.previous.fleet.as_ref();
        let mut losses = LossGuards::new(&decided.guarded.limits, lock);
        if let Some(Judged { verdicts, spent }) = &verdicts {
            losses = losses.holding(verdicts);
            decided.spent.extend(spent.iter().cloned());
        }
        let run = Run { snapshot, store, read, plan: &decided.planning.plan };
        let choice = choose::choose(run, losses)?;
        // What is lost is known once it is rendered. Where that says otherwise than it began with, it is chosen once
        // more; where that shows yet other losses, all of them are held.
        let judged = choice.losses.judge(&decided.good);
        if !choice.losses.are_held_so(&judged.verdicts) {
            let strictest = Judged::all_held();
            if verdicts.as_ref().is_none_or(|last| last.verdicts != strictest.verdicts) {
                verdicts = Some(if verdicts.is_none() { judged } else { strictest });
                frozen.clear();
                continue;
            }
        }
        if !choice.not_resized.is_subset(&frozen) {
            frozen.extend(choice.not_resized);
            continue;
        }
        let Choice { contents, standing, told, losses, .. } = choice;
        let did = losses.did(&decided.guarded, &told.gates);
        let until = losses.until(&did, read.previous.fleet.as_ref(), snapshot.now);
        standing.settle(&mut decided.planning.plan, losses.holds(), until);
        let lasting = losses.lasting(&decided.guarded);
        let held = decided.good.held(&decided.planning.plan.holds, &lasting);
        let remembered = Remembered { held, did };
        let run = Run { snapshot, store, read, plan: &decided.planning.plan };
        let (fleet, lock) = (&read.loaded.fleet, read.previous.fleet.as_ref());
        let spent = change::spend(fleet, lock, &decided.good, &decided.spent);
        let mut written = Writing::new(run, contents, spent, remembered).write()?;
        // Nothing may be placed where a file of others is in the way.
        if !read.take(std::mem::take(&mut written.taken)) {
            return Ok((decided, told, written));
        }
    }
}

/// What a run says that may not even begin: everything stays, and a hold says why.
///
/// # Errors
/// The store failed.
pub fn withhold(
    snapshot: &Snapshot,
    store: &dyn Store,
    memo: &mut Memo,
    hold: Hold,
) -> Result<Proposal, StoreError> {
    Read::new(snapshot, store, memo)?.stop(snapshot, store, vec![hold])
}

/// A rewound input branch is held until somebody says that it is meant.
fn rewound(snapshot: &Snapshot, read: &Read) -> Option<(Hold, Vec<Diagnostic>)> {
    let from = snapshot.input.rewound_from?;
    let hold = Hold { kind: HoldKind::Rewind, names: vec![from.to_string()], allowed: None };
    let good = acknowledged(snapshot, read);
    let of = AcknowledgementKind::Rewind;
    if good.covers(of, &hold).is_some() {
        return None;
    }
    let found = change::mismatches(&read.loaded.fleet, &good, std::slice::from_ref(&hold), &[]);
    Some((hold, found))
}

/// The acknowledgements that count. None does where its use cannot be recorded.
fn acknowledged(snapshot: &Snapshot, read: &Read) -> Acknowledged {
    let recordable = !read.previous.kept.control_plane;
    let lock = read.previous.fleet.as_ref();
    let vouching = &snapshot.input.vouching;
    let good = recordable.then(|| Acknowledged::new(&read.loaded.fleet, lock, vouching));
    good.unwrap_or_default()
}

/// The decisions, after the guards.
struct Decided {
    planning: Planning,
    asked: PlanOverrides,
    spent: Vec<Name>,
    guarded: Guarded,
    good: Acknowledged,
    /// Acknowledgements that abandon another set than is stuck, or rebalance by other moves than there are.
    mismatches: Vec<Diagnostic>,
}

/// Decides about what was read. Without a memo nothing is known of the last run, and nothing is kept for the next one.
fn decide(
    snapshot: &Snapshot,
    store: &dyn Store,
    memo: Option<&Memo>,
    read: &Read,
    frozen: &BTreeSet<Name>,
) -> Result<Decided, StoreError> {
    let path = format!("{}/{}", paths::DECISIONS, paths::PENDING_LOCK);
    let path = paths::in_repository(&snapshot.input.prefix, &path);
    let pending = match snapshot.previous {
        Some(root) => change::entry_at(store, root, &path)?,
        None => None,
    };
    let fleet = &read.loaded.fleet;
    let input = PlanInput {
        settled: memo.and_then(|memo| memo.settled.as_ref()),
        counted: memo.map(|memo| &memo.counted),
        is_remembered: memo.is_some(),
        pending_id: pending.map(|e| e.id),
        frozen,
        ..PlanInput::new(fleet, &read.previous, &read.observed)
    };
    let good = acknowledged(snapshot, read);
    // Only where somebody abandons anything is it looked for twice.
    let asked = good.of(AcknowledgementKind::Abandon).next().is_some();
    let stuck = if asked { plan::stuck(&input) } else { Vec::new() };
    let abandoned = change::abandon(&stuck, &good);
    let input = PlanInput { abandoned: &abandoned.names, ..input };
    let RebalancedPlan { mut planning, terms: rebalance, spent: rebalanced, mut mismatches } =
        rebalancing::plan(&input, &good);
    let input = GuardInput { fleet, previous: &read.previous, now: snapshot.now };
    let guarded = change::guard(&mut planning.plan, input, &good);
    let mut spent = guarded.spent.clone();
    leave_out_the_gone(&mut planning.plan, fleet);
    let stuck = Stuck::sets(planning.plan.deletions());
    mismatches.extend(change::abandon_mismatches(fleet, &good, &stuck, &abandoned.spent));
    spent.extend(abandoned.spent);
    spent.extend(rebalanced);
    let asked = PlanOverrides { frozen: frozen.clone(), abandoned: abandoned.names, rebalance };
    if let Some(from) = snapshot.input.rewound_from {
        let hold = Hold { kind: HoldKind::Rewind, names: vec![from.to_string()], allowed: None };
        spent.extend(good.covers(AcknowledgementKind::Rewind, &hold));
    }
    planning.plan.holds.extend(read.drift.hold());
    planning.plan.holds.sort_by(|a, b| (a.kind, &a.names).cmp(&(b.kind, &b.names)));
    Ok(Decided { planning, asked, spent, guarded, good, mismatches })
}

/// A worker that is gone after this run is none of its workers; what is over is said by its deletion.
fn leave_out_the_gone(plan: &mut Plan, fleet: &Fleet) {
    let Plan { workers, retirements, .. } = plan;
    let over = |name: &Name| {
        retirements.get(name).is_some_and(|d| matches!(d.progress, Progress::Ends(_)))
    };
    workers.retain(|name, _| fleet.workers.contains_key(name) || !over(name));
}

fn finish(
    snapshot: &Snapshot,
    store: &dyn Store,
    read: Read,
    decided: Decided,
    (told, written): (ToldOfFolders, WrittenTree),
    status: StatusTrees,
) -> Result<Proposal, StoreError> {
    let Read { loaded, previous, observed, mut diagnostics, valid_until, drift, .. } = read;
    let Decided { planning, asked, good, mismatches, spent, .. } = decided;
    diagnostics.extend(mismatches);
    diagnostics.extend(change::mismatches(&loaded.fleet, &good, &planning.plan.holds, &spent));
    let ToldOfFolders { gates, found, rendered } = told;
    let WrittenTree { tree, form, set_back, .. } = written;
    diagnostics.extend(found);
    let difference = change::diff(store, snapshot.previous, Some(tree))?;
    let form = form::form_only(snapshot, store, form)?;
    let mut message = change::commit_message(MessageInput {
        plan: &planning.plan,
        previous: &previous,
        changes: &form::told_apart(store, &difference.changes, form.as_ref(), tree)?,
        prefix: &snapshot.input.prefix,
        gates: &gates,
        set_back: &set_back,
        pending: status.counts.pending,
    });
    if let Some(form) = form.as_ref().filter(|form| form.tree == tree) {
        message = change::with_form(&form.message, &message);
    }
    let work = Work {
        blobs_parsed: loaded.parsed,
        clusters_planned: planning.plan.evaluated,
        workers_counted: planning.counted_anew,
        clusters_rendered: rendered,
        objects_written: difference.objects,
    };
    let reported = observed.digest();
    let earliest = [valid_until, planning.plan.valid_until].into_iter().flatten().min();
    Ok(Proposal {
        tree,
        base: snapshot.previous,
        fold_tree: status.fold,
        status_tree: status.all,
        status_base: snapshot.status,
        changes: difference.changes,
        form,
        fleet: loaded.fleet,
        previous,
        observed,
        asked,
        plan: planning.plan,
        pending: PendingReasons::default(),
        ahead: WaitingAhead::default(),
        gates,
        survey: drift.survey,
        diagnostics,
        stopped: false,
        work,
        counts: status.counts,
        reported,
        valid_until: earliest,
        message,
    })
}
