//! Questions about commits.

use git2::{Commit, ErrorCode, ObjectType};

use super::repository::{id, is_damage, oid};
use super::{Error, Redacted, Repository};
use crate::model::{Id, StoreError};

/// What a merge would come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merging {
    /// It would change nothing: all of it is there, in whatever way it came.
    Nothing,
    /// It would bring something, and nobody is asked.
    Clean,
    /// Somebody would have to resolve conflicts.
    Conflicts,
}

impl Repository {
    /// The tree of a commit.
    ///
    /// # Errors
    /// The commit is not here.
    pub fn commit_tree(&self, commit: Id) -> Result<Id, Error> {
        self.commit(commit).map(|c| id(c.tree_id()))
    }

    /// The parents of a commit, in order. A shallow clone shows none where it was cut.
    ///
    /// # Errors
    /// The commit is not here.
    pub fn parents(&self, commit: Id) -> Result<Vec<Id>, Error> {
        self.commit(commit).map(|c| c.parent_ids().map(id).collect())
    }

    /// The message of a commit, with anything that is not UTF-8 replaced.
    ///
    /// # Errors
    /// The commit is not here.
    pub fn message(&self, commit: Id) -> Result<String, Error> {
        self.commit(commit).map(|c| String::from_utf8_lossy(c.message_bytes()).into_owned())
    }

    /// The trailers of a commit's message, in order.
    ///
    /// # Errors
    /// The commit is not here.
    pub fn trailers(&self, commit: Id) -> Result<Vec<(String, String)>, Error> {
        let message = self.message(commit)?;
        let trailers = git2::message_trailers_strs(&message)
            .map_err(|e| self.failed(&format!("reading the trailers of commit {commit}"), &e))?;
        Ok(trailers.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
    }

    /// The commit that a person named: a branch, a tag, an id or its beginning, `HEAD~2`.
    ///
    /// # Errors
    /// It names none.
    pub fn rev_parse(&self, rev: &str) -> Result<Id, Error> {
        let unknown = |detail: &str| {
            let depth = if self.is_shallow() { ", and this clone is shallow" } else { "" };
            let detail = Redacted::new(format!("{detail}{depth}"));
            Error::UnknownRevision { rev: Redacted::new(rev).to_string(), detail }
        };
        let _reading = self.reads(None);
        let object = self.inner.revparse_single(rev).map_err(|e| unknown(e.message()))?;
        let commit = object.peel(ObjectType::Commit).map_err(|e| unknown(e.message()))?;
        Ok(id(commit.id()))
    }

    /// Whether a commit is another one or comes before it.
    ///
    /// # Errors
    /// A commit is not here; the clone is shallow and what is here shows no way between the two.
    pub fn is_ancestor(&self, ancestor: Id, commit: Id) -> Result<bool, Error> {
        if ancestor == commit {
            return self.commit(commit).map(|_| true);
        }
        let what = format!("whether commit {} comes before {}", ancestor.short(), commit.short());
        let _reading = self.reads(None);
        match self.inner.graph_descendant_of(oid(commit), oid(ancestor)) {
            Ok(true) => Ok(true),
            _ if self.is_shallow() => Err(Error::Shallow { what }),
            Ok(false) => Ok(false),
            Err(e) => Err(self.failed(&format!("finding out {what}"), &e)),
        }
    }

    /// The commit that last changed a path, and its author's name, among the last `most` commits before and
    /// at `tip`; merges count as one. `None` where it is none of these.
    ///
    /// # Errors
    /// A commit is not here.
    pub fn last_change(
        &self,
        tip: Id,
        path: &str,
        most: usize,
    ) -> Result<Option<(Id, String)>, Error> {
        let _reading = self.reads(None);
        let at = |commit: &Commit<'_>| {
            let entry = commit.tree().ok()?.get_path(std::path::Path::new(path)).ok()?;
            Some(entry.id())
        };
        let mut commit = self.commit(tip)?;
        for _ in 0..most {
            let here = at(&commit);
            let parent = commit.parent(0).ok();
            if parent.as_ref().and_then(at) != here {
                let name = String::from_utf8_lossy(commit.author().name_bytes()).into_owned();
                return Ok(Some((id(commit.id()), name)));
            }
            let Some(parent) = parent else { return Ok(None) };
            commit = parent;
        }
        Ok(None)
    }

    /// The commit at which two histories part; `None` where they have nothing in common.
    ///
    /// # Errors
    /// A commit is not here; the clone is shallow and what is here shows no common commit.
    pub fn merge_base(&self, one: Id, two: Id) -> Result<Option<Id>, Error> {
        let what = format!("where commits {} and {} part", one.short(), two.short());
        let found = {
            let _reading = self.reads(None);
            self.inner.merge_base(oid(one), oid(two))
        };
        match found {
            Ok(base) => Ok(Some(id(base))),
            _ if self.is_shallow() => Err(Error::Shallow { what }),
            Err(e)
                if e.code() == ErrorCode::NotFound
                    && self.has_commit(one)?
                    && self.has_commit(two)? =>
            {
                Ok(None)
            }
            Err(e) => Err(self.failed(&format!("finding out {what}"), &e)),
        }
    }

    /// What merging one commit into another would come to. Nothing is written.
    ///
    /// # Errors
    /// A commit is not here.
    pub fn merging(&self, into: Id, other: Id) -> Result<Merging, Error> {
        let what = format!("merging commit {} into {}", other.short(), into.short());
        let failed = |e: &git2::Error| self.failed(&what, e);
        let (into, other) = (self.commit(into)?, self.commit(other)?);
        let merged = self.inner.merge_commits(&into, &other, None).map_err(|e| failed(&e))?;
        if merged.has_conflicts() {
            return Ok(Merging::Conflicts);
        }
        let tree = into.tree().map_err(|e| failed(&e))?;
        let difference = self.inner.diff_tree_to_index(Some(&tree), Some(&merged), None);
        let changes = difference.map_err(|e| failed(&e))?.deltas().len();
        Ok(if changes == 0 { Merging::Nothing } else { Merging::Clean })
    }

    /// When a commit was made, by its committer's clock.
    ///
    /// # Errors
    /// The commit is not here.
    pub fn commit_time(&self, commit: Id) -> Result<jiff::Timestamp, Error> {
        let seconds = self.commit(commit)?.time().seconds();
        // A time that is none of ours is as good as none.
        Ok(jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::UNIX_EPOCH))
    }

    /// Whether a commit is here.
    ///
    /// # Errors
    /// It is here and damaged.
    pub fn has_commit(&self, commit: Id) -> Result<bool, Error> {
        match self.commit(commit) {
            Ok(_) => Ok(true),
            Err(Error::Object(StoreError::Absent { .. })) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn commit(&self, commit: Id) -> Result<Commit<'_>, Error> {
        let _reading = self.reads(Some(commit));
        self.inner.find_commit(oid(commit)).map_err(|e| {
            let (id, store, detail) = (commit, self.name(), Redacted::new(e.message()).to_string());
            if e.code() == ErrorCode::NotFound {
                return StoreError::Absent { id, store }.into();
            }
            if is_damage(&e) {
                return StoreError::Damaged { id, store, detail }.into();
            }
            self.failed(&format!("reading commit {commit}"), &e)
        })
    }
}
