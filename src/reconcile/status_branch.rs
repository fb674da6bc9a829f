//! The status branch within one run: the fold before a plan is committed, the documents after it.

use std::fmt::Write as _;

use super::Error;
use super::coalesce::{self, Due};
use super::outcome::Published;
use super::run::ReconcileRun;
use crate::model::{Id, TurnCommit, TurnStatus};
use crate::pipeline::fleet_document;

impl ReconcileRun<'_> {
    /// The folded reports, pushed by themselves.
    pub(super) fn push_fold(&mut self) -> Result<(), Error> {
        if self.snapshot.status == Some(self.proposal.fold_tree)
            || self.proposal.observed.workers.is_empty() && self.proposal.observed.pools.is_empty()
        {
            return Ok(());
        }
        let message = "carp: reports folded\n".to_owned();
        let committed = self.write_status(self.proposal.fold_tree, message)?;
        self.status = Some(committed.commit);
        Ok(())
    }

    /// The fold could not be pushed: plan with the one that was pushed last, so that the past can be
    /// replayed from the repository alone.
    pub(super) fn plan_with_the_last_fold(&mut self) -> Result<(), Error> {
        self.snapshot.reports = None;
        self.reported = None;
        self.next = None;
        let memo = self.memo.get_or_insert_default();
        self.proposal = self.vouched.propose(&self.snapshot, &self.store, memo)?;
        Ok(())
    }

    /// `None` where the branch says all already.
    pub(super) fn push_status(&mut self) -> Result<Option<TurnStatus>, Error> {
        let prefix = &self.place.prefix;
        let document =
            fleet_document(&self.proposal, prefix, self.output, Some(self.people), &self.store)?;
        self.fleet = Some(document.status);
        let tree = document.tree;
        let there = self.status.map(|s| self.repository.commit_tree(s)).transpose()?;
        if there == Some(tree) {
            return Ok(None);
        }
        let last = self.status.map(|s| self.repository.commit_time(s)).transpose()?;
        let pause = self.options.orders.status_pause;
        if let Due::At(due) = coalesce::due(last, self.now, pause)
            && !document.at_once
        {
            return Ok(Some(TurnStatus::Waiting { until: due }));
        }
        let mut message = "carp: status\n".to_owned();
        if let Some(output) = self.output {
            let _ = writeln!(message, "\nCarp-Output: {output}");
        }
        self.write_status(tree, message).map(|written| Some(TurnStatus::Committed(written)))
    }

    fn write_status(&mut self, tree: Id, message: String) -> Result<TurnCommit, Error> {
        let identity = self.identity();
        let writer = self.writer(&identity);
        let _span = tracing::debug_span!("write", branch = self.names.branches.status).entered();
        let commit = writer.commit(&self.store, tree, self.status, message)?;
        let branch = &self.names.branches.status;
        let published = writer.publish(branch, commit, self.status);
        self.races.pushes += 1;
        match published? {
            Published::Done => Ok(self.committed(branch, commit)),
            Published::Raced => Err(Error::Races { branch: branch.clone(), attempts: 1 }),
        }
    }
}
