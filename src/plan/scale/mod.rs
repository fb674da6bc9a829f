//! Pools of workers: they grow by the fewest workers that take what fits nowhere, and shrink by what has
//! long been empty.
//!
//! Growing and shrinking change the fleet that is planned, and never a decision: a worker that is made now
//! is planned with as if the last run had made it, and one that goes as if its document were gone. So the
//! next run, which finds it so, decides the same.
//!
//! A worker that is observed is Pending until its first report that it is well. Clusters that fit nowhere
//! else are given to it and wait for it there: they take what it will have, and are not rendered. One that
//! is not running in time ([`Pending::Overdue`]) loses them once.

mod fold;
mod grow;
mod refuse;
mod shrink;
#[cfg(test)]
mod tests;

pub use fold::{PoolFoldInput, PoolFolding, fold_pools};
pub use refuse::PoolVerdict;
pub(super) use refuse::{limit, next, verdicts};

use std::collections::{BTreeMap, BTreeSet};

use super::PlanInput;
use super::assign::PlanRun;
use super::cycle;
use super::pool_workers::may_scale;
use crate::model::{Fleet, MadeBy, Name, PoolLock, PoolPlan, Worker, WorkerPlan, WorkerState};

/// Decides with the workers that pools make and without those that they give up. `then` gets the input as
/// it is then, and the run to its end.
pub(super) fn settle<T>(
    input: &PlanInput<'_>,
    then: impl FnOnce(&PlanInput<'_>, PlanRun<'_>, &PoolChanges) -> T,
) -> T {
    let mut change = PoolChanges::default();
    let mut fleet = None;
    if may_scale(input) {
        grow::to_minimum(input, &mut fleet, &mut change);
    }
    loop {
        let now = PlanInput { fleet: fleet.as_ref().unwrap_or(input.fleet), ..*input };
        let mut run = cycle::begin(&now);
        cycle::finish(&mut run);
        let next = if may_scale(input) { change.next(&now, &run) } else { NextScale::default() };
        if next.is_nothing() {
            return then(&now, run, &change);
        }
        drop(run);
        let fleet = fleet.get_or_insert_with(|| input.fleet.clone());
        change.make(fleet, next);
    }
}

/// What pools do in a run.
#[derive(Debug, Default)]
pub(super) struct PoolChanges {
    /// The workers that are made, and whether that is for the pool's minimum.
    made: BTreeMap<Name, bool>,
    /// The workers that go.
    spare: BTreeSet<Name>,
    /// Workers that were to be made and that nothing came to.
    scale_up_failed: bool,
}

/// What changes next.
#[derive(Debug, Default)]
struct NextScale {
    made: Vec<Worker>,
    not_made: Vec<Name>,
    spare: Vec<Name>,
}

impl NextScale {
    fn is_nothing(&self) -> bool {
        self.made.is_empty() && self.not_made.is_empty() && self.spare.is_empty()
    }
}

impl PoolChanges {
    fn next(&self, input: &PlanInput<'_>, run: &PlanRun<'_>) -> NextScale {
        if !self.scale_up_failed && !input.fleet.holds_placements() {
            let made = grow::needed(input, run);
            if !made.is_empty() {
                return NextScale { made, ..NextScale::default() };
            }
            let empty = |name: &Name| run.states.get(name).is_some_and(|c| c.plan.clusters == 0);
            let asked = self.made.iter().filter(|(_, minimum)| !**minimum);
            let not_made: Vec<Name> =
                asked.map(|(name, _)| name).filter(|name| empty(name)).cloned().collect();
            if !not_made.is_empty() {
                return NextScale { not_made, ..NextScale::default() };
            }
        }
        let spare = if self.spare.is_empty() { shrink::spare(input, run) } else { Vec::new() };
        NextScale { spare, ..NextScale::default() }
    }

    fn make(&mut self, fleet: &mut Fleet, next: NextScale) {
        for worker in next.made {
            self.made.insert(worker.name.clone(), false);
            fleet.workers.insert(worker.name.clone(), worker);
        }
        for name in next.not_made {
            self.scale_up_failed = true;
            self.made.remove(&name);
            fleet.workers.remove(&name);
        }
        for name in next.spare {
            fleet.workers.remove(&name);
            self.spare.insert(name);
        }
    }
}

/// The pools after a run.
pub(super) fn pools(
    input: &PlanInput<'_>,
    workers: &BTreeMap<Name, WorkerPlan>,
    change: &PoolChanges,
) -> BTreeMap<Name, PoolPlan> {
    let mut pools: BTreeMap<Name, PoolPlan> = BTreeMap::new();
    for (pool, lock) in input.previous.pools() {
        let plan = pools.entry(pool.clone()).or_default();
        plan.lock.last = lock.last;
        // What is not among the desired workers is remembered as long as anything of it is there.
        let there = lock.workers.iter().filter(|(name, _)| {
            let desired = input.fleet.workers.get(*name);
            desired.is_none() && workers.contains_key(*name)
        });
        plan.lock.workers.extend(there.map(|(name, row)| (name.clone(), row.clone())));
    }
    for worker in input.fleet.workers.values() {
        let Some(MadeBy { pool, made }) = &worker.made_by else { continue };
        let plan = pools.entry(pool.clone()).or_default();
        let mut row = made.clone();
        row.running |= workers.get(&worker.name).is_some_and(|plan| plan.pending.is_none());
        plan.lock.last = plan.lock.last.max(row.ordinal);
        plan.lock.workers.insert(worker.name.clone(), row);
        let known = input.previous.pools().get(pool);
        if !known.is_some_and(|lock| lock.workers.contains_key(&worker.name)) {
            plan.made.push(worker.name.clone());
        }
    }
    for plan in pools.values_mut() {
        for name in &change.spare {
            if let Some(row) = plan.lock.workers.get_mut(name) {
                row.leaving = true;
                plan.spare.push(name.clone());
            }
        }
    }
    pools.retain(|_, plan| plan.lock != PoolLock::default());
    pools
}

/// Whether a worker takes part as its pool wants it.
fn is_desired(run: &PlanRun<'_>, worker: &Name) -> bool {
    run.states.get(worker).is_some_and(|c| c.plan.state == WorkerState::Desired)
}
