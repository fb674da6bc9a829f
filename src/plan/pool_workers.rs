//! The workers of pools: which are there, how far those are that a pool is making, and whether pools may change them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::PlanInput;
use crate::model::api::{Observation, WorkerPoolSpec};
use crate::model::{
    ClusterRow, ClusterState, Fleet, Name, Pending, Pool, PoolState, Worker, WorkerHealth,
};

/// How far a worker is that a pool made; `None` for any other, and for one that was running once.
pub(super) fn pending(input: &PlanInput<'_>, worker: &Worker) -> Option<Pending> {
    let made = worker.made_by.as_ref()?;
    let name = &worker.name;
    let well = worker.spec.observation == Observation::None
        || input.observed.health(name) == WorkerHealth::Healthy;
    if made.made.running || well {
        return None;
    }
    let fact = input.observed.pools.get(name);
    let overdue = fact.is_some_and(|f| matches!(f.state, PoolState::Overdue | PoolState::Spare));
    Some(if overdue { Pending::Overdue } else { Pending::Awaited })
}

/// Whether a cluster that waits for a worker to be running waits there no longer: the worker is overdue.
pub(super) fn is_lost(input: &PlanInput<'_>, worker: &Name, row: &ClusterRow) -> bool {
    let waits = row.state == ClusterState::Bound && row.folder.is_none();
    waits
        && input
            .fleet
            .workers
            .get(worker)
            .is_some_and(|worker| pending(input, worker) == Some(Pending::Overdue))
}

/// The workers of a pool that take part.
pub(super) fn of_pool<'f>(fleet: &'f Fleet, pool: &Name) -> impl Iterator<Item = &'f Worker> {
    let made_by = |worker: &&Worker| worker.made_by.as_ref().is_some_and(|made| made.pool == *pool);
    fleet.workers.values().filter(made_by)
}

/// Those on their way out. They count until they are gone.
pub(super) fn leaving(input: &PlanInput<'_>, pool: &Name) -> usize {
    let rows = input.previous.pools().get(pool).map(|lock| &lock.workers);
    let names = rows.into_iter().flat_map(BTreeMap::keys);
    names.filter(|name| !input.fleet.workers.contains_key(*name)).count()
}

/// What the pools could do for a cluster that waits: a part of the context.
#[derive(Serialize)]
pub(super) struct PoolContext<'a> {
    name: &'a Name,
    spec: &'a WorkerPoolSpec,
    there: usize,
    leaving: usize,
    moves: bool,
}

/// The pools at this point.
pub(super) fn context<'a>(input: &PlanInput<'a>) -> Vec<PoolContext<'a>> {
    let moves = may_scale(input);
    let context = |pool: &'a Pool| PoolContext {
        name: &pool.name,
        spec: &pool.spec,
        there: of_pool(input.fleet, &pool.name).count(),
        leaving: leaving(input, &pool.name),
        moves,
    };
    input.fleet.pools.values().map(context).collect()
}

/// Whether pools grow and shrink in this run. While a document may be a worker's that did not load, it is
/// not known what there is.
pub(super) fn may_scale(input: &PlanInput<'_>) -> bool {
    let workers = |kind: &str| matches!(kind, "Worker" | "WorkerOverlay" | "WorkerPool");
    let unsure = |kind: &Option<String>| kind.as_deref().is_none_or(workers);
    !input.fleet.pools.is_empty()
        && input.previous.damaged.is_empty()
        && !input.previous.kept.control_plane
        && !input.fleet.unloaded.iter().any(|u| unsure(&u.kind))
}
