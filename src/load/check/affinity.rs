//! `invalid-selector` on fields and groups: an expression on a field, or an order of groups, that can never
//! mean anything.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::{
    ExpressionOperator, Failback, FieldExpression, PolicyAffinity, WorkerField,
};
use crate::model::is_dns_label;

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    for (path, term) in &subject.terms {
        for (i, expression) in term.match_fields.iter().enumerate() {
            field(expression, &path.key("matchFields").index(i), out);
        }
    }
    if let DocumentSpec::PlacementPolicy(policy) = &subject.body.spec
        && let Some(affinity) = &policy.affinity
    {
        groups(affinity, &FieldPath::keys("spec.affinity"), out);
    }
}

fn field(expression: &FieldExpression, path: &FieldPath, out: &mut Findings) {
    let (name, operator) = (expression.key.name(), expression.operator);
    let wants_values = matches!(operator, ExpressionOperator::In | ExpressionOperator::NotIn);
    if wants_values && expression.values.is_empty() {
        let message = format!("`{operator:?}` on the {name} has no values");
        out.add(Code::InvalidSelector, path.clone(), message, "add `values: [...]`");
    } else if !wants_values && !expression.values.is_empty() {
        let message = format!("`{operator:?}` on the {name} takes no values");
        let help = "remove `values`, or write `operator: In`";
        out.add(Code::InvalidSelector, path.key("values"), message, help);
    }
    if !wants_values && expression.key == WorkerField::Location {
        let message = "every worker has a location";
        let help = "remove the expression, or write `operator: In` with values";
        out.add(Code::InvalidSelector, path.key("operator"), message, help);
    }
}

fn groups(affinity: &PolicyAffinity, path: &FieldPath, out: &mut Findings) {
    if affinity.groups.is_empty() && affinity.failback != Failback::default() {
        let message = "`failback` without groups says nothing";
        let help = "add `groups`, or remove it";
        out.add(Code::InvalidSelector, path.key("failback"), message, help);
    }
    for (i, group) in affinity.groups.iter().enumerate() {
        let path = path.key("groups").index(i);
        if !is_dns_label(&group.name) {
            let message = format!("`{}` is not a name of a group", group.name);
            let help = "use lower-case letters, digits and inner dashes, at most 63";
            out.add(Code::InvalidSelector, path.key("name"), message, help);
        }
        if affinity.groups[..i].iter().any(|other| other.name == group.name) {
            let message = format!("two groups are called `{}`", group.name);
            let help = "give each a name of its own: records remember it";
            out.add(Code::InvalidSelector, path.key("name"), message, help);
        }
        if group.required.is_empty() && i + 1 < affinity.groups.len() {
            let message = format!(
                "every worker is in the group `{}`, so the groups after it are never used",
                group.name
            );
            let help = "add `required` terms, or make it the last group";
            out.add(Code::InvalidSelector, path, message, help);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{POLICY, files_find, load_fleet};
    use super::*;

    fn policy(affinity: &str) -> String {
        let spec = POLICY.split_once("  affinity:").unwrap().0;
        format!("{spec}  affinity: {{{affinity}}}\n")
    }

    fn finds(affinity: &str, path: &str) {
        let text = policy(affinity);
        files_find(&[("policies/p.yaml", &text)], Code::InvalidSelector, path);
    }

    #[test]
    fn an_expression_on_a_field_has_values_where_they_mean_something() {
        let path = "spec.affinity.required[0].matchFields[0]";
        finds("required: [{matchFields: [{key: zone, operator: In}]}]", path);
        finds(
            "required: [{matchFields: [{key: zone, operator: Exists, values: ['1']}]}]",
            &format!("{path}.values"),
        );
        finds(
            "required: [{matchFields: [{key: location, operator: Exists}]}]",
            &format!("{path}.operator"),
        );
        finds(
            "groups: [{name: a, required: [{matchFields: [{key: zone, operator: NotIn}]}]}]",
            "spec.affinity.groups[0].required[0].matchFields[0]",
        );
    }

    #[test]
    fn a_group_has_a_name_of_its_own() {
        finds("groups: [{name: Near, required: [{names: [w1]}]}]", "spec.affinity.groups[0].name");
        finds(
            "groups: [{name: a, required: [{names: [w1]}]}, {name: a}]",
            "spec.affinity.groups[1].name",
        );
    }

    #[test]
    fn a_group_without_terms_is_the_last() {
        finds(
            "groups: [{name: any}, {name: b, required: [{names: [w1]}]}]",
            "spec.affinity.groups[0]",
        );
        finds("groups: [{name: b, required: [{}]}]", "spec.affinity.groups[0].required[0]");
        let text = policy(
            "groups: [{name: b, required: [{zones: ['1']}]}, {name: any}], failback: OnMove",
        );
        let loaded = load_fleet(&[("policies/p.yaml", &text)]);
        assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
        finds("failback: OnMove", "spec.affinity.failback");
    }
}
