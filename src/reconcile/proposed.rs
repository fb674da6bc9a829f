//! What one attempt proposes: worked out of what is affected where that is known, else of everything.

use super::Error;
use super::caches::memo_of;
use super::first_run::FirstRunCheck;
use super::kept_baseline::NextBaseline;
use super::reports::{ReportTips, Reporting};
use super::run_inputs::RunInputs;
use super::verify::{InForce, Vouched};
use super::vouching::{History, propose_vouched};
use crate::model::{Memo, Proposal, Signers, Snapshot};

/// What was proposed, and from what.
pub(super) struct Proposed {
    pub(super) snapshot: Snapshot,
    pub(super) proposal: Proposal,
    pub(super) vouched: Vouched,
    /// Whether signatures were asked for.
    pub(super) asks_signatures: bool,
    /// The memo; `None` where the run needed none.
    pub(super) memo: Option<Memo>,
    /// What stands after a run that looked only at what is affected; `None` after one that looked at everything.
    pub(super) next: Option<NextBaseline>,
    /// The refs of the reports that it knew; `None` where these were on none.
    pub(super) tips: Option<ReportTips>,
}

impl RunInputs<'_> {
    /// What the run proposes, from a snapshot that has no reports yet.
    pub(super) fn propose(
        &self,
        snapshot: Snapshot,
        reports: Reporting,
    ) -> Result<Proposed, Error> {
        let _span = tracing::debug_span!("propose").entered();
        // People review a proposal by what it says of the whole fleet. Who may sign stands in a lock as well
        // as in the input, and no run in which anybody's signature is asked for leaves a baseline.
        let signers = Signers::of(self.spec);
        let unsigned = !signers.ask_of_input() && !signers.ask_of_reports();
        if unsigned
            && !self.names.proposes
            && let Some((proposal, next, memo)) = self.propose_part(&snapshot, &reports)
        {
            let (vouched, asks_signatures) = (Vouched::default(), false);
            let (next, tips) = (Some(next), reports.tips());
            return Ok(Proposed { snapshot, proposal, vouched, asks_signatures, memo, next, tips });
        }
        self.propose_whole(snapshot, reports)
    }

    /// What the run proposes by what stands, or stood as the last run left it.
    fn propose_part(
        &self,
        snapshot: &Snapshot,
        reports: &Reporting,
    ) -> Option<(Proposal, NextBaseline, Option<Memo>)> {
        if let Some((proposal, next)) = self.propose_affected(snapshot, reports) {
            return Some((proposal, next, None));
        }
        let (proposal, next, memo) = self.propose_since_last_run(snapshot, reports)?;
        Some((proposal, next, Some(memo)))
    }

    /// What is affected is read from objects that the baseline names, and those may be gone: old trees are
    /// pruned. That fails no run. Where an object is damaged that counts, a look at everything finds it.
    pub(super) fn propose_affected(
        &self,
        snapshot: &Snapshot,
        reports: &Reporting,
    ) -> Option<(Proposal, NextBaseline)> {
        let found = self.affected(snapshot, reports);
        found.unwrap_or_else(|error| {
            tracing::debug!(%error, "everything is looked at");
            None
        })
    }

    fn propose_whole(&self, snapshot: Snapshot, reports: Reporting) -> Result<Proposed, Error> {
        let Self { place, options, repository, names, store, spec, input } = *self;
        let in_force = InForce::read(store, spec, snapshot.previous, &place.prefix)?;
        let asks_signatures = in_force.asks_anything();
        let tips = reports.tips();
        let reports = reports.read(repository, names, store)?;
        let (reports, vouched) = in_force.vouch(repository, names, input, reports)?;
        let mut snapshot = Snapshot { reports: Some(reports), ..snapshot };
        let mut memo = memo_of(Some(repository), &place.prefix, &options.build);
        let ground = FirstRunCheck {
            repository: Some(repository),
            names,
            spec,
            observing: &options.observing,
        };
        let output = repository.resolve(&names.output())?;
        let history = History { repository: Some(repository), made_from: vec![input], output };
        let proposal = propose_vouched(&history, &mut snapshot, store, |snapshot| {
            ground.propose(&vouched, snapshot, store, &mut memo)
        })?;
        let (memo, next) = (Some(memo), None);
        Ok(Proposed { snapshot, proposal, vouched, asks_signatures, memo, next, tips })
    }
}
