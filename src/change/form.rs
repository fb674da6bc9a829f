//! The message of a commit that changes nothing but the form of files.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::model::{Change, paths};

/// How many workers a message names before it counts the rest.
const MOST_NAMES: usize = 50;

/// The message without trailers: `carp: format only, 12 files of 3 workers`, and which workers these are.
#[must_use]
pub fn form_message(changes: &[Change], prefix: &str) -> String {
    let workers = workers_of(changes, prefix);
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    let mut out = format!("carp: format only, {} file{}", changes.len(), plural(changes.len()));
    if !workers.is_empty() {
        let _ = write!(out, " of {} worker{}", workers.len(), plural(workers.len()));
    }
    out.push_str("\n\nThe same objects in another form; no decision and no object changes.\n");
    for worker in workers.iter().take(MOST_NAMES) {
        let _ = writeln!(out, "{worker}");
    }
    if workers.len() > MOST_NAMES {
        let _ = writeln!(out, "… and {} more", workers.len() - MOST_NAMES);
    }
    out
}

/// The message of a run that changes nothing else: what it says of decisions, holds and gates stays.
#[must_use]
pub fn with_form(form: &str, message: &str) -> String {
    match message.split_once('\n') {
        Some((_, body)) => format!("{form}{body}"),
        None => form.to_owned(),
    }
}

/// The workers whose folders files are in.
#[must_use]
pub fn workers_of<'a>(changes: &'a [Change], prefix: &str) -> BTreeSet<&'a str> {
    let root = format!("{}/", paths::in_repository(prefix, paths::WORKERS));
    let worker = |change: &'a Change| change.path.strip_prefix(&root)?.split('/').next();
    changes.iter().filter_map(worker).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ChangeKind;

    fn changes(paths: &[&str]) -> Vec<Change> {
        let change = |path: &&str| Change {
            path: (*path).to_owned(),
            kind: ChangeKind::Update,
            before: None,
            after: None,
        };
        paths.iter().map(change).collect()
    }

    #[test]
    fn the_message_counts_files_and_names_workers() {
        let all =
            changes(&["eu/control-plane/fleet.lock", "eu/workers/b/x", "eu/workers/a/carp.lock"]);
        let message = form_message(&all, "eu");
        assert!(message.starts_with("carp: format only, 3 files of 2 workers\n\n"), "{message}");
        assert!(message.ends_with("changes.\na\nb\n"), "{message}");
        let none = form_message(&changes(&["control-plane/a.yaml"]), "");
        assert!(none.starts_with("carp: format only, 1 file\n"), "{none}");
    }
}
