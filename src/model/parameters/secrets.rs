//! Secrets that parameters name (`x-carp-secret`): people make them beside the objects, before these.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ParameterSchema, ParameterType};
use crate::diag::FieldPath;

/// That a value names a Secret: a text is its name; an object has its name in `name`, and in `key` the key in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretNamed {
    /// The key that it must have; for texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl SecretNamed {
    /// What in it can mean nothing.
    pub(super) fn wrong(&self, schema: &ParameterSchema, at: &FieldPath) -> Option<String> {
        let has = |field: &str| schema.properties.contains_key(field);
        match schema.kind {
            Some(ParameterType::String) if self.key.is_some() => None,
            Some(ParameterType::Object) if self.key.is_none() && has("name") && has("key") => None,
            _ => Some(format!(
                "`{at}`: `x-carp-secret` has a `key` and is for a text, or has none and is for an object of `name` and \
                 `key`"
            )),
        }
    }
}

/// A Secret that parameters name: the keys that are read of it, and where each is said.
pub type NamedSecrets = BTreeMap<String, BTreeMap<String, BTreeSet<FieldPath>>>;

impl ParameterSchema {
    /// Adds the Secrets that a value names which stands at a place.
    pub fn secrets(&self, value: &Value, at: &FieldPath, all: &mut NamedSecrets) {
        if let Some(named) = &self.secret {
            let text = |field: &str| value.get(field).and_then(Value::as_str);
            let (name, key) = match &named.key {
                Some(key) => (value.as_str(), Some(key.as_str())),
                None => (text("name"), text("key")),
            };
            // What can be no Secret is none: these stand in commands that people are told to run.
            let can_be = |(name, key): &(&str, &str)| is_subdomain(name) && is_key(key);
            if let Some((name, key)) = name.zip(key).filter(can_be) {
                let keys = all.entry(name.to_owned()).or_default();
                keys.entry(key.to_owned()).or_default().insert(at.clone());
            }
        }
        for (name, value) in value.as_object().into_iter().flatten() {
            let schema = self.properties.get(name).or(self.additional_properties.as_deref());
            if let Some(schema) = schema {
                schema.secrets(value, &at.key(name), all);
            }
        }
        for (nth, item) in value.as_array().into_iter().flatten().enumerate() {
            if let Some(schema) = &self.items {
                schema.secrets(item, &at.index(nth), all);
            }
        }
    }
}

/// Whether a text is of the form that names of Secrets have (`IsDNS1123Subdomain` of apimachinery, less strict about dots).
fn is_subdomain(text: &str) -> bool {
    let inner =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    let outer =
        |byte: Option<char>| byte.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    text.len() <= 253
        && text.bytes().all(inner)
        && outer(text.chars().next())
        && outer(text.chars().last())
}

/// Whether a text is of the form that keys of Secrets have (`IsConfigMapKey` of apimachinery).
fn is_key(text: &str) -> bool {
    let byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    (1..=253).contains(&text.len()) && text.bytes().all(byte)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_can_be_no_secret_is_in_no_command() {
        let schema = json!({"type": "object", "x-carp-secret": {}, "properties": {
            "name": {"type": "string"}, "key": {"type": "string"}}});
        let schema: ParameterSchema = serde_json::from_value(schema).unwrap();
        let found = |name: &str, key: &str| {
            let mut all = NamedSecrets::new();
            schema.secrets(&json!({"name": name, "key": key}), &FieldPath::keys("p"), &mut all);
            all.len()
        };
        assert_eq!(found("registry.a-1", "config.json"), 1);
        for (name, key) in [
            ("x; touch here; echo", "a"),
            ("x", "$(touch here)"),
            ("-x", "a"),
            ("x\n", "a"),
            ("", "a"),
            ("x", ""),
            ("x", "a b"),
        ] {
            assert_eq!(found(name, key), 0, "{name:?} {key:?}");
        }
    }

    #[test]
    fn every_secret_is_found_with_its_keys() {
        let reference = json!({"type": "object", "x-carp-secret": {}, "properties": {
            "name": {"type": "string"}, "key": {"type": "string"}}});
        let schema: ParameterSchema = serde_json::from_value(json!({"type": "object", "properties": {
            "encryption": {"type": "string", "x-carp-secret": {"key": "e.yaml"}},
            "files": {"type": "array", "items": {"type": "object", "properties": {"from": reference}}},
            "by": {"type": "object", "additionalProperties": reference},
        }}))
        .unwrap();
        assert_eq!(schema.nonsense(), None);
        let value = json!({
            "encryption": "keys",
            "files": [{}, {"from": {"name": "keys", "key": "x"}}, {"from": {"name": "keys", "key": "x"}}],
            "by": {"a": {"name": "other", "key": "y"}},
        });
        let mut all = NamedSecrets::new();
        schema.secrets(&value, &FieldPath::keys("p"), &mut all);
        let shown = |paths: &BTreeSet<FieldPath>| {
            paths.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        let lines = all.iter().flat_map(|(name, keys)| {
            keys.iter().map(move |(key, paths)| format!("{name}/{key}: {}", shown(paths)))
        });
        assert_eq!(
            lines.collect::<Vec<_>>(),
            [
                "keys/e.yaml: p.encryption",
                "keys/x: p.files[1].from p.files[2].from",
                "other/y: p.by.a"
            ]
        );
    }

    #[test]
    fn the_word_is_for_what_names_one() {
        for (schema, fine) in [
            (json!({"type": "string", "x-carp-secret": {"key": "a"}}), true),
            (json!({"type": "string", "x-carp-secret": {}}), false),
            (json!({"type": "integer", "x-carp-secret": {"key": "a"}}), false),
            (json!({"type": "object", "x-carp-secret": {}}), false),
        ] {
            let whole = json!({"type": "object", "properties": {"p": schema}});
            let whole: ParameterSchema = serde_json::from_value(whole).unwrap();
            assert_eq!(whole.nonsense().is_none(), fine, "{whole:?}");
        }
    }
}
