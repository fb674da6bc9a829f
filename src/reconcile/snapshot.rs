//! What one run sees: a snapshot, and the stores that its ids are read from.

use std::path::Path;

use super::clock::{RunClock, now};
use super::look::{InputSource, Look};
use super::looked::LookFor;
use super::missing::{BranchesHere, Brought, MissingBranches, written};
use super::notes::hand_edits;
use super::refresh::{Refreshed, refresh};
use super::sources::{Observing, SourceStores, names};
use super::{Error, FleetPlace, Names};
use crate::change::TreeEdit;
use crate::git::Repository;
use crate::load;
use crate::model::api::FleetSpec;
use crate::model::{Build, Id, Input, Memo, Proposal, Snapshot, Store, Verification, paths};
use crate::store::{BoundedStore, FolderStore, HashingStore, Limits, MemoryStore};

/// How many bytes of files are kept to tell what changes in them.
const MOST_TOLD: usize = 256 << 20;

/// A proposal, and what is needed to show it.
pub struct Opened {
    /// What would be committed.
    pub proposal: Proposal,
    /// What was verified besides, where that was asked for and the last run left it.
    pub verified: Option<Verification>,
    /// What was seen: the input tree, of whose files findings speak, the fleet's root in it, and the time that was used.
    pub snapshot: Snapshot,
    /// The commit whose tree the input is, or on which it stands where it is not committed; `None`: not known.
    pub tip: Option<Id>,
    /// What is known of its files.
    pub memo: Memo,
    /// The objects.
    pub sources: SourceStores,
    /// What a person should know: a missing output branch with the line that brings it.
    pub notes: Vec<String>,
    /// Branches that this clone lacked and that were brought.
    pub brought: Option<Brought>,
}

impl Opened {
    /// A proposal of what was seen, of which nothing else is known.
    pub(super) fn new(
        snapshot: Snapshot,
        proposal: Proposal,
        memo: Memo,
        sources: SourceStores,
    ) -> Self {
        let (verified, tip, notes, brought) = (None, None, Vec::new(), None);
        Self { proposal, verified, snapshot, tip, memo, sources, notes, brought }
    }
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

/// Looks at a fleet and proposes, without changing anything: validate, plan, render, explain, status.
///
/// # Errors
/// The fleet or its repository cannot be read.
pub fn open(
    place: FleetPlace,
    clock: RunClock,
    observing: &Observing,
    build: &Build,
    (keep, of): (Keep, &LookFor),
) -> Result<Opened, Error> {
    let fresh = brought(&place)?;
    let FleetPlace { repository, folder, prefix, revision, .. } = place;
    let mut sources = SourceStores { upper: keep.store(), folder: None, beside: None, repository };
    let guessed = || names(sources.repository.as_ref(), &FleetSpec::default(), &prefix).input();
    let tip = fresh.as_ref().map_or_else(guessed, |fresh| fresh.names.input());
    let (revision, folder) = (revision.as_deref(), folder.as_deref());
    let read = InputSource { revision, folder, except: observing.except.as_deref(), tip: &tip };
    let (tree, commit) = read.tree(&mut sources, &prefix)?;
    let spec = sources.with(|store| load::fleet_spec(store, tree, &prefix))??;
    let tree = match &observing.crds {
        Some(folder) => definitions_of(folder, &mut sources, (tree, &prefix), &spec)?,
        None => tree,
    };
    let names = names(sources.repository.as_ref(), &spec, &prefix);
    let was_refreshed = fresh.is_some();
    let known = was_refreshed || spec.example.is_some() && !is_local(&sources, &names);
    let mut notes = fresh.map(|fresh| fresh.rewritten).unwrap_or_default();
    notes.extend(observing.crds.as_ref().map(|folder| {
        format!(
            "looked at as if `{}` were the fleet's definitions; a run has its own",
            folder.display()
        )
    }));
    let unless_known = observing.missing.unless(known);
    let BranchesHere { output: previous, status, brought } =
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
    let now = now(clock, &spec)?;
    notes.extend(look.behind()?);
    let rewound_from = look.rewound_from(&mut notes)?;
    let mut snapshot = Snapshot {
        input: Input { rewound_from, ..Input::of_files(tree, &prefix) },
        previous,
        status,
        reports: None,
        now,
        build: build.clone(),
    };
    // What is about what people wrote need not know what carp wrote.
    let blind = !known && observing.missing == MissingBranches::Noted;
    let (proposal, verified, memo) = if let Some(known) = look.standing(&snapshot, of) {
        (known.proposal, known.verified, Memo::default())
    } else {
        let (proposal, memo) = look.propose(&mut snapshot, blind, &mut notes)?;
        (proposal, None, memo)
    };
    if let Some(repository) = &sources.repository {
        let output = repository.resolve(&names.output())?;
        notes.extend(hand_edits(repository, output, &proposal, &prefix));
    }
    let tip = tip_of(&sources, commit);
    let opened = Opened::new(snapshot, proposal, memo, sources);
    Ok(Opened { verified, tip, notes, brought, ..opened })
}

/// The tree with the definitions of a folder in place of the fleet's.
fn definitions_of(
    folder: &Path,
    sources: &mut SourceStores,
    (tree, prefix): (Id, &str),
    spec: &FleetSpec,
) -> Result<Id, Error> {
    if !folder.is_dir() {
        return Err(Error::NoDefinitions(folder.to_owned()));
    }
    let (store, definitions) = FolderStore::scan(folder, Limits::default())?;
    sources.beside = Some(store);
    let mut edit = TreeEdit::default();
    let root = spec.roots.clone().unwrap_or_default().crds;
    edit.dir(&paths::in_repository(prefix, &root), definitions);
    Ok(sources.with(|store| edit.apply(store, Some(tree)))??)
}

/// The commit that was read, or on which the files stand.
fn tip_of(sources: &SourceStores, commit: Option<Id>) -> Option<Id> {
    commit.or_else(|| sources.repository.as_ref()?.rev_parse("HEAD").ok())
}

/// A folder is read as it stands; what is named by its URL is read as it is there now.
fn brought(place: &FleetPlace) -> Result<Option<Refreshed>, Error> {
    match (&place.folder, &place.repository) {
        (None, Some(repository)) => refresh(place, repository).map(Some),
        _ => Ok(None),
    }
}

/// Whether carp writes to a repository on this machine, or to none.
fn is_local(sources: &SourceStores, names: &Names) -> bool {
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
