//! What a change was merged into, and how much it did not cause.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::super::{Palette, Tone, count};
use crate::change::{Others, Pressure};
use crate::reconcile::Merged;

/// What a plan shows a part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgainstView {
    /// How the merge came about.
    pub merged: Merged,
    /// What is left out because the change did not cause it.
    pub others: Others,
    /// What is at its limits because of it.
    pub pressure: Pressure,
}

impl AgainstView {
    /// What was merged with what.
    fn merged_words(&self) -> String {
        let Merged { base, commit, behind, with } = &self.merged;
        let mut words = format!("merged in memory into {base} ({})", commit.short());
        if !with.is_empty() {
            let _ = write!(words, ", together with {}", with.join(", "));
        }
        if *behind > 0 {
            let _ = write!(words, "; the change is {} behind {base}", count(*behind, "commit"));
        }
        words
    }

    /// What is left out; `None` where nothing is.
    fn others_words(&self) -> Option<String> {
        let Others { files, deletions, held, findings } = self.others;
        let base = &self.merged.base;
        let mut parts = Vec::new();
        if files > 0 {
            let files = count(files, "file");
            parts.push(format!("{files} that {base} changes and no run has reconciled yet"));
        }
        if deletions > 0 {
            parts.push(format!("{} under way", count(deletions, "deletion")));
        }
        if held > 0 {
            parts.push(format!("{} held", count(held, "thing")));
        }
        if findings > 0 {
            parts.push(count(findings, "finding"));
        }
        let parts = parts.join(", ");
        (!parts.is_empty())
            .then(|| format!("not shown, because {base} has it without this change: {parts}"))
    }
}

/// For a terminal: a line or two.
#[must_use]
pub fn text(against: Option<&AgainstView>, palette: Palette) -> String {
    let mut out = String::new();
    if let Some(against) = against {
        let lines = [Some(against.merged_words()), against.others_words()];
        for line in lines.into_iter().flatten() {
            let _ = writeln!(out, "{}", palette.paint(Tone::Faint, &line));
        }
    }
    out
}

/// For a comment on a pull request.
pub(super) fn lines(against: Option<&AgainstView>) -> Vec<String> {
    let lines = against.map(|against| [Some(against.merged_words()), against.others_words()]);
    lines.into_iter().flatten().flatten().collect()
}

/// For a program.
pub(super) fn value(against: Option<&AgainstView>) -> Value {
    let Some(AgainstView { merged, others, .. }) = against else { return Value::Null };
    json!({
        "base": merged.base,
        "commit": merged.commit,
        "behind": merged.behind,
        "with": merged.with,
        "others": {
            "files": others.files,
            "deletions": others.deletions,
            "held": others.held,
            "findings": others.findings,
        },
    })
}
