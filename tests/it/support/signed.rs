//! Runs over input that must be signed.

use std::path::Path;

use super::people::{Person, printed};
use super::{Remote, git};

/// The output branch.
pub(crate) const OUTPUT: &str = "refs/heads/carp/rendered";

/// Lets a clone's commits be signed.
pub(crate) fn signs(person: &Person, format: &str, program: Option<&Path>, key: &str) {
    let program = program.map(|program| ("gpg.program", program.to_str().unwrap()));
    let settings = [("gpg.format", format), ("user.signingKey", key), ("commit.gpgSign", "true")];
    for (name, value) in settings.into_iter().chain(program) {
        git(&person.path(), &["config", name, value]);
    }
}

/// One run: its exit code and what it printed.
pub(crate) fn run(person: &Person) -> (i32, String) {
    let output = person.carp(&["reconcile", "--once", "--now", "2026-11-01T09:00:00Z"]);
    (output.status.code().unwrap(), printed(&output))
}

/// A run finds nothing against the input.
#[track_caller]
pub(crate) fn goes_well(person: &Person) {
    let (exit, said) = run(person);
    assert_eq!(exit, 0, "{said}");
}

/// A run holds the input commit, says why and what to do, and commits nothing.
#[track_caller]
pub(crate) fn is_held(person: &Person, remote: &Remote, why: &str) {
    let tip = remote.at(OUTPUT);
    let (exit, said) = run(person);
    assert_eq!(exit, 3, "{said}");
    let head = git(&person.path(), &["rev-parse", "HEAD"]);
    for part in ["held InputNotVerified", &*head, why, "git commit -S --allow-empty"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(remote.at(OUTPUT), tip, "nothing was committed");
}
