//! What a look says: by what the last run left standing, where that can tell, else by looking at everything.

use super::Error;
use super::caches::memo_of;
use super::first_run::FirstRunCheck;
use super::kept_baseline::OpenedBaseline;
use super::look::Look;
use super::reports::{ReportTips, Reporting};
use super::vouching::propose_vouched;
use crate::model::{Digest, Memo, Proposal, ReportsSince, Signers, Snapshot};
use crate::pipeline::{self, Sought, SoughtAnswer};

/// What a look is for.
#[derive(Clone, Debug, Default)]
pub struct LookFor {
    /// What of the fleet is asked for; `None`: everything.
    pub sought: Option<Sought>,
    /// What tells this program from any other that may have run here; `None`: that is not known.
    pub program: Option<Digest>,
}

impl Look<'_> {
    /// What one run would commit, as far as it is asked for. `None` where only a look at everything knows: nothing was
    /// left standing, or more changed than that can tell of.
    pub(super) fn standing(&self, snapshot: &Snapshot, of: &LookFor) -> Option<SoughtAnswer> {
        let Self { sources, names, spec, prefix, observing, is_now, .. } = *self;
        let (sought, repository) = (of.sought.as_ref()?, sources.repository.as_ref()?);
        let signers = Signers::of(spec);
        let unsigned = !signers.ask_of_input() && !signers.ask_of_reports();
        let is_plain = observing.folder.is_none() && spec.example.is_none() && !names.proposes;
        if !unsigned || !is_plain {
            return None;
        }
        let opened = OpenedBaseline::open(repository, prefix, of.program)?;
        let reports = Reporting::on_refs(repository, names).ok()?;
        let is_silent = reports.tips().as_ref().is_none_or(ReportTips::is_empty);
        // How old the reports of a clone are is told; without any, no time passes for the workers.
        let elsewhere = names.remote.is_some() || names.observed_url.is_some();
        let (baseline, index) = (&opened.baseline, &opened.index);
        let is_told = if is_silent { baseline.until.is_some() } else { elsewhere };
        if is_told && !is_now {
            return None;
        }
        let since = ReportsSince { digest: reports.digest(), changed: None };
        let found = sources.with(|store| {
            pipeline::propose_sought(snapshot, &since, store, baseline, index, sought)
        });
        // An object that is gone or damaged fails no look; where it counts, a look at everything finds it.
        found.ok()?.ok()?
    }

    /// Proposes by looking at everything, with the memo as it is then. `blind`: it need not know what carp wrote.
    pub(super) fn propose(
        &self,
        snapshot: &mut Snapshot,
        blind: bool,
        notes: &mut Vec<String>,
    ) -> Result<(Proposal, Memo), Error> {
        let Self { sources, names, spec, prefix, observing, .. } = *self;
        let (reports, vouched) = self.believed(snapshot.previous, notes)?;
        snapshot.reports = reports;
        let repository = sources.repository.as_ref();
        let mut memo = memo_of(repository, prefix, &snapshot.build);
        let ground = FirstRunCheck { repository, names, spec, observing };
        let history = self.history()?;
        let proposal = sources.with(|store| {
            propose_vouched(&history, snapshot, store, |snapshot| {
                if blind {
                    return Ok(vouched.propose(snapshot, store, &mut memo)?);
                }
                ground.propose(&vouched, snapshot, store, &mut memo)
            })
        })??;
        Ok((proposal, memo))
    }
}
