//! Each step with its evidence, and its twins: late, stale, of another worker, incomplete, contradictory.

use super::super::stuck;
use super::super::world::{World, check, name};
use crate::model::Progress;

/// What the worker reports when the `Cluster` of the first step is gone.
const GONE: &str = "seen w1 a D1 has=HelmChartProxy,ManagedCluster,Namespace";
/// What is left of a cluster after the second step.
const EMPTY: &str = "seen w1 a D2 has=ManagedCluster,Namespace";

fn d1(worker: &str, seen: &str) -> String {
    format!("worker w1 {worker}; cluster a on=w1 gone deleting policy=Delete; {seen}")
}

fn d2(worker: &str, seen: &str) -> String {
    format!("worker w1 0/1 {worker}; cluster a on=w1 gone step=D2 policy=Delete; cluster b; {seen}")
}

#[test]
fn what_is_reported_gone_makes_the_next_step() {
    check(&d1("agent:healthy", GONE), "a deletes w1 D2 (NotApplied)");
    check(&d1("agent:unhealthy", GONE), "a deletes w1 D2 (NotApplied)");
    check(&d2("agent:healthy", EMPTY), "a forgotten; b -> w1; a ends Deleted");
}

#[test]
fn nothing_else_moves_the_first_step() {
    for (worker, seen, missing) in [
        ("agent", "", "NeverReported"),
        ("", "", "NotObserved"),
        ("agent:silent", GONE, "Silent"),
        ("agent:incomplete", GONE, "Incomplete"),
        ("agent:healthy", "", "NotApplied"),
        ("agent:healthy", "seen w1 a before has=Namespace", "NotApplied"),
        ("agent:healthy", "seen w1 a - has=Namespace", "NotApplied"),
        ("agent:healthy", "seen w1:other a D1 has=Namespace", "AnotherWorker"),
        ("agent:healthy", "seen w1 a D1 has=Cluster,Namespace uid Deleting", "StillThere"),
        ("agent:healthy", "seen w1 a D1 has=AzureMachine,Namespace", "StillThere"),
        ("agent:healthy", "seen w1 a D1 has=Namespace uid", "Contradictory"),
        ("agent:healthy", "seen w1 b D1 has=Namespace", "NotApplied"),
    ] {
        check(&d1(worker, seen), &format!("a deletes w1 ({missing})"));
    }
}

#[test]
fn nothing_else_moves_the_second_step_or_frees_its_room() {
    for (worker, seen, missing) in [
        ("agent:silent", EMPTY, "Silent"),
        ("agent:incomplete", EMPTY, "Incomplete"),
        ("agent:healthy", GONE, "NotApplied"),
        ("agent:healthy", "", "NotApplied"),
        ("agent:healthy", "seen w1:other a D2 has=Namespace", "AnotherWorker"),
        ("agent:healthy", "seen w1 a D2 has=HelmChartProxy,Namespace", "StillThere"),
        ("agent:healthy", "seen w1 a D2 has=Cluster,Namespace uid", "StillThere"),
        ("agent:healthy", "seen w1 a D2 has=Namespace uid", "Contradictory"),
    ] {
        let text = d2(worker, seen).replace("cluster b;", "cluster b only=w1;");
        let plan = World::read(&text).plan().plan;
        let told = World::read(&text).describe(&plan, "(");
        assert!(told.starts_with(&format!("a deletes w1 D2 ({missing})")), "{text}: {told}");
        assert!(told.contains("b waits") && told.contains("Capacity"), "{text}: {told}");
    }
}

#[test]
fn steps_that_have_begun_go_on_whatever_does_not_load() {
    let broken = "unloaded ManagedCluster x";
    check(&d1("agent:healthy", &format!("{GONE}; {broken}")), "a deletes w1 D2");
    let lost = "worker w2 0/0; lost w2";
    check(
        &d2("agent:healthy", &format!("{EMPTY}; {lost}")),
        "a forgotten; b -> w1; a ends Deleted",
    );
}

#[test]
fn what_may_not_be_written_does_not_step() {
    check(&d1("agent:healthy", &format!("{GONE}; kept cluster a")), "a deletes w1 (FolderKept)");
    check(
        &d1("agent:healthy", &format!("{GONE}; kept worker w1")),
        "a deletes w1 (FolderKept); worker w1 Kept",
    );
}

#[test]
fn a_worker_whose_document_is_gone_still_gives_evidence() {
    let text = d1("agent:healthy gone", GONE);
    check(&text, "a deletes w1 D2 (NotApplied); worker w1 RemovedInUse; hold WorkerInUse w1");
}

#[test]
fn a_name_is_taken_until_the_end_and_then_made_anew() {
    let again = |seen: &str| d1("agent:healthy", seen).replace("gone ", "changed ");
    check(&again(GONE), "a deletes w1 D2; hold NameStillDeleting a");
    check(&again(""), "a deletes w1; hold NameStillDeleting a");
    let again = d2("agent:healthy", EMPTY).replace("gone ", "").replace("cluster b;", "");
    check(&again, "a -> w1; a ends Deleted");
    let full = d2("agent:healthy", EMPTY).replace("gone ", "only=w9 ");
    check(&full, "a waits Capacity AffinityName; b -> w1; a ends Deleted");
}

#[test]
fn the_removed_document_calls_a_deletion_off_before_it_is_applied() {
    let back = |worker: &str, seen: &str| d1(worker, seen).replace("gone ", "");
    let running = "seen w1 a before has=Cluster,Namespace uid";
    check(&back("agent:healthy", running), "a on w1; a called off");
    for (worker, seen) in [
        ("agent:silent", running),
        ("agent:incomplete", running),
        ("agent:healthy", "seen w1:other a before has=Cluster,Namespace uid"),
        ("agent:healthy", "seen w1 a D1 has=Cluster,Namespace uid"),
        ("agent:healthy", "seen w1 a before has=Cluster,Namespace uid Deleting"),
        ("agent:healthy", "seen w1 a before has=Namespace"),
        ("agent:healthy", "seen w1 a - has=Cluster uid"),
        ("agent:healthy", ""),
        ("", ""),
    ] {
        check(&back(worker, seen), "a deletes w1; hold NameStillDeleting a");
    }
    let changed = back("agent:healthy", running).replace("deleting ", "deleting changed ");
    check(&changed, "a deletes w1; hold NameStillDeleting a");
}

fn orphan(worker: &str, seen: &str) -> String {
    format!("worker w1 0/1 {worker}; cluster a on=w1 gone step=Orphan policy=Orphan; {seen}")
}

#[test]
fn an_orphan_is_let_go_of_once_flux_knows() {
    check("worker w1; cluster a on=w1 gone policy=Orphan", "a deletes w1 Orphan");
    let applied = "seen w1 a Orphan has=Cluster,Namespace uid";
    check(&orphan("agent:healthy", applied), "a forgotten; a ends Orphaned");
    for (worker, seen, missing) in [
        ("", "", "NotObserved"),
        ("agent:silent", applied, "Silent"),
        ("agent:incomplete", applied, "Incomplete"),
        ("agent:healthy", "seen w1 a before has=Cluster uid", "NotApplied"),
        ("agent:healthy", "seen w1:other a Orphan has=Cluster uid", "AnotherWorker"),
        ("agent:healthy", "seen w1 a Orphan has=Cluster uid unsynced", "NotApplied"),
        ("agent:healthy", &format!("{applied}; unloaded ManagedCluster a"), "NotLoaded"),
    ] {
        check(&orphan(worker, seen), &format!("a deletes w1 Orphan ({missing})"));
    }
}

#[test]
fn an_orphan_that_is_wanted_again_was_never_touched() {
    let back = orphan("", "").replace("gone ", "changed ");
    check(&back, "a on w1; a called off");
}

#[test]
fn what_gets_no_evidence_is_abandoned_by_whoever_says_so() {
    let dead =
        "worker w1 0/1 agent:silent; cluster a on=w1 gone deleting; cluster b on=w1 gone step=D2";
    let world = World::read(dead);
    let sets = stuck(&world.input());
    assert_eq!((sets.len(), &sets[0].names), (1, &vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(sets[0].reporter, Some(name("w1")));
    check(
        &format!("{dead}; abandon a b"),
        "a forgotten; b forgotten; a ends Abandoned; b ends Abandoned",
    );
    assert!(stuck(&World::read(&d1("agent:healthy", "")).input()).is_empty(), "it may still come");
}

#[test]
fn an_abandoned_name_is_free() {
    let text = "worker w1 agent:silent; worker w2; cluster a on=w1 changed deleting; abandon a";
    check(text, "a -> w2; a ends Abandoned");
}

#[test]
fn a_cluster_and_a_worker_of_one_name_go_each_by_its_own_evidence() {
    let on_w2 = "worker w2 agent:healthy; cluster w1 on=w2 gone deleting";
    let gone = "seen h w1 D1 has=HelmChartProxy,Worker,Namespace";
    let world = World::read(&format!("{}; {on_w2}", retiring("deleting", "report:healthy", gone)));
    let plan = world.plan().plan;
    let cluster = plan.deletion("w1").unwrap();
    assert_eq!((&cluster.reporter, cluster.progress), (&Some(name("w2")), Progress::Waits));
    let worker = &plan.retirements["w1"];
    assert_eq!((&worker.reporter, worker.progress), (&Some(name("h")), Progress::Steps));
}

fn retiring(own: &str, hub: &str, seen: &str) -> String {
    format!("hub h; worker h gone attached {hub}; worker w1 gone {own}; cluster x-x on=h; {seen}")
}

/// What is said of a retiring worker; of the control-plane cluster nothing is.
#[track_caller]
fn retires(text: &str, expected: &str) {
    let world = World::read(text);
    let told = world.describe(&world.plan().plan, "(");
    let of_w1: Vec<_> = told.split("; ").filter(|words| words.contains("w1")).collect();
    assert_eq!(of_w1.join("; "), expected, "{text}");
}

#[test]
fn a_workers_own_cluster_goes_by_what_the_control_plane_reports() {
    retires(&retiring("", "", ""), "worker w1 Retiring; w1 retires D1 (NeverReported)");
    let gone = "seen h w1 D1 has=HelmChartProxy,Worker,Namespace";
    retires(
        &retiring("deleting", "report:healthy", gone),
        "worker w1 Retiring; w1 retires D2 (NotApplied)",
    );
    let empty = "seen h w1 D2 has=Worker,Namespace";
    retires(&retiring("step=D2", "report:healthy", empty), "worker w1 Retiring; w1 ends Deleted");
    for (hub, seen, missing) in [
        ("", "", "NeverReported"),
        ("report:silent", gone, "Silent"),
        ("report:incomplete", gone, "Incomplete"),
        ("report:healthy", "seen h w1 before has=Worker", "NotApplied"),
        ("report:healthy", "seen h:other w1 D1 has=Worker", "AnotherWorker"),
        ("report:healthy", "seen h w1 D1 has=Cluster,Worker uid", "StillThere"),
        ("report:healthy", "seen h w1 D1 has=Worker uid", "Contradictory"),
    ] {
        let expected = format!("worker w1 Retiring; w1 retires D1 ({missing})");
        retires(&retiring("deleting", hub, seen), &expected);
    }
}

#[test]
fn a_worker_retires_when_nothing_is_reported_on_it() {
    retires(
        &retiring("agent:healthy runs=left", "", ""),
        "worker w1 Retiring; w1 retires (Occupied)",
    );
    retires(&retiring("agent:incomplete", "", ""), "worker w1 Retiring; w1 retires (Incomplete)");
    retires(
        &retiring("agent:silent runs=left", "", ""),
        "worker w1 Retiring; w1 retires D1 (NeverReported)",
    );
}

#[test]
fn a_worker_that_carp_did_not_make_goes_at_once() {
    check("worker w1 gone attached; worker w2", "worker w1 Retiring; w1 ends Detached");
    check(
        "worker w1 gone attached agent:healthy; worker w2",
        "worker w1 Retiring; w1 ends Detached",
    );
    let left = "worker w1 gone attached agent:healthy runs=left; worker w2";
    check(left, "worker w1 Retiring; w1 retires (Occupied)");
    let silent = "worker w1 gone attached agent:silent runs=left; worker w2";
    check(silent, "worker w1 Retiring; w1 retires (Silent)");
    check(&format!("{silent}; abandon w1"), "worker w1 Retiring; w1 ends Detached");
    check(
        "worker w1 gone attached; cluster a on=w1",
        "a on w1; worker w1 RemovedInUse; hold WorkerInUse w1",
    );
}

#[test]
fn a_worker_that_comes_back_is_made_anew_after_the_end() {
    let back = |own: &str, seen: &str| {
        format!(
            "hub h; worker h gone attached report:healthy; worker w1 {own}; cluster x-x on=h; {seen}"
        )
    };
    let empty = "seen h w1 D2 has=Worker,Namespace";
    retires(&back("step=D2", empty), "w1 ends Deleted");
    let running = "seen h w1 before has=Cluster,Worker uid";
    retires(&back("deleting", running), "w1 called off");
    retires(
        &back("deleting", ""),
        "worker w1 Retiring; w1 retires D1 (NotApplied); hold NameStillDeleting w1",
    );
}
