//! A clone that lacks the branches which carp writes is no first run: they are brought, or nothing is guessed.

use std::fs;
use std::path::Path;

use crate::support::people::{self, Person};
use crate::support::reconciled::Ran;
use crate::support::small;
use crate::support::{Remote, git};

/// A fleet that is placed, and a clone of its input branch alone.
fn placed() -> (Remote, tempfile::TempDir) {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    person.reconciles();
    let folder = tempfile::tempdir().unwrap();
    let url = format!("file://{}", remote.path().display());
    git(folder.path(), &["clone", "--quiet", "--single-branch", "--depth", "1", &url, "clone"]);
    (remote, folder)
}

fn carp(folder: &Path, args: &[&str]) -> Ran {
    Ran::of(people::carp(&folder.join("clone"), args))
}

#[test]
fn what_a_clone_lacks_is_brought_and_every_form_says_so() {
    let told = "this clone lacked carp/rendered and carp/status, so they were brought from origin; the last \
                output commit is ";
    for (command, forms) in [
        (&["plan"][..], &["text", "json", "markdown"][..]),
        (&["status"], &["text", "json"]),
        (&["explain", "cluster/alpha"], &["text", "json"]),
        (&["simulate", "--cordon", "w-weu"], &["text"]),
        (&["render", "--out", "out"], &[]),
    ] {
        let (_remote, folder) = placed();
        let first = carp(folder.path(), command);
        assert_eq!(first.exit, 0, "{command:?} {}", first.err);
        assert!(first.err.contains(told), "{command:?} {}", first.err);
        assert!(!first.out.contains("to create") || first.out.contains("no changes"));
        let again = carp(folder.path(), &[command, &["--now", "2036-01-01T00:00:00Z"]].concat());
        assert!(!again.err.contains("lacked"), "{command:?} {}", again.err);
        for form in forms.iter().filter(|form| **form != "text") {
            let (_remote, folder) = placed();
            let ran = carp(folder.path(), &[command, &["--output", form]].concat());
            assert!(ran.out.contains(told), "{command:?} {form}: {}", ran.out);
        }
    }
    let (_remote, folder) = placed();
    let plan = carp(folder.path(), &["plan"]);
    assert!(plan.out.contains("no changes"), "{}{}", plan.out, plan.err);
    let brought = ["rev-list", "--count", "origin/carp/rendered"];
    assert_eq!(git(&folder.path().join("clone"), &brought), "1", "no more than is read");
}

#[test]
fn of_a_shallow_clone_as_much_history_is_brought_as_is_asked_for() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    person.reconciles();
    // Nobody reconciled these yet, and a clone of the last one does not show what the output was made from.
    for (name, count) in [("few", 3), ("many", 60)] {
        for number in 0..count {
            let text = format!("{name} {number}\n");
            person.push(&[(format!("notes/{name}.md"), text)].into());
        }
        let folder = tempfile::tempdir().unwrap();
        let url = format!("file://{}", remote.path().display());
        git(folder.path(), &["clone", "--quiet", "--single-branch", "--depth", "1", &url, "clone"]);
        let ran = carp(folder.path(), &["plan"]);
        assert_eq!(ran.exit, 0, "{name}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains("no changes"), "{name}: {}", ran.out);
        assert!(ran.err.contains("more of the history of main was brought"), "{}", ran.err);
        // The remote is away: nothing is guessed, and the line is told.
        let folder = tempfile::tempdir().unwrap();
        git(
            folder.path(),
            &["clone", "--quiet", "--no-single-branch", "--depth", "1", &url, "clone"],
        );
        git(&folder.path().join("clone"), &["remote", "set-url", "origin", "file:///nowhere"]);
        let ran = carp(folder.path(), &["plan"]);
        assert_eq!((ran.exit, ran.out.as_str()), (1, ""), "{name}: {}", ran.err);
        assert!(ran.err.contains("git fetch --unshallow"), "{name}: {}", ran.err);
    }
}

#[test]
fn a_clone_with_its_history_does_not_become_a_shallow_one() {
    let (remote, folder) = placed();
    let url = remote.url();
    git(folder.path(), &["clone", "--quiet", "--single-branch", &url, "whole"]);
    let whole = folder.path().join("whole");
    let ran = Ran::of(people::carp(&whole, &["plan"]));
    assert!(ran.out.contains("no changes"), "{}{}", ran.out, ran.err);
    assert_eq!(git(&whole, &["rev-parse", "--is-shallow-repository"]), "false");
}

#[test]
fn where_it_cannot_be_brought_the_line_that_brings_it_is_told() {
    let (_remote, folder) = placed();
    let refs = folder.path().join("clone/.git/refs/remotes/origin/carp");
    fs::create_dir_all(&refs).unwrap();
    fs::write(refs.join("rendered.lock"), "").unwrap();
    for command in [&["plan"][..], &["status"], &["render", "--out", "out"]] {
        let ran = carp(folder.path(), command);
        assert_eq!((ran.exit, ran.out.as_str()), (1, ""), "{command:?} {}", ran.err);
        assert!(ran.err.contains("this clone lacks `carp/rendered`"), "{command:?} {}", ran.err);
    }
    assert!(!folder.path().join("clone/out").exists());
    fs::remove_file(refs.join("rendered.lock")).unwrap();
    let told = carp(folder.path(), &["validate"]).err;
    let (_, line) = told
        .trim_end()
        .split_once("bring it: git ")
        .unwrap_or_else(|| panic!("a line in {told:?}"));
    git(&folder.path().join("clone"), &line.split(' ').collect::<Vec<_>>());
    assert!(carp(folder.path(), &["plan"]).out.contains("no changes"));
}

#[test]
fn what_people_wrote_is_looked_at_without_them() {
    let (_remote, folder) = placed();
    let ran = carp(folder.path(), &["validate"]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    assert!(ran.err.contains("git fetch origin"), "{}", ran.err);
    assert_eq!(carp(folder.path(), &["cordon", "w-weu"]).exit, 0);
}

#[test]
fn a_remote_that_has_none_of_them_makes_it_a_first_run() {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    let ran = Ran::of(person.command(&["plan"]));
    assert_eq!(ran.exit, 0, "{}", ran.err);
    assert!(ran.out.contains("6 to create"), "{}", ran.out);
    assert!(
        ran.err.contains("so this is a first run") && !ran.err.contains("git fetch"),
        "{}",
        ran.err
    );
}

#[test]
fn where_the_remote_cannot_be_asked_nothing_is_guessed() {
    let (remote, folder) = placed();
    fs::rename(remote.path(), remote.path().with_extension("away")).unwrap();
    let ran = carp(folder.path(), &["plan"]);
    assert_eq!((ran.exit, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(
        ran.err.contains("could not be asked") && ran.err.contains("git fetch origin"),
        "{}",
        ran.err
    );
    assert_eq!(carp(folder.path(), &["validate"]).exit, 0);
}
