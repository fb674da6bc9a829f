//! A region fills up and its pool grows; then it empties, and the pool shrinks. And the twin of the story:
//! the new worker's report comes late, and nothing moves.

use std::collections::BTreeMap;

use carp::model::{Name, Proposal};

use crate::support::reconciled::Reconciled;
use crate::support::small::{self, cluster};
use crate::support::world::World;

const POOL: &str = "apiVersion: carp.dev/v1alpha1
kind: WorkerPool
metadata:
  name: weu
spec:
  max: 3
  provisionTimeout: 45m
  coolDown: 2h
  template:
    spec:
      version: v1.34.2
      location: westeurope
      replicas: 3
      capacity: 2
      observation: Agent
";

/// Two clusters on the only worker, which has no room left, and two that wait in the pool's hope.
fn full() -> World {
    let mut files = BTreeMap::from([
        ("carp.yaml".to_owned(), small::FLEET.to_owned()),
        ("fleet/workers/w-weu.yaml".to_owned(), small::worker("w-weu", "westeurope", 2)),
        ("fleet/pools/weu.yaml".to_owned(), POOL.to_owned()),
    ]);
    for name in ["alpha", "bravo"] {
        files.insert(format!("fleet/clusters/{name}.yaml"), cluster(name, "westeurope"));
    }
    let mut world = World::new(files);
    world.reports = Some(BTreeMap::new());
    let first = world.run();
    assert!(!first.diagnostics.has_errors(), "{:?}", first.diagnostics.sorted().first());
    world
}

fn add(world: &mut World, name: &str) {
    world.write(&format!("fleet/clusters/{name}.yaml"), &cluster(name, "westeurope"));
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// The worker's agent says that it is well.
fn reports(world: &mut World, worker: &str) {
    let text = format!(
        "schemaVersion: 1\nworker: {worker}\nworkerUID: uid-{worker}\ntime: {:?}\ncomplete: true\nhealthy: true\n",
        world.now.to_string()
    );
    world.reports.get_or_insert_default().insert(name(worker), text.into_bytes());
}

fn later(world: &mut World, minutes: i64) {
    world.now += jiff::SignedDuration::from_mins(minutes);
}

fn made(proposal: &Proposal) -> Vec<String> {
    let pools = proposal.plan.pools.values();
    pools.flat_map(|pool| &pool.made).map(ToString::to_string).collect()
}

fn is_rendered(world: &World, worker: &str, cluster: &str) -> bool {
    world.output_text(&format!("workers/{worker}/clusters/{cluster}/cluster.yaml")).is_some()
}

/// Runs until nothing changes any more without news: once, and then not at all.
#[track_caller]
fn settles(world: &mut World) {
    world.run();
    let again = world.propose();
    assert!(!again.has_changes(), "{:?}", again.changes);
    let afresh = world.propose_afresh();
    assert_eq!(afresh.tree, again.tree, "with a memo and without");
}

#[test]
fn a_region_fills_up_and_its_pool_grows_then_empties_and_shrinks() {
    let mut world = full();
    add(&mut world, "charlie");
    let grown = world.run();
    assert_eq!(made(&grown), ["weu-1"]);
    assert_eq!(world.worker_of("charlie").as_deref(), Some("weu-1"), "it is reserved");
    assert!(!is_rendered(&world, "weu-1", "charlie"), "it waits for its worker");
    let object = world.output_text("control-plane/weu-1/cluster.yaml").unwrap();
    assert!(object.contains("kind: Worker\n") && object.contains("pool: weu"), "{object}");
    settles(&mut world);

    later(&mut world, 20);
    reports(&mut world, "weu-1");
    let running = world.run();
    assert!(is_rendered(&world, "weu-1", "charlie"));
    assert!(made(&running).is_empty());
    settles(&mut world);
    let lock = world.output_text("control-plane/fleet.lock").unwrap();
    assert!(lock.contains("\"running\":true"), "{lock}");

    // Another one fits beside it; two more need the next worker.
    for cluster in ["delta", "echo", "foxtrot"] {
        add(&mut world, cluster);
    }
    assert_eq!(made(&world.run()), ["weu-2"]);
    assert_eq!(world.worker_of("delta").as_deref(), Some("weu-1"));
    assert_eq!(world.worker_of("echo").as_deref(), Some("weu-2"));
    assert_eq!(world.worker_of("foxtrot").as_deref(), Some("weu-2"));

    // Both go again before they were ever made; the worker comes up empty.
    world.remove("fleet/clusters/echo.yaml").remove("fleet/clusters/foxtrot.yaml");
    reports(&mut world, "weu-1");
    reports(&mut world, "weu-2");
    world.run();
    assert_eq!(world.worker_of("echo"), None, "nothing of it was made");
    settles(&mut world);
    for _ in 0..4 {
        later(&mut world, 40);
        reports(&mut world, "weu-1");
        reports(&mut world, "weu-2");
        world.run();
    }
    let lock = world.output_text("control-plane/fleet.lock").unwrap();
    assert!(lock.contains("\"leaving\":true"), "it is on its way out: {lock}");
    assert!(!world.status_text("pools.yaml").unwrap_or_default().contains("weu-1"), "it is in use");
    settles(&mut world);

    // The next one has a number of its own.
    add(&mut world, "golf");
    assert_eq!(made(&world.run()), ["weu-3"]);
}

#[test]
fn a_late_report_moves_nothing_and_one_that_is_too_late_is_waited_for_no_longer() {
    let mut world = full();
    add(&mut world, "charlie");
    world.run();
    settles(&mut world);
    later(&mut world, 44);
    settles(&mut world);
    assert_eq!(world.worker_of("charlie").as_deref(), Some("weu-1"));

    later(&mut world, 2);
    let late = world.run();
    assert_eq!(made(&late), ["weu-2"]);
    assert_eq!(world.worker_of("charlie").as_deref(), Some("weu-2"));
    assert!(world.status_text("workers/weu-1.yaml").unwrap().contains("WorkerProvisionTimeout"));
    settles(&mut world);

    // Both come up after all: what was given to the second stays there.
    reports(&mut world, "weu-1");
    reports(&mut world, "weu-2");
    world.run();
    assert!(is_rendered(&world, "weu-2", "charlie"));
    settles(&mut world);
    add(&mut world, "delta");
    world.run();
    assert_eq!(world.worker_of("delta").as_deref(), Some("weu-1"), "it is a worker like any other");
}

#[test]
fn an_edit_of_the_template_reaches_the_workers_and_a_document_takes_one_over() {
    let mut world = full();
    world.edit("fleet/pools/weu.yaml", "  max: 3\n", "  min: 1\n  max: 3\n");
    assert_eq!(made(&world.run()), ["weu-1"]);
    world.edit("fleet/pools/weu.yaml", "capacity: 2", "capacity: 7");
    world.run();
    let object = world.output_text("control-plane/weu-1/cluster.yaml").unwrap();
    assert!(object.contains("clusters: 7") || object.contains("clusters: \"7\""), "{object}");
    world.write(
        "fleet/overlay.yaml",
        "apiVersion: carp.dev/v1alpha1\nkind: WorkerOverlay\nmetadata:\n  name: weu-1\nspec:\n  unschedulable: true\n",
    );
    let overlaid = world.run();
    assert!(!overlaid.diagnostics.has_errors());
    assert!(overlaid.fleet.workers["weu-1"].spec.unschedulable);
    world.write("fleet/workers/weu-1.yaml", &small::worker("weu-1", "westeurope", 9));
    let own = world.run();
    assert!(own.fleet.workers["weu-1"].made_by.is_none());
    assert_eq!(made(&own), ["weu-2"], "the pool has one of its own again");
}

#[test]
fn a_lost_lock_forgets_no_worker_that_a_pool_made() {
    let mut world = full();
    add(&mut world, "charlie");
    world.run();
    reports(&mut world, "weu-1");
    world.run();
    settles(&mut world);
    let before = world.output_text("control-plane/fleet.lock").unwrap();
    world.remove_by_hand("control-plane/fleet.lock");
    world.run();
    world.run();
    assert_eq!(world.output_text("control-plane/fleet.lock").as_deref(), Some(before.as_str()));
    assert_eq!(world.worker_of("charlie").as_deref(), Some("weu-1"));
}

#[test]
fn the_status_shows_what_pools_have_and_are_making() {
    let mut all = small::files();
    all.insert("fleet/pools/weu.yaml".to_owned(), POOL.to_owned());
    let tainted = "capacity: 2\n      taints: [{key: gpu, effect: NoSchedule}]";
    let idle = POOL.replace("name: weu", "name: gpu").replace("capacity: 2", tainted);
    all.insert("fleet/pools/gpu.yaml".to_owned(), idle);
    for number in 0..8 {
        let name = format!("more-{number}");
        all.insert(format!("fleet/clusters/{name}.yaml"), cluster(&name, "westeurope"));
    }
    let fleet = Reconciled::of(&all);
    let ran = fleet.carp(&["status"]);
    let pools = ran.out.lines().skip_while(|line| !line.starts_with("POOL ")).take(3);
    let pools: Vec<Vec<&str>> = pools.map(|line| line.split_whitespace().collect()).collect();
    let wanted = [
        ["POOL", "WORKERS", "MIN", "MAX", "PENDING", "LEAVING"],
        ["gpu", "0", "0", "3", "0", "0"],
        ["weu", "2", "0", "3", "2", "0"],
    ];
    assert_eq!(pools, wanted, "{}{}", ran.out, ran.err);
    let told = fleet.carp(&["explain", "cluster/more-7"]).out;
    let why = "POOL   MAKES NO WORKER BECAUSE\n\
               gpu    a worker of it would refuse: untolerated taint {gpu:NoSchedule}\n\
               weu    as many of its workers are being made as may be (maxPending 2)\n";
    assert!(told.contains(why), "{told}");
}
