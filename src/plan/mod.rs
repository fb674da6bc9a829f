//! Planning: what is desired, what was decided, and what is observed become decisions.
//!
//! Pure and total: no clock, no I/O, no order that an input could change. [`fold`] turns reports into
//! observed facts; [`plan`] reads those and nothing else of the world; the `explain_*` functions work
//! out again, with the same filters, what the records leave out.
//!
//! ```text
//! fold, moment → deletion (ongoing, move cause) → worker states (occupancy, counts) → placed (moves, resize)
//!      → queue → assign (policy, pre-filter, filter, score) → moving → cycle → scale → Plan
//! ```
//!
//! To add a filter, write `filter/<rule>.rs` with a `READS`, a `refuse` and its tests, and name it in
//! `filter::FILTERS`. What it reads and nobody read before goes into `context` as well. Where many
//! clusters wait, `index` asks the same filters and scores less often.

mod amounts;
mod assign;
mod candidate;
mod choose;
mod clock;
mod context;
mod counts;
mod cycle;
mod deletion;
mod depends_on;
mod expiry;
mod explain;
mod filter;
mod finder;
mod fold;
mod group;
mod holds;
mod index;
mod lookup;
mod moment;
mod move_cause;
mod moves;
mod moving;
mod occupancy;
mod ongoing;
mod open;
mod pick;
mod placed;
mod policy;
mod pool_workers;
mod pre_filter;
mod pre_filter_state;
mod queue;
mod quota;
mod resize;
mod scale;
mod score;
mod signature;
mod taking;
mod term;
mod toleration;
mod transfer;
mod unloaded;
mod values;
mod version;
mod worker_states;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod promises;
#[cfg(test)]
mod world;

pub use clock::Clock;
pub use counts::{are_even, counts_nothing, is_counted_by, stand_with, stand_without, standing};
pub use deletion::stuck;
pub use expiry::{Expiry, expire};
pub use explain::{
    Explanation, Fix, MOST_ASKED, MOST_PROOFS, PolicyExplanation, PolicyLoss, PoolExplanation,
    PoolMember, Remedies, Remedy, WorkerExplanation, WorkerVerdict, explain_cluster,
    explain_policy, explain_pool, explain_with_remedies, explain_worker,
};
pub use fold::{Fold, FoldInput, clusters_said_otherwise, contradictions, fold, is_same_host};
pub use moment::moments;
pub use policy::{PolicyPair, Precedence, is_tied, policy_of, policy_ties};
pub use queue::{is_served_in_order, place_in_queue};
pub use scale::{PoolFoldInput, PoolFolding, PoolVerdict, fold_pools};
pub use term::meets;
pub use worker_states::{count_standing, has_room};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::api::Rebalance;
use crate::model::{
    ClusterPlan, Counted, Digest, Fleet, Id, Name, Observed, Plan, PlanOverrides, Previous,
    Proposal, Rebalanced, Settled, Worker,
};

/// What [`plan`] reads.
#[derive(Clone, Copy, Debug)]
pub struct PlanInput<'a> {
    /// What people want.
    pub fleet: &'a Fleet,
    /// What the output branch says.
    pub previous: &'a Previous,
    /// What is known of the workers.
    pub observed: &'a Observed,
    /// The last state in which planning again changed nothing. It saves work and changes no decision.
    pub settled: Option<&'a Settled>,
    /// How the clusters of the locks in `previous` count, as an earlier run counted them. It saves work and
    /// changes no decision.
    pub counted: Option<&'a Counted>,
    /// The id of the blob of the pending lock in `previous`.
    pub pending_id: Option<Id>,
    /// Placed clusters that go on taking what they take, whatever is wanted: their folder could not be
    /// made anew.
    pub frozen: &'a BTreeSet<Name>,
    /// Deletions that go on without evidence: somebody acknowledged that none will come.
    pub abandoned: &'a BTreeSet<Name>,
    /// The rebalance that begins in this run; `None`: none.
    pub rebalance: Option<Rebalance>,
    /// Whether a later run is to begin with the context in which this one ends.
    pub is_remembered: bool,
    /// The only worker that can take those that wait, where that is known. Of those that it refuses whoever is placed nothing
    /// is decided.
    pub sole: Option<SoleWorker<'a>>,
}

/// A worker that is the only one which can take those that wait: all of them were looked at and nobody was placed, and now
/// nothing but this worker is another, and perhaps one of those that wait and its policy, of which it is not so.
#[derive(Clone, Copy, Debug)]
pub struct SoleWorker<'a> {
    pub(in crate::plan) worker: &'a Name,
    /// The cluster that is another; `None` where none is.
    pub(in crate::plan) cluster: Option<&'a Name>,
    /// The policy that is another, or would be: it applies to that cluster.
    pub(in crate::plan) policy: Option<&'a Name>,
}

/// No names at all.
static NOBODY: BTreeSet<Name> = BTreeSet::new();

impl<'a> PlanInput<'a> {
    /// What a plan reads of these three, with nothing remembered, frozen, abandoned or rebalanced.
    #[must_use]
    pub const fn new(fleet: &'a Fleet, previous: &'a Previous, observed: &'a Observed) -> Self {
        Self {
            fleet,
            previous,
            observed,
            settled: None,
            counted: None,
            pending_id: None,
            frozen: &NOBODY,
            abandoned: &NOBODY,
            rebalance: None,
            is_remembered: true,
            sole: None,
        }
    }

    /// What was read, and how it was asked, where a proposal comes from: a plan, and an explanation, decides
    /// the same again.
    #[must_use]
    pub const fn of(proposal: &'a Proposal) -> Self {
        let PlanOverrides { frozen, abandoned, rebalance } = &proposal.asked;
        Self {
            frozen,
            abandoned,
            rebalance: *rebalance,
            ..Self::new(&proposal.fleet, &proposal.previous, &proposal.observed)
        }
    }

    /// Whether nobody knows for sure what is gone: something did not load that may be anything, or a lock
    /// was lost and is worked out anew. No deletion, move or retirement starts then.
    fn deletions_wait(&self) -> bool {
        self.fleet.is_unsure() || !self.previous.damaged.is_empty()
    }

    /// Whether a tenant's clusters wait with their deletions: for what stands in the tenant's own folder, too.
    fn deletions_wait_of(&self, tenant: &str) -> bool {
        self.fleet.is_unsure_of(tenant) || !self.previous.damaged.is_empty()
    }
}

/// What [`plan`] gives.
#[derive(Clone, Debug)]
pub struct Planning {
    /// The decisions. `valid_until` is left open: a plan reads no time; the fold's deadline is its
    /// deadline.
    pub plan: Plan,
    /// The digest of what the decision about a waiting cluster depends on besides the cluster, after
    /// this run. With the id of the pending lock that is written it makes the next run's [`Settled`]. `None` where
    /// no later run is to know it.
    pub context: Option<Digest>,
    /// How the clusters of the locks count: what the next run need not count.
    pub counted: Arc<Counted>,
    /// How many of the locks were counted row by row.
    pub counted_anew: u64,
    /// The workers that pools make now.
    pub made: Vec<Worker>,
    /// The moves of the rebalance, in the order in which they were chosen.
    pub rebalanced: Vec<Rebalanced>,
    /// How often a worker was looked for: once for each cluster, and again for one that may be let in.
    pub searched: u64,
    /// How often of that the index found it, or the reasons, without asking every worker.
    pub indexed: u64,
}

/// How a plan finds the workers of the clusters that wait. It changes no decision.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchMode {
    /// As suits the number of clusters.
    #[default]
    Either,
    /// Every worker is asked for every cluster.
    Scan,
    /// By the index.
    Index,
}

/// A plan before the first cluster is served, for the laws and for measuring.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Queue<'a>(assign::PlanRun<'a>);

impl<'a> Queue<'a> {
    /// Lines the clusters up. Pools make no workers here.
    #[must_use]
    pub fn new(input: &PlanInput<'a>, way: SearchMode) -> Self {
        Self(cycle::begin(input).by(way))
    }

    /// Finds out which of them are alike.
    pub fn sign(&mut self) {
        self.0.sign();
    }

    /// Decides which of them are given which workers.
    #[must_use]
    pub fn decide(mut self) -> DecidedQueue<'a> {
        let refused = cycle::decide(&mut self.0);
        DecidedQueue { run: self.0, refused }
    }

    /// Serves them all.
    #[must_use]
    pub fn serve(self) -> Planning {
        self.decide().into_planning()
    }
}

/// A plan in which it is decided which clusters of the queue are given which workers, and nothing is said of it yet.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct DecidedQueue<'a> {
    run: assign::PlanRun<'a>,
    refused: Option<Vec<assign::Refused<'a>>>,
}

impl DecidedQueue<'_> {
    /// Says of each what was decided.
    #[must_use]
    pub fn into_planning(mut self) -> Planning {
        let input = self.run.input;
        cycle::conclude(&mut self.run, self.refused);
        planning(&input, self.run, &scale::PoolChanges::default())
    }
}

/// What a run came to.
fn planning(
    input: &PlanInput<'_>,
    run: assign::PlanRun<'_>,
    change: &scale::PoolChanges,
) -> Planning {
    let context = input.is_remembered.then(|| run.context());
    let (searched, indexed) = run.searched();
    let clusters = told(run.clusters, run.deletions, run.moves);
    let (counted, counted_anew) = run.states.counts.counted();
    let rebalanced = run.rebalanced;
    let workers = run.states.into_plans();
    let pools = scale::pools(input, &workers, change);
    let made = pools.values().flat_map(|pool| &pool.made);
    let made = made.filter_map(|name| input.fleet.workers.get(name)).cloned().collect();
    let plan = Plan {
        clusters,
        workers,
        retirements: run.retirements,
        pools,
        holds: run.holds.into_list(),
        evaluated: run.evaluated,
        valid_until: None,
    };
    Planning { plan, context, counted, counted_anew, made, rebalanced, searched, indexed }
}

/// The clusters, each with its deletion and its move.
fn told(
    mut clusters: BTreeMap<Name, ClusterPlan>,
    deletions: deletion::Deletions,
    moves: moves::Moves,
) -> BTreeMap<Name, ClusterPlan> {
    for (name, moved) in moves {
        if let Some(planned) = clusters.get_mut(&name) {
            planned.moved = Some(Box::new(moved));
        }
    }
    for (name, deletion) in deletions {
        if let Some(planned) = clusters.get_mut(&name) {
            planned.deletion = Some(Box::new(deletion));
        }
    }
    clusters
}

/// Decides about every cluster and worker that is desired or recorded.
#[must_use]
pub fn plan(input: &PlanInput<'_>) -> Planning {
    scale::settle(input, planning)
}
