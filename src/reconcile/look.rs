//! What a look at a fleet reads that is no run: the files of a folder or of a revision, and the reports that
//! the repository has.

use std::path::{Path, PathBuf};

use super::caches::cache_file;
use super::first_run::rewound_from;
use super::missing::MissingBranches;
use super::reports::{Reports, reports_on_refs};
use super::sources::{Observing, SourceStores, named_elsewhere, reports};
use super::verify::{InForce, Vouched};
use super::vouching::History;
use super::{Error, Names};
use crate::git::Repository;
use crate::load;
use crate::model::api::FleetSpec;
use crate::model::{Dir, Entry, EntryKind, Id, Store, count};
use crate::store::{FolderStore, Limits};

/// Where the input is read from: a revision, a folder as it stands, or the tip of the input branch.
pub(super) struct InputSource<'a> {
    pub(super) revision: Option<&'a str>,
    pub(super) folder: Option<&'a Path>,
    /// A folder below that one that is not read.
    pub(super) except: Option<&'a Path>,
    /// The input branch.
    pub(super) tip: &'a str,
}

impl InputSource<'_> {
    /// The input tree, and the commit that it is of.
    pub(super) fn tree(
        &self,
        sources: &mut SourceStores,
        prefix: &str,
    ) -> Result<(Id, Option<Id>), Error> {
        let Some(repository) = sources.repository.as_ref().filter(|_| self.reads_a_commit()) else {
            let folder = self.folder.ok_or_else(|| Error::NoRepository(PathBuf::from(".")))?;
            let kept = sources.repository.as_ref();
            let kept = kept.map(|repository| cache_file(repository, prefix, "folder.stat"));
            let (store, root) =
                FolderStore::scan_again(folder, self.except, Limits::default(), kept.as_deref())?;
            sources.folder = Some(store);
            return Ok((nest(&*sources.upper, root, prefix)?, None));
        };
        let commit = match self.revision {
            Some(revision) if self.folder.is_none() => named_elsewhere(repository, revision)?,
            Some(revision) => repository.rev_parse(revision)?,
            None => repository
                .resolve(self.tip)?
                .ok_or_else(|| Error::NoCommit { branch: self.tip.to_owned() })?,
        };
        Ok((repository.commit_tree(commit)?, Some(commit)))
    }

    fn reads_a_commit(&self) -> bool {
        self.revision.is_some() || self.folder.is_none()
    }
}

/// A tree in which the fleet's folder has its place in the repository.
fn nest(store: &dyn Store, root: Id, prefix: &str) -> Result<Id, Error> {
    let mut id = root;
    for name in prefix.rsplit('/').filter(|n| !n.is_empty()) {
        let mut dir = Dir::default();
        dir.insert(name, Entry { kind: EntryKind::Dir, id });
        id = store.put_dir(&dir)?;
    }
    Ok(id)
}

/// A look at a fleet of which it is known what is read.
pub(super) struct Look<'a> {
    pub(super) sources: &'a SourceStores,
    pub(super) names: &'a Names,
    pub(super) spec: &'a FleetSpec,
    pub(super) prefix: &'a str,
    pub(super) observing: &'a Observing,
    /// The input tree, and the commit that it is of where it is of one.
    pub(super) input: (Id, Option<Id>),
    /// Whether everything was brought from the remote for it.
    pub(super) is_now: bool,
}

impl Look<'_> {
    /// The reports that a reconcile would fold, and what the signatures say. `None` where there are none to
    /// look at: a look then stands on the last fold.
    pub(super) fn believed(
        &self,
        previous: Option<Id>,
        notes: &mut Vec<String>,
    ) -> Result<(Option<Reports>, Vouched), Error> {
        let Self { sources, names, spec, prefix, observing, input, .. } = *self;
        let in_force = sources.with(|store| InForce::read(store, spec, previous, prefix))??;
        let named = sources.with(|store| reports(store, input.0, prefix, spec, observing))??;
        let mut vouched = if observing.signed {
            in_force.vouch_look(sources, names, input, prefix, notes)?
        } else {
            Vouched::default()
        };
        let (None, Some(repository)) = (&named, &sources.repository) else {
            return Ok((named, vouched));
        };
        let there = sources.with(|store| reports_on_refs(repository, names, store))??;
        // A clone need not have those refs.
        if there.is_empty() && !self.is_now {
            return Ok((None, vouched));
        }
        let (there, unsigned) = in_force.without_unsigned(repository, names, there)?;
        vouched.findings.extend(unsigned);
        if !self.is_now && (names.remote.is_some() || names.observed_url.is_some()) {
            notes.extend(since(&there));
        }
        Ok((Some(there), vouched))
    }

    /// The history of what is looked at: of the commit that it is, or of the one that is checked out.
    pub(super) fn history(&self) -> Result<History<'_>, Error> {
        let Some(repository) = &self.sources.repository else { return Ok(History::default()) };
        let here = match self.input.1 {
            Some(commit) => Some(commit),
            None => repository.resolve("HEAD")?,
        };
        let output = repository.resolve(&self.names.output())?;
        let made_from = here.into_iter().collect();
        Ok(History { repository: Some(repository), made_from, output })
    }

    /// The commit that the last output was made from, where a reconcile would hold the input branch because
    /// it was rewound. What is looked at counts as merged into that branch. A shallow clone may not show that; more of
    /// the history is brought then, where this look brings what a clone lacks.
    pub(super) fn rewound_from(&self, notes: &mut Vec<String>) -> Result<Option<Id>, Error> {
        let Some(repository) = self.sources.repository.as_ref().filter(|_| self.observing.rewind)
        else {
            return Ok(None);
        };
        let found = self.rewound_in(repository);
        let unknown = |found: &Result<_, Error>| {
            matches!(found, Err(Error::Git(crate::git::Error::Shallow { .. })))
        };
        let remote = self.names.remote.as_ref();
        let Some(remote) = remote.filter(|_| self.observing.missing == MissingBranches::Brought)
        else {
            return found;
        };
        let branch = &self.names.branches.input;
        for by in [Some(DEEPER), None] {
            if !unknown(&found) || repository.deepen(remote, branch, by).is_err() {
                return found;
            }
            let again = self.rewound_in(&repository.opened_again()?);
            if !unknown(&again) {
                notes.push(format!(
                    "this clone is shallow, so more of the history of {branch} was brought from {remote}"
                ));
                return again;
            }
        }
        found
    }

    /// How far what is checked out is behind the input branch, for a person who looks at it by itself: what that branch has
    /// more looks undone. A revision that was named is what was asked for.
    pub(super) fn behind(&self) -> Result<Option<String>, Error> {
        let repository = self.sources.repository.as_ref().filter(|_| self.observing.rewind);
        let Some(repository) = repository.filter(|_| self.input.1.is_none()) else {
            return Ok(None);
        };
        let (here, tip) = (repository.resolve("HEAD")?, repository.resolve(&self.names.input())?);
        let (Some(here), Some(tip)) = (here, tip) else { return Ok(None) };
        if here == tip {
            return Ok(None);
        }
        let lacks = match repository.lacking(here, tip) {
            // Where the history ends early nobody can count.
            Err(crate::git::Error::Shallow { .. }) | Ok(0) => return Ok(None),
            lacks => count(lacks?, "commit"),
        };
        let remote = self.names.remote.as_ref().map(|remote| format!("{remote}/"));
        let (remote, branch) = (remote.unwrap_or_default(), &self.names.branches.input);
        Ok(Some(format!(
            "what is checked out is {lacks} behind {remote}{branch}, and what that has more looks undone here; \
             `carp plan --against` shows the merge"
        )))
    }

    fn rewound_in(&self, repository: &Repository) -> Result<Option<Id>, Error> {
        let output = repository.resolve(&self.names.output())?;
        let tip = repository.resolve(&self.names.input())?;
        let here = match self.input.1 {
            Some(commit) => Some(commit),
            None => repository.resolve("HEAD")?,
        };
        rewound_from(repository, output, tip.into_iter().chain(here))
    }
}

/// How many commits are brought first: mostly the last run is not that long ago.
const DEEPER: u32 = 50;

/// From when the newest report is that a clone has: they are as they were when it last fetched.
fn since(there: &Reports) -> Option<String> {
    let newest = load::reports(there).0.into_values().map(|report| report.time).max()?;
    Some(format!(
        "the reports are those of this clone, and the newest is of {newest}; `git fetch` brings newer ones"
    ))
}
