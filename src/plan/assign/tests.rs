//! Whole runs of the planner.

use super::PlanRun;
use crate::model::Decision;
use crate::plan::pre_filter_state::PreFilterState;
use crate::plan::world::{World, check, name};
use crate::plan::{PlanInput, SearchMode, SoleWorker, cycle, filter};

/// A world whose last plan was committed, with another fleet.
fn then(before: &str, fleet: &str) -> World {
    let before = World::read(before);
    let committed = before.after(&before.plan());
    let World { previous, settled, .. } = committed;
    World { previous, settled, ..World::read(fleet) }
}

#[test]
fn what_did_not_load_and_may_matter_holds_new_placements() {
    check(
        "worker w1; cluster a on=w1; cluster b; cluster c; unloaded PlacementPolicy ? blocking",
        "a on w1; b waits PlacementsHeld; c waits PlacementsHeld; hold PlacementsHeld b c",
    );
    check("worker w1; cluster a on=w1; unloaded PlacementPolicy ? blocking", "a on w1");
    check("worker w1; cluster b; unloaded ManagedCluster x", "b -> w1");
}

#[test]
fn without_a_worker_that_is_the_reason() {
    check("cluster a", "a waits NoWorkers");
}

#[test]
fn every_worker_adds_its_reasons() {
    check(
        "worker w1 cordoned 1/1; worker w2 taint:k=v:NoSchedule; worker w3 agent; cluster a",
        "a waits NeverReported Cordoned Capacity Taint",
    );
}

#[test]
fn reasons_are_those_of_the_workers_after_the_last_placement() {
    // When `a` is looked at w1 still has a place, and the label alone keeps `a` away.
    check(
        "worker w1 0/1; cluster a with:zone=1 priority=1; cluster b",
        "a waits Capacity AffinityLabels; b -> w1",
    );
}

#[test]
fn where_nothing_changed_nothing_is_looked_at() {
    let fleet = "worker w1 cap:mem=1; cluster a; cluster b with:zone=1; cluster c needs:mem=2";
    assert_eq!(World::read(fleet).plan().plan.evaluated, 3);
    assert_eq!(then(fleet, fleet).plan().plan.evaluated, 0);
}

#[test]
fn a_new_cluster_is_looked_at_and_those_that_wait_only_where_it_takes_a_place() {
    let fleet = "worker w1 0/1 cap:mem=1; cluster b with:zone=1; cluster c needs:mem=2";
    let placed = then(fleet, &format!("{fleet}; cluster a"));
    // `c` lacks capacity already; `b` may lack it from now on.
    assert_eq!(placed.plan().plan.evaluated, 2);
    let waits = then(fleet, &format!("{fleet}; cluster a only=w9"));
    assert_eq!(waits.plan().plan.evaluated, 1);
}

#[test]
fn a_changed_class_makes_a_cluster_be_looked_at_again() {
    let fleet = "worker w1 0/1; cluster a needs=2";
    let changed = then(fleet, "worker w1 0/1; cluster a needs=1");
    let plan = changed.plan().plan;
    assert_eq!(changed.describe(&plan, ""), "a -> w1");
}

#[test]
fn a_changed_worker_makes_all_be_looked_at_again() {
    let fleet = "worker w1 cordoned; cluster a; cluster b";
    let changed = then(fleet, "worker w1; cluster a; cluster b");
    assert_eq!(changed.describe(&changed.plan().plan, ""), "a -> w1; b -> w1");
}

#[test]
fn a_settled_state_of_another_pending_lock_counts_for_nothing() {
    let fleet = "worker w1 cordoned; cluster a";
    let world = then(fleet, fleet);
    let mut input = world.input();
    assert_eq!(crate::plan::plan(&input).plan.evaluated, 0);
    input.pending_id = None;
    assert_eq!(crate::plan::plan(&input).plan.evaluated, 1);
    input.pending_id = Some(crate::model::blob_id(b"another"));
    assert_eq!(crate::plan::plan(&input).plan.evaluated, 1);
}

#[test]
fn a_cluster_whose_document_was_broken_is_looked_at_again_when_it_is_whole() {
    let waits = "worker w1 cordoned; cluster a";
    let before = World::read(waits);
    let committed = before.after(&before.plan());
    let broken = World {
        previous: committed.previous.clone(),
        settled: committed.settled.clone(),
        ..World::read("worker w1; unloaded ManagedCluster a")
    };
    let plan = broken.plan();
    assert_eq!(broken.describe(&plan.plan, ""), "a waits Cordoned", "as it was recorded");
    let committed = broken.after(&plan);
    let whole = World {
        previous: committed.previous.clone(),
        settled: committed.settled.clone(),
        ..World::read("worker w1; cluster a")
    };
    assert_eq!(whole.describe(&whole.plan().plan, ""), "a -> w1");
}

#[test]
fn a_change_of_a_placed_cluster_counts_once() {
    let fleet = "worker w1; cluster a; cluster b";
    let changed = then(fleet, "worker w1; cluster a at=eastus; cluster b");
    let plan = changed.plan().plan;
    assert_eq!(changed.describe(&plan, ""), "a on w1; b on w1");
    assert_eq!(plan.evaluated, 1);
}

/// Two zones, of which the second has no memory. `x` is in the first.
const ZONES: &str = "worker w1 0/2 cap:mem=9 label:zone=1; worker w2 label:zone=2;
    policy p spread:zone=1; cluster x on=w1;";

#[test]
fn a_cluster_that_is_placed_lets_in_one_before_it() {
    check(&format!("{ZONES} cluster a needs:mem=1"), "a waits CapacityUnknown Spread; x on w1");
    check(&format!("{ZONES} cluster a needs:mem=1; cluster b"), "a -> w1; b -> w2; x on w1");
}

#[test]
fn the_first_in_the_queue_that_fits_comes_next() {
    // There is one slot on w1. Once `b` has opened it, both `a` and `c` could have it.
    let three = "cluster a needs:mem=1; cluster b; cluster c needs:mem=1";
    check(
        &format!("{ZONES} {three}"),
        "a -> w1; b -> w2; c waits Capacity CapacityUnknown Spread; x on w1",
    );
    check(
        &format!("{ZONES} {three} priority=1"),
        "a waits Capacity CapacityUnknown Spread; b -> w2; c -> w1; x on w1",
    );
}

#[test]
fn each_binding_lets_in_whom_it_can() {
    // What each of the first two wants is in its own zone only: `c` opens that of `b`, `d` that of `a`.
    let world = "worker w1 0/2 cap:m1=9 label:zone=1; worker w2 cap:m2=9 label:zone=2;
        worker w3 cap:m3=9 label:zone=3; policy p spread:zone=1;
        cluster x on=w2; cluster y on=w3; cluster z on=w3;
        cluster a needs:m3=1; cluster b needs:m2=1; cluster c needs:m1=1;";
    let placed = "x on w2; y on w3; z on w3";
    let waits = "a waits CapacityUnknown Spread";
    check(world, &format!("{waits}; b -> w2; c -> w1; {placed}"));
    check(
        &format!("{world} cluster d needs:m1=1"),
        &format!("a -> w3; b -> w2; c -> w1; d -> w1; {placed}"),
    );
}

#[test]
fn one_that_waits_keeps_nobody_up() {
    check(
        &format!("{ZONES} cluster a needs:mem=99 priority=9; cluster b; cluster c"),
        "a waits Capacity CapacityUnknown Spread; b -> w2; c -> w2; x on w1",
    );
}

#[test]
fn reasons_that_depend_on_what_is_placed_are_those_at_the_end() {
    let world = "worker w1 0/3 label:zone=1; worker w2 0/3 cordoned label:zone=2;";
    // When `a` is looked at nobody is there; then `b` comes.
    check(
        &format!("{world} policy p spread:zone=1; cluster a needs:mem=1; cluster b"),
        "a waits Cordoned CapacityUnknown Spread; b -> w1",
    );
    check(
        &format!("{world} policy p apart:worker; cluster a needs:mem=1; cluster b"),
        "a waits Cordoned CapacityUnknown AntiAffinity; b -> w1",
    );
    check(
        &format!("{world} tenant default quota=1; cluster a needs:mem=1; cluster b"),
        "a waits Cordoned CapacityUnknown Quota; b -> w1",
    );
}

#[test]
fn a_reason_that_is_no_more_is_taken_back() {
    // `a` never fits on w1, for want of memory too.
    let world = "worker w1 0/9 label:zone=1; worker w2 0/1 label:zone=2; policy p spread:zone=1;
        cluster x on=w1; cluster a needs:mem=1;";
    check(world, "a waits CapacityUnknown Spread; x on w1");
    let world = format!("{world} cluster b");
    check(&world, "a waits Capacity CapacityUnknown; b -> w2; x on w1");
    let (before, after) = (world.replace("cluster b", ""), &world);
    let changed = then(&before, after);
    let plan = changed.plan().plan;
    assert_eq!(changed.describe(&plan, ""), "a waits Capacity CapacityUnknown; b -> w2; x on w1");
}

#[test]
fn rules_that_say_the_same_as_before_cost_nothing() {
    let fleet = "worker w1 0/9 label:zone=1 cap:mem=1; worker w2 0/9 label:zone=2;
        policy p for:app=s spread:zone=3 apart:worker=#dr; tenant default quota=20;
        cluster a label:app=s label:dr=x needs:mem=2; cluster b label:app=s label:dr=y needs:mem=2";
    assert_eq!(then(fleet, fleet).plan().plan.evaluated, 0);
    let more = then(fleet, &format!("{fleet}; cluster c label:app=s"));
    assert_eq!(more.plan().plan.evaluated, 1, "no domain is full by it and no quota used up");
    let apart = then(fleet, &format!("{fleet}; cluster c label:app=s label:dr=x"));
    assert_eq!(apart.plan().plan.evaluated, 2, "it keeps `a` from its worker");
}

#[test]
fn a_quota_that_is_raised_lets_in_and_one_that_is_lowered_keeps_out() {
    let fleet =
        |quota: u8| format!("worker w1; tenant default quota={quota}; cluster a; cluster b");
    let describe = |world: &World| world.describe(&world.plan().plan, "");
    let raised = then(&fleet(1), &fleet(2));
    assert_eq!(describe(&raised), "a on w1; b -> w1");
    let lowered = then(&fleet(2), &format!("{}; cluster c", fleet(1)));
    assert_eq!(describe(&lowered), "a on w1; b on w1; c waits Quota");
}

#[test]
fn an_edited_rule_makes_those_that_wait_be_looked_at_again_and_moves_nobody() {
    let fleet = |rule: &str| {
        format!("worker w1; worker w2 cordoned; policy p {rule}; cluster a; cluster b")
    };
    let changed = then(&fleet("apart:worker"), &fleet("priority=1"));
    assert_eq!(changed.describe(&changed.plan().plan, ""), "a on w1; b -> w1");
    let changed = then(&fleet("priority=1"), &fleet("apart:worker"));
    assert_eq!(changed.describe(&changed.plan().plan, ""), "a on w1; b on w1");
}

#[test]
fn what_no_placement_mends_is_refused_for_good() {
    let of = |text: &str| {
        let world = World::read(&format!("{text}; cluster a label:dr=shop"));
        let input = world.input();
        let (run, _) = PlanRun::of_placed(&input);
        let name = name("a");
        let request = run.request_of(&name).unwrap();
        let pre_filter = PreFilterState::of(&request, &run.states, &run.states.counts);
        let request = request.within(&pre_filter);
        let worker = run.states.considered().next().unwrap();
        let mut reasons = Vec::new();
        filter::refuse(&request, worker, &mut reasons);
        (!reasons.is_empty(), filter::refuses_for_good(&request, worker))
    };
    let (taken, refused, for_good) = ((false, false), (true, false), (true, true));
    assert_eq!(of("worker w1"), taken);
    assert_eq!(of("worker w1 taint:k=v:NoSchedule"), for_good);
    assert_eq!(of("worker w1 4/4"), for_good);
    assert_eq!(of("worker w1 4/4 ceiling=5"), refused);
    assert_eq!(of("worker w1 4/4 ceiling=5 cordoned"), for_good);
    assert_eq!(of("workerpool p agent cap=4; worker w1 made:p=1 taint:k=v:NoSchedule"), refused);
    let apart = "policy p apart:worker=#dr; cluster x on=w1 label:dr=shop";
    assert_eq!(of(&format!("worker w1; {apart}")), refused);
}

#[test]
fn of_those_that_the_only_worker_refuses_for_good_nothing_is_decided() {
    let world = World::read(
        "worker w1 2/3; worker w2 4/4; cluster a; cluster b; cluster c label:dr=shop;
         policy p for:dr=shop apart:location=#dr",
    );
    let worker = name("w1");
    let sole = Some(SoleWorker { worker: &worker, cluster: None, policy: None });
    let input = PlanInput { sole, ..world.input() };
    let mut run = cycle::begin(&input);
    cycle::finish(&mut run);
    let decided = |name| run.clusters.get(name).map(|planned| &planned.decision);
    assert!(matches!(decided("a"), Some(Decision::Bind(to)) if to.worker == worker));
    assert_eq!(decided("b"), None, "there is no room left");
    assert!(
        matches!(decided("c"), Some(Decision::Wait { .. })),
        "what keeps it apart is looked at"
    );
}

#[test]
fn one_that_is_another_than_before_joins_nobody_that_only_one_worker_may_take() {
    let world =
        World::read("worker w1 4/4 ceiling=5; worker w2 0/2; cluster a needs=2; cluster b needs=2");
    let (worker, cluster) = (name("w1"), name("b"));
    let sole = Some(SoleWorker { worker: &worker, cluster: Some(&cluster), policy: None });
    let input = PlanInput { sole, ..world.input() };
    let mut run = cycle::begin(&input).by(SearchMode::Index);
    cycle::finish(&mut run);
    let decided = |name| run.clusters.get(name).map(|planned| &planned.decision);
    assert!(matches!(decided("b"), Some(Decision::Bind(to)) if to.worker == name("w2")));
}

#[test]
fn of_those_that_are_alike_the_first_is_let_in_and_the_others_wait_on() {
    // Zone 2 has no room for what `b…` take. Each that it takes of the others lets one of them into zone 1.
    let world =
        "worker w1 0/99 label:zone=1; worker w2 0/3 label:zone=2; policy p for:app=s spread:zone=1;
        cluster b1 label:app=s needs=4 priority=1; cluster b2 label:app=s needs=4 priority=1;
        cluster b3 label:app=s needs=4 priority=1; cluster b4 label:app=s needs=4 priority=1;
        cluster s1 label:app=s; cluster s2 label:app=s";
    let told = "b1 -> w1; b2 -> w1; b3 -> w1; b4 waits Capacity Spread; s1 -> w2; s2 -> w2";
    check(world, told);
    // Where each worker is a domain it is asked by the pre-filter state.
    check(&world.replace("spread:zone=1", "spread:worker=1"), told);
    check(
        &format!("{world}; cluster s3 label:app=s"),
        "b1 -> w1; b2 -> w1; b3 -> w1; b4 -> w1; s1 -> w2; s2 -> w2; s3 -> w2",
    );
    // Who asks for another place in the queue is none of them.
    check(
        &world.replace("b2 label:app=s needs=4 priority=1", "b2 label:app=s needs=4 priority=-1"),
        "b1 -> w1; b2 waits Capacity Spread; b3 -> w1; b4 -> w1; s1 -> w2; s2 -> w2",
    );
}

#[test]
fn whom_very_many_rules_are_about_is_like_no_other() {
    let alike = |rules: usize| {
        let apart = |rule| format!("soft-apart:location=@app=s{rule}");
        let rules: Vec<String> = (0..rules).map(apart).collect();
        let world = format!("worker w1; policy p {}; cluster a; cluster b", rules.join(" "));
        let world = World::read(&world);
        let input = world.input();
        let mut run = cycle::begin(&input).by(SearchMode::Index);
        run.sign();
        run.alike().count()
    };
    assert_eq!((alike(90), alike(260)), (2, 0));
}

#[test]
fn one_whose_name_is_taken_is_like_no_other() {
    check(
        "worker w1 0/1 agent:healthy ns=a; worker w2 0/2 agent:healthy; cluster a; cluster b; cluster c;
         cluster d; cluster e",
        "a -> w2; b -> w1; c -> w2; d waits Capacity; e waits Capacity",
    );
    check(
        "worker w1 9/9 agent:healthy ns=a; cluster a; cluster b; cluster c; cluster d",
        "a waits Capacity NamespaceTaken; b waits Capacity; c waits Capacity; d waits Capacity",
    );
}

#[test]
fn all_that_are_alike_are_let_in_where_none_stands_in_the_way_of_the_others() {
    for key in ["zone", "worker"] {
        check(
            &format!(
                "worker w1 0/99 label:zone=1; worker w2 0/3 label:zone=2; policy p for:app=b spread:{key}=1@app=s;
                 cluster b1 label:app=b needs=4 priority=1; cluster b2 label:app=b needs=4 priority=1;
                 cluster b3 label:app=b needs=4 priority=1; cluster s0 label:app=s priority=2;
                 cluster s1 label:app=s priority=2; cluster s2 label:app=s only=w2"
            ),
            "b1 -> w1 by p; b2 -> w1 by p; b3 -> w1 by p; s0 -> w1; s1 -> w1; s2 -> w2",
        );
    }
}

#[test]
fn what_was_said_of_one_that_met_nobody_is_said_of_those_alone_that_do_so() {
    // `a`, `c`, `d` and `e` differ in `app`, by which the rule tells groups apart, and `b` takes less.
    let world = "worker w1 0/2; worker w2 0/1; policy p for:t=1 apart:worker=#app;
        cluster a label:t=1 label:app=1 needs=9; cluster b label:t=1 label:app=2;
        cluster c label:t=1 label:app=2 needs=9; cluster d label:t=1 label:app=3 needs=9;
        cluster e label:t=1 label:app=2 needs=9";
    let told = "a waits Capacity; b -> w1 by p; c waits Capacity AntiAffinity; d waits Capacity; e waits Capacity AntiAffinity";
    check(world, told);
    // The first one that is refused meets somebody, and then nobody.
    let of_others = &told["a waits Capacity; ".len()..];
    check(&world.replace("cluster a ", "cluster f "), &format!("{of_others}; f waits Capacity"));
    // Another one was placed before the first one was refused.
    check(&world.replace("app=2;", "app=2 priority=1;"), told);
}

#[test]
fn what_was_said_before_a_quota_was_used_up_is_not_said_after() {
    check(
        "worker w1 0/9 cap:mem=5; tenant t quota=1; cluster a tenant=t needs:mem=9; cluster b tenant=t needs:mem=1;
         cluster c tenant=t needs:mem=9; cluster d tenant=t needs:mem=9",
        "a waits Capacity Quota; b -> w1; c waits Capacity Quota; d waits Capacity Quota",
    );
}
