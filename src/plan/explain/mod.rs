//! Explaining: the complete table that a decision stands on, worked out again from the same inputs by
//! the same filters and scores. The records keep only what does not move.

mod allow;
mod cluster;
mod documents;
mod fix;
mod margin;
mod policy;
mod pool;
mod remedy;
mod summary;
mod worker;

use std::collections::BTreeMap;

pub use cluster::{explain_cluster, explain_with_remedies};
pub use fix::Fix;
pub use policy::explain_policy;
pub use pool::{MOST_ASKED, PoolExplanation, PoolMember, explain_pool};
pub use remedy::MOST_PROOFS;
pub use worker::explain_worker;

use super::{PoolVerdict, Precedence};
use crate::model::api::Taint;
use crate::model::{ClusterPlan, Name, Rank, Reason, Resources, Term, WorkerPlan};

/// Why a cluster is where it is, or why it waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The cluster.
    pub cluster: Name,
    /// What the plan says of it.
    pub planned: ClusterPlan,
    /// The policy that applies; `None` where none selects the cluster.
    pub policy: Option<Name>,
    /// The policies that select the cluster too and do not apply.
    pub lost: Vec<PolicyLoss>,
    /// What each worker says. For a cluster that is placed in this run: at its turn. For one that
    /// waits: after the run. For one that was placed before: what would be said today if it were not
    /// there. Empty where the cluster's document is not there to be matched.
    pub workers: BTreeMap<Name, WorkerVerdict>,
    /// The best of the workers that can take it. For a cluster that was placed before it may be
    /// another than the one it is on, and it stays all the same.
    pub winner: Option<Name>,
    /// The worker that comes second.
    pub runner_up: Option<Name>,
    /// The term that tells the two apart.
    pub decided_by: Option<Term>,
    /// By how much, for people.
    pub margin: Option<String>,
    /// The table in one line: `0/3 workers are available: …`; `None` where there is no table.
    pub summary: Option<String>,
    /// For a cluster that waits: why each pool makes no worker for it.
    pub pools: BTreeMap<Name, PoolVerdict>,
}

impl Explanation {
    /// What stands before a worker that could take the cluster: the worker that is taken, the term that
    /// tells the two apart, and by how much, for people. `None` where it refuses, or is the one.
    #[must_use]
    pub fn before(&self, worker: &Name) -> Option<(&Name, Term, String)> {
        let winner = self.winner.as_ref().filter(|winner| *winner != worker)?;
        let rank = |name: &Name| match self.workers.get(name)? {
            WorkerVerdict::Fits(rank) => Some(rank),
            WorkerVerdict::Refused(_) => None,
        };
        let (best, other) = (rank(winner)?, rank(worker)?);
        let term = best.compare(other).1;
        Some((winner, term, margin::between(best, other, term)))
    }
}

/// What one worker says to one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerVerdict {
    /// It can take it, and stands there in the order.
    Fits(Rank),
    /// It cannot, for all these reasons.
    Refused(Vec<Reason>),
}

/// A policy that selects a cluster and does not apply to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyLoss {
    /// The policy that lost.
    pub policy: Name,
    /// What the one that applies has over it.
    pub to: Precedence,
}

/// What would place a cluster, or let it grow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remedies {
    /// Up to three smallest sets of changes of which each would do, the smallest first.
    pub list: Vec<Remedy>,
    /// How many edited fleets were planned to find them; never more than [`MOST_PROOFS`].
    pub proofs: u32,
}

/// Changes that together would place a cluster, as a plan of the fleet with these changes has it; no smaller
/// part of them would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// The worker on which the cluster is then.
    pub worker: Name,
    /// What would have to change.
    pub fixes: Vec<Fix>,
    /// The clusters that stand before it in the queue and are placed by the same changes, before it.
    pub after: Vec<Name>,
}

/// What a worker has, who is there, and why it takes nothing new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerExplanation {
    /// The worker.
    pub worker: Name,
    /// Its state and amounts after the run.
    pub plan: WorkerPlan,
    /// What is free of each resource that it names; negative where it is overcommitted.
    pub free: Resources,
    /// The clusters there.
    pub clusters: Vec<Name>,
    /// Why it takes no new cluster at all; empty where it does.
    pub closed: Vec<Reason>,
    /// What a cluster must tolerate to come here.
    pub taints: Vec<Taint>,
}

/// To which clusters a policy applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyExplanation {
    /// The policy.
    pub policy: Name,
    /// The clusters to which it applies.
    pub applies_to: Vec<Name>,
    /// The clusters that it selects without applying to them, each with the policy that does and what
    /// that one has over it.
    pub lost: BTreeMap<Name, (Name, Precedence)>,
}
