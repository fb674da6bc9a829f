//! The real program fails at every named point of a run, and the next run makes of it what an
//! undisturbed one would have: the same commits, nothing lost, no lock left.

use std::collections::BTreeSet;

use carp::fault::Point;

use crate::support::disk::{Accident, World, id_of, left_behind, loose, refs, unpack};
use crate::support::git;
use crate::support::reconciled::Ran;
use crate::support::small;

/// How a run comes to a point: each way passes other points.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// In a person's clone, with a remote.
    Folder,
    /// In a repository without a remote.
    Local,
    /// In a clone of carp's own, which is damaged and made anew.
    Damaged,
}

const WAYS: [Way; 3] = [Way::Folder, Way::Local, Way::Damaged];

impl Way {
    /// The points that it passes, by the beginnings of their names.
    fn points(self) -> impl Iterator<Item = Point> {
        let beginnings: &[&str] = match self {
            Self::Folder => &["fetch.", "pack.", "sync.", "push.", "memo."],
            Self::Local => &["ref."],
            Self::Damaged => &["clone.", "discard."],
        };
        let passes = |point: &Point| beginnings.iter().any(|start| point.name().starts_with(start));
        Point::ALL.iter().copied().filter(passes)
    }

    /// What there is before the run that fails.
    fn prepared(self) -> World {
        let world = World::new();
        match self {
            Self::Folder => {}
            Self::Local => {
                let fleet = world.fleet();
                git(&fleet, &["pull", "--quiet", "origin", "main"]);
                for branch in ["carp/rendered", "carp/status"] {
                    git(&fleet, &["branch", "--no-track", branch, &format!("origin/{branch}")]);
                }
                git(&fleet, &["remote", "remove", "origin"]);
            }
            Self::Damaged => {
                let ran = world.reconcile_url(&[]);
                assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
                let hotel = small::cluster("hotel", "eastus");
                world.others_push_one("fleet/clusters/hotel.yaml", &hotel);
                let cache = world.cache();
                unpack(&cache);
                let tree = id_of(&cache, "refs/remotes/origin/carp/rendered^{tree}");
                Accident::Emptied.befall(&loose(&cache, &tree));
            }
        }
        world
    }

    fn run(self, world: &World, env: &[(&str, &str)]) -> Ran {
        match self {
            Self::Folder | Self::Local => world.reconcile(env),
            Self::Damaged => world.reconcile_url(env),
        }
    }

    /// Where carp's branches are.
    fn refs(self, world: &World) -> String {
        match self {
            Self::Local => refs(&world.fleet()),
            Self::Folder | Self::Damaged => world.refs(),
        }
    }
}

/// What is written is written for the output and then for the status.
fn passages(point: Point) -> impl Iterator<Item = u32> {
    let twice = ["pack.", "sync.", "push.", "ref."];
    1..=if twice.iter().any(|start| point.name().starts_with(start)) { 2 } else { 1 }
}

/// Lets a run fail at each point and the next one recover. Returns the points that were hit.
fn fails_and_recovers(way: Way, action: &str) -> BTreeSet<&'static str> {
    let world = way.prepared();
    let saved = world.saved();
    let ran = way.run(&world, &[]);
    assert_eq!(ran.exit, 0, "{way:?}: {}{}", ran.out, ran.err);
    let wanted = way.refs(&world);
    let mut hit = BTreeSet::new();
    for point in way.points() {
        for passage in passages(point) {
            world.restore(&saved);
            let fault = format!("{}@{passage}={action}", point.name());
            let failed = way.run(&world, &[("CARP_FAULT", &fault)]);
            let told = format!("fault: {} ", point.name());
            assert!(failed.err.contains(&told), "{way:?}: {fault} was not hit: {}", failed.err);
            hit.insert(point.name());
            recovers(way, &world, action, &failed, &wanted);
        }
    }
    hit
}

#[track_caller]
fn recovers(way: Way, world: &World, action: &str, failed: &Ran, wanted: &str) {
    let told = format!("{way:?}: {}{}", failed.out, failed.err);
    if action == "abort" {
        assert_eq!(failed.exit, 128 + 6, "{told}");
    } else {
        // Without the memo or the status a run is good enough.
        assert!([0, 1].contains(&failed.exit), "{told}");
        assert!(left_behind(world.root()).is_empty(), "{told}{:?}", left_behind(world.root()));
    }
    let again = way.run(world, &[]);
    let told = format!("{told}then {}{}", again.out, again.err);
    assert_eq!(again.exit, 0, "{told}");
    assert_eq!(way.refs(world), wanted, "{told}");
    let left = left_behind(world.root());
    assert!(!left.iter().any(|f| f.extension().is_some_and(|e| e == "lock")), "{told}{left:?}");
}

/// Every way, and every point on one of them.
#[track_caller]
fn on_every_way(action: &str) {
    let hit: BTreeSet<&str> = std::thread::scope(|scope| {
        let runs: Vec<_> =
            WAYS.iter().map(|way| scope.spawn(|| fails_and_recovers(*way, action))).collect();
        runs.into_iter().flat_map(|run| run.join().unwrap()).collect()
    });
    let all: BTreeSet<&str> = Point::ALL.iter().map(|point| point.name()).collect();
    assert_eq!(hit, all, "every point was hit");
}

#[test]
fn a_run_that_is_killed_anywhere_is_recovered_from() {
    on_every_way("abort");
}

#[test]
fn a_run_in_which_any_step_fails_is_recovered_from() {
    on_every_way("error");
}

/// As a full disk says it; `full_disk.rs` fills real ones.
#[test]
fn a_disk_that_is_full_at_a_write_is_recovered_from() {
    let world = World::new();
    let saved = world.saved();
    for point in ["pack.half", "sync.before", "memo.half"] {
        world.restore(&saved);
        let failed = world.reconcile(&[("CARP_FAULT", &format!("{point}=enospc"))]);
        assert!(failed.err.contains(&format!("fault: {point} ")), "{}", failed.err);
        if point != "memo.half" {
            assert_eq!(failed.exit, 1, "{}", failed.err);
            assert!(failed.err.contains("No space left on device"), "{}", failed.err);
        }
        assert!(left_behind(world.root()).is_empty(), "{:?}", left_behind(world.root()));
        let again = world.reconcile(&[]);
        assert_eq!(again.exit, 0, "{}{}", again.out, again.err);
        world.has_golf();
    }
}

#[test]
fn a_turn_that_hangs_is_ended_and_the_next_one_commits() {
    let world = World::new();
    let before = world.refs();
    let args = ["reconcile", "--once", "--turn-timeout", "1s"];
    let hung = Ran::of(world.command(&args, &[("CARP_FAULT", "push.before=hang")]));
    assert_eq!(hung.exit, 1, "{}{}", hung.out, hung.err);
    assert!(hung.err.contains("the turn did not end within 1s"), "{}", hung.err);
    assert_eq!(world.refs(), before);
    let again = world.reconcile(&[]);
    assert_eq!(again.exit, 0, "{}{}", again.out, again.err);
    world.has_golf();
}

#[test]
fn what_is_no_fault_is_refused() {
    let world = World::new();
    let ran = world.reconcile(&[("CARP_FAULT", "nowhere=abort")]);
    assert_eq!(ran.exit, 64, "{}{}", ran.out, ran.err);
}
