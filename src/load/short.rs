//! Short forms, and the original prototype's manifests, made into the canonical form.

use serde_json::{Map, Value, json};

use super::envelope::Api;
use super::finding::Findings;
use super::kind::Kind;
use crate::diag::{Code, Diagnostic, FieldPath};

/// The name of the pool that `replicas: 3` stands for.
const DEFAULT_POOL: &str = "np0";

/// Whether a document says `replicas` for its one pool.
pub(super) fn is_short(document: &Value) -> bool {
    let given = |field: &str| document.pointer(field).is_some_and(|value| !value.is_null());
    given("/spec/replicas") && !given("/spec/nodePools")
}

/// Findings on what `replicas` stands for, made findings on what is written.
pub(super) fn as_written(findings: &mut [Diagnostic]) {
    let long = FieldPath::keys("spec.nodePools").index(0).key("replicas");
    let short = FieldPath::keys("spec.replicas");
    for finding in findings {
        if let Some(field) = finding.place.as_mut().and_then(|p| p.field.as_mut())
            && *field == long
        {
            finding.message = finding.message.replace(&long.to_string(), &short.to_string());
            *field = short.clone();
        }
    }
}

/// Expands the short forms of a `spec`. What is wrong in them is found in the canonical form.
pub(super) fn expand(kind: Kind, api: Api, spec: &mut Value, out: &mut Findings) {
    let Value::Object(fields) = spec else { return };
    if kind == Kind::WorkerPool {
        if let Some(template) = fields.get_mut("template").and_then(|t| t.get_mut("spec")) {
            expand(Kind::Worker, api, template, out);
        }
        return;
    }
    if matches!(kind, Kind::ManagedCluster | Kind::Worker) {
        if api == Api::Old {
            old_version(fields, out);
        }
        replicas(fields, out);
    }
    if matches!(kind, Kind::Worker | Kind::WorkerOverlay) {
        for field in ["capacity", "reserved", "ceiling"] {
            number_of_clusters(fields, field);
        }
        drain(fields);
    }
    if kind == Kind::PlacementPolicyTest {
        nested(fields, "clusters", Kind::ManagedCluster, out);
        nested(fields, "workers", Kind::Worker, out);
    }
}

/// `drain: true` and `drain: false`.
fn drain(fields: &mut Map<String, Value>) {
    match fields.get_mut("drain") {
        Some(drain @ Value::Bool(true)) => *drain = json!({"enabled": true}),
        Some(drain @ Value::Bool(false)) => *drain = json!({"enabled": false}),
        _ => {}
    }
}

/// The short forms of the objects that a test gives.
fn nested(fields: &mut Map<String, Value>, field: &str, kind: Kind, out: &mut Findings) {
    let Some(Value::Array(objects)) = fields.get_mut(field) else { return };
    for (i, object) in objects.iter_mut().enumerate() {
        let Some(spec) = object.get_mut("spec") else { continue };
        let mut found = Findings::of(out.source.clone());
        expand(kind, Api::Current, spec, &mut found);
        let parent = FieldPath::keys("spec").key(field).index(i);
        out.list.extend(found.list.into_iter().map(|finding| below(finding, &parent)));
    }
}

/// A finding on an object that stands in another one, at `parent` of that.
pub(super) fn below(mut finding: Diagnostic, parent: &FieldPath) -> Diagnostic {
    if let Some(place) = &mut finding.place {
        let inner = place.field.take().unwrap_or_default();
        place.field = Some(FieldPath(parent.0.iter().cloned().chain(inner.0).collect()));
    }
    finding
}

fn replicas(fields: &mut Map<String, Value>, out: &mut Findings) {
    let Some(replicas) = fields.remove("replicas").filter(|r| !r.is_null()) else { return };
    if fields.get("nodePools").is_some_and(|pools| !pools.is_null()) {
        let path = FieldPath::keys("spec.replicas");
        let message = "`replicas` and `nodePools` stand together";
        let help =
            format!("keep one: `replicas` is the short form of one pool called `{DEFAULT_POOL}`");
        out.add_on_key(Code::InvalidNodePool, path, message, help);
        return;
    }
    let pools = json!([{ "name": DEFAULT_POOL, "replicas": replicas }]);
    fields.insert("nodePools".to_owned(), pools);
}

fn number_of_clusters(fields: &mut Map<String, Value>, field: &str) {
    if let Some(amount) = fields.get_mut(field)
        && !matches!(amount, Value::Object(_) | Value::Array(_) | Value::Null)
    {
        *amount = json!({ "clusters": amount.take() });
    }
}

fn old_version(fields: &mut Map<String, Value>, out: &mut Findings) {
    if let Some(Value::String(version)) = fields.get_mut("version")
        && version.starts_with(|c: char| c.is_ascii_digit())
    {
        let path = FieldPath::keys("spec.version");
        let message = format!("`{version}` has no leading `v` and is read as `v{version}`");
        out.add(Code::OldGroup, path, message, format!("write `version: v{version}`"));
        version.insert(0, 'v');
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cluster, finds, load_fleet, loads, worker};
    use super::*;
    use crate::model::Quantity;

    #[test]
    fn a_number_of_replicas_is_one_pool() {
        let short = loads(cluster("replicas: 3\n  "));
        let long = loads(cluster("nodePools: [{name: np0, replicas: 3}]\n  "));
        assert_eq!(short.clusters["pay-eu"].spec, long.clusters["pay-eu"].spec);
        assert_eq!(short.clusters["pay-eu"].facts, long.clusters["pay-eu"].facts);
    }

    #[test]
    fn both_forms_together_are_a_finding() {
        let text = cluster("replicas: 3\n  nodePools: [{name: a, replicas: 1}]\n  ");
        finds(text, Code::InvalidNodePool, "spec.replicas");
    }

    #[test]
    fn a_number_is_a_number_of_clusters() {
        let short = loads(worker("capacity: 50\n  reserved: 5\n  "));
        let long = loads(worker("capacity: {clusters: 50}\n  reserved: {clusters: 5}\n  "));
        assert_eq!(short.workers["w1"].facts, long.workers["w1"].facts);
        assert_eq!(short.workers["w1"].spec.capacity["clusters"], Quantity::units(50));
        finds(worker("capacity: true\n  "), Code::WrongType, "spec.capacity.clusters");
    }

    #[test]
    fn a_drain_is_said_in_one_word() {
        let short = loads(worker("drain: true\n  "));
        let long = loads(worker("drain: {enabled: true}\n  "));
        assert_eq!(short.workers["w1"].facts, long.workers["w1"].facts);
        assert!(short.workers["w1"].spec.is_draining());
        assert!(!loads(worker("drain: false\n  ")).workers["w1"].spec.is_draining());
        assert_eq!(
            loads(worker("drain: {maxUnavailable: 3}\n  ")).workers["w1"].spec.max_unavailable(),
            3
        );
        finds(worker("drain: soon\n  "), Code::WrongType, "spec.drain");
        finds(
            worker("drain: {maxUnavailable: 0}\n  "),
            Code::InvalidValue,
            "spec.drain.maxUnavailable",
        );
    }

    #[test]
    fn the_prototypes_manifests_load_with_a_warning() {
        let old = |kind: &str, name: &str, more: &str| {
            format!(
                "apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1\nkind: {kind}\nmetadata:\n  \
                 name: {name}\nspec:\n  version: 1.34.2\n  location: westeurope\n  replicas: 3\n{more}"
            )
        };
        let text = format!(
            "{}---\n{}",
            old("Worker", "w1", "  capacity: 50\n"),
            old("ManagedCluster", "old", "")
        );
        let loaded = load_fleet(&[("fleet/old.yaml", &text)]);
        assert!(!loaded.diagnostics.has_errors(), "{:?}", loaded.diagnostics);
        assert_eq!(loaded.fleet.clusters["old"].spec.version, "v1.34.2");
        assert_eq!(loaded.fleet.workers["w1"].spec.capacity["clusters"], Quantity::units(50));
        let codes: Vec<_> = loaded.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, [Code::OldGroup; 4]);
        finds(&text, Code::OldGroup, "apiVersion");
    }
}
