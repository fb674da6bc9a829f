//! What `propose` returns: what would be committed, and why.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::api::Rebalance;
use super::words::words;
use super::{
    Digest, Fleet, FleetCounts, Hold, Id, Name, Observed, PendingReasons, Plan, Previous, Survey,
    WaitingAhead,
};
use crate::diag::{Diagnostic, Diagnostics};

/// How the planner was asked, besides what it read: what an explanation needs to decide the same again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanOverrides {
    /// Placed clusters that go on taking what they take, whatever is wanted: their folder could not be made
    /// anew.
    pub frozen: BTreeSet<Name>,
    /// Deletions that go on without evidence.
    pub abandoned: BTreeSet<Name>,
    /// The rebalance that begins; `None`: none.
    pub rebalance: Option<Rebalance>,
}

/// What one run would commit.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The tree for the output branch.
    pub tree: Id,
    /// The tree it stands on; `None` before the first run.
    pub base: Option<Id>,
    /// The tree for the status branch with the folded reports only: what is pushed before the output.
    pub fold_tree: Id,
    /// The tree for the status branch, without `fleet.yaml`.
    pub status_tree: Id,
    /// The status tree it stands on.
    pub status_base: Option<Id>,
    /// What changes on the output branch, sorted by path.
    pub changes: Vec<Change>,
    /// What of it is the same in another form; `None` where nothing is.
    pub form: Option<FormOnly>,
    /// What people want, as it loaded.
    pub fleet: Fleet,
    /// What the output branch said.
    pub previous: Previous,
    /// What is known of the workers.
    pub observed: Observed,
    /// How the planner was asked.
    pub asked: PlanOverrides,
    /// The decisions.
    pub plan: Plan,
    /// The clusters that go on waiting as they did, where a look needs no more of them: they are not in the plan then.
    pub pending: PendingReasons,
    /// Those of them that wait before the one cluster that a look is about, where that may ask for what they say.
    pub ahead: WaitingAhead,
    /// What kept its last good folder, and why.
    pub gates: Vec<Gate>,
    /// Hand edits on the output branch, and files there that are not carp's.
    pub survey: Survey,
    /// Every finding.
    pub diagnostics: Diagnostics,
    /// Whether the run must stop here: nothing may be committed (a broken `carp.yaml`, an empty read).
    pub stopped: bool,
    /// How much was done.
    pub work: Work,
    /// What there is after it.
    pub counts: FleetCounts,
    /// The digest of what the workers say; see [`Observed::digest`].
    pub reported: Digest,
    /// Until when the same inputs give the same proposal; `None`: for ever.
    pub valid_until: Option<Timestamp>,
    /// The commit message, trailers left out.
    pub message: String,
}

impl Proposal {
    /// Whether a guard held something.
    #[must_use]
    pub fn holds(&self) -> &[Hold] {
        &self.plan.holds
    }

    /// Whether there is something to commit on the output branch.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.base != Some(self.tree)
    }

    /// What is committed first and by itself because it changes only the form of files; `None` where
    /// there is nothing of that sort, or nothing else.
    #[must_use]
    pub fn form_step(&self) -> Option<&FormOnly> {
        self.form.as_ref().filter(|form| form.tree != self.tree)
    }
}

/// Files that say the same in another form: what a newer carp, or a template that was only tidied,
/// makes of the same documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormOnly {
    /// The tree before, with nothing but these files changed.
    pub tree: Id,
    /// The files, sorted by path: those in another form, and the digests and locks that follow them.
    pub changes: Vec<Change>,
    /// The message of the commit that has nothing else, trailers left out.
    pub message: String,
}

/// Counts of what a run did. They are the same for the same change in a fleet of any size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Work {
    /// Desired files that were read and parsed.
    pub blobs_parsed: u64,
    /// Clusters for which the filters ran.
    pub clusters_planned: u64,
    /// Workers whose clusters were counted for spread, anti-affinity and quota, one by one.
    pub workers_counted: u64,
    /// Clusters whose templates ran.
    pub clusters_rendered: u64,
    /// Files and directories that were put into the store and differ from what was there, status apart.
    pub objects_written: u64,
}

impl Work {
    /// Both together.
    #[must_use]
    pub const fn plus(self, more: Self) -> Self {
        Self {
            blobs_parsed: self.blobs_parsed + more.blobs_parsed,
            clusters_planned: self.clusters_planned + more.clusters_planned,
            workers_counted: self.workers_counted + more.workers_counted,
            clusters_rendered: self.clusters_rendered + more.clusters_rendered,
            objects_written: self.objects_written + more.objects_written,
        }
    }
}

/// One path that changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The path in the repository.
    pub path: String,
    /// What happens to it.
    pub kind: ChangeKind,
    /// The file before; `None` where it is new.
    pub before: Option<Id>,
    /// The file after; `None` where it goes.
    pub after: Option<Id>,
}

/// What happens to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It is new.
    Create,
    /// It changes.
    Update,
    /// It goes.
    Delete,
}

/// A folder that kept its last good content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// The cluster or worker.
    pub name: Name,
    /// Why.
    pub reason: GateReason,
    /// What was wrong, where something was.
    pub findings: Vec<Diagnostic>,
}

words! {
    /// Why a folder kept its last good content.
    #[derive(Serialize, Deserialize)]
    pub GateReason:
    /// Its document did not load.
    NotLoaded,
    /// Its templates did not render.
    RenderFailed,
    /// What they made did not pass a check.
    CheckFailed,
    /// It changed what may not change.
    ForbiddenChange,
    /// Its new demand does not fit on its worker.
    ResizeBlocked,
    /// Somebody edited it on the output branch, and the fleet wants such edits kept.
    Drifted,
    /// A file that carp does not own is where carp must write.
    Collided,
    /// It leaves out objects with machines, storage or network behind them.
    ObjectsRemoved,
    /// It replaces machines, more than the fleet allows at once.
    MachinesReplaced,
    /// An override policy that may be about it did not load.
    OverridesNotLoaded,
}

impl GateReason {
    /// What that means, for people. What to do stands with the findings.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::NotLoaded => "the document did not load, so the last good output stays",
            Self::RenderFailed => "the templates did not render, so the last good output stays",
            Self::CheckFailed => {
                "what the templates made did not pass a check, so the last good output stays"
            }
            Self::ForbiddenChange => {
                "something changed that may not change, so the last good output stays"
            }
            Self::ResizeBlocked => {
                "the worker has no room for the new demand, so the last good output stays"
            }
            Self::Drifted => "it was edited by hand on the output branch, and the edit stays",
            Self::Collided => {
                "a file that is not carp's is in the way, so what was there before stays"
            }
            Self::ObjectsRemoved => {
                "it leaves out objects that have machines, storage or network behind them, so the last good \
                 output stays"
            }
            Self::MachinesReplaced => {
                "more machines would be replaced at once than `guards.maxReplacedMachines` allows, so the last \
                 good output stays"
            }
            Self::OverridesNotLoaded => {
                "an OverridePolicy that may be about it did not load, so the last good output stays"
            }
        }
    }
}
