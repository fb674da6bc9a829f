//! Histories, commit by commit.

use git2::Sort;

use super::repository::{id, oid};
use super::{Error, Repository};
use crate::model::Id;

impl Repository {
    /// The commits that lead to `to` by first parents and are not in the history of `from`, oldest
    /// first. A merge counts as one. A shallow clone shows those after its cut.
    ///
    /// # Errors
    /// A commit is not here.
    pub fn first_parents(&self, from: Option<Id>, to: Id) -> Result<Vec<Id>, Error> {
        let what = || format!("listing the commits up to {}", to.short());
        let _reading = self.reads(None);
        let listed = || {
            let mut walk = self.inner.revwalk()?;
            walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)?;
            walk.simplify_first_parent()?;
            walk.push(oid(to))?;
            if let Some(from) = from {
                walk.hide(oid(from))?;
            }
            walk.map(|commit| commit.map(id)).collect::<Result<Vec<Id>, git2::Error>>()
        };
        listed().map_err(|e| self.failed(&what(), &e))
    }

    /// Whether a commit has parents that a shallow clone does not show.
    ///
    /// # Errors
    /// The commit is not here.
    pub fn is_cut_off(&self, commit: Id) -> Result<bool, Error> {
        if !self.is_shallow() || !self.parents(commit)?.is_empty() {
            return Ok(false);
        }
        let _reading = self.reads(Some(commit));
        let raw = self.inner.odb().and_then(|odb| odb.read(oid(commit)).map(|o| o.data().to_vec()));
        let raw = raw.map_err(|e| self.failed(&format!("reading commit {commit}"), &e))?;
        // The first line is the tree's, and the parents' follow.
        Ok(raw.split(|byte| *byte == b'\n').nth(1).is_some_and(|line| line.starts_with(b"parent ")))
    }
}
