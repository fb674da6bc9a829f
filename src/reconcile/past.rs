//! What a past run saw, put together again from the repository and nothing else: an output commit names
//! its input, the folded reports that were read, and the time; the output before it is its parent.

use jiff::Timestamp;

use super::clock::RunClock;
use super::looked::LookFor;
use super::refresh::refresh;
use super::snapshot::{Keep, Opened, open};
use super::sources::{Observing, SourceStores, names};
use super::{Error, FleetPlace, Names};
use crate::change::vouched_then;
use crate::git::{Provenance, Repository};
use crate::load;
use crate::model::{Build, Id, Input, Memo, Proposal, Snapshot};
use crate::pipeline;

/// How many output commits are looked at for the one that was made from an input commit.
const MOST: usize = 10_000;

/// A run that was: its commit on the output branch.
struct PastRun {
    commit: Id,
    input: Id,
    observed: Option<Id>,
    time: Timestamp,
    version: String,
}

/// Looks at a fleet as a past run saw it. The revision is an output commit, or the input commit that one was
/// made from; where none was made from it, it is looked at with the output branch and the reports as they
/// are now.
///
/// # Errors
/// The revision is neither, or something that it was made from is not in the repository.
pub fn open_past(
    place: FleetPlace,
    revision: &str,
    clock: RunClock,
    build: &Build,
    keep: Keep,
) -> Result<Opened, Error> {
    let folder = place.named.clone().unwrap_or_default();
    let Some(repository) = &place.repository else { return Err(Error::NoRepository(folder)) };
    if place.folder.is_none() {
        refresh(&place, repository)?;
    }
    let commit = resolve(repository, revision)?;
    let run = match PastRun::of(repository, commit)? {
        Some(run) => Some(run),
        None => made_from(&place, repository, revision, commit)?,
    };
    if let Some(run) = run {
        return run.open(place, clock, build, keep);
    }
    let place = FleetPlace { revision: Some(commit.to_string()), ..place };
    let mut opened = open(place, clock, &Observing::default(), build, (keep, &LookFor::default()))?;
    opened.notes.push(format!(
        "no output commit was made from {}, so it is shown with the output branch, the reports and the \
         time of now",
        commit.short()
    ));
    Ok(opened)
}

/// The commit that a person named. A branch that is only on the remote has its name there, too.
pub(super) fn resolve(repository: &Repository, revision: &str) -> Result<Id, Error> {
    let here = repository.rev_parse(revision);
    match (here, super::sources::remote(repository)) {
        (Err(error), Some(remote)) => {
            let there = repository.rev_parse(&format!("refs/remotes/{remote}/{revision}"));
            there.map_err(|_| error.into())
        }
        (here, _) => Ok(here?),
    }
}

/// The newest run that was made from an input commit; `None` where there is none.
fn made_from(
    place: &FleetPlace,
    repository: &Repository,
    revision: &str,
    input: Id,
) -> Result<Option<PastRun>, Error> {
    let names = names_at(place, repository, revision, input)?;
    let mut next = repository.resolve(&names.output())?;
    for _ in 0..MOST {
        let Some(commit) = next else { break };
        if let Some(run) = PastRun::of(repository, commit)?.filter(|run| run.input == input) {
            return Ok(Some(run));
        }
        next = repository.parents(commit)?.first().copied();
    }
    Ok(None)
}

/// What the branches were called at an input commit.
fn names_at(
    place: &FleetPlace,
    repository: &Repository,
    revision: &str,
    input: Id,
) -> Result<Names, Error> {
    let store = repository.store()?;
    let tree = repository.commit_tree(input)?;
    let spec = load::readable_fleet_spec(&store, tree, &place.prefix)?;
    let spec = spec.ok_or_else(|| Error::NoPast { revision: revision.to_owned() })?;
    Ok(names(Some(repository), &spec, &place.prefix))
}

impl PastRun {
    /// The run that made a commit, or the proposal that it merged; `None` where it is none of carp's
    /// output.
    fn of(repository: &Repository, commit: Id) -> Result<Option<Self>, Error> {
        let Some(said) = repository.made_from(commit)? else { return Ok(None) };
        let Provenance { input, observed, version, .. } = said;
        let version = version.unwrap_or_default();
        Ok(said.time.map(|time| Self { commit, input, observed, time, version }))
    }

    fn open(
        self,
        place: FleetPlace,
        clock: RunClock,
        build: &Build,
        keep: Keep,
    ) -> Result<Opened, Error> {
        let FleetPlace { repository, prefix, .. } = place;
        let sources = SourceStores { upper: keep.store(), folder: None, beside: None, repository };
        let Some(repository) = &sources.repository else {
            return Err(Error::NoRepository(std::path::PathBuf::new()));
        };
        let Self { input, observed, time, version, .. } = &self;
        let now = clock.given.unwrap_or(*time);
        let before = repository.parents(self.commit)?.first().copied();
        let previous = before.map(|commit| repository.commit_tree(commit)).transpose()?;
        let tree = self.tree_of(repository, "input", *input)?;
        let status =
            observed.map(|commit| self.tree_of(repository, "status", commit)).transpose()?;
        let made = repository.commit_tree(self.commit)?;
        let snapshot = Snapshot {
            input: Input {
                tree,
                prefix: prefix.clone(),
                commit: Some(*input),
                rewound_from: repository.rewound_from(before, *input)?,
                vouching: sources.with(|store| vouched_then(store, made, &prefix))??,
            },
            previous,
            status,
            reports: None,
            now,
            build: build.clone(),
        };
        let propose = |store: &dyn crate::model::Store| {
            let mut memo = Memo::default();
            pipeline::propose(&snapshot, store, &mut memo).map(|proposal| (proposal, memo))
        };
        let (proposal, memo) = sources.with(propose)??;
        let mut notes = vec![format!(
            "as the run of {time} saw it: output commit {}, made from input commit {}",
            self.commit.short(),
            input.short()
        )];
        if !self.is_made_again(repository, &proposal)? && clock.given.is_none() {
            notes.push(format!(
                "carp {} makes another tree of that than carp {version} did: rules may have changed \
                 since, or people edited the commit",
                build.version
            ));
        }
        Ok(Opened { notes, ..Opened::new(snapshot, proposal, memo, sources) })
    }

    fn tree_of(&self, repository: &Repository, whose: &str, commit: Id) -> Result<Id, Error> {
        if !repository.has_commit(commit)? {
            return Err(Error::PastGone {
                output: self.commit.short(),
                what: format!("the {whose} commit {commit}"),
            });
        }
        Ok(repository.commit_tree(commit)?)
    }

    /// Whether the proposal is what was committed then.
    fn is_made_again(&self, repository: &Repository, proposal: &Proposal) -> Result<bool, Error> {
        let tree = repository.commit_tree(self.commit)?;
        let form = proposal.form_step().is_some_and(|form| form.tree == tree);
        Ok(form || proposal.tree == tree)
    }
}
