//! Workers that a pool makes are over the zones of their location, and one that is there stays where it is: the lock
//! remembers which zones it was made with.

use serde_json::Value;

use crate::support::small;
use crate::support::world::World;

const FLEET_LOCK: &str = "control-plane/fleet.lock";
const WORKER: &str = "control-plane/eu-1/cluster.yaml";
const POOL: &str = "\
apiVersion: carp.dev/v1alpha1
kind: WorkerPool
metadata:
  name: eu
spec:
  min: 1
  max: 2
  template:
    spec:
      version: v1.34.2
      location: westeurope
      nodePools: [{name: np0, replicas: 3}, {name: big, replicas: 1, zones: ['2']}]
      capacity: 5
";

fn world() -> World {
    let mut files = small::files();
    files.insert("fleet/workers/eu.yaml".to_owned(), POOL.to_owned());
    World::new(files)
}

/// What its machines are made by.
fn deployments(world: &World) -> Vec<String> {
    let text = world.output_text(WORKER).unwrap();
    let documents = text.split("\n---\n").filter(|text| text.contains("kind: MachineDeployment\n"));
    let name = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("  name: "));
        line.unwrap().trim_matches('"').to_owned()
    };
    let mut names: Vec<_> = documents.map(name).collect();
    names.sort();
    names
}

const OVER_ZONES: [&str; 7] = [
    "eu-1-big-2",
    "eu-1-np0-1",
    "eu-1-np0-2",
    "eu-1-np0-3",
    "eu-1-system-1",
    "eu-1-system-2",
    "eu-1-system-3",
];

#[test]
fn what_a_pool_makes_is_over_all_zones_of_its_location() {
    let mut world = world();
    world.run();
    assert_eq!(deployments(&world), OVER_ZONES);
    assert!(!world.run().has_changes(), "and it is settled");
}

/// As an earlier carp made it: where nothing was known of zones.
#[test]
fn what_was_made_without_zones_stays_where_it_is() {
    const CLOUD: &str = "templates/clouds/AzurePublicCloud.yaml";
    let mut world = world();
    world.write(CLOUD, "locations: [{name: westeurope, geography: Europe}]\n");
    world.edit("fleet/workers/eu.yaml", ", {name: big, replicas: 1, zones: ['2']}", "");
    world.run();
    let before = world.output_text(WORKER).unwrap();
    assert_eq!(deployments(&world), ["eu-1-np0", "eu-1-system"]);
    world.remove(CLOUD);
    world.edit("fleet/workers/eu.yaml", "min: 1", "min: 2");
    world.run();
    assert_eq!(world.output_text(WORKER).unwrap(), before);
    let second = world.output_text("control-plane/eu-2/cluster.yaml").unwrap();
    assert!(second.contains("eu-2-np0-3") && second.contains("eu-2-system-3"));
}

#[test]
fn a_lost_lock_is_worked_out_with_the_zones() {
    let mut world = world();
    world.run();
    world.remove_by_hand(FLEET_LOCK);
    world.run();
    world.run();
    assert_eq!(deployments(&world), OVER_ZONES);
    let lock: Value = serde_json::from_str(&world.output_text(FLEET_LOCK).unwrap()).unwrap();
    let zones = &lock["pools"]["eu"]["workers"]["eu-1"]["zones"];
    assert_eq!(*zones, serde_json::json!(["1", "2", "3"]));
}
