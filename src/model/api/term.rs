//! Terms on workers: by name, place, labels and fields.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::words::words;
use super::selector::{Expression, ExpressionOperator};

/// A cluster's own terms on workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Affinity {
    /// Terms that a worker must all meet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<PlacementTerm>,
    /// Terms that a worker had better meet; the weights of those it meets are added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preferred: Vec<PreferredTerm>,
}

/// A term on workers. Every part that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlacementTerm {
    /// Names of workers: the worker has one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// None of these workers; this always wins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// A worker in one of these locations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<String>,
    /// A worker of one of these providers: `azure` for the flavor `capz`, `docker` for `kind`, and what
    /// an attached worker says of itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub providers: Vec<String>,
    /// A worker with node pools in one of these zones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<String>,
    /// A worker whose fields meet all these expressions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub match_fields: Vec<FieldExpression>,
    /// A worker with all these labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub match_labels: BTreeMap<String, String>,
    /// A worker whose labels meet all these expressions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<Expression>,
}

/// A term that is preferred.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreferredTerm {
    /// How much the term counts beside the others, from 1 to 100.
    #[schemars(range(min = 1, max = 100))]
    pub weight: u32,
    /// What a worker must meet for the weight to count for it.
    pub term: PlacementTerm,
}

/// A requirement on a field of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldExpression {
    /// The field of the worker that is compared.
    pub key: WorkerField,
    /// How the value of the field is compared with `values`.
    pub operator: ExpressionOperator,
    /// With which values; for `In` and `NotIn` only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

impl FieldExpression {
    /// Whether the values of the field meet it. A field may have several values (zones) or none: `In`
    /// holds where one of them is given, `NotIn` where none is.
    #[must_use]
    pub fn matches(&self, found: &[&str]) -> bool {
        let given = || found.iter().any(|value| self.values.iter().any(|v| v == value));
        match self.operator {
            ExpressionOperator::In => given(),
            ExpressionOperator::NotIn => !given(),
            ExpressionOperator::Exists => !found.is_empty(),
            ExpressionOperator::DoesNotExist => found.is_empty(),
        }
    }
}

words! {
    /// A field of a worker.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub WorkerField:
    /// Where the worker is.
    Location = "location",
    /// Whose machines it is made of.
    Provider = "provider",
    /// The zones of its node pools.
    Zone = "zone",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_with_several_values_matches_by_any_of_them() {
        use ExpressionOperator::{DoesNotExist, Exists, In, NotIn};
        for (operator, one, two, other, none) in [
            (In, true, true, false, false),
            (NotIn, false, false, true, true),
            (Exists, true, true, true, false),
            (DoesNotExist, false, false, false, true),
        ] {
            let values = vec!["1".to_owned()];
            let expression = FieldExpression { key: WorkerField::Zone, operator, values };
            assert_eq!(expression.matches(&["1"]), one, "{operator:?} of zone 1");
            assert_eq!(expression.matches(&["1", "2"]), two, "{operator:?} of zones 1 and 2");
            assert_eq!(expression.matches(&["2"]), other, "{operator:?} of zone 2");
            assert_eq!(expression.matches(&[]), none, "{operator:?} without zones");
        }
    }
}
