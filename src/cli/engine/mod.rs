//! The one place where commands meet the rest of carp.
//!
//! Commands print; what they print comes from here, as values. Everything that reads a fleet, plans,
//! renders, commits or pushes on behalf of a command is one of these functions.

mod against;
mod agent;
mod bootstrap;
mod control;
pub(super) mod crds;
mod data_stores;
mod demo;
mod diffs;
mod drain;
mod explain;
mod kind;
mod left;
mod open;
mod overrides;
mod policy;
mod pool;
mod process_end;
mod publishers;
mod pulled;
mod reconcile;
mod replay;
mod simulate;
mod status;
pub mod supervise;
pub(super) mod templates;
mod unknown;
mod unread;
mod wanted;
mod watching;
mod writable;
mod zones;

use std::collections::BTreeMap;
use std::path::Path;

use super::show::findings::LocateInFile;
use super::show::plan::{AgainstView, FileDiff};
use super::show::reconcile::TurnView;
use super::show::{DemoView, DrainedView, ExplainView, ReplayView, StatusView};
use super::{
    AgainstArgs, Context, Error, FleetArgs, FolderArgs, ObjectKind, ObjectRef, ObservedArgs,
};
use crate::change::Certified;
use crate::model::{Name, Proposal, Turn, TurnForge, TurnStatus, Verification};
use crate::pipeline::{Sought, Update};
use crate::reconcile::{Keep, Observing, Verdict};
use crate::store::{CheckedOut, Prune};

pub use control::Control;
pub use open::Told;
pub use reconcile::{TurnArgs, turn, without_news};
pub use status::Query;
pub use watching::Watching;
pub use writable::{Writable, writable};

pub use simulate::{SimulateOptions, SimulatedTime, WhatIf, simulate};

pub use agent::agent;
pub use kind::{KindController, KindHost, KindTree, kind_apply, kind_run, state_folder};

/// Reads the text of a file, by its path relative to the fleet's root.
pub type TextOf = Box<dyn Fn(&str) -> Option<String>>;

/// A fleet that was read, and what `propose` made of it.
pub struct OpenedFleet {
    /// What would be committed, and why.
    pub proposal: Proposal,
    /// Where the fleet came from.
    pub source: FleetSource,
    /// What changes in each file, where that was asked for.
    pub diffs: Vec<FileDiff>,
    /// How many files there are like that, also beyond those that were compared.
    pub telling: usize,
    /// What the updates of clusters do, for `plan`.
    pub updates: BTreeMap<Name, Update>,
    /// What people wrote that forced each deletion and move which begins, for `plan`.
    pub certificate: Vec<Certified>,
    /// What it was merged into, where that was asked for: then only what the change causes is here.
    pub against: Option<AgainstView>,
}

/// Whether what changes in each file will be shown, line by line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diffs {
    /// It will: the bytes of what is rendered are kept.
    Shown,
    /// It will not: ids are enough.
    Left,
}

/// Where a fleet came from, as far as output needs it.
pub struct FleetSource {
    /// What the user called it: a folder, `FOLDER@REV` or a URL.
    pub label: String,
    /// The fleet's root in its repository: empty, or a path without a `/` at its ends.
    pub prefix: String,
    /// The fleet's root as it is seen from the current folder, so that a terminal can open the paths
    /// that findings name. Empty where it is the current folder or no folder at all.
    pub shown_prefix: String,
    /// Lines that people should know before they read the output: uncommitted edits that are ignored,
    /// a missing ref with the fetch line that brings it.
    pub notes: Vec<String>,
    /// The text of a file, by its path relative to the fleet's root.
    pub text: ReadText,
}

/// Reads the text of a file of the fleet.
pub type ReadText = Box<dyn Fn(&str) -> Option<String>>;

/// Which part of the output `render` writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderPart {
    /// Only this worker's folders.
    pub worker: Option<Name>,
    /// Only this cluster's folder and record.
    pub cluster: Option<Name>,
}

impl RenderPart {
    /// What of the fleet says it; `None` where that is everything.
    fn sought(&self) -> Option<Sought> {
        self.cluster.clone().filter(|_| self.worker.is_none()).map(Sought::Cluster)
    }
}

/// What `render` wrote.
pub struct Rendered {
    /// What it was made from.
    pub opened: OpenedFleet,
    /// The files that were written and that were removed. Where a folder was written anew, those that differ.
    pub changed: CheckedOut,
    /// How many files were written.
    pub files: u64,
}

/// How one turn of the reconciler went.
pub enum Turned {
    /// It looked at everything.
    Through(Box<Reconciled>),
    /// It ended at once: nothing is different from a turn that found nothing to do and nothing to tell.
    Settled(Box<Turn>),
}

/// What one turn of the reconciler did.
pub struct Reconciled {
    /// What it was made from.
    pub opened: OpenedFleet,
    /// How the turn ended.
    pub verdict: Verdict,
    /// How the status branch fared: `None` where nothing was to be written.
    pub status: Option<TurnStatus>,
    /// How the forge was told; `None` where there was nothing to tell.
    pub forge: Option<TurnForge>,
    /// How often a push was lost to another writer and planned again.
    pub races: u32,
    /// The time that was used.
    pub now: jiff::Timestamp,
}

impl Reconciled {
    /// It, as far as people are told.
    #[must_use]
    pub fn view(&self) -> TurnView<'_> {
        let Self { opened, verdict, status, forge, races, now: _ } = self;
        TurnView {
            proposal: &opened.proposal,
            label: &opened.source.label,
            prefix: &opened.source.prefix,
            verdict,
            status: status.as_ref(),
            forge: forge.as_ref(),
            races: *races,
        }
    }
}

/// A fleet with all that is found in it.
pub struct Validated {
    /// What was made of it; its diagnostics have what the policy tests found, too.
    pub opened: OpenedFleet,
    /// What was verified besides, and how much of it.
    pub verified: Verification,
}

/// Reads a fleet, proposes and verifies: `validate`.
///
/// # Errors
/// The fleet or its repository cannot be read.
pub fn validate(
    context: &mut Context<'_, '_>,
    fleet: &FleetArgs,
    observed: &ObservedArgs,
    against: &AgainstArgs,
) -> Result<Validated, Error> {
    let _progress = context.progress("reading, placing and rendering the fleet");
    if let Some(asked) = against::asked(context, fleet, against)? {
        return against::validate(context, fleet, observed, &asked);
    }
    let observing = Observing { crds: crds::said(against)?, ..open::observing(observed) };
    let mut look = open::look_at_input_with(context, fleet, &observing, Some(Sought::Findings))?;
    if look.opened.proposal.stopped {
        return Ok(Validated { opened: look.opened, verified: Verification::default() });
    }
    let verified = match look.verified.take() {
        Some(verified) => verified,
        None => look.verify(look.input, &look.opened.proposal)?,
    };
    look.opened.proposal.diagnostics.extend(verified.findings.iter().cloned());
    Ok(Validated { opened: look.opened, verified })
}

/// Reads a fleet and proposes: `plan`.
///
/// # Errors
/// The fleet or its repository cannot be read.
pub fn propose(
    context: &mut Context<'_, '_>,
    fleet: &FleetArgs,
    observed: &ObservedArgs,
    against: &AgainstArgs,
    (diffs, told): (Diffs, Told),
) -> Result<OpenedFleet, Error> {
    let _progress = context.progress("reading, placing and rendering the fleet");
    if let Some(asked) = against::asked(context, fleet, against)? {
        return against::propose(context, fleet, observed, &asked, diffs);
    }
    let sought = match told {
        Told::Changes => Sought::Changes,
        Told::Everything => Sought::Plan,
    };
    let asked = (Keep::Telling, Some(sought));
    let observing = Observing { crds: crds::said(against)?, ..open::as_reconcile(observed) };
    let mut look = open::look_for(context, fleet, &observing, asked)?;
    look.show(diffs)?;
    look.certify()?;
    Ok(look.opened)
}

/// Renders, and writes the output tree, or a part of it, below `out`: a new or empty folder.
///
/// # Errors
/// The fleet cannot be read, the part names nothing, or `out` cannot be written to.
pub fn render(
    context: &mut Context<'_, '_>,
    fleet: &FleetArgs,
    observed: &ObservedArgs,
    out: &Path,
    part: &RenderPart,
) -> Result<Rendered, Error> {
    if out.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::usage(format!("{} is not empty", out.display()))
            .help("name a folder that does not exist yet"));
    }
    let _progress = context.progress("rendering the fleet");
    let asked = (Keep::Bytes, part.sought());
    let look = open::look_for(context, fleet, &open::as_reconcile(observed), asked)?;
    open::write_out(look, out, part, Prune::Keep)
}

/// Works out why a cluster is where it is, what a worker needs, or where a policy applies; as a past run
/// saw it, where its commit is named. It comes with what people should know of that. With `bootstrap`, also what
/// brings the worker up.
///
/// # Errors
/// The fleet or the past cannot be read, or has no such object.
pub fn explain(
    context: &mut Context<'_, '_>,
    fleet: &FleetArgs,
    observed: &ObservedArgs,
    object: &ObjectRef,
    at: Option<&str>,
    bootstrap: bool,
) -> Result<ExplainView, Error> {
    let _progress = context.progress("reading and placing the fleet");
    let observing = open::observing(observed);
    let open = |sought| match at {
        None => open::look_for(context, fleet, &observing, (Keep::Ids, sought)),
        Some(revision) => open::look_past(context, fleet, revision, Keep::Ids),
    };
    let is_cluster = object.kind.is_none_or(|kind| kind == ObjectKind::Cluster) && !bootstrap;
    let mut look = open(is_cluster.then(|| Sought::Reasons(object.name.clone())))?;
    let mut explained = explain::explain(&look, object)?;
    if explained.is_none() {
        look = open(None)?;
        explained = explain::explain(&look, object)?;
    }
    let unknown = || unknown::unknown(&look.opened.proposal, object.kind, &object.name);
    let mut view = explained.ok_or_else(unknown)?;
    view.warnings.extend(unread::decided(&look)?);
    if bootstrap {
        view.bootstrap = bootstrap::steps(&look, &object.name)?;
    }
    context.leave(look);
    Ok(view)
}

/// Proposes past commits of the output branch again: one, or those of `A..B`. Without a name it is the
/// tip.
///
/// # Errors
/// The fleet or its repository cannot be read, or the name leads to no commit.
pub fn replay(
    context: &mut Context<'_, '_>,
    fleet: &FleetArgs,
    revision: Option<&str>,
) -> Result<ReplayView, Error> {
    let _progress = context.progress("replaying");
    replay::replay(context, fleet, revision)
}

/// The status of workers, pools and clusters, as far as it is asked for.
///
/// # Errors
/// The fleet cannot be read, or has no such object.
pub fn status(
    context: &mut Context<'_, '_>,
    fleet: &FleetArgs,
    observed: &ObservedArgs,
    query: &Query,
) -> Result<StatusView, Error> {
    let _progress = context.progress("reading and placing the fleet");
    let asked = (Keep::Bytes, query.sought());
    let look = open::look_for(context, fleet, &open::observing(observed), asked)?;
    let unread = unread::decided(&look)?;
    let mut view = status::status(&look, query)?;
    view.warnings.extend(unread);
    Ok(view)
}

/// One turn: observe, propose, commit, push.
///
/// # Errors
/// A repository or remote failed, or the folder is no fleet's root.
pub fn reconcile_once(context: &mut Context<'_, '_>, args: &TurnArgs<'_>) -> Result<Turned, Error> {
    let _progress = context.progress("reconciling the fleet");
    reconcile::once(context, args)
}

/// Turn after turn, until the process is told to stop.
///
/// # Errors
/// As for [`turn`]; the address is taken, the secret cannot be read, or there is no cluster
/// for the election.
pub fn reconcile_for_ever(
    context: &mut Context<'_, '_>,
    args: &TurnArgs<'_>,
    control: Control,
) -> Result<(), Error> {
    control::control(context, args, control)
}

/// Makes the demonstration in a folder: a bare remote, a clone of it, one turn of the reconciler.
///
/// # Errors
/// The folder is there and was not made by the demonstration, or git failed.
pub fn demo(context: &mut Context<'_, '_>, folder: &Path) -> Result<DemoView, Error> {
    let _progress = context.progress("making a remote, a clone and the first commit");
    demo::demo(context, folder)
}

/// What becomes of the clusters on a worker that the folder's files drain.
///
/// # Errors
/// There is no fleet, or it cannot be read.
pub fn drained(
    context: &mut Context<'_, '_>,
    args: &FolderArgs,
    worker: &Name,
) -> Result<DrainedView, Error> {
    let fleet = reconcile::argument(&args.fleet);
    let look = open::look_at_input(context, &fleet, &ObservedArgs::default(), None)?;
    unread::decided(&look)?;
    Ok(drain::drained(&look.opened.proposal.plan, worker))
}

/// Finds where places are in the text of one file, and how many characters they cover.
#[must_use]
pub fn locator() -> LocateInFile {
    let mut file = crate::load::FileLocator::default();
    Box::new(move |text, place| {
        file.locate(text, place).map(|located| (located.position, located.length))
    })
}
