//! `PlacementPolicy`: which workers take which clusters.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::duration_seconds;
use super::affinity::{FieldExpression, PolicyAffinity, Strategy};
use super::shared::TaintEffect;
use super::together::{AntiAffinity, SpreadConstraint};

/// Which workers take the clusters that it selects.
#[derive(
    CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "carp.dev",
    version = "v1alpha1",
    kind = "PlacementPolicy",
    doc = "Which workers take the clusters that it selects.",
    namespaced,
    shortname = "pp",
    category = "carp",
    printcolumn = r#"{"name":"Priority","type":"integer","jsonPath":".spec.priority"}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlacementPolicySpec {
    /// Which clusters; the empty selector selects all. One policy applies to a cluster: the one with
    /// the highest `priority`, then the most specific selector (names, then labels, then none of
    /// either), then the smaller name. A policy that is built into carp comes after all of them.
    #[serde(default, skip_serializing_if = "ClusterSelector::is_empty")]
    pub cluster_selector: ClusterSelector,
    /// Which policy applies where several select one cluster.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub priority: i32,
    /// Which workers the clusters of this policy may be on, and which they prefer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affinity: Option<PolicyAffinity>,
    /// The pools of workers that the selected clusters use; none named means all. What a tenant is
    /// granted bounds it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<String>,
    /// Whether the selected clusters are spread over the workers that are otherwise alike, or packed.
    /// Default: `Spread`.
    #[serde(default, skip_serializing_if = "Strategy::is_default")]
    pub strategy: Strategy,
    /// Which taints the selected clusters tolerate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    /// How evenly the selected clusters are spread over domains of workers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spread: Vec<SpreadConstraint>,
    /// Which other clusters the selected ones keep away from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anti_affinity: Vec<AntiAffinity>,
    /// What becomes of a placed cluster that this policy would not place there now.
    #[serde(default, skip_serializing_if = "OnViolation::is_default")]
    pub on_violation: OnViolation,
    /// When the selected clusters leave a worker that is lost. Unset: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failover: Option<Failover>,
}

/// What becomes of a placed cluster that its policy would not place there now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum OnViolation {
    /// It stays, and its status says so.
    #[default]
    Keep,
    /// It moves where it may move (`onWorkerLoss: Rebuild`) and `guards.maxMoves` allows it.
    Move,
}

impl OnViolation {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// When clusters leave a worker that is lost: only those with `onWorkerLoss: Rebuild` do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failover {
    /// For how long a worker must have been silent or unhealthy, such as `30m`.
    #[schemars(regex(pattern = r"^([0-9]+h)?([0-9]+m)?([0-9]+s)?$"))]
    pub grace: String,
    /// How many of the selected clusters may be on the move for this at a time. Default: 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub rate: Option<u32>,
}

impl Failover {
    /// `grace` in seconds; never, where it is no duration.
    #[must_use]
    pub fn grace_seconds(&self) -> i64 {
        duration_seconds(&self.grace).unwrap_or(i64::MAX)
    }

    /// How many may be on the move at a time.
    #[must_use]
    pub fn rate(&self) -> usize {
        self.rate.map_or(5, |rate| usize::try_from(rate).unwrap_or(usize::MAX))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn is_zero(number: &i32) -> bool {
    *number == 0
}

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

/// A label selector, as Kubernetes has it.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LabelSelector {
    /// Labels that must all be there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub match_labels: BTreeMap<String, String>,
    /// Expressions that must all hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<Expression>,
}

impl LabelSelector {
    /// Whether it selects everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }

    /// Whether labels meet it.
    #[must_use]
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        meet(labels, &self.match_labels, &self.match_expressions)
    }
}

/// Whether labels have all that must be there, and all expressions hold.
pub(super) fn meet(
    labels: &BTreeMap<String, String>,
    match_labels: &BTreeMap<String, String>,
    match_expressions: &[Expression],
) -> bool {
    match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
        && match_expressions.iter().all(|expression| expression.matches(labels))
}

/// Whether a selector's names take in one; without any they take in all.
pub(super) fn names_take_in(names: &[String], name: &str) -> bool {
    names.is_empty() || names.iter().any(|known| known == name)
}

/// Which clusters. Every part that is given must hold.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterSelector {
    /// Names of clusters: the cluster has one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Labels that must all be there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub match_labels: BTreeMap<String, String>,
    /// Expressions that must all hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<Expression>,
}

impl ClusterSelector {
    /// Whether it selects everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.match_labels.is_empty() && self.match_expressions.is_empty()
    }

    /// Whether a cluster of this name and these labels meets it.
    #[must_use]
    pub fn selects(&self, name: &str, labels: &BTreeMap<String, String>) -> bool {
        names_take_in(&self.names, name)
            && meet(labels, &self.match_labels, &self.match_expressions)
    }

    /// How specific it is: one with names is more so than any without; then the more requirements on
    /// labels it has, the more specific (Karmada, `pkg/util/selector.go`: name over label over all).
    #[must_use]
    pub fn specificity(&self) -> (bool, usize) {
        (!self.names.is_empty(), self.match_labels.len() + self.match_expressions.len())
    }
}

/// A requirement on a label, as Kubernetes' selectors have it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expression {
    /// The key of the label that is compared.
    pub key: String,
    /// How the value of the label is compared with `values`.
    pub operator: ExpressionOperator,
    /// With which values; for `In` and `NotIn` only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

impl Expression {
    /// Whether labels meet it. As in Kubernetes, `NotIn` holds where the label is absent.
    #[must_use]
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.key);
        match self.operator {
            ExpressionOperator::In => value.is_some_and(|v| self.values.contains(v)),
            ExpressionOperator::NotIn => value.is_none_or(|v| !self.values.contains(v)),
            ExpressionOperator::Exists => value.is_some(),
            ExpressionOperator::DoesNotExist => value.is_none(),
        }
    }
}

/// How an [`Expression`] compares.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum ExpressionOperator {
    /// The value is one of those given.
    In,
    /// The value is none of those given, or there is none.
    NotIn,
    /// The label is there.
    Exists,
    /// The label is not there.
    DoesNotExist,
}

/// A taint that is put up with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Toleration {
    /// The taint's key; empty with `Exists` means every key.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// How the value of the taint is compared. Default: `Equal`.
    #[serde(default, skip_serializing_if = "TolerationOperator::is_default")]
    pub operator: TolerationOperator,
    /// The taint's value, for `Equal`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// The taint's effect; unset means every effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<TaintEffect>,
    /// For how many seconds after the taint's `timeAdded` what is there may stay; for `NoExecute` only.
    /// Nothing new is placed on the strength of such a toleration.
    #[serde(rename = "tolerationSeconds", default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 31_536_000))]
    pub toleration_seconds: Option<i64>,
}

/// How a [`Toleration`] compares values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TolerationOperator {
    /// The value is the one given.
    #[default]
    Equal,
    /// Any value.
    Exists,
}

impl TolerationOperator {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_with_names_is_the_most_specific() {
        let selector = |text: &str| -> ClusterSelector { serde_json::from_str(text).unwrap() };
        let order = [
            "{}",
            r#"{"matchLabels": {"a": "1"}}"#,
            r#"{"matchLabels": {"a": "1", "b": "2"}}"#,
            r#"{"names": ["x"]}"#,
            r#"{"names": ["x"], "matchLabels": {"a": "1"}}"#,
        ];
        let specific = order.map(|text| selector(text).specificity());
        assert!(specific.is_sorted_by(|a, b| a < b), "{specific:?}");
        let both = selector(order[4]);
        let labels = |value: &str| [("a".to_owned(), value.to_owned())].into();
        assert!(both.selects("x", &labels("1")));
        assert!(!both.selects("y", &labels("1")), "every part must hold");
        assert!(!both.selects("x", &labels("2")), "every part must hold");
        assert!(selector("{}").selects("y", &labels("2")));
    }

    #[test]
    fn an_expression_matches_as_kubernetes_selectors_do() {
        use ExpressionOperator::{DoesNotExist, Exists, In, NotIn};
        let labels = |value: Option<&str>| -> BTreeMap<String, String> {
            value.map(|v| ("tier".to_owned(), v.to_owned())).into_iter().collect()
        };
        for (operator, gold, tin, none) in [
            (In, true, false, false),
            (NotIn, false, true, true),
            (Exists, true, true, false),
            (DoesNotExist, false, false, true),
        ] {
            let values = vec!["gold".to_owned(), "silver".to_owned()];
            let expression = Expression { key: "tier".to_owned(), operator, values };
            assert_eq!(expression.matches(&labels(Some("gold"))), gold, "{operator:?} gold");
            assert_eq!(expression.matches(&labels(Some("tin"))), tin, "{operator:?} tin");
            assert_eq!(expression.matches(&labels(None)), none, "{operator:?} without the label");
        }
    }
}
