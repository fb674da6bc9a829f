//! `carp replay`: a past commit follows from what it names, and what does not is found.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::people::{Person, carp, printed};
use crate::support::reconciled::{Ran, Reconciled};
use crate::support::replayed::{replay, replays};
use crate::support::small::{cluster, files};
use crate::support::{Remote, git};

const OUTPUT: &str = "carp/rendered";
const ALPHA: &str = "fleet/clusters/alpha.yaml";

/// A fleet with three commits of carp's: the first run, a cluster more, a cluster changed.
fn story() -> Reconciled {
    let fleet = Reconciled::of(&files());
    fleet.write("fleet/clusters/golf.yaml", cluster("golf", "eastus").as_bytes());
    run(&fleet, "golf");
    let more = fleet.read(ALPHA).replace("v1.34.2", "v1.34.3");
    fleet.write(ALPHA, more.as_bytes());
    run(&fleet, "a version");
    fleet
}

#[track_caller]
fn run(fleet: &Reconciled, what: &str) {
    fleet.commit(what);
    let ran = fleet.carp(&["reconcile", "--once"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
}

fn verdicts(said: &Value) -> Vec<&str> {
    said["commits"].as_array().unwrap().iter().map(|c| c["verdict"].as_str().unwrap()).collect()
}

/// The last output commit, made anew by somebody: with another tree, another message, or both.
fn forge(at: &Path, tree: &str, message: impl Fn(&str) -> String) {
    let said = git(at, &["log", "-1", "--format=%B", OUTPUT]);
    let parent = git(at, &["rev-parse", "carp/rendered~1"]);
    let commit = git(at, &["commit-tree", tree, "-p", &parent, "-m", &message(&said)]);
    git(at, &["update-ref", "refs/heads/carp/rendered", &commit]);
}

#[test]
fn every_commit_of_a_history_comes_out_the_same() {
    let fleet = story();
    assert_eq!(replays(&fleet.path()), 3);
    let ran = fleet.carp(&["replay"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    let tip = git(&fleet.path(), &["rev-parse", OUTPUT]);
    let input = git(&fleet.path(), &["rev-parse", "main"]);
    assert!(ran.out.starts_with(&format!("ok       {}  carp: ", &tip[..12])), "{}", ran.out);
    for part in [&input, &fleet.output_tree(), "2026-11-01T09:00:00Z", "sha256:"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let first = fleet.carp(&["replay", "carp/rendered~2"]);
    assert!(first.out.contains("it is the first run"), "{}", first.out);
    let range = fleet.carp(&["replay", "carp/rendered~2..carp/rendered"]);
    assert!(range.out.ends_with("\n2 of 2 commits came out the same\n"), "{}", range.out);
}

#[test]
fn another_form_and_what_comes_with_it_are_one_run() {
    let fleet = story();
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/kamaji-capz/cluster.yaml");
    let text = std::fs::read_to_string(built_in).unwrap().replace("\nkind: ", "\n# tidy\nkind: ");
    fleet.write("templates/kamaji-capz/cluster.yaml", text.as_bytes());
    fleet.write("fleet/clusters/hotel.yaml", cluster("hotel", "eastus").as_bytes());
    run(&fleet, "tidy, and hotel");
    assert_eq!(replays(&fleet.path()), 5);
    let (_, said) = replay(&fleet.path(), &["carp/rendered~2..carp/rendered"]);
    let form: Vec<_> = said["commits"].as_array().unwrap().iter().map(|c| &c["formOnly"]).collect();
    assert_eq!(form, [true, false]);
    let bases: Vec<_> =
        said["commits"].as_array().unwrap().iter().map(|c| &c["madeFrom"]["output"]).collect();
    assert_eq!(bases[0], bases[1], "both stand on what was there before");
}

#[test]
fn a_commit_that_is_not_what_it_says_is_found() {
    let fleet = story();
    let path = fleet.path();
    let lock = "workers/w-weu/clusters/alpha/cluster.yaml";
    git(&path, &["checkout", "--quiet", "--detach", OUTPUT]);
    fleet.write(lock, format!("{}# mine\n", fleet.read(lock)).as_bytes());
    git(&path, &["add", "--all"]);
    let tree = git(&path, &["write-tree"]);
    git(&path, &["checkout", "--quiet", "--force", "main"]);
    forge(&path, &tree, str::to_owned);
    let ran = fleet.carp(&["replay"]);
    assert_eq!(ran.exit, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("differs "), "{}", ran.out);
    assert!(ran.out.contains(&format!("{lock}: other bytes\n")), "{}", ran.out);
    assert!(ran.out.contains(&format!("{tree} in the commit")), "{}", ran.out);
    let (exit, said) = replay(&path, &["..carp/rendered"]);
    assert_eq!((exit, verdicts(&said)), (1, vec!["same", "same", "differs"]));
    assert_eq!(said["commits"][2]["paths"][0]["in"], "both");
}

#[test]
fn other_decisions_than_the_named_ones_are_found() {
    let fleet = story();
    let tree = fleet.output_tree();
    forge(&fleet.path(), &tree, |said| {
        let (before, digest) = said.rsplit_once("Carp-Plan: sha256:").unwrap();
        format!("{before}Carp-Plan: sha256:{}", digest.chars().rev().collect::<String>().trim())
    });
    let ran = fleet.carp(&["replay"]);
    assert_eq!(ran.exit, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("in the commit, sha256:"), "{}", ran.out);
}

#[test]
fn a_commit_by_another_carp_says_so_first() {
    let fleet = story();
    let tree = fleet.output_tree();
    let version = format!("Carp-Version: {}", env!("CARGO_PKG_VERSION"));
    forge(&fleet.path(), &tree, |said| said.replace(&version, "Carp-Version: 0.0.1"));
    let ran = fleet.carp(&["replay"]);
    assert_eq!(ran.exit, 0, "what comes out the same is fine: {}{}", ran.out, ran.err);
    let mut lines = ran.out.lines();
    assert!(lines.next().unwrap().contains("was made by carp 0.0.1"), "{}", ran.out);
    assert!(lines.next().unwrap().starts_with("ok "), "{}", ran.out);
}

#[test]
fn commits_of_people_are_left_out_and_what_comes_after_them_is_not() {
    let fleet = story();
    let path = fleet.path();
    git(&path, &["checkout", "--quiet", "--detach", OUTPUT]);
    let lock = "workers/w-weu/carp.lock";
    git(&path, &["rm", "--quiet", lock]);
    git(&path, &["commit", "--quiet", "-m", "by hand"]);
    git(&path, &["update-ref", "refs/heads/carp/rendered", "HEAD"]);
    git(&path, &["checkout", "--quiet", "--force", "main"]);
    let by_hand = fleet.carp(&["replay"]);
    assert_eq!(by_hand.exit, 1, "nothing is proven: {}", by_hand.out);
    assert!(by_hand.out.contains("not by carp"), "{}", by_hand.out);
    let ran = fleet.carp(&["reconcile", "--once"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    let (exit, said) = replay(&path, &["..carp/rendered"]);
    assert_eq!((exit, verdicts(&said)), (0, vec!["same", "same", "same", "skipped", "same"]));
}

#[test]
fn a_rewind_that_people_acknowledged_is_replayed_as_that() {
    let fleet = story();
    let path = fleet.path();
    git(&path, &["commit", "--quiet", "--amend", "-m", "another past"]);
    let held = fleet.carp(&["reconcile", "--once"]);
    assert_eq!(held.exit, 3, "{}{}", held.out, held.err);
    let text = format!("{}{}", held.out, held.err);
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let line = text.lines().find(|line| line.contains("ack rewind")).expect(&text);
    let command = words(line);
    let at = command.iter().position(|word| word == "ack").unwrap();
    let args: Vec<_> = command[at..].iter().map(String::as_str).collect();
    assert_eq!(fleet.carp(&args).exit, 0);
    fleet.write("fleet/clusters/hotel.yaml", cluster("hotel", "eastus").as_bytes());
    run(&fleet, "acknowledged");
    assert_eq!(replays(&path), 4);
}

/// A remote with the story, and whoever clones it.
struct Host {
    remote: Remote,
    dir: TempDir,
}

impl Host {
    fn new() -> Self {
        let fleet = story();
        let remote = Remote::new();
        let all = ["push", "--quiet", &remote.url(), "refs/heads/*:refs/heads/*"];
        git(&fleet.path(), &all);
        git(&remote.path(), &["config", "uploadpack.allowFilter", "true"]);
        Self { remote, dir: tempfile::tempdir().unwrap() }
    }

    fn clone(&self, how: &[&str]) -> PathBuf {
        let url = format!("file://{}", self.remote.url());
        let args = [&["clone", "--quiet"], how, &[&url, "clone"]].concat();
        git(self.dir.path(), &args);
        self.dir.path().join("clone")
    }
}

/// What carp says in a folder, and the command in it that a person is told to type.
#[track_caller]
fn missing(folder: &Path, revision: &str) -> Vec<String> {
    let ran = Ran::of(carp(folder, &["replay", revision]));
    assert_eq!(ran.exit, 1, "{}{}", ran.out, ran.err);
    let said = format!("{}{}", ran.out, ran.err);
    assert!(said.contains("missing ") || said.contains("is not here"), "{said}");
    let at = said.find("git fetch").expect(&said);
    let end = said[at..].find(['`', '\n']).unwrap_or(said.len() - at);
    said[at..at + end].split_whitespace().skip(1).map(str::to_owned).collect()
}

#[track_caller]
fn bring(folder: &Path, command: &[String]) {
    let args: Vec<_> = command.iter().map(String::as_str).collect();
    git(folder, &args);
    assert_eq!(replays(folder), 3);
}

#[test]
fn a_full_clone_is_enough() {
    let host = Host::new();
    assert_eq!(replays(&host.clone(&[])), 3);
}

#[test]
fn a_shallow_clone_says_what_brings_the_history() {
    let host = Host::new();
    let clone = host.clone(&["--depth", "1", "--no-single-branch"]);
    let command = missing(&clone, OUTPUT);
    assert_eq!(command[1], "--unshallow");
    bring(&clone, &command);
}

#[test]
fn a_clone_of_one_branch_says_what_brings_the_others() {
    let host = Host::new();
    let clone = host.clone(&["--single-branch"]);
    let command = missing(&clone, OUTPUT);
    let args: Vec<_> = command.iter().map(String::as_str).collect();
    git(&clone, &args);
    // The status commit is another branch's.
    bring(&clone, &missing(&clone, OUTPUT));
}

#[test]
fn a_partial_clone_says_what_brings_the_rest() {
    let host = Host::new();
    let clone = host.clone(&["--filter=blob:none"]);
    let command = missing(&clone, OUTPUT);
    assert_eq!(command[1], "--refetch");
    bring(&clone, &command);
}

#[test]
fn what_leads_nowhere_is_named() {
    let fleet = story();
    for (revision, code, words) in [
        ("no-such", 1, "`no-such` names no commit here"),
        ("a...b", 64, "name it as A..B"),
        ("main", 1, "not by carp"),
    ] {
        let ran = fleet.carp(&["replay", revision]);
        let said = format!("{}{}", ran.out, ran.err);
        assert_eq!(ran.exit, code, "{revision}: {said}");
        assert!(said.contains(words), "{revision}: {said}");
    }
    let ran = fleet.carp(&["replay", "--fleet", ".@main"]);
    assert_eq!(ran.exit, 64, "{}", ran.err);
}

/// Two fleets of one repository write one branch in turn.
#[test]
fn of_another_fleets_commits_nothing_is_said() {
    let both: Vec<_> = ["one", "two"]
        .iter()
        .flat_map(|at| files().into_iter().map(move |(path, text)| (format!("{at}/{path}"), text)))
        .collect();
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&both.into_iter().collect());
    for at in ["one", "two"] {
        let ran = person.carp(&["reconcile", "--once", "--fleet", at]);
        assert!(ran.status.success(), "{}", printed(&ran));
    }
    for (at, wanted) in [("one", ["same", "skipped"]), ("two", ["skipped", "same"])] {
        let (exit, said) = replay(&person.path(), &["--fleet", at, "..carp/rendered"]);
        assert_eq!((exit, verdicts(&said)), (0, wanted.to_vec()), "{at}: {said:#}");
    }
}
