//! Which commit brought what stands somewhere, and what the commits of a stretch of history came from.
//!
//! A merge that does nothing but what `git merge` does by itself brings nothing: what it has it was handed by a
//! parent. One that does anything else (`-s ours`, an edit, a conflict that somebody resolved) brings that itself,
//! as any commit does.

use git2::Sort;

use super::repository::{id, oid};
use super::{Error, Merge, Repository};
use crate::model::{Id, StoreError};

/// Which commit brought what stands somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BroughtBy {
    /// This one.
    Commit(Id),
    /// No commit did: only the files that are looked at have it.
    Uncommitted,
    /// A shallow clone ends at this commit, which may have been handed it.
    CutOff(Id),
    /// It was there before all commits that were looked at.
    TooLongAgo,
}

/// What of a place is read in a tree; `None`: it is not there.
pub type At<'a, T> = dyn FnMut(Id) -> Result<Option<T>, StoreError> + 'a;

impl Repository {
    /// The commit that brought what `at` reads in a tree that was made from some commits: itself one of them, or a
    /// merge of all. At most `most` commits are looked at.
    ///
    /// # Errors
    /// A commit or what is read in it is not here; the clone is shallow and what is here does not tell what a merge
    /// came from.
    pub fn brought<T: PartialEq>(
        &self,
        tree: Id,
        made_from: &[Id],
        most: usize,
        at: &mut At<'_, T>,
    ) -> Result<BroughtBy, Error> {
        let wanted = at(tree)?;
        let (mut here, mut parents) = (None, made_from.to_vec());
        for _ in 0..most {
            match self.handed_on(&parents, wanted.as_ref(), at)? {
                Some(parent) => (here, parents) = (Some(parent), self.parents(parent)?),
                None => {
                    return Ok(match here {
                        None => BroughtBy::Uncommitted,
                        Some(commit) if self.is_cut_off(commit)? => BroughtBy::CutOff(commit),
                        Some(commit) => BroughtBy::Commit(commit),
                    });
                }
            }
        }
        Ok(BroughtBy::TooLongAgo)
    }

    /// The parent that handed something on to a commit that merges all of them by itself; `None` where the merge
    /// would have something else.
    fn handed_on<T: PartialEq>(
        &self,
        parents: &[Id],
        wanted: Option<&T>,
        at: &mut At<'_, T>,
    ) -> Result<Option<Id>, Error> {
        let Some((first, others)) = parents.split_first() else { return Ok(None) };
        let (mut from, mut merged) = (*first, at(self.commit_tree(*first)?)?);
        for other in others {
            let theirs = at(self.commit_tree(*other)?)?;
            if theirs == merged {
                continue;
            }
            let base = self.merge_base(*first, *other)?;
            let base = base.map(|base| self.commit_tree(base)).transpose()?;
            let base = base.map(&mut *at).transpose()?.flatten();
            if merged == base {
                (from, merged) = (*other, theirs);
            } else if theirs != base {
                return Ok(None);
            }
        }
        Ok((merged.as_ref() == wanted).then_some(from))
    }

    /// The commits in the history of `to` that are not in that of `from`, and no more than `most` and one of them.
    ///
    /// # Errors
    /// A commit is not here.
    pub fn commits_between(
        &self,
        from: Option<Id>,
        to: &[Id],
        most: usize,
    ) -> Result<Vec<Id>, Error> {
        let _reading = self.reads(None);
        let listed = || {
            let mut walk = self.inner.revwalk()?;
            walk.set_sorting(Sort::TOPOLOGICAL)?;
            to.iter().try_for_each(|tip| walk.push(oid(*tip)))?;
            from.iter().try_for_each(|from| walk.hide(oid(*from)))?;
            walk.take(most + 1).map(|commit| commit.map(id)).collect::<Result<Vec<Id>, _>>()
        };
        listed().map_err(|e: git2::Error| self.failed("listing commits", &e))
    }

    /// The tree that a commit came from: its parent's, or what merging its parents comes to by itself. `None` where
    /// that leaves something to a person. A merge is put into this handle's objects: it wants one
    /// [in memory](Repository::in_memory).
    ///
    /// # Errors
    /// A commit is not here; a shallow clone does not show what the commit came from.
    pub fn came_from(&self, commit: Id) -> Result<Option<Id>, Error> {
        let shallow = || Error::Shallow { what: format!("what commit {} changes", commit.short()) };
        match *self.parents(commit)? {
            [] if self.is_cut_off(commit)? => Err(shallow()),
            [] => Ok(Some(Id::EMPTY_DIR)),
            [parent] => self.commit_tree(parent).map(Some),
            [first, second] => {
                let base = self.merge_base(first, second)?;
                let base = base.map(|base| self.commit_tree(base)).transpose()?;
                let (ours, theirs) = (self.commit_tree(first)?, self.commit_tree(second)?);
                Ok(match self.merge_trees(base, ours, theirs)? {
                    Merge::Clean(tree) => Some(tree),
                    Merge::Conflicts(_) => None,
                })
            }
            [..] => Ok(None),
        }
    }
}
