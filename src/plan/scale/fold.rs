//! Since when workers of pools are awaited or empty, and whether that is long enough: the part of the fold
//! that is about pools. No report says it, so what begins is dated by the run that sees it first.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::model::api::Observation;
use crate::model::{
    Fleet, MadeBy, Name, Observed, Pool, PoolFact, PoolState, Previous, Worker, WorkerHealth,
};
use crate::plan::Clock;
use crate::plan::clock::after;

/// What [`fold_pools`] reads.
#[derive(Clone, Copy, Debug)]
pub struct PoolFoldInput<'a> {
    /// What was known.
    pub last: &'a BTreeMap<Name, PoolFact>,
    /// What people want, the workers that pools made among the workers.
    pub fleet: &'a Fleet,
    /// What the output branch says.
    pub previous: &'a Previous,
    /// What is known of the workers now.
    pub observed: &'a Observed,
    /// The time of the run; `None` where the fold stays as it is.
    pub now: Option<Timestamp>,
}

/// What [`fold_pools`] gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolFolding {
    /// By worker.
    pub pools: BTreeMap<Name, PoolFact>,
    /// Until when the same inputs give the same; `None`: for ever.
    pub valid_until: Option<Timestamp>,
}

/// Works out what time does to the workers of pools.
#[must_use]
pub fn fold_pools(input: &PoolFoldInput<'_>) -> PoolFolding {
    let Some(now) = input.now else {
        return PoolFolding { pools: input.last.clone(), valid_until: None };
    };
    let mut clock = Clock::new(now);
    let mut pools = BTreeMap::new();
    for worker in input.fleet.workers.values() {
        let pool = worker.made_by.as_ref().and_then(|made| input.fleet.pools.get(&made.pool));
        let fact = pool.and_then(|pool| fact(input, &mut clock, worker, pool));
        pools.extend(fact.map(|fact| (worker.name.clone(), fact)));
    }
    PoolFolding { pools, valid_until: clock.valid_until() }
}

fn fact(
    input: &PoolFoldInput<'_>,
    clock: &mut Clock,
    worker: &Worker,
    pool: &Pool,
) -> Option<PoolFact> {
    let last = input.last.get(&worker.name);
    let lock = input.previous.workers.get(&worker.name);
    let empty = lock.is_none_or(|lock| lock.clusters.is_empty());
    let mut fact = begun(input, clock, worker, empty, last)?;
    loop {
        let (state, seconds) = match fact.state {
            PoolState::Awaited => (PoolState::Overdue, pool.provision_timeout_seconds),
            PoolState::Overdue | PoolState::Empty if empty => {
                (PoolState::Spare, pool.cool_down_seconds)
            }
            _ => return Some(fact),
        };
        let moment = after(fact.since, seconds);
        if !clock.reached(moment) {
            return Some(fact);
        }
        fact = PoolFact { state, since: moment };
    }
}

/// What is so, apart from what time has done since.
fn begun(
    input: &PoolFoldInput<'_>,
    clock: &mut Clock,
    worker: &Worker,
    empty: bool,
    last: Option<&PoolFact>,
) -> Option<PoolFact> {
    let MadeBy { made, .. } = worker.made_by.as_ref()?;
    let well = worker.spec.observation == Observation::None
        || input.observed.health(&worker.name) == WorkerHealth::Healthy;
    let pending = !made.running && !well;
    let goes_on = |fact: &&PoolFact| match fact.state {
        PoolState::Awaited | PoolState::Overdue => pending,
        PoolState::Empty => !pending && empty,
        // One that is running at last begins anew.
        PoolState::Spare => empty && (made.running || !well),
    };
    if let Some(fact) = last.filter(goes_on) {
        return Some(fact.clone());
    }
    let state = match (pending, empty) {
        (true, _) => PoolState::Awaited,
        (false, true) => PoolState::Empty,
        (false, false) => return None,
    };
    Some(PoolFact { state, since: clock.stamp() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::world::World;

    /// What is known after each of some times, in seconds, and until when it holds.
    fn told(world: &str, times: &[i64]) -> Vec<String> {
        let world = World::read(world);
        let mut last = BTreeMap::new();
        let mut told = Vec::new();
        for second in times {
            let folding = fold_pools(&PoolFoldInput {
                last: &last,
                fleet: &world.fleet,
                previous: &world.previous,
                observed: &world.observed,
                now: Some(Timestamp::from_second(*second).unwrap()),
            });
            let facts = folding.pools.iter();
            let facts = facts.map(|(w, f)| format!("{w} {:?}@{}", f.state, f.since.as_second()));
            let until = folding.valid_until.map(|t| format!(" until {}", t.as_second()));
            let facts: Vec<_> = facts.collect();
            told.push(facts.join(" ") + &until.unwrap_or_default());
            last = folding.pools;
        }
        told
    }

    const POOL: &str = "workerpool eu max=3 agent timeout=100 cool=50;";

    #[test]
    fn a_worker_that_is_not_running_in_time_is_overdue_and_then_spare() {
        let world = format!("{POOL} worker eu-1 made:eu=1 agent");
        assert_eq!(
            told(&world, &[10, 60, 110, 159, 400]),
            [
                "eu-1 Awaited@10 until 10",
                "eu-1 Awaited@10 until 110",
                "eu-1 Overdue@110 until 160",
                "eu-1 Overdue@110 until 160",
                "eu-1 Spare@160",
            ]
        );
    }

    #[test]
    fn one_that_runs_is_neither_and_an_empty_one_becomes_spare() {
        let runs = format!("{POOL} worker eu-1 made:eu=1 agent:healthy; cluster a on=eu-1");
        assert_eq!(told(&runs, &[10, 1000]), ["", ""]);
        let empty = format!("{POOL} worker eu-1 made:eu=1 agent:healthy");
        assert_eq!(
            told(&empty, &[10, 59, 60]),
            ["eu-1 Empty@10 until 10", "eu-1 Empty@10 until 60", "eu-1 Spare@60"]
        );
        let ran = format!("{POOL} worker eu-1 made:eu=1 running agent:silent; cluster a on=eu-1");
        assert_eq!(told(&ran, &[10, 1000]), ["", ""], "it was running once");
    }

    #[test]
    fn where_no_reports_are_looked_for_everything_stays() {
        let world = World::read(POOL);
        let fact = PoolFact { state: PoolState::Empty, since: Timestamp::UNIX_EPOCH };
        let last = [(crate::plan::world::name("eu-1"), fact)].into();
        let folding = fold_pools(&PoolFoldInput {
            last: &last,
            fleet: &world.fleet,
            previous: &world.previous,
            observed: &world.observed,
            now: None,
        });
        assert_eq!(folding, PoolFolding { pools: last, valid_until: None });
    }
}
