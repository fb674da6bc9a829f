//! Somebody else is faster on the status branch, again and again.

use std::fs;

use crate::support::people::{Person, printed};
use crate::support::small::{self, cluster};
use crate::support::{Remote, git};

const OUTPUT: &str = "refs/heads/carp/rendered";
const STATUS: &str = "refs/heads/carp/status";

fn commits(remote: &Remote, branch: &str) -> u32 {
    git(&remote.path(), &["rev-list", "--count", branch]).parse().unwrap()
}

/// Whenever the status is pushed, and at most so often, a commit of somebody else is there just before.
fn is_always_late(remote: &Remote, count: &std::path::Path, most: u32) {
    let hook = format!(
        "#!/bin/sh
while read old new ref; do
    [ \"$ref\" = {STATUS} ] || continue
    [ \"$(wc -l < '{0}')\" -lt {most} ] || continue
    echo lost >> '{0}'
    unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
    other=$(git -c user.name=other -c user.email=other@example.com commit-tree \"$old^{{tree}}\" -p \"$old\" -m other)
    git update-ref {STATUS} \"$other\" \"$old\"
done
",
        count.display()
    );
    remote.hook("pre-receive", &hook);
}

#[test]
fn ten_lost_status_races_fail_no_run_and_the_next_one_writes_what_is_due() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    let run = || {
        let output = person.carp(&["reconcile", "--once"]);
        assert!(output.status.success(), "{}", printed(&output));
        printed(&output)
    };
    run();
    let (before, output) = (commits(&remote, STATUS), commits(&remote, OUTPUT));
    let count = tempfile::NamedTempFile::new().unwrap();
    let lost = || fs::read_to_string(count.path()).unwrap().lines().count();
    is_always_late(&remote, count.path(), 10);
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let said = run();
    assert_eq!(lost(), 10, "{said}");
    assert!(said.contains("committed carp/rendered"), "{said}");
    assert!(said.contains("status not written"), "{said}");
    assert_eq!(commits(&remote, OUTPUT), output + 1, "the output was committed once");
    assert_eq!(commits(&remote, STATUS), before + 10, "and each of the other's commits stands");
    // What is due then is one commit, on top of all of them.
    person.push_one("fleet/clusters/hotel.yaml", &cluster("hotel", "eastus"));
    run();
    assert_eq!(commits(&remote, STATUS), before + 11, "coalesced");
    let names = git(&remote.path(), &["ls-tree", "-r", "--name-only", STATUS]);
    for name in ["golf", "hotel"] {
        assert!(names.contains(&format!("/{name}.yaml")), "{name}: {names}");
    }
    assert!(run().starts_with("nothing to commit"));
}

#[test]
fn a_lost_status_race_is_retried_until_it_arrives() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    let run = |args: &[&str]| {
        let output = person.carp(args);
        assert!(output.status.success(), "{}", printed(&output));
        printed(&output)
    };
    run(&["reconcile", "--once"]);
    let before = commits(&remote, STATUS);
    let count = tempfile::NamedTempFile::new().unwrap();
    is_always_late(&remote, count.path(), 3);
    person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let said = run(&["reconcile", "--once"]);
    assert!(said.contains("another writer was faster 3 times"), "{said}");
    assert!(!said.contains("status not written"), "{said}");
    assert_eq!(commits(&remote, STATUS), before + 4);
}
