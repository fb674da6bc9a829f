//! One document: text to a typed body, or to findings.

use std::cell::OnceCell;

use serde_json::Value;

use super::alike::AlikeDocuments;
use super::body::{self, Body};
use super::check::empty_safeguard;
use super::drop_invalid::mended;
use super::envelope;
use super::finding::{DocumentSource, Findings};
use super::guess_identity;
use super::item::Item;
use super::kind::{Kind, Root};
use super::locate;
use super::shape::Shape;
use super::short;
use super::split::Chunk;
use super::structure::StructureWalk;
use super::yaml;
use crate::diag::{Code, FieldPath};
use crate::model::Fact;

/// The item that the memo kept; `None` where the memo cannot be believed.
pub(super) fn remembered(
    fact: &Fact,
    source: DocumentSource,
    alike: &mut AlikeDocuments,
) -> Option<Item> {
    let kind = Kind::named(&fact.kind)?;
    let body = alike.body(kind, &fact.value, fact.digest)?;
    Some(Item {
        findings: Findings::of(source),
        kind: Some(fact.kind.clone()),
        name: Some(fact.name.clone()),
        steers_placement: kind.steers_placement(),
        may_override: kind == Kind::OverridePolicy,
        body: Some(body),
        fact: None,
        is_remembered: true,
    })
}

/// Reads one document.
pub(super) fn read(chunk: Chunk<'_>, source: DocumentSource, root: Root) -> Item {
    read_among(chunk, source, root, &mut AlikeDocuments::default())
}

/// Reads one document of many.
pub(super) fn read_among(
    chunk: Chunk<'_>,
    source: DocumentSource,
    root: Root,
    alike: &mut AlikeDocuments,
) -> Item {
    let mut findings = Findings::of(source);
    let value = match yaml::parse_value(chunk.text) {
        Ok(value) => value,
        Err(fault) => return guess_identity::item(chunk, findings, &fault, root),
    };
    let kind = text_at(&value, &["kind"]);
    let name = text_at(&value, &["metadata", "name"]);
    let is_short = short::is_short(&value);
    let body = usable(value, chunk, (root, alike), &mut findings);
    if is_short {
        short::as_written(&mut findings.list);
    }
    let (body, fact) = body.map_or((None, None), |(body, fact)| (Some(body), fact));
    let steers_placement = match kind.as_deref().and_then(Kind::named) {
        Some(kind) => kind.steers_placement(),
        None => guess_identity::may_steer_placement(chunk.text, kind.as_deref(), root),
    };
    let may_override = guess_identity::may_override(kind.as_deref(), root);
    Item { findings, kind, name, steers_placement, may_override, body, fact, is_remembered: false }
}

fn text_at(value: &Value, path: &[&str]) -> Option<String> {
    path.iter().try_fold(value, |v, key| v.get(key))?.as_str().map(str::to_owned)
}

/// What a document says, as far as it can be used.
fn usable(
    value: Value,
    chunk: Chunk<'_>,
    (root, alike): (Root, &mut AlikeDocuments),
    out: &mut Findings,
) -> Option<(Body, Option<Fact>)> {
    let Value::Object(mut document) = value else {
        let message = "the document is not a mapping";
        let help = "a document has `apiVersion`, `kind`, `metadata` and `spec`";
        out.add(Code::WrongType, FieldPath::default(), message, help);
        return None;
    };
    let mut opened = envelope::open(&mut document, root, out);
    let root = OnceCell::new();
    let written = |path: &FieldPath| {
        let root = root.get_or_init(|| locate::Node::of(chunk));
        locate::written(chunk, root.as_ref()?, path)
    };
    let kind_name = opened.kind.map_or("document", Kind::name);
    if let Some(kind) = opened.kind {
        short::expand(kind, opened.api, &mut opened.spec, out);
    }
    let mut walk = StructureWalk { kind: kind_name, written: &written, findings: out };
    walk_part(&mut walk, Shape::of_metadata(), &opened.metadata, "metadata", &opened.slips);
    let kind = opened.kind?;
    walk_part(&mut walk, Shape::of_spec(kind), &opened.spec, "spec", &opened.slips);
    empty_safeguard::check(kind, &opened.spec, out);
    let read_back = |text: &str, digest| alike.body(kind, text, digest);
    if out.has_errors() {
        let (body, _) = body::decode(kind, mended(opened, out), read_back).ok()?;
        return Some((body, None));
    }
    match body::decode(kind, opened, read_back) {
        Ok((body, text)) => {
            let fact = text.map(|value| Fact {
                document: out.source.document,
                kind: kind.name().to_owned(),
                name: body.name.clone(),
                digest: body.digest,
                value,
            });
            Some((body, fact))
        }
        // The structure was fine and the types still say no: nothing in carp's own API does that today.
        Err(error) => {
            let message = format!("the document cannot be used: {error}");
            out.add(Code::InvalidValue, FieldPath::keys("spec"), message, "mend the value");
            None
        }
    }
}

fn walk_part(
    walk: &mut StructureWalk<'_>,
    shape: &Shape,
    value: &Value,
    part: &'static str,
    slips: &[&str],
) {
    let path = FieldPath::keys(part);
    if value.is_null() && slips.contains(&part) {
        // The key that was meant for it has its finding.
    } else if value.is_null() {
        let message = format!("`{part}` is missing");
        walk.findings.add(Code::MissingField, path, message, format!("add `{part}:`"));
    } else {
        walk.value(shape, value, &path);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{POLICY, class, cluster, finds, load_fleet};
    use super::*;

    #[test]
    fn one_broken_document_of_many_loses_no_other() {
        let documents: Vec<_> = (0..500)
            .map(|i| match i {
                250 => cluster("").replace("pay-eu", "c250").replace("spec:", "spec: ["),
                _ => cluster("").replace("pay-eu", &format!("c{i}")),
            })
            .collect();
        let loaded = load_fleet(&[("fleet/all.yaml", &documents.join("---\n"))]);
        assert_eq!(loaded.fleet.clusters.len(), 499);
        assert_eq!(loaded.documents, 500);
        let [unloaded] = &loaded.fleet.unloaded[..] else { panic!("{:?}", loaded.fleet.unloaded) };
        assert_eq!(unloaded.document, Some(250));
        assert_eq!(unloaded.kind.as_deref(), Some("ManagedCluster"));
        assert_eq!(unloaded.name.as_deref(), Some("c250"));
        assert!(!unloaded.blocks_placements);
    }

    #[test]
    fn a_syntax_error_is_placed_in_its_file() {
        let text = format!("{}---\n{}", cluster(""), cluster("").replace("spec:", "spec: ["));
        let loaded = load_fleet(&[("fleet/a.yaml", &text)]);
        let found = loaded.diagnostics.iter().find(|d| d.code == Code::YamlSyntax).unwrap();
        let place = found.place.clone().unwrap();
        assert_eq!((place.document, place.field), (1, None));
        assert!(place.position.unwrap().line > 11, "{:?}", place.position);
    }

    #[test]
    fn a_policy_or_class_that_did_not_load_holds_placements() {
        let broken = POLICY.replace("spec:", "spec: [");
        assert!(load_fleet(&[("policies/p.yaml", &broken)]).fleet.holds_placements());
        let broken = class("small", "").replace("spec:", "spec: [");
        assert!(load_fleet(&[("fleet/c.yaml", &broken)]).fleet.holds_placements());
        let slip = class("small", "").replace("ManagedClusterClass", "ManagedClusterClas");
        assert!(load_fleet(&[("fleet/c.yaml", &slip)]).fleet.holds_placements());
        let other = cluster("colour: red\n  ");
        assert!(!load_fleet(&[("fleet/c.yaml", &other)]).fleet.holds_placements());
        let other = cluster("").replace("ManagedCluster", "Deployment");
        assert!(load_fleet(&[("fleet/c.yaml", &other)]).fleet.holds_placements());
        let other = other.replace("carp.dev/v1alpha1", "apps/v1");
        assert!(!load_fleet(&[("fleet/c.yaml", &other)]).fleet.holds_placements());
    }

    #[test]
    fn a_document_is_a_mapping() {
        finds("- a\n", Code::WrongType, "");
        finds("null\n", Code::WrongType, "");
    }
}
