//! What a push leaves behind, and what becomes of one whose answer is lost: only the remote knows.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use tempfile::TempDir;

use crate::support::people::{Person, printed};
use crate::support::small::{self, cluster};
use crate::support::{Remote, git};

const OUTPUT: &str = "refs/heads/carp/rendered";
const RECONCILE: [&str; 2] = ["reconcile", "--once"];

fn fleet(remote: &Remote) -> Person {
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    let first = person.carp(&RECONCILE);
    assert!(first.status.success(), "{}", printed(&first));
    person
}

/// A `git` that does something in place of a push of the output branch, and then loses the line.
fn git_that_loses_the_line(instead: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let path = std::env::var("PATH").unwrap();
    let script = format!(
        "#!/bin/sh
PATH='{path}'
case \" $* \" in
*\" push \"*carp/rendered*)
    if mkdir '{0}/once' 2>/dev/null; then
        {{ {instead}; }} >/dev/null 2>&1
        echo 'fatal: the remote end hung up unexpectedly' >&2
        exit 128
    fi ;;
esac
exec git \"$@\"
",
        dir.path().display()
    );
    let program = dir.path().join("git");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

fn commits(remote: &Remote) -> String {
    git(&remote.path(), &["rev-list", "--count", OUTPUT])
}

#[test]
fn a_push_whose_answer_is_lost_counts_if_it_arrived() {
    let remote = Remote::new();
    let person = fleet(&remote);
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let loses = git_that_loses_the_line("git \"$@\"");
    let ran = person.start(&RECONCILE, loses.path(), &[]).wait_with_output().unwrap();
    assert!(ran.status.success(), "{}", printed(&ran));
    assert!(printed(&ran).contains("committed carp/rendered"), "{}", printed(&ran));
    assert_eq!(commits(&remote), "2", "it is not made twice");
}

#[test]
fn a_push_whose_answer_is_lost_and_that_did_not_arrive_is_told() {
    let remote = Remote::new();
    let person = fleet(&remote);
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let loses = git_that_loses_the_line("true");
    let ran = person.start(&RECONCILE, loses.path(), &[]).wait_with_output().unwrap();
    assert_eq!(ran.status.code(), Some(1), "{}", printed(&ran));
    assert!(printed(&ran).contains("is not known"), "{}", printed(&ran));
    assert_eq!(commits(&remote), "1");
    let again = person.carp(&RECONCILE);
    assert!(again.status.success(), "{}", printed(&again));
    assert_eq!(commits(&remote), "2");
}

#[test]
fn a_push_whose_answer_is_lost_to_another_writer_is_planned_again() {
    let remote = Remote::new();
    let (person, other) = (fleet(&remote), Person::cloning(&remote.url()));
    git(&other.path(), &["checkout", "--quiet", "-B", "theirs", "origin/carp/rendered"]);
    other.write("NOTES.md", "theirs\n");
    git(&other.path(), &["add", "--all"]);
    git(&other.path(), &["commit", "--quiet", "-m", "theirs"]);
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let push = format!("git -C '{}' push -q origin HEAD:carp/rendered", other.path().display());
    let loses = git_that_loses_the_line(&push);
    let ran = person.start(&RECONCILE, loses.path(), &[]).wait_with_output().unwrap();
    assert!(ran.status.success(), "{}", printed(&ran));
    assert!(printed(&ran).contains("planned again"), "{}", printed(&ran));
    let files = git(&remote.path(), &["ls-tree", "-r", "--name-only", OUTPUT]);
    assert!(files.contains("NOTES.md") && files.contains("clusters/golf/"), "{files}");
}

/// Git moves the ref that follows a branch only where the clone is configured to follow it.
#[test]
fn a_clone_that_follows_one_branch_knows_what_it_pushed() {
    let remote = Remote::new();
    let person = fleet(&remote);
    let narrow = "+refs/heads/main:refs/remotes/origin/main";
    git(&person.path(), &["config", "remote.origin.fetch", narrow]);
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let ran = person.carp(&RECONCILE);
    assert!(ran.status.success(), "{}", printed(&ran));
    let here = git(&person.path(), &["rev-parse", "refs/remotes/origin/carp/rendered"]);
    assert_eq!(here, remote.at(OUTPUT).unwrap().to_string());
}

#[test]
fn commits_that_were_not_pushed_are_named() {
    let remote = Remote::new();
    let person = fleet(&remote);
    person.write("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    git(&person.path(), &["add", "--all"]);
    git(&person.path(), &["commit", "--quiet", "-m", "an edit"]);
    let ran = person.carp(&RECONCILE);
    assert!(ran.status.success(), "{}", printed(&ran));
    let told = "the local branch main has commits that are not on the remote";
    assert!(printed(&ran).contains(told), "{}", printed(&ran));
    git(&person.path(), &["push", "--quiet", "origin", "main"]);
    assert!(!printed(&person.carp(&RECONCILE)).contains(told));
}
