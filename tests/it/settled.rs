//! A run that finds all as a run before it left it, which had nothing to do and nothing to tell, ends at once.
//!
//! A run that looks at everything keeps the memo, so one after which there is none did not.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use carp::model::paths;
use serde_json::Value;

use crate::support::reconciled::{Ran, Reconciled};
use crate::support::small::{self, cluster};
use crate::support::{git, people};

const NOTHING: &str = "nothing to commit; 0 waiting\n";

fn memo(fleet: &Reconciled) -> PathBuf {
    fleet.path().join(".git/carp/memo.json")
}

/// Reconciles, and says whether it looked at everything.
fn run(fleet: &Reconciled, args: &[&str]) -> (Ran, bool) {
    let _ = fs::remove_file(memo(fleet));
    let ran = fleet.carp(&[&["reconcile", "--once"], args].concat());
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    let through = memo(fleet).exists();
    (ran, through)
}

/// A fleet in which the next run has nothing to do.
fn settled() -> Reconciled {
    let fleet = Reconciled::of(&small::files());
    // The first one after a commit has what was committed to look at.
    assert!(run(&fleet, &[]).1);
    fleet
}

#[test]
fn a_run_without_news_ends_at_once_and_says_the_same() {
    let fleet = Reconciled::of(&small::files());
    let (first, through) = run(&fleet, &[]);
    assert!(through);
    let (second, through) = run(&fleet, &[]);
    assert!(!through, "it looked at everything");
    assert_eq!((first.out.as_str(), second.out.as_str()), (NOTHING, NOTHING));
    assert_eq!(second.err, first.err);
    let (json, through) = run(&fleet, &["--output", "json"]);
    assert!(!through);
    let turn: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(turn["outcome"], "unchanged");
    assert_eq!(turn["counts"]["bound"], 6);
    assert_eq!(turn["work"]["blobsParsed"], 0);
}

/// What happens to a fleet, in words and as it happens.
type News<'a> = (&'a str, &'a dyn Fn(&Reconciled));

#[test]
fn whatever_changes_makes_a_run_look_at_everything() {
    let news: [News<'_>; 5] = [
        ("an edit of a worker", &|fleet| {
            let text = small::worker("w-weu", "westeurope", 5);
            fleet.write("fleet/workers/w-weu.yaml", text.as_bytes());
            fleet.commit("more room");
        }),
        ("a file beside the documents", &|fleet| {
            fleet.write("more/golf.yaml", cluster("golf", "eastus").as_bytes());
            fleet.commit("golf");
        }),
        ("a hand edit of the output", &|fleet| by_hand(fleet, "carp/rendered")),
        ("a hand edit of the status", &|fleet| by_hand(fleet, "carp/status")),
        ("a report", &report),
    ];
    for (what, happens) in news {
        let fleet = settled();
        assert!(!run(&fleet, &[]).1, "{what}");
        happens(&fleet);
        assert!(run(&fleet, &[]).1, "{what} is not seen");
    }
}

#[test]
fn a_new_cluster_is_placed_without_a_look_at_everything() {
    let fleet = settled();
    fleet.write("fleet/clusters/golf.yaml", cluster("golf", "eastus").as_bytes());
    fleet.commit("golf");
    let planned = planned(&fleet);
    assert!(!run(&fleet, &[]).1);
    assert_eq!(committed(&fleet), planned);
    assert!(fleet.carp(&["status", "golf"]).out.contains("w-eus"));
}

/// Pauses a cluster of the small fleet, which nobody else reads.
fn pause(fleet: &Reconciled, name: &str) {
    let text = format!("{}  paused: true\n", cluster(name, "westeurope"));
    fleet.write(&format!("fleet/clusters/{name}.yaml"), text.as_bytes());
    fleet.commit("paused");
}

/// The tree that a plan says a run will commit.
fn planned(fleet: &Reconciled) -> String {
    let ran = fleet.carp(&["plan", "--output", "json"]);
    let plan: Value = serde_json::from_str(&ran.out).unwrap();
    plan["tree"].as_str().unwrap().to_owned()
}

fn committed(fleet: &Reconciled) -> String {
    git(&fleet.path(), &["rev-parse", "carp/rendered^{tree}"]).trim().to_owned()
}

#[test]
fn an_edit_of_one_cluster_is_all_that_a_run_looks_at() {
    let fleet = settled();
    pause(&fleet, "alpha");
    let tree = planned(&fleet);
    let (ran, through) = run(&fleet, &[]);
    assert!(!through, "it looked at everything");
    assert!(ran.out.contains("carp: 1 worker, +0 -0 ~1 cluster\n"), "{}", ran.out);
    assert_eq!(committed(&fleet), tree);
    // What was written is looked at once more, and after that nothing is.
    for _ in 0..2 {
        let (ran, through) = run(&fleet, &[]);
        assert_eq!((ran.out.as_str(), through), (NOTHING, false));
    }
    fs::remove_dir_all(fleet.path().join(".git/carp")).unwrap();
    let (ran, through) = run(&fleet, &[]);
    assert_eq!((ran.out.as_str(), through), (NOTHING, true), "the caches change no byte");
}

#[test]
fn what_did_not_load_is_told_by_a_run_that_looks_at_an_edit_alone() {
    let fleet = settled();
    let broken = cluster("delta", "eastus").replace("spec:", "spec:\n  nope: 1");
    fleet.write("fleet/clusters/delta.yaml", broken.as_bytes());
    fleet.commit("delta is broken");
    for _ in 0..2 {
        fleet.carp(&["reconcile", "--once"]);
    }
    pause(&fleet, "alpha");
    let without = fleet.copy();
    fs::remove_dir_all(without.path().join(".git/carp")).unwrap();
    fs::remove_file(memo(&fleet)).unwrap();
    let [alone, whole] = [&fleet, &without].map(|fleet| fleet.carp(&["reconcile", "--once"]));
    assert!(!memo(&fleet).exists(), "it looked at everything");
    assert!(alone.err.contains("until it is mended, delta keeps"), "{}", alone.err);
    assert_eq!((alone.out, alone.err, alone.exit), (whole.out, whole.err, whole.exit));
}

#[test]
fn a_cache_that_is_lost_or_damaged_costs_time_only() {
    for file in ["baseline.json", "documents.redb", "names.json", "stamp.json"] {
        for damage in [None, Some(&b"nothing"[..])] {
            let fleet = settled();
            let path = fleet.path().join(".git/carp").join(file);
            match damage {
                None => fs::remove_file(&path).unwrap(),
                Some(bytes) => fs::write(&path, bytes).unwrap(),
            }
            pause(&fleet, "bravo");
            let tree = planned(&fleet);
            let everything = matches!(file, "baseline.json" | "documents.redb");
            assert_eq!(run(&fleet, &[]).1, everything, "{file}");
            assert_eq!(committed(&fleet), tree, "{file}");
        }
    }
}

#[test]
fn who_only_looks_keeps_nothing_where_nothing_is_kept() {
    let fleet = settled();
    let kept = fleet.path().join(".git/carp");
    fs::remove_dir_all(&kept).unwrap();
    for look in [&["plan"][..], &["validate"], &["status"], &["explain", "alpha"]] {
        let ran = fleet.carp(look);
        assert_eq!(ran.exit, 0, "{look:?}: {}", ran.err);
        assert!(!kept.exists(), "{look:?}");
    }
}

#[test]
fn what_stands_on_all_workers_may_be_lost_or_damaged() {
    for damage in [None, Some(None), Some(Some(&b"{}"[..]))] {
        let fleet = settled();
        let path = fleet.path().join(".git/carp/documents.standing");
        match damage {
            None => assert!(path.exists()),
            Some(None) => fs::remove_file(&path).unwrap(),
            Some(Some(bytes)) => fs::write(&path, bytes).unwrap(),
        }
        fleet.write("fleet/clusters/hotel.yaml", cluster("hotel", "westeurope").as_bytes());
        fleet.commit("hotel is new");
        let tree = planned(&fleet);
        assert_eq!(run(&fleet, &[]).1, damage.is_some(), "{damage:?}");
        assert_eq!(committed(&fleet), tree);
    }
}

/// A look at files that changed some seconds ago knows them the next time, and sees each change of one.
#[cfg(unix)]
#[test]
fn what_was_hashed_is_known_again_and_a_change_is_seen() {
    let fleet = settled();
    let kept = fleet.path().join(".git/carp/folder.stat");
    // What changed just before a look is read again by the next.
    std::thread::sleep(Duration::from_millis(3_100));
    let before = planned(&fleet);
    let whole = fs::read(&kept).unwrap();
    assert_eq!(planned(&fleet), before);
    assert_eq!(fs::read(&kept).unwrap(), whole, "nothing was learned");
    let as_without = || {
        let known = planned(&fleet);
        fs::remove_file(&kept).unwrap();
        assert_eq!(planned(&fleet), known);
        known
    };
    let [alpha, bravo, aside] = ["alpha", "bravo", "aside"]
        .map(|name| fleet.path().join(format!("fleet/clusters/{name}.yaml")));
    // Two files of the same size take each other's place, none newer than it was.
    for (from, to) in [(&alpha, &aside), (&bravo, &alpha), (&aside, &bravo)] {
        fs::rename(from, to).unwrap();
    }
    assert_eq!(as_without(), before, "a document may stand in any file");
    planned(&fleet);
    let paused = format!("{}  paused: true\n", cluster("bravo", "westeurope"));
    fs::write(&alpha, paused).unwrap();
    assert_ne!(as_without(), before);
}

#[test]
fn old_trees_may_be_gone() {
    let fleet = settled();
    let tree = git(&fleet.path(), &["rev-parse", "HEAD^{tree}"]);
    pause(&fleet, "alpha");
    let (first, rest) = tree.trim().split_at(2);
    fs::remove_file(fleet.path().join(".git/objects").join(first).join(rest)).unwrap();
    let (ran, through) = run(&fleet, &[]);
    assert!(through, "the tree of the baseline is not there");
    assert!(ran.out.contains("+0 -0 ~1 cluster\n"), "{}", ran.out);
}

/// The agent of w-weu reports its three clusters for the first time.
fn report(fleet: &Reconciled) {
    git(&fleet.path(), &["branch", "carp/observed/w-weu", "carp/status"]);
    report_at(fleet, 50, "Running");
}

/// The same at this minute, alpha in this phase.
fn report_at(fleet: &Reconciled, minute: u8, alpha: &str) {
    git(&fleet.path(), &["checkout", "--quiet", "carp/observed/w-weu"]);
    let report = format!(
        "schemaVersion: 1\nworker: w-weu\nworkerUID: u\ntime: \"2026-11-01T08:{minute}:00Z\"\n\
         complete: true\nhealthy: true\nclusters:\n"
    );
    let clusters = [("alpha", alpha), ("bravo", "Running"), ("echo", "Running")];
    let clusters = clusters
        .map(|(name, phase)| format!("- {{name: {name}, uid: u-{name}, phase: {phase}}}\n"));
    let report = format!("{report}{}", clusters.concat());
    fleet.write(paths::REPORT_FILE, report.as_bytes());
    fleet.commit("a report");
    git(&fleet.path(), &["checkout", "--quiet", "main"]);
}

#[test]
fn reports_that_are_folded_are_not_read_again() {
    let fleet = settled();
    report(&fleet);
    (0..2).for_each(|_| assert!(run(&fleet, &[]).1));
    pause(&fleet, "alpha");
    let name = format!("carp/observed/w-weu:{}", paths::REPORT_FILE);
    let blob = git(&fleet.path(), &["rev-parse", &name]);
    let (first, rest) = blob.trim().split_at(2);
    fs::remove_file(fleet.path().join(".git/objects").join(first).join(rest)).unwrap();
    let (ran, through) = run(&fleet, &[]);
    assert!(!through, "it looked at everything");
    assert!(ran.out.contains("+0 -0 ~1 cluster\n"), "{}", ran.out);
}

#[test]
fn a_fleet_whose_workers_report_before_each_run_stands_too() {
    let fleet = settled();
    report(&fleet);
    assert!(run(&fleet, &[]).1);
    // What is looked at is the fleet with the reports that the last run read.
    report_at(&fleet, 52, "Degraded");
    assert!(run(&fleet, &[]).1);
    report_at(&fleet, 55, "Running");
    pause(&fleet, "bravo");
    let tree = planned(&fleet);
    let (ran, through) = run(&fleet, &[]);
    assert!(!through, "it looked at everything");
    assert_eq!(committed(&fleet), tree, "{}", ran.out);
}

#[test]
fn a_report_is_all_that_a_run_looks_at() {
    let fleet = settled();
    report(&fleet);
    (0..2).for_each(|_| assert!(run(&fleet, &[]).1));
    report_at(&fleet, 55, "Degraded");
    let (ran, through) = run(&fleet, &[]);
    assert!(!through, "it looked at everything");
    let status = git(
        &fleet.path(),
        &["show", &format!("carp/status:clusters/{}/alpha.yaml", paths::shard("alpha"))],
    );
    assert!(status.contains("phase: Degraded"), "{}\n{status}", ran.out);
    // A sign of life says nothing new, and moves no branch.
    let tip = git(&fleet.path(), &["rev-parse", "carp/status"]);
    report_at(&fleet, 58, "Degraded");
    assert!(!run(&fleet, &[]).1, "it looked at everything");
    assert_eq!(git(&fleet.path(), &["rev-parse", "carp/status"]), tip);
    for file in ["reports.json", "documents.clusters"] {
        let path = fleet.path().join(".git/carp").join(file);
        assert!(path.exists(), "{file}");
        fs::write(&path, b"nothing").unwrap();
        report_at(&fleet, 59, if file == "reports.json" { "Running" } else { "Degraded" });
        assert!(run(&fleet, &[]).1, "{file}");
        run(&fleet, &[]);
    }
}

#[test]
fn what_somebody_must_be_told_is_found_by_a_look_at_everything() {
    let fleet = settled();
    let text = cluster("alpha", "westeurope").replace("shop", "shop\n  uid: 1-2-3");
    fleet.write("fleet/clusters/alpha.yaml", text.as_bytes());
    fleet.commit("pasted from a cluster");
    let (ran, through) = run(&fleet, &[]);
    assert!(through);
    assert!(ran.err.contains("warning"), "{}", ran.err);
}

/// A file of somebody else's on a branch of carp's.
fn by_hand(fleet: &Reconciled, branch: &str) {
    git(&fleet.path(), &["checkout", "--quiet", branch]);
    fleet.write("workers/NOTES.md", b"by hand\n");
    fleet.commit("by hand");
    git(&fleet.path(), &["checkout", "--quiet", "main"]);
}

#[test]
fn a_clock_that_went_back_proves_nothing() {
    let fleet = settled();
    assert!(!run(&fleet, &[]).1);
    let earlier = ["reconcile", "--once", "--now", "2020-01-01T00:00:00Z"];
    assert!(!memo(&fleet).exists());
    assert_eq!(Ran::of(people::carp(&fleet.path(), &earlier)).exit, 0);
    assert!(memo(&fleet).exists(), "it looked at everything");
}

#[test]
fn what_there_is_to_tell_is_told_every_time() {
    let mut files = small::files();
    let text = cluster("golf", "eastus").replace("shop", "shop\n  uid: 1-2-3");
    files.insert("fleet/clusters/golf.yaml".to_owned(), text);
    let fleet = Reconciled::of(&files);
    let (first, _) = run(&fleet, &[]);
    assert!(first.err.contains("warning"), "{}", first.err);
    run(&fleet, &[]);
    let (again, through) = run(&fleet, &[]);
    assert!(!through, "it looked at everything");
    assert_eq!(again.err, first.err);
    pause(&fleet, "alpha");
    let (edited, through) = run(&fleet, &[]);
    assert!(!through, "it looked at everything");
    assert!(edited.err.contains(first.err.lines().next().unwrap()), "{}", edited.err);

    let fleet = settled();
    fleet.write("fleet/clusters/alpha.yaml", b"not committed\n");
    let (ran, through) = run(&fleet, &[]);
    assert!(!through);
    assert!(ran.err.contains("1 uncommitted edits were not read"), "{}", ran.err);
}
