//! What a flavor is told besides the fields of its kind.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The keyword of a schema whose values a flavor types. A CRD does not have it.
pub const TYPED_BY_FLAVOR: &str = "x-carp-typed-by-flavor";

/// Values by name. Which there are, and what they may be, says the flavor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Parameters(pub BTreeMap<String, Value>);

impl Parameters {
    pub(super) fn is_default(&self) -> bool {
        self.0.is_empty()
    }

    /// The whole as one value.
    #[must_use]
    pub fn value(&self) -> Value {
        Value::Object(self.0.clone().into_iter().collect())
    }
}

/// An API server keeps what it cannot know.
impl JsonSchema for Parameters {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Parameters".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object", "x-kubernetes-preserve-unknown-fields": true, TYPED_BY_FLAVOR: true,
        })
    }
}
