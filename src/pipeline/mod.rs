//! `propose`: the only composition of the pure core. validate, plan, render, reconcile and the rest all
//! call it.
//!
//! ```text
//! load → fold → plan → guard → render → gate → change
//! ```

mod control_plane;
mod deletion;
mod folders;
mod found;
mod output;
mod records;
mod settle;
mod status;
mod whole;
mod worker_tree;

use std::collections::{BTreeMap, BTreeSet};

use crate::change::{self, Acknowledged, GuardInput};
use crate::diag::{Code, Diagnostic, Diagnostics, FieldPath, Place};
use crate::load::{self, Loaded};
use crate::model::{
    Dir, Hold, HoldKind, Id, Memo, Name, Observed, Plan, Previous, Proposal, Snapshot, Store,
    StoreError, Work, paths,
};
use crate::plan::{self, FoldInput, PlanInput, Planning};
use crate::render::Templates;

pub use status::fleet_document;

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
    let read = Read::new(snapshot, store, memo)?;
    if read.stopped {
        return read.stop(snapshot, store, Vec::new());
    }
    if let Some(hold) = rewound(snapshot, &read) {
        return read.stop(snapshot, store, vec![hold]);
    }
    let mut frozen = BTreeSet::new();
    let (planning, written, good) = loop {
        let Decided { mut planning, spent, good } = decide(snapshot, store, memo, &read, &frozen)?;
        let mut run = output::Run::new(snapshot, store, &read, &mut planning.plan);
        run.spent = change::spend(&read.loaded.fleet, read.previous.fleet.as_ref(), &good, &spent);
        let written = run.write()?;
        // What keeps its last good folder keeps what that takes. Others may have been given the room,
        // so such a resize is taken out and everything is decided again.
        if written.not_resized.is_subset(&frozen) {
            break (planning, written, good);
        }
        frozen.extend(written.not_resized);
    };
    settle::remember(memo, &planning, &read);
    finish(snapshot, store, memo, read, planning, written, &good)
}

/// Everything that was read, before anything is decided.
struct Read {
    loaded: Loaded,
    previous: Previous,
    observed: Observed,
    diagnostics: Diagnostics,
    templates: Templates,
    valid_until: Option<jiff::Timestamp>,
    stopped: bool,
}

impl Read {
    fn new(snapshot: &Snapshot, store: &dyn Store, memo: &mut Memo) -> Result<Self, StoreError> {
        let mut loaded = load::load(&snapshot.input, store, memo)?;
        let mut diagnostics = std::mem::take(&mut loaded.diagnostics);
        let prefix = &snapshot.input.prefix;
        let (previous, found) = load::previous(store, snapshot.previous, prefix, memo)?;
        let mut stopped = loaded.fleet_broken || found.has_errors();
        diagnostics.extend(found);
        if !stopped {
            let found = whole::check(snapshot, store, &previous)?;
            stopped = !found.is_empty();
            diagnostics.extend(found);
        }
        if !stopped && let Some(empty) = empty_read(&loaded, &previous) {
            diagnostics.push(empty);
            stopped = true;
        }
        let (last, found) = load::folded(store, snapshot.status, prefix)?;
        stopped |= found.has_errors();
        diagnostics.extend(found);
        let reports = snapshot.reports.as_ref().map(load::reports);
        let (reports, found) = reports
            .map_or((None, Diagnostics::default()), |(reports, found)| (Some(reports), found));
        diagnostics.extend(found);
        let raw = snapshot.reports.iter().flat_map(BTreeMap::keys);
        let unusable = raw.filter(|w| reports.as_ref().is_some_and(|r| !r.contains_key(*w)));
        let fold = plan::fold(&FoldInput {
            last: &last,
            reports: reports.as_ref(),
            unusable: &unusable.cloned().collect(),
            workers: &loaded.fleet.workers,
            now: snapshot.now,
        });
        diagnostics.extend(fold.diagnostics);
        let (templates, found) = Templates::built_in().with(&loaded.templates);
        diagnostics.extend(found);
        let valid_until = fold.valid_until;
        let observed = fold.observed;
        Ok(Self { loaded, previous, observed, diagnostics, templates, valid_until, stopped })
    }

    /// A run that may not change the output: what it found, and the tree as it was.
    fn stop(
        self,
        snapshot: &Snapshot,
        store: &dyn Store,
        holds: Vec<Hold>,
    ) -> Result<Proposal, StoreError> {
        let tree = snapshot.previous.map_or_else(|| store.put_dir(&Dir::default()), Ok)?;
        let status_tree = snapshot.status.map_or_else(|| store.put_dir(&Dir::default()), Ok)?;
        let work = Work { blobs_parsed: self.loaded.parsed, ..Work::default() };
        Ok(Proposal {
            tree,
            base: Some(tree),
            fold_tree: status_tree,
            status_tree,
            status_base: Some(status_tree),
            changes: Vec::new(),
            fleet: self.loaded.fleet,
            previous: self.previous,
            observed: self.observed,
            plan: Plan { holds, ..Plan::default() },
            gates: Vec::new(),
            diagnostics: self.diagnostics,
            stopped: true,
            work,
            valid_until: None,
            message: String::new(),
        })
    }
}

/// An empty read is never an empty fleet.
fn empty_read(loaded: &Loaded, previous: &Previous) -> Option<Diagnostic> {
    let fleet = &loaded.fleet;
    let nothing =
        fleet.clusters.is_empty() && fleet.workers.is_empty() && fleet.unloaded.is_empty();
    let known = previous.workers.len() + previous.bound() + previous.pending.clusters.len();
    (nothing && known > 0).then(|| {
        let root = fleet.spec.roots.clone().unwrap_or_default().fleet;
        let message = format!(
            "there is no document below `{root}/`, and the last output has {known} clusters and workers"
        );
        let place = Place::field(paths::FLEET_FILE, 0, FieldPath::keys("spec.roots.fleet"));
        Diagnostic::new(Code::FleetEmpty, message).at(place).help(format!(
            "check that `{root}/` is there and that `spec.roots.fleet` names it; an empty read is taken \
             for a mistake, so nothing changes"
        ))
    })
}

/// A rewound input branch is held until somebody says that it is meant.
fn rewound(snapshot: &Snapshot, read: &Read) -> Option<Hold> {
    let from = snapshot.input.rewound_from?;
    let hold = Hold { kind: HoldKind::Rewind, names: vec![from.to_string()], allowed: None };
    let good = Acknowledged::new(&read.loaded.fleet, read.previous.fleet.as_ref());
    let of = crate::model::api::AcknowledgementKind::Rewind;
    good.covers(of, &hold).is_none().then_some(hold)
}

/// The decisions, after the guards.
struct Decided {
    planning: Planning,
    spent: Vec<Name>,
    good: Acknowledged,
}

fn decide(
    snapshot: &Snapshot,
    store: &dyn Store,
    memo: &Memo,
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
    let mut planning = plan::plan(&PlanInput {
        fleet,
        previous: &read.previous,
        observed: &read.observed,
        settled: memo.settled.as_ref(),
        pending_id: pending.map(|e| e.id),
        frozen,
    });
    let good = Acknowledged::new(fleet, read.previous.fleet.as_ref());
    let input = GuardInput { fleet, previous: &read.previous };
    let mut spent = change::guard(&mut planning.plan, input, &good);
    if let Some(from) = snapshot.input.rewound_from {
        let hold = Hold { kind: HoldKind::Rewind, names: vec![from.to_string()], allowed: None };
        spent.extend(good.covers(crate::model::api::AcknowledgementKind::Rewind, &hold));
    }
    Ok(Decided { planning, spent, good })
}

fn finish(
    snapshot: &Snapshot,
    store: &dyn Store,
    memo: &mut Memo,
    read: Read,
    planning: Planning,
    written: output::Written,
    good: &Acknowledged,
) -> Result<Proposal, StoreError> {
    let Read { loaded, previous, observed, mut diagnostics, valid_until, .. } = read;
    diagnostics.extend(change::mismatches(&loaded.fleet, good, &planning.plan.holds));
    let output::Written { tree, gates, found, rendered, collided, .. } = written;
    diagnostics.extend(found);
    let tree = if collided { base_tree(snapshot, store)? } else { tree };
    let difference = change::diff(store, snapshot.previous, Some(tree))?;
    let status =
        status::Documents { fleet: &loaded.fleet, previous: &previous, observed: &observed };
    let status = status.write(snapshot, store, memo, &planning.plan, &gates)?;
    let message = change::commit_message(
        &planning.plan,
        &previous,
        &difference.changes,
        &snapshot.input.prefix,
        &gates,
    );
    let work = Work {
        blobs_parsed: loaded.parsed,
        clusters_planned: planning.plan.evaluated,
        clusters_rendered: rendered,
        objects_written: difference.objects,
    };
    let earliest = [valid_until, planning.plan.valid_until].into_iter().flatten().min();
    Ok(Proposal {
        tree,
        base: snapshot.previous,
        fold_tree: status.fold,
        status_tree: status.all,
        status_base: snapshot.status,
        changes: difference.changes,
        fleet: loaded.fleet,
        previous,
        observed,
        plan: planning.plan,
        gates,
        diagnostics,
        stopped: collided,
        work,
        valid_until: earliest,
        message,
    })
}

fn base_tree(snapshot: &Snapshot, store: &dyn Store) -> Result<Id, StoreError> {
    snapshot.previous.map_or_else(|| store.put_dir(&Dir::default()), Ok)
}

/// Files of one folder, by path in it.
type Files = BTreeMap<String, Vec<u8>>;
