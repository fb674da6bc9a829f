//! `write: pullRequest`: what a run decides is proposed on a branch of carp's own, and counts when people
//! have merged it.
//!
//! The branch goes forward only: each proposal has the one before as its first parent and, where that has
//! moved on, the output's tip as its second, so a plain push is enough and a pull request shows the plan
//! and nothing else. However it is merged, the next run sees an output tree that is the plan's, and
//! removes the branch.

use super::outcome::Published;
use super::publish::Writer;
use super::{Error, Verdict};
use crate::git::{GitStore, Merging, Repository};
use crate::model::{Dir, Id, Proposal, Store, TurnCommit};

/// What was decided, and what it stands on.
pub(super) struct WantedProposal<'a> {
    pub(super) proposal: &'a Proposal,
    /// The output branch's tip; `None` where there is none yet.
    pub(super) output: Option<Id>,
    /// The message of a commit that proposes it.
    pub(super) message: String,
}

/// Brings the proposal branch to what is wanted. `None` where another writer was faster.
pub(super) fn propose(
    writer: &Writer<'_>,
    store: &GitStore<'_>,
    wanted: WantedProposal<'_>,
) -> Result<Option<Verdict>, Error> {
    let repository = writer.repository;
    let branch = &writer.names.branches.proposal;
    let tip = repository.resolve(&writer.names.proposal())?;
    let output = match wanted.output {
        Some(output) => output,
        None => match begin(writer, store)? {
            Some(commit) => commit,
            None => return Ok(None),
        },
    };
    if !wanted.proposal.has_changes() {
        return close(writer, tip);
    }
    let tree = wanted.proposal.tree;
    let committed =
        |commit| TurnCommit { branch: branch.clone(), commit, remote: writer.names.target_shown() };
    if let Some(tip) = tip {
        let contains_output = repository.is_ancestor(output, tip)?;
        if contains_output && repository.commit_tree(tip)? == tree {
            return Ok(Some(Verdict::Proposed(committed(tip))));
        }
        // What people have approved is what they merge, while it can be merged.
        let approved = repository.resolve(&writer.names.approved())? == Some(tip);
        if approved && repository.merging(output, tip)? == Merging::Clean {
            return Ok(Some(Verdict::Approved(committed(tip))));
        }
    }
    let parents = parents(repository, tip, output)?;
    let commit = writer.commit_on(store, tree, parents, wanted.message)?;
    Ok(match writer.publish(branch, commit, tip)? {
        Published::Done => Some(Verdict::Proposes(committed(commit))),
        Published::Raced => None,
    })
}

/// The proposal before comes first, so that the branch goes forward; the output is among the ancestors,
/// so that merging needs no merge.
fn parents(repository: &Repository, tip: Option<Id>, output: Id) -> Result<Vec<Id>, Error> {
    let Some(tip) = tip else { return Ok(vec![output]) };
    let behind = !repository.is_ancestor(output, tip)?;
    Ok([Some(tip), behind.then_some(output)].into_iter().flatten().collect())
}

/// A proposal needs something that it can be merged into, so the output branch begins empty.
fn begin(writer: &Writer<'_>, store: &GitStore<'_>) -> Result<Option<Id>, Error> {
    let tree = store.put_dir(&Dir::default())?;
    let message = "carp: the output branch begins\n\nProposals are merged into it.\n".to_owned();
    let commit = writer.commit_on(store, tree, Vec::new(), message)?;
    let published = writer.publish(&writer.names.branches.output, commit, None)?;
    Ok((published == Published::Done).then_some(commit))
}

/// Nothing is left to propose: the branch goes, and a pull request from it with it. It stays where
/// somebody else committed last.
fn close(writer: &Writer<'_>, tip: Option<Id>) -> Result<Option<Verdict>, Error> {
    let Some(tip) = tip else { return Ok(Some(Verdict::Unchanged)) };
    let trailers = writer.repository.trailers(tip)?;
    if !trailers.iter().any(|(key, _)| key == "Carp-Plan") {
        return Ok(Some(Verdict::Unchanged));
    }
    Ok(match writer.remove(&writer.names.branches.proposal, tip)? {
        Published::Done => Some(Verdict::Unchanged),
        Published::Raced => None,
    })
}
