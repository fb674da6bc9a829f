//! A field that makes carp sign or verify, or that narrows who may do what, and is there without a value:
//! somebody meant to be safe and is not, for an empty field is an absent one, as for Kubernetes. Where an
//! empty list has a meaning of its own (a tenant without pools uses none) only a missing value is told.

use serde_json::Value;

use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::Kind;

/// The fields, as dotted paths below `spec` with `[]` for each item of a list, and what each is to hold.
type Fields = &'static [(&'static str, &'static str)];

const FLEET: Fields = &[
    ("git.signing", "write `format: ssh` or `format: openpgp` below it"),
    ("git.verify", "list who may sign below it, in `allowedSigners` or `openpgpKeys`"),
    ("git.verify.allowedSigners", "list who may sign"),
    ("git.verify.openpgpKeys", "list whose keys may sign"),
    ("observed.allowedSigners", "list the workers with their keys"),
    ("observed.openpgpKeys", "list the workers with their keys"),
    ("acknowledgements", "list who may acknowledge below it, in `allowedSigners`"),
    ("acknowledgements.allowedSigners", "list who may acknowledge"),
    ("tenants[].paths", "list the tenant's folders"),
];

/// Lists of a Fleet that say nothing is granted when they are empty, and all when they are not there.
const GRANTS: Fields = &[
    ("tenants[].pools", "list the pools that the tenant may use, or write `[]` for none"),
    (
        "tenants[].credentials",
        "list the credentials that the tenant may use, or write `[]` for none",
    ),
    ("tenants[].labels", "list the labels that the tenant may set, or write `[]` for none"),
];

const POLICY: Fields = &[
    ("clusterSelector.names", "list the clusters"),
    ("pools", "list the pools"),
    ("affinity.required[].names", "list the workers"),
    ("affinity.required[].locations", "list the locations"),
    ("affinity.required[].providers", "list the providers"),
    ("affinity.required[].zones", "list the zones"),
    ("spread[].labelSelector", "say which clusters, in `matchLabels` or `matchExpressions`"),
    ("antiAffinity[].labelSelector", "say which clusters, in `matchLabels` or `matchExpressions`"),
    ("spread[].tenantSelector.names", "list the tenants, or write `tenantSelector: {}` for all"),
    (
        "antiAffinity[].tenantSelector.names",
        "list the tenants, or write `tenantSelector: {}` for all",
    ),
    ("spread[].tenantSelector", "write `{}` for all tenants, or list them in `names`"),
    ("antiAffinity[].tenantSelector", "write `{}` for all tenants, or list them in `names`"),
];

const CLUSTER: Fields = &[
    ("placement.pools", "list the pools"),
    ("placement.affinity.required[].names", "list the workers"),
    ("placement.affinity.required[].locations", "list the locations"),
    ("placement.affinity.required[].providers", "list the providers"),
    ("placement.affinity.required[].zones", "list the zones"),
    (
        "placement.spread[].labelSelector",
        "say which clusters, in `matchLabels` or `matchExpressions`",
    ),
    (
        "placement.antiAffinity[].labelSelector",
        "say which clusters, in `matchLabels` or `matchExpressions`",
    ),
];

/// Checks a `spec` as it is written, before empty values are taken for absent ones.
pub(in crate::load) fn check(kind: Kind, spec: &Value, out: &mut Findings) {
    let (fields, grants): (Fields, Fields) = match kind {
        Kind::Fleet => (FLEET, GRANTS),
        Kind::PlacementPolicy => (POLICY, &[]),
        Kind::ManagedCluster => (CLUSTER, &[]),
        _ => return,
    };
    for (field, what) in fields {
        let holds = match field.rsplit('.').next() {
            Some("labelSelector") => is_hollow,
            Some("tenantSelector") => Value::is_null,
            _ => is_empty,
        };
        for path in found(spec, field, holds) {
            tell(path, "is empty, which would switch it off", what, out);
        }
    }
    for (field, what) in grants {
        for path in found(spec, field, Value::is_null) {
            tell(path, "has no value, which would grant all", what, out);
        }
    }
}

fn tell(path: FieldPath, why: &str, what: &str, out: &mut Findings) {
    let fields = out.list.iter().filter_map(|d| d.place.as_ref()?.field.as_ref());
    if fields.into_iter().any(|f| f.0.starts_with(&path.0)) {
        return;
    }
    let help = format!("{what}; or remove it, if it is meant to be off");
    out.add_on_key(Code::EmptySafeguard, path.clone(), format!("`{path}` {why}"), help);
}

/// Where a field is of which that holds.
fn found(spec: &Value, field: &str, holds: fn(&Value) -> bool) -> Vec<FieldPath> {
    // Most documents have none of these, and no path is made for them.
    let first = field.split('.').next().unwrap_or(field);
    if spec.get(first.trim_end_matches("[]")).is_none() {
        return Vec::new();
    }
    let mut at = vec![(FieldPath::keys("spec"), spec)];
    for key in field.split('.') {
        let each = key.strip_suffix("[]");
        let name = each.unwrap_or(key);
        let below =
            at.into_iter().filter_map(|(path, value)| Some((path.key(name), value.get(name)?)));
        at = match each {
            None => below.collect(),
            Some(_) => below.flat_map(|(path, value)| items(&path, value)).collect(),
        };
    }
    at.into_iter().filter(|(_, value)| holds(value)).map(|(path, _)| path).collect()
}

fn items<'v>(path: &FieldPath, list: &'v Value) -> Vec<(FieldPath, &'v Value)> {
    let items = list.as_array().into_iter().flatten().enumerate();
    items.map(|(i, item)| (path.index(i), item)).collect()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Whether a selector has nothing in it, however it is written.
fn is_hollow(value: &Value) -> bool {
    is_empty(value) || value.as_object().is_some_and(|parts| parts.values().all(is_empty))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, POLICY, cluster, files_find, finds, load_files};
    use crate::diag::Code;

    #[test]
    fn what_is_meant_to_protect_is_not_switched_off_by_being_empty() {
        for (yaml, path) in [
            ("git: {signing: }", "spec.git.signing"),
            ("git: {verify: {}}", "spec.git.verify"),
            ("git: {verify: }", "spec.git.verify"),
            ("git: {verify: {allowedSigners: []}}", "spec.git.verify.allowedSigners"),
            ("git: {verify: {openpgpKeys: }}", "spec.git.verify.openpgpKeys"),
            ("observed: {allowedSigners: []}", "spec.observed.allowedSigners"),
            ("observed: {openpgpKeys: []}", "spec.observed.openpgpKeys"),
        ] {
            let carp = format!("{CARP}  {yaml}\n");
            files_find(&[("carp.yaml", &carp)], Code::EmptySafeguard, path);
        }
        let carp = format!("{CARP}  git: {{signing: {{}}}}\n");
        files_find(&[("carp.yaml", &carp)], Code::MissingField, "spec.git.signing.format");
        let found = load_files(&[("carp.yaml", &carp)]).diagnostics;
        assert!(found.iter().all(|f| f.code != Code::EmptySafeguard), "told once");
        let plain = format!("{CARP}  git: {{author: carp}}\n  observed: {{}}\n");
        assert!(!load_files(&[("carp.yaml", &plain)]).fleet_broken);
    }

    #[test]
    fn an_empty_list_never_widens_what_a_tenant_may() {
        let carp = |tenant: &str| format!("{CARP}  tenants: [{{name: shop, {tenant}}}]\n");
        for (tenant, field) in [
            ("paths: []", "paths"),
            ("paths: ", "paths"),
            ("pools: ", "pools"),
            ("credentials: ~", "credentials"),
            ("labels: ", "labels"),
        ] {
            let path = format!("spec.tenants[0].{field}");
            files_find(&[("carp.yaml", &carp(tenant))], Code::EmptySafeguard, &path);
        }
        let loaded = load_files(&[("carp.yaml", &carp("pools: [], credentials: [], labels: []"))]);
        assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
        let tenant = loaded.fleet.tenant("shop").unwrap();
        assert_eq!(tenant.pools.as_deref(), Some(&[][..]));
        assert!(!tenant.may_use("main") && !tenant.may_set("tier"));
    }

    #[test]
    fn an_empty_selector_selects_nobody_by_accident() {
        for (spec, path) in [
            ("clusterSelector: {names: []}", "spec.clusterSelector.names"),
            ("clusterSelector: {names: , matchLabels: {a: b}}", "spec.clusterSelector.names"),
            ("pools: []", "spec.pools"),
            (
                "spread: [{topologyKey: rack, maxSkew: 1, labelSelector: {}}]",
                "spec.spread[0].labelSelector",
            ),
            (
                "antiAffinity: [{topologyKey: rack, labelSelector: {matchLabels: {}}}]",
                "spec.antiAffinity[0].labelSelector",
            ),
            (
                "spread: [{topologyKey: rack, maxSkew: 1, tenantSelector: {names: []}}]",
                "spec.spread[0].tenantSelector.names",
            ),
            (
                "antiAffinity: [{topologyKey: rack, tenantSelector: }]",
                "spec.antiAffinity[0].tenantSelector",
            ),
        ] {
            let text = POLICY.replace("spec:\n", &format!("spec:\n  {spec}\n"));
            files_find(&[("policies/p.yaml", &text)], Code::EmptySafeguard, path);
        }
        let text = POLICY.replace("[westeurope]", "[]");
        let path = "spec.affinity.required[0].locations";
        files_find(&[("policies/p.yaml", &text)], Code::EmptySafeguard, path);
        for (own, path) in [
            ("pools: []", "spec.placement.pools"),
            (
                "affinity: {required: [{names: [], zones: [\"1\"]}]}",
                "spec.placement.affinity.required[0].names",
            ),
            (
                "antiAffinity: [{topologyKey: rack, matchLabelKeys: [a], labelSelector: {}}]",
                "spec.placement.antiAffinity[0].labelSelector",
            ),
        ] {
            let text = cluster(&format!("placement: {{{own}}}\n  "));
            finds(text, Code::EmptySafeguard, path);
        }
    }

    /// As for Kubernetes, the selector that says nothing selects all.
    #[test]
    fn the_selector_of_a_policy_for_all_may_be_written() {
        let text = POLICY.replace("spec:\n", "spec:\n  clusterSelector: {}\n");
        assert!(
            load_files(&[("carp.yaml", CARP), ("policies/p.yaml", &text)]).diagnostics.is_empty()
        );
    }
}
