//! `invalid-node-pool`: a pool becomes a `MachineDeployment` (one a zone), so names do not repeat, and
//! its number of nodes is either fixed or between two bounds. A Worker's pool `system` carries what the
//! worker itself runs on, the etcd of hosted control planes among it.

use std::collections::BTreeSet;

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::SYSTEM_POOL;
use crate::model::api::{NodePool, TaintEffect};

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    let mut seen = BTreeSet::new();
    for (path, pool) in subject.node_pools() {
        name(&path, pool, out);
        if !seen.insert(&pool.name) {
            let message = format!("there are two pools called `{}`", pool.name);
            out.add(Code::InvalidNodePool, path.key("name"), message, "give each its own name");
        }
        size(&path, pool, out);
        zones(&path, pool, out);
        if pool.name == SYSTEM_POOL && matches!(subject.body.spec, DocumentSpec::Worker(_)) {
            system(&path, pool, out);
        }
    }
}

fn name(path: &FieldPath, pool: &NodePool, out: &mut Findings) {
    let name = pool.name.as_str();
    let plain = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let letter = name.starts_with(|c: char| c.is_ascii_lowercase());
    if !plain || !letter || name.len() > 12 {
        let message = format!("`{name}` cannot be the name of a pool");
        let help = "begin with a letter and use lower-case letters and digits, at most 12";
        out.add(Code::InvalidNodePool, path.key("name"), message, help);
    }
}

/// The pool that everything of a worker runs on but hosted control planes: it is never empty, lets in what
/// tolerates nothing, and is not taken away.
fn system(path: &FieldPath, pool: &NodePool, out: &mut Findings) {
    if pool.replicas == Some(0) {
        let message = "the pool `system` has no nodes, and the worker's own components run on it";
        let help = "write `replicas: 3`, one for each member of etcd";
        out.add(Code::InvalidNodePool, path.key("replicas"), message, help);
    }
    if pool.autoscale.is_some_and(|bounds| bounds.min == 0) {
        let message =
            "the pool `system` may have no nodes, and the worker's own components run on it";
        let help = "write a `min` of at least 1";
        out.add(Code::InvalidNodePool, path.key("autoscale").key("min"), message, help);
    }
    let keeps_out = |effect| effect != TaintEffect::PreferNoSchedule;
    let taints = pool.taints.iter().enumerate().filter(|(_, taint)| keeps_out(taint.effect));
    for (i, taint) in taints {
        let message =
            format!("`{taint}` keeps the worker's own components out of the pool `system`");
        let help = "remove the taint, or give it to another pool";
        out.add(Code::InvalidNodePool, path.key("taints").index(i), message, help);
    }
    if pool.spot {
        let message = "the pool `system` carries the etcd of hosted control planes, and spot machines may be taken away";
        out.add(Code::InvalidNodePool, path.key("spot"), message, "remove `spot`");
    }
}

fn size(path: &FieldPath, pool: &NodePool, out: &mut Findings) {
    let name = &pool.name;
    match (pool.replicas, pool.autoscale) {
        (Some(_), Some(_)) => {
            let message = format!("the pool `{name}` has both `replicas` and `autoscale`");
            out.add_on_key(
                Code::InvalidNodePool,
                path.key("replicas"),
                message,
                "keep one of the two",
            );
        }
        (None, None) => {
            let message = format!("the pool `{name}` has no number of nodes");
            let help = "add `replicas: 3` or `autoscale: {min: 1, max: 5}`";
            out.add(Code::InvalidNodePool, path.clone(), message, help);
        }
        (None, Some(bounds)) if bounds.min > bounds.max => {
            let message = format!("`min` {} is more than `max` {}", bounds.min, bounds.max);
            let help = format!("write `autoscale: {{min: {}, max: {}}}`", bounds.max, bounds.min);
            out.add(Code::InvalidNodePool, path.key("autoscale").key("min"), message, help);
        }
        _ => {}
    }
}

fn zones(path: &FieldPath, pool: &NodePool, out: &mut Findings) {
    let mut seen = BTreeSet::new();
    for (i, zone) in pool.zones.iter().enumerate().filter(|(_, zone)| !seen.insert(*zone)) {
        let message = format!("the zone `{zone}` stands twice");
        out.add(Code::InvalidNodePool, path.key("zones").index(i), message, "name each zone once");
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{class, cluster, finds, finds_nothing, worker};
    use super::*;

    fn found(pools: &str, path: &str) {
        for text in [cluster, worker, |extra: &str| class("small", extra)] {
            finds(text(&format!("nodePools: {pools}\n  ")), Code::InvalidNodePool, path);
        }
    }

    #[test]
    fn pools_have_names_of_their_own() {
        found("[{name: a, replicas: 1}, {name: a, replicas: 2}]", "spec.nodePools[1].name");
        for bad in ["A", "a-b", "1a", "abcdefghijklm"] {
            found(&format!("[{{name: {bad}, replicas: 1}}]"), "spec.nodePools[0].name");
        }
    }

    #[test]
    fn a_worker_may_size_its_system_pool() {
        let system = |more: &str| format!("nodePools: [{{name: system, {more}}}]\n  ");
        let wide = "replicas: 5, vmSize: Standard_D8s_v5, zones: ['1', '2', '3'], labels: {a: b}";
        for fine in [wide, "autoscale: {min: 3, max: 9}", "replicas: 1"] {
            finds_nothing(worker(&system(fine)));
        }
        for (bad, field) in [
            ("replicas: 0", "replicas"),
            ("autoscale: {min: 0, max: 3}", "autoscale.min"),
            ("replicas: 3, spot: true", "spot"),
            ("replicas: 3, taints: [{key: a, effect: NoSchedule}]", "taints[0]"),
            ("replicas: 3, taints: [{key: a, effect: NoExecute}]", "taints[0]"),
        ] {
            let path = format!("spec.nodePools[0].{field}");
            finds(worker(&system(bad)), Code::InvalidNodePool, &path);
            finds_nothing(cluster(&system(bad)));
        }
        finds_nothing(worker(&system("replicas: 3, taints: [{key: a, effect: PreferNoSchedule}]")));
    }

    #[test]
    fn a_pool_has_one_number_of_nodes() {
        found("[{name: a}]", "spec.nodePools[0]");
        let both = "[{name: a, replicas: 1, autoscale: {min: 1, max: 2}}]";
        found(both, "spec.nodePools[0].replicas");
        found("[{name: a, autoscale: {min: 3, max: 2}}]", "spec.nodePools[0].autoscale.min");
        finds_nothing(cluster("nodePools: [{name: a, autoscale: {min: 2, max: 2}}]\n  "));
    }

    #[test]
    fn a_zone_stands_once() {
        found("[{name: a, replicas: 1, zones: ['1', '1']}]", "spec.nodePools[0].zones[1]");
    }
}
