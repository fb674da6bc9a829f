//! Shrinking: a worker of a pool goes when it has been empty for the pool's `coolDown`, when nothing came to
//! it in this run, and when there are more than `min`: one at a time, the last that was made first, by the
//! same steps as any worker whose document is gone.

use super::is_desired;
use crate::model::{Name, Pool, PoolState};
use crate::plan::PlanInput;
use crate::plan::assign::PlanRun;
use crate::plan::pool_workers::{leaving, of_pool};

/// The workers that go.
pub(super) fn spare(input: &PlanInput<'_>, run: &PlanRun<'_>) -> Vec<Name> {
    if input.deletions_wait() {
        return Vec::new();
    }
    input.fleet.pools.values().filter_map(|pool| of(input, run, pool)).collect()
}

fn of(input: &PlanInput<'_>, run: &PlanRun<'_>, pool: &Pool) -> Option<Name> {
    let there = of_pool(input.fleet, &pool.name).count();
    if there <= pool.spec.min as usize || leaving(input, &pool.name) > 0 {
        return None;
    }
    let spare = of_pool(input.fleet, &pool.name).filter(|worker| {
        let fact = input.observed.pools.get(&worker.name);
        let empty = run.states.get(&worker.name).is_some_and(|c| c.plan.clusters == 0);
        let kept = &input.previous.kept;
        let kept = kept.workers.contains(&worker.name) || kept.made.contains(&worker.name);
        fact.is_some_and(|fact| fact.state == PoolState::Spare)
            && empty
            && !kept
            && is_desired(run, &worker.name)
    });
    let ordinal =
        |worker: &&crate::model::Worker| worker.made_by.as_ref().map(|made| made.made.ordinal);
    spare.max_by_key(ordinal).map(|worker| worker.name.clone())
}
