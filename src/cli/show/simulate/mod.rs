//! What would be otherwise: one plan against another of the same fleet.

mod json;
mod left;
mod rebalance;
mod runway;
mod text;

pub use json::{SIMULATE_SCHEMA, json};
pub use left::Left;
pub use runway::{RoomView, RunwayCount, RunwayRow};
pub use text::text;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::findings::Finding;
use super::plan::why_here;
use crate::model::{
    ClusterPlan, Decision, Gate, Hold, Name, Plan, Proposal, Quantity, ReasonCode, Stay, WorkerPlan,
};
use crate::simulate::RebalanceOffer;

/// What a run would do with the changes, against what it does without them.
pub struct SimulateView<'a> {
    /// The plan as it is.
    pub before: &'a Proposal,
    /// The plan with the changes.
    pub after: &'a Proposal,
    /// The changes, a line each.
    pub changes: &'a [String],
    /// The time of the second plan, where it is a later one.
    pub later: Option<Timestamp>,
    /// The clusters that are alike and were added, each lot with its words.
    pub added: &'a [(String, Vec<Name>)],
    /// Why clusters wait that did not, or for other reasons, in one line each.
    pub summaries: &'a [(Name, String)],
    /// The clusters of lost workers that nothing names.
    pub left: &'a [Left],
    /// What is found wrong with the changes and is not without them.
    pub findings: &'a [Finding],
    /// How many more fit.
    pub runway: &'a [RunwayRow],
    /// The rebalance that could be requested.
    pub request: Option<&'a RebalanceOffer>,
}

/// Where a cluster is in a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterStanding {
    /// The plan does not know it.
    Absent,
    /// It has a worker.
    On(Name),
    /// It leaves one worker for another.
    Moving {
        /// The worker that it leaves.
        from: Name,
        /// The worker that it goes to.
        to: Name,
    },
    /// It is being deleted there.
    Deleting(Name),
    /// It waits, for these reasons.
    Waits(BTreeSet<ReasonCode>),
}

impl ClusterStanding {
    /// Where it is after a plan.
    #[must_use]
    pub fn of(planned: Option<&ClusterPlan>) -> Self {
        let Some(planned) = planned else { return Self::Absent };
        match &planned.decision {
            Decision::Delete { worker, .. } => Self::Deleting(worker.clone()),
            Decision::Wait { reasons, .. } => Self::Waits(reasons.clone()),
            Decision::Move { from, binding, .. } => {
                Self::Moving { from: from.clone(), to: binding.worker.clone() }
            }
            decision => decision.worker().map_or(Self::Absent, |worker| Self::On(worker.clone())),
        }
    }

    /// It in a word or two.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Absent => "-".to_owned(),
            Self::On(worker) => worker.to_string(),
            Self::Moving { from, to } => format!("{from} to {to}"),
            Self::Deleting(worker) => format!("{worker} (deleting)"),
            Self::Waits(_) => "waits".to_owned(),
        }
    }

    /// The worker that it is on.
    #[must_use]
    pub fn worker(&self) -> Option<&Name> {
        match self {
            Self::On(worker) | Self::Deleting(worker) | Self::Moving { from: worker, .. } => {
                Some(worker)
            }
            Self::Absent | Self::Waits(_) => None,
        }
    }

    /// The word for it in JSON.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Absent => "Absent",
            Self::On(_) => "Placed",
            Self::Moving { .. } => "Moving",
            Self::Deleting(_) => "Deleting",
            Self::Waits(_) => "Waiting",
        }
    }
}

/// A cluster that is otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterDifference {
    /// The cluster.
    pub name: Name,
    /// Where it is without the changes.
    pub before: ClusterStanding,
    /// Where it is with them.
    pub after: ClusterStanding,
    /// Why.
    pub why: String,
}

/// A worker that is otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerDifference {
    /// The worker.
    pub name: Name,
    /// Its clusters and how many it can have, without the changes; `None`: it is not there.
    pub before: Option<(u64, Option<Quantity>)>,
    /// Its clusters and how many it can have, with the changes.
    pub after: Option<(u64, Option<Quantity>)>,
}

impl SimulateView<'_> {
    /// The clusters that are otherwise, by name.
    #[must_use]
    pub fn clusters(&self) -> Vec<ClusterDifference> {
        let (old, new) = (&self.before.plan.clusters, &self.after.plan.clusters);
        let names: BTreeSet<&Name> = old.keys().chain(new.keys()).collect();
        let differs = |name: &Name| {
            let (before, after) =
                (ClusterStanding::of(old.get(name)), ClusterStanding::of(new.get(name)));
            let why = why(name, &after, self.after);
            (before != after).then(|| ClusterDifference { name: name.clone(), before, after, why })
        };
        names.into_iter().filter_map(differs).collect()
    }

    /// The workers that are otherwise, by name.
    #[must_use]
    pub fn workers(&self) -> Vec<WorkerDifference> {
        let (old, new) = (&self.before.plan.workers, &self.after.plan.workers);
        let names: BTreeSet<&Name> = old.keys().chain(new.keys()).collect();
        let amounts = |plan: &WorkerPlan| (plan.clusters, plan.capacity.get("clusters").copied());
        let differs = |name: &Name| {
            let (was, is) = (old.get(name), new.get(name));
            let same = |a: &WorkerPlan, b: &WorkerPlan| {
                a.clusters == b.clusters && a.capacity == b.capacity && a.state == b.state
            };
            let unchanged = was.zip(is).is_some_and(|(was, is)| same(was, is));
            let (before, after) = (was.map(amounts), is.map(amounts));
            (!unchanged).then(|| WorkerDifference { name: name.clone(), before, after })
        };
        names.into_iter().filter_map(differs).collect()
    }

    /// What is held with the changes and is not without them.
    #[must_use]
    pub fn holds(&self) -> Vec<Hold> {
        without(&self.after.plan, &self.before.plan)
    }

    /// What is held without the changes and is not with them.
    #[must_use]
    pub fn let_through(&self) -> Vec<Hold> {
        without(&self.before.plan, &self.after.plan)
    }

    /// The clusters that something names with the changes only, and that do not move.
    #[must_use]
    pub fn stays(&self) -> BTreeMap<Name, Stay> {
        let before = |name: &Name| self.before.plan.clusters.get(name)?.stay.as_deref();
        let stays = self.after.plan.stays().filter(|(name, stay)| before(name) != Some(*stay));
        stays.map(|(name, stay)| (name.clone(), stay.clone())).collect()
    }

    /// The folders that stay as they were with the changes only.
    #[must_use]
    pub fn gates(&self) -> Vec<Gate> {
        let known = |gate: &&Gate| {
            let same = |other: &Gate| other.name == gate.name && other.reason == gate.reason;
            self.before.gates.iter().any(same)
        };
        self.after.gates.iter().filter(|gate| !known(gate)).cloned().collect()
    }

    /// Whether the changes change nothing that a plan decides.
    #[must_use]
    pub fn is_the_same(&self) -> bool {
        self.clusters().is_empty()
            && self.workers().is_empty()
            && self.holds().is_empty()
            && self.let_through().is_empty()
            && self.stays().is_empty()
            && self.gates().is_empty()
            && self.before.stopped == self.after.stopped
    }
}

fn without(plan: &Plan, other: &Plan) -> Vec<Hold> {
    plan.holds.iter().filter(|hold| !other.holds.contains(hold)).cloned().collect()
}

fn why(name: &Name, after: &ClusterStanding, proposal: &Proposal) -> String {
    let plan = &proposal.plan;
    match (plan.clusters.get(name).map(|planned| &planned.decision), after) {
        (Some(Decision::Bind(binding)), _) => why_here(binding, &proposal.fleet),
        (_, ClusterStanding::Waits(reasons)) => ReasonCode::sentence(reasons),
        (_, ClusterStanding::Moving { from, .. }) => {
            let cause = plan.moved(name).map(|moved| moved.cause.words());
            cause.map(|cause| format!("{from} {cause}")).unwrap_or_default()
        }
        _ => String::new(),
    }
}
