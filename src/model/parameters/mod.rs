//! What a flavor is told besides the fields of its kind: parameters, typed by a schema in its manifest. The words
//! are those of a CRD's structural schema and of the variables of Cluster API's `ClusterClass`
//! (cluster-api, `api/core/v1beta2/clusterclass_types.go`, `JSONSchemaProps`).

mod check;
mod document;
mod fault;
mod fill;
mod keys;
mod listed;
mod secrets;
mod sound;

pub use fault::ParameterFault;
pub use keys::ParameterKeys;
pub use listed::ListedParameter;
pub use secrets::{NamedSecrets, SecretNamed};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::api::Parameters;

/// The part `parameters` of a flavor's manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FlavorParameters {
    /// Files with parameters that several flavors have, by name: `templates/parameters/NAME.yaml`. What the flavor
    /// says itself takes their place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// The flavor's own, as the properties of an object.
    #[serde(rename = "openAPIV3Schema", default = "ParameterSchema::object")]
    pub schema: ParameterSchema,
}

impl Default for FlavorParameters {
    fn default() -> Self {
        Self { include: Vec::new(), schema: ParameterSchema::object() }
    }
}

impl FlavorParameters {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// `templates/parameters/NAME.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterFile {
    /// The parameters, as the properties of an object.
    #[serde(rename = "openAPIV3Schema")]
    pub schema: ParameterSchema,
}

/// What a value may be: the part of `OpenAPI`'s schemas that CRDs have, without what would make two readings of it.
/// There are no fractions, which not every reader of YAML writes as it has read them: quantities are text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParameterSchema {
    /// The type; `None` for a whole number or text.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ParameterType>,
    /// Whether it is a whole number or text, such as `1` or `25%`.
    #[serde(rename = "x-kubernetes-int-or-string", default, skip_serializing_if = "is_false")]
    pub int_or_string: bool,
    /// What it means, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What it is where nobody says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// An example, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
    /// The only values; empty where there are others.
    #[serde(rename = "enum", default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Value>,
    /// The fields of an object.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, ParameterSchema>,
    /// The fields that must be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<String>,
    /// What the values of an object are whose keys are data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_properties: Option<Box<ParameterSchema>>,
    /// Whether an object has whatever fields it has; in a document alone, for a text comes to templates as it is.
    #[serde(
        rename = "x-kubernetes-preserve-unknown-fields",
        default,
        skip_serializing_if = "is_false"
    )]
    pub any_fields: bool,
    /// What these keys may be.
    #[serde(rename = "x-carp-keys", default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<ParameterKeys>,
    /// What the items of a list are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<ParameterSchema>>,
    /// The least number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<i64>,
    /// The greatest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<i64>,
    /// The fewest characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_length: Option<usize>,
    /// The most characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<usize>,
    /// The form of a text, as a regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// What the document is that a text holds.
    #[serde(rename = "x-carp-yaml", default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Box<ParameterSchema>>,
    /// That it names a Secret, which people make.
    #[serde(rename = "x-carp-secret", default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretNamed>,
    /// The fewest items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_items: Option<usize>,
    /// The most items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_items: Option<usize>,
    /// Whether no item stands twice.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unique_items: bool,
    /// Whether it stays as it is once a cluster has it.
    #[serde(rename = "x-carp-immutable", default, skip_serializing_if = "is_false")]
    pub immutable: bool,
    /// Whether a node pool may say another value for itself.
    #[serde(rename = "x-carp-per-pool", default, skip_serializing_if = "is_false")]
    pub per_pool: bool,
    /// Whether it is the platform's to say: a class may, and a tenant that has a folder may not.
    #[serde(rename = "x-carp-platform", default, skip_serializing_if = "is_false")]
    pub platform: bool,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ParameterType {
    /// A mapping.
    Object,
    /// A list.
    Array,
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Boolean,
}

impl ParameterSchema {
    /// An object without fields.
    #[must_use]
    pub fn object() -> Self {
        Self { kind: Some(ParameterType::Object), ..Self::default() }
    }

    /// Adds what another file declares. What is here already stays.
    pub(super) fn include(&mut self, other: &Self) {
        for (name, schema) in &other.properties {
            self.properties.entry(name.clone()).or_insert_with(|| schema.clone());
        }
        self.required.extend(other.required.iter().cloned());
        self.required.sort_unstable();
        self.required.dedup();
    }

    /// What is declared of the values that a pool may say for itself.
    pub fn of_pools(&self) -> impl Iterator<Item = (&String, &Self)> {
        self.properties.iter().filter(|(_, schema)| schema.per_pool)
    }

    /// The fields that stay as they are once a cluster has them, by their names from the outermost in.
    #[must_use]
    pub fn immutable_fields(&self) -> Vec<Vec<&str>> {
        self.fields_that(|schema| schema.immutable)
    }

    /// The fields that are the platform's to say, in the same way.
    #[must_use]
    pub fn platform_fields(&self) -> Vec<Vec<&str>> {
        self.fields_that(|schema| schema.platform)
    }

    fn fields_that(&self, are_so: fn(&Self) -> bool) -> Vec<Vec<&str>> {
        let mut all = Vec::new();
        for (name, schema) in &self.properties {
            if are_so(schema) {
                all.push(vec![name.as_str()]);
            } else {
                for mut path in schema.fields_that(are_so) {
                    path.insert(0, name);
                    all.push(path);
                }
            }
        }
        all
    }
}

/// The parameters of something and of its class: those of the class that it does not say itself, each as a whole.
#[must_use]
pub fn with_class(own: &Parameters, class: &Parameters) -> Parameters {
    let mut all = class.clone();
    all.0.extend(own.0.iter().map(|(name, value)| (name.clone(), value.clone())));
    all
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn is_false(value: &bool) -> bool {
    !*value
}
