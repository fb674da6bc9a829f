//! Ordered groups: the record and the lock remember the group, and a lost lock knows it again.

use carp::model::{Decision, Name};

use crate::support::small;
use crate::support::world::{World, record};

const LOCK: &str = "workers/w-eus/carp.lock";

/// All clusters first to eastus, where four fit, then anywhere.
const POLICY: &str = "\
apiVersion: carp.dev/v1alpha1
kind: PlacementPolicy
metadata:
  name: east-first
spec:
  affinity:
    groups:
      - name: east
        required:
          - locations: [eastus]
      - name: anywhere
";

fn fleet() -> World {
    let mut files = small::files();
    files.insert("policies/east-first.yaml".to_owned(), POLICY.to_owned());
    let mut world = World::new(files);
    world.run();
    assert!(!world.run().has_changes());
    world
}

#[test]
fn a_group_is_filled_before_the_next_and_is_remembered() {
    let world = fleet();
    for (cluster, worker, group) in [
        ("alpha", "w-eus", "east"),
        ("delta", "w-eus", "east"),
        ("echo", "w-weu", "anywhere"),
        ("foxtrot", "w-weu", "anywhere"),
    ] {
        assert_eq!(world.worker_of(cluster).as_deref(), Some(worker), "{cluster}");
        let text = world.output_text(&record(cluster)).unwrap();
        assert!(text.contains(&format!("\ngroup: {group}\n")), "{cluster}: {text}");
    }
    let lock = world.output_text(LOCK).unwrap();
    assert_eq!(lock.matches("\"group\":\"east\"").count(), 4, "{lock}");
}

#[test]
fn room_in_an_earlier_group_moves_nobody_and_keeps_the_record() {
    let mut world = fleet();
    let before = world.output_text(&record("foxtrot"));
    world.edit("fleet/workers/w-eus.yaml", "capacity: 4", "capacity: 9");
    let proposal = world.run();
    let foxtrot = &proposal.plan.clusters["foxtrot"].decision;
    assert_eq!(*foxtrot, Decision::Keep { worker: Name::parse("w-weu").unwrap() });
    assert_eq!(world.output_text(&record("foxtrot")), before);
}

#[test]
fn a_lost_lock_knows_the_groups_from_the_records() {
    let mut world = fleet();
    let before = world.output;
    world.remove_by_hand(LOCK);
    world.run();
    assert_eq!(world.output, before);
}

#[test]
fn a_change_of_a_cluster_keeps_its_group() {
    let mut world = fleet();
    let before = world.output_text(LOCK).unwrap().matches("\"group\":\"east\"").count();
    world.edit("fleet/clusters/alpha.yaml", "replicas: 2", "replicas: 3");
    world.run();
    let after = world.output_text(LOCK).unwrap().matches("\"group\":\"east\"").count();
    assert_eq!(before, after);
}
