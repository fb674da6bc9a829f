//! Locks of earlier formats are read, and written anew by the next commit.

use carp::model::{FLEET_LOCK_SCHEMA, FleetLock, LockFault, lock_from_bytes, lock_to_bytes};

use crate::support::small::{self, cluster};
use crate::support::world::World;

const FLEET_LOCK: &str = "control-plane/fleet.lock";

/// A fleet whose lock has something to lose: guards in force, and an acknowledgement that is spent.
fn fleet() -> World {
    let mut files = small::files();
    let carp = format!("{}  guards: {{maxDeletions: 7}}\n", small::FLEET);
    files.insert("carp.yaml".to_owned(), carp);
    let mut world = World::new(files);
    world.run();
    world
}

/// The lock as a carp of format 2 wrote it, which knew neither what is held nor what was done lately.
fn of_format_2(text: &str) -> Vec<u8> {
    let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
    let fields = value.as_object_mut().unwrap();
    fields.insert("schemaVersion".to_owned(), 2.into());
    for new in ["digest", "held", "recent"] {
        fields.remove(new);
    }
    fields.insert(
        "spent".to_owned(),
        serde_json::json!([{"name": "old-ones", "of": "deletions", "digest": "0".repeat(64)}]),
    );
    lock_to_bytes(&value)
}

#[test]
fn a_carp_that_knows_format_2_is_told_that_a_newer_one_wrote_the_lock() {
    let world = fleet();
    let text = world.output_text(FLEET_LOCK).unwrap();
    let read = lock_from_bytes::<FleetLock>(text.as_bytes(), 2);
    assert_eq!(read, Err(LockFault::Newer(4)), "it has fields that format 2 had not");
}

#[test]
fn a_fleet_lock_of_format_2_is_read_and_written_anew_and_nothing_is_lost() {
    let mut world = fleet();
    let old = of_format_2(&world.output_text(FLEET_LOCK).unwrap());
    let before: FleetLock = lock_from_bytes(&old, 2).unwrap();
    world.put_by_hand(FLEET_LOCK, &old);
    world.write(
        "fleet/acknowledgements/old-ones.yaml",
        &format!(
            "apiVersion: carp.dev/v1alpha1\nkind: Acknowledgement\nmetadata:\n  name: old-ones\nspec:\n  \
             of: deletions\n  count: 1\n  digest: sha256:{}\n",
            "0".repeat(64)
        ),
    );
    let proposal = world.run();
    assert!(proposal.plan.holds.is_empty() && !proposal.stopped, "{:?}", proposal.plan.holds);
    let text = world.output_text(FLEET_LOCK).unwrap();
    let after: FleetLock = lock_from_bytes(text.as_bytes(), FLEET_LOCK_SCHEMA).unwrap();
    assert_eq!(after, FleetLock { schema_version: FLEET_LOCK_SCHEMA, ..before });
    assert_eq!((after.guards.max_deletions, after.spent.len()), (Some(7), 1));
    assert!(!world.run().has_changes(), "once");
}

#[test]
fn what_a_carp_of_format_2_had_in_force_holds_in_the_first_run_after_it() {
    let mut world = fleet();
    let old = of_format_2(&world.output_text(FLEET_LOCK).unwrap());
    let tight = String::from_utf8(old).unwrap().replace("\"maxDeletions\":7", "\"maxDeletions\":0");
    let mut value: serde_json::Value = serde_json::from_str(&tight).unwrap();
    value.as_object_mut().unwrap().remove("digest");
    world.put_by_hand(FLEET_LOCK, lock_to_bytes(&value));
    world.remove("fleet/clusters/alpha.yaml");
    world.write("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let proposal = world.run();
    let held: Vec<_> = proposal.plan.holds.iter().flat_map(|hold| hold.names.clone()).collect();
    assert_eq!(held, ["alpha"]);
    let text = world.output_text(FLEET_LOCK).unwrap();
    let lock: FleetLock = lock_from_bytes(text.as_bytes(), FLEET_LOCK_SCHEMA).unwrap();
    assert_eq!((lock.schema_version, lock.held.len()), (FLEET_LOCK_SCHEMA, 1));
}
