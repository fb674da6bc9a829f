//! Merging without writing: what a merge would come to, before anybody makes it.

use git2::{ErrorClass, IndexAddOption};

use super::repository::{id, oid};
use super::{Error, Repository};
use crate::model::Id;

/// Above the packs and the loose objects, so that everything new stays in memory.
const FIRST: i32 = 1000;

/// What a merge of trees comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    /// The tree with both sides.
    Clean(Id),
    /// The files that somebody would have to resolve, sorted.
    Conflicts(Vec<String>),
}

impl Repository {
    /// Another handle on the same repository, of which everything that it makes stays in memory and is gone
    /// with it: a look at what could be writes nothing.
    ///
    /// # Errors
    /// As for [`Repository::open`].
    pub fn in_memory(&self) -> Result<Self, Error> {
        let handle = self.again()?;
        let odb = handle.inner.odb();
        let added = odb.and_then(|odb| odb.add_new_mempack_backend(FIRST).map(|_| ()));
        added.map_err(|e| handle.failed("keeping new objects in memory", &e))?;
        Ok(handle)
    }

    /// The tree that `git add --all` and a commit would make of the work tree as it stands. What Git ignores
    /// is not in it. The index on the disk stays as it is.
    ///
    /// # Errors
    /// There is no work tree, or it cannot be read.
    pub fn work_tree_as_tree(&self) -> Result<Id, Error> {
        let _reading = self.reads(None);
        let tree = || {
            let mut index = self.inner.index()?;
            index.add_all(["*"], IndexAddOption::DEFAULT, None)?;
            index.write_tree_to(&self.inner)
        };
        tree().map(id).map_err(|e| self.failed("reading the work tree", &e))
    }

    /// Merges two trees that come from a third one, as `git merge` does, renamed files included. Without an
    /// ancestor everything is new on both sides.
    ///
    /// # Errors
    /// A tree cannot be read.
    pub fn merge_trees(&self, ancestor: Option<Id>, ours: Id, theirs: Id) -> Result<Merge, Error> {
        let _reading = self.reads(None);
        let tree = |id: Id| self.inner.find_tree(oid(id));
        let merge = || {
            let ancestor = match ancestor {
                Some(id) => tree(id)?,
                None => self.inner.find_tree(self.inner.treebuilder(None)?.write()?)?,
            };
            let (ours, theirs) = (tree(ours)?, tree(theirs)?);
            let mut index = self.inner.merge_trees(&ancestor, &ours, &theirs, None)?;
            if !index.has_conflicts() {
                return index.write_tree_to(&self.inner).map(|tree| Merge::Clean(id(tree)));
            }
            let mut files = Vec::new();
            for conflict in index.conflicts()? {
                let conflict = conflict?;
                let sides = [conflict.our, conflict.their, conflict.ancestor];
                let path = sides.into_iter().flatten().map(|entry| entry.path).next();
                files.extend(path.map(|path| String::from_utf8_lossy(&path).into_owned()));
            }
            files.sort();
            files.dedup();
            Ok(Merge::Conflicts(files))
        };
        merge().map_err(|e: git2::Error| self.failed("merging two trees", &e))
    }

    /// How many commits one history has that another one lacks.
    ///
    /// # Errors
    /// A commit is not here; the clone is shallow, so that they cannot be counted.
    pub fn lacking(&self, commit: Id, of: Id) -> Result<u64, Error> {
        let what = format!("how many commits {} lacks of {}", commit.short(), of.short());
        let _reading = self.reads(None);
        match self.inner.graph_ahead_behind(oid(commit), oid(of)) {
            Ok((_, behind)) => Ok(behind as u64),
            Err(e) if self.is_shallow() && e.class() == ErrorClass::Odb => {
                Err(Error::Shallow { what })
            }
            Err(e) => Err(self.failed(&format!("finding out {what}"), &e)),
        }
    }
}
