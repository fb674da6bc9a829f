//! A text that is a document of YAML itself (`x-carp-yaml`): it is read, and held against a schema of its own.

use serde_json::Value;
use serde_saphyr::{MessageFormatter as _, UserMessageFormatter};

use super::ParameterSchema;
use super::fault::{ParameterFault, fault};
use crate::diag::FieldPath;
use crate::model::count;

/// The most values that such a document may have.
const NODES: usize = 5_000;
/// The most of its mistakes that are told.
const MOST: usize = 20;

impl ParameterSchema {
    /// What is wrong with the document in a text.
    pub(super) fn document(&self, text: &str, at: &FieldPath, found: &mut Vec<ParameterFault>) {
        let options = serde_saphyr::options! {
            with_snippet: false,
            // A document in a text has no need of what a tenant could multiply it by.
            budget: serde_saphyr::budget! { max_depth: 64, max_nodes: NODES, max_events: NODES * 4, max_aliases: 0 },
        };
        let value: Value = match serde_saphyr::from_str_with_options(text, options) {
            Ok(value) => value,
            Err(error) => {
                let why = UserMessageFormatter.format_message(&error);
                let line = error.location().map_or(1, |at| at.line());
                let why = why.lines().next().unwrap_or_default();
                let message = format!("the text of `{at}` is no YAML, in its line {line}: {why}");
                return fault(found, at, message, "mend the document in it");
            }
        };
        if !value.is_object() {
            let message = format!("the text of `{at}` is no mapping");
            return fault(found, at, message, "write a document in it, with its fields");
        }
        let inner = self.faults(&value, &FieldPath::default());
        let more = inner.len().saturating_sub(MOST);
        for inner in inner.into_iter().take(MOST) {
            let message = if inner.is_unknown {
                format!("there is no field `{}` in the text of `{at}`", inner.field)
            } else {
                format!("in the text of `{at}`, {}", inner.message)
            };
            fault(found, at, message, inner.help);
        }
        if more > 0 {
            fault(
                found,
                at,
                format!("the text of `{at}` has {}", count(more as u64, "more mistake")),
                "mend these first",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(text: &str) -> Vec<String> {
        let schema = json!({"type": "string", "x-carp-yaml": {
            "type": "object", "required": ["rules"], "properties": {
                "kind": {"type": "string", "enum": ["Policy"]},
                "rules": {"type": "array", "minItems": 1, "items": {
                    "type": "object", "required": ["level"], "properties": {
                        "level": {"type": "string", "enum": ["None", "Metadata"]}}}}}}});
        let schema: ParameterSchema = serde_json::from_value(schema).unwrap();
        let faults = schema.faults(&json!(text), &FieldPath::keys("p"));
        assert!(faults.iter().all(|fault| fault.field.to_string() == "p" && !fault.is_unknown));
        faults.into_iter().map(|fault| format!("{} ({})", fault.message, fault.help)).collect()
    }

    #[test]
    fn a_document_is_held_against_its_schema() {
        assert_eq!(told("kind: Policy\nrules:\n- level: Metadata\n"), Vec::<String>::new());
        assert_eq!(
            told("kind: Policy\nrules: [{level: Metdata}, {}]\n"),
            [
                "in the text of `p`, `Metdata` is not a value that `rules[0].level` takes (did you mean `Metadata`? \
                 allowed: None, Metadata)",
                "in the text of `p`, `rules[1].level` is missing (add `level:`)",
            ]
        );
        assert_eq!(
            told("rules: [{level: None, levels: 1}]"),
            ["there is no field `rules[0].levels` in the text of `p` (did you mean `level`?)"]
        );
    }

    #[test]
    fn what_is_told_of_a_document_is_bounded() {
        let many = told(&format!("rules: [{}]", "{level: x}, ".repeat(100)));
        assert_eq!(many.len(), MOST + 1);
        assert_eq!(many[MOST], "the text of `p` has 80 more mistakes (mend these first)");
        let alias = told("rules: [&a {level: None}, *a]").remove(0);
        assert!(alias.starts_with("the text of `p` is no YAML"), "{alias}");
    }

    #[test]
    fn a_document_of_others_may_say_anything() {
        let schema = json!({"type": "string", "x-carp-yaml": {
            "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"replicas": {"type": "integer"}}}});
        let schema: ParameterSchema = serde_json::from_value(schema).unwrap();
        let faults = |text: &str| schema.faults(&json!(text), &FieldPath::keys("p"));
        assert_eq!(faults("replicas: 1\nlimit: 0.5\nmore: [{on: null}]\n"), []);
        assert_eq!(faults("replicas: x\n").len(), 1, "what is known is looked at");
        assert_eq!(faults("{{ .Values }}\n").len(), 1, "a template is no document");
    }

    #[test]
    fn what_is_no_document_is_told() {
        let broken = told("rules: [").remove(0);
        assert!(broken.starts_with("the text of `p` is no YAML, in its line "), "{broken}");
        assert!(told("nonsense").first().unwrap().starts_with("the text of `p` is no mapping"));
        assert!(told("- a").first().unwrap().starts_with("the text of `p` is no mapping"));
    }
}
