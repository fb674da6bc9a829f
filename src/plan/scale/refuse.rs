//! Why a pool makes no worker for a cluster that waits: the same questions that growing asks, one by one.

use std::collections::BTreeMap;
use std::fmt;

use super::grow::{Growth, New, next_worker};
use crate::model::{Cluster, Name, Pool, Reason};
use crate::plan::PlanInput;
use crate::plan::assign::PlanRun;
use crate::plan::pool_workers::may_scale;

/// Why a pool makes no worker for a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PoolVerdict {
    /// Something did not load that may be a worker or a pool, so it is not known what there is.
    StandsStill,
    /// It has as many workers as it may.
    HasMax(u32),
    /// As many of its workers are being made as may be at once.
    HasMaxPending(u32),
    /// A worker that is there does not say what it has, and may be the one that takes the cluster.
    Incomplete,
    /// A worker of it would refuse the cluster, wherever it were: the fewest reasons that it could have.
    Refuses(Vec<Reason>),
    /// One would take it, and what else waits would come to nothing by it; or it is made already.
    WouldTake,
}

impl fmt::Display for PoolVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StandsStill => f.write_str("no pool grows while a worker may not have loaded"),
            Self::HasMax(max) => write!(f, "it has as many workers as it may (max {max})"),
            Self::HasMaxPending(most) => {
                write!(f, "as many of its workers are being made as may be (maxPending {most})")
            }
            Self::Incomplete => f.write_str("a worker does not say what it has, and may have room"),
            Self::Refuses(reasons) => {
                let reasons: Vec<_> = reasons.iter().map(ToString::to_string).collect();
                write!(f, "a worker of it would refuse: {}", reasons.join("; "))
            }
            Self::WouldTake => f.write_str("a worker of it would take the cluster"),
        }
    }
}

/// What every pool says to a cluster that waits after a run.
pub(in crate::plan) fn verdicts(
    input: &PlanInput<'_>,
    run: &PlanRun<'_>,
    cluster: &Cluster,
) -> BTreeMap<Name, PoolVerdict> {
    let still = !may_scale(input) || input.fleet.holds_placements();
    let growth = Growth::after(input, run);
    let incomplete = !still && !input.fleet.pools.is_empty() && growth.is_incomplete(cluster);
    let verdict = |pool: &Pool| {
        if still {
            return PoolVerdict::StandsStill;
        }
        if let Some(limit) = growth.limit(pool) {
            return limit;
        }
        let workers = pool.locations().into_iter();
        let workers = workers.filter_map(|at| next_worker(input, pool, at, &[])).map(New::of);
        let refused = workers.map(|new| growth.reasons(&new, cluster)).min_by_key(Vec::len);
        match refused {
            Some(reasons) if !reasons.is_empty() => PoolVerdict::Refuses(reasons),
            _ if incomplete => PoolVerdict::Incomplete,
            _ => PoolVerdict::WouldTake,
        }
    };
    input.fleet.pools.iter().map(|(name, pool)| (name.clone(), verdict(pool))).collect()
}

/// What keeps a pool from growing after a run, whoever waits.
pub(in crate::plan) fn limit(
    input: &PlanInput<'_>,
    run: &PlanRun<'_>,
    pool: &Pool,
) -> Option<PoolVerdict> {
    if !may_scale(input) || input.fleet.holds_placements() {
        return Some(PoolVerdict::StandsStill);
    }
    Growth::after(input, run).limit(pool)
}

/// The name of the worker that a pool would make next, by where it would be.
pub(in crate::plan) fn next(input: &PlanInput<'_>, pool: &Pool) -> BTreeMap<String, Name> {
    let at = |location: &str| {
        let worker = next_worker(input, pool, location, &[])?;
        Some((location.to_owned(), worker.name))
    };
    pool.locations().into_iter().filter_map(at).collect()
}

#[cfg(test)]
mod tests {
    use crate::plan::world::World;

    fn told(world: &str) -> Vec<String> {
        let told = World::read(world).explain("a");
        told.pools.iter().map(|(pool, verdict)| format!("{pool}: {verdict}")).collect()
    }

    #[test]
    fn a_pool_says_what_keeps_it_from_growing() {
        for (world, because) in [
            (
                "workerpool p max=1 agent cap=1; worker p-1 made:p=1 running 1/1; cluster a",
                "it has as many workers as it may (max 1)",
            ),
            (
                "workerpool p max=3 pending=1 agent cap=1; worker p-1 made:p=1; cluster x on=p-1; cluster a",
                "as many of its workers are being made as may be (maxPending 1)",
            ),
            (
                "workerpool p cap=2; cluster a needs=3",
                "a worker of it would refuse: needs 3 clusters, 2 free",
            ),
            (
                "workerpool p cap=2 at=westeurope,eastus; cluster a only-at=westus",
                "a worker of it would refuse: location westeurope is not one that the affinity allows (westus)",
            ),
            (
                "worker w ?; workerpool p cap=2; cluster a",
                "a worker does not say what it has, and may have room",
            ),
            (
                "workerpool p cap=2; cluster a with:z=1; unloaded Worker w",
                "no pool grows while a worker may not have loaded",
            ),
        ] {
            assert_eq!(told(world), [format!("p: {because}")], "{world}");
        }
    }

    #[test]
    fn a_cluster_that_has_a_place_asks_no_pool() {
        assert_eq!(told("worker w; workerpool p cap=2; cluster a"), [""; 0]);
        assert_eq!(told("workerpool p cap=2; cluster a"), [""; 0], "one is made for it");
    }
}
