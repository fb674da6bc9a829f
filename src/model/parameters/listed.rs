//! The parameters of a flavor as people read them, one a line.

use serde_json::Value;

use super::{ParameterSchema, ParameterType};

/// A parameter, or a field of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedParameter {
    /// Its name; that of a field is after those around it: `vnet.name`, `dataDisks[].sizeGB`.
    pub name: String,
    /// `string`, `integer`, `[]Object`, `map[string]string`: as `kubectl explain` has it.
    pub kind: String,
    /// What it means.
    pub description: String,
    /// What else is to know, in sentences without a full stop.
    pub facts: Vec<String>,
}

impl ParameterSchema {
    /// Every parameter with its fields, in the order of the names.
    #[must_use]
    pub fn listed(&self) -> Vec<ListedParameter> {
        let mut all = Vec::new();
        self.list("", &mut all);
        all
    }

    fn list(&self, above: &str, all: &mut Vec<ListedParameter>) {
        for (own, schema) in &self.properties {
            let name = format!("{above}{own}");
            all.push(ListedParameter {
                name: name.clone(),
                kind: schema.kind_in_words(),
                description: schema.description.clone(),
                facts: schema.facts(self.required.contains(own)),
            });
            let (below, mark) = match &schema.items {
                Some(items) => (&**items, "[]"),
                None => (schema, ""),
            };
            below.list(&format!("{name}{mark}."), all);
        }
    }

    fn kind_in_words(&self) -> String {
        match self.kind {
            None => "integer or string".to_owned(),
            Some(ParameterType::Array) => {
                let of = self.items.as_ref().map(|items| items.kind_in_words());
                format!("[]{}", of.unwrap_or_default())
            }
            Some(ParameterType::Object) => match &self.additional_properties {
                Some(values) => format!("map[string]{}", values.kind_in_words()),
                None => "Object".to_owned(),
            },
            Some(ParameterType::String) => "string".to_owned(),
            Some(ParameterType::Integer) => "integer".to_owned(),
            Some(ParameterType::Boolean) => "boolean".to_owned(),
        }
    }

    fn facts(&self, required: bool) -> Vec<String> {
        let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut facts = Vec::new();
        if required {
            facts.push("Required".to_owned());
        }
        if !self.allowed.is_empty() {
            let words: Vec<_> = self.allowed.iter().map(shown).collect();
            facts.push(format!("One of: {}", words.join(", ")));
        }
        if let Some(keys) = self.keys.as_ref().filter(|keys| !keys.reserved.is_empty()) {
            let reserved = keys.reserved.iter().map(|key| format!("`{key}`"));
            let reserved = reserved.collect::<Vec<_>>().join(", ");
            facts.push(format!("Not for anybody to say: {reserved}"));
        }
        match (self.minimum, self.maximum) {
            (Some(least), Some(most)) => facts.push(format!("From {least} to {most}")),
            (Some(least), None) => facts.push(format!("At least {least}")),
            (None, Some(most)) => facts.push(format!("At most {most}")),
            (None, None) => {}
        }
        facts.extend(self.default.as_ref().map(|value| format!("Default: {}", shown(value))));
        facts.extend(self.example.as_ref().map(|value| format!("Example: {}", shown(value))));
        if self.per_pool {
            facts.push("A pool may have its own".to_owned());
        }
        if self.immutable {
            facts.push("It stays as it is".to_owned());
        }
        if self.platform {
            facts.push("A tenant with a folder has it by a class alone".to_owned());
        }
        facts
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_come_after_what_they_are_of() {
        let schema: ParameterSchema = serde_json::from_value(json!({"type": "object", "properties": {
            "vnet": {"type": "object", "x-carp-immutable": true, "required": ["name"], "properties": {
                "name": {"type": "string", "description": "Its name.", "example": "hub"}}},
            "disks": {"type": "array", "x-carp-per-pool": true, "items": {"type": "object", "properties": {
                "sizeGB": {"type": "integer", "minimum": 4, "default": 64}}}},
            "args": {"type": "object", "additionalProperties": {"type": "string"}, "x-carp-keys": {"reserved": ["a", "b"]}},
            "surge": {"x-kubernetes-int-or-string": true, "default": 1},
            "type": {"type": "string", "enum": ["a", "b"]},
        }}))
        .unwrap();
        let told = schema
            .listed()
            .into_iter()
            .map(|p| format!("{} <{}> {}: {}", p.name, p.kind, p.description, p.facts.join(". ")));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                "args <map[string]string> : Not for anybody to say: `a`, `b`",
                "disks <[]Object> : A pool may have its own",
                "disks[].sizeGB <integer> : At least 4. Default: 64",
                "surge <integer or string> : Default: 1",
                "type <string> : One of: a, b",
                "vnet <Object> : It stays as it is",
                "vnet.name <string> Its name.: Required. Example: hub",
            ]
        );
    }
}
