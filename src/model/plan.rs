//! What was decided, with its reasons.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::api::AcknowledgementKind;
use super::words::words;
use super::{
    ClusterPlan, Deletion, Digest, Move, Name, Pending, PoolPlan, Reason, Resources, Stay,
    VersionStep,
};

/// The decisions of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Every cluster that is desired or recorded, with all that is said of it.
    pub clusters: BTreeMap<Name, ClusterPlan>,
    /// Every worker that is desired or recorded.
    pub workers: BTreeMap<Name, WorkerPlan>,
    /// Every deletion of a worker's own cluster that begins, is under way or ends. One that ends is of no worker any
    /// more.
    pub retirements: BTreeMap<Name, Deletion>,
    /// The pools that are desired or of which something is remembered.
    pub pools: BTreeMap<Name, PoolPlan>,
    /// What a guard held.
    pub holds: Vec<Hold>,
    /// For how many clusters the filters ran.
    pub evaluated: u64,
    /// Until when the same inputs give the same plan; `None`: for ever.
    pub valid_until: Option<Timestamp>,
}

impl Plan {
    /// The deletion of a cluster. That of a worker's own cluster is among `retirements`.
    #[must_use]
    pub fn deletion(&self, name: &str) -> Option<&Deletion> {
        self.clusters.get(name)?.deletion.as_deref()
    }

    /// The move of a cluster.
    #[must_use]
    pub fn moved(&self, name: &str) -> Option<&Move> {
        self.clusters.get(name)?.moved.as_deref()
    }

    /// Where a cluster is on its way to another version.
    #[must_use]
    pub fn version(&self, name: &str) -> Option<&VersionStep> {
        self.clusters.get(name)?.version.as_deref()
    }

    /// All deletions, of clusters and of workers' own clusters, by name.
    #[must_use]
    pub fn deletions(&self) -> Vec<(&Name, &Deletion)> {
        let clusters = self.clusters.iter();
        let of_clusters = clusters.filter_map(|(name, p)| Some((name, p.deletion.as_deref()?)));
        let mut all: Vec<_> = of_clusters.chain(&self.retirements).collect();
        all.sort_by_key(|(name, _)| *name);
        all
    }

    /// All moves.
    pub fn moves(&self) -> impl Iterator<Item = (&Name, &Move)> {
        self.clusters.iter().filter_map(|(name, p)| Some((name, p.moved.as_deref()?)))
    }

    /// The clusters that something names and that do not move.
    pub fn stays(&self) -> impl Iterator<Item = (&Name, &Stay)> {
        self.clusters.iter().filter_map(|(name, p)| Some((name, p.stay.as_deref()?)))
    }

    /// The clusters on their way to another version.
    pub fn versions(&self) -> impl Iterator<Item = (&Name, &VersionStep)> {
        self.clusters.iter().filter_map(|(name, p)| Some((name, p.version.as_deref()?)))
    }

    /// The placed clusters whose policy would not place them there now, with its reasons.
    pub fn violations(&self) -> impl Iterator<Item = (&Name, &[Reason])> {
        let all = self.clusters.iter().filter(|(_, planned)| !planned.violations.is_empty());
        all.map(|(name, planned)| (name, &*planned.violations))
    }

    /// What a hold is about, for people: [`Hold::lines`], and of a worker that is in use the first of the clusters
    /// on it: `we-1 (pay-eu, pay-us and 3 more)`.
    #[must_use]
    pub fn lines_of(&self, hold: &Hold) -> Vec<String> {
        const FIRST: usize = 5;
        if hold.kind != HoldKind::WorkerInUse {
            return hold.lines();
        }
        let line = |worker: String| {
            let here = |(_, planned): &(&Name, &ClusterPlan)| {
                planned.decision.worker().is_some_and(|on| on.as_str() == worker)
            };
            let clusters: Vec<&str> =
                self.clusters.iter().filter(here).map(|(name, _)| name.as_str()).collect();
            let first = clusters[..clusters.len().min(FIRST)].join(", ");
            match clusters.len().saturating_sub(FIRST) {
                _ if clusters.is_empty() => worker,
                0 => format!("{worker} ({first})"),
                more => format!("{worker} ({first} and {more} more)"),
            }
        };
        hold.lines().into_iter().map(line).collect()
    }
}

/// A worker after this run's decisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerPlan {
    /// Whether it takes part.
    pub state: WorkerState,
    /// What it has, as its document says.
    pub capacity: Resources,
    /// What of that is kept free.
    pub reserved: Resources,
    /// What it can have once it has grown by itself, where that is more than its capacity.
    pub ceiling: Resources,
    /// What the clusters here take.
    pub allocated: Resources,
    /// How many clusters are here.
    pub clusters: u64,
    /// How far it is, where a pool made it and it was never running: clusters that are given to it are
    /// not rendered yet.
    pub pending: Option<Pending>,
}

impl WorkerPlan {
    /// A cluster does not come here after all.
    pub fn give_back(&mut self, demand: &Resources) {
        self.clusters = self.clusters.saturating_sub(1);
        for (resource, amount) in demand {
            if let Some(allocated) = self.allocated.get_mut(resource) {
                *allocated = allocated.minus(*amount);
                if *allocated == super::Quantity::ZERO {
                    self.allocated.remove(resource);
                }
            }
        }
    }

    /// What is free of a resource: capacity − reserved − allocated; `None` where the capacity is not
    /// known.
    #[must_use]
    pub fn free(&self, resource: &str) -> Option<super::Quantity> {
        self.capacity.get(resource).map(|capacity| self.left_of(*capacity, resource))
    }

    /// What is free of a resource once the worker has grown: ceiling − reserved − allocated; `None`
    /// where the capacity is not known.
    #[must_use]
    pub fn room(&self, resource: &str) -> Option<super::Quantity> {
        self.limit(resource).map(|limit| self.left_of(limit, resource))
    }

    /// The most that the worker can have of a resource: its ceiling, or its capacity where it names
    /// none.
    #[must_use]
    pub fn limit(&self, resource: &str) -> Option<super::Quantity> {
        let capacity = *self.capacity.get(resource)?;
        Some(self.ceiling.get(resource).copied().unwrap_or(capacity))
    }

    fn left_of(&self, limit: super::Quantity, resource: &str) -> super::Quantity {
        let of = |map: &Resources| map.get(resource).copied().unwrap_or_default();
        limit.minus(of(&self.reserved)).minus(of(&self.allocated))
    }
}

/// Whether a worker takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerState {
    /// Its document loaded.
    Desired,
    /// Its document is there and did not load, or its removal is held; what is on it stays.
    NotLoaded,
    /// Its document is gone and clusters are on it: its folders stay as they are.
    RemovedInUse,
    /// Its document is gone and it is empty: its own cluster is being deleted.
    Retiring,
    /// Its document loaded and its folder is not written in this run: it was edited by hand, or files of
    /// others stand in the way.
    Kept,
}

/// Something that a guard did not let happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Which guard.
    pub kind: HoldKind,
    /// What is held, sorted: clusters, workers or a commit.
    pub names: Vec<String>,
    /// How many the guard allows; `None` where it allows none at all.
    pub allowed: Option<u32>,
}

impl Hold {
    /// The digest that an Acknowledgement of exactly this set must carry.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of_names(self.names.iter().map(String::as_str))
    }
}

words! {
    /// Which guard held something.
    #[derive(Serialize, Deserialize)]
    pub HoldKind:
    /// More deletions than `guards.maxDeletions`.
    MassDeletion,
    /// More moves than `guards.maxMoves`.
    MassMove,
    /// Something did not load, so no deletion starts.
    DeletionsHeld,
    /// A policy or class did not load, so nothing new is placed.
    PlacementsHeld,
    /// A cluster's document is gone and its `deletionPolicy` is unset.
    DeletionPolicyUnset,
    /// A worker's document is gone and clusters are on it.
    WorkerInUse,
    /// A cluster came back under a name whose deletion has begun.
    NameStillDeleting,
    /// The input branch was rewound.
    Rewind,
    /// `roots.fleet` is another folder, and what is not below it is not taken for removed.
    RootChanged,
    /// Somebody edited what carp owns on the output branch, and the fleet refuses to write over it.
    Drifted,
    /// The input commit is not signed by an allowed signer.
    InputNotVerified,
    /// So many workers are not ready that nothing fails over.
    FailoverBreaker,
    /// Folders leave out objects that have machines, storage or network behind them.
    ObjectsRemoved,
    /// More machines would be replaced than `guards.maxReplacedMachines`.
    MachinesReplaced,
}

impl HoldKind {
    /// What an Acknowledgement must say to let it through; `None` where none can.
    #[must_use]
    pub fn acknowledged_by(self) -> Option<AcknowledgementKind> {
        match self {
            Self::MassDeletion => Some(AcknowledgementKind::Deletions),
            Self::MassMove => Some(AcknowledgementKind::Moves),
            Self::Rewind => Some(AcknowledgementKind::Rewind),
            Self::ObjectsRemoved => Some(AcknowledgementKind::Objects),
            Self::MachinesReplaced => Some(AcknowledgementKind::Machines),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Decision;
    use super::*;

    #[test]
    fn a_worker_that_is_in_use_is_told_with_the_clusters_on_it() {
        let name = |text: &str| Name::parse(text).unwrap();
        let placed = |text: &str, worker: &str| {
            let decision = Decision::Keep { worker: name(worker) };
            let planned = ClusterPlan::new(decision, Resources::new());
            (name(text), planned)
        };
        let mut clusters: BTreeMap<_, _> = (1..8).map(|n| placed(&format!("c{n}"), "w1")).collect();
        clusters.extend([placed("other", "w2")]);
        let plan = Plan { clusters, ..Plan::default() };
        let names = ["w1", "w2", "w3"].map(str::to_owned).to_vec();
        let hold = Hold { kind: HoldKind::WorkerInUse, names: names.clone(), allowed: None };
        assert_eq!(
            plan.lines_of(&hold),
            ["w1 (c1, c2, c3, c4, c5 and 2 more)", "w2 (other)", "w3"]
        );
        let hold = Hold { kind: HoldKind::DeletionsHeld, ..hold };
        assert_eq!(plan.lines_of(&hold), names);
    }
}
