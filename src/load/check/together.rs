//! `unknown-topology-key`: spread and anti-affinity are over a label of the workers or a field that carp
//! knows; any other key could never be honoured. And `invalid-selector`, where such a rule says nothing of
//! which clusters it is about.

use std::collections::BTreeSet;

use super::{CheckContext, Subject, selector};
use crate::diag::suggest;
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::{AntiAffinity, LabelSelector, SpreadConstraint, TenantSelector};
use crate::model::{is_label_key, topology};

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    let (path, spread, apart, own) = match &subject.body.spec {
        DocumentSpec::PlacementPolicy(p) => {
            (FieldPath::keys("spec"), &*p.spread, &*p.anti_affinity, false)
        }
        DocumentSpec::ManagedCluster(c) => {
            (FieldPath::keys("spec.placement"), c.own_spread(), c.own_anti_affinity(), true)
        }
        _ => return,
    };
    let mut before = BTreeSet::new();
    for (i, rule) in spread.iter().enumerate() {
        let path = path.key("spread").index(i);
        constraint(rule, &path, own, out);
        // With another skew it is the same rule.
        if !before.insert(SpreadConstraint { max_skew: 0, ..rule.clone() }) {
            twice(&path, out);
        }
    }
    let mut before = BTreeSet::new();
    for (i, rule) in apart.iter().enumerate() {
        let path = path.key("antiAffinity").index(i);
        keeping(rule, &path, own, out);
        if !before.insert(rule) {
            twice(&path, out);
        }
    }
}

fn constraint(rule: &SpreadConstraint, path: &FieldPath, own: bool, out: &mut Findings) {
    topology_key(&rule.topology_key, path, out);
    about(rule.label_selector.as_ref(), &rule.match_label_keys, path, out);
    tenants(rule.tenant_selector.as_ref(), path, own, out);
    if own && rule.label_selector.is_none() {
        let message = "a cluster's own spread does not say which clusters it counts";
        let help =
            "add `labelSelector:` with labels of the clusters; those of its tenant are counted";
        out.add(Code::InvalidSelector, path.clone(), message, help);
    }
}

fn keeping(rule: &AntiAffinity, path: &FieldPath, own: bool, out: &mut Findings) {
    topology_key(&rule.topology_key, path, out);
    about(rule.label_selector.as_ref(), &rule.match_label_keys, path, out);
    tenants(rule.tenant_selector.as_ref(), path, own, out);
    if own && rule.label_selector.is_none() && rule.match_label_keys.is_empty() {
        let message = "the anti-affinity does not say from which clusters it keeps away";
        let help = "add `labelSelector:`, or `matchLabelKeys:` with a label that both have";
        out.add(Code::InvalidSelector, path.clone(), message, help);
    }
}

fn twice(path: &FieldPath, out: &mut Findings) {
    let message = "the same rule stands twice";
    out.add(Code::InvalidSelector, path.clone(), message, "keep one of the two");
}

fn topology_key(key: &str, path: &FieldPath, out: &mut Findings) {
    let path = path.key("topologyKey");
    if key == "carp.dev/zone" {
        let message = "`carp.dev/zone` is no domain: a worker has nodes in several zones";
        let help = "label the workers with what tells them apart, and write the label's key";
        out.add(Code::UnknownTopologyKey, path, message, help);
    } else if topology::is_field(key) && !topology::KEYS.contains(&key) {
        let message = format!("`{key}` is not a field of workers that carp knows");
        let help = suggest::help(key, topology::KEYS, "the fields, or the key of a label");
        out.add(Code::UnknownTopologyKey, path, message, help);
    } else if !is_label_key(key) {
        let message = format!("`{key}` cannot be the key of a label");
        let help =
            format!("write the key of a label of the workers, or {}", topology::KEYS.join(", "));
        out.add(Code::UnknownTopologyKey, path, message, help);
    }
}

/// Whose clusters a rule counts is for policies to say; a tenant is named once.
fn tenants(selected: Option<&TenantSelector>, path: &FieldPath, own: bool, out: &mut Findings) {
    let Some(TenantSelector { names }) = selected else { return };
    let path = path.key("tenantSelector");
    if own {
        let message = "a cluster's own rule is about clusters of its own tenant";
        let help = "remove `tenantSelector:`; a PlacementPolicy may count other tenants' clusters";
        out.add(Code::InvalidSelector, path, message, help);
        return;
    }
    let mut before = BTreeSet::new();
    for (i, name) in names.iter().enumerate().filter(|(_, name)| !before.insert(*name)) {
        let message = format!("`{name}` stands twice");
        out.add(Code::InvalidSelector, path.key("names").index(i), message, "keep one of the two");
    }
}

fn about(selected: Option<&LabelSelector>, keys: &[String], path: &FieldPath, out: &mut Findings) {
    if let Some(selected) = selected {
        selector::expressions(&selected.match_expressions, &path.key("labelSelector"), out);
    }
    let mut before = BTreeSet::new();
    for (i, key) in keys.iter().enumerate() {
        let path = path.key("matchLabelKeys").index(i);
        if !is_label_key(key) {
            let message = format!("`{key}` cannot be the key of a label");
            let help = "write the key of a label of the clusters";
            out.add(Code::InvalidSelector, path, message, help);
        } else if !before.insert(key) {
            out.add(
                Code::InvalidSelector,
                path,
                format!("`{key}` stands twice"),
                "keep one of the two",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{POLICY, cluster, files_find, finds, load_fleet};
    use super::*;

    fn policy(spec: &str) -> String {
        POLICY.replace("spec:\n", &format!("spec:\n  {spec}\n"))
    }

    fn wrong(spec: &str, code: Code, path: &str) {
        files_find(&[("policies/p.yaml", &policy(spec))], code, path);
    }

    #[test]
    fn rules_over_fields_and_labels_load() {
        for key in topology::KEYS.into_iter().chain(["rack", "example.com/rack"]) {
            let text = policy(&format!(
                "spread: [{{topologyKey: {key}, maxSkew: 1}}]\n  antiAffinity: [{{topologyKey: {key}}}]"
            ));
            let found = load_fleet(&[("policies/p.yaml", &text)]).diagnostics;
            assert!(found.iter().all(|d| d.code == Code::NoDomain), "{key}: {found:?}");
        }
        let own = "placement: {spread: [{topologyKey: carp.dev/worker, maxSkew: 2, whenUnsatisfiable: ScheduleAnyway, \
                   labelSelector: {matchLabels: {tier: gold}}}], antiAffinity: [{topologyKey: carp.dev/worker, \
                   matchLabelKeys: [tier]}]}\n  ";
        let found = load_fleet(&[("fleet/x.yaml", &cluster(own))]).diagnostics;
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn a_key_that_cannot_be_honoured_is_refused() {
        for key in ["carp.dev/zone", "carp.dev/regoin", "\"two words\"", "\"\""] {
            let spread = format!("spread: [{{topologyKey: {key}, maxSkew: 1}}]");
            wrong(&spread, Code::UnknownTopologyKey, "spec.spread[0].topologyKey");
            let apart = format!("antiAffinity: [{{topologyKey: {key}}}]");
            wrong(&apart, Code::UnknownTopologyKey, "spec.antiAffinity[0].topologyKey");
        }
        let own =
            "placement: {antiAffinity: [{topologyKey: carp.dev/zone, matchLabelKeys: [a]}]}\n  ";
        let path = "spec.placement.antiAffinity[0].topologyKey";
        finds(cluster(own), Code::UnknownTopologyKey, path);
    }

    #[test]
    fn a_skew_is_at_least_one_and_a_word_is_one_of_two() {
        let spread = |more: &str| format!("spread: [{{topologyKey: rack, {more}}}]");
        wrong(&spread("maxSkew: 0"), Code::InvalidValue, "spec.spread[0].maxSkew");
        let word = spread("maxSkew: 1, whenUnsatisfiable: Perhaps");
        wrong(&word, Code::InvalidValue, "spec.spread[0].whenUnsatisfiable");
        files_find(
            &[("policies/p.yaml", &policy("spread: [{topologyKey: rack}]"))],
            Code::MissingField,
            "spec.spread[0].maxSkew",
        );
    }

    #[test]
    fn a_clusters_own_rule_says_whom_it_is_about() {
        let own = "placement: {spread: [{topologyKey: rack, maxSkew: 1}]}\n  ";
        finds(cluster(own), Code::InvalidSelector, "spec.placement.spread[0]");
        let own = "placement: {antiAffinity: [{topologyKey: rack}]}\n  ";
        finds(cluster(own), Code::InvalidSelector, "spec.placement.antiAffinity[0]");
        let own = "placement: {antiAffinity: [{topologyKey: rack, matchLabelKeys: [a], tenantSelector: {}}]}\n  ";
        let path = "spec.placement.antiAffinity[0].tenantSelector";
        finds(cluster(own), Code::InvalidSelector, path);
    }

    #[test]
    fn a_rule_stands_once_and_its_parts_mean_something() {
        let twice = "spread: [{topologyKey: rack, maxSkew: 1}, {topologyKey: rack, maxSkew: 2}]";
        wrong(twice, Code::InvalidSelector, "spec.spread[1]");
        let twice = "antiAffinity: [{topologyKey: rack}, {topologyKey: rack}]";
        wrong(twice, Code::InvalidSelector, "spec.antiAffinity[1]");
        let names = "spread: [{topologyKey: rack, maxSkew: 1, tenantSelector: {names: [a, a]}}]";
        wrong(names, Code::InvalidSelector, "spec.spread[0].tenantSelector.names[1]");
        let keys = "antiAffinity: [{topologyKey: rack, matchLabelKeys: [a, a]}]";
        wrong(keys, Code::InvalidSelector, "spec.antiAffinity[0].matchLabelKeys[1]");
        let selector = "antiAffinity: [{topologyKey: rack, labelSelector: {matchExpressions: \
                        [{key: a, operator: In}]}}]";
        let path = "spec.antiAffinity[0].labelSelector.matchExpressions[0]";
        wrong(selector, Code::InvalidSelector, path);
    }
}
