//! One document: text to a typed body and its canonical form, or to findings.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::check::empty_safeguard;
use super::drop_invalid::mended;
use super::envelope::{self, Envelope};
use super::finding::{DocumentSource, Findings};
use super::guess_identity;
use super::kind::{DocumentSpec, Kind, Root};
use super::locate;
use super::shape::Shape;
use super::short;
use super::split::Chunk;
use super::structure::StructureWalk;
use super::yaml;
use crate::diag::{Code, FieldPath, Step};
use crate::model::{Digest, Fact, canonical_json, without_defaults};

/// One document below a root, whether it can be used or not.
pub(super) struct Item {
    pub(super) findings: Findings,
    /// Its kind as it was written, where that could be read.
    pub(super) kind: Option<String>,
    /// Its name, where that could be read.
    pub(super) name: Option<String>,
    /// Whether new placements may depend on it.
    pub(super) steers_placement: bool,
    /// Whether it is an override policy, or may be one.
    pub(super) may_override: bool,
    /// What it says, as far as that could be read.
    pub(super) body: Option<Body>,
    /// What the memo is to keep of it; `None` where it has it already.
    pub(super) fact: Option<Fact>,
}

/// What a document says.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) spec: DocumentSpec,
    /// The digest of the canonical form.
    pub(super) digest: Digest,
}

#[derive(Deserialize)]
struct Canonical {
    name: String,
    #[serde(default)]
    namespace: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
    #[serde(default)]
    spec: Value,
}

/// The namespace of a document that names none.
pub(super) const DEFAULT_NAMESPACE: &str = "default";

/// The parameters of a flavor in a `spec` and in its pools that hold something empty, which is another than none:
/// it may be the flavor that says more by default.
fn empty_parameters(spec: &Value) -> Vec<(Vec<Step>, Value)> {
    let key = |name: &str| Step::Key(name.to_owned());
    let mut places = vec![vec![key("parameters")]];
    let pools = spec.get("nodePools").and_then(Value::as_array).map_or(0, Vec::len);
    let of_pool = |at| vec![key("nodePools"), Step::Index(at), key("parameters")];
    places.extend((0..pools).map(of_pool));
    let mut found = Vec::new();
    if let Some(template) = spec.pointer("/template/spec") {
        let below = empty_parameters(template).into_iter().map(|(path, value)| {
            ([key("template"), key("spec")].into_iter().chain(path).collect(), value)
        });
        found.extend(below);
    }
    let at = |path: &[Step]| {
        path.iter().try_fold(spec, |value, step| match step {
            Step::Key(key) => value.get(key),
            Step::Index(at) => value.get(at),
        })
    };
    for path in places {
        if let Some(value) = at(&path).filter(|value| without_defaults((*value).clone()) != **value)
        {
            found.push((path, value.clone()));
        }
    }
    found
}

impl Body {
    /// The tenant: the namespace, or `default`.
    pub(super) fn tenant(&self) -> &str {
        self.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE)
    }

    /// The canonical form: what the facts digest is taken of.
    pub(super) fn canonical(&self) -> Value {
        let spec = self.spec.to_value();
        let (spec, as_written) = match self.spec.kind() {
            // What is empty in a patch is not the same as nothing.
            Kind::OverridePolicy => (Value::Null, Some(spec)),
            _ => (spec, None),
        };
        let kept = empty_parameters(&spec);
        let mut canonical = without_defaults(json!({
            "kind": self.spec.kind().name(),
            "name": self.name,
            "namespace": self.namespace,
            "labels": self.labels,
            "annotations": self.annotations,
            "spec": spec,
        }));
        for (path, value) in kept {
            let place = path.iter().fold(&mut canonical["spec"], |place, step| match step {
                Step::Key(key) => &mut place[key],
                Step::Index(at) => &mut place[at],
            });
            *place = value;
        }
        if let Some(spec) = as_written {
            canonical["spec"] = spec;
        }
        canonical
    }

    /// The digest of the canonical form as it is now.
    pub(super) fn canonical_digest(&self) -> Digest {
        Digest::of(canonical_json(&self.canonical()).as_bytes())
    }

    /// What a canonical form says; `None` where it cannot be read back.
    fn from_canonical(kind: Kind, value: Value, digest: Digest) -> Option<Self> {
        let parts = Canonical::deserialize(value).ok()?;
        let spec = if parts.spec.is_null() { json!({}) } else { parts.spec };
        Some(Self {
            name: parts.name,
            namespace: parts.namespace,
            labels: parts.labels,
            annotations: parts.annotations,
            spec: DocumentSpec::decode(kind, spec).ok()?,
            digest,
        })
    }
}

/// The item that the memo kept; `None` where the memo cannot be believed.
pub(super) fn remembered(fact: &Fact, source: DocumentSource) -> Option<Item> {
    let kind = Kind::named(&fact.kind)?;
    let value = serde_json::from_str(&fact.value).ok()?;
    let body = Body::from_canonical(kind, value, fact.digest)?;
    Some(Item {
        findings: Findings::of(source),
        kind: Some(fact.kind.clone()),
        name: Some(fact.name.clone()),
        steers_placement: kind.steers_placement(),
        may_override: kind == Kind::OverridePolicy,
        body: Some(body),
        fact: None,
    })
}

/// Reads one document.
pub(super) fn read(chunk: Chunk<'_>, source: DocumentSource, root: Root) -> Item {
    let mut findings = Findings::of(source);
    let value = match yaml::parse::<Value>(chunk.text) {
        Ok(value) => value,
        Err(fault) => return guess_identity::item(chunk, findings, &fault, root),
    };
    let kind = text_at(&value, &["kind"]);
    let name = text_at(&value, &["metadata", "name"]);
    let is_short = short::is_short(&value);
    let body = body(value, chunk, root, &mut findings);
    if is_short {
        short::as_written(&mut findings.list);
    }
    let (body, fact) = body.map_or((None, None), |(body, fact)| (Some(body), fact));
    let steers_placement = match kind.as_deref().and_then(Kind::named) {
        Some(kind) => kind.steers_placement(),
        None => guess_identity::may_steer_placement(chunk.text, kind.as_deref(), root),
    };
    let may_override = guess_identity::may_override(kind.as_deref(), root);
    Item { findings, kind, name, steers_placement, may_override, body, fact }
}

fn text_at(value: &Value, path: &[&str]) -> Option<String> {
    path.iter().try_fold(value, |v, key| v.get(key))?.as_str().map(str::to_owned)
}

fn body(
    value: Value,
    chunk: Chunk<'_>,
    root: Root,
    out: &mut Findings,
) -> Option<(Body, Option<Fact>)> {
    let Value::Object(mut document) = value else {
        let message = "the document is not a mapping";
        let help = "a document has `apiVersion`, `kind`, `metadata` and `spec`";
        out.add(Code::WrongType, FieldPath::default(), message, help);
        return None;
    };
    let mut opened = envelope::open(&mut document, root, out);
    let written = |path: &FieldPath| locate::written(chunk, path);
    let kind_name = opened.kind.map_or("document", Kind::name);
    if let Some(kind) = opened.kind {
        short::expand(kind, opened.api, &mut opened.spec, out);
    }
    let mut walk = StructureWalk { kind: kind_name, written: &written, findings: out };
    walk_part(&mut walk, Shape::of_metadata(), &opened.metadata, "metadata", &opened.slips);
    let kind = opened.kind?;
    walk_part(&mut walk, Shape::of_spec(kind), &opened.spec, "spec", &opened.slips);
    empty_safeguard::check(kind, &opened.spec, out);
    if out.has_errors() {
        let (body, _) = decode(kind, mended(opened, out)).ok()?;
        return Some((body, None));
    }
    match decode(kind, opened) {
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
    part: &str,
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

/// The body, and the text of its canonical form where it can be read back from that.
fn decode(kind: Kind, opened: Envelope) -> Result<(Body, Option<String>), serde_json::Error> {
    let mut parts = match without_nulls(opened.metadata, None) {
        Value::Object(parts) => parts,
        _ => Map::new(),
    };
    parts.insert("spec".to_owned(), without_nulls(opened.spec, Some(Shape::of_spec(kind))));
    if parts.get("namespace").is_some_and(|n| n == DEFAULT_NAMESPACE) {
        parts.remove("namespace");
    }
    let written = Canonical::deserialize(Value::Object(parts))?;
    let mut body = Body {
        name: written.name,
        namespace: written.namespace,
        labels: written.labels,
        annotations: written.annotations,
        spec: DocumentSpec::decode(kind, written.spec)?,
        digest: Digest::of(b""),
    };
    if kind == Kind::Fleet {
        // It is read each time, and a grant that is empty is another than one that is not there.
        return Ok((body, None));
    }
    let canonical = body.canonical();
    let text = canonical_json(&canonical);
    body.digest = Digest::of(text.as_bytes());
    // What is used is always what the canonical form says, so that a run with a memo and one without
    // cannot differ.
    Ok(match Body::from_canonical(kind, canonical, body.digest) {
        Some(again) => (again, Some(text)),
        None => (body, None),
    })
}

/// The value without nulls, but where the shape takes what is written.
fn without_nulls(value: Value, shape: Option<&Shape>) -> Value {
    match (shape, value) {
        (Some(Shape::AsWritten | Shape::MappingAsWritten), value) => value,
        (shape, Value::Object(map)) => {
            let below = |key: &str| match shape? {
                Shape::Object { fields, .. } => fields.get(key),
                Shape::Map(inner) => Some(&**inner),
                _ => None,
            };
            let kept = map.into_iter().filter(|(_, v)| !v.is_null());
            Value::Object(
                kept.map(|(k, v)| {
                    let shape = below(&k);
                    (k, without_nulls(v, shape))
                })
                .collect(),
            )
        }
        (shape, Value::Array(items)) => {
            let below = match shape {
                Some(Shape::List(inner)) => Some(&**inner),
                _ => None,
            };
            Value::Array(items.into_iter().map(|item| without_nulls(item, below)).collect())
        }
        (_, scalar) => scalar,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{POLICY, class, cluster, finds, load_fleet, loads};
    use super::*;

    fn facts(files: &[(&str, &str)]) -> Vec<(String, Digest)> {
        let loaded = load_fleet(files);
        assert!(loaded.fleet.unloaded.is_empty(), "{:?}", loaded.diagnostics);
        loaded.fleet.clusters.iter().map(|(n, c)| (n.to_string(), c.facts)).collect()
    }

    #[test]
    fn how_a_document_is_written_makes_no_difference() {
        let plain = cluster("replicas: 3\n  ");
        let other = cluster("").replace("pay-eu", "pay-us");
        let two = format!("{plain}---\n{other}");
        let expected = facts(&[("fleet/a.yaml", &two)]);
        let swapped = format!("# hello\n---\n{other}...\n---\n{plain}");
        let flow = "{kind: ManagedCluster, apiVersion: carp.dev/v1alpha1, spec: {paused: false, \
                    location: westeurope, nodePools: [{labels: {}, name: np0, replicas: 3}], \
                    version: 'v1.34.2', network: {}}, metadata: {labels: {tier: gold}, \
                    namespace: shop, name: pay-eu}} # the same\n";
        let crlf = format!("\u{feff}{}", plain.replace('\n', "\r\n"));
        for (first, second) in [(&swapped, ""), (&plain, &*other), (&crlf, &*other)] {
            let files = [("fleet/x/b.yml", &**first), ("fleet/c.yaml", second)];
            let files = if second.is_empty() { &files[..1] } else { &files[..] };
            assert_eq!(facts(files), expected);
        }
        assert_eq!(facts(&[("fleet/f.yaml", flow), ("fleet/o.yaml", &other)]), expected);
    }

    #[test]
    fn what_a_document_says_makes_one() {
        let plain = loads(cluster("")).clusters["pay-eu"].facts;
        for other in [cluster("paused: true\n  "), cluster("").replace("gold", "iron")] {
            assert_ne!(loads(other).clusters["pay-eu"].facts, plain);
        }
    }

    #[test]
    fn the_default_namespace_may_be_written_or_not() {
        let written = loads(cluster("").replace("shop", "default"));
        let absent = loads(cluster("").replace("  namespace: shop\n", ""));
        assert_eq!(written.clusters["pay-eu"].facts, absent.clusters["pay-eu"].facts);
        assert_eq!(absent.clusters["pay-eu"].tenant, "default");
    }

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
