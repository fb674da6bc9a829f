//! What holds for every fleet and every history of edits, shown on random ones.
//!
//! A history is a fleet, planned and committed, then edited, planned and committed again, and so on;
//! the statements are those of [`world`](super::world), so that a failing case can be read.

mod history;
mod leaving;
mod placed;
mod remedies;
mod steps;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use self::history::history;
pub(super) use self::steps::{every_step, todays_steps};
use super::WorkerVerdict;
use super::world::World;
use crate::model::{
    Blocker, ClusterPlan, ClusterState, Decision, HoldKind, Move, MoveProgress, Plan, Quantity,
    ReasonCode, Resources,
};

/// A world in which nothing is remembered of runs before.
pub(super) fn unsettled(world: &World) -> World {
    World { settled: None, counted: Arc::default(), ..world.clone() }
}

fn decisions(plan: &Plan) -> Plan {
    Plan { evaluated: 0, ..plan.clone() }
}

/// What a commit keeps: what is on its way, named or violated may be said otherwise by the next run.
fn decided(planned: &ClusterPlan) -> (&Decision, &Resources, Option<&Resources>) {
    (&planned.decision, &planned.demand, planned.resize_blocked.as_ref())
}

fn waits(planned: &ClusterPlan) -> Option<&BTreeSet<ReasonCode>> {
    match &planned.decision {
        Decision::Wait { reasons, .. } => Some(reasons),
        _ => None,
    }
}

/// Counts how often something was seen, so that a law that was never put to the test fails.
#[derive(Default)]
pub(super) struct Seen(Cell<usize>);

impl Seen {
    pub(super) fn note(&self, how_often: usize) {
        self.0.set(self.0.get() + how_often);
    }

    #[track_caller]
    pub(super) fn at_least(&self, least: usize) {
        assert!(self.0.get() >= least, "seen {} times, which shows too little", self.0.get());
    }

    /// As often as that in all steps, where today's were looked at.
    #[track_caller]
    pub(super) fn at_least_of(&self, least: usize) {
        self.at_least((least / steps::one_of()).max(1));
    }
}

#[test]
fn the_histories_are_worth_looking_at() {
    let (bound, waiting, deleting, held, blocked, skipped) =
        <(Seen, Seen, Seen, Seen, Seen, Seen)>::default();
    let reasons = RefCell::new(BTreeSet::new());
    let (begun, stays, violated) = <(Seen, Seen, Seen)>::default();
    let (all, moving) = <(Seen, Seen)>::default();
    every_step(|world, planning| {
        for planned in planning.plan.clusters.values() {
            all.note(1);
            match &planned.decision {
                Decision::Bind(_) => bound.note(1),
                Decision::Wait { reasons: why, .. } => {
                    waiting.note(1);
                    reasons.borrow_mut().extend(why.clone());
                }
                Decision::Delete { .. } => deleting.note(1),
                Decision::Move { .. } => moving.note(1),
                Decision::Keep { .. } | Decision::Forget => {}
            }
            blocked.note(usize::from(planned.resize_blocked.is_some()));
        }
        let begins = |moved: &&Move| moved.progress == MoveProgress::Begins;
        begun.note(planning.plan.moves().map(|(_, moved)| moved).filter(begins).count());
        stays.note(planning.plan.stays().count());
        for (_, stay) in planning.plan.stays() {
            if let Blocker::NoWorkerFits(why) = &stay.blocker {
                reasons.borrow_mut().extend(why.clone());
            }
        }
        violated.note(planning.plan.violations().count());
        held.note(planning.plan.holds.len());
        skipped.note(usize::from(unsettled(world).plan().plan.evaluated > planning.plan.evaluated));
        Ok(())
    });
    bound.at_least(500);
    waiting.at_least(500);
    deleting.at_least(30);
    held.at_least(100);
    blocked.at_least(30);
    skipped.at_least(30);
    waiting.at_least(all.0.get() / 10);
    moving.at_least(all.0.get() / 20);
    let seen = reasons.borrow().iter().map(|code| format!("{code:?}")).collect();
    let never: Vec<_> = every_reason().difference(&seen).cloned().collect();
    assert!(never.is_empty(), "never came up: {never:?}");
    begun.at_least(8);
    stays.at_least(5);
    violated.at_least(1);
}

/// The codes of all reasons that there are, by their schema, so that a new one is not forgotten here.
fn every_reason() -> BTreeSet<String> {
    let schema = schemars::schema_for!(ReasonCode).to_value();
    let all = schema["oneOf"].as_array().expect("it is an enum");
    let all: BTreeSet<_> =
        all.iter().filter_map(|one| one["const"].as_str()).map(str::to_owned).collect();
    assert!(all.contains("Evicted") && all.len() > 30, "{schema:#}");
    all
}

#[test]
fn the_order_of_the_inputs_makes_no_difference() {
    let config = Config { cases: 128, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let shuffled = history().prop_flat_map(|mut fleets| {
        let fleet = fleets.remove(0);
        (Just(fleet.clone()), Just(fleet).prop_shuffle())
    });
    let outcome = TestRunner::new_with_rng(config, rng).run(&shuffled, |(one, other)| {
        let (one, other) = (World::read(&one.join(";")), World::read(&other.join(";")));
        prop_assert_eq!(one.plan().plan, other.plan().plan);
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
}

#[test]
fn planning_its_own_result_changes_nothing() {
    every_step(|world, planning| {
        let committed = world.after(planning);
        let again = committed.plan();
        for (name, planned) in &planning.plan.clusters {
            let then = again.plan.clusters.get(name);
            match &planned.decision {
                Decision::Forget => prop_assert_eq!(then, None),
                Decision::Bind(binding) => {
                    let keep = Decision::Keep { worker: binding.worker.clone() };
                    prop_assert_eq!(then.map(|p| &p.decision), Some(&keep));
                }
                // What decided is said once.
                Decision::Move { from, step, binding } => {
                    let then = then.map(|p| (&p.decision, &p.demand));
                    let Some((Decision::Move { from: f, step: s, binding: b }, demand)) = then
                    else {
                        return Err(TestCaseError::fail(format!("{name} moves no more: {then:?}")));
                    };
                    prop_assert_eq!((f, s, &b.worker), (from, step, &binding.worker));
                    prop_assert_eq!(demand, &planned.demand);
                }
                _ => prop_assert_eq!(then.map(decided), Some(decided(planned))),
            }
        }
        prop_assert_eq!(&again.plan.workers, &planning.plan.workers);
        let after = committed.after(&again);
        prop_assert_eq!(&after.previous.workers, &committed.previous.workers);
        prop_assert_eq!(&after.previous.pending, &committed.previous.pending);
        prop_assert_eq!(again.context, planning.context);
        Ok(())
    });
}

#[test]
fn a_settled_state_saves_work_and_changes_no_decision() {
    let skipped = Seen::default();
    todays_steps(|world, planning| {
        let full = unsettled(world).plan();
        prop_assert_eq!(decisions(&planning.plan), decisions(&full.plan));
        prop_assert_eq!(planning.context, full.context);
        prop_assert!(planning.plan.evaluated <= full.plan.evaluated);
        let committed = world.after(planning);
        let again = committed.plan().plan;
        let mut resizing = 0;
        for (name, planned) in &again.clusters {
            let keeps = matches!(planned.decision, Decision::Keep { .. });
            let desired = world.fleet.clusters.get(name).filter(|_| keeps);
            resizing += u64::from(desired.is_some_and(|c| c.demand != planned.demand));
        }
        prop_assert_eq!(again.evaluated, resizing, "only what is held is looked at again");
        skipped.note(usize::from(planning.plan.evaluated < full.plan.evaluated));
        Ok(())
    });
    skipped.at_least_of(30);
}

#[test]
fn what_is_remembered_of_a_lock_is_what_its_rows_say() {
    let (recalled, shares, parts) = <(Seen, Seen, Seen)>::default();
    todays_steps(|world, planning| {
        let afresh = unsettled(world).plan();
        prop_assert_eq!(planning.context, afresh.context);
        for (lock, counts) in &afresh.counted.locks {
            prop_assert_eq!(planning.counted.locks.get(lock), Some(counts));
            shares.note(counts.tenants.len());
            parts.note(counts.groups.len().min(counts.keepers.len()));
        }
        prop_assert!(planning.counted_anew <= afresh.counted_anew);
        let saved = afresh.counted_anew - planning.counted_anew;
        recalled.note(usize::try_from(saved).unwrap());
        let again = world.after(planning).plan();
        prop_assert_eq!(&again.context, &planning.context);
        Ok(())
    });
    recalled.at_least_of(1000);
    shares.at_least_of(1000);
    parts.at_least_of(100);
}

#[test]
fn no_decision_exceeds_capacity() {
    let full = Seen::default();
    every_step(|world, planning| {
        for (name, after) in &planning.plan.workers {
            let mut before = crate::model::Resources::new();
            for row in world.previous.workers.get(name).iter().flat_map(|l| l.clusters.values()) {
                super::amounts::add(&mut before, &row.demand);
            }
            for (resource, amount) in &after.allocated {
                let was = before.get(resource).copied().unwrap_or_default();
                let free = after.room(resource);
                prop_assert!(
                    *amount <= was || free.is_some_and(|f| f >= Quantity::ZERO),
                    "{name} has {free:?} {resource} free"
                );
                full.note(usize::from(*amount > was && free == Some(Quantity::ZERO)));
            }
        }
        Ok(())
    });
    full.at_least(50);
}

#[test]
fn what_the_workers_take_is_what_their_clusters_take() {
    every_step(|world, planning| {
        for (name, worker) in &planning.plan.workers {
            let mut sum = crate::model::Resources::new();
            let here = |p: &&ClusterPlan| p.decision.worker() == Some(name);
            let clusters: Vec<_> = planning.plan.clusters.values().filter(here).collect();
            for planned in &clusters {
                super::amounts::add(&mut sum, &planned.demand);
            }
            let mut count = clusters.len();
            for (cluster, planned) in &planning.plan.clusters {
                if planned.decision.reserved() != Some(name) {
                    continue;
                }
                // A place that was kept before keeps what it had.
                let lock = world.previous.workers.get(name);
                let kept = lock.and_then(|lock| lock.clusters.get(cluster));
                let kept = kept.filter(|row| row.state == ClusterState::Reserved);
                let wanted = world.fleet.clusters.get(cluster).map(|c| &c.demand);
                let demand = kept.map(|row| &row.demand).or(wanted);
                super::amounts::add(&mut sum, demand.expect("somebody wants it"));
                count += 1;
            }
            prop_assert_eq!(&worker.allocated, &sum);
            prop_assert_eq!(worker.clusters, count as u64);
        }
        Ok(())
    });
}

#[test]
fn every_cluster_that_waits_has_a_reason_for_every_worker() {
    let asked = Seen::default();
    todays_steps(|world, planning| {
        let plan = &planning.plan;
        for (name, planned) in &plan.clusters {
            let Some(reasons) = waits(planned).filter(|_| world.fleet.clusters.contains_key(name))
            else {
                continue;
            };
            if plan.holds.iter().any(|h| h.kind == HoldKind::PlacementsHeld) {
                prop_assert_eq!(reasons, &[ReasonCode::PlacementsHeld].into());
                continue;
            }
            let told = world.explain(name);
            let mut codes = BTreeSet::new();
            for (worker, verdict) in &told.workers {
                let WorkerVerdict::Refused(reasons) = verdict else {
                    return Err(TestCaseError::fail(format!("{worker} takes {name}, which waits")));
                };
                prop_assert!(!reasons.is_empty(), "{} says nothing to {}", worker, name);
                codes.extend(reasons.iter().map(crate::model::Reason::code));
            }
            prop_assert_eq!(told.workers.len(), plan.workers.len());
            if told.workers.is_empty() {
                codes.insert(ReasonCode::NoWorkers);
            }
            prop_assert_eq!(&codes, reasons, "the record agrees with the table");
            asked.note(1);
        }
        Ok(())
    });
    asked.at_least_of(300);
}

#[test]
fn an_explanation_agrees_with_the_decision() {
    let (asked, with_a_second) = <(Seen, Seen)>::default();
    todays_steps(|world, planning| {
        for (name, planned) in &planning.plan.clusters {
            let Decision::Bind(binding) = &planned.decision else { continue };
            let told = world.explain(name);
            prop_assert_eq!(&told.planned, planned);
            prop_assert_eq!(told.winner.as_ref(), Some(&binding.worker));
            prop_assert_eq!(&told.runner_up, &binding.runner_up);
            prop_assert_eq!(told.decided_by, binding.decided_by);
            prop_assert_eq!(&told.policy, &binding.policy);
            prop_assert_eq!(told.margin.is_some(), told.runner_up.is_some());
            prop_assert!(world.remedies(name).list.is_empty());
            asked.note(1);
            with_a_second.note(usize::from(binding.runner_up.is_some()));
        }
        Ok(())
    });
    asked.at_least_of(300);
    with_a_second.at_least_of(100);
}
