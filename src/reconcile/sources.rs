//! Where a look or a run reads from: the stores, the remote, the revision and the reports.

use std::path::PathBuf;

use super::missing::MissingBranches;
use super::reports::{Reporting, Reports, reports_in_folder, reports_in_tree};
use super::{Error, Names};
use crate::git::{GitStore, Gone, RefSpec, Repository};
use crate::model::api::FleetSpec;
use crate::model::{Id, Store, paths};
use crate::store::{FolderStore, Overlay};

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
    /// The folder given with `--crds`: what a look holds objects against in place of the fleet's own definitions.
    pub crds: Option<PathBuf>,
    /// A folder below the fleet's that is not read: where a look writes what it renders, again and again.
    pub except: Option<PathBuf>,
}

/// The stores of one look at a fleet, owned.
pub struct SourceStores {
    /// What was put.
    pub upper: Box<dyn Store>,
    /// The files as they stand, where a folder was read.
    pub folder: Option<FolderStore>,
    /// Files of another folder that stand in the place of the fleet's.
    pub beside: Option<FolderStore>,
    /// The repository, where there is one.
    pub repository: Option<Repository>,
}

impl SourceStores {
    /// Reads through all of them and puts into the upper one.
    ///
    /// # Errors
    /// The repository's objects cannot be opened.
    pub fn with<R>(&self, run: impl FnOnce(&dyn Store) -> R) -> Result<R, Error> {
        let git = self.repository.as_ref().map(Repository::store).transpose()?;
        let folders = [&self.folder, &self.beside].into_iter().flatten();
        let lower: Vec<&dyn Store> = folders.map(|folder| folder as &dyn Store).collect();
        let lower = lower.into_iter().chain(git.as_ref().map(|git| git as &dyn Store)).collect();
        Ok(run(&Overlay { upper: &*self.upper, lower }))
    }
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
