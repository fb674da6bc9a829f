//! JSON Schemas of the kinds, for editors: what the loader reads, short forms included, and nothing else.

use serde_json::{Map, Value, json};

use super::fields::{KindSchema, kinds};
use crate::model::api::KIND_CLUSTER_GROUP;

/// Where the schema of all kinds lies in a repository that `carp init` wrote.
pub const SCHEMA_FILE: &str = ".carp/schema.json";

/// The kinds that people write in a fleet repository.
fn written() -> impl Iterator<Item = KindSchema> {
    kinds().into_iter().filter(|kind| !kind.api_version().starts_with(KIND_CLUSTER_GROUP))
}

/// Their names.
#[must_use]
pub fn kinds_written() -> Vec<String> {
    written().map(|kind| kind.kind).collect()
}

/// A schema as it is printed, with a final newline.
#[must_use]
pub fn text(schema: &Value) -> String {
    format!("{schema:#}\n")
}

/// The schema of every document of a fleet repository, whatever its kind.
#[must_use]
pub fn all() -> Value {
    let kinds: Vec<KindSchema> = written().collect();
    let names: Vec<&str> = kinds.iter().map(|kind| kind.kind.as_str()).collect();
    let each = kinds.iter().map(|kind| {
        json!({
            "if": {"properties": {"kind": {"const": kind.kind}}, "required": ["kind"]},
            "then": {"$ref": format!("#/$defs/{}", kind.kind)},
        })
    });
    let definitions: Map<String, Value> =
        kinds.iter().map(|kind| (kind.kind.clone(), document(kind))).collect();
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A document of a carp fleet",
        "type": "object",
        "required": ["apiVersion", "kind", "metadata"],
        "properties": {"kind": {"enum": names}},
        "allOf": each.collect::<Vec<_>>(),
        "$defs": definitions,
    })
}

/// The schema of one kind's documents; `None` for a kind that nobody writes in a fleet.
#[must_use]
pub fn one(kind: &str) -> Option<Value> {
    let wanted = KindSchema::of_word(kind)?;
    let kind = written().find(|kind| kind.kind == wanted.kind)?;
    let mut schema = document(&kind);
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!(kind.kind);
    Some(schema)
}

fn document(kind: &KindSchema) -> Value {
    let mut spec = kind.schema["properties"]["spec"].clone();
    short_forms(&kind.kind, &mut spec);
    strict(&mut spec);
    json!({
        "description": kind.schema["description"],
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "additionalProperties": false,
        "properties": {
            "apiVersion": {"const": kind.api_version()},
            "kind": {"const": kind.kind},
            "metadata": metadata(),
            "spec": spec,
        },
    })
}

fn metadata() -> Value {
    let text = json!({"type": "object", "additionalProperties": {"type": "string"}});
    json!({
        "type": "object",
        "required": ["name"],
        "additionalProperties": false,
        "properties": {
            "name": {"type": "string", "maxLength": 253},
            "namespace": {"type": "string", "description": "The tenant, of a ManagedCluster."},
            "labels": text,
            "annotations": text,
        },
    })
}

/// Lets in what the loader reads besides the canonical form.
fn short_forms(kind: &str, spec: &mut Value) {
    match kind {
        "ManagedCluster" | "Worker" => {
            let description = "Short form of one pool called `np0` with so many nodes.";
            spec["properties"]["replicas"] =
                json!({"type": "integer", "minimum": 0, "description": description});
        }
        "WorkerPool" => {
            short_forms("Worker", &mut spec["properties"]["template"]["properties"]["spec"]);
        }
        "PlacementPolicyTest" => {
            for (field, of) in [("clusters", "ManagedCluster"), ("workers", "Worker")] {
                let inner = &mut spec["properties"][field]["items"]["properties"]["spec"];
                if inner.is_object() {
                    short_forms(of, inner);
                }
            }
        }
        _ => {}
    }
    if !matches!(kind, "Worker" | "WorkerOverlay") {
        return;
    }
    for field in ["capacity", "reserved", "ceiling"] {
        if spec["properties"].get(field).is_none() {
            continue;
        }
        let long = spec["properties"][field].take();
        let short = json!({"type": ["integer", "string"], "description": "A number of clusters."});
        spec["properties"][field] = either(long, short);
    }
    let long = spec["properties"]["drain"].take();
    spec["properties"]["drain"] = either(long, json!({"type": "boolean"}));
}

fn either(long: Value, short: Value) -> Value {
    let description = long["description"].clone();
    json!({"description": description, "anyOf": [long, short]})
}

/// Refuses fields that do not exist, and says in JSON Schema what is said in `OpenAPI`.
fn strict(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            let nullable = map.remove("nullable") == Some(Value::Bool(true));
            if map.remove("x-kubernetes-preserve-unknown-fields").is_some() {
                return;
            }
            if map.remove("x-kubernetes-int-or-string").is_some() {
                map.insert("type".to_owned(), json!(["integer", "string"]));
            } else if let Some(Value::String(one)) = map.get("type").filter(|_| nullable) {
                let types = json!([one, "null"]);
                map.insert("type".to_owned(), types);
                if let Some(Value::Array(words)) = map.get_mut("enum").filter(|_| nullable) {
                    words.push(Value::Null);
                }
            }
            // `format: uint32` is Kubernetes' own, and editors warn of it.
            map.remove("format");
            if map.contains_key("properties") && !map.contains_key("additionalProperties") {
                map.insert("additionalProperties".to_owned(), json!(false));
            }
            map.values_mut().for_each(strict);
        }
        Value::Array(all) => all.iter_mut().for_each(strict),
        _ => {}
    }
}
