//! Explaining one pool: the workers that it has, why it makes no other one or would make which, and who waits.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::model::{Name, Pending, PoolFact, PoolState, PoolWorker};
use crate::plan::assign::PlanRun;
use crate::plan::clock::after;
use crate::plan::{PlanInput, PoolVerdict, scale};

/// A pool is asked about so many of the clusters that wait, the first of the queue; the others are counted.
pub const MOST_ASKED: usize = 20;

/// What a pool has, and why it grows and shrinks or does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolExplanation {
    /// The pool.
    pub pool: Name,
    /// The workers that it made and that have not gone, those of this run among them.
    pub workers: BTreeMap<Name, PoolMember>,
    /// The highest ordinal that a worker of it ever had.
    pub last: u64,
    /// What keeps it from growing, whoever waits; `None` where nothing does.
    pub limit: Option<PoolVerdict>,
    /// The worker that would be made next, by the location at which it would be.
    pub next: BTreeMap<String, Name>,
    /// The first clusters that wait, in the order of the queue, each with why the pool makes no worker for it.
    pub waiting: Vec<(Name, PoolVerdict)>,
    /// How many clusters wait besides.
    pub more_waiting: usize,
    /// Whether nothing is given up in this run, whatever is empty.
    pub keeps_all: bool,
}

/// A worker of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolMember {
    /// What is remembered of it.
    pub row: PoolWorker,
    /// Whether it is made in this run.
    pub made: bool,
    /// How far it is, where it was never running.
    pub pending: Option<Pending>,
    /// How many clusters it has; those that wait for it count.
    pub clusters: u64,
    /// Since when it is empty or awaited, and until when it may be so; `None` where that is not known.
    pub fact: Option<(PoolFact, Option<Timestamp>)>,
}

/// Explains a pool as it is after the run; `None` where it is not desired.
#[must_use]
pub fn explain_pool(input: &PlanInput<'_>, name: &Name) -> Option<PoolExplanation> {
    scale::settle(input, |input, run, _| told(input, &run, name))
}

fn told(input: &PlanInput<'_>, run: &PlanRun<'_>, name: &Name) -> Option<PoolExplanation> {
    let pool = input.fleet.pools.get(name)?;
    let lock = input.previous.pools().get(name);
    let desired = input.fleet.workers.values().filter_map(|worker| {
        let made = worker.made_by.as_ref().filter(|made| made.pool == *name)?;
        Some((&worker.name, &made.made))
    });
    // What is on its way out is not among the desired workers.
    let mut rows: BTreeMap<&Name, &PoolWorker> =
        lock.into_iter().flat_map(|lock| &lock.workers).collect();
    rows.extend(desired);
    let member = |(worker, row): (&Name, &PoolWorker)| {
        let plan = run.states.get(worker).map(|candidate| &candidate.plan);
        let fact = input.observed.pools.get(worker).map(|fact| {
            let most = match fact.state {
                PoolState::Awaited => Some(pool.provision_timeout_seconds),
                PoolState::Empty => Some(pool.cool_down_seconds),
                PoolState::Overdue | PoolState::Spare => None,
            };
            (fact.clone(), most.map(|seconds| after(fact.since, seconds)))
        });
        let leaving = row.leaving || !input.fleet.workers.contains_key(worker);
        let member = PoolMember {
            row: PoolWorker { leaving, ..row.clone() },
            made: !lock.is_some_and(|lock| lock.workers.contains_key(worker)),
            pending: plan.and_then(|plan| plan.pending),
            clusters: plan.map_or(0, |plan| plan.clusters),
            fact,
        };
        (worker.clone(), member)
    };
    let workers: BTreeMap<_, _> = rows.into_iter().map(member).collect();
    let ordinals = workers.values().map(|member| member.row.ordinal);
    let mut asked: Vec<_> = run.unplaced().collect();
    let more_waiting = asked.len().saturating_sub(MOST_ASKED);
    asked.truncate(MOST_ASKED);
    let waiting = asked.into_iter().filter_map(|cluster| {
        let verdict = scale::verdicts(input, run, cluster).remove(name)?;
        Some((cluster.name.clone(), verdict))
    });
    Some(PoolExplanation {
        pool: name.clone(),
        last: ordinals.chain(lock.map(|lock| lock.last)).max().unwrap_or(0),
        limit: scale::limit(input, run, pool),
        next: scale::next(input, pool),
        waiting: waiting.collect(),
        more_waiting,
        keeps_all: input.deletions_wait(),
        workers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::world::World;

    fn explain(world: &str) -> PoolExplanation {
        World::read(world).explain_pool("p").expect("it is desired")
    }

    fn members(told: &PoolExplanation) -> Vec<String> {
        let line = |(name, member): (&Name, &PoolMember)| {
            let PoolMember { row, made, pending, clusters, .. } = member;
            format!(
                "{name} {} {clusters} {pending:?} made={made} leaving={}",
                row.ordinal, row.leaving
            )
        };
        told.workers.iter().map(line).collect()
    }

    #[test]
    fn a_pool_tells_what_it_has_and_what_it_would_make_next() {
        let told = explain(
            "workerpool p min=1 max=4 at=westeurope,eastus cap=1 last=7; worker p-3 made:p=3 running 1/1; \
             worker w",
        );
        assert_eq!(members(&told), ["p-3 3 1 None made=false leaving=false"]);
        assert_eq!((told.last, &told.limit), (7, &None));
        let next: Vec<_> = told.next.iter().map(|(at, name)| format!("{at} {name}")).collect();
        assert_eq!(next, ["eastus p-8", "westeurope p-8"]);
        assert_eq!((told.waiting, told.more_waiting), (Vec::new(), 0));
        assert_eq!(World::read("worker w").explain_pool("p"), None);
    }

    #[test]
    fn what_it_makes_in_this_run_is_among_its_workers() {
        let told = explain("workerpool p max=2 cap=1 agent; cluster a; cluster b; cluster c");
        let awaited = |n: u64| format!("p-{n} {n} 1 Some(Awaited) made=true leaving=false");
        assert_eq!(members(&told), [awaited(1), awaited(2)]);
        assert_eq!(told.limit, Some(PoolVerdict::HasMax(2)));
        let waiting: Vec<_> =
            told.waiting.iter().map(|(name, verdict)| format!("{name}: {verdict}")).collect();
        assert_eq!(waiting, ["c: it has as many workers as it may (max 2)"]);
    }

    #[test]
    fn what_leaves_counts_until_it_is_gone_and_what_is_empty_says_until_when() {
        let told = explain(
            "workerpool p max=2 cap=1; worker p-1 made:p=1 running leaving; worker p-2 made:p=2 running spare",
        );
        assert_eq!(
            members(&told),
            ["p-1 1 0 None made=false leaving=true", "p-2 2 0 None made=false leaving=false"]
        );
        let (fact, until) = told.workers.values().nth(1).and_then(|m| m.fact.clone()).unwrap();
        assert_eq!((fact.state, until), (PoolState::Spare, None));
        assert_eq!(told.limit, Some(PoolVerdict::HasMax(2)));
    }

    #[test]
    fn of_many_that_wait_the_first_are_asked_about() {
        let clusters: Vec<_> =
            (0..MOST_ASKED + 5).map(|n| format!("cluster c{n:02} needs=9")).collect();
        let told = explain(&format!("workerpool p cap=2; {}", clusters.join("; ")));
        assert_eq!((told.waiting.len(), told.more_waiting), (MOST_ASKED, 5));
        let (name, verdict) = &told.waiting[0];
        let wanted = "a worker of it would refuse: needs 9 clusters, 2 free";
        assert_eq!((name.as_str(), verdict.to_string().as_str()), ("c00", wanted));
    }
}
