//! The output branch within one run: a commit of its own, or a proposal for people to merge.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Error;
use super::certificate::InputHistory;
use super::outcome::Published;
use super::outcome::Verdict;
use super::proposal_branch::{WantedProposal, propose};
use super::run::ReconcileRun;
use crate::change::{plan_digest, trailers, with_lines};
use crate::diag::visible;
use crate::model::Name;
use crate::pipeline::{Update, update_lines, updates_of_some};

/// Of so many clusters a message says what their updates do: to read manifests takes time, and who wants to know
/// it of all asks `carp plan`, or reads the commit.
const MOST_UPDATES: usize = 500;

impl ReconcileRun<'_> {
    /// `None` where another writer was faster.
    pub(super) fn push_output(&mut self) -> Result<Option<Verdict>, Error> {
        if self.names.proposes {
            return self.propose_output();
        }
        if !self.proposal.has_changes() {
            return Ok(Some(Verdict::Unchanged));
        }
        let identity = self.identity();
        let writer = self.writer(&identity);
        let _span = tracing::debug_span!("write", branch = self.names.branches.output).entered();
        let message = self.message();
        let mut parent = self.output;
        // One push moves the branch over both, so nobody ever finds the first one alone.
        if let Some(form) = self.proposal.form_step() {
            let message = self.with_trailers(&form.message);
            parent = Some(writer.commit(&self.store, form.tree, parent, message)?);
        }
        let commit = writer.commit(&self.store, self.proposal.tree, parent, message)?;
        let branch = &self.names.branches.output;
        let published = writer.publish(branch, commit, self.output);
        self.races.pushes += 1;
        match published.map_err(|error| error.of_attempt(self.attempted()))? {
            Published::Raced => Ok(None),
            Published::Done => {
                let committed = self.committed(branch, commit);
                self.output = Some(commit);
                Ok(Some(Verdict::Committed(committed)))
            }
        }
    }

    fn propose_output(&mut self) -> Result<Option<Verdict>, Error> {
        let subject = self.proposal.message.lines().next().unwrap_or_default();
        let (updates, _) = self.updates();
        let plan = (self.options.describe)(&self.proposal, &self.place.prefix, &updates);
        let forced = self.forced_by();
        let message = self.with_trailers(&format!("{subject}\n\n{}\n{forced}", plan.trim_end()));
        let wanted = WantedProposal { proposal: &self.proposal, output: self.output, message };
        let verdict = propose(&self.writer(&self.identity()), &self.store, wanted)?;
        self.races.pushes += u32::from(matches!(verdict, None | Some(Verdict::Proposes(_))));
        // A first proposal has made the branch that it is to be merged into.
        self.output = self.repository.resolve(&self.names.output())?;
        Ok(verdict)
    }

    fn message(&self) -> String {
        let (updates, more) = self.updates();
        let lines = update_lines(&updates);
        let message = with_lines(&self.proposal.message, &lines, more);
        self.with_trailers(&format!("{message}{}", self.forced_by()))
    }

    /// What the updates do, and of how many more nobody looked at that.
    fn updates(&self) -> (BTreeMap<Name, Update>, usize) {
        updates_of_some(&self.store, &self.proposal, &self.place.prefix, MOST_UPDATES)
    }

    /// What people wrote that forced each deletion and move which begins.
    fn forced_by(&self) -> String {
        let history = InputHistory {
            repository: self.repository,
            store: &self.store,
            tree: self.input_tree,
            tip: self.input,
            prefix: &self.place.prefix,
        };
        let lines = history.certificate(&self.proposal);
        let mut out = String::new();
        for line in &lines {
            let before = if out.is_empty() { "\nforced by\n" } else { "" };
            // A file's name is one line whatever stands in it: it adds no trailer.
            let _ = writeln!(out, "{before}  {}", visible::line(&line.to_string()));
        }
        out
    }

    fn with_trailers(&self, message: &str) -> String {
        let trailers = trailers(
            Some(self.input),
            self.status,
            self.now,
            &self.options.build.version,
            plan_digest(&self.proposal.plan, &self.proposal.previous, &self.proposal.gates),
        );
        let mut message = format!("{message}\n");
        for (key, value) in trailers {
            let _ = writeln!(message, "{key}: {value}");
        }
        message
    }
}
