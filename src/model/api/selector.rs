//! Selectors by names and labels, as Kubernetes has them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// The keys of the labels that it reads.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        keys(&self.match_labels, &self.match_expressions)
    }

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

fn keys<'s>(
    match_labels: &'s BTreeMap<String, String>,
    match_expressions: &'s [Expression],
) -> impl Iterator<Item = &'s str> {
    let of_expressions = match_expressions.iter().map(|expression| &*expression.key);
    match_labels.keys().map(String::as_str).chain(of_expressions)
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
    /// The keys of the labels that it reads.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        keys(&self.match_labels, &self.match_expressions)
    }

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
