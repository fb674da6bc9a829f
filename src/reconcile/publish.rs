//! A commit becomes the tip of a branch: by a push with a lease where there is a remote, by a
//! compare-and-swap of the local branch where there is none.

use super::outcome::Published;
use super::unknown::{PushedCommits, settle};
use super::{Error, Names};
use crate::git::{CommitDraft, GitStore, PushOutcome, Repository, Swap};
use crate::model::Id;
use crate::model::api::GitSettings;

/// A writer of one fleet's branches.
pub(super) struct Writer<'a> {
    pub(super) repository: &'a Repository,
    pub(super) names: &'a Names,
    pub(super) identity: &'a GitSettings,
    pub(super) time: jiff::Timestamp,
}

impl Writer<'_> {
    /// Makes a commit and brings it with all that was put to the disk. No ref moves.
    pub(super) fn commit(
        &self,
        store: &GitStore<'_>,
        tree: Id,
        parent: Option<Id>,
        message: String,
    ) -> Result<Id, Error> {
        self.commit_on(store, tree, parent.into_iter().collect(), message)
    }

    /// Makes a commit with any parents and brings it to the disk; the first of them is the commit that it follows.
    pub(super) fn commit_on(
        &self,
        store: &GitStore<'_>,
        tree: Id,
        parents: Vec<Id>,
        message: String,
    ) -> Result<Id, Error> {
        let draft = CommitDraft {
            tree,
            parents,
            message,
            name: self.identity.author.clone(),
            email: self.identity.email.clone(),
            time: self.time,
        };
        let commit = match &self.identity.signing {
            None => store.commit(&draft),
            Some(signing) => store.signed_commit(&draft, &self.repository.sign(&draft, signing)?),
        };
        store.flush()?;
        Ok(commit)
    }

    /// Moves a branch from `expected` to a commit, if it still is there.
    pub(super) fn publish(
        &self,
        branch: &str,
        commit: Id,
        expected: Option<Id>,
    ) -> Result<Published, Error> {
        let name = Names::there(branch);
        let Some(remote) = self.names.target() else {
            return self.move_local(branch, &name, commit, expected);
        };
        let published = self.push(remote, branch, &name, commit, expected)?;
        if published == Published::Done {
            // Git has done so already where the clone is configured to follow this branch.
            let here = self.names.written(branch);
            let known = self.repository.resolve(&here)?;
            if known == expected {
                self.repository.compare_and_swap(&here, known, commit, "carp: pushed")?;
            }
        }
        Ok(published)
    }

    /// Removes a branch, if it still is at `expected`.
    pub(super) fn remove(&self, branch: &str, expected: Id) -> Result<Published, Error> {
        let name = Names::there(branch);
        let Some(remote) = self.names.target() else {
            return Ok(published(self.repository.compare_and_delete(&name, expected)?));
        };
        let outcome = self.repository.delete(remote, &name, expected)?;
        let removed = self.settled(outcome, remote, branch, None, Some(expected))?;
        if removed == Published::Done {
            let here = self.names.written(branch);
            if let Some(known) = self.repository.resolve(&here)? {
                self.repository.compare_and_delete(&here, known)?;
            }
        }
        Ok(removed)
    }

    fn move_local(
        &self,
        branch: &str,
        name: &str,
        commit: Id,
        expected: Option<Id>,
    ) -> Result<Published, Error> {
        if self.repository.is_checked_out(name) {
            return Err(Error::CheckedOut { branch: branch.to_owned() });
        }
        let swap = self.repository.compare_and_swap(name, expected, commit, "carp: committed")?;
        Ok(published(swap))
    }

    fn push(
        &self,
        remote: &str,
        branch: &str,
        name: &str,
        commit: Id,
        expected: Option<Id>,
    ) -> Result<Published, Error> {
        // What a host is asked to do with a proposal is nothing for the other branches.
        let proposes = self.names.proposes && branch == self.names.branches.proposal;
        let options = if proposes { &*self.identity.push_options } else { &[] };
        let outcome = self.repository.push_with(remote, commit, name, expected, options)?;
        self.settled(outcome, remote, branch, Some(commit), expected)
    }

    /// What the outcome of a push means for a branch that was to move from `expected` to `wanted`.
    fn settled(
        &self,
        outcome: PushOutcome,
        remote: &str,
        branch: &str,
        wanted: Option<Id>,
        expected: Option<Id>,
    ) -> Result<Published, Error> {
        let branch = branch.to_owned();
        match outcome {
            PushOutcome::Done => Ok(Published::Done),
            PushOutcome::Raced { .. } => Ok(Published::Raced),
            PushOutcome::Refused { text } => {
                Err(Error::Refused { branch, detail: text.to_string(), attempt: None })
            }
            PushOutcome::Auth { text } => Err(Error::Auth { branch, detail: text.to_string() }),
            PushOutcome::Unknown { text } => {
                let detail = text.to_string();
                let asked = PushedCommits { remote, branch: &branch, commit: wanted, expected };
                match settle(self.repository, self.names, &asked) {
                    Some(published) => Ok(published),
                    None => Err(Error::Unknown { branch, detail }),
                }
            }
        }
    }
}

fn published(swap: Swap) -> Published {
    match swap {
        Swap::Moved => Published::Done,
        Swap::Raced => Published::Raced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_remote_the_faster_writer_keeps_the_branch() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::init_bare(folder.path(), "main").unwrap();
        let (names, identity) = (Names::default(), GitSettings::default());
        let time = jiff::Timestamp::UNIX_EPOCH;
        let writer = Writer { repository: &repository, names: &names, identity: &identity, time };
        let store = repository.store().unwrap();
        let commit =
            |message: &str| writer.commit(&store, Id::EMPTY_DIR, None, message.to_owned()).unwrap();
        let (first, second) = (commit("first\n"), commit("second\n"));
        assert_eq!(writer.publish("carp/rendered", first, None).unwrap(), Published::Done);
        assert_eq!(writer.publish("carp/rendered", second, None).unwrap(), Published::Raced);
        let tip = repository.resolve("refs/heads/carp/rendered").unwrap();
        assert_eq!(tip, Some(first));
    }
}
