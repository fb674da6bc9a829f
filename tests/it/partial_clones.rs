//! A clone that lacks the branches which carp writes is no first run: what is looked at there would be wrong.

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
fn it_is_told_with_the_line_that_brings_them_and_the_line_works() {
    let (_remote, folder) = placed();
    for command in [
        &["plan"][..],
        &["plan", "--output", "markdown"],
        &["status"],
        &["explain", "cluster/alpha"],
        &["simulate", "--cordon", "w-weu"],
        &["render", "--out", "out"],
    ] {
        let ran = carp(folder.path(), command);
        assert_eq!((ran.exit, ran.out.as_str()), (1, ""), "{command:?} {}", ran.err);
        assert!(ran.err.contains("this clone lacks `carp/rendered`"), "{command:?} {}", ran.err);
    }
    assert!(!folder.path().join("clone/out").exists());
    let told = carp(folder.path(), &["plan"]).err;
    let (_, line) = told.trim_end().split_once("bring what is missing: git ").expect("a line");
    git(&folder.path().join("clone"), &line.split(' ').collect::<Vec<_>>());
    let ran = carp(folder.path(), &["plan"]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    assert!(ran.out.contains("no changes"), "{}{}", ran.out, ran.err);
    assert!(carp(folder.path(), &["status"]).out.contains("alpha"));
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
