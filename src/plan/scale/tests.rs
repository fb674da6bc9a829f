//! Growing and shrinking, in the words of people.

use crate::plan::world::{World, check, name, refusals};

/// What becomes of a world whose first plan was committed, with another fleet and other observations.
fn then(before: &World, fleet: &str) -> World {
    let World { previous, settled, .. } = before.after(&before.plan());
    let mut world = World { previous, settled, ..World::read(fleet) };
    world.load_pools();
    world
}

fn told(world: &World) -> String {
    world.describe(&world.plan().plan, "")
}

#[test]
fn a_pool_makes_the_fewest_workers_for_what_fits_nowhere() {
    let full = "worker w1 1/1;";
    check(&format!("{full} workerpool eu cap=2; cluster a"), "a -> eu-1; eu makes eu-1");
    check(
        &format!("{full} workerpool eu cap=2; cluster a; cluster b; cluster c"),
        "a -> eu-1; b -> eu-2; c -> eu-1; eu makes eu-1 eu-2",
    );
    // While they are made they are filled one after the other: 5 and 5 share one, so that 10 has the other.
    check(
        "workerpool eu agent cap=10; cluster a needs=5; cluster b needs=5; cluster c needs=10",
        "a -> eu-1; b -> eu-1; c -> eu-2; eu makes eu-1 eu-2",
    );
    check(&format!("{full} workerpool eu cap=2"), "");
    check("worker w1 0/1; workerpool eu cap=2; cluster a", "a -> w1");
    check("worker w1 1/1 ceiling=2; workerpool eu cap=2; cluster a", "a -> w1");
}

#[test]
fn a_worker_is_made_only_for_what_passes_every_filter_there() {
    for refused in [
        "workerpool eu cap=2; cluster a needs=3",
        "workerpool eu cap=2; cluster a needs:mem=1",
        "workerpool eu ?; cluster a",
        "workerpool eu cap=2; cluster a only-at=eastus",
        "workerpool eu cap=2 taint:k=v:NoSchedule; cluster a",
        "workerpool eu cap=2; tenant t pools=us; cluster a tenant=t",
        "workerpool eu cap=2; cluster a with:zone=1",
    ] {
        let world = World::read(refused);
        assert!(world.plan().made.is_empty(), "{refused}");
    }
    check(
        "workerpool eu cap=2 label:zone=1 taint:k=v:NoSchedule; tenant t pools=eu;
         policy p tolerate:k=v; cluster a tenant=t with:zone=1",
        "a -> eu-1; eu makes eu-1",
    );
}

#[test]
fn what_is_not_known_is_no_reason_to_grow() {
    check("worker w1 ?; workerpool eu cap=2; cluster a", "a waits CapacityUnknown");
    // More than that speaks against w1: whatever it has, it would not help.
    check("worker w1 ? cordoned; workerpool eu cap=2; cluster a", "a -> eu-1; eu makes eu-1");
}

#[test]
fn nothing_grows_while_a_worker_may_be_missing_or_a_policy_is() {
    let full = "worker w1 1/1; workerpool eu cap=2; cluster a;";
    for unloaded in ["Worker w2", "? ?", "WorkerPool us", "WorkerOverlay w1"] {
        let world = World::read(&format!("{full} unloaded {unloaded}"));
        assert!(world.plan().made.is_empty(), "{unloaded}");
    }
    check(&format!("{full} unloaded ManagedCluster x"), "a -> eu-1; eu makes eu-1");
    check(
        &format!("{full} unloaded PlacementPolicy ? blocking"),
        "a waits PlacementsHeld; hold PlacementsHeld a",
    );
}

#[test]
fn the_place_is_where_most_of_what_waits_fits_then_the_nearest() {
    let two = "workerpool eu cap=4 at=westeurope,northeurope;";
    check(&format!("{two} cluster a at=northeurope"), "a -> eu-1; eu makes eu-1");
    let plan = World::read(&format!("{two} cluster a at=northeurope")).plan();
    assert_eq!(plan.made[0].spec.location, "northeurope");
    let both = format!("{two} cluster a at=westeurope; cluster b only-at=northeurope");
    let plan = World::read(&both).plan();
    assert_eq!(plan.made.len(), 1, "both fit in the north");
    assert_eq!(plan.made[0].spec.location, "northeurope");
}

#[test]
fn an_ordinal_is_never_used_again_and_a_name_that_is_taken_is_passed_over() {
    check("workerpool eu cap=1 last=7; cluster a", "a -> eu-8; eu makes eu-8");
    check(
        "workerpool eu cap=1; cluster eu-1; cluster a on=eu-2; worker eu-2 1/1",
        "a on eu-2; eu-1 -> eu-3; eu makes eu-3",
    );
    check(
        "workerpool eu cap=1 at=westeurope named={location}-{pool}{ordinal}; cluster a",
        "a -> westeurope-eu1; eu makes westeurope-eu1",
    );
}

#[test]
fn there_are_min_workers_from_the_start_and_never_more_than_max() {
    check("workerpool eu min=2 cap=1", "eu makes eu-1 eu-2");
    let plan = World::read("workerpool eu min=3 at=westeurope,eastus cap=1").plan();
    let places: Vec<_> = plan.made.iter().map(|w| w.spec.location.as_str()).collect();
    assert_eq!(places, ["westeurope", "eastus", "westeurope"]);
    check(
        "workerpool eu max=1 cap=1; cluster a; cluster b",
        "a -> eu-1; b waits Capacity; eu makes eu-1",
    );
    check(
        "workerpool eu max=1 cap=1; worker eu-1 made:eu=1; cluster a on=eu-1; cluster b",
        "a on eu-1; b waits Capacity",
    );
    check(
        "workerpool eu max=1 cap=1; worker eu-1 made:eu=1 leaving; cluster b",
        "b waits BeingRemoved; worker eu-1 Retiring",
    );
}

#[test]
fn only_so_many_are_made_at_once() {
    let clusters = "cluster a; cluster b; cluster c; cluster d";
    check(
        &format!("workerpool eu agent cap=1; {clusters}"),
        "a -> eu-1; b -> eu-2; c waits Capacity; d waits Capacity; eu makes eu-1 eu-2",
    );
    check(
        &format!("workerpool eu agent cap=1 pending=3; {clusters}"),
        "a -> eu-1; b -> eu-2; c -> eu-3; d waits Capacity; eu makes eu-1 eu-2 eu-3",
    );
    check(
        &format!("workerpool eu cap=1; {clusters}"),
        "a -> eu-1; b -> eu-2; c -> eu-3; d -> eu-4; eu makes eu-1 eu-2 eu-3 eu-4",
    );
}

#[test]
fn a_second_run_without_news_changes_nothing() {
    for fleet in [
        "workerpool eu agent cap=1; cluster a; cluster b; cluster c",
        "workerpool eu cap=2; cluster a; cluster b; cluster c",
        "workerpool eu min=2 max=3 agent cap=1; cluster a; cluster b; cluster c; cluster d",
        "worker w1 1/1; workerpool eu agent cap=2; cluster a needs=2; cluster b",
    ] {
        let world = World::read(fleet);
        let first = world.plan();
        let committed = world.after(&first);
        let second = committed.plan();
        assert!(second.made.is_empty(), "{fleet}");
        assert_eq!(second.context, first.context, "{fleet}");
        assert_eq!(second.plan.workers, first.plan.workers, "{fleet}");
        assert_eq!(second.plan.evaluated, 0, "{fleet}");
        let after = committed.after(&second);
        assert_eq!(after.previous.workers, committed.previous.workers, "{fleet}");
        assert_eq!(after.previous.pending, committed.previous.pending, "{fleet}");
        assert_eq!(after.previous.pools(), committed.previous.pools(), "{fleet}");
    }
}

#[test]
fn what_a_pool_is_making_is_taken_last_and_what_waits_there_stays() {
    let made = "workerpool eu agent cap=2; worker eu-1 made:eu=1;";
    check(&format!("{made} worker w1 0/1; cluster a"), "a -> w1");
    check(&format!("{made} worker w1 0/1; cluster a; cluster b"), "a -> w1; b -> eu-1");
    // A place that is free elsewhere later moves nobody.
    check(&format!("{made} worker w1 0/1; cluster a on=eu-1 unrendered"), "a on eu-1");
}

#[test]
fn a_late_report_moves_nothing() {
    let fleet = "worker w1 1/1; workerpool eu agent cap=2; cluster a";
    let first = World::read(fleet);
    let waiting = then(&first, fleet);
    assert_eq!(told(&waiting), "a on eu-1");
    let mut running = then(&waiting, fleet);
    running.observed = World::read("worker eu-1 agent:healthy").observed;
    let plan = running.plan().plan;
    assert_eq!(running.describe(&plan, ""), "a on eu-1");
    assert_eq!(plan.workers["eu-1"].pending, None);
    assert!(plan.pools["eu"].lock.workers["eu-1"].running);
}

#[test]
fn one_that_is_not_running_in_time_loses_what_waits_there_once() {
    let late = "workerpool eu agent cap=2; worker eu-1 made:eu=1 overdue;";
    check(&format!("{late} worker w1 0/1; cluster a on=eu-1 unrendered"), "a -> w1");
    check(&format!("{late} cluster a on=eu-1 unrendered"), "a -> eu-2; eu makes eu-2");
    check(
        "workerpool eu agent cap=2 max=1; worker eu-1 made:eu=1 overdue; cluster a on=eu-1 unrendered",
        "a waits WorkerProvisionTimeout",
    );
    assert_eq!(
        refusals(&format!("{late} worker w1 1/1; cluster a"), "a", "eu-1"),
        ["its pool made it, and it is not running in time"]
    );
    // What was rendered there stays, whatever the worker says.
    check(&format!("{late} cluster a on=eu-1"), "a on eu-1");
    // Once it is running it is a worker like any other.
    check(
        "workerpool eu agent cap=2; worker eu-1 made:eu=1 overdue agent:healthy; cluster a",
        "a -> eu-1",
    );
}

#[test]
fn a_worker_goes_when_it_has_long_been_empty_and_there_are_enough() {
    let two = "workerpool eu cap=2; worker eu-1 made:eu=1 spare; worker eu-2 made:eu=2 spare";
    check(two, "worker eu-2 Retiring; eu gives up eu-2");
    let min = two.replace("cap=2;", "cap=2 min=2;");
    check(&min, "");
    check(&two.replace("spare", ""), "");
    // What comes in this run makes it a worker in use.
    check(&format!("{two}; cluster a; cluster b"), "a -> eu-1; b -> eu-2");
    check(&format!("{two}; unloaded ManagedCluster x"), "");
    // One after the other.
    check(
        "workerpool eu cap=2; worker eu-1 made:eu=1 spare; worker eu-2 made:eu=2 leaving deleting",
        "worker eu-2 Retiring",
    );
}

#[test]
fn what_goes_stays_gone() {
    let world = World::read("workerpool eu cap=2; worker eu-1 made:eu=1 spare");
    let committed = world.after(&world.plan());
    assert!(committed.previous.pools()[&name("eu")].workers["eu-1"].leaving);
    assert_eq!(told(&committed), "worker eu-1 Retiring");
    let mut again = committed.clone();
    again.fleet.clusters = World::read("cluster a").fleet.clusters;
    assert_eq!(told(&again), "a -> eu-2; worker eu-1 Retiring; eu makes eu-2");
}

#[test]
fn a_pool_that_is_removed_or_lowered_takes_no_worker_in_use() {
    let one = "worker eu-1 made:eu=1 gone; cluster a on=eu-1";
    check(one, "a on eu-1; worker eu-1 RemovedInUse; hold WorkerInUse eu-1");
    check("worker eu-1 made:eu=1 gone", "worker eu-1 Retiring");
    check(&format!("{one}; unloaded WorkerPool eu"), "a on eu-1; worker eu-1 NotLoaded");
    check(
        "workerpool eu max=1 cap=1; worker eu-1 made:eu=1; worker eu-2 made:eu=2;
         cluster a on=eu-1; cluster b on=eu-2",
        "a on eu-1; b on eu-2",
    );
}

#[test]
fn an_explanation_agrees_with_what_is_made() {
    let world = World::read("worker w1 1/1; workerpool eu agent cap=2; cluster a");
    let told = world.explain("a");
    assert_eq!(told.winner, Some(name("eu-1")));
    assert_eq!(told.planned.decision.worker(), Some(&name("eu-1")));
}
