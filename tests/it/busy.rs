//! A fleet that is never quiet: each run finds news, so none sees everything stand. What the run before left is looked
//! at first, and from then on the news alone.
//!
//! A run that looks at everything keeps the memo, so one after which there is none did not.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::reconciled::Reconciled;
use crate::support::small::{self, cluster};

fn kept(fleet: &Reconciled, file: &str) -> PathBuf {
    fleet.path().join(".git/carp").join(file)
}

/// What a clone without any cache would commit.
fn planned(fleet: &Reconciled) -> String {
    let copy = fleet.copy();
    fs::remove_dir_all(copy.path().join(".git/carp")).unwrap();
    let ran = copy.carp(&["plan", "--output", "json"]);
    let plan: Value = serde_json::from_str(&ran.out).unwrap();
    plan["tree"].as_str().unwrap().to_owned()
}

/// Reconciles, holds what is committed to what would be without caches, and says whether everything was looked at.
fn run(fleet: &Reconciled) -> bool {
    let tree = planned(fleet);
    let _ = fs::remove_file(kept(fleet, "memo.json"));
    let ran = fleet.carp(&["reconcile", "--once"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    assert_eq!(fleet.output_tree().trim(), tree);
    kept(fleet, "memo.json").exists()
}

/// The clusters that are paused, and where they are.
const PAUSED: [(&str, &str); 3] =
    [("alpha", "westeurope"), ("bravo", "westeurope"), ("charlie", "eastus")];

/// Pauses a cluster or lets it go on, which is nobody else's matter.
fn pause(fleet: &Reconciled, (name, location): (&str, &str), paused: bool) {
    let text = format!("{}  paused: {paused}\n", cluster(name, location));
    fleet.write(&format!("fleet/clusters/{name}.yaml"), text.as_bytes());
    fleet.commit(name);
}

/// Gives a worker another capacity, which is everybody's.
fn widen(fleet: &Reconciled, clusters: u32) {
    let text = small::worker("w-weu", "westeurope", clusters);
    fleet.write("fleet/workers/w-weu.yaml", text.as_bytes());
    fleet.commit("more room");
}

#[test]
fn in_a_fleet_that_is_never_quiet_the_news_alone_is_looked_at() {
    let fleet = Reconciled::of(&small::files());
    for (clusters, paused) in [(5, true), (6, false)] {
        for (nth, cluster) in PAUSED.into_iter().enumerate() {
            pause(&fleet, cluster, paused);
            // The first run after one that changed something of everybody's does not know yet that the fleet stands.
            assert_eq!(run(&fleet), nth == 0, "{cluster:?}");
        }
        widen(&fleet, clusters);
        assert!(run(&fleet));
    }
}

/// How many looks at what was left were misses.
fn misses(fleet: &Reconciled) -> u64 {
    let text = fs::read_to_string(kept(fleet, "last-run.json")).unwrap();
    let last: Value = serde_json::from_str(text.split_once('\n').unwrap().1).unwrap();
    last["misses"].as_u64().unwrap()
}

#[test]
fn after_a_miss_it_is_looked_at_less_often() {
    let fleet = Reconciled::of(&small::files());
    let misses: Vec<_> = (5..12)
        .map(|clusters| {
            widen(&fleet, clusters);
            assert!(run(&fleet));
            misses(&fleet)
        })
        .collect();
    assert_eq!(misses, [1, 1, 2, 2, 2, 3, 3]);
    // A hit ends that.
    for cluster in PAUSED {
        pause(&fleet, cluster, true);
        run(&fleet);
    }
    assert!(!kept(&fleet, "last-run.json").exists());
}

#[test]
fn what_is_said_of_the_last_run_is_never_an_input() {
    for damage in [None, Some(&b"nothing"[..])] {
        let fleet = Reconciled::of(&small::files());
        match damage {
            None => fs::remove_file(kept(&fleet, "last-run.json")).unwrap(),
            Some(bytes) => fs::write(kept(&fleet, "last-run.json"), bytes).unwrap(),
        }
        for (nth, cluster) in PAUSED.into_iter().enumerate() {
            pause(&fleet, cluster, true);
            assert_eq!(run(&fleet), nth < 2, "{cluster:?}");
        }
    }
}

/// Of a fleet of which so much is told nothing ever stands.
#[test]
fn a_run_that_changes_nothing_is_none_to_look_at() {
    let class = |nth: u32| {
        format!(
            "apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1\nkind: ManagedClusterClass\nmetadata:\n  name: c{nth}\nspec: {{}}\n"
        )
    };
    let classes = (0..201).map(class).collect::<Vec<_>>().join("---\n");
    let mut files = small::files();
    files.insert("fleet/classes.yaml".to_owned(), classes);
    let fleet = Reconciled::of(&files);
    let left = fs::read(kept(&fleet, "last-run.json")).unwrap();
    assert!(run(&fleet));
    assert_eq!(fs::read(kept(&fleet, "last-run.json")).unwrap(), left);
    assert!(!kept(&fleet, "baseline.json").exists());
}
