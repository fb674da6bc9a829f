//! A policy, explained: which clusters it selects, and where another one comes before it.

use super::super::show::{ExplainView, LossView, PolicyView};
use crate::model::api::{ClusterSelector, Expression, ExpressionOperator};
use crate::model::{Name, Policy};
use crate::plan::PolicyExplanation;

/// What stands for the file of a policy that carp brings along.
const BUILT_IN: &str = "built-in";

/// A policy with where it comes from.
pub(super) fn origin(policy: &Policy) -> PolicyView {
    let origin = policy.file.clone().unwrap_or_else(|| BUILT_IN.to_owned());
    PolicyView { name: policy.name.to_string(), origin }
}

/// The explanation as it is shown.
pub(super) fn view(policy: &Policy, explanation: &PolicyExplanation) -> ExplainView {
    let spec = &policy.spec;
    let loses = explanation.lost.iter().map(|(cluster, (to, because))| LossView {
        cluster: cluster.to_string(),
        to: to.to_string(),
        because: because.to_string(),
    });
    ExplainView {
        object: format!("policy/{}", policy.name),
        state: format!(
            "{}, priority {}, selects {}",
            origin(policy).origin,
            spec.priority,
            selector(&spec.cluster_selector)
        ),
        applies_to: explanation.applies_to.iter().map(Name::to_string).collect(),
        loses: loses.collect(),
        notes: notes(policy, explanation),
        ..ExplainView::default()
    }
}

/// A selector as kubectl writes one.
fn selector(selector: &ClusterSelector) -> String {
    if selector.is_empty() {
        return "every cluster".to_owned();
    }
    let mut parts = Vec::new();
    if !selector.names.is_empty() {
        parts.push(format!("name in ({})", selector.names.join(", ")));
    }
    parts.extend(selector.match_labels.iter().map(|(key, value)| format!("{key}={value}")));
    parts.extend(selector.match_expressions.iter().map(expression));
    parts.join(", ")
}

fn expression(expression: &Expression) -> String {
    let Expression { key, operator, values } = expression;
    let values = values.join(", ");
    match operator {
        ExpressionOperator::In => format!("{key} in ({values})"),
        ExpressionOperator::NotIn => format!("{key} notin ({values})"),
        ExpressionOperator::Exists => key.clone(),
        ExpressionOperator::DoesNotExist => format!("!{key}"),
    }
}

fn notes(policy: &Policy, explanation: &PolicyExplanation) -> Vec<String> {
    let selected = |name: &&String| {
        explanation.applies_to.iter().chain(explanation.lost.keys()).any(|n| n.as_str() == **name)
    };
    let names = &policy.spec.cluster_selector.names;
    let missing: Vec<_> = names.iter().filter(|name| !selected(name)).map(String::as_str).collect();
    let mut notes = Vec::new();
    if !missing.is_empty() {
        notes.push(format!("it names clusters that it does not select: {}", missing.join(", ")));
    }
    if explanation.applies_to.is_empty() {
        notes.push("it applies to no cluster".to_owned());
    }
    if counts_each_tenant(policy) {
        let rules = "its rules of spread and anti-affinity are about the clusters of each tenant by themselves";
        notes.push(format!("{rules}, but for those that have a `tenantSelector`"));
    }
    if policy.file.is_none() {
        let name = &policy.name;
        notes.push(format!("a policy `{name}` of the fleet's own would take its place"));
    }
    notes
}

/// Whether a rule does not say whose clusters it counts, in a fleet whose tenants have folders of their own.
fn counts_each_tenant(policy: &Policy) -> bool {
    let spread = policy.spec.spread.iter().map(|rule| &rule.tenant_selector);
    let apart = policy.spec.anti_affinity.iter().map(|rule| &rule.tenant_selector);
    policy.by_tenant && spread.chain(apart).any(Option::is_none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_reads_as_kubectl_writes_it() {
        let read = |text: &str| selector(&serde_json::from_str(text).unwrap());
        assert_eq!(read("{}"), "every cluster");
        let all = r#"{"names": ["a", "b"], "matchLabels": {"tier": "gold"}, "matchExpressions": [
            {"key": "env", "operator": "In", "values": ["dev", "test"]},
            {"key": "env", "operator": "NotIn", "values": ["x"]},
            {"key": "k", "operator": "Exists"}, {"key": "k", "operator": "DoesNotExist"}]}"#;
        assert_eq!(
            read(all),
            "name in (a, b), tier=gold, env in (dev, test), env notin (x), k, !k"
        );
    }
}
