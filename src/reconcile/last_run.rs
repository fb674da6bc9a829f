//! How the last run left the fleet, where it looked at everything and changed something: it saw nothing stand, so it left
//! no baseline. Where there is news by the next run, that one first looks at everything as it was left, and at the news
//! by what stands then. So a fleet that is never quiet costs what changes, too.
//!
//! It is a cache in the Git directory and never an input: what stands is looked for, whatever is written here.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::caches::{cache_file, memo_of};
use super::kept_baseline::{NextBaseline, Paths};
use super::reports::{Reporting, read_refs};
use super::run::ReconcileRun;
use super::run_inputs::RunInputs;
use super::standing::standing;
use super::vouching::{History, propose_vouched};
use super::{Error, FleetPlace};
use crate::git::Repository;
use crate::model::{Digest, Id, Input, Memo, Proposal, Snapshot, Work};
use crate::pipeline;
use crate::store::{load_sealed, save_sealed};

/// The format of [`LastRun`].
const FORMAT: u32 = 1;

/// The longest back-off, in runs.
const MOST_BACK_OFF: u32 = 8;

/// How a run left the fleet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LastRun {
    format: u32,
    program: Digest,
    /// The input tree, and its commit.
    input: Id,
    commit: Id,
    /// The output tree.
    output: Id,
    /// What tells the reports that it read from any others.
    reports: Digest,
    /// Until when no time changes anything; `None`: for ever.
    until: Option<Timestamp>,
    /// How many looks in a row were misses: the fleet did not stand as it was left, or the news was a matter of everything.
    misses: u32,
    /// How many runs there were since the last look. As many as there were misses go by without one.
    runs_since: u32,
}

impl LastRun {
    fn of(repository: &Repository, prefix: &str) -> Option<Self> {
        load_sealed::<Self>(&path(repository, prefix)).filter(|last| last.format == FORMAT)
    }

    /// Forgets how the last run left the fleet: it is known to stand, or it is not known how it is.
    pub(super) fn forget(repository: &Repository, prefix: &str) {
        let _ = std::fs::remove_file(path(repository, prefix));
    }

    /// Whether it is worth while to look at everything as it was left: it is there still, no deadline has passed, there
    /// is news, and misses are not backed off from.
    fn is_useful(&self, snapshot: &Snapshot, reports: &Reporting, program: Digest) -> bool {
        let is_there = self.program == program
            && snapshot.previous == Some(self.output)
            && snapshot.input.rewound_from.is_none()
            && self.until.is_none_or(|until| snapshot.now < until);
        let news = snapshot.input.tree != self.input || reports.digest() != self.reports;
        is_there && news && self.runs_since > self.misses.min(MOST_BACK_OFF)
    }
}

fn path(repository: &Repository, prefix: &str) -> PathBuf {
    cache_file(repository, prefix, "last-run.json")
}

impl ReconcileRun<'_> {
    /// Leaves how this run, which looked at everything and changed something, left the fleet. It costs time only where it
    /// cannot be written.
    pub(super) fn leave_last_run(&self, program: Digest, reports: Digest) {
        let FleetPlace { prefix, .. } = self.place;
        let Some(tips) = &self.tips else { return LastRun::forget(self.repository, prefix) };
        let before = LastRun::of(self.repository, prefix);
        let (misses, runs_since) =
            before.map_or((0, 0), |before| (before.misses, before.runs_since));
        let last = LastRun {
            format: FORMAT,
            program,
            input: self.input_tree,
            commit: self.input,
            output: self.proposal.tree,
            reports,
            until: self.proposal.valid_until,
            misses,
            runs_since: runs_since.saturating_add(1),
        };
        let _ = Paths::of(self.repository, prefix).save_tips(Some(tips));
        let _ = save_sealed(&path(self.repository, prefix), &last);
    }
}

impl RunInputs<'_> {
    /// What the run proposes by how the last one left the fleet; `None` where that is not known or did not stand, and where
    /// the news is a matter of everything.
    pub(super) fn propose_since_last_run(
        &self,
        snapshot: &Snapshot,
        reports: &Reporting,
    ) -> Option<(Proposal, NextBaseline, Memo)> {
        let (repository, prefix) = (self.repository, &self.place.prefix);
        let program = self.options.program?;
        let last = LastRun::of(repository, prefix)?;
        if !last.is_useful(snapshot, reports, program) {
            return None;
        }
        let looked = self.look_at(&last, program, snapshot).unwrap_or_else(|error| {
            tracing::debug!(%error, "nobody knows how the last run left the fleet");
            None
        });
        let found = looked.and_then(|(work, memo)| {
            let (proposal, next) = self.propose_affected(snapshot, reports)?;
            Some((Proposal { work: proposal.work.plus(work), ..proposal }, next, memo))
        });
        if found.is_none() {
            let misses = last.misses.saturating_add(1);
            let last = LastRun { misses, runs_since: 0, ..last };
            let _ = save_sealed(&path(repository, prefix), &last);
        }
        found
    }

    /// Looks at everything as the last run left it, and keeps what stands; `None` where it does not.
    fn look_at(
        &self,
        last: &LastRun,
        program: Digest,
        snapshot: &Snapshot,
    ) -> Result<Option<(Work, Memo)>, Error> {
        let Self { place, options, repository, names, store, .. } = *self;
        let paths = Paths::of(repository, &place.prefix);
        let Some(tips) = paths.tips(last.reports) else { return Ok(None) };
        let reports = read_refs(repository, &names.observed(), tips.into_iter().collect(), store)?;
        let of_tree = Input::of_files(last.input, &place.prefix);
        let input = Input { commit: Some(last.commit), ..of_tree };
        let mut before = Snapshot { input, reports: Some(reports), ..snapshot.clone() };
        let mut memo = memo_of(Some(repository), &place.prefix, &options.build);
        let output = repository.resolve(&names.output())?;
        let made_from = vec![last.commit];
        let history = History { repository: Some(repository), made_from, output };
        let proposal = propose_vouched(&history, &mut before, store, |before| {
            Ok(pipeline::propose(before, store, &mut memo)?)
        })?;
        let stands = standing(&before, last.reports, &proposal, store, &memo)?;
        let Some((baseline, documents)) = stands else { return Ok(None) };
        paths.save(program, baseline, &documents)?;
        Ok(Some((proposal.work, memo)))
    }
}
