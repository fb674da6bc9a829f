//! One walker for every kind: a value against its form, every difference a finding.

use serde_json::Value;

use super::finding::Findings;
use super::habits;
use super::shape::Shape;
use crate::diag::suggest;
use crate::diag::{Code, FieldPath, Step};
use crate::model::Quantity;
use crate::model::api::planned;

/// Fields whose pattern a rule of its own looks at, with a code and a help that say more. Paths are
/// dotted, without indices.
const PATTERN_HAS_ITS_RULE: &[&str] = &[
    "spec.version",
    "spec.nodePools.name",
    "spec.heartbeatTimeout",
    "spec.failover.grace",
    "spec.template.spec.version",
    "spec.template.spec.nodePools.name",
    "spec.template.spec.heartbeatTimeout",
    "spec.provisionTimeout",
    "spec.coolDown",
];

/// Short forms: fields that the loader reads and the canonical form does not have.
const SHORT_FORMS: &[(&str, &str)] = &[("ManagedCluster", "replicas"), ("Worker", "replicas")];

/// A walk over one document.
pub(super) struct StructureWalk<'a> {
    /// The document's kind.
    pub(super) kind: &'a str,
    /// What stands in the text at a path.
    pub(super) written: &'a dyn Fn(&FieldPath) -> Option<WrittenScalar>,
    /// Where the findings go.
    pub(super) findings: &'a mut Findings,
}

/// A scalar as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenScalar {
    /// The text, its quotes included.
    pub(super) text: String,
    /// Whether it has no quotes.
    pub(super) plain: bool,
}

impl StructureWalk<'_> {
    /// Compares a value with its form.
    pub(super) fn value(&mut self, shape: &Shape, value: &Value, path: &FieldPath) {
        match (shape, value) {
            (Shape::Any | Shape::AsWritten, _)
            | (Shape::MappingAsWritten, Value::Object(_))
            | (Shape::Boolean, Value::Bool(_)) => {}
            (Shape::Free, Value::Object(_)) => self.free(value, path),
            (Shape::Object { fields, required }, Value::Object(map)) => {
                for (key, value) in map {
                    self.field(fields, key, value, &path.key(key));
                }
                let absent = |k: &&String| map.get(*k).is_none_or(Value::is_null);
                let known = fields.keys().map(String::as_str);
                let meant = |k: &&String| map.keys().any(|key| is_slip_for(key, k, known.clone()));
                for key in required.iter().filter(|k| absent(k) && !meant(k)) {
                    self.missing(path, key);
                }
            }
            (Shape::Map(inner), Value::Object(map)) => {
                map.iter().for_each(|(key, value)| self.value(inner, value, &path.key(key)));
            }
            (Shape::List(inner), Value::Array(items)) => {
                for (i, item) in items.iter().enumerate() {
                    self.value(inner, item, &path.index(i));
                }
            }
            (Shape::Text { pattern }, Value::String(text)) => {
                self.date(text, path);
                if let Some(pattern) = pattern {
                    self.pattern(pattern, text, path);
                }
            }
            (Shape::Word(words), Value::String(text)) => self.word(words, text, path),
            (Shape::Integer { min, max }, Value::Number(number)) if !number.is_f64() => {
                self.range(*min, *max, number, path);
            }
            (Shape::Quantity, Value::Number(number)) if number.is_i64() => {}
            (Shape::Quantity, Value::String(text)) => self.quantity(text, path),
            _ => self.wrong_type(shape, value, path),
        }
    }

    /// What is wrong whatever the form is. The rest is a rule's, which knows it.
    fn free(&mut self, value: &Value, path: &FieldPath) {
        match value {
            Value::Object(map) => {
                map.iter().for_each(|(key, value)| self.free(value, &path.key(key)));
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(i, item)| self.free(item, &path.index(i)));
            }
            Value::String(text) => self.date(text, path),
            _ => {}
        }
    }

    fn field(
        &mut self,
        fields: &std::collections::BTreeMap<String, Shape>,
        key: &str,
        value: &Value,
        path: &FieldPath,
    ) {
        if planned::is_planned_field(self.kind, key, || dotted(path)) {
            let message = format!("`{path}` is planned and has no effect yet");
            let help = "remove it until carp acts on it: what has no effect is refused, so that nobody relies on it";
            self.findings.add_on_key(Code::NotBuiltYet, path.clone(), message, help);
            return;
        }
        match fields.get(key) {
            // An optional field without a value is an absent one, as for Kubernetes.
            Some(_) if value.is_null() => {}
            Some(shape) => self.value(shape, value, path),
            None => {
                let short = SHORT_FORMS.iter().filter(|(kind, _)| {
                    *kind == self.kind && path.0.len() == 2 && dotted(path).starts_with("spec.")
                });
                let known = fields.keys().map(String::as_str).chain(short.map(|(_, f)| *f));
                let habit = habits::of_field(self.kind, key).map(str::to_owned);
                let nearest = || suggest::help(key, known.collect::<Vec<_>>(), "the fields here");
                let help = habit.unwrap_or_else(nearest);
                let a = if self.kind.starts_with(['A', 'O']) { "an" } else { "a" };
                let message = format!("`{path}` is not a field of {a} {}", self.kind);
                self.findings.add_on_key(Code::UnknownField, path.clone(), message, help);
            }
        }
    }

    fn missing(&mut self, path: &FieldPath, key: &str) {
        let field = path.key(key);
        let message = format!("`{field}` is missing");
        self.findings.add(Code::MissingField, field, message, format!("add `{key}:`"));
    }

    fn pattern(&mut self, pattern: &regex_lite::Regex, text: &str, path: &FieldPath) {
        if pattern.is_match(text) || PATTERN_HAS_ITS_RULE.contains(&dotted(path).as_str()) {
            return;
        }
        let message = format!("`{text}` is not of the form that `{path}` has");
        let help = format!("write something that matches {}", pattern.as_str());
        self.findings.add(Code::InvalidValue, path.clone(), message, help);
    }

    fn word(&mut self, words: &[String], text: &str, path: &FieldPath) {
        if words.iter().any(|w| w == text) {
            return;
        }
        let known: Vec<_> = words.iter().map(String::as_str).collect();
        let message = format!("`{text}` is not a value that `{path}` takes");
        let mut help = format!("allowed: {}", known.join(", "));
        if let Some(near) = suggest::nearest(text, known) {
            help = format!("did you mean `{near}`? {help}");
        }
        self.findings.add(Code::InvalidValue, path.clone(), message, help);
    }

    fn range(&mut self, min: i64, max: i64, number: &serde_json::Number, path: &FieldPath) {
        if number.as_i64().is_some_and(|n| (min..=max).contains(&n)) {
            return;
        }
        let message = format!("{number} is outside what `{path}` takes");
        let help = format!("write a whole number from {min} to {max}");
        self.findings.add(Code::InvalidValue, path.clone(), message, help);
    }

    fn quantity(&mut self, text: &str, path: &FieldPath) {
        if let Err(error) = text.parse::<Quantity>() {
            let help = "write a number, perhaps with a unit: 50, 1500m, 16Gi";
            self.findings.add(Code::InvalidQuantity, path.clone(), error.to_string(), help);
        }
    }

    /// A date or a time without quotes is text for carp and something else for other readers.
    fn date(&mut self, text: &str, path: &FieldPath) {
        if !looks_like_a_date(text) || !(self.written)(path).is_some_and(|w| w.plain) {
            return;
        }
        let message =
            format!("`{text}` without quotes is a date or a time, and `{path}` wants text");
        let help = format!("put it in quotes: \"{text}\"");
        self.findings.add(Code::WrongType, path.clone(), message, help);
    }

    fn wrong_type(&mut self, shape: &Shape, value: &Value, path: &FieldPath) {
        let written = (self.written)(path).map(|w| w.text).filter(|t| !t.contains('\n'));
        let shown = written.clone().unwrap_or_else(|| value.to_string());
        let found = match value {
            Value::Null => "empty".to_owned(),
            Value::Bool(_) => format!("`{shown}`, a boolean"),
            Value::Number(_) => format!("`{shown}`, a number"),
            Value::String(_) => format!("`{shown}`, a text"),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "a mapping".to_owned(),
        };
        let help = remedy(shape, value, &shown, path);
        let message = format!("`{path}` is {found}; it wants {}", shape.described());
        self.findings.add(Code::WrongType, path.clone(), message, help);
    }
}

/// Whether a key is no field and was meant for that one: then one finding says it all.
pub(super) fn is_slip_for<'a>(
    key: &str,
    field: &str,
    mut fields: impl Iterator<Item = &'a str> + Clone,
) -> bool {
    let all = fields.clone();
    fields.all(|known| known != key) && suggest::nearest(key, all) == Some(field)
}

/// What to type instead of a value of the wrong type.
fn remedy(shape: &Shape, value: &Value, shown: &str, path: &FieldPath) -> String {
    let is_text = matches!(shape, Shape::Text { .. } | Shape::Word(_) | Shape::Quantity);
    match (shape, value) {
        (_, Value::Number(_)) if path.0.last() == Some(&Step::Key("version".into())) => {
            format!("write all three numbers, with a `v`: v{shown}.0")
        }
        (_, Value::Bool(_) | Value::Number(_)) if is_text => {
            format!("put it in quotes: \"{shown}\"")
        }
        (Shape::Text { .. }, Value::Null) => "write \"\" for a text that is empty".to_owned(),
        (Shape::Boolean, Value::String(text)) if matches!(&**text, "true" | "false") => {
            format!("write it without quotes: {text}")
        }
        (Shape::Integer { .. }, Value::String(text)) if text.parse::<i64>().is_ok() => {
            format!("write it without quotes: {text}")
        }
        (Shape::List(_), _) => "write a list: each item on a line that begins with `- `".to_owned(),
        (Shape::Object { .. } | Shape::Map(_) | Shape::Free | Shape::MappingAsWritten, _) => {
            "write a mapping: each field on a line of its own, `key: value`".to_owned()
        }
        _ => format!("write {}", shape.described()),
    }
}

/// The keys of a path, with dots and without indices.
fn dotted(path: &FieldPath) -> String {
    let keys = path.0.iter().filter_map(|step| match step {
        Step::Key(key) => Some(&**key),
        Step::Index(_) => None,
    });
    keys.collect::<Vec<_>>().join(".")
}

/// Whether text without quotes is a date (`2024-01-01`) or a number to base 60 (`12:30`) in YAML 1.1.
fn looks_like_a_date(text: &str) -> bool {
    let numbers = |separator: char| {
        text.contains(separator)
            && text.split(separator).all(|part| {
                !part.is_empty() && part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit())
            })
    };
    (numbers('-') && text.split('-').count() == 3) || numbers(':')
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cluster, finds, finds_nothing, load_fleet};
    use super::*;

    #[test]
    fn an_unknown_field_names_the_one_that_was_meant() {
        let found = finds(cluster("verion: v1.34.2\n  "), Code::UnknownField, "spec.verion");
        assert_eq!(found.help.as_deref(), Some("did you mean `version`?"));
        assert!(found.place.unwrap().on_key);
        finds(cluster("replica: 2\n  "), Code::UnknownField, "spec.replica");
        let found = finds(cluster("replica: 2\n  "), Code::UnknownField, "spec.replica");
        assert_eq!(found.help.as_deref(), Some("did you mean `replicas`?"));
    }

    #[test]
    fn a_planned_field_is_refused_kindly() {
        let text =
            cluster("maintenance: {freeze: true}\n  controlPlane: {size: Standard_D4s_v5}\n  ");
        finds(&text, Code::NotBuiltYet, "spec.maintenance");
        finds(&text, Code::NotBuiltYet, "spec.controlPlane.size");
    }

    #[test]
    fn a_required_field_must_be_there() {
        let text = cluster("").replace("location:", "#");
        finds(&text, Code::MissingField, "spec.location");
        finds(cluster("").replace("westeurope", ""), Code::MissingField, "spec.location");
    }

    #[test]
    fn a_slip_of_the_pen_is_one_finding() {
        let text = cluster("").replace("location:", "loction:").replace("metadata:", "metadta:");
        let found = load_fleet(&[("fleet/x.yaml", &text)]).diagnostics;
        let codes: Vec<_> = found.iter().map(|d| d.code).collect();
        assert_eq!(codes, [Code::UnknownField, Code::UnknownField], "{found:?}");
    }

    #[test]
    fn what_other_readers_take_for_something_else_must_be_quoted() {
        for word in ["1.30", "0777", "on", "NO", "2024-01-01", "12:30", "1_000", "0x10", "1e3"] {
            let found =
                finds(cluster(&format!("class: {word}\n  ")), Code::WrongType, "spec.class");
            assert_eq!(found.help, Some(format!("put it in quotes: \"{word}\"")));
            assert!(found.message.contains(word), "{}", found.message);
        }
        let label = cluster("").replace("tier: gold", "tier: no");
        finds(&label, Code::WrongType, "metadata.labels.tier");
        finds_nothing(cluster("").replace("tier: gold", "tier: \"2024-01-01\""));
    }

    #[test]
    fn text_where_a_number_or_boolean_is_wanted_is_the_wrong_type() {
        let found = finds(cluster("priority: \"3\"\n  "), Code::WrongType, "spec.priority");
        assert_eq!(found.help.as_deref(), Some("write it without quotes: 3"));
        finds(cluster("paused: 1\n  "), Code::WrongType, "spec.paused");
        finds(cluster("priority: 1.5\n  "), Code::WrongType, "spec.priority");
        finds(cluster("nodePools: {}\n  "), Code::WrongType, "spec.nodePools");
        finds(cluster("network: []\n  "), Code::WrongType, "spec.network");
        let label = cluster("").replace("tier: gold", "tier:");
        finds(&label, Code::WrongType, "metadata.labels.tier");
    }

    #[test]
    fn values_lie_within_their_bounds() {
        finds(cluster("replicas: -1\n  "), Code::InvalidValue, "spec.replicas");
        finds(cluster("replicas: 1001\n  "), Code::InvalidValue, "spec.replicas");
        finds(cluster("priority: 99999999999\n  "), Code::InvalidValue, "spec.priority");
        let found =
            finds(cluster("deletionPolicy: delete\n  "), Code::InvalidValue, "spec.deletionPolicy");
        assert_eq!(found.help.as_deref(), Some("did you mean `Delete`? allowed: Delete, Orphan"));
    }

    #[test]
    fn all_findings_of_a_document_come_at_once() {
        let text = cluster("replicas: x\n  paused: maybe\n  colour: red\n  ");
        finds(&text, Code::WrongType, "spec.replicas");
        finds(&text, Code::WrongType, "spec.paused");
        finds(&text, Code::UnknownField, "spec.colour");
    }

    #[test]
    fn an_optional_field_without_a_value_is_an_absent_one() {
        finds_nothing(cluster("class:\n  nodePools: ~\n  "));
    }
}
