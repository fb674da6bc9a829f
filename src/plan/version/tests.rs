//! Steps and their twins: the same report, late, stale, of another or incomplete, moves nothing.

use super::*;
use crate::model::api::NodePool;
use crate::model::{FoldedReport, SteppedVersions};
use crate::plan::world::{World, digest_of, name};

/// The cluster `a` on `w1`, whose folder has `rendered` (`control plane/pools`, where they are others than
/// the document's), and which wants `desired`.
fn world(rendered: &str, desired: &str) -> World {
    let mut world = World::read("worker w1 agent:healthy runs=a; cluster a on=w1");
    let a = world.fleet.clusters.get_mut("a").unwrap();
    a.spec.version = desired.to_owned();
    a.spec.node_pools = vec![NodePool { name: "np0".into(), ..NodePool::default() }].into();
    let lock = world.previous.workers.get_mut("w1").unwrap();
    let row = lock.clusters.get_mut("a").unwrap();
    match Versions::parse(rendered) {
        Some(versions) => {
            desired.clone_into(&mut row.row.version);
            let digest = Some(digest_of(&versions));
            row.versions = Some(SteppedVersions { versions, digest, uid: Some("uid".to_owned()) });
        }
        None => rendered.clone_into(&mut row.row.version),
    }
    world
}

fn report(world: &mut World) -> &mut FoldedReport {
    world.observed.workers.get_mut("w1").unwrap()
}

fn seen(world: &mut World) -> &mut FoldedCluster {
    report(world).clusters.get_mut("a").unwrap()
}

/// The worker reports that all of the cluster is at these versions, its folder applied.
fn at(mut world: World, control_plane: &str, pools: &str) -> World {
    let row = &world.previous.workers["w1"].clusters["a"];
    let digest = row.versions.as_ref().and_then(|stepped| stepped.digest);
    let cluster = seen(&mut world);
    cluster.control_plane_version = Some(control_plane.to_owned());
    cluster.pool_version = Some(pools.to_owned());
    cluster.digest = digest;
    cluster.uid = Some("uid".to_owned());
    world
}

/// The step that is planned: the versions and what comes after them waits for; `done` where the folder
/// gets what is desired. Planning its own result again says the same.
#[track_caller]
fn step(world: &World) -> String {
    let planning = world.plan();
    let say = |step: Option<&VersionStep>| match step {
        Some(step) => format!("{} {}", step.versions, step.waits.name()),
        None => "done".to_owned(),
    };
    let said = say(planning.plan.version("a"));
    let again = world.after(&planning).plan();
    let versions = |said: &str| said.split(' ').next().unwrap().to_owned();
    assert_eq!(versions(&say(again.plan.version("a"))), versions(&said), "no fixpoint");
    said
}

#[track_caller]
fn steps(rendered: &str, desired: &str, reported: (&str, &str), expected: &str) {
    assert_eq!(step(&at(world(rendered, desired), reported.0, reported.1)), expected);
}

#[test]
fn a_control_plane_goes_first_and_its_pools_follow() {
    steps("v1.34.2", "v1.34.2", ("v1.34.2", "v1.34.2"), "done");
    steps("v1.34.2", "v1.34.3", ("v1.34.2", "v1.34.2"), "v1.34.3/v1.34.2 NotApplied");
    let lags = "v1.34.3/v1.34.2";
    steps(lags, "v1.34.3", ("v1.34.2", "v1.34.2"), "v1.34.3/v1.34.2 ControlPlane");
    steps(lags, "v1.34.3", ("v1.34.3", "v1.34.2"), "done");
}

#[test]
fn minor_versions_are_gone_through_one_by_one() {
    let desired = "v1.34.2";
    steps("v1.32.9", desired, ("v1.32.9", "v1.32.9"), "v1.33.10/v1.32.9 NotApplied");
    steps("v1.33.10/v1.32.9", desired, ("v1.33.10", "v1.32.9"), "v1.33.10/v1.33.10 NotApplied");
    steps("v1.33.10/v1.33.10", desired, ("v1.33.10", "v1.32.9"), "v1.33.10/v1.33.10 Pools");
    steps("v1.33.10/v1.33.10", desired, ("v1.33.10", "v1.33.10"), "v1.34.2/v1.33.10 NotApplied");
    steps("v1.34.2/v1.33.10", desired, ("v1.34.2", "v1.33.10"), "done");
}

#[test]
fn a_minor_version_waits_for_the_one_before_to_run() {
    steps("v1.32.9", "v1.33.1", ("v1.32.1", "v1.32.9"), "v1.32.9/v1.32.9 ControlPlane");
    steps("v1.32.9", "v1.33.1", ("v1.32.9", "v1.31.9"), "v1.32.9/v1.32.9 Pools");
    let mut down = at(world("v1.32.9", "v1.33.1"), "v1.32.9", "v1.32.9");
    "Degraded".clone_into(&mut seen(&mut down).phase);
    assert_eq!(step(&down), "v1.32.9/v1.32.9 NotRunning");
    let mut patch = at(world("v1.32.9", "v1.32.10"), "v1.32.9", "v1.32.9");
    "Degraded".clone_into(&mut seen(&mut patch).phase);
    assert_eq!(step(&patch), "v1.32.10/v1.32.9 NotApplied", "a patch may be the cure");
}

#[test]
fn without_pools_there_is_nothing_to_wait_for() {
    let mut bare = at(world("v1.33.1", "v1.34.2"), "v1.33.1", "");
    bare.fleet.clusters.get_mut("a").unwrap().spec.node_pools.clear();
    seen(&mut bare).pool_version = None;
    assert_eq!(step(&bare), "done");
}

#[test]
fn what_was_never_available_steps_as_a_whole() {
    let mut new = at(world("v1.32.9", "v1.34.2"), "v1.32.9", "v1.32.9");
    "Provisioning".clone_into(&mut seen(&mut new).phase);
    assert_eq!(step(&new), "v1.33.10/v1.33.10 NotApplied");
    let mut absent = world("v1.33.9", "v1.34.2");
    report(&mut absent).clusters.clear();
    assert_eq!(step(&absent), "done", "a complete report says that nothing is there");
}

/// What is done to evidence that would be good, and the word for what is waited for then.
type Twin = (fn(&mut World), &'static str);

const TWINS: [Twin; 6] = [
    (|w| report(w).freshness = Freshness::Silent, "NoReport"),
    (|w| report(w).complete = false, "NoReport"),
    (|w| drop(w.observed.workers.remove("w1")), "NoReport"),
    (|w| seen(w).digest = Some(crate::model::Digest::of(b"an older folder")), "NotApplied"),
    (|w| seen(w).digest = None, "NotApplied"),
    (|w| seen(w).uid = Some("another".to_owned()), "OtherObject"),
];

#[test]
fn evidence_moves_a_step_and_none_of_its_twins_does() {
    for (rendered, goes) in [
        ("v1.33.10/v1.32.9", "v1.33.10/v1.33.10 NotApplied"),
        ("v1.33.10/v1.33.10", "v1.34.2/v1.33.10 NotApplied"),
    ] {
        let good = at(world(rendered, "v1.34.2"), "v1.33.10", "v1.33.10");
        assert_eq!(step(&good), goes);
        for (change, waits) in TWINS {
            let mut twin = good.clone();
            change(&mut twin);
            assert_eq!(step(&twin), format!("{rendered} {waits}"));
        }
    }
}

#[test]
fn what_another_worker_says_of_a_cluster_is_no_evidence() {
    let mut twin = at(world("v1.33.10/v1.32.9", "v1.34.2"), "v1.33.10", "v1.32.9");
    let mut other = report(&mut twin).clone();
    other.worker = name("w2");
    report(&mut twin).clusters.clear();
    twin.observed.workers.insert(name("w2"), other);
    assert_eq!(step(&twin), "v1.33.10/v1.32.9 NotApplied");
}

#[test]
fn a_change_of_the_document_goes_on_with_the_cluster_that_is_there() {
    let mut anew = at(world("v1.33.10/v1.32.9", "v1.34.2"), "v1.33.10", "v1.32.9");
    seen(&mut anew).uid = Some("another".to_owned());
    assert_eq!(step(&anew), "v1.33.10/v1.32.9 OtherObject");
    anew.fleet.clusters.get_mut("a").unwrap().facts = crate::model::Digest::of(b"changed");
    assert_eq!(step(&anew), "v1.33.10/v1.33.10 NotApplied");
    assert_eq!(anew.plan().plan.version("a").unwrap().uid.as_deref(), Some("another"));
}

#[test]
fn a_patch_overtakes_and_a_way_back_is_not_planned() {
    steps("v1.34.2/v1.33.9", "v1.34.3", ("v1.33.9", "v1.33.9"), "v1.34.3/v1.33.9 NotApplied");
    steps("v1.34.2/v1.33.9", "v1.33.9", ("v1.33.9", "v1.33.9"), "done");
    steps("v1.33.10/v1.32.9", "v1.33.10", ("v1.33.10", "v1.32.9"), "done");
}

#[test]
fn where_nobody_looks_all_parts_go_at_once() {
    let mut unseen = world("v1.33.1", "v1.34.2");
    let worker = unseen.fleet.workers.get_mut("w1").unwrap();
    worker.spec.observation = Observation::None;
    assert_eq!(step(&unseen), "done");
}
