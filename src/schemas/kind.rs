//! One version of a kind, compiled: what an object of it must be.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Value, json};

use super::bounds::SchemaSize;
use super::rules::CelRules;
use super::structural::{Strict, converted, embedded, repeated, without_nulls, without_prose};
use super::words;

/// The most faults of an object that are told; the rest is counted.
const MOST_FAULTS: usize = 10;
/// How large an expression may become, in bytes. They are of the kind that takes a time in proportion to the text, as
/// an API server's are.
const MOST_OF_A_PATTERN: usize = 512 * 1024;
/// How often `anyOf` and the like may look at the parts of an object, and fields may be missed in them: each may be a fault
/// of some hundred bytes before any is told.
const MOST_LOOKS: usize = 1_000_000;
/// How many bytes defaults may come to.
const MOST_DEFAULTED: usize = 64 * 1024 * 1024;
/// In how many defaults others may stand.
const NESTED_DEFAULTS: usize = 4;

/// The schema of one version of a kind.
#[derive(Debug)]
pub(super) struct VersionSchema {
    original: Value,
    strict: Validator,
    rules: Option<CelRules>,
    size: SchemaSize,
}

/// What was found of an object.
#[derive(Debug, Default)]
pub(super) struct Checked<'v> {
    /// What is wrong with it.
    pub(super) faults: Vec<String>,
    /// The objects that stand in it, each with its place.
    pub(super) embedded: Vec<(String, &'v Value)>,
}

impl VersionSchema {
    /// Compiles a schema; says why where it is none.
    pub(super) fn of(schema: &Value) -> Result<Self, String> {
        let size = SchemaSize::of(schema)?;
        let original = without_prose(schema);
        let strict = converted(&original, Strict::Object);
        // A pattern that cannot be read here may be one that a server reads.
        let strict = validator(&strict).or_else(|_| validator(&readable(&strict)));
        let strict =
            strict.map_err(|why| words::cut(&format!("its schema is none: {why}"), 300))?;
        let rules = CelRules::of(&original);
        Ok(Self { original, strict, rules, size })
    }

    /// Holds an object against it.
    pub(super) fn check<'v>(&self, object: &'v Value) -> Checked<'v> {
        let nodes = nodes(object);
        let defaults = self.size.defaults.saturating_mul(nodes) > MOST_DEFAULTED;
        if defaults || self.size.looks().saturating_mul(nodes) > MOST_LOOKS {
            let why = "it and its definition are too large to be held against each other";
            return Checked { faults: vec![why.to_owned()], ..Checked::default() };
        }
        let mut checked = Checked::default();
        embedded(&self.original, object, "", &mut checked.embedded);
        let object = without_nulls(&self.original, object);
        let object = self.defaulted(object);
        let mut found = self.told_by_schema(&object);
        found.extend(self.rules.iter().flat_map(|rules| rules.broken(&object)));
        let mut twice = Vec::new();
        repeated(&self.original, &object, "", &mut twice);
        found.extend(twice.iter().map(|at| format!("{} has an item twice", words::place(at))));
        let more = found.len().saturating_sub(MOST_FAULTS);
        found.truncate(MOST_FAULTS);
        found.extend((more > 0).then(|| format!("and {more} more")));
        checked.faults = found;
        checked
    }

    /// What the schema says of an object, without its rules.
    fn told_by_schema(&self, object: &Value) -> Vec<String> {
        // To gather faults is several times the work of saying that there are none.
        if self.strict.is_valid(object) {
            return Vec::new();
        }
        self.strict.iter_errors(object).take(100).map(|e| words::of_schema(&e)).collect()
    }

    /// The object with the defaults of its fields, and those of fields in these.
    fn defaulted(&self, mut object: Value) -> Value {
        for _ in 0..NESTED_DEFAULTS {
            let next = kube_cel::apply_defaults(&self.original, &object);
            if next == object {
                break;
            }
            object = next;
        }
        object
    }
}

fn validator(schema: &Value) -> Result<Validator, String> {
    let patterns =
        PatternOptions::regex().size_limit(MOST_OF_A_PATTERN).dfa_size_limit(MOST_OF_A_PATTERN);
    let options = jsonschema::options().with_pattern_options(patterns);
    options.should_validate_formats(false).build(schema).map_err(|why| why.to_string())
}

/// The schema without the patterns that cannot be read.
fn readable(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let is_read = |(key, value): &(&String, &Value)| {
                *key != "pattern"
                    || !value.is_string()
                    || validator(&json!({ "pattern": value })).is_ok()
            };
            map.iter().filter(is_read).map(|(k, v)| (k.clone(), readable(v))).collect()
        }
        Value::Array(all) => all.iter().map(readable).collect(),
        scalar => scalar.clone(),
    }
}

/// How many values there are in one.
fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Object(map) => map.values().map(nodes).sum(),
        Value::Array(items) => items.iter().map(nodes).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(spec: Value) -> VersionSchema {
        VersionSchema::of(&json!({"type": "object", "properties": {"spec": spec}})).unwrap()
    }

    fn faults(spec: Value, value: Value) -> Vec<String> {
        let object =
            json!({"apiVersion": "g/v1", "kind": "A", "metadata": {"name": "a"}, "spec": value});
        schema(spec).check(&object).faults
    }

    #[test]
    fn an_object_is_held_against_schema_fields_rules_and_lists() {
        let spec = json!({
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1},
                "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}]},
                "items": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "mode": {"type": "string", "default": "a"},
            },
            "x-kubernetes-validations": [{"rule": "self.mode == 'a' || self.size > 3", "message": "too small"}],
        });
        assert_eq!(faults(spec.clone(), json!({"size": 1, "port": "http", "mode": null})), [""; 0]);
        for (value, said) in [
            (json!({}), "`spec.size` is missing"),
            (json!({"size": 0}), "`spec.size`: 0 is less than the minimum of 1"),
            (json!({"size": 1, "sise": 1}), "it has no field `spec.sise`"),
            (json!({"size": 1, "mode": "b"}), "`spec`: too small"),
            (json!({"size": 1, "items": ["a", "a"]}), "`spec.items` has an item twice"),
        ] {
            let found = faults(spec.clone(), value.clone());
            assert!(found.contains(&said.to_owned()), "{value}: {found:?}");
        }
    }

    #[test]
    fn many_faults_are_counted() {
        let many: Value = (0..50).map(|n| (format!("f{n}"), json!(1))).collect();
        let items = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let found = faults(items, many);
        assert_eq!((found.len(), found.last().unwrap().as_str()), (11, "and 40 more"));
    }

    #[test]
    fn an_expression_that_never_ends_ends() {
        let spec = json!({"type": "string", "pattern": "^(a+)+$"});
        let text = format!("{}!", "a".repeat(200_000));
        assert_eq!(faults(spec, json!(text)).len(), 1);
    }

    #[test]
    fn an_expression_that_cannot_be_read_is_left_to_the_server() {
        for pattern in ["(?=a)b", "((\\w{500}){500}){500}", "(a)\\1"] {
            let spec = json!({"properties": {
                "a": {"type": "string", "pattern": pattern},
                "b": {"type": "string", "pattern": "^b$"},
            }});
            let found = faults(spec, json!({"a": "x", "b": "x"}));
            assert_eq!(found, ["`spec.b`: \"x\" does not match \"^b$\""], "{pattern}");
        }
    }

    #[test]
    fn defaults_of_defaults_are_there_and_never_a_bomb() {
        let inner =
            json!({"type": "object", "properties": {"b": {"type": "string", "default": "x"}}});
        let mut with_default = inner.clone();
        with_default["default"] = json!({});
        let spec = json!({
            "type": "object", "properties": {"a": with_default},
            "x-kubernetes-validations": [{"rule": "self.a.b == 'x'"}],
        });
        assert_eq!(faults(spec, json!({})), [""; 0]);
        let many = json!({"items": {"type": "object", "properties": {"a": {"default": "x".repeat(60_000)}}}});
        let found = faults(many, json!(vec![json!({}); 5_000]));
        assert!(found[0].contains("too large"), "{found:?}");
    }

    #[test]
    fn what_judges_again_and_again_is_not_asked() {
        let of = json!({"allOf": vec![json!({"minProperties": 0}); 15_000]});
        let found = faults(json!({"items": of}), json!(vec![json!({}); 5_000]));
        assert!(found[0].contains("too large"), "{found:?}");
    }
}
