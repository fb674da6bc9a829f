//! A change as it will be once it is merged: the plan of the merge, standing on the plan of what it is merged
//! into.
//!
//! A branch says nothing of what others merged since it began, so a plan of its own files takes their work
//! back. Here the change is merged in memory first. The plan of the base comes before the plan of the merge,
//! which takes its output for the last one: so what others have merged and no run has reconciled yet is no
//! part of what is shown.

use super::caches::memo_of;
use super::clock::{RunClock, now};
use super::missing::{BranchesHere, written};
use super::past::resolve;
use super::snapshot::{Keep, Opened};
use super::sources::{Observing, SourceStores, names, remote, reports};
use super::vouching::{History, propose_vouched};
use super::{Error, FleetPlace, Names};
use crate::git::{Gone, Merge, RefSpec, Repository};
use crate::load;
use crate::model::api::FleetSpec;
use crate::model::{Build, Id, Input, Proposal, Snapshot};
use crate::pipeline;

/// What a change is merged into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// What a person named: a branch, a tag, a commit.
    Named(String),
    /// A branch of the remote: a pull request's target.
    Branch(String),
    /// The fleet's input branch.
    Input,
}

/// What is merged in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Against {
    /// What it is merged into.
    pub base: Base,
    /// Other changes that are merged beside it, in this order.
    pub with: Vec<String>,
}

/// How the merge came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// What it was merged into, as a person would call it.
    pub base: String,
    /// The commit of that.
    pub commit: Id,
    /// How many commits of that the change does not have.
    pub behind: u64,
    /// What else was merged.
    pub with: Vec<String>,
}

/// A change on top of what it is merged into.
pub struct Compared {
    /// The plan of the merge. What it stands on is the plan of the base.
    pub opened: Opened,
    /// The plan of the base.
    pub base: Proposal,
    /// The tree of the base.
    pub base_input: Id,
    /// How the merge came about.
    pub merged: Merged,
}

/// Merges in memory, and proposes the base and then the merge. Nothing is written but, where a branch that
/// is needed is not here, the ref that follows it.
///
/// # Errors
/// The fleet is in no repository, something that is merged is not here or does not merge, or a read failed.
pub fn open_against(
    place: FleetPlace,
    clock: RunClock,
    observing: &Observing,
    build: &Build,
    against: &Against,
) -> Result<Compared, Error> {
    let folder = place.named.clone().unwrap_or_default();
    let fresh = match (&place.folder, &place.repository) {
        (None, Some(repository)) => Some(super::refresh::refresh(&place, repository)?),
        _ => None,
    };
    let repository = place.repository.as_ref().ok_or(Error::NoRepository(folder))?.in_memory()?;
    let prefix = place.prefix.clone();
    let sides = Sides::find(&repository, &place, against)?;
    let (merged, tree) = sides.merge(&repository, against)?;
    let base_input = sides.base_tree;

    let upper = Keep::Bytes.store();
    let sources = SourceStores { upper, folder: None, beside: None, repository: Some(repository) };
    let spec = spec_of(&sources, base_input, tree, &prefix)?;
    let names = names(sources.repository.as_ref(), &spec, &prefix);
    let mut notes = fresh.as_ref().map(|fresh| fresh.rewritten.clone()).unwrap_or_default();
    let missing = observing.missing.unless(fresh.is_some());
    let BranchesHere { output: previous, status, brought } =
        written(sources.repository.as_ref(), &names, missing, &mut notes)?;
    let reports = sources.with(|store| reports(store, tree, &prefix, &spec, observing))??;
    let now = now(clock, &spec)?;
    let mut memo = memo_of(sources.repository.as_ref(), &prefix, build);
    let input = |tree| Input::of_files(tree, &prefix);
    let mut first =
        Snapshot { input: input(base_input), previous, status, reports, now, build: build.clone() };
    let repository = sources.repository.as_ref();
    let output = repository.map(|r| r.resolve(&names.output())).transpose()?.flatten();
    let mut history = History { repository, made_from: vec![sides.base], output };
    let mut propose = |history: &History<'_>, snapshot: &mut Snapshot| {
        sources.with(|store| {
            propose_vouched(history, snapshot, store, |snapshot| {
                Ok(pipeline::propose(snapshot, store, &mut memo)?)
            })
        })?
    };
    let base = propose(&history, &mut first)?;
    let mut snapshot = on_top(&first, &base, input(tree));
    history.made_from.push(sides.head);
    for revision in &against.with {
        history.made_from.extend(repository.map(|r| resolve(r, revision)).transpose()?);
    }
    let proposal = propose(&history, &mut snapshot)?;
    let opened = Opened::new(snapshot, proposal, memo, sources);
    let opened = Opened { tip: Some(sides.head), notes, brought, ..opened };
    Ok(Compared { opened, base, base_input, merged })
}

/// What the plan of the merge sees: what the plan of the base leaves behind.
fn on_top(first: &Snapshot, base: &Proposal, input: Input) -> Snapshot {
    let mut snapshot = Snapshot { input, ..first.clone() };
    if base.has_changes() && !base.stopped {
        snapshot.previous = Some(base.tree);
        snapshot.status = Some(base.status_tree);
    }
    snapshot
}

/// `carp.yaml` of the base; where that has none yet, the merge's.
fn spec_of(sources: &SourceStores, base: Id, merged: Id, prefix: &str) -> Result<FleetSpec, Error> {
    let read = |tree| sources.with(|store| load::readable_fleet_spec(store, tree, prefix));
    Ok(match read(base)?? {
        Some(spec) => spec,
        None => read(merged)??.unwrap_or_default(),
    })
}

/// The two sides of a merge.
struct Sides {
    label: String,
    base: Id,
    base_tree: Id,
    /// The commit that the change stands on.
    head: Id,
    /// The change: that commit's tree, or the work tree as it stands.
    head_tree: Id,
}

impl Sides {
    fn find(repository: &Repository, place: &FleetPlace, against: &Against) -> Result<Self, Error> {
        let (base, label) = base_commit(repository, place, &against.base)?;
        let (head, head_tree) = match (&place.revision, &place.folder) {
            (Some(revision), _) => {
                let commit = resolve(repository, revision)?;
                (commit, repository.commit_tree(commit)?)
            }
            (None, Some(_)) => (repository.rev_parse("HEAD")?, repository.work_tree_as_tree()?),
            // Of a URL the input branch is looked at: what is merged into it is named.
            (None, None) => (base, repository.commit_tree(base)?),
        };
        let base_tree = repository.commit_tree(base)?;
        Ok(Self { label, base, base_tree, head, head_tree })
    }

    /// Merges one change after the other into the base.
    fn merge(&self, repository: &Repository, against: &Against) -> Result<(Merged, Id), Error> {
        let behind = repository.lacking(self.head, self.base)?;
        let mut tree =
            self.onto(repository, self.base_tree, self.head, self.head_tree, "this change")?;
        for revision in &against.with {
            let commit = resolve(repository, revision)?;
            let theirs = repository.commit_tree(commit)?;
            tree = self.onto(repository, tree, commit, theirs, &format!("`{revision}`"))?;
        }
        let (base, with) = (self.label.clone(), against.with.clone());
        Ok((Merged { base, commit: self.base, behind, with }, tree))
    }

    fn onto(
        &self,
        repository: &Repository,
        ours: Id,
        commit: Id,
        theirs: Id,
        what: &str,
    ) -> Result<Id, Error> {
        let ancestor = repository.merge_base(self.base, commit)?;
        let ancestor = ancestor.map(|commit| repository.commit_tree(commit)).transpose()?;
        match repository.merge_trees(ancestor, ours, theirs)? {
            Merge::Clean(tree) => Ok(tree),
            Merge::Conflicts(files) => {
                Err(Error::Conflicts { what: what.to_owned(), base: self.label.clone(), files })
            }
        }
    }
}

/// The commit of the base, and what a person would call it.
fn base_commit(
    repository: &Repository,
    place: &FleetPlace,
    base: &Base,
) -> Result<(Id, String), Error> {
    let branch = match base {
        Base::Named(revision) => return Ok((resolve(repository, revision)?, revision.clone())),
        Base::Branch(branch) => branch.clone(),
        Base::Input => super::refresh::known(place, repository)?.branches.input,
    };
    let Some(remote) = remote(repository) else {
        let commit = repository.resolve(&Names::there(&branch))?;
        return Ok((commit.ok_or(Error::NoCommit { branch: branch.clone() })?, branch));
    };
    let spec = RefSpec::tracking(&remote, &branch);
    let here = repository.resolve(&spec.local)?;
    let commit = match here {
        Some(commit) => commit,
        // A clone of one branch, as workflows make it, lacks the target of the pull request.
        None => bring(repository, &remote, &spec)?,
    };
    Ok((commit, format!("{remote}/{branch}")))
}

fn bring(repository: &Repository, remote: &str, spec: &RefSpec) -> Result<Id, Error> {
    repository.fetch(remote, std::slice::from_ref(spec), Gone::Keep)?;
    let branch = || spec.remote.trim_start_matches("refs/heads/").to_owned();
    let missing = || Error::NotOnRemote { branch: branch(), remote: remote.to_owned() };
    repository.resolve(&spec.local)?.ok_or_else(missing)
}

/// Whether a fleet is where something can be merged: in a repository.
#[must_use]
pub fn can_merge(place: &FleetPlace) -> bool {
    let has_remote = |repository: &Repository| remote(repository).is_some();
    place.repository.as_ref().is_some_and(has_remote)
}
