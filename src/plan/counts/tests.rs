//! What a run counts, and what it takes over from an earlier one.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Counts;
use super::here::Here;
use crate::model::{Counted, CountedLock, Name};
use crate::plan::deletion::Deletions;
use crate::plan::group::Values;
use crate::plan::policy::Policies;
use crate::plan::world::{World, check};

const RULES: &str = "policy p for:app=s spread:zone=1 apart:location=#dr; tenant t quota=9;";
const WORKERS: &str = "worker w1 label:zone=1; worker w2 label:zone=2; worker w3 label:zone=3;";
const PLACED: &str =
    "cluster a tenant=t on=w1 label:app=s label:dr=x; cluster b tenant=t on=w2 label:app=s;
    cluster c tenant=t on=w3";

/// A world whose locks an earlier run counted, and then with other words.
fn remembered(before: &str, now: &str) -> World {
    let committed = World::read(before);
    let committed = committed.after(&committed.plan());
    // One run counts what the one before wrote.
    let counted = committed.plan().counted;
    let World { previous, settled, .. } = committed;
    World { previous, settled, counted, ..World::read(now) }
}

/// How many locks are counted where this was before.
fn counted(before: &str, now: &str) -> u64 {
    remembered(before, now).plan().counted_anew
}

fn fleet(placed: &str) -> String {
    format!("{WORKERS} {RULES} {placed}")
}

#[test]
fn what_nothing_happened_to_is_not_counted_again() {
    assert_eq!(World::read(&fleet(PLACED)).plan().counted_anew, 3);
    assert_eq!(counted(&fleet(PLACED), &fleet(PLACED)), 0);
    let one_more = format!("{PLACED}; cluster d tenant=t label:app=s");
    assert_eq!(counted(&fleet(PLACED), &fleet(&one_more)), 0);
}

#[test]
fn a_worker_is_counted_again_where_a_document_says_what_its_row_does_not() {
    for (from, to, locks) in [
        ("label:dr=x", "label:dr=y", 1),
        ("on=w3", "on=w3 tenant=u", 1),
        ("on=w3", "on=w3 at=eastus", 1),
        // Nobody asked for this before.
        ("on=w3", "on=w3 apart:worker", 3),
        // Nothing of this is counted.
        ("on=w3", "on=w3 priority=7 needs=2", 0),
    ] {
        let edited = PLACED.replace(from, to);
        assert_ne!(edited, PLACED);
        assert_eq!(counted(&fleet(PLACED), &fleet(&edited)), locks, "{to}");
    }
}

#[test]
fn what_is_being_deleted_counts_as_its_row_says() {
    let removable = PLACED.replace("on=w3", "on=w3 policy=Delete");
    let removed = removable.replace("on=w3", "on=w3 gone");
    assert_eq!(counted(&fleet(&removable), &fleet(&removed)), 0);
}

#[test]
fn other_rules_count_everything_again() {
    for (from, to, all) in [
        ("spread:zone=1", "spread:zone=1@app=t", 3),
        ("apart:location=#dr", "apart:location=#app", 3),
        ("for:app=s", "for:app=t", 3),
        // How many may be ahead, and how much is granted, is no matter of counting.
        ("spread:zone=1", "spread:zone=2", 0),
        ("quota=9", "quota=5", 0),
    ] {
        let rules = fleet(PLACED).replace(from, to);
        assert_ne!(rules, fleet(PLACED));
        assert_eq!(counted(&fleet(PLACED), &rules), all, "{to}");
    }
}

#[test]
fn counts_of_another_lock_are_not_believed() {
    let mut world = remembered(&fleet(PLACED), &fleet(PLACED));
    let with_a_row_too_many = |lock: &Arc<CountedLock>| {
        let mut lock = CountedLock::clone(lock);
        lock.groups.iter_mut().for_each(|part| part.rows.push(9));
        lock.keepers.iter_mut().for_each(|part| part.rows.push(9));
        Arc::new(lock)
    };
    let locks = world.counted.locks.iter().map(|(id, lock)| (*id, with_a_row_too_many(lock)));
    let plan = world.plan();
    world.counted = Arc::new(Counted { locks: locks.collect(), ..Counted::clone(&world.counted) });
    let again = world.plan();
    assert_eq!((&again.plan, again.context), (&plan.plan, plan.context));
    // Of w3 no group is remembered that could be wrong.
    assert_eq!(again.counted_anew, 2);
    assert_eq!(again.counted, plan.counted);
}

#[test]
fn what_is_remembered_decides_as_what_is_counted() {
    let one_more = "cluster d tenant=t label:app=s label:dr=x";
    let text = fleet(&format!("{PLACED}; {one_more}")).replace("quota=9", "quota=4");
    let decided = "a on w1; b on w2; c on w3; d waits Spread AntiAffinity";
    check(&text, decided);
    let world = remembered(&fleet(PLACED), &text);
    let planning = world.plan();
    assert_eq!(world.describe(&planning.plan, decided), decided);
    assert_eq!(planning.counted_anew, 0);
}

#[test]
fn what_stands_on_workers_that_are_not_of_the_run_counts_for_those_alone() {
    let world = World::read(&fleet("cluster c tenant=t"));
    let input = world.input();
    let policies = Policies::of(&world.fleet);
    let names: Vec<Name> = ["w1", "w3", "w5"].map(|name| Name::parse(name).unwrap()).into();
    let mut counts = Counts::new(&input, &policies, &Deletions::new(), names.iter().collect());
    let (group, values) = (counts.groups()[0], Values::from_iter(["default"]));
    let cluster = &world.fleet.clusters["c"].name;
    let others: Vec<Name> = ["w0", "w2", "w4", "w6"].map(|name| Name::parse(name).unwrap()).into();
    // In the order of the names, as they come.
    for worker in others.iter().chain(&names).collect::<BTreeSet<_>>() {
        let groups = [((0, values.clone()), vec![cluster])].into();
        counts.add(worker, Here { groups, ..Here::default() });
    }
    let part = counts.part(&group, &values).unwrap();
    let places: BTreeSet<usize> = part.workers().map(|(place, _)| place).collect();
    let there: Vec<&str> = places.into_iter().map(|place| counts.worker(place).as_str()).collect();
    assert_eq!(there, ["w1", "w3", "w5", "w0", "w2", "w4", "w6"]);
    let c = &world.fleet.clusters["c"];
    for worker in names.iter().chain(&others) {
        counts.unbind(c, worker, &c.demand);
    }
    assert!(counts.part(&group, &values).is_none());
}
