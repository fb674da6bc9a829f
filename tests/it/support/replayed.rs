//! The whole history of an output branch, replayed by the real program.

use std::path::Path;

use serde_json::Value;

use super::people::carp;
use super::reconciled::Ran;

/// What came of each commit of the output branch, oldest first: the whole answer.
pub(crate) fn replay(folder: &Path, args: &[&str]) -> (i32, Value) {
    let args = [&["replay", "--output", "json"], args].concat();
    let ran = Ran::of(carp(folder, &args));
    let value = serde_json::from_str(&ran.out);
    (ran.exit, value.unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err)))
}

/// Each commit of carp's on the output branch follows from what it names. Returns how many there are;
/// what people committed is not counted.
#[track_caller]
pub(crate) fn replays(folder: &Path) -> usize {
    let (exit, said) = replay(folder, &["..carp/rendered"]);
    let commits = said["commits"].as_array().unwrap();
    let verdict = |commit: &Value| commit["verdict"].as_str().unwrap().to_owned();
    let wrong: Vec<_> =
        commits.iter().filter(|c| !["same", "skipped"].contains(&&*verdict(c))).collect();
    assert!(wrong.is_empty() && exit == 0, "{exit}: {wrong:#?}");
    commits.iter().filter(|commit| verdict(commit) == "same").count()
}
