//! What can still be told of a document that cannot be parsed: its kind, its name, and whether
//! placements wait for it.

use super::fault::Fault;
use super::finding::Findings;
use super::item::Item;
use super::kind::{Kind, Root};
use super::split::Chunk;
use crate::diag::{Diagnostic, Place};
use crate::model::api::{GROUP, planned};

/// A document that cannot be parsed: its finding, and the kind and name that can be told all the same.
pub(super) fn item(chunk: Chunk<'_>, mut findings: Findings, fault: &Fault, root: Root) -> Item {
    let mut place = Place::file(&*findings.source.file)
        .at(fault.line.saturating_add(chunk.lines_before), fault.column);
    place.document = findings.source.document;
    let finding = Diagnostic::new(fault.code, fault.message.clone()).at(place).help(&fault.help);
    findings.list.push(finding);
    let kind = scraped(chunk.text, &["kind"]);
    let name = scraped(chunk.text, &["metadata", "name"]);
    let steers_placement = may_steer_placement(chunk.text, kind.as_deref(), root);
    let may_override = may_override(kind.as_deref(), root);
    Item {
        findings,
        kind,
        name,
        steers_placement,
        may_override,
        body: None,
        fact: None,
        is_remembered: false,
    }
}

/// Whether a document whose kind is not known may be one that new placements depend on: it stands
/// below the policies, its kind is a slip of the pen for one of these or for what closes a worker, it names such
/// a kind, or it says of itself that it is carp's.
pub(super) fn may_steer_placement(text: &str, kind: Option<&str>, root: Root) -> bool {
    // The one whose kind is known keeps its worker closed by its name; of these nobody knows more.
    let steers = |kind: Kind| {
        let of_workers = [Kind::Worker, Kind::WorkerOverlay, Kind::WorkerPool];
        kind.steers_placement() || of_workers.contains(&kind)
    };
    match (root, kind.and_then(Kind::named), kind.and_then(Kind::meant)) {
        (Root::Policies, ..) => true,
        (_, Some(kind), _) => kind.steers_placement(),
        (_, None, Some(kind)) => steers(kind),
        (_, None, None) => {
            let says = |text: &str, word: &str| text.contains(word);
            // What does not even say whose it is, a list for instance, may be anything.
            says(text, GROUP)
                || !says(text, "apiVersion")
                || Kind::ALL.iter().any(|&kind| steers(kind) && says(text, kind.name()))
        }
    }
}

/// Whether a document without effect may be an override policy: its kind is that, or a slip of the pen for it, or it
/// stands below the policies and its kind is none.
pub(super) fn may_override(kind: Option<&str>, root: Root) -> bool {
    match kind.and_then(Kind::meant) {
        Some(kind) => kind == Kind::OverridePolicy,
        None => root == Root::Policies && !kind.is_some_and(|kind| planned::KINDS.contains(&kind)),
    }
}

/// What a line of a document that cannot be parsed says, where it is as plain as people write it:
/// `kind: X` at the first column, `name: x` one level below `metadata:`.
fn scraped(text: &str, path: &[&str]) -> Option<String> {
    let top = |line: &str| !line.starts_with([' ', '\t', '#', '-']);
    let mut lines = text.lines();
    if let [parent, _] = path {
        let head = format!("{parent}:");
        lines.by_ref().find(|line| line.trim_end() == head)?;
    }
    let wanted = format!("{}:", path.last()?);
    let nested = path.len() > 1;
    let mut indent = None;
    for line in lines {
        if nested && top(line) && !line.trim().is_empty() {
            return None;
        }
        let depth = line.len() - line.trim_start().len();
        if *indent.get_or_insert(if nested { depth } else { 0 }) != depth {
            continue;
        }
        if let Some(rest) = line.trim_start().strip_prefix(&wanted) {
            let value = rest.split(" #").next().unwrap_or_default().trim();
            let value = value.trim_matches(['"', '\'']);
            return (!value.is_empty()).then(|| value.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_from_a_text_that_cannot_be_parsed() {
        let text =
            "kind: Worker # x\nmetadata:\n  labels:\n    name: no\n  name: \"w1\"\nspec: [\n";
        assert_eq!(scraped(text, &["kind"]).as_deref(), Some("Worker"));
        assert_eq!(scraped(text, &["metadata", "name"]).as_deref(), Some("w1"));
        assert_eq!(scraped("metadata:\nspec:\n  name: x\n", &["metadata", "name"]), None);
    }
}
