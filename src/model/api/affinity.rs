//! What a PlacementPolicy says of workers beyond plain terms: fields, ordered groups, the strategy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::placement::{ExpressionOperator, PlacementTerm, PreferredTerm};

/// Terms of a policy on workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyAffinity {
    /// Terms that a worker must all meet, in whatever group it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<PlacementTerm>,
    /// Terms that a worker had better meet; the weights of those it meets are added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preferred: Vec<PreferredTerm>,
    /// Groups of workers, tried in this order, each alone: a worker of a later group takes a cluster only
    /// where none of the earlier ones can. None means that all workers are one group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<AffinityGroup>,
    /// Where a cluster that is placed anew begins. Default: `Never`.
    #[serde(default, skip_serializing_if = "Failback::is_default")]
    pub failback: Failback,
}

/// One group of workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AffinityGroup {
    /// The group's name, by which records remember it.
    pub name: String,
    /// Terms that a worker of the group must all meet. Without any, every worker is in the group; only
    /// the last group may be such.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<PlacementTerm>,
}

/// Where a cluster that was placed in a group, and is placed anew for a cause of its own, begins. None of
/// them moves a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Failback {
    /// With the group that it was in: the earlier ones are past.
    #[default]
    Never,
    /// With the first group.
    OnMove,
}

impl Failback {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What the share of a worker's capacity that is used means for the next cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Strategy {
    /// The worker that is used less is better: clusters are spread.
    #[default]
    Spread,
    /// The worker that is used more is better: workers are filled one after the other.
    BinPack,
}

impl Strategy {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
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

/// A field of a worker.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum WorkerField {
    /// Where the worker is.
    Location,
    /// Whose machines it is made of.
    Provider,
    /// The zones of its node pools.
    Zone,
}

impl WorkerField {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Location, Self::Provider, Self::Zone];

    /// The name as users see it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Location => "location",
            Self::Provider => "provider",
            Self::Zone => "zone",
        }
    }
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
