//! A worker and its cluster go up and down, report by report: what is placed and what is written.

use carp::model::Name;
use jiff::{SignedDuration, Timestamp};

use crate::support::small::{self, cluster};
use crate::support::world::World;

fn at(second: i64) -> Timestamp {
    let begin: Timestamp = "2026-11-01T09:00:00Z".parse().unwrap();
    begin.checked_add(SignedDuration::from_secs(second)).unwrap()
}

/// w-eus reports at a second that it and charlie are well, or not, since another; carp runs `later`.
fn report(world: &mut World, second: i64, well: bool, since: i64, later: i64) {
    let phase = if well { "Running" } else { "Degraded" };
    let (time, since) = (at(second), at(since));
    let text = format!(
        "schemaVersion: 1
worker: w-eus
workerUID: 11111111-1111-4111-8111-111111111111
time: {time}
complete: true
healthy: {well}
healthySince: {since}
clusters:
- name: charlie
  phase: {phase}
  since: {since}
"
    );
    world.reports = Some([(Name::parse("w-eus").unwrap(), text.into_bytes())].into());
    world.now = at(second + later);
}

#[test]
fn what_flaps_makes_no_commit_and_what_holds_makes_one() {
    let mut world = World::new(small::files());
    world.edit("fleet/workers/w-eus.yaml", "spec:\n", "spec:\n  observation: Agent\n");
    report(&mut world, 0, true, -600, 1);
    world.run();
    world.run();
    let branches = (world.output, world.status);
    for flap in 1..20 {
        report(&mut world, flap * 20, flap % 2 == 0, flap * 20, 15);
        let proposal = world.run();
        assert_eq!((world.output, world.status), branches, "flap {flap}");
        let due = proposal.valid_until.unwrap();
        let next = if flap % 2 == 0 { at(flap * 20 + 3600) } else { at(flap * 20 + 60) };
        assert_eq!(due, next, "flap {flap}");
    }
    // It is down in the last report, which does not count yet: it takes what is new.
    world.write("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let placed = world.run();
    assert_eq!(world.worker_of("golf").as_deref(), Some("w-eus"), "{:?}", placed.plan.holds);

    report(&mut world, 380, false, 380, 60);
    world.write("fleet/clusters/hotel.yaml", &cluster("hotel", "eastus"));
    world.run();
    assert_eq!(world.worker_of("hotel").as_deref(), Some("w-weu"), "it has held for a minute");
    let status = world.status_text("workers/w-eus.yaml").unwrap();
    assert!(status.contains("phase: Degraded"), "{status}");

    let down = (world.output, world.status);
    report(&mut world, 500, true, 500, 119);
    world.run();
    assert_eq!((world.output, world.status), down, "a recovery must hold for longer");
    report(&mut world, 500, true, 500, 120);
    world.run();
    let status = world.status_text("workers/w-eus.yaml").unwrap();
    assert!(status.contains("phase: Running"), "{status}");
}
