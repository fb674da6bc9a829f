//! Acknowledgements that can be removed: a commit has used them.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::super::{Palette, Tone};
use super::PlanView;
use crate::change::leftover;
use crate::diag::visible;

/// What they are.
const WHAT: &str = "commits have used these acknowledgements; remove their files";
/// The most lines; the rest is counted.
const LINES: usize = 3;

/// The name and the file of each.
fn all<'a>(view: &PlanView<'a>) -> Vec<(&'a str, &'a str)> {
    let proposal = view.proposal;
    let all = leftover(&proposal.fleet, proposal.previous.fleet.as_ref());
    all.into_iter().map(|(name, sourced)| (name.as_str(), sourced.file.as_str())).collect()
}

/// A line each, the first of them. Of a change only what it causes is told, and it spends nothing.
fn lines(view: &PlanView<'_>) -> Vec<String> {
    let all = if view.against.is_some() { Vec::new() } else { all(view) };
    let line = |(name, file): &(&str, &str)| visible::line(&format!("{name}: {file}")).into_owned();
    let mut lines: Vec<_> = all.iter().take(LINES).map(line).collect();
    if all.len() > LINES {
        lines.push(format!("and {} more; `carp validate` names each", all.len() - LINES));
    }
    lines
}

/// For a terminal.
pub(super) fn text(view: &PlanView<'_>, palette: Palette) -> String {
    let lines = lines(view);
    if lines.is_empty() {
        return String::new();
    }
    let mut out = format!("{}: {WHAT}\n", palette.paint(Tone::Faint, "SPENT"));
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
    out
}

/// For a comment on a pull request. `cell` makes text safe for it.
pub(super) fn markdown(view: &PlanView<'_>, cell: impl Fn(&str) -> String) -> String {
    let lines = lines(view);
    if lines.is_empty() {
        return String::new();
    }
    let mut out = format!("\n**Spent**: {WHAT}\n\n");
    for line in lines {
        let _ = writeln!(out, "- {}", cell(&line));
    }
    out
}

/// For a program.
pub(super) fn json(view: &PlanView<'_>) -> Value {
    all(view).into_iter().map(|(name, file)| json!({"name": name, "file": file})).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::model::api::{AcknowledgementKind, AcknowledgementSpec};
    use crate::model::{AcknowledgementSpent, Digest, FleetLock, Name, Sourced};

    #[test]
    fn what_is_spent_is_named_for_removal_in_every_form() {
        let mut proposal = sample::unchanged();
        let (of, digest) = (AcknowledgementKind::Moves, Digest::of(b"names"));
        let lock = json!({"schemaVersion": 3, "renderKey": Digest::of(b"key")});
        let mut lock: FleetLock = serde_json::from_value(lock).unwrap();
        for number in 0..5 {
            let name = Name::parse(&format!("ack-{number}")).unwrap();
            let text = format!("sha256:{digest}");
            let value = AcknowledgementSpec { of, count: 2, digest: text, rebalance: None };
            let file = format!("fleet/acknowledgements/{name}.yaml");
            let sourced = Sourced { file, document: 0, value };
            proposal.fleet.acknowledgements.insert(name.clone(), sourced);
            // The last one was not used yet.
            if number < 4 {
                lock.spent.push(AcknowledgementSpent { name, of, digest });
            }
        }
        let view = PlanView::of(&proposal, "fleet", "", &[]);
        assert_eq!(text(&view, Palette::plain()), "", "no run has used any");
        proposal.previous.fleet = Some(lock);
        let view = PlanView::of(&proposal, "fleet", "", &[]);
        let shown = text(&view, Palette::plain());
        assert!(shown.contains("\n  ack-2: fleet/acknowledgements/ack-2.yaml\n"), "{shown}");
        assert!(shown.ends_with("\n  and 1 more; `carp validate` names each\n"), "{shown}");
        let comment = markdown(&view, str::to_owned);
        assert!(comment.contains("\n- ack-0: fleet/acknowledgements/ack-0.yaml\n"), "{comment}");
        let value = json(&view);
        assert_eq!(value.as_array().unwrap().len(), 4);
        assert_eq!(value[3], json!({"name": "ack-3", "file": "fleet/acknowledgements/ack-3.yaml"}));
    }
}
