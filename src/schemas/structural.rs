//! A structural schema, as a `CustomResourceDefinition` has it, and values held against it.
//! (Kubernetes, `k8s.io/apiextensions-apiserver/pkg/apiserver/schema`.)

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// What a schema may say of values; all else is prose, is looked at elsewhere, or means nothing in a structural
/// schema. `$ref` above all: nothing of a definition is fetched from anywhere.
const SAYS: [&str; 16] = [
    "type",
    "enum",
    "pattern",
    "required",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "const",
];
/// What besides is looked at by what is not JSON Schema.
const READ: [&str; 9] = [
    "properties",
    "items",
    "additionalProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "default",
    "nullable",
];

/// How strict a schema is about fields that it does not name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Strict {
    /// An object of its own: `apiVersion`, `kind` and `metadata` are allowed besides.
    Object,
    /// A part: only what is named.
    Part,
    /// Below `anyOf` and the like, which only judge values.
    Never,
}

/// The schema without what is for people, or means nothing.
pub(super) fn without_prose(schema: &Value) -> Value {
    let Some(schema) = schema.as_object() else { return schema.clone() };
    let is_read =
        |key: &str| SAYS.contains(&key) || READ.contains(&key) || key.starts_with("x-kubernetes-");
    let kept = schema.iter().filter(|(key, _)| is_read(key));
    kept.map(|(key, value)| (key.clone(), inner(key, value, &without_prose))).collect()
}

/// The value of a key of a schema, the schemas in it changed.
fn inner(key: &str, value: &Value, change: &dyn Fn(&Value) -> Value) -> Value {
    match (key, value) {
        ("properties", Value::Object(all)) => {
            all.iter().map(|(name, schema)| (name.clone(), change(schema))).collect()
        }
        ("items" | "additionalProperties" | "not", schema) => change(schema),
        ("anyOf" | "oneOf" | "allOf", Value::Array(all)) => all.iter().map(change).collect(),
        (_, value) => value.clone(),
    }
}

/// A structural schema as JSON Schema (2020-12).
pub(super) fn converted(schema: &Value, strict: Strict) -> Value {
    let Some(schema) = schema.as_object() else { return schema.clone() };
    let is = |key: &str| schema.get(key) == Some(&Value::Bool(true));
    let strict = if is("x-kubernetes-embedded-resource") { Strict::Object } else { strict };
    let part = if strict == Strict::Never { Strict::Never } else { Strict::Part };
    let mut out = Map::new();
    for (key, value) in schema {
        let to = match key.as_str() {
            "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => continue,
            "anyOf" if is("x-kubernetes-int-or-string") => continue,
            "properties" | "items" | "additionalProperties" => part,
            "anyOf" | "oneOf" | "allOf" | "not" => Strict::Never,
            key if SAYS.contains(&key) => part,
            _ => continue,
        };
        out.insert(key.clone(), inner(key, value, &|schema| converted(schema, to)));
    }
    exclusive(schema, &mut out);
    types(schema, &mut out);
    let open = is("x-kubernetes-preserve-unknown-fields") || strict == Strict::Never;
    if schema.contains_key("properties") && !schema.contains_key("additionalProperties") && !open {
        out.insert("additionalProperties".to_owned(), json!(false));
    }
    if strict == Strict::Object
        && let Some(properties) = out.get_mut("properties").and_then(Value::as_object_mut)
    {
        for key in ["apiVersion", "kind", "metadata"] {
            properties.insert(key.to_owned(), json!({}));
        }
    }
    Value::Object(out)
}

/// Bounds that are said the old way: `minimum` with `exclusiveMinimum: true`.
fn exclusive(schema: &Map<String, Value>, out: &mut Map<String, Value>) {
    for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if schema.get(flag) == Some(&Value::Bool(true))
            && let Some(value) = out.remove(bound)
        {
            out.insert(flag.to_owned(), value);
        }
    }
}

fn types(schema: &Map<String, Value>, out: &mut Map<String, Value>) {
    let is = |key: &str| schema.get(key) == Some(&Value::Bool(true));
    if is("x-kubernetes-int-or-string") {
        out.insert("type".to_owned(), json!(["integer", "string"]));
    }
    if is("nullable")
        && let Some(Value::String(one)) = out.get("type").cloned()
    {
        out.insert("type".to_owned(), json!([one, "null"]));
    }
}

/// The schema of a field, or of any other.
fn of_field<'a>(schema: &'a Value, field: &str) -> &'a Value {
    schema["properties"].get(field).unwrap_or(&schema["additionalProperties"])
}

/// The value without null members, which an API server drops where the schema does not allow them.
pub(super) fn without_nulls(schema: &Value, value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .map(|(field, value)| (field, value, of_field(schema, field)))
            .filter(|(_, value, of)| !value.is_null() || of["nullable"] == true)
            .map(|(field, value, of)| (field.clone(), without_nulls(of, value)))
            .collect(),
        Value::Array(items) => {
            items.iter().map(|item| without_nulls(&schema["items"], item)).collect()
        }
        scalar => scalar.clone(),
    }
}

/// Where a list of type `map` or `set` has an item twice, which JSON Schema cannot say.
pub(super) fn repeated(schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (field, value) in map {
                repeated(of_field(schema, field), value, &format!("{path}/{field}"), found);
            }
        }
        Value::Array(items) => {
            let keys = schema["x-kubernetes-list-map-keys"].as_array();
            let kind = schema["x-kubernetes-list-type"].as_str().unwrap_or_default();
            let identity = |item: &Value| match keys {
                Some(keys) => {
                    let key = |key: &Value| item[key.as_str().unwrap_or_default()].to_string();
                    keys.iter().map(key).collect::<Vec<_>>()
                }
                None => vec![item.to_string()],
            };
            let different = || items.iter().map(identity).collect::<BTreeSet<_>>().len();
            if matches!(kind, "map" | "set") && different() != items.len() {
                found.push(path.to_owned());
            }
            for (at, item) in items.iter().enumerate() {
                repeated(&schema["items"], item, &format!("{path}/{at}"), found);
            }
        }
        _ => {}
    }
}

/// The objects that stand in a value where its schema takes anything, each with its place.
pub(super) fn embedded<'v>(
    schema: &Value,
    value: &'v Value,
    path: &str,
    found: &mut Vec<(String, &'v Value)>,
) {
    let is = |key: &str| schema[key] == true;
    let is_open =
        is("x-kubernetes-preserve-unknown-fields") || is("x-kubernetes-embedded-resource");
    let is_object = value["apiVersion"].is_string() && value["kind"].is_string();
    if is_open && is_object && !path.is_empty() {
        found.push((path.to_owned(), value));
        return;
    }
    match value {
        Value::Object(map) => {
            for (field, value) in map {
                embedded(of_field(schema, field), value, &format!("{path}/{field}"), found);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                embedded(&schema["items"], item, &format!("{path}/{at}"), found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_goes_and_fields_that_are_called_so_stay() {
        let schema = json!({
            "description": "text",
            "properties": {"description": {"type": "string", "description": "text"}},
        });
        let bare = json!({"properties": {"description": {"type": "string"}}});
        assert_eq!(without_prose(&schema), bare);
    }

    #[test]
    fn nothing_that_would_be_fetched_is_left() {
        let schema = json!({
            "$ref": "file:///etc/passwd", "$id": "http://example.com", "$schema": "x",
            "properties": {"a": {"$ref": "http://example.com/x"}, "$ref": {"type": "string"}},
            "anyOf": [{"$dynamicRef": "#x"}],
        });
        let expected = json!({
            "properties": {
                "a": {}, "$ref": {"type": "string"}, "apiVersion": {}, "kind": {}, "metadata": {},
            },
            "anyOf": [{}],
            "additionalProperties": false,
        });
        assert_eq!(converted(&schema, Strict::Object), expected);
    }

    #[test]
    fn old_bounds_and_nullable_types_are_as_a_server_reads_them() {
        let schema =
            json!({"type": "integer", "nullable": true, "minimum": 1, "exclusiveMinimum": true});
        let expected = json!({"type": ["integer", "null"], "exclusiveMinimum": 1});
        assert_eq!(converted(&schema, Strict::Part), expected);
    }

    #[test]
    fn an_object_in_an_object_is_found_where_anything_may_stand() {
        let open = json!({"x-kubernetes-preserve-unknown-fields": true});
        let schema = json!({"properties": {"resources": {"items": open}, "shut": {}}});
        let one = json!({"apiVersion": "g/v1", "kind": "A"});
        let value = json!({"resources": [one, {"a": 1}], "shut": one});
        let mut found = Vec::new();
        embedded(&schema, &value, "", &mut found);
        assert_eq!(found, [("/resources/0".to_owned(), &one)]);
    }
}
