//! People commit to the output branch of a real remote, and the real program finds it.

use std::fs;
use std::process::Output;

use crate::support::people::{Person, printed};
use crate::support::{Remote, git, small};

const LOCK: &str = "workers/w-weu/carp.lock";
const ALPHA: &str = "workers/w-weu/clusters/alpha/cluster.yaml";
const NOW: &str = "2026-11-01T09:00:00Z";

/// A remote with the small fleet, reconciled, and the person who has a clone of it.
fn fleet(policy: Option<&str>) -> (Remote, Person) {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    let mut files = small::files();
    if let Some(policy) = policy {
        let text = files.get_mut("carp.yaml").unwrap();
        *text = text.replace("spec:\n", &format!("spec:\n  drift: {policy}\n"));
    }
    person.push(&files);
    let ran = reconcile(&person);
    assert!(ran.status.success(), "{}", printed(&ran));
    (remote, person)
}

fn reconcile(person: &Person) -> Output {
    person.carp(&["reconcile", "--once", "--now", NOW])
}

/// A commit by a person on the output branch, pushed.
fn on_the_output(person: &Person, edit: impl FnOnce(&std::path::Path)) {
    let path = person.path();
    git(&path, &["fetch", "--quiet", "origin"]);
    git(&path, &["checkout", "--quiet", "-B", "by-hand", "origin/carp/rendered"]);
    edit(&path);
    git(&path, &["add", "--all"]);
    git(&path, &["commit", "--quiet", "-m", "by hand"]);
    git(&path, &["push", "--quiet", "origin", "HEAD:carp/rendered"]);
    git(&path, &["checkout", "--quiet", "main"]);
}

fn at(remote: &Remote, what: &str) -> String {
    git(&remote.path(), &["rev-parse", what])
}

fn count(remote: &Remote) -> usize {
    git(&remote.path(), &["rev-list", "--count", "carp/rendered"]).parse().unwrap()
}

#[test]
fn a_lock_that_a_person_deleted_comes_back_in_one_commit() {
    let (remote, person) = fleet(None);
    let tree = at(&remote, "carp/rendered^{tree}");
    on_the_output(&person, |path| fs::remove_file(path.join(LOCK)).unwrap());
    let commits = count(&remote);
    let ran = reconcile(&person);
    assert!(ran.status.success(), "{}", printed(&ran));
    assert!(printed(&ran).contains("warning[lock-rebuilt]"), "{}", printed(&ran));
    assert_eq!(at(&remote, "carp/rendered^{tree}"), tree, "the same tree, byte for byte");
    let changed = git(&remote.path(), &["diff", "--name-only", "carp/rendered~1", "carp/rendered"]);
    assert_eq!(changed, LOCK);
    let ran = reconcile(&person);
    assert!(!printed(&ran).contains("lock-rebuilt"), "{}", printed(&ran));
    assert_eq!(count(&remote), commits + 1, "the second run commits nothing");
}

#[test]
fn a_merge_conflict_that_was_committed_is_mended() {
    let (remote, person) = fleet(None);
    let tree = at(&remote, "carp/rendered^{tree}");
    on_the_output(&person, |path| {
        for lock in [LOCK, "decisions/pending.lock", "control-plane/fleet.lock"] {
            let was = fs::read_to_string(path.join(lock)).unwrap();
            let both = format!("<<<<<<< HEAD\n{was}=======\n{was}>>>>>>> theirs\n");
            fs::write(path.join(lock), both).unwrap();
        }
    });
    let ran = reconcile(&person);
    assert!(ran.status.success(), "{}", printed(&ran));
    assert_eq!(at(&remote, "carp/rendered^{tree}"), tree);
}

#[test]
fn an_edit_by_hand_is_set_back_and_the_commit_says_so() {
    let (remote, person) = fleet(None);
    let tree = at(&remote, "carp/rendered^{tree}");
    on_the_output(&person, |path| {
        fs::write(path.join(ALPHA), "kind: ConfigMap\n").unwrap();
        fs::write(path.join("workers/w-weu/NOTES.md"), "a person's\n").unwrap();
    });
    git(&person.path(), &["fetch", "--quiet", "origin"]);
    let plan = person.carp(&["plan", "--now", NOW]);
    assert!(printed(&plan).contains("warning[hand-edit]"), "{}", printed(&plan));
    assert!(printed(&plan).contains("warning[foreign-file]"), "{}", printed(&plan));
    let edit = at(&remote, "carp/rendered");
    let ran = reconcile(&person);
    assert!(ran.status.success(), "{}", printed(&ran));
    let who = format!("{ALPHA} was changed by person in commit {}", &edit[..8]);
    for said in [printed(&plan), printed(&ran)] {
        assert!(said.contains(&who) && !said.contains("person@example.com"), "{said}");
    }
    let body = git(&remote.path(), &["log", "-1", "--format=%B", "carp/rendered"]);
    assert!(body.contains(&format!("SET BACK {ALPHA}, which was changed by hand")), "{body}");
    let notes = git(&remote.path(), &["show", "carp/rendered:workers/w-weu/NOTES.md"]);
    assert_eq!(notes, "a person's");
    let changed = git(&remote.path(), &["diff", "--name-only", &tree, "carp/rendered"]);
    assert_eq!(changed, "workers/w-weu/NOTES.md");
}

#[test]
fn an_edit_that_is_refused_is_held_and_asked_about() {
    let (remote, person) = fleet(Some("refuse"));
    on_the_output(&person, |path| fs::write(path.join(ALPHA), "kind: ConfigMap\n").unwrap());
    let edited = at(&remote, "carp/rendered");
    let ran = reconcile(&person);
    assert_eq!(ran.status.code(), Some(3), "{}", printed(&ran));
    for told in ["held Drifted", "alpha", "drift: overwrite"] {
        assert!(printed(&ran).contains(told), "{told}: {}", printed(&ran));
    }
    assert_eq!(at(&remote, "carp/rendered"), edited, "nothing is written");
    let status = person.carp(&["status", "cluster/alpha", "--now", NOW]);
    assert!(printed(&status).contains("Drifted"), "{}", printed(&status));
    on_the_output(&person, |path| drop(git(path, &["revert", "--no-edit", "--no-commit", "HEAD"])));
    let ran = reconcile(&person);
    assert!(ran.status.success(), "{}", printed(&ran));
}

#[test]
fn an_output_without_any_lock_is_no_first_run() {
    let (remote, person) = fleet(None);
    let tree = at(&remote, "carp/rendered^{tree}");
    on_the_output(&person, |path| {
        fs::remove_file(path.join("decisions/pending.lock")).unwrap();
        fs::remove_file(path.join("control-plane/fleet.lock")).unwrap();
    });
    let ran = reconcile(&person);
    assert!(ran.status.success(), "{}", printed(&ran));
    assert_eq!(at(&remote, "carp/rendered^{tree}"), tree);
}
