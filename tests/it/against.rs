//! A change is looked at as it will be once it is merged: what others merged since is no part of it.

use std::collections::BTreeMap;
use std::fs;

use crate::support::people::{self, Person};
use crate::support::reconciled::Ran;
use crate::support::small::{self, cluster};
use crate::support::{Remote, git};

const MARIA: &str = "fleet/clusters/golf.yaml";

/// A fleet that is placed, and a clone of it.
fn placed() -> (Remote, Person) {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    person.reconciles();
    (remote, person)
}

/// A branch with one new cluster, while others merge three commits: a new version of `alpha`, the removal
/// of `bravo`, and another new cluster.
fn behind() -> (Remote, Person) {
    let (remote, person) = placed();
    let path = person.path();
    git(&path, &["switch", "--quiet", "-c", "feature"]);
    person.write(MARIA, &cluster("golf", "eastus"));
    commit(&person, "a cluster");
    git(&path, &["switch", "--quiet", "main"]);
    person.push_one("fleet/clusters/hotel.yaml", &cluster("hotel", "eastus"));
    let newer = cluster("alpha", "westeurope").replace("replicas: 2", "replicas: 3");
    person.push_one("fleet/clusters/alpha.yaml", &newer);
    fs::remove_file(path.join("fleet/clusters/bravo.yaml")).unwrap();
    person.push(&BTreeMap::new());
    git(&path, &["switch", "--quiet", "feature"]);
    (remote, person)
}

fn commit(person: &Person, message: &str) {
    git(&person.path(), &["add", "--all"]);
    git(&person.path(), &["commit", "--quiet", "-m", message]);
}

fn plan(person: &Person, args: &[&str]) -> Ran {
    Ran::of(person.command(&[&["plan"], args].concat()))
}

fn json(person: &Person, args: &[&str]) -> serde_json::Value {
    let ran = plan(person, &[args, &["--output", "json"]].concat());
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}", ran.err))
}

fn acted(plan: &serde_json::Value) -> Vec<String> {
    let all = plan["clusters"].as_array().unwrap().iter();
    let changed = all.filter(|cluster| !cluster["action"].is_null());
    changed
        .map(|c| format!("{} {}", c["action"].as_str().unwrap(), c["name"].as_str().unwrap()))
        .collect()
}

#[test]
fn a_branch_that_is_behind_shows_its_own_change_and_nothing_else() {
    let (_remote, person) = behind();
    let files = json(&person, &[]);
    assert!(acted(&files).len() == 1, "the files by themselves: {:?}", acted(&files));

    person.reconciles();
    let files = json(&person, &["--no-against"]);
    assert!(acted(&files).contains(&"update alpha".to_owned()), "{:?}", acted(&files));
    let note = "what is checked out is 3 commits behind origin/main, and what that has more looks undone here; \
                `carp plan --against` shows the merge";
    assert!(files["warnings"].to_string().contains(note), "{}", files["warnings"]);
    let alone = plan(&person, &["--no-against"]);
    assert!(alone.err.contains(note), "{}", alone.err);
    let ran = plan(&person, &["--against"]);
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(ran.out.contains("the change is 3 commits behind origin/main"), "{}", ran.out);
    let merged = json(&person, &["--against"]);
    assert_eq!(acted(&merged), ["create golf"]);
    assert_eq!(merged["against"]["behind"], 3);
    assert_eq!(merged["against"]["base"], "origin/main");
    assert_eq!(merged["against"]["others"]["files"], 0);
    assert_eq!(merged["against"]["others"]["deletions"], 1, "bravo's is under way");
    assert_eq!(merged["deletions"].as_array().map(Vec::len), Some(0));
}

#[test]
fn what_nobody_has_reconciled_yet_stands_apart_in_one_line() {
    let (_remote, person) = behind();
    let merged = json(&person, &["--against", "origin/main"]);
    assert_eq!(acted(&merged), ["create golf"]);
    assert!(merged["against"]["others"]["files"].as_u64().unwrap() > 3, "{}", merged["against"]);
    let text = plan(&person, &["--against"]).out;
    let line = text.lines().filter(|line| line.contains("no run has reconciled yet"));
    assert_eq!(line.count(), 1, "{text}");
    for other in ["hotel", "bravo", "alpha"] {
        assert!(!text.contains(other), "{other} is somebody else's: {text}");
    }
    let comment = plan(&person, &["--against", "--output", "markdown"]).out;
    assert!(comment.contains("the change is 3 commits behind origin/main"), "{comment}");
}

#[test]
fn the_tree_that_is_told_is_the_one_that_comes_of_the_merge() {
    let (remote, person) = behind();
    let told = json(&person, &["--against"])["tree"].as_str().unwrap().to_owned();
    git(&person.path(), &["switch", "--quiet", "main"]);
    person.reconciles();
    git(&person.path(), &["merge", "--quiet", "--no-edit", "feature"]);
    git(&person.path(), &["push", "--quiet", "origin", "main"]);
    person.reconciles();
    assert_eq!(git(&remote.path(), &["rev-parse", "carp/rendered^{tree}"]), told);
}

#[test]
fn nothing_is_written_and_edits_that_are_not_committed_count() {
    let (_remote, person) = behind();
    let path = person.path();
    person.write("fleet/clusters/india.yaml", &cluster("india", "eastus"));
    fs::remove_file(path.join("fleet/clusters/charlie.yaml")).unwrap();
    let state = || {
        let objects = git(&path, &["count-objects", "-v"]);
        (objects, git(&path, &["status", "--porcelain"]), git(&path, &["show-ref"]))
    };
    let before = state();
    let merged = json(&person, &["--against"]);
    assert_eq!(acted(&merged), ["delete charlie", "create golf", "wait india"]);
    assert_eq!(state(), before);
}

#[test]
fn a_change_that_does_not_merge_names_the_files() {
    let (_remote, person) = behind();
    let other = cluster("alpha", "westeurope").replace("replicas: 2", "replicas: 5");
    person.write("fleet/clusters/alpha.yaml", &other);
    commit(&person, "another size");
    for command in [&["plan", "--against"][..], &["validate", "--against"]] {
        let ran = Ran::of(person.command(command));
        assert_eq!((ran.exit, ran.out.as_str()), (1, ""), "{}", ran.err);
        assert_eq!(
            ran.err,
            "error: this change does not merge into `origin/main`: both change fleet/clusters/alpha.yaml; \
             merge or rebase it first, for nobody can tell what would be merged\n"
        );
    }
}

#[test]
fn a_pull_requests_workflow_says_what_it_is_merged_into() {
    let (_remote, person) = behind();
    for name in ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"] {
        let mut command = person.command(&["plan"]);
        command.env(name, "main");
        let ran = Ran::of(command);
        assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
        assert!(ran.out.contains("3 commits behind origin/main"), "{}", ran.out);
        let mut command = person.command(&["plan", "--no-against"]);
        command.env(name, "main");
        assert!(!Ran::of(command).out.contains("behind"));
    }
    // A clone of one branch lacks the target; it is brought.
    let folder = tempfile::tempdir().unwrap();
    git(&person.path(), &["push", "--quiet", "origin", "feature"]);
    let url = git(&person.path(), &["remote", "get-url", "origin"]);
    git(folder.path(), &["clone", "--quiet", "--single-branch", "-b", "feature", &url, "clone"]);
    let brought = "+refs/heads/carp/*:refs/remotes/origin/carp/*";
    let clone = folder.path().join("clone");
    git(&clone, &["fetch", "--quiet", "origin", brought]);
    let mut command = people::carp(&clone, &["plan"]);
    command.env("GITHUB_BASE_REF", "main");
    let ran = Ran::of(command);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("3 commits behind origin/main"), "{}", ran.out);
}

#[test]
fn two_changes_that_are_fine_apart_are_seen_to_collide() {
    let (_remote, person) = placed();
    let path = person.path();
    // There is room for two more.
    for name in ["one", "two", "three"] {
        git(&path, &["switch", "--quiet", "-c", name, "origin/main"]);
        person.write(&format!("fleet/clusters/{name}.yaml"), &cluster(name, "eastus"));
        commit(&person, name);
    }
    let alone = json(&person, &["--against"]);
    assert_eq!(acted(&alone), ["create three"]);
    let together = json(&person, &["--with", "one", "--with", "two"]);
    assert_eq!(acted(&together), ["create one", "create three", "wait two"]);
    assert_eq!(together["against"]["with"], serde_json::json!(["one", "two"]));
    let text = plan(&person, &["--with", "one", "--with", "two"]).out;
    assert!(text.contains("together with one, two"), "{text}");
}

#[test]
fn only_what_a_change_breaks_is_found() {
    let (_remote, person) = placed();
    let path = person.path();
    let broken = "apiVersion: carp.dev/v1alpha1\nkind: ManagedCluster\nmetadata: {name: bad}\nspec: {nope: 1}\n";
    person.push_one("fleet/clusters/bad.yaml", broken);
    git(&path, &["switch", "--quiet", "-c", "feature"]);
    person.write(MARIA, &cluster("golf", "eastus"));
    commit(&person, "a cluster");
    assert_eq!(Ran::of(person.command(&["validate"])).exit, 1);
    let ran = Ran::of(person.command(&["validate", "--against"]));
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("finding"), "main's own are counted: {}", ran.out);
    let planned = plan(&person, &["--against"]);
    assert_eq!(planned.exit, 0, "{}{}", planned.out, planned.err);

    person.write(MARIA, &broken.replace("bad", "golf"));
    let ran = Ran::of(person.command(&["validate", "--against"]));
    assert_eq!(ran.exit, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("golf.yaml") && !ran.out.contains("bad.yaml"), "{}", ran.out);
}
