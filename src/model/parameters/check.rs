//! A value against its schema: every difference, with its place.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::fault::{ParameterFault, fault};
use super::{ParameterSchema, ParameterType};
use crate::diag::{FieldPath, suggest};

impl ParameterSchema {
    /// What is wrong with a value that stands at a place.
    #[must_use]
    pub fn faults(&self, value: &Value, at: &FieldPath) -> Vec<ParameterFault> {
        let mut found = Vec::new();
        self.look(value, at, &mut found);
        found
    }

    /// The faults of a part of the parameters, of which none counts as missing.
    #[must_use]
    pub fn faults_of_part(
        &self,
        value: &Map<String, Value>,
        at: &FieldPath,
    ) -> Vec<ParameterFault> {
        let mut found = Vec::new();
        self.fields(value, at, &mut found);
        found
    }

    fn look(&self, value: &Value, at: &FieldPath, found: &mut Vec<ParameterFault>) {
        let before = found.len();
        match (self.kind, value) {
            (None, Value::Number(number)) if !number.is_f64() => {}
            (None | Some(ParameterType::String), Value::String(text)) => self.text(text, at, found),
            (Some(ParameterType::Boolean), Value::Bool(_)) => {}
            (Some(ParameterType::Integer), Value::Number(number)) if !number.is_f64() => {
                let bounds = self.minimum.unwrap_or(i64::MIN)..=self.maximum.unwrap_or(i64::MAX);
                if !number.as_i64().is_some_and(|number| bounds.contains(&number)) {
                    let message = format!("{number} is outside what `{at}` takes");
                    let help = bounded("a whole number", self.minimum, self.maximum);
                    fault(found, at, message, help);
                }
            }
            (Some(ParameterType::Array), Value::Array(items)) => self.items(items, at, found),
            (Some(ParameterType::Object), Value::Object(map)) => {
                self.fields(map, at, found);
                for name in self.required.iter().filter(|name| !map.contains_key(*name)) {
                    self.missing(name, &at.key(name), found);
                }
            }
            _ => self.wrong_type(value, at, found),
        }
        if found.len() == before && !self.allowed.is_empty() && !self.allowed.contains(value) {
            let words: Vec<_> = self.allowed.iter().map(shown).collect();
            let near = suggest::nearest(&shown(value), words.iter().map(String::as_str));
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            let message = format!("`{}` is not a value that `{at}` takes", shown(value));
            fault(found, at, message, format!("{near}allowed: {}", words.join(", ")));
        }
    }

    fn text(&self, text: &str, at: &FieldPath, found: &mut Vec<ParameterFault>) {
        let length = text.chars().count();
        let bounds = self.min_length.unwrap_or(0)..=self.max_length.unwrap_or(usize::MAX);
        if !bounds.contains(&length) {
            let message = format!("the length of `{at}` is {length}");
            return fault(
                found,
                at,
                message,
                bounded("a length", self.min_length, self.max_length),
            );
        }
        let fits = |pattern: &str| regex_lite::Regex::new(pattern).is_ok_and(|p| p.is_match(text));
        if let Some(pattern) = self.pattern.as_deref().filter(|pattern| !fits(pattern)) {
            let message = format!("`{text}` is not of the form that `{at}` has");
            let help = self.example.as_ref().map_or_else(
                || format!("write something that matches {pattern}"),
                |example| format!("write something such as {}", shown(example)),
            );
            fault(found, at, message, help);
        }
        if let Some(document) = &self.document {
            document.document(text, at, found);
        }
    }

    fn items(&self, items: &[Value], at: &FieldPath, found: &mut Vec<ParameterFault>) {
        let bounds = self.min_items.unwrap_or(0)..=self.max_items.unwrap_or(usize::MAX);
        if !bounds.contains(&items.len()) {
            let message = format!("the number of items of `{at}` is {}", items.len());
            fault(found, at, message, bounded("a list", self.min_items, self.max_items));
        }
        let mut seen = BTreeSet::new();
        for (i, item) in items.iter().enumerate() {
            if let Some(schema) = &self.items {
                schema.look(item, &at.index(i), found);
            }
            if self.unique_items && !seen.insert(item.to_string()) {
                let message = format!("`{}` stands twice in `{at}`", shown(item));
                fault(found, &at.index(i), message, "name it once");
            }
        }
    }

    fn fields(&self, map: &Map<String, Value>, at: &FieldPath, found: &mut Vec<ParameterFault>) {
        for (name, value) in map {
            let schema = self.properties.get(name).or(self.additional_properties.as_deref());
            let place = at.key(name);
            if let Some(keys) = &self.keys {
                keys.look(name, &place, found);
            }
            if let Some(schema) = schema {
                schema.look(value, &place, found);
            } else if !self.any_fields {
                let known = self.properties.keys().map(String::as_str);
                let help = suggest::help(name, known.collect::<Vec<_>>(), "there are");
                let message = format!("there is no parameter `{place}`");
                found.push(ParameterFault { field: place, is_unknown: true, message, help });
            }
        }
    }

    fn missing(&self, name: &str, at: &FieldPath, found: &mut Vec<ParameterFault>) {
        let meaning = self.properties.get(name).map(|schema| schema.description.as_str());
        let help = match meaning.filter(|meaning| !meaning.is_empty()) {
            Some(meaning) => format!("add `{name}:`, {meaning}"),
            None => format!("add `{name}:`"),
        };
        fault(found, at, format!("`{at}` is missing"), help);
    }

    fn wrong_type(&self, value: &Value, at: &FieldPath, found: &mut Vec<ParameterFault>) {
        let is = match value {
            Value::Null => "empty".to_owned(),
            Value::Bool(value) => format!("`{value}`, a boolean"),
            Value::Number(number) => format!("`{number}`, a number"),
            Value::String(text) => format!("`{text}`, a text"),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "a mapping".to_owned(),
        };
        let wants = self.type_in_words();
        let takes_text = matches!(self.kind, None | Some(ParameterType::String));
        let help = match value {
            Value::Bool(_) | Value::Number(_) if takes_text => "put it in quotes".to_owned(),
            Value::String(text) if self.kind == Some(ParameterType::Boolean) => match text.as_str()
            {
                "true" | "false" => format!("write it without quotes: {text}"),
                _ => format!("write {wants}"),
            },
            Value::String(text) if text.parse::<i64>().is_ok() && !takes_text => {
                format!("write it without quotes: {text}")
            }
            _ => format!("write {wants}"),
        };
        fault(found, at, format!("`{at}` is {is}; it wants {wants}"), help);
    }

    /// The type as a person would call it.
    #[must_use]
    pub fn type_in_words(&self) -> &'static str {
        match self.kind {
            None => "a whole number or text",
            Some(ParameterType::Object) => "a mapping",
            Some(ParameterType::Array) => "a list",
            Some(ParameterType::String) => "text",
            Some(ParameterType::Integer) => "a whole number",
            Some(ParameterType::Boolean) => "`true` or `false`",
        }
    }
}

/// A value as people write it.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn bounded<N: std::fmt::Display>(what: &str, least: Option<N>, most: Option<N>) -> String {
    match (least, most) {
        (Some(least), Some(most)) => format!("write {what} from {least} to {most}"),
        (Some(least), None) => format!("write {what} of at least {least}"),
        (None, Some(most)) => format!("write {what} of at most {most}"),
        (None, None) => format!("write {what} that fits"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> ParameterSchema {
        let schema = json!({"type": "object", "required": ["vnet"], "properties": {
            "vnet": {"type": "object", "description": "the network", "required": ["name"], "properties": {
                "name": {"type": "string", "pattern": "^[a-z]+$", "example": "hub"}}},
            "outbound": {"type": "string", "enum": ["LoadBalancer", "NATGateway"]},
            "maxPods": {"type": "integer", "minimum": 10, "maximum": 250},
            "audit": {"type": "boolean"},
            "surge": {"x-kubernetes-int-or-string": true, "pattern": "^[0-9]+%$"},
            "keys": {"type": "array", "maxItems": 2, "uniqueItems": true, "items": {"type": "string", "minLength": 2}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        }});
        serde_json::from_value(schema).unwrap()
    }

    fn told(value: Value) -> Vec<String> {
        let mut given = json!({"vnet": {"name": "hub"}});
        given.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
        let faults = schema().faults(&given, &FieldPath::keys("p"));
        faults.into_iter().map(|f| format!("{}: {} ({})", f.field, f.message, f.help)).collect()
    }

    #[test]
    fn what_fits_is_fine() {
        for fine in [
            json!({"outbound": "NATGateway", "maxPods": 10, "audit": false}),
            json!({"surge": 1, "keys": ["aa", "bb"], "labels": {"any": "thing"}}),
            json!({"surge": "25%", "maxPods": 250}),
        ] {
            assert_eq!(told(fine), Vec::<String>::new());
        }
    }

    #[test]
    fn what_does_not_fit_is_told_where_it_stands() {
        for (wrong, says) in [
            (
                json!({"maxPod": 1}),
                "p.maxPod: there is no parameter `p.maxPod` (did you mean `maxPods`?)",
            ),
            (json!({"vnet": {}}), "p.vnet.name: `p.vnet.name` is missing (add `name:`)"),
            (
                json!({"vnet": {"name": "A"}}),
                "p.vnet.name: `A` is not of the form that `p.vnet.name` has (write something such as hub)",
            ),
            (
                json!({"outbound": "natGateway"}),
                "p.outbound: `natGateway` is not a value that `p.outbound` takes (did you mean `NATGateway`? allowed: \
                 LoadBalancer, NATGateway)",
            ),
            (
                json!({"maxPods": 9}),
                "p.maxPods: 9 is outside what `p.maxPods` takes (write a whole number from 10 to 250)",
            ),
            (
                json!({"maxPods": "30"}),
                "p.maxPods: `p.maxPods` is `30`, a text; it wants a whole number (write it without quotes: 30)",
            ),
            (
                json!({"maxPods": 1.5}),
                "p.maxPods: `p.maxPods` is `1.5`, a number; it wants a whole number (write a whole number)",
            ),
            (
                json!({"outbound": 1.3}),
                "p.outbound: `p.outbound` is `1.3`, a number; it wants text (put it in quotes)",
            ),
        ] {
            assert_eq!(told(wrong), [says]);
        }
    }

    #[test]
    fn so_is_what_is_of_another_type() {
        for (wrong, says) in [
            (
                json!({"audit": "true"}),
                "p.audit: `p.audit` is `true`, a text; it wants `true` or `false` (write it without quotes: true)",
            ),
            (
                json!({"surge": true}),
                "p.surge: `p.surge` is `true`, a boolean; it wants a whole number or text (put it in quotes)",
            ),
            (
                json!({"surge": "x"}),
                "p.surge: `x` is not of the form that `p.surge` has (write something that matches ^[0-9]+%$)",
            ),
            (
                json!({"keys": ["aa", "aa"]}),
                "p.keys[1]: `aa` stands twice in `p.keys` (name it once)",
            ),
            (
                json!({"keys": ["a"]}),
                "p.keys[0]: the length of `p.keys[0]` is 1 (write a length of at least 2)",
            ),
            (
                json!({"keys": ["aa", "bb", "cc"]}),
                "p.keys: the number of items of `p.keys` is 3 (write a list of at most 2)",
            ),
            (json!({"keys": {}}), "p.keys: `p.keys` is a mapping; it wants a list (write a list)"),
            (
                json!({"labels": {"a": null}}),
                "p.labels.a: `p.labels.a` is empty; it wants text (write text)",
            ),
        ] {
            assert_eq!(told(wrong), [says]);
        }
    }

    #[test]
    fn of_a_part_nothing_is_missing() {
        let at = FieldPath::keys("p");
        let missing = schema().faults(&json!({}), &at);
        assert_eq!(missing[0].help, "add `vnet:`, the network");
        assert_eq!(schema().faults_of_part(&Map::new(), &at), []);
        let slip = json!({"vnt": 1});
        assert!(schema().faults_of_part(slip.as_object().unwrap(), &at)[0].is_unknown);
    }
}
