//! Moves in the words of the planner's tests.

use crate::plan::world::{World, check};

const TWO: &str = "worker w1 agent:healthy; worker w2 agent:healthy;";

#[test]
fn a_drain_moves_what_says_rebuild_and_names_what_stays() {
    check(
        "worker w1 drain; worker w2; cluster a on=w1; cluster b on=w1 rebuild; cluster c on=w1 rebuild paused;
         cluster d on=w1 rebuild unrendered",
        "a on w1 [Drain NotMovable]; b w1 => w2 D1 Drain; c on w1 [Drain Paused];
         d on w1 [Drain NotRendered]",
    );
    check(
        "worker w1 drain; worker w2 1/1; cluster a on=w1 rebuild",
        "a on w1 [Drain NoWorkerFits]",
    );
}

#[test]
fn a_place_on_a_worker_that_closed_is_kept_for_what_it_was_kept_for() {
    let taken = |cluster: &str| {
        let world = format!(
            "worker w1 drain; worker w2 cordoned; cluster a on=w1 rebuild moving=w2 step=D1 {cluster}"
        );
        check(&world, "a w1 => w2 D1 Drain");
        World::read(&world).plan().plan.workers["w2"].allocated.clone()
    };
    assert_eq!(taken("was=2 needs=5"), taken("needs=2"));
    assert_eq!(taken("was=2 needs=1"), taken("needs=2"));
}

#[test]
fn what_a_move_frees_by_another_target_counts_in_the_same_run() {
    // `a` goes to w3 now, for w2 is cordoned; so `b` can have what was kept there for `a`.
    let world = "worker w1 drain; worker w2 0/2 cordoned; worker w3;
        cluster a on=w1 rebuild moving=w2 step=D1; cluster b on=w2 was=1 needs=2";
    check(world, "a w1 => w3 D1 Drain; b on w2 takes 2");
    // And the other way round: what `b` gives back is room for `a`.
    let world = "worker w1 drain; worker w2 cordoned; worker w3 0/2;
        cluster a on=w1 rebuild moving=w2 step=D1; cluster b on=w3 was=2 needs=1";
    check(world, "a w1 => w3 D1 Drain; b on w3 takes 1");
}

#[test]
fn nothing_moves_that_nothing_names() {
    check("worker w1 cordoned; worker w2; cluster a on=w1 rebuild", "a on w1");
    check("worker w1 agent:silent; worker w2; cluster a on=w1 rebuild", "a on w1");
    check("worker w1; worker w2; cluster a on=w1 rebuild only=w2", "a on w1");
}

#[test]
fn the_least_important_leaves_a_drained_worker_first_and_the_next_when_it_runs() {
    let three =
        "cluster a on=w1 rebuild priority=5; cluster b on=w1 rebuild; cluster c on=w1 rebuild";
    check(
        &format!("worker w1 drain; worker w2; {three}"),
        "a on w1 [Drain WaitsItsTurn]; b w1 => w2 D1 Drain; c on w1 [Drain WaitsItsTurn]",
    );
    check(
        &format!("worker w1 drain=2; worker w2; {three}"),
        "a on w1 [Drain WaitsItsTurn]; b w1 => w2 D1 Drain; c w1 => w2 D1 Drain",
    );
    let arrived = "worker w1 drain; worker w2 agent:healthy";
    let one = "cluster a on=w1 rebuild; cluster b on=w2 from=w1";
    check(&format!("{arrived}; {one}"), "a on w1 [Drain WaitsItsTurn]; b on w2 from w1");
    check(&format!("{arrived} runs=b; {one}"), "a w1 => w2 D1 Drain; b on w2");
    check(
        &format!("{}; {one}", arrived.replace("healthy", "silent runs=b")),
        "a on w1 [Drain WaitsItsTurn]; b on w2 from w1",
    );
}

#[test]
fn a_move_keeps_its_place_and_counts_on_both_workers() {
    check(
        "worker w1 drain 0/1; worker w2 0/1; cluster a on=w1 rebuild; cluster b",
        "a w1 => w2 D1 Drain; b waits Capacity Draining",
    );
    check(
        "worker w1 drain 0/1; worker w2 0/1; cluster a on=w1 rebuild moving=w2 step=D1; cluster b",
        "a w1 => w2 D1 Drain; b waits Capacity Draining",
    );
}

#[test]
fn each_step_waits_for_its_evidence() {
    let world = format!("{TWO} cluster a on=w1 rebuild moving=w2");
    let drained = world.replacen("worker w1", "worker w1 drain", 1);
    let at = |step: &str, seen: &str| format!("{drained} step={step}; {seen}");
    check(&at("D1", ""), "a w1 => w2 D1 Drain");
    check(&at("D1", "seen w1 a other has=Cluster"), "a w1 => w2 D1 Drain");
    check(&at("D1", "seen w1 a D1 has=Cluster"), "a w1 => w2 D1 Drain");
    check(&at("D1", "seen w1 a D1 has=HelmChartProxy"), "a w1 => w2 D2 Drain");
    check(&at("D1", "seen w1:other a D1 has=HelmChartProxy"), "a w1 => w2 D1 Drain");
    check(&at("D2", "seen w1 a D2 has=HelmChartProxy"), "a w1 => w2 D2 Drain");
    check(&at("D2", "seen w1 a D2 has=Namespace"), "a on w2 new from w1; a ends Deleted");
    check(
        &at("D2", "seen w1 a D2 has=Namespace; unloaded ManagedCluster x"),
        "a on w2 new from w1; a ends Deleted",
    );
}

#[test]
fn a_move_is_called_off_while_nothing_was_deleted() {
    let world = format!("{TWO} cluster a on=w1 rebuild moving=w2 step=D1");
    check(&format!("{world}; seen w1 a other has=Cluster"), "a on w1 again; a called off");
    check(&format!("{world}; seen w1 a D1 has=HelmChartProxy"), "a w1 => w2 D2 Drain");
    check(&format!("{world}; seen w1 a D1 has=Cluster"), "a w1 => w2 D1 Drain");
    let named = world.replacen("worker w1", "worker w1 drain", 1);
    check(&format!("{named}; seen w1 a other has=Cluster"), "a w1 => w2 D1 Drain");
}

#[test]
fn on_a_worker_that_is_not_heard_of_nothing_is_deleted_until_somebody_says_that_it_is_gone() {
    let lost = "worker w1 drain agent:silent; worker w2; cluster a on=w1 rebuild";
    check(lost, "a w1 => w2 unheard Drain");
    let begun = format!("{lost} moving=w2");
    check(&begun, "a w1 => w2 unheard Drain");
    check(&format!("{begun}; abandon a"), "a on w2 new from w1; a ends Abandoned");
    let back = begun.replacen("silent", "healthy", 1);
    check(&back, "a w1 => w2 D1 Drain");
    check(&back.replacen("drain ", "", 1), "a on w1 again; a called off");
    let late = begun.replacen("drain ", "", 1);
    check(&late, "a on w1 again; a called off");
}

#[test]
fn a_cluster_that_is_removed_while_it_moves_is_deleted_and_made_nowhere() {
    let world = "worker w1 drain; worker w2 0/1; cluster b; cluster a on=w1 rebuild moving=w2";
    check(&format!("{world} step=D1 gone policy=Delete"), "a deletes w1; b -> w2");
    check(&format!("{world} step=D1 gone"), "a deletes w1; b -> w2");
    check(&format!("{world} gone"), "a on w1; b -> w2; hold DeletionPolicyUnset a");
    check(
        &format!("{world} step=D1 gone; unloaded ManagedCluster a"),
        "a w1 => w2 D1 Drain; b waits Capacity Draining",
    );
}

#[test]
fn a_target_that_takes_nothing_any_more_is_exchanged() {
    let world = "worker w1 drain; worker w2; worker w3; cluster a on=w1 rebuild moving=w2 step=D1";
    check(&world.replacen("w2;", "w2 cordoned;", 1), "a w1 => w3 D1 Drain");
    check(&world.replacen("w2;", "w2 agent:silent;", 1), "a w1 => w3 D1 Drain");
    check(&world.replacen("w2;", "w2 gone;", 1), "a w1 => w3 D1 Drain; worker w2 Retiring");
    let none = world.replacen("worker w3; ", "", 1);
    check(&none.replacen("w2;", "w2 cordoned;", 1), "a w1 => w2 D1 Drain");
    check(
        &none.replacen("w2;", "w2 gone;", 1),
        "a deletes w1; worker w2 Retiring; hold NameStillDeleting a",
    );
}

#[test]
fn a_cluster_whose_target_is_closed_when_it_arrives_waits_like_a_new_one() {
    let gone = "worker w1 drain agent:healthy; worker w2 cordoned; worker w3 0/1;
        cluster a on=w1 rebuild moving=w2 step=D2; seen w1 a D2 has=Namespace";
    check(gone, "a -> w3; a ends Deleted");
    check(&gone.replacen("0/1", "1/1", 1), "a waits Cordoned Capacity Draining; a ends Deleted");
}

#[test]
fn a_taint_drives_out_what_does_not_tolerate_it_and_what_does_when_its_time_is_over() {
    let tainted = "worker w1 taint:k=v:NoExecute since=0; worker w2; cluster a on=w1 rebuild;";
    check(tainted, "a w1 => w2 D1 NoExecute");
    check(&format!("{tainted} policy p tolerate:k=v"), "a on w1");
    let timed = format!("{tainted} policy p tolerate:k=v:NoExecute seconds=300");
    check(&format!("{timed}; now 299"), "a on w1");
    check(&format!("{timed}; now 300"), "a w1 => w2 D1 NoExecute");
    check(
        &timed.replacen("rebuild", "", 1).replacen("seconds=300", "seconds=0", 1),
        "a on w1 [NoExecute NotMovable]",
    );
    check(
        "worker w1 taint:k=v:NoExecute; worker w2; policy p tolerate:k=v:NoExecute seconds=300; cluster b only=w1",
        "b waits AffinityName Taint",
    );
}

#[test]
fn failover_moves_what_may_move_once_the_grace_is_over_the_most_important_first() {
    let lost = "worker w1 agent:silent; worker w2; cluster a on=w1 rebuild; cluster b on=w1;
        cluster c on=w1 rebuild priority=9; policy p failover=600";
    check(&format!("{lost}; now 599"), "a on w1; b on w1; c on w1");
    check(
        &format!("{lost}; now 600"),
        "a w1 => w2 unheard Failover; b on w1 [Failover NotMovable]; c w1 => w2 unheard Failover",
    );
    check(
        &format!("{lost} rate=1; now 600"),
        "a on w1 [Failover WaitsItsTurn]; b on w1 [Failover NotMovable]; c w1 => w2 unheard Failover",
    );
    let unwell = lost.replacen("silent", "unhealthy", 1);
    check(
        &format!("{unwell}; now 600"),
        "a w1 => w2 D1 Failover; b on w1 [Failover NotMovable]; c w1 => w2 D1 Failover",
    );
    let begun =
        "worker w1 agent:healthy; worker w2; cluster a on=w1 rebuild moving=w2 cause=Failover;
        policy p failover=600; now 700";
    check(begun, "a on w1 again; a called off");
}

#[test]
fn where_most_workers_are_lost_nothing_fails_over() {
    let lost = |n: usize, of: usize| {
        let workers = (0..of).map(|i| {
            let state = if i < n { "silent" } else { "healthy" };
            format!("worker w{i} agent:{state}; ")
        });
        let world = workers.collect::<String>();
        format!("{world} cluster a on=w0 rebuild; policy p failover=60; now 100")
    };
    let held = "a on w0 [Failover FailoverBreaker]; hold FailoverBreaker a";
    check(&lost(3, 5), held);
    check(&lost(11, 20), held);
    check(&lost(10, 20), "a w0 => w10 unheard Failover");
    check(&lost(2, 3), "a w0 => w2 unheard Failover");
    // A person's own word goes through.
    check(&lost(3, 5).replacen("worker w0", "worker w0 drain", 1), "a w0 => w3 unheard Drain");
}

#[test]
fn what_its_policy_would_not_place_there_now_is_told_and_moves_where_the_policy_says_so() {
    let world = "worker w1; worker w2; cluster a on=w1 rebuild; policy p only=w2";
    check(world, "a on w1 violates AffinityName");
    check(&format!("{world} violations=move"), "a w1 => w2 D1 Violation");
    let own = "worker w1; worker w2; cluster a on=w1 not=w1; cluster b on=w2 with:zone=1";
    check(own, "a on w1 violates AffinityExcluded; b on w2 violates AffinityLabels");
    check("worker w1 pool=x; tenant t pools=y; cluster a on=w1 tenant=t", "a on w1 violates Pool");
    check(
        &format!("{} violations=move", world.replacen(" rebuild", "", 1)),
        "a on w1 [Violation NotMovable] violates AffinityName",
    );
    // What keeps only new clusters away is no violation.
    for only_new in ["cordoned", "1/1", "taint:k=v:NoSchedule", "agent:silent"] {
        let world =
            format!("worker w1 {only_new}; cluster a on=w1; policy p violations=move only=w1");
        let plan = World::read(&world).plan().plan;
        assert!(plan.violations().count() + plan.stays().count() == 0, "{world}");
    }
}

#[test]
fn nobody_waits_for_a_place_that_only_a_policy_asks_for() {
    check(
        "worker w1; worker w2 0/1; cluster a on=w1 rebuild; cluster b only=w2; policy p not=w1 violations=move",
        "a on w1 [Violation NoWorkerFits]; b -> w2",
    );
}

#[test]
fn nothing_begins_while_something_did_not_load_or_is_kept() {
    let drained = "worker w1 drain; worker w2; cluster a on=w1 rebuild";
    check(
        &format!("{drained}; unloaded ManagedCluster x"),
        "a on w1 [Drain DeletionsHeld]; hold DeletionsHeld a",
    );
    check(&format!("{drained}; kept cluster a"), "a on w1 [Drain FolderKept]");
    check(&format!("{drained}; unloaded PlacementPolicy ? blocking"), "a on w1");
}
