//! What a kind's documents look like, taken from the schema that the CRDs come from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, OnceLock};

use regex_lite::Regex;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::kind::Kind;
use crate::model::api::{
    AS_WRITTEN, AcknowledgementSpec, FleetSpec, ManagedClusterClassSpec, ManagedClusterSpec,
    OverridePolicySpec, PlacementPolicySpec, PlacementPolicyTestSpec, TYPED_BY_FLAVOR,
    WorkerOverlaySpec, WorkerPoolSpec, WorkerSpec,
};

/// The form of a value.
#[derive(Debug)]
pub(super) enum Shape {
    /// A mapping with these fields and no others.
    Object { fields: BTreeMap<String, Shape>, required: BTreeSet<String> },
    /// A mapping from any text.
    Map(Box<Shape>),
    /// A sequence.
    List(Box<Shape>),
    /// Text, perhaps of a pattern.
    Text { pattern: Option<Regex> },
    /// One of these words.
    Word(Vec<String>),
    /// A whole number.
    Integer { min: i64, max: i64 },
    /// `true` or `false`.
    Boolean,
    /// A Kubernetes quantity: a whole number or text.
    Quantity,
    /// A mapping whose form is another's to say: a flavor's parameters.
    Free,
    /// Anything, taken as it is written: `null`, and what is empty, mean something there.
    AsWritten,
    /// A mapping, taken as it is written.
    MappingAsWritten,
    /// Anything.
    Any,
}

/// The shapes of the kinds, in their order, each made when the first document of its kind is read.
static SPECS: [OnceLock<Shape>; Kind::ALL.len()] = [const { OnceLock::new() }; Kind::ALL.len()];

static METADATA: LazyLock<Shape> = LazyLock::new(|| {
    let text = || Shape::Text { pattern: None };
    let map = || Shape::Map(Box::new(text()));
    let fields =
        [("name", text()), ("namespace", text()), ("labels", map()), ("annotations", map())];
    Shape::Object {
        fields: fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect(),
        required: ["name".to_owned()].into(),
    }
});

fn schema(kind: Kind) -> Value {
    fn of<T: JsonSchema>() -> Value {
        let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
        settings.into_generator().into_root_schema_for::<T>().to_value()
    }
    match kind {
        Kind::Fleet => of::<FleetSpec>(),
        Kind::ManagedCluster => of::<ManagedClusterSpec>(),
        Kind::Worker => of::<WorkerSpec>(),
        Kind::WorkerOverlay => of::<WorkerOverlaySpec>(),
        Kind::WorkerPool => of::<WorkerPoolSpec>(),
        Kind::ManagedClusterClass => of::<ManagedClusterClassSpec>(),
        Kind::PlacementPolicy => of::<PlacementPolicySpec>(),
        Kind::PlacementPolicyTest => of::<PlacementPolicyTestSpec>(),
        Kind::Acknowledgement => of::<AcknowledgementSpec>(),
        Kind::OverridePolicy => of::<OverridePolicySpec>(),
    }
}

impl Shape {
    /// The form of a kind's `spec`.
    pub(super) fn of_spec(kind: Kind) -> &'static Self {
        SPECS[kind as usize].get_or_init(|| Self::of_schema(&schema(kind)))
    }

    /// The form of `metadata`.
    pub(super) fn of_metadata() -> &'static Self {
        &METADATA
    }

    /// What a person would call it.
    pub(super) fn described(&self) -> &'static str {
        match self {
            Self::Object { .. } | Self::Map(_) | Self::Free | Self::MappingAsWritten => "a mapping",
            Self::List(_) => "a list",
            Self::Text { .. } | Self::Word(_) => "text",
            Self::Integer { .. } => "a whole number",
            Self::Boolean => "`true` or `false`",
            Self::Quantity => "a quantity",
            Self::AsWritten | Self::Any => "a value",
        }
    }

    fn of_schema(schema: &Value) -> Self {
        if schema.get("x-kubernetes-int-or-string").is_some() {
            return Self::Quantity;
        }
        if schema.get(TYPED_BY_FLAVOR).is_some() {
            return Self::Free;
        }
        if schema.get(AS_WRITTEN).is_some() {
            let mapping = type_of(schema) == Some("object");
            return if mapping { Self::MappingAsWritten } else { Self::AsWritten };
        }
        let words = words(schema);
        if !words.is_empty() {
            return Self::Word(words);
        }
        if let Some(inner) = not_null(schema, "anyOf").or_else(|| not_null(schema, "oneOf")) {
            return Self::of_schema(inner);
        }
        match type_of(schema) {
            Some("object") => Self::of_object(schema),
            Some("array") => {
                Self::List(Box::new(schema.get("items").map_or(Self::Any, Self::of_schema)))
            }
            Some("string") => {
                let pattern = schema.get("pattern").and_then(Value::as_str);
                Self::Text { pattern: pattern.and_then(|p| Regex::new(p).ok()) }
            }
            Some("integer") => Self::of_integer(schema),
            Some("boolean") => Self::Boolean,
            _ => Self::Any,
        }
    }

    fn of_object(schema: &Value) -> Self {
        if let Some(values) = schema.get("additionalProperties").filter(|v| v.is_object()) {
            return Self::Map(Box::new(Self::of_schema(values)));
        }
        let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        Self::Object {
            fields: fields.map(|(k, v)| (k.clone(), Self::of_schema(v))).collect(),
            required: required.filter_map(Value::as_str).map(str::to_owned).collect(),
        }
    }

    fn of_integer(schema: &Value) -> Self {
        let (low, high) = match schema.get("format").and_then(Value::as_str) {
            Some("int32") => (i64::from(i32::MIN), i64::from(i32::MAX)),
            Some("uint32") => (0, i64::from(u32::MAX)),
            _ => (i64::MIN, i64::MAX),
        };
        let bound = |key: &str| schema.get(key).and_then(Value::as_i64);
        Self::Integer {
            min: bound("minimum").unwrap_or(low).max(low),
            max: bound("maximum").unwrap_or(high).min(high),
        }
    }
}

/// The type, `null` apart: what is optional may be null.
fn type_of(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::Array(types) => types.iter().filter_map(Value::as_str).find(|t| *t != "null"),
        one => one.as_str(),
    }
}

fn words(schema: &Value) -> Vec<String> {
    let text = |v: &Value| v.as_str().map(str::to_owned);
    if let Some(all) = schema.get("enum").and_then(Value::as_array) {
        return all.iter().filter_map(text).collect();
    }
    let each = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    each.filter_map(|v| v.get("const")).chain(schema.get("const")).filter_map(text).collect()
}

/// The one alternative that is not null.
fn not_null<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    let mut all = schema.get(key)?.as_array()?.iter().filter(|v| type_of(v) != Some("null"));
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(shape: &Shape) -> &BTreeMap<String, Shape> {
        match shape {
            Shape::Object { fields, .. } => fields,
            other => panic!("{other:?} has no fields"),
        }
    }

    #[test]
    fn every_part_of_every_schema_has_a_form() {
        fn visit(path: &str, shape: &Shape) {
            match shape {
                Shape::Any => panic!("{path} could be anything"),
                Shape::Object { fields, .. } => {
                    for (k, v) in fields {
                        visit(&format!("{path}.{k}"), v);
                    }
                }
                Shape::Map(inner) | Shape::List(inner) => visit(&format!("{path}[]"), inner),
                _ => {}
            }
        }
        for &kind in Kind::ALL {
            visit(kind.name(), Shape::of_spec(kind));
            assert!(!fields(Shape::of_spec(kind)).is_empty());
        }
    }

    #[test]
    fn bounds_words_and_patterns_come_from_the_types() {
        let cluster = fields(Shape::of_spec(Kind::ManagedCluster));
        let control_plane = fields(&cluster["controlPlane"]);
        assert!(matches!(control_plane["replicas"], Shape::Integer { min: 1, max: 9 }));
        assert!(matches!(&cluster["deletionPolicy"], Shape::Word(w) if *w == ["Delete", "Orphan"]));
        assert!(matches!(&cluster["version"], Shape::Text { pattern: Some(_) }));
        let priority = Shape::Integer { min: i64::from(i32::MIN), max: i64::from(i32::MAX) };
        assert_eq!(format!("{:?}", cluster["priority"]), format!("{priority:?}"));
    }
}
