//! Defaults filled in, as an API server does it with a structural schema
//! (apiextensions-apiserver, `pkg/apiserver/schema/defaulting`).

use serde_json::{Map, Value};

use super::ParameterSchema;

impl ParameterSchema {
    /// A value with all defaults of its schema, in it and below it. Those of an object that is not there are not
    /// filled in, unless it has a default itself.
    #[must_use]
    pub fn filled(&self, value: &Value) -> Value {
        match value {
            Value::Object(map) => Value::Object(self.filled_object(map)),
            Value::Array(items) => match &self.items {
                Some(schema) => items.iter().map(|item| schema.filled(item)).collect(),
                None => value.clone(),
            },
            scalar => scalar.clone(),
        }
    }

    fn filled_object(&self, given: &Map<String, Value>) -> Map<String, Value> {
        let mut filled = Map::new();
        for (name, schema) in &self.properties {
            if let Some(value) = given.get(name).or(schema.default.as_ref()) {
                filled.insert(name.clone(), schema.filled(value));
            }
        }
        for (name, value) in given.iter().filter(|(name, _)| !self.properties.contains_key(*name)) {
            let schema = self.additional_properties.as_ref();
            let value = schema.map_or_else(|| value.clone(), |schema| schema.filled(value));
            filled.insert(name.clone(), value);
        }
        filled
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(value: Value) -> ParameterSchema {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn what_nobody_says_is_what_it_is_by_default() {
        let schema = schema(json!({"type": "object", "properties": {
            "outbound": {"type": "string", "default": "LoadBalancer"},
            "open": {"type": "boolean", "default": true},
            "proxy": {"type": "object", "properties": {"port": {"type": "integer", "default": 3128}}},
            "vnet": {"type": "object", "default": {}, "properties": {"name": {"type": "string", "default": "v"}}},
            "disks": {"type": "array", "items": {"type": "object", "properties": {
                "sizeGB": {"type": "integer", "default": 64}}}},
            "by": {"type": "object", "additionalProperties": {"type": "object", "properties": {
                "a": {"type": "integer", "default": 1}}}},
        }}));
        assert_eq!(
            schema.filled(&json!({})),
            json!({"outbound": "LoadBalancer", "open": true, "vnet": {"name": "v"}}),
            "and nothing of an object that is not there"
        );
        assert_eq!(
            schema.filled(
                &json!({"open": false, "proxy": {}, "disks": [{}, {"sizeGB": 9}], "by": {"x": {}}})
            ),
            json!({
                "outbound": "LoadBalancer", "open": false, "proxy": {"port": 3128}, "vnet": {"name": "v"},
                "disks": [{"sizeGB": 64}, {"sizeGB": 9}], "by": {"x": {"a": 1}},
            })
        );
    }
}
