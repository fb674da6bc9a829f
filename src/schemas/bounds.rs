//! How large a definition may be. An API server's own bounds are below these: no request to it has more than
//! [`MOST_BYTES`] (`k8s.io/apiserver`, `pkg/server/config.go`, `MaxRequestBodyBytes`). The others are far above the largest of
//! Cluster API, its providers, Kamaji, Flux and cert-manager, which has 1,698 parts, 50 patterns, and 19 rules of 1,226 bytes.

use serde_json::Value;

/// The largest file, in bytes.
pub(super) const MOST_BYTES: usize = 3 * 1024 * 1024;
/// The deepest schema; `kube_cel` reads no deeper one.
const MOST_DEPTH: usize = 60;
/// The most schemas in a schema.
const MOST_NODES: usize = 20_000;
/// The most bytes of all defaults together: each is put wherever its field is missing.
const MOST_DEFAULTS: usize = 64 * 1024;
/// The most rules, and the most bytes of one and of all, the expressions of their messages too: each is parsed.
const MOST_RULES: usize = 500;
const LONGEST_RULE: usize = 5_000;
const MOST_OF_RULES: usize = 50_000;
/// The most patterns, and the most bytes of one: each is compiled.
const MOST_PATTERNS: usize = 1_000;
const LONGEST_PATTERN: usize = 2_000;

/// What a schema holds.
#[derive(Debug, Default)]
pub(super) struct SchemaSize {
    nodes: usize,
    pub(super) defaults: usize,
    rules: usize,
    bytes_of_rules: usize,
    patterns: usize,
    /// How many schemas stand below `anyOf` and the like: each of them looks at the value again.
    judging: usize,
    /// The most fields that one of the schemas requires.
    required: usize,
}

impl SchemaSize {
    /// The size of a schema, or why it is none that is read.
    pub(super) fn of(schema: &Value) -> Result<Self, String> {
        let mut size = Self::default();
        size.add(schema, 0, false)?;
        Ok(size)
    }

    /// How many faults a value may have at most for each of its parts.
    pub(super) fn looks(&self) -> usize {
        self.judging.saturating_add(self.required)
    }

    fn add(&mut self, schema: &Value, depth: usize, judges: bool) -> Result<(), String> {
        let Some(map) = schema.as_object() else { return Ok(()) };
        self.nodes += 1;
        self.judging += usize::from(judges);
        let required = map.get("required").and_then(Value::as_array).map_or(0, Vec::len);
        self.required = self.required.max(required);
        if depth > MOST_DEPTH {
            return Err(format!("its schema is deeper than {MOST_DEPTH} levels"));
        }
        if self.nodes > MOST_NODES {
            return Err(format!("its schema has more than {MOST_NODES} parts"));
        }
        if let Some(default) = map.get("default") {
            self.defaults += default.to_string().len();
            if self.defaults > MOST_DEFAULTS {
                return Err(format!("its defaults have more than {MOST_DEFAULTS} bytes"));
            }
        }
        self.rules(map.get("x-kubernetes-validations"))?;
        if let Some(pattern) = map.get("pattern").and_then(Value::as_str) {
            self.patterns += 1;
            if self.patterns > MOST_PATTERNS || pattern.len() > LONGEST_PATTERN {
                return Err(format!(
                    "it has more than {MOST_PATTERNS} patterns, or one of more than {LONGEST_PATTERN} bytes"
                ));
            }
        }
        for (key, value) in map {
            match (key.as_str(), value) {
                ("properties", Value::Object(all)) => {
                    all.values().try_for_each(|inner| self.add(inner, depth + 1, judges))?;
                }
                ("items" | "additionalProperties", inner) => self.add(inner, depth + 1, judges)?,
                ("not", inner) => self.add(inner, depth + 1, true)?,
                ("anyOf" | "oneOf" | "allOf", Value::Array(all)) => {
                    all.iter().try_for_each(|inner| self.add(inner, depth + 1, true))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn rules(&mut self, rules: Option<&Value>) -> Result<(), String> {
        let Some(rules) = rules.and_then(Value::as_array) else { return Ok(()) };
        self.rules += rules.len();
        if self.rules > MOST_RULES {
            return Err(format!("it has more than {MOST_RULES} rules"));
        }
        let texts = rules.iter().flat_map(|rule| [&rule["rule"], &rule["messageExpression"]]);
        for bytes in texts.filter_map(Value::as_str).map(str::len) {
            self.bytes_of_rules += bytes;
            if bytes > LONGEST_RULE || self.bytes_of_rules > MOST_OF_RULES {
                return Err(format!(
                    "one of its rules has more than {LONGEST_RULE} bytes, or all have more than {MOST_OF_RULES}"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(schema: &Value) -> String {
        SchemaSize::of(schema).unwrap_err()
    }

    #[test]
    fn what_is_too_large_is_said() {
        let mut deep = json!({});
        for _ in 0..=MOST_DEPTH {
            deep = json!({ "items": deep });
        }
        assert!(refused(&deep).contains("deeper"));
        let many: Value = (0..MOST_NODES).map(|n| (n.to_string(), json!({}))).collect();
        assert!(refused(&json!({ "properties": many })).contains("parts"));
        let default = json!({"default": "x".repeat(MOST_DEFAULTS)});
        assert!(refused(&default).contains("defaults"));
        let rule = |rule: &str| json!({"rule": rule});
        let long = json!({"x-kubernetes-validations": [rule(&"x".repeat(LONGEST_RULE + 1))]});
        assert!(refused(&long).contains("bytes"));
        let long = json!({"x-kubernetes-validations": vec![rule(&"x".repeat(4_000)); 13]});
        assert!(refused(&long).contains("bytes"));
        assert!(refused(&json!({"pattern": "x".repeat(LONGEST_PATTERN + 1)})).contains("patterns"));
        let many = json!({"x-kubernetes-validations": vec![rule("true"); MOST_RULES + 1]});
        assert!(refused(&many).contains("rules"));
    }

    #[test]
    fn what_judges_is_counted() {
        let schema = json!({"properties": {"a": {"anyOf": [{}, {"not": {}}]}}});
        assert_eq!(SchemaSize::of(&schema).unwrap().looks(), 3);
        let schema = json!({"required": ["a"], "items": {"required": ["a", "b"]}});
        assert_eq!(SchemaSize::of(&schema).unwrap().looks(), 2);
    }
}
