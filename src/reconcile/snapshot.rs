//! What one run sees: a snapshot, and the stores that its ids are read from.

use std::path::PathBuf;

use jiff::Timestamp;

use super::first_run::Ground;
use super::look::{Look, Read};
use super::missing::{Brought, MissingBranches, Written, written};
use super::notes::hand_edits;
use super::refresh::refresh;
use super::reports::{Reporting, Reports, reports_in_folder, reports_in_tree};
use super::{Error, Names, Place};
use crate::git::{GitStore, Gone, RefSpec, Repository};
use crate::load;
use crate::model::api::FleetSpec;
use crate::model::{Build, Id, Input, Memo, MemoKey, Proposal, Snapshot, Store, paths};
use crate::store::{
    BoundedStore, FolderStore, HashingStore, MemoryStore, Overlay, load_memo, save_memo,
};

/// How many bytes of files are kept to tell what changes in them.
const MOST_TOLD: usize = 256 << 20;

/// The time, and who tells it. The room that reads the clock is `cli/`.
#[derive(Clone, Copy)]
pub struct Clock {
    /// What a person gave with `--now`.
    pub given: Option<Timestamp>,
    /// What the clock on the wall said when the run began.
    pub wall: Timestamp,
}

/// Where reports come from, besides the agents' refs, and who is believed.
#[derive(Clone, Debug, Default)]
pub struct Observing {
    /// The folder given with `--observed`.
    pub folder: Option<PathBuf>,
    /// Whether a look holds an input commit that a reconcile would hold because nobody who may has
    /// signed it.
    pub signed: bool,
    /// Whether a look holds an input branch that was rewound, as a reconcile would.
    pub rewind: bool,
    /// Whether a person said that no cluster of the fleet runs yet.
    pub first_run: bool,
    /// What becomes of a look for which a branch that carp writes is not here.
    pub missing: MissingBranches,
}

/// A proposal, and what is needed to show it.
pub struct Opened {
    /// What would be committed.
    pub proposal: Proposal,
    /// The fleet's root in its repository.
    pub prefix: String,
    /// The input tree, whose files findings speak of.
    pub input: Id,
    /// The time that was used.
    pub now: Timestamp,
    /// What was seen.
    pub snapshot: Snapshot,
    /// What is known of its files.
    pub memo: Memo,
    /// The objects.
    pub sources: Sources,
    /// What a person should know: a missing output branch with the line that brings it.
    pub notes: Vec<String>,
    /// Branches that this clone lacked and that were brought.
    pub brought: Option<Brought>,
}

/// What a look at a fleet keeps of what it makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Its ids: enough to know which tree would be committed.
    Ids,
    /// The bytes of the first files too, to tell what changes in them.
    Telling,
    /// Its bytes too, to show them or to write them to files.
    Bytes,
}

impl Keep {
    /// A store for what is made.
    #[must_use]
    pub fn store(self) -> Box<dyn Store> {
        match self {
            Self::Ids => Box::new(HashingStore::new()),
            Self::Telling => Box::new(BoundedStore::new(MOST_TOLD)),
            Self::Bytes => Box::new(MemoryStore::new()),
        }
    }
}

/// The stores of one look at a fleet, owned.
pub struct Sources {
    /// What was put.
    pub upper: Box<dyn Store>,
    /// The files as they stand, where a folder was read.
    pub folder: Option<FolderStore>,
    /// The repository, where there is one.
    pub repository: Option<Repository>,
}

impl Sources {
    /// Reads through all of them and puts into the upper one.
    ///
    /// # Errors
    /// The repository's objects cannot be opened.
    pub fn with<R>(&self, run: impl FnOnce(&dyn Store) -> R) -> Result<R, Error> {
        let git = self.repository.as_ref().map(Repository::store).transpose()?;
        Ok(match (&self.folder, &git) {
            (Some(folder), Some(git)) => {
                let below = Overlay::new(folder, git);
                run(&Overlay::new(&*self.upper, &below))
            }
            (Some(folder), None) => run(&Overlay::new(&*self.upper, folder)),
            (None, Some(git)) => run(&Overlay::new(&*self.upper, git)),
            (None, None) => run(&*self.upper),
        })
    }
}

/// Looks at a fleet and proposes, without changing anything: validate, plan, render, explain, status.
///
/// # Errors
/// The fleet or its repository cannot be read.
pub fn open(
    place: Place,
    clock: Clock,
    observing: &Observing,
    build: &Build,
    keep: Keep,
) -> Result<Opened, Error> {
    // A folder is read as it stands; what is named by its URL is read as it is there now.
    let fresh = match (&place.folder, &place.repository) {
        (None, Some(repository)) => Some(refresh(&place, repository)?),
        _ => None,
    };
    let Place { repository, folder, prefix, revision, .. } = place;
    let mut sources = Sources { upper: keep.store(), folder: None, repository };
    let guessed = || names(sources.repository.as_ref(), &FleetSpec::default(), &prefix).input();
    let tip = fresh.as_ref().map_or_else(guessed, |fresh| fresh.names.input());
    let read = Read { revision: revision.as_deref(), folder: folder.as_deref(), tip: &tip };
    let (tree, commit) = read.tree(&mut sources, &prefix)?;
    let spec = sources.with(|store| load::fleet_spec(store, tree, &prefix))??;
    let names = names(sources.repository.as_ref(), &spec, &prefix);
    let was_refreshed = fresh.is_some();
    let known = was_refreshed || spec.example.is_some() && !is_local(&sources, &names);
    let mut notes = fresh.map(|fresh| fresh.rewritten).unwrap_or_default();
    let unless_known = observing.missing.unless(known);
    let Written { output: previous, status, brought } =
        written(sources.repository.as_ref(), &names, unless_known, &mut notes)?;
    let look = Look {
        sources: &sources,
        names: &names,
        spec: &spec,
        prefix: &prefix,
        observing,
        input: (tree, commit),
        is_now: was_refreshed,
    };
    let (reports, vouched) = look.believed(previous, &mut notes)?;
    let now = now(clock, &spec)?;
    let rewound_from = look.rewound_from()?;
    let snapshot = Snapshot {
        input: Input { tree, prefix: prefix.clone(), commit: None, rewound_from },
        previous,
        status,
        reports,
        now,
        build: build.clone(),
    };
    let path = sources.repository.as_ref().map(|r| memo_path(r, &prefix));
    let key = memo_key(build);
    let mut memo = path.as_ref().map_or_else(Memo::default, |path| load_memo(path, &key));
    let ground =
        Ground { repository: sources.repository.as_ref(), names: &names, spec: &spec, observing };
    let proposal =
        sources.with(|store| ground.propose(&vouched, &snapshot, store, &mut memo))??;
    if let Some(repository) = &sources.repository {
        let output = repository.resolve(&names.output())?;
        notes.extend(hand_edits(repository, output, &proposal, &prefix));
    }
    let input = tree;
    Ok(Opened { proposal, prefix, input, now, snapshot, memo, sources, notes, brought })
}

/// The commit that a revision of a repository elsewhere names: a branch or a tag there, which is brought, or a
/// commit of the input branch.
pub(super) fn named_elsewhere(repository: &Repository, revision: &str) -> Result<Id, Error> {
    let is_name = !revision.contains(['~', '^', ':', '@', '*', '?', '[', '\\', ' '])
        && !revision.contains("..")
        && !revision.starts_with(['-', '/', '.']);
    if let Some(remote) = remote(repository).filter(|_| is_name) {
        let (branch, tag) = (format!("refs/heads/{revision}"), format!("refs/tags/{revision}"));
        let here = format!("refs/remotes/{remote}/{revision}");
        let specs = [RefSpec::new(branch.clone(), here.clone()), RefSpec::new(tag.clone(), tag)];
        let there = repository.fetch(&remote, &specs, Gone::Keep)?;
        if there.get(&branch).is_some() {
            return Ok(repository.rev_parse(&here)?);
        }
    }
    Ok(repository.rev_parse(revision)?)
}

/// Whether carp writes to a repository on this machine, or to none.
fn is_local(sources: &Sources, names: &Names) -> bool {
    let target = sources.repository.as_ref().zip(names.target());
    target.is_none_or(|(repository, target)| repository.is_local(target))
}

/// The input branch's commit.
pub(super) fn input_commit(repository: &Repository, names: &Names) -> Result<Id, Error> {
    let branch = names.branches.input.clone();
    let missing = || match &names.remote {
        Some(remote) => Error::NotOnRemote { branch, remote: remote.clone() },
        None => Error::NoCommit { branch },
    };
    repository.resolve(&names.input())?.ok_or_else(missing)
}

/// The remote that carp works with: `origin`, or the only one.
pub(super) fn remote(repository: &Repository) -> Option<String> {
    let remotes = repository.remotes();
    match remotes.as_slice() {
        [first, ..] if first == "origin" => Some(first.clone()),
        [only] => Some(only.clone()),
        _ => None,
    }
}

/// The names of the fleet's refs.
pub(super) fn names(repository: Option<&Repository>, spec: &FleetSpec, prefix: &str) -> Names {
    Names::of(repository.and_then(remote), spec, prefix)
}

/// The reports that a person names, or that the fleet pins.
pub(super) fn reports(
    store: &dyn Store,
    tree: Id,
    prefix: &str,
    spec: &FleetSpec,
    observing: &Observing,
) -> Result<Option<Reports>, Error> {
    if let Some(folder) = &observing.folder {
        return reports_in_folder(folder).map(Some);
    }
    pinned_reports(store, tree, prefix, spec)
}

fn pinned_reports(
    store: &dyn Store,
    tree: Id,
    prefix: &str,
    spec: &FleetSpec,
) -> Result<Option<Reports>, Error> {
    let folder = spec.example.as_ref().and_then(|example| example.observed.as_deref());
    folder
        .map(|folder| reports_in_tree(store, tree, &paths::in_repository(prefix, folder)))
        .transpose()
}

/// The reports that a reconcile may read: those that a person names, those that the fleet pins, else those
/// on the agents' refs.
pub(super) fn reports_for_run(
    repository: &Repository,
    names: &Names,
    store: &GitStore<'_>,
    input: (Id, &str),
    spec: &FleetSpec,
    observing: &Observing,
) -> Result<Reporting, Error> {
    match reports(store, input.0, input.1, spec, observing)? {
        Some(reports) => Ok(Reporting::Named(reports)),
        None => Reporting::on_refs(repository, names),
    }
}

/// The time of a run: what a person gave, else what the fleet pins, else the clock.
pub(super) fn now(clock: Clock, spec: &FleetSpec) -> Result<Timestamp, Error> {
    if let Some(given) = clock.given {
        return Ok(given);
    }
    match &spec.example {
        Some(example) => example.now.parse().map_err(|_| Error::NotATime {
            text: example.now.clone(),
            whose: "spec.example.now in carp.yaml".to_owned(),
        }),
        None => Ok(clock.wall),
    }
}

/// Where the memo of a fleet lies: in the Git directory, never committed.
pub(super) fn memo_path(repository: &Repository, prefix: &str) -> PathBuf {
    let name = if prefix.is_empty() { "memo".to_owned() } else { prefix.replace('/', "-") };
    repository.carp_dir().join(format!("{name}.json"))
}

/// Whose memo is good: this version's.
/// Where a cache of a fleet lies in the Git directory, those of several fleets apart.
pub(super) fn cache_file(repository: &Repository, prefix: &str, file: &str) -> PathBuf {
    let name = match prefix {
        "" => file.to_owned(),
        prefix => format!("{}-{file}", prefix.replace('/', "-")),
    };
    repository.carp_dir().join(name)
}

pub(super) fn memo_key(build: &Build) -> MemoKey {
    MemoKey { format: 1, build: build.version.clone() }
}

/// Keeps the memo for the next run. Losing it costs time only.
pub(super) fn keep_memo(repository: &Repository, prefix: &str, build: &Build, memo: &mut Memo) {
    memo.key = Some(memo_key(build));
    let _ = save_memo(&memo_path(repository, prefix), memo);
}
