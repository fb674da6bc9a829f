//! What a turn leaves behind: no open file, no loose object, not one pack more for ever.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use carp::model::{Build, Turn, TurnConstraints};
use carp::reconcile::{FleetPlace, Observing, Options, ReconcileResult, RunClock, once};

use crate::support::nobody_is_told;
use crate::support::people::Person;
use crate::support::small::{self, cluster};
use crate::support::{Remote, breadth, git};

/// The turns run in a process of their own, which other tests do not open files in.
const INSIDE: &str = "CARP_TEST_FOOTPRINT";

/// A hundred with every change, twice as many in the nightly.
fn turns() -> u32 {
    breadth(100, 200)
}

#[test]
fn a_hundred_turns_leave_nothing_behind() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    let home = tempfile::tempdir().unwrap();
    let mut inside = Command::new(std::env::current_exe().unwrap());
    inside.args(["--exact", "footprint::inside_a_process_of_its_own", "--nocapture"]);
    inside.env(INSIDE, remote.path()).env("CARP_TEST_PERSON", person.path());
    inside.env("CARP_TEST_CACHE", home.path());
    inside.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = inside.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("1 passed"), "{printed}");
}

#[test]
fn inside_a_process_of_its_own() {
    let Some(remote) = std::env::var_os(INSIDE) else { return };
    let url = format!("file://{}", Path::new(&remote).display());
    let person = PathBuf::from(std::env::var_os("CARP_TEST_PERSON").unwrap());
    let cache = PathBuf::from(std::env::var_os("CARP_TEST_CACHE").unwrap());
    let mut early = None;
    let mut most_packs = 0;
    for number in 0..turns() {
        // Every second turn has something to do.
        if number % 2 == 0 {
            edit(&person, number);
        }
        let turn = turn(&url, &cache, number);
        assert_eq!(turn.outcome.name(), if number % 2 == 0 { "committed" } else { "unchanged" });
        let clone = clone_in(&cache);
        let seen = (open_files(), loose_objects(&clone));
        most_packs = most_packs.max(packs(&clone));
        if number == 10 {
            early = Some(seen.clone());
        }
        if number > 10 {
            assert_eq!(Some(seen), early, "open files and loose objects, turn {number}");
        }
    }
    assert!(most_packs > 20, "turns do leave packs: {most_packs}");
    assert!(most_packs < 60, "{most_packs} packs at the same time");
    // Nothing was lost on the way.
    let clone = clone_in(&cache);
    git(&clone, &["fsck", "--no-dangling", "--no-progress"]);
    let tree = git(Path::new(&remote), &["ls-tree", "-r", "--name-only", "carp/rendered"]);
    assert_eq!(tree.matches("/cluster.yaml").count(), 6 + 2 + 1, "{tree}");
}

/// One cluster that changes all the time.
fn edit(person: &Path, number: u32) {
    let text = cluster("golf", "eastus")
        .replace("replicas: 2", &format!("replicas: {}", 1 + number / 2 % 5));
    std::fs::write(person.join("fleet/clusters/golf.yaml"), text).unwrap();
    git(person, &["add", "--all"]);
    git(person, &["commit", "--quiet", "-m", "an edit"]);
    git(person, &["push", "--quiet", "origin", "main"]);
}

/// As the controller makes one.
fn turn(url: &str, cache: &Path, number: u32) -> Turn {
    let place = FleetPlace::find(url, cache).unwrap();
    let minutes = jiff::SignedDuration::from_mins(i64::from(number) * 10);
    let wall = "2026-11-01T00:00:00Z".parse::<jiff::Timestamp>().unwrap() + minutes;
    let options = Options {
        describe: |_, _, _| String::new(),
        clock: RunClock { given: None, wall },
        observing: Observing::default(),
        forge: nobody_is_told(),
        build: Build::of_version("test"),
        wait: |_| Duration::ZERO,
        orders: TurnConstraints { status_pause: 60, ..TurnConstraints::default() },
        // Every turn looks at everything.
        program: None,
        watched: false,
    };
    let ran = once(&place, &options).unwrap();
    place.tidy(wall).unwrap();
    match ran {
        ReconcileResult::Through(outcome) => outcome.turn(),
        ReconcileResult::Settled(turn) => *turn,
    }
}

/// The one clone in carp's cache, beside which its lock lies.
fn clone_in(cache: &Path) -> PathBuf {
    let mut all = cache.read_dir().unwrap().map(|entry| entry.unwrap().path());
    all.find(|path| path.is_dir()).unwrap()
}

fn open_files() -> usize {
    Path::new("/proc/self/fd").read_dir().unwrap().count()
}

fn loose_objects(clone: &Path) -> String {
    git(clone, &["count-objects"])
}

fn packs(clone: &Path) -> usize {
    let entries = clone.join("objects/pack").read_dir().unwrap();
    let is_pack = |path: PathBuf| path.extension().is_some_and(|e| e == "pack");
    entries.filter(|entry| is_pack(entry.as_ref().unwrap().path())).count()
}
