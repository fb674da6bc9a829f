//! What a plan changes, as people think of it: clusters, workers, holds; and its three forms.

mod against;
mod certificate;
mod clusters;
mod deletions;
mod destructive;
mod form;
mod groups;
mod json;
mod limits;
mod markdown;
mod moving;
#[cfg(test)]
pub(super) mod sample;
mod spent;
mod text;
mod words;
mod workers;

pub use against::{AgainstView, text as against_text};
pub use clusters::{Action, ClusterChange, why_here};
pub use deletions::{progress_words, waiting_words};
pub use groups::{ChangeGroup, groups};
pub use json::{PLAN_SCHEMA, json};
pub(super) use json::{hold as hold_value, stays as stays_value};
pub(super) use limits::is_long;
pub use markdown::{FileDiff, markdown};
pub(super) use moving::{LOST, stays_text};
#[cfg(test)]
pub(in crate::cli) use sample::proposal as sample_proposal;
pub use text::{diffs_text, holds_text, text};
use words::alike;
pub use words::{HoldWords, ack_command, gate_words, hold_words, kept, listed, pool_lines};

use std::collections::{BTreeMap, BTreeSet};

use super::count;
use super::findings::{Finding, tells_hold, tells_kept};
use crate::change::{Certified, Pressure, pressure};
use crate::model::api::DriftPolicy;
use crate::model::{
    ChangeKind, ClusterPlan, Decision, GateReason, Hold, HoldKind, Name, Progress, Proposal,
    Quantity, ReasonCode, WorkerState, paths, thousands,
};
use crate::pipeline::Update;
use clusters::{WorkersBefore, change_of};
use workers::WorkerLine;

/// A proposal, sorted by what it means to people.
pub struct PlanView<'a> {
    /// What it was made from.
    pub proposal: &'a Proposal,
    /// What the user called the fleet.
    pub label: &'a str,
    /// The fleet's root in its repository, where it has one.
    pub prefix: &'a str,
    /// The proposal's findings, with their places found.
    pub findings: &'a [Finding],
    /// The clusters that change, destructive changes first, then by name.
    pub clusters: Vec<ClusterChange>,
    /// The clusters that change, as lines: what happens alike to many is one.
    pub groups: Vec<ChangeGroup>,
    /// The workers whose files or clusters change.
    pub workers: Vec<WorkerChange>,
    /// The files that change below `control-plane/`.
    pub control_plane: FileCount,
    /// The files that change anywhere.
    pub files: FileCount,
    /// How many clusters wait for a worker after this plan.
    pub waiting: u64,
    /// What a change was merged into; `None` where the files were looked at by themselves.
    pub against: Option<&'a AgainstView>,
    /// What people should know before they read the plan.
    pub warnings: &'a [String],
    /// What it leaves at its limits.
    pub pressure: Pressure,
    /// What people wrote that forced each deletion and move which begins.
    pub certificate: &'a [Certified],
    /// How many files have a diff that says something new, shown or not.
    pub telling: usize,
    /// The width of the terminal; `None` where nobody's lines are broken.
    pub width: Option<usize>,
}

/// What happens to one worker's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerChange {
    /// The worker.
    pub name: Name,
    /// How many clusters it has before.
    pub before: u64,
    /// How many it has after.
    pub after: u64,
    /// How many it can have; `None` where it does not say.
    pub capacity: Option<Quantity>,
    /// Its state after; `None` where nothing of it is left.
    pub state: Option<WorkerState>,
    /// The files that change below its folder.
    pub files: FileCount,
}

/// How many files are new, changed and gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCount {
    /// New.
    pub create: u64,
    /// Changed.
    pub update: u64,
    /// Gone.
    pub delete: u64,
}

impl FileCount {
    /// All together.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.create + self.update + self.delete
    }

    fn add(&mut self, kind: ChangeKind) {
        *match kind {
            ChangeKind::Create => &mut self.create,
            ChangeKind::Update => &mut self.update,
            ChangeKind::Delete => &mut self.delete,
        } += 1;
    }
}

impl std::fmt::Display for FileCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [create, update, delete] = [self.create, self.update, self.delete].map(thousands);
        write!(f, "+{create} ~{update} -{delete}")
    }
}

impl<'a> PlanView<'a> {
    /// Sorts a proposal of which nobody knows more than its files.
    #[must_use]
    pub fn of(
        proposal: &'a Proposal,
        label: &'a str,
        prefix: &'a str,
        findings: &'a [Finding],
    ) -> Self {
        Self::told(proposal, label, prefix, findings, &BTreeMap::new())
    }

    /// Sorts a proposal, with what its updates do.
    #[must_use]
    pub fn told(
        proposal: &'a Proposal,
        label: &'a str,
        prefix: &'a str,
        findings: &'a [Finding],
        updates: &BTreeMap<Name, Update>,
    ) -> Self {
        let files = FileCounts::of(proposal, prefix);
        let before = WorkersBefore::new(&proposal.previous);
        let change = |(name, planned)| change_of(name, planned, proposal, &before, &files, updates);
        let mut clusters: Vec<_> = proposal.plan.clusters.iter().filter_map(change).collect();
        clusters.sort_by(|a, b| (a.action, &a.name).cmp(&(b.action, &b.name)));
        let told: Vec<_> =
            clusters.iter().filter(|change| !is_held_back(change, proposal)).cloned().collect();
        Self {
            groups: groups(&told),
            clusters,
            workers: worker_changes(proposal, &files),
            control_plane: files.control_plane,
            files: files.all,
            waiting: proposal.counts.pending,
            against: None,
            pressure: pressure(proposal),
            warnings: &[],
            certificate: &[],
            telling: 0,
            width: None,
            proposal,
            label,
            prefix,
            findings,
        }
    }

    /// What the updates do, by cluster.
    fn updates(&self) -> BTreeMap<Name, Update> {
        let told = |change: &ClusterChange| Some((change.name.clone(), change.update.clone()?));
        self.clusters.iter().filter_map(told).collect()
    }

    /// How many clusters an action happens to.
    #[must_use]
    pub fn count(&self, action: Action) -> u64 {
        self.clusters.iter().filter(|c| c.action == action).count() as u64
    }

    /// How many things a guard or a gate kept back. Where a guard keeps folders, these are what it holds.
    #[must_use]
    pub fn held(&self) -> u64 {
        let kept = |hold: &&Hold| self.proposal.gates.iter().any(|gate| is_of(gate.reason, hold));
        let holds = &self.proposal.plan.holds;
        let once = holds.iter().filter(|hold| !kept(hold)).count();
        once as u64 + super::len(&self.proposal.gates)
    }

    /// The folders that were kept, by reason, but for what a guard says already.
    fn kept(&self) -> BTreeMap<GateReason, Vec<&Name>> {
        let mut kept = kept(&self.proposal.gates);
        kept.retain(|reason, _| {
            let is_held = self.proposal.plan.holds.iter().any(|hold| is_of(*reason, hold));
            !is_held && !tells_kept(self.findings, &self.proposal.gates, *reason)
        });
        kept
    }

    /// What guards hold, but for what a finding says already.
    fn holds(&self) -> Vec<Hold> {
        let holds = self.proposal.plan.holds.iter();
        holds.filter(|hold| !tells_hold(self.findings, hold.kind)).cloned().collect()
    }

    /// How many clusters are not carp's any more, where any are.
    fn forgotten_words(&self) -> Option<String> {
        let gone = self.count(Action::Forget);
        (gone > 0).then(|| format!("{} to forget", thousands(gone)))
    }

    /// How many workers begin to go, where any do.
    fn workers_words(&self) -> Option<String> {
        let all = self.proposal.plan.retirements.values();
        let going = all.filter(|deletion| deletion.progress == Progress::Begins).count();
        (going > 0).then(|| format!("{} to delete", count(going as u64, "worker")))
    }

    /// Whether edits by hand on the output branch are set back, and not kept.
    #[must_use]
    pub fn sets_back(&self) -> bool {
        self.proposal.fleet.spec.drift.unwrap_or_default() == DriftPolicy::Overwrite
    }

    /// The fleet's name, or what the user called it where `carp.yaml` did not load.
    #[must_use]
    pub fn fleet(&self) -> &str {
        let name = self.proposal.fleet.name.as_str();
        if name.is_empty() { self.label } else { name }
    }
}

/// Whether a cluster waits for nothing but a guard, which names it.
fn is_held_back(change: &ClusterChange, proposal: &Proposal) -> bool {
    let waits_only = |planned: &ClusterPlan| match &planned.decision {
        Decision::Wait { reasons, .. } => reasons.iter().eq(&[ReasonCode::PlacementsHeld]),
        _ => false,
    };
    let plan = &proposal.plan;
    plan.clusters.get(&change.name).is_some_and(waits_only)
        && plan.holds.iter().any(|hold| hold.kind == HoldKind::PlacementsHeld)
}

/// Whether a folder is kept because of a guard.
fn is_of(reason: GateReason, hold: &Hold) -> bool {
    matches!(
        (reason, hold.kind),
        (GateReason::MachinesReplaced, HoldKind::MachinesReplaced)
            | (GateReason::ObjectsRemoved, HoldKind::ObjectsRemoved)
            | (GateReason::Drifted, HoldKind::Drifted)
    )
}

/// The changed files, counted by whose they are.
#[derive(Default)]
struct FileCounts {
    all: FileCount,
    control_plane: FileCount,
    workers: BTreeMap<String, FileCount>,
    clusters: BTreeMap<String, FileCount>,
    /// The clusters of which only the form changes.
    in_form: BTreeSet<String>,
}

impl FileCounts {
    fn of(proposal: &Proposal, prefix: &str) -> Self {
        let root = paths::in_repository(prefix, "");
        let in_form = form::clusters(proposal, &root);
        let mut files = Self { in_form, ..Self::default() };
        for change in &proposal.changes {
            files.all.add(change.kind);
            let path = change.path.strip_prefix(&root).unwrap_or(&change.path);
            let mut parts = path.split('/');
            match (parts.next(), parts.next(), parts.next(), parts.next()) {
                (Some(paths::WORKERS), Some(worker), Some(paths::CLUSTERS), Some(cluster)) => {
                    files.workers.entry(worker.to_owned()).or_default().add(change.kind);
                    files.clusters.entry(cluster.to_owned()).or_default().add(change.kind);
                }
                (Some(paths::WORKERS), Some(worker), ..) => {
                    files.workers.entry(worker.to_owned()).or_default().add(change.kind);
                }
                (Some(paths::CONTROL_PLANE), ..) => files.control_plane.add(change.kind),
                _ => {}
            }
        }
        files
    }
}

/// A plan that stopped says nothing of workers, and changes none.
fn worker_changes(proposal: &Proposal, files: &FileCounts) -> Vec<WorkerChange> {
    if proposal.stopped {
        return Vec::new();
    }
    let previous = &proposal.previous.workers;
    let names: BTreeSet<_> = previous.keys().chain(proposal.plan.workers.keys()).collect();
    names
        .into_iter()
        .filter_map(|name| {
            let plan = proposal.plan.workers.get(name);
            let before = previous.get(name).map_or(0, |lock| lock.clusters.len() as u64);
            let after = plan.map_or(0, |p| p.clusters);
            let files = files.workers.get(name.as_str()).copied().unwrap_or_default();
            (files.total() > 0 || before != after).then(|| WorkerChange {
                name: name.clone(),
                before,
                after,
                capacity: plan.and_then(|p| p.capacity.get("clusters").copied()),
                state: plan.map(|p| p.state),
                files,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ClusterState;

    fn rows(proposal: &Proposal) -> Vec<String> {
        let view = PlanView::of(proposal, "fleet", "eu", &[]);
        let row = |c: &ClusterChange| {
            let end = |n: &Option<Name>| n.as_ref().map_or("-".to_owned(), ToString::to_string);
            format!("{} {} {}>{} {}", c.action.name(), c.name, end(&c.from), end(&c.to), c.why)
        };
        view.clusters.iter().map(row).collect()
    }

    #[test]
    fn changes_come_with_what_cannot_be_undone_first() {
        let wanted = [
            "delete old w1>- its document is gone; its machines go first (step D1)",
            "create docs ->w1 the only worker that fits",
            "create shop ->w2 before w1 by location distance; policy near",
            "update pay w1>w1 control plane at v1.33.10, pools at v1.32.9, on the way to v1.34.2; 1 file",
            "wait huge ->- some workers have too little room, some have a taint that is not tolerated \
             (Capacity, Taint)",
            "forget lost ->- its document is gone",
        ];
        assert_eq!(rows(&sample::proposal()), wanted);
    }

    #[test]
    fn what_stays_as_it_was_is_no_change() {
        let mut proposal = sample::proposal();
        proposal.changes.clear();
        let lock = proposal.previous.workers.get_mut("w1").unwrap();
        for row in lock.clusters.values_mut() {
            row.state = ClusterState::Deleting;
        }
        let reasons = [crate::model::ReasonCode::Capacity, crate::model::ReasonCode::Taint].into();
        sample::wait_before(&mut proposal, "huge", reasons);
        let left: Vec<_> =
            rows(&proposal).iter().map(|r| r.split(' ').next().unwrap().to_owned()).collect();
        assert_eq!(left, ["create", "create", "forget"]);
    }

    #[test]
    fn files_are_counted_by_worker() {
        let proposal = sample::proposal();
        let view = PlanView::of(&proposal, "fleet", "eu", &[]);
        let workers: Vec<_> = view
            .workers
            .iter()
            .map(|w| format!("{} {}>{} {}", w.name, w.before, w.after, w.files))
            .collect();
        assert_eq!(workers, ["w1 2>3 +1 ~2 -1", "w2 0>1 +2 ~0 -0"]);
        assert_eq!(view.files.total(), 8);
        assert_eq!(view.waiting, 1);
    }
}
