//! What a document says, and its canonical form: what is taken for the same, however it is written.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::envelope::Envelope;
use super::kind::{DocumentSpec, Kind};
use super::shape::Shape;
use crate::diag::Step;
use crate::model::{Digest, SharedMap, canonical_json, without_defaults};

/// What a document says.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) labels: SharedMap<String>,
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) spec: DocumentSpec,
    /// The digest of the canonical form.
    pub(super) digest: Digest,
}

/// What a document says, its `labels` and its `spec` as text, as values or of their own types.
#[derive(Deserialize)]
pub(super) struct Canonical<L, S> {
    pub(super) name: String,
    #[serde(default)]
    pub(super) namespace: Option<String>,
    pub(super) labels: Option<L>,
    #[serde(default)]
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) spec: Option<S>,
}

/// The namespace of a document that names none.
pub(super) const DEFAULT_NAMESPACE: &str = "default";

/// The parameters of a flavor in a `spec` and in its pools that hold something empty, which is another than none:
/// it may be the flavor that says more by default.
fn empty_parameters(spec: &Value) -> Vec<(Vec<Step>, Value)> {
    let key = |name: &'static str| Step::Key(name.into());
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
            Step::Key(key) => value.get(&**key),
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

/// The selectors of tenants in rules, which select all where they are empty: without one a rule is about one tenant at a
/// time.
fn tenant_selectors(spec: &Value) -> Vec<(Vec<Step>, Value)> {
    const FIELD: &str = "tenantSelector";
    let key = |name: &'static str| Step::Key(name.into());
    let mut found = Vec::new();
    for within in [None, Some("placement")] {
        let Some(at) = within.map_or(Some(spec), |field| spec.get(field)) else { continue };
        for list in ["spread", "antiAffinity"] {
            let rules = at.get(list).and_then(Value::as_array).into_iter().flatten();
            for (i, rule) in rules.enumerate() {
                let Some(selector) = rule.get(FIELD) else { continue };
                let rule = [key(list), Step::Index(i), key(FIELD)];
                let path = within.map(key).into_iter().chain(rule).collect();
                found.push((path, selector.clone()));
            }
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
        let kept = empty_parameters(&spec).into_iter().chain(tenant_selectors(&spec));
        let kept: Vec<_> = kept.collect();
        let mut canonical = json!({
            "kind": self.spec.kind().name(),
            "name": self.name,
            "namespace": self.namespace,
            "labels": self.labels,
            "annotations": self.annotations,
        });
        canonical["spec"] = spec;
        let mut canonical = without_defaults(canonical);
        for (path, value) in kept {
            let place = path.iter().fold(&mut canonical["spec"], |place, step| match step {
                Step::Key(key) => &mut place[&**key],
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

    /// What a canonical form says, read straight into its types; `None` where it cannot be read back.
    pub(super) fn from_canonical<'de>(
        kind: Kind,
        from: impl Deserializer<'de>,
        digest: Digest,
    ) -> Option<Self> {
        let parts = Canonical::of_kind(kind, from).ok()?;
        let spec = parts.spec.or_else(|| DocumentSpec::decode(kind, json!({})).ok())?;
        Some(Self {
            name: parts.name,
            namespace: parts.namespace,
            labels: parts.labels.unwrap_or_default(),
            annotations: parts.annotations,
            spec,
            digest,
        })
    }
}

impl Canonical<SharedMap<String>, DocumentSpec> {
    fn of_kind<'de, D: Deserializer<'de>>(kind: Kind, from: D) -> Result<Self, D::Error> {
        match kind {
            Kind::Fleet => Self::of(from, DocumentSpec::Fleet),
            Kind::ManagedCluster => Self::of(from, DocumentSpec::ManagedCluster),
            Kind::Worker => Self::of(from, DocumentSpec::Worker),
            Kind::WorkerOverlay => Self::of(from, DocumentSpec::WorkerOverlay),
            Kind::WorkerPool => Self::of(from, DocumentSpec::WorkerPool),
            Kind::ManagedClusterClass => Self::of(from, DocumentSpec::ManagedClusterClass),
            Kind::PlacementPolicy => Self::of(from, DocumentSpec::PlacementPolicy),
            Kind::PlacementPolicyTest => Self::of(from, DocumentSpec::PlacementPolicyTest),
            Kind::Acknowledgement => Self::of(from, DocumentSpec::Acknowledgement),
            Kind::OverridePolicy => Self::of(from, DocumentSpec::OverridePolicy),
        }
    }

    fn of<'de, S: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
        spec: fn(S) -> DocumentSpec,
    ) -> Result<Self, D::Error> {
        let Canonical { name, namespace, labels, annotations, spec: written } =
            Canonical::<_, S>::deserialize(from)?;
        Ok(Self { name, namespace, labels, annotations, spec: written.map(spec) })
    }
}

/// The body, and the text of its canonical form where it can be read back from that, which `read_back` does.
pub(super) fn decode(
    kind: Kind,
    opened: Envelope,
    read_back: impl FnOnce(&str, Digest) -> Option<Body>,
) -> Result<(Body, Option<String>), serde_json::Error> {
    let mut parts = match without_nulls(opened.metadata, None) {
        Value::Object(parts) => parts,
        _ => Map::new(),
    };
    parts.insert("spec".to_owned(), without_nulls(opened.spec, Some(Shape::of_spec(kind))));
    if parts.get("namespace").is_some_and(|n| n == DEFAULT_NAMESPACE) {
        parts.remove("namespace");
    }
    let written = Canonical::<SharedMap<String>, Value>::deserialize(Value::Object(parts))?;
    let mut body = Body {
        name: written.name,
        namespace: written.namespace,
        labels: written.labels.unwrap_or_default(),
        annotations: written.annotations,
        spec: DocumentSpec::decode(kind, written.spec.unwrap_or_default())?,
        digest: Digest::of(b""),
    };
    if kind == Kind::Fleet {
        // It is read each time, and a grant that is empty is another than one that is not there.
        return Ok((body, None));
    }
    let mut text = canonical_json(&body.canonical());
    text.shrink_to_fit();
    body.digest = Digest::of(text.as_bytes());
    // What is used is always what the canonical form says, so that a run with a memo and one without
    // cannot differ.
    Ok(match read_back(&text, body.digest) {
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
    use super::super::tests::{cluster, load_fleet, loads};
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
}
