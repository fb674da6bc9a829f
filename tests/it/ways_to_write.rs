//! Where the output goes: the input branch itself, another repository; and reports from a third.

use std::collections::BTreeMap;

use crate::support::people::{Person, printed};
use crate::support::replayed::replay;
use crate::support::small::{self, cluster};
use crate::support::{Remote, git, git_may_fail};

const MAIN: &str = "refs/heads/main";
const STATUS: &str = "refs/heads/carp/status";

fn fleet_with(more: &str) -> BTreeMap<String, String> {
    let mut files = small::files();
    files.get_mut("carp.yaml").unwrap().push_str(more);
    files
}

/// Every file of a branch with the id of its bytes.
fn files_of(remote: &Remote, branch: &str) -> BTreeMap<String, String> {
    let listed = git(&remote.path(), &["ls-tree", "-r", branch]);
    let entry = |line: &str| {
        let (meta, path) = line.split_once('\t').unwrap();
        (path.to_owned(), meta.to_owned())
    };
    listed.lines().map(entry).collect()
}

fn commits(remote: &Remote, branch: &str) -> usize {
    git(&remote.path(), &["rev-list", "--count", branch]).parse().unwrap()
}

fn is_carps(path: &str) -> bool {
    ["workers/", "control-plane/", "decisions/"].iter().any(|root| path.starts_with(root))
}

#[test]
fn the_output_may_be_the_input_branch_and_never_feeds_itself() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let mut files = fleet_with("  branches: {output: main}\n");
    files.insert("README.md".to_owned(), "Ours.  \r\n\tas it is".to_owned());
    files.insert("workers/README".to_owned(), "a person's file among carp's\n".to_owned());
    person.push(&files);
    let theirs = files_of(&remote, MAIN);
    person.reconciles();
    assert_eq!(commits(&remote, MAIN), 2);
    let after = files_of(&remote, MAIN);
    for (path, id) in &theirs {
        assert_eq!(after.get(path), Some(id), "{path} is as it was");
    }
    assert!(after.contains_key("workers/w-weu/carp.lock"), "the output is there");
    let added = after.keys().filter(|path| !theirs.contains_key(*path));
    for path in added {
        assert!(is_carps(path), "{path} is none of carp's roots");
    }
    let status = remote.at(STATUS);
    for _ in 0..2 {
        assert!(person.reconciles().starts_with("nothing to commit"));
        assert_eq!(commits(&remote, MAIN), 2, "a commit of carp's is no news to it");
        assert_eq!(remote.at(STATUS), status, "nor is it to the status branch");
    }
    git(&person.path(), &["pull", "--quiet", "origin", "main"]);
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    person.reconciles();
    assert_eq!(commits(&remote, MAIN), 4);
    let said = person.reconciles();
    assert!(said.starts_with("nothing to commit"), "{said}");
    let log = git(&remote.path(), &["log", "--format=%an", MAIN]);
    assert_eq!(log, "carp\nperson\ncarp\nperson");
    git(&person.path(), &["fetch", "--quiet", "origin"]);
    let (exit, said) = replay(&person.path(), &["..main"]);
    let commits = said["commits"].as_array().unwrap().iter();
    let verdicts: Vec<_> = commits.map(|commit| commit["verdict"].as_str().unwrap()).collect();
    assert_eq!((exit, verdicts), (0, ["skipped", "same"].repeat(2)), "{said:#}");
}

#[test]
fn the_output_may_be_in_a_repository_of_its_own() {
    let (input, output) = (Remote::new(), Remote::new());
    let person = Person::cloning(&input.url());
    person.push(&fleet_with(&format!("  output: {{url: {}}}\n", output.url())));
    let said = printed(&person.carp(&["reconcile", "--once", "--first-run"]));
    assert!(said.contains(&format!("(pushed to {})", output.url())), "{said}");
    assert!(output.at("refs/heads/carp/rendered").is_some() && output.at(STATUS).is_some());
    let refs = git(&input.path(), &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, MAIN, "carp wrote nothing to the repository of the people");
    let tip = output.at("refs/heads/carp/rendered");
    assert!(person.reconciles().starts_with("nothing to commit"));
    // Another machine knows what it finds there, and a race there is one too.
    let other = Person::cloning(&input.url());
    git(&other.path(), &["pull", "--quiet", "origin", "main"]);
    assert!(other.reconciles().starts_with("nothing to commit"));
    assert_eq!(output.at("refs/heads/carp/rendered"), tip);
    other.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    other.reconciles();
    assert!(person.reconciles().starts_with("nothing to commit"));
    // What was fetched there is what the other commands speak of.
    let explained = printed(&person.carp(&["explain", "cluster/golf"]));
    assert!(!explained.contains("first run"), "{explained}");
    assert_eq!(person.replays(), 2);
}

#[test]
fn an_example_goes_to_no_other_repository_than_a_path() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let more = "  output: {url: https://git.example.com/output.git}\n  \
                example: {now: \"2026-11-01T09:00:00Z\"}\n";
    person.push(&fleet_with(more));
    let output =
        person.command(&["reconcile", "--once"]).env("GIT_ALLOW_PROTOCOL", "file").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
    assert!(printed(&output).contains("git.example.com"), "{}", printed(&output));
}

#[test]
fn reports_may_come_from_a_repository_of_their_own() {
    let (input, reports) = (Remote::new(), Remote::new());
    let person = Person::cloning(&input.url());
    person.push(&fleet_with(&format!("  observed: {{url: {}}}\n", reports.url())));
    let agent = tempfile::tempdir().unwrap();
    git(agent.path(), &["init", "--quiet", "-b", "report"]);
    let report = "schemaVersion: 1\nworker: w-weu\nworkerUID: u-1\ntime: \"2026-11-01T08:50:00Z\"\n\
                  complete: true\nhealthy: true\n";
    std::fs::write(agent.path().join("report.yaml"), report).unwrap();
    git(agent.path(), &["add", "--all"]);
    git(agent.path(), &["commit", "--quiet", "-m", "report"]);
    let to = "HEAD:refs/heads/carp/observed/w-weu";
    git(agent.path(), &["push", "--quiet", &reports.url(), to]);
    let output = person.carp(&["reconcile", "--once", "--now", "2026-11-01T09:00:00Z"]);
    assert!(output.status.success(), "{}", printed(&output));
    let folded = git(&input.path(), &["show", &format!("{STATUS}:observed/w-weu.yaml")]);
    assert!(folded.contains("freshness: Fresh"), "{folded}");
    let none = git_may_fail(&reports.path(), &["rev-parse", "--verify", STATUS]);
    assert!(!none.status.success(), "carp writes nothing there");
}
