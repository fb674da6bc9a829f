//! What a person should know about a run besides what it did.

use super::options::Options;
use super::run::ReconcileRun;
use super::{Error, Names};
use crate::git::Repository;
use crate::model::{Id, Proposal, paths};

/// How many hand edits are told with who made them.
const MOST_EDITS: usize = 3;
/// How many commits are looked through for that. An older edit has been told often.
const MOST_COMMITS: usize = 50;

impl ReconcileRun<'_> {
    /// Edits that are in the folder and not in the commit that was read.
    pub(super) fn notes(&self) -> Result<Vec<String>, Error> {
        let mut notes = self.rewritten.clone();
        let (repository, prefix) = (self.repository, &self.place.prefix);
        notes.extend(hand_edits(repository, self.base, &self.proposal, prefix));
        // A run with a memo looks at everything.
        let search = self.options.search(repository, self.memo.is_some());
        notes.extend(not_read(repository, &self.names, prefix, self.input, search)?);
        Ok(notes)
    }
}

/// Whether the work tree is looked through for edits that a run does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// All of it.
    Through,
    /// It is left alone.
    Not,
}

impl Options {
    /// The work tree of a fleet grows with it. So it is looked through where it is small, where somebody
    /// watches, and by a run that looks at everything anyway.
    pub(super) fn search(&self, repository: &Repository, everything: bool) -> Search {
        let through = everything || self.watched || repository.has_few_files();
        if through { Search::Through } else { Search::Not }
    }
}

/// What people did in the clone and a run from this input commit did not read.
pub(super) fn not_read(
    repository: &Repository,
    names: &Names,
    prefix: &str,
    input: Id,
    search: Search,
) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    let edits = match search {
        Search::Through => repository.uncommitted(prefix)?,
        Search::Not => Vec::new(),
    };
    if !edits.is_empty() {
        let shown = edits.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
        let more = if edits.len() > 3 { ", …" } else { "" };
        notes.push(format!(
            "{} uncommitted edits were not read ({shown}{more}); reconcile reads commits only",
            edits.len()
        ));
    }
    let branch = &names.branches.input;
    let local = repository.resolve(&Names::there(branch))?;
    if names.remote.is_some()
        && let Some(local) = local.filter(|local| *local != input)
        && !repository.is_ancestor(local, input)?
    {
        notes.push(format!(
            "the local branch {branch} has commits that are not on the remote, and they were not read; push \
             them first"
        ));
    }
    Ok(notes)
}

/// Who made the first edits by hand on the output branch: the person to ask. It is a note and no part of the
/// finding, because findings are the same whatever the history is.
pub(super) fn hand_edits(
    repository: &Repository,
    output: Option<Id>,
    proposal: &Proposal,
    prefix: &str,
) -> Vec<String> {
    let told = proposal.survey.drifted.iter().take(MOST_EDITS).filter_map(|drifted| {
        let path = paths::in_repository(prefix, &drifted.path);
        // What cannot be found out is not told: the finding itself is.
        let (commit, author) = repository.last_change(output?, &path, MOST_COMMITS).ok()??;
        Some(format!("{path} was {} by {author} in commit {}", drifted.edit, commit.short()))
    });
    told.collect()
}
