//! One attempt of a run: what it saw and what it proposes. What is done with that stands in files of its own.

use super::coalesce;
use super::kept_baseline::NextBaseline;
use super::options::Options;
use super::publish::Writer;
use super::reports::ReportTips;
use super::verify::Vouched;
use super::{FleetPlace, Names};
use crate::git::{GitStore, Repository};
use crate::model::api::{FleetSpec, GitSettings};
use crate::model::{
    Attempt as Attempted, Digest, HeldBack, Id, Memo, Proposal, Snapshot, TurnCommit,
    TurnConstraints,
};
use crate::status::FleetStatus;

/// The races that a run lost, by branch, and what it pushed.
#[derive(Clone, Copy, Default)]
pub(super) struct Races {
    pub(super) output: u32,
    pub(super) status: u32,
    /// The pushes, won or lost.
    pub(super) pushes: u32,
}

/// One attempt: what it saw and what it proposes.
pub(super) struct ReconcileRun<'a> {
    pub(super) place: &'a FleetPlace,
    pub(super) options: &'a Options,
    pub(super) repository: &'a Repository,
    pub(super) names: Names,
    pub(super) rewritten: Vec<String>,
    pub(super) store: GitStore<'a>,
    pub(super) spec: FleetSpec,
    pub(super) input: Id,
    /// The last commit of people on the input branch.
    pub(super) people: Id,
    pub(super) input_tree: Id,
    pub(super) output: Option<Id>,
    pub(super) status: Option<Id>,
    pub(super) now: jiff::Timestamp,
    /// The memo; `None` where the run needed none.
    pub(super) memo: Option<Memo>,
    /// What stands after a run that looked only at what is affected; `None` after one that looked at everything.
    pub(super) next: Option<NextBaseline>,
    /// The refs of the reports that it knew; `None` where these were on none.
    pub(super) tips: Option<ReportTips>,
    pub(super) proposal: Proposal,
    pub(super) snapshot: Snapshot,
    /// What tells the reports of this run from any others; `None` where it went on without them.
    pub(super) reported: Option<Digest>,
    pub(super) vouched: Vouched,
    pub(super) asks_signatures: bool,
    pub(super) fleet: Option<FleetStatus>,
    /// The tip of the output branch before this attempt.
    pub(super) base: Option<Id>,
    pub(super) races: Races,
}

impl ReconcileRun<'_> {
    /// Why nothing may be committed although there is something.
    pub(super) fn held_back(&self) -> Option<HeldBack> {
        let TurnConstraints { refused, breaker: still, status_pause: _ } = &self.options.orders;
        if !self.proposal.has_changes() {
            return None;
        }
        if refused.as_ref() == Some(&self.attempted()) {
            return Some(HeldBack::Refused);
        }
        let feeds_itself = still.is_some_and(|still| still == self.inputs());
        feeds_itself.then_some(HeldBack::Breaker)
    }

    pub(super) fn attempted(&self) -> Attempted {
        Attempted { input: self.input, output: self.base, tree: self.proposal.tree }
    }

    fn inputs(&self) -> Digest {
        coalesce::inputs(self.people, self.proposal.reported)
    }

    pub(super) fn writer<'w>(&'w self, identity: &'w GitSettings) -> Writer<'w> {
        Writer { repository: self.repository, names: &self.names, identity, time: self.now }
    }

    pub(super) fn identity(&self) -> GitSettings {
        self.spec.git.clone().unwrap_or_default()
    }

    pub(super) fn committed(&self, branch: &str, commit: Id) -> TurnCommit {
        TurnCommit { branch: branch.to_owned(), commit, remote: self.names.target_shown() }
    }
}
