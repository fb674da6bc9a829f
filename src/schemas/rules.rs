//! The rules of a definition: `x-kubernetes-validations`, in CEL.
//!
//! One that the library cannot read, or that calls what it does not have, is left to the API server. What compares with
//! the object before is the server's too: nobody knows here what stands on the worker.

use std::collections::BTreeMap;

use kube_cel::{CompiledSchema, ErrorKind, compile_schema};
use serde_json::{Map, Value};

use super::cost::cost;
use super::extent::ValueExtent;
use super::words;

/// The most steps that the rules of one object may take. Those of Cluster API's own kinds take some ten thousand.
const MOST_STEPS: u64 = 10_000_000;
/// What of a schema tells how a value looks to a rule, beside the schemas in it.
const OF_VALUES: [&str; 6] = [
    "type",
    "format",
    "x-kubernetes-validations",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
];

/// The rules of a kind, compiled.
#[derive(Debug)]
pub(super) struct CelRules(CompiledSchema);

impl CelRules {
    /// Those of a schema; `None` where it has none.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        Some(Self(compile_schema(&with_rules(schema, false)?)))
    }

    /// The rules that an object breaks, each with its place as the rule names it.
    pub(super) fn broken(&self, object: &Value) -> Vec<String> {
        let mut steps = 0;
        add_steps(&self.0, object, &mut steps);
        if steps > MOST_STEPS {
            return vec![
                "the rules of its definition may take longer to evaluate than they are given"
                    .to_owned(),
            ];
        }
        let Err(broken) = kube_cel::validate_compiled(&self.0, object, None) else {
            return Vec::new();
        };
        let is_told = |kind: &ErrorKind| {
            matches!(
                kind,
                ErrorKind::ValidationFailure
                    | ErrorKind::EvaluationError
                    | ErrorKind::InvalidResult
                    | ErrorKind::SchemaTooDeep
            )
        };
        let broken = broken.into_iter().filter(|error| is_told(&error.kind));
        let said = broken.map(|error| match error.field_path.as_str() {
            "" => words::of_rule(&error.message),
            path => format!("`{}`: {}", words::of_rule(path), words::of_rule(&error.message)),
        });
        // The library goes through fields in any order.
        let said: std::collections::BTreeSet<_> = said.collect();
        said.into_iter().collect()
    }
}

/// What of a schema its rules are asked with; `None` where no rule stands in it. Within a schema that has one all fields
/// tell how their values look.
fn with_rules(schema: &Value, within: bool) -> Option<Value> {
    let map = schema.as_object()?;
    let rules = map.get("x-kubernetes-validations").and_then(Value::as_array);
    let within = within || rules.is_some_and(|rules| !rules.is_empty());
    let mut kept = Map::new();
    for (key, value) in map {
        let inner = match (key.as_str(), value) {
            ("properties", Value::Object(all)) => {
                let each =
                    all.iter().filter_map(|(k, v)| Some((k.clone(), with_rules(v, within)?)));
                let each: Map<_, _> = each.collect();
                (!each.is_empty()).then_some(Value::Object(each))
            }
            ("items" | "additionalProperties", Value::Object(_)) => with_rules(value, within),
            ("additionalProperties", _) => within.then(|| value.clone()),
            (key, _) => OF_VALUES.contains(&key).then(|| value.clone()),
        };
        kept.extend(inner.map(|inner| (key.clone(), inner)));
    }
    let leads_on = ["properties", "items", "additionalProperties"];
    (within || leads_on.iter().any(|key| kept.contains_key(*key))).then_some(Value::Object(kept))
}

/// Adds what the rules take at most, as often as they are asked.
fn add_steps(schema: &CompiledSchema, value: &Value, steps: &mut u64) {
    *steps = steps.saturating_add(1);
    if *steps > MOST_STEPS {
        return;
    }
    let rules = schema.validations.iter().flatten();
    let mut rules = rules.flat_map(|rule| [Some(&rule.program), rule.message_program.as_ref()]);
    if let Some(first) = rules.next() {
        let names = BTreeMap::from([("self", ValueExtent::of(value))]);
        for program in [first].into_iter().chain(rules).flatten() {
            *steps = steps.saturating_add(cost(program.expression(), &names));
        }
    }
    match value {
        Value::Object(map) => {
            for (field, value) in map {
                let own = schema.properties.get(field);
                if let Some(inner) = own.or(schema.additional_properties.as_deref()) {
                    add_steps(inner, value, steps);
                }
            }
        }
        Value::Array(items) => {
            if let Some(inner) = &schema.items {
                for item in items {
                    add_steps(inner, item, steps);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn broken(rules: &[&str], value: &Value) -> Vec<String> {
        let rules: Vec<_> =
            rules.iter().map(|rule| json!({"rule": rule, "message": rule})).collect();
        let of = json!({"type": "object", "properties": {"list": {"type": "array", "items": {"type": "string"}},
            "name": {"type": "string"}}, "x-kubernetes-validations": rules});
        let schema = json!({"type": "object", "properties": {"spec": of}});
        CelRules::of(&schema).unwrap().broken(&json!({ "spec": value }))
    }

    #[test]
    fn a_broken_rule_is_told_where_it_stands() {
        let value = json!({"name": "a", "list": ["a", "b"]});
        assert_eq!(broken(&["self.name == 'a'"], &value), [""; 0]);
        assert_eq!(broken(&["self.name == 'b'"], &value), ["`spec`: self.name == 'b'"]);
        assert!(CelRules::of(&json!({"type": "object"})).is_none());
    }

    #[test]
    fn what_the_library_does_not_have_is_left_to_the_server() {
        let value = json!({"name": "a"});
        for rule in [
            "self.name.someday()",
            "cel.bind(x, self.name, x == 'b')",
            "self.name ==",
            "self == oldSelf",
        ] {
            assert_eq!(broken(&[rule], &value), [""; 0], "{rule}");
        }
    }

    #[test]
    fn a_rule_that_would_not_come_back_is_not_asked() {
        let list: Vec<_> = (0..500).map(|n| n.to_string()).collect();
        let value = json!({"list": list});
        let deep =
            "self.list.all(a, self.list.all(b, self.list.all(c, self.list.all(d, a != 'x'))))";
        let said = broken(&[deep], &value);
        assert!(said.len() == 1 && said[0].contains("longer"), "{said:?}");
        let fine = "self.list.all(a, self.list.exists(b, a == b))";
        assert_eq!(broken(&[fine], &json!({"list": list[..50]})), [""; 0]);
    }
}
