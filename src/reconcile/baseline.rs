//! What the last run left standing, kept in the Git directory for the next one. All files are caches and
//! never inputs: a run without them looks at everything, and comes to the same end.

use super::Error;
use super::kept_baseline::{KeptBaseline, NextBaseline, OpenedBaseline, Paths};
use super::last_run::LastRun;
use super::outcome::Verdict;
use super::reports::Reporting;
use super::run::ReconcileRun;
use super::run_inputs::RunInputs;
use super::standing::standing;
use crate::model::{Baseline, Memo, Proposal, Snapshot, TurnStatus};
use crate::pipeline;
use crate::store::save_sealed;

impl RunInputs<'_> {
    /// What one run would commit, by what the last run left standing; `None` where everything must be looked at.
    pub(super) fn affected(
        &self,
        snapshot: &Snapshot,
        reports: &Reporting,
    ) -> Result<Option<(Proposal, NextBaseline)>, Error> {
        let Self { repository, names, store, .. } = *self;
        let prefix = &snapshot.input.prefix;
        let opened = OpenedBaseline::open(repository, prefix, self.options.program);
        let Some(OpenedBaseline { baseline, index, documents, paths }) = opened else {
            return Ok(None);
        };
        // The tips are many, and most runs find the reports as the last one did.
        let changed = reports.digest() != baseline.reports;
        let tips = changed.then(|| paths.tips(baseline.reports)).flatten();
        let since = reports.since(tips.as_ref(), repository, names, store)?;
        let affected = pipeline::propose_affected(snapshot, &since, store, &baseline, &index)?;
        let next = |next: Baseline| NextBaseline { before: baseline.clone(), next, documents };
        Ok(affected.map(|(proposal, baseline)| (proposal, next(baseline))))
    }
}

impl ReconcileRun<'_> {
    /// Keeps what stands after this run, where it is known to. What was kept before stays where it is not: it
    /// counts only where all is as it says.
    pub(super) fn keep_baseline(&self, verdict: &Verdict, status: Option<&TurnStatus>) {
        let written = matches!(verdict, Verdict::Unchanged | Verdict::Committed(_))
            && !matches!(status, Some(TurnStatus::Failed { .. }));
        let Some(program) = self.options.program.filter(|_| written) else { return };
        if self.asks_signatures || self.names.proposes {
            return;
        }
        let (repository, prefix) = (self.repository, &self.place.prefix);
        let paths = Paths::of(repository, prefix);
        let waits = matches!(status, Some(TurnStatus::Waiting { .. }));
        // A cache that cannot be written, or an object that cannot be read, costs the next run time.
        if let Some(NextBaseline { before, next, documents }) = &self.next {
            LastRun::forget(repository, prefix);
            let (next, documents) = (next.clone(), *documents);
            let baseline = if waits { next.with_status_of(before) } else { Some(next) };
            let Some(baseline) = baseline else { return };
            if baseline.reports != before.reports {
                let _ = paths.save_tips(self.tips.as_ref());
            }
            let _ = save_sealed(&paths.baseline, &KeptBaseline { program, documents, baseline });
            return;
        }
        let Some(reports) = self.reported else { return };
        let nothing = Memo::default();
        let memo = self.memo.as_ref().unwrap_or(&nothing);
        match standing(&self.snapshot, reports, &self.proposal, &self.store, memo) {
            Ok(Some((baseline, documents))) => {
                LastRun::forget(repository, prefix);
                let _ = paths.save_tips(self.tips.as_ref());
                let _ = paths.save(program, baseline, &documents);
            }
            // What did not stand and was not changed will not stand the next time either.
            Ok(None) if is_changed(verdict, status) => self.leave_last_run(program, reports),
            _ => {}
        }
    }
}

/// Whether a run committed something, and its status does not wait.
const fn is_changed(verdict: &Verdict, status: Option<&TurnStatus>) -> bool {
    match status {
        Some(TurnStatus::Committed(_)) => true,
        None => matches!(verdict, Verdict::Committed(_)),
        Some(TurnStatus::Waiting { .. } | TurnStatus::Failed { .. }) => false,
    }
}
