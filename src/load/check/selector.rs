//! `invalid-selector`: a taint, toleration, term or selector that can never mean anything.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath, visible};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::{
    Expression, ExpressionOperator, PlacementTerm, Taint, Toleration, TolerationOperator,
};
use crate::model::{Name, is_label_key, is_label_value};

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    for (path, term) in &subject.terms {
        if **term == PlacementTerm::default() {
            let message = "the term is empty and says nothing";
            let help = "add names, exclude, locations, providers, zones, matchFields, matchLabels or \
                 matchExpressions, or remove it";
            out.add(Code::InvalidSelector, path.clone(), message, help);
        }
        expressions(&term.match_expressions, path, out);
    }
    let spec = FieldPath::keys("spec");
    match &subject.body.spec {
        DocumentSpec::PlacementPolicy(policy) => {
            let selector = &policy.cluster_selector;
            expressions(&selector.match_expressions, &spec.key("clusterSelector"), out);
            names(&selector.names, "cluster", &spec.key("clusterSelector").key("names"), out);
            for (i, toleration) in policy.tolerations.iter().enumerate() {
                tolerates(toleration, &spec.key("tolerations").index(i), out);
            }
        }
        DocumentSpec::OverridePolicy(policy) => {
            let (clusters, workers) = (&policy.cluster_selector, &policy.worker_selector);
            for (at, of, expected) in [
                ("clusterSelector", "cluster", (&clusters.match_expressions, &clusters.names)),
                ("workerSelector", "worker", (&workers.match_expressions, &workers.names)),
            ] {
                expressions(expected.0, &spec.key(at), out);
                names(expected.1, of, &spec.key(at).key("names"), out);
            }
        }
        DocumentSpec::Worker(worker) => taints(&worker.taints, &spec, out),
        DocumentSpec::WorkerOverlay(overlay) => taints(&overlay.taints, &spec, out),
        _ => {}
    }
    for (path, pool) in subject.node_pools() {
        taints(&pool.taints, &path, out);
    }
}

pub(super) fn expressions(all: &[Expression], parent: &FieldPath, out: &mut Findings) {
    for (i, expression) in all.iter().enumerate() {
        let path = parent.key("matchExpressions").index(i);
        let (key, operator) = (&expression.key, expression.operator);
        let wants_values = matches!(operator, ExpressionOperator::In | ExpressionOperator::NotIn);
        if key.is_empty() {
            let message = "the key of the expression is empty";
            out.add(Code::InvalidSelector, path.key("key"), message, "write the key of a label");
        }
        if wants_values && expression.values.is_empty() {
            let message = format!("`{operator:?}` on `{key}` has no values");
            out.add(Code::InvalidSelector, path.clone(), message, "add `values: [...]`");
        } else if !wants_values && !expression.values.is_empty() {
            let message = format!("`{operator:?}` on `{key}` takes no values");
            let help = "remove `values`, or write `operator: In`";
            out.add(Code::InvalidSelector, path.key("values"), message, help);
        }
    }
}

fn names(all: &[String], of: &str, path: &FieldPath, out: &mut Findings) {
    for (i, name) in all.iter().enumerate() {
        if let Err(error) = Name::parse(name) {
            let message = format!("no {of} can be called `{name}`: {error}");
            let help = format!("write the whole name of a {of}; for several, select by a label");
            out.add(Code::InvalidSelector, path.index(i), message, help);
        }
    }
}

fn tolerates(toleration: &Toleration, path: &FieldPath, out: &mut Findings) {
    let exists = toleration.operator == TolerationOperator::Exists;
    if toleration.key.is_empty() && !exists {
        let message = "a toleration without a key tolerates everything or nothing";
        let help = "add `key:`, or `operator: Exists` to tolerate every taint";
        out.add(Code::InvalidSelector, path.clone(), message, help);
    }
    if exists && !toleration.value.is_empty() {
        let message = "`Exists` takes no value";
        let help = "remove `value`, or write `operator: Equal`";
        out.add(Code::InvalidSelector, path.key("value"), message, help);
    }
}

fn taints(all: &[Taint], parent: &FieldPath, out: &mut Findings) {
    for (i, taint) in all.iter().enumerate() {
        let path = parent.key("taints").index(i);
        if taint.key.is_empty() {
            let message = "the taint has no key";
            out.add(Code::InvalidSelector, path.key("key"), message, "write the key of the taint");
        } else if !is_label_key(&taint.key) {
            let message = format!("`{}` cannot be the key of a taint", visible::line(&taint.key));
            let help = "use letters, digits, `-`, `_` and `.`, at most 63, perhaps after `domain/`";
            out.add(Code::InvalidSelector, path.key("key"), message, help);
        }
        if !is_label_value(&taint.value) {
            let message =
                format!("`{}` cannot be the value of a taint", visible::line(&taint.value));
            let help = "use letters, digits, `-`, `_` and `.`, at most 63 of them";
            out.add(Code::InvalidSelector, path.key("value"), message, help);
        }
        let same = |t: &Taint| t.key == taint.key && t.effect == taint.effect;
        if all[..i].iter().any(same) {
            let message = format!("`{}` with {:?} stands twice", taint.key, taint.effect);
            out.add(Code::InvalidSelector, path, message, "keep one of the two");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{POLICY, cluster, files_find, finds, worker};
    use super::*;

    fn policy(spec: &str, path: &str) {
        let text = POLICY.replace("spec:\n", &format!("spec:\n  {spec}\n"));
        files_find(&[("policies/p.yaml", &text)], Code::InvalidSelector, path);
    }

    #[test]
    fn an_expression_has_values_where_they_mean_something() {
        let expression = |operator: &str| {
            format!("clusterSelector: {{matchExpressions: [{{key: a, operator: {operator}}}]}}")
        };
        policy(&expression("In"), "spec.clusterSelector.matchExpressions[0]");
        policy(&expression("NotIn, values: []"), "spec.clusterSelector.matchExpressions[0]");
        let path = "spec.clusterSelector.matchExpressions[0].values";
        policy(&expression("Exists, values: [x]"), path);
        policy(&expression("DoesNotExist, values: [x]"), path);
    }

    #[test]
    fn a_selector_names_clusters_in_full() {
        policy("clusterSelector: {names: [\"pay-*\"]}", "spec.clusterSelector.names[0]");
        policy("clusterSelector: {names: [a, \"\"]}", "spec.clusterSelector.names[1]");
    }

    #[test]
    fn an_expression_names_a_label() {
        let path = "spec.clusterSelector.matchExpressions[0].key";
        policy("clusterSelector: {matchExpressions: [{key: \"\", operator: Exists}]}", path);
    }

    #[test]
    fn a_term_says_something() {
        let own = "placement: {affinity: {required: [{}]}}\n  ";
        finds(cluster(own), Code::InvalidSelector, "spec.placement.affinity.required[0]");
        let own = "placement: {affinity: {preferred: [{weight: 1, term: {}}]}}\n  ";
        finds(cluster(own), Code::InvalidSelector, "spec.placement.affinity.preferred[0].term");
    }

    #[test]
    fn a_toleration_has_a_key_or_takes_all() {
        policy("tolerations: [{value: x}]", "spec.tolerations[0]");
        policy("tolerations: [{key: a, operator: Exists, value: x}]", "spec.tolerations[0].value");
    }

    #[test]
    fn a_taint_is_what_an_api_server_takes() {
        for (taint, field) in [
            (r#"key: "a\nb", effect: NoSchedule"#, "key"),
            (r#"key: "a\0", effect: NoSchedule"#, "key"),
            (r#"key: a, value: "x\ny: z", effect: NoSchedule"#, "value"),
            (r#"key: a, value: "\u202ex", effect: NoSchedule"#, "value"),
        ] {
            let path = format!("spec.taints[0].{field}");
            let text = worker(&format!("taints: [{{{taint}}}]\n  "));
            finds(text, Code::InvalidSelector, &path);
        }
    }

    #[test]
    fn a_taint_has_a_key_and_stands_once() {
        let path = "spec.taints[0].key";
        finds(worker("taints: [{key: \"\", effect: NoSchedule}]\n  "), Code::InvalidSelector, path);
        let twice =
            "taints: [{key: a, effect: NoSchedule}, {key: a, value: b, effect: NoSchedule}]\n  ";
        finds(worker(twice), Code::InvalidSelector, "spec.taints[1]");
        let pool =
            "nodePools: [{name: a, replicas: 1, taints: [{key: \"\", effect: NoExecute}]}]\n  ";
        finds(worker(pool), Code::InvalidSelector, "spec.nodePools[0].taints[0].key");
    }
}
