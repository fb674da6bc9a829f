//! Looking at a fleet without changing it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::show::age::since;
use super::super::{Context, Error, FleetArgs, ObjectKind, ObservedArgs};
use super::unknown::unknown;
use super::{Diffs, FleetSource, OpenedFleet, RenderPart, Rendered, TextOf};
use crate::change::entry_at;
use crate::model::{
    Build, Digest, Dir, Entry, EntryKind, Id, Input, Memo, Name, Proposal, Snapshot, Store,
    StoreError, Verification, paths,
};
use crate::pipeline::{self, Sought};
use crate::reconcile::{
    self, Brought, FleetPlace, InputHistory, Keep, LookFor, MissingBranches, Observing, RunClock,
    SourceStores,
};
use crate::store::{Prune, checkout};
use crate::verify;

/// A look at a fleet, with the stores that it was read from.
pub(super) struct FleetLook {
    pub(super) opened: OpenedFleet,
    /// What the last run verified besides, where that was asked for and still is so.
    pub(super) verified: Option<Verification>,
    /// The input tree.
    pub(super) input: Id,
    /// The commit that it is of, or stands on.
    pub(super) tip: Option<Id>,
    pub(super) sources: std::rc::Rc<SourceStores>,
    pub(super) now: jiff::Timestamp,
    pub(super) snapshot: Snapshot,
    pub(super) memo: Memo,
}

/// What of a plan will be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// What changes, and what waits.
    Changes,
    /// Every cluster.
    Everything,
}

/// Reads a fleet and proposes.
pub(super) fn look(
    context: &Context<'_, '_>,
    fleet: &FleetArgs,
    observed: &ObservedArgs,
    keep: Keep,
) -> Result<FleetLook, Error> {
    look_for(context, fleet, &observing(observed), (keep, None))
}

/// Reads a fleet for what is about what people wrote, which says as much in a clone that lacks the branches that
/// carp writes. What is sought is no more than a part of it.
pub(super) fn look_at_input(
    context: &Context<'_, '_>,
    fleet: &FleetArgs,
    observed: &ObservedArgs,
    sought: Option<Sought>,
) -> Result<FleetLook, Error> {
    look_at_input_with(context, fleet, &observing(observed), sought)
}

/// Reads a fleet as [`look_at_input`] does, told what else it stands on.
pub(super) fn look_at_input_with(
    context: &Context<'_, '_>,
    fleet: &FleetArgs,
    observing: &Observing,
    sought: Option<Sought>,
) -> Result<FleetLook, Error> {
    let (missing, signed) = (MissingBranches::Noted, sought == Some(Sought::Findings));
    let observing = Observing { signed, missing, ..observing.clone() };
    look_for(context, fleet, &observing, (Keep::Ids, sought))
}

/// What a look reads besides the fleet.
pub(super) fn observing(observed: &ObservedArgs) -> Observing {
    Observing {
        folder: observed.observed.clone(),
        first_run: observed.first_run,
        missing: MissingBranches::Brought,
        ..Observing::default()
    }
}

/// What a look reads that shows what a reconcile would do: what that would read.
pub(super) fn as_reconcile(observed: &ObservedArgs) -> Observing {
    Observing { signed: true, rewind: true, ..observing(observed) }
}

/// Looks at a fleet as a past run saw it.
pub(super) fn look_past(
    context: &Context<'_, '_>,
    fleet: &FleetArgs,
    revision: &str,
    keep: Keep,
) -> Result<FleetLook, Error> {
    let place =
        FleetPlace::of_past(&fleet.fleet, &cache(context)).map_err(|error| failed(&error))?;
    let shown_prefix = place.folder.as_deref().map(shown).unwrap_or_default();
    let opened = reconcile::open_past(place, revision, clock(context), &build(context), keep);
    Ok(looked(fleet, opened.map_err(|error| failed(&error))?, shown_prefix))
}

/// Looks at a fleet for what needs no more than a part of it, where something is sought.
pub(super) fn look_for(
    context: &Context<'_, '_>,
    fleet: &FleetArgs,
    observing: &Observing,
    (keep, sought): (Keep, Option<Sought>),
) -> Result<FleetLook, Error> {
    let of = LookFor { sought, program: program(context) };
    let place = find(context, fleet)?;
    let shown_prefix = place.folder.as_deref().map(shown).unwrap_or_default();
    let open =
        |place| reconcile::open(place, clock(context), observing, &build(context), (keep, &of));
    let opened = match open(place) {
        // A damaged clone of carp's own is no matter of the person's who looks.
        Err(error)
            if error.is_damage()
                && FleetPlace::renew(&fleet.fleet, &cache(context))
                    .map_err(|error| failed(&error))? =>
        {
            open(find(context, fleet)?)
        }
        opened => opened,
    };
    Ok(looked(fleet, opened.map_err(|error| failed(&error))?, shown_prefix))
}

pub(super) fn looked(
    fleet: &FleetArgs,
    opened: reconcile::Opened,
    shown_prefix: String,
) -> FleetLook {
    let reconcile::Opened { proposal, verified, snapshot, tip, memo, sources, mut notes, brought } =
        opened;
    let (input, prefix, now) = (snapshot.input.tree, snapshot.input.prefix.clone(), snapshot.now);
    notes.extend(brought.map(|brought| brought_words(&brought, now)));
    let sources = std::rc::Rc::new(sources);
    let source = FleetSource {
        label: crate::git::Redacted::new(&fleet.fleet).to_string(),
        prefix: prefix.clone(),
        shown_prefix,
        notes,
        text: text_of(std::rc::Rc::clone(&sources), input, prefix),
    };
    let opened = OpenedFleet {
        proposal,
        source,
        diffs: Vec::new(),
        telling: 0,
        updates: BTreeMap::new(),
        certificate: Vec::new(),
        against: None,
    };
    FleetLook { opened, verified, input, tip, sources, now, snapshot, memo }
}

/// What was brought, and how old it is: a clone that is not fetched again stays at that.
fn brought_words(brought: &Brought, now: jiff::Timestamp) -> String {
    let Brought { branches, remote, made } = brought;
    let age = since(*made, now);
    let were = if branches.len() == 1 { "it was" } else { "they were" };
    let branches = branches.join(" and ");
    format!(
        "this clone lacked {branches}, so {were} brought from {remote}; the last output commit is {age} old"
    )
}

impl FleetLook {
    /// Works out what the updates do, and compares the files that change where that is asked for.
    pub(super) fn show(&mut self, diffs: Diffs) -> Result<(), Error> {
        let OpenedFleet { proposal, source, .. } = &self.opened;
        let prefix = &source.prefix;
        let told = self.sources.with(|store| {
            let updates = pipeline::updates(store, proposal, prefix, &self.snapshot.build.work);
            let shown = match diffs {
                Diffs::Shown => super::diffs::telling(store, proposal, prefix, &updates),
                Diffs::Left => (Vec::new(), 0),
            };
            (updates, shown)
        });
        let (updates, (shown, telling)) = told.map_err(|error| failed(&error))?;
        let opened = &mut self.opened;
        (opened.updates, opened.diffs, opened.telling) = (updates, shown, telling);
        Ok(())
    }
}

impl FleetLook {
    /// What `validate` looks at besides the documents of this fleet, or of what a plan was made of by another `input`.
    pub(super) fn verify(&self, input: Id, proposal: &Proposal) -> Result<Verification, Error> {
        let input = Input::of_files(input, &self.opened.source.prefix);
        let verified = self
            .sources
            .with(|store| verify::fleet(&input, store, &proposal.fleet, &proposal.previous));
        let verified = verified.map_err(|error| failed(&error))?;
        verified.map_err(|error| failed(&error.into()))
    }

    /// Finds what people wrote that forced the deletions and moves which begin.
    pub(super) fn certify(&mut self) -> Result<(), Error> {
        let OpenedFleet { proposal, source, .. } = &self.opened;
        let (Some(repository), Some(tip)) = (&self.sources.repository, self.tip) else {
            return Ok(());
        };
        let certificate = self.sources.with(|store| {
            let (tree, prefix) = (self.input, source.prefix.as_str());
            InputHistory { repository, store, tree, tip, prefix }.certificate(proposal)
        });
        self.opened.certificate = certificate.map_err(|error| failed(&error))?;
        Ok(())
    }
}

/// Finds the fleet that the arguments name.
pub(super) fn find(context: &Context<'_, '_>, fleet: &FleetArgs) -> Result<FleetPlace, Error> {
    FleetPlace::find(&fleet.fleet, &cache(context)).map_err(|error| failed(&error))
}

/// The time of the run.
pub(super) fn clock(context: &Context<'_, '_>) -> RunClock {
    RunClock { given: context.pinned_now, wall: (context.io.clock)() }
}

/// Who runs.
pub(super) fn build(context: &Context<'_, '_>) -> Build {
    let (version, work) = (env!("CARGO_PKG_VERSION").to_owned(), context.work.clone());
    Build { version, work, threads: context.io.threads }
}

/// What tells this program from any other: its version, and its file's size and time. A program without a file
/// of its own is not told from others.
pub(super) fn program(context: &Context<'_, '_>) -> Option<Digest> {
    let file = std::fs::metadata(context.io.program.as_ref()?).ok()?;
    let at = file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Digest::of_value(&(build(context).version, file.len(), at.as_nanos())))
}

/// A failure of the rooms below, as the command line tells it.
pub(super) fn failed(error: &reconcile::Error) -> Error {
    let told = Error { exit: error.into(), ..Error::failed(error.to_string()) };
    match error {
        reconcile::Error::Revision { .. } => {
            told.help("name the folder alone; `carp plan` takes FOLDER@REV")
        }
        _ => told,
    }
}

/// Where clones of remote fleets are kept: the user's cache folder.
pub(super) fn cache(context: &Context<'_, '_>) -> PathBuf {
    let env = |key: &str| context.io.env.get(key).filter(|v| !v.is_empty()).map(PathBuf::from);
    env("XDG_CACHE_HOME")
        .or_else(|| env("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(|| context.io.folder.join(".cache"))
        .join("carp")
}

/// The fleet's folder as it is seen from the current one; empty where it is that one.
pub(super) fn shown(folder: &Path) -> String {
    let text = folder.display().to_string();
    if text == "." { String::new() } else { text.trim_end_matches('/').to_owned() }
}

/// Reads the text of a file of the fleet.
pub(super) fn text_of(sources: std::rc::Rc<SourceStores>, input: Id, prefix: String) -> TextOf {
    Box::new(move |path| {
        let path = paths::in_repository(&prefix, path);
        sources.with(|store| text_at(store, input, &path)).ok().flatten()
    })
}

/// The text at a path of a tree, as far as it can be read.
pub(super) fn text_at(store: &dyn Store, tree: Id, path: &str) -> Option<String> {
    let entry = entry_at(store, tree, path).ok().flatten()?;
    let bytes = store.blob(entry.id).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes the output tree, or a part of it, below a new or empty folder.
pub(super) fn write_out(
    look: FleetLook,
    out: &Path,
    part: &RenderPart,
    prune: Prune,
) -> Result<Rendered, Error> {
    known(&look, part)?;
    let tree = look.opened.proposal.tree;
    let prefix = &look.opened.source.prefix;
    let written = look.sources.with(|store| {
        let tree = selected(store, tree, prefix, part, &look)?;
        checkout(store, tree, out, prune)
    });
    let written = written.map_err(|error| failed(&error))?.map_err(|error: StoreError| {
        Error::failed(format!("failed to write {}", out.display())).because(error)
    })?;
    let files = (written.written.len() + written.unchanged) as u64;
    Ok(Rendered { opened: look.opened, changed: written, files })
}

/// Refuses a part of which the plan knows nothing. Where nothing could be planned the findings say why.
fn known(look: &FleetLook, part: &RenderPart) -> Result<(), Error> {
    if look.opened.proposal.stopped {
        return Ok(());
    }
    let plan = &look.opened.proposal.plan;
    if let Some(name) = part.worker.as_ref().filter(|name| !plan.workers.contains_key(*name)) {
        return Err(unknown(&look.opened.proposal, Some(ObjectKind::Worker), name));
    }
    if let Some(name) = part.cluster.as_ref().filter(|name| !plan.clusters.contains_key(*name)) {
        return Err(unknown(&look.opened.proposal, Some(ObjectKind::Cluster), name));
    }
    Ok(())
}

/// The tree with only the asked part in it.
fn selected(
    store: &dyn Store,
    tree: Id,
    prefix: &str,
    part: &RenderPart,
    look: &FleetLook,
) -> Result<Id, StoreError> {
    let mut wanted = Vec::new();
    if let Some(worker) = &part.worker {
        wanted.extend([paths::worker(worker), paths::control_plane(worker)]);
    }
    if let Some(cluster) = &part.cluster {
        wanted.push(paths::decision(cluster));
        wanted.extend(worker_of(look, cluster).map(|worker| paths::cluster(&worker, cluster)));
    }
    if wanted.is_empty() {
        return Ok(tree);
    }
    let mut edit = crate::change::TreeEdit::default();
    for path in wanted.iter().map(|path| paths::in_repository(prefix, path)) {
        match entry_at(store, tree, &path)? {
            Some(Entry { kind: EntryKind::Dir, id }) => edit.dir(&path, id),
            Some(entry) => edit.file(&path, entry.id),
            None => {}
        }
    }
    let empty = store.put_dir(&Dir::default())?;
    edit.apply(store, Some(empty))
}

fn worker_of(look: &FleetLook, cluster: &Name) -> Option<Name> {
    look.opened.proposal.plan.clusters.get(cluster)?.decision.worker().cloned()
}
