//! What in a schema can mean nothing, for its author.

use serde_json::Value;

use super::{ParameterSchema, ParameterType};
use crate::diag::FieldPath;

/// What a schema is within.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// Nothing: it has all parameters.
    All,
    /// A parameter.
    Parameter,
    /// The document that a text holds.
    Document,
}

impl ParameterSchema {
    /// What is wrong with the schema of all parameters, which is an object with these for its fields.
    #[must_use]
    pub fn nonsense(&self) -> Option<String> {
        if self.kind != Some(ParameterType::Object) || self.additional_properties.is_some() {
            return Some("`openAPIV3Schema` is of `type: object`, with `properties`".to_owned());
        }
        if self.default.is_some() {
            return Some(
                "`openAPIV3Schema` has no default of its own: its properties have".to_owned(),
            );
        }
        self.wrong(&FieldPath::keys("parameters"), Within::All)
    }

    fn wrong(&self, at: &FieldPath, within: Within) -> Option<String> {
        let below = if within == Within::Document { within } else { Within::Parameter };
        self.wrong_form(at)
            .or_else(|| self.wrong_freedom(at, within))
            .or_else(|| self.wrong_values(at))
            .or_else(|| {
                let properties = self.properties.iter();
                properties.into_iter().find_map(|(name, schema)| {
                    let place = at.key(name);
                    if schema.per_pool && within != Within::All {
                        return Some(format!(
                            "`{place}` is within a parameter: `x-carp-per-pool` is for whole ones"
                        ));
                    }
                    schema.wrong(&place, below)
                })
            })
            .or_else(|| self.keys.as_ref()?.wrong(at))
            .or_else(|| self.secret.as_ref()?.wrong(self, at))
            .or_else(|| self.document.as_ref()?.wrong(&at.key("*"), Within::Document))
            .or_else(|| self.items.as_ref()?.wrong(&at.index(0), below))
            .or_else(|| self.additional_properties.as_ref()?.wrong(&at.key("*"), below))
    }

    /// Fields of which nothing is known, outside of a document: a fraction among them is read in two ways.
    fn wrong_freedom(&self, at: &FieldPath, within: Within) -> Option<String> {
        if !self.any_fields {
            return None;
        }
        let word = "`x-kubernetes-preserve-unknown-fields`";
        if within != Within::Document {
            return Some(format!("`{at}`: {word} is for what a text holds (`x-carp-yaml`)"));
        }
        let is_object = self.kind == Some(ParameterType::Object);
        (!is_object || self.additional_properties.is_some())
            .then(|| format!("`{at}`: {word} is for objects without `additionalProperties`"))
    }

    /// Keywords that are not for its type.
    fn wrong_form(&self, at: &FieldPath) -> Option<String> {
        use ParameterType::{Array, Integer, Object, String};
        if self.kind.is_some() == self.int_or_string {
            return Some(format!(
                "`{at}` has either a `type` or `x-kubernetes-int-or-string: true`"
            ));
        }
        let is = |kind: ParameterType| self.kind == Some(kind);
        let is_text = is(String) || self.int_or_string;
        let of_numbers = self.minimum.is_some() || self.maximum.is_some();
        let of_texts = self.min_length.or(self.max_length).is_some() || self.pattern.is_some();
        let of_lists = self.min_items.or(self.max_items).is_some() || self.items.is_some();
        let of_objects = !self.properties.is_empty() || self.additional_properties.is_some();
        for (has, may, what) in [
            (of_numbers, is(Integer), "`minimum` and `maximum` are for whole numbers"),
            (of_texts, is_text, "`pattern`, `minLength` and `maxLength` are for texts"),
            (
                of_lists || self.unique_items,
                is(Array),
                "`items`, `minItems`, `maxItems` and `uniqueItems` are for lists",
            ),
            (self.document.is_some(), is(String), "`x-carp-yaml` is for texts"),
            (
                self.keys.is_some(),
                self.additional_properties.is_some(),
                "`x-carp-keys` is for `additionalProperties`",
            ),
            (of_objects, is(Object), "`properties` and `additionalProperties` are for objects"),
        ] {
            if has && !may {
                return Some(format!("`{at}`: {what}"));
            }
        }
        if is(Array) && self.items.is_none() {
            return Some(format!("`{at}` is a list without `items`"));
        }
        if !self.properties.is_empty() && self.additional_properties.is_some() {
            return Some(format!(
                "`{at}` has `properties` and `additionalProperties`: it may have one of them"
            ));
        }
        let unknown = self.required.iter().find(|name| !self.properties.contains_key(*name));
        unknown.map(|name| format!("`{at}` requires `{name}`, which is not in its `properties`"))
    }

    /// Values in it that are not of it.
    fn wrong_values(&self, at: &FieldPath) -> Option<String> {
        let pattern = self.pattern.as_deref();
        if let Some(pattern) = pattern.filter(|pattern| regex_lite::Regex::new(pattern).is_err()) {
            return Some(format!("`{at}`: `{pattern}` is no regular expression"));
        }
        let plain = Self { allowed: Vec::new(), ..self.clone() };
        let misfit = |value: &Value, schema: &Self| {
            schema.faults(&schema.filled(value), at).into_iter().next().map(|fault| fault.message)
        };
        let listed = self.allowed.iter().find_map(|value| misfit(value, &plain));
        let listed = listed.map(|why| format!("a value of `enum` is none of `{at}`: {why}"));
        let default = || {
            let why = misfit(self.default.as_ref()?, self)?;
            Some(format!("the default of `{at}` is none: {why}"))
        };
        let example = || {
            let why = misfit(self.example.as_ref()?, self)?;
            Some(format!("the example of `{at}` is none: {why}"))
        };
        listed.or_else(default).or_else(example)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wrong(parameter: Value) -> String {
        let schema = json!({"type": "object", "properties": {"p": parameter}});
        let schema: ParameterSchema = serde_json::from_value(schema).unwrap();
        schema.nonsense().unwrap_or_default()
    }

    #[test]
    fn what_can_mean_something_is_fine() {
        for fine in [
            json!({"type": "string", "enum": ["a", "b"], "default": "a"}),
            json!({"type": "object", "default": {}, "properties": {"a": {"type": "integer", "default": 1}}, "required": ["a"]}),
            json!({"type": "array", "items": {"type": "object", "properties": {"a": {"type": "boolean"}}}, "default": [{"a": true}]}),
            json!({"x-kubernetes-int-or-string": true, "default": "25%", "pattern": "%$"}),
            json!({"type": "integer", "x-carp-per-pool": true, "x-carp-immutable": true}),
            json!({"type": "string", "x-carp-yaml": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}),
        ] {
            assert_eq!(wrong(fine), "");
        }
    }

    #[test]
    fn what_can_mean_nothing_is_told() {
        for (schema, says) in [
            (json!({}), "has either a `type`"),
            (json!({"type": "string", "minimum": 1}), "are for whole numbers"),
            (json!({"type": "integer", "pattern": "a"}), "are for texts"),
            (json!({"type": "object", "items": {"type": "string"}}), "are for lists"),
            (json!({"type": "string", "properties": {"a": {"type": "string"}}}), "are for objects"),
            (json!({"type": "array"}), "a list without `items`"),
            (json!({"type": "integer", "x-carp-yaml": {"type": "object"}}), "is for texts"),
            (json!({"type": "string", "x-carp-yaml": {"type": "array"}}), "a list without `items`"),
            (json!({"type": "object", "x-carp-keys": {}}), "is for `additionalProperties`"),
            (
                json!({"type": "object", "additionalProperties": {"type": "string"}, "x-carp-keys": {"pattern": "("}}),
                "no regular expression",
            ),
            (json!({"type": "string", "x-carp-secret": {}}), "`x-carp-secret` has a `key`"),
            (json!({"type": "object", "required": ["a"]}), "requires `a`"),
            (
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}),
                "one of them",
            ),
            (json!({"type": "string", "pattern": "("}), "no regular expression"),
            (json!({"type": "string", "enum": [1]}), "a value of `enum`"),
            (
                json!({"type": "string", "enum": ["a"], "default": "b"}),
                "the default of `parameters.p`",
            ),
            (
                json!({"type": "integer", "maximum": 3, "example": 4}),
                "the example of `parameters.p`",
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "string", "x-carp-per-pool": true}}}),
                "for whole ones",
            ),
            (
                json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
                "is for what a text holds",
            ),
            (
                json!({"type": "string", "x-carp-yaml": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                    "additionalProperties": {"type": "string"}}}),
                "is for objects without",
            ),
            (
                json!({"type": "array", "items": {"type": "array"}}),
                "`parameters.p[0]` is a list without",
            ),
        ] {
            let shown = schema.to_string();
            let told = wrong(schema);
            assert!(told.contains(says), "{shown}: {told}");
        }
    }

    #[test]
    fn the_whole_is_an_object() {
        for schema in [
            json!({"type": "string"}),
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "default": {}}),
        ] {
            let schema: ParameterSchema = serde_json::from_value(schema).unwrap();
            assert!(schema.nonsense().is_some());
        }
        let slip = json!({"type": "object", "propertys": {}});
        assert!(serde_json::from_value::<ParameterSchema>(slip).is_err());
    }
}
