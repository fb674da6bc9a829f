//! `invalid-node-pool`: a pool becomes a `MachineDeployment` (one a zone), so names do not repeat, and
//! its number of nodes is either fixed or between two bounds.

use std::collections::BTreeSet;

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::NodePool;

/// The pool that every worker has besides those it names.
const SYSTEM_POOL: &str = "system";

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    let mut seen = BTreeSet::new();
    for (path, pool) in subject.node_pools() {
        name(subject, &path, pool, out);
        if !seen.insert(&pool.name) {
            let message = format!("there are two pools called `{}`", pool.name);
            out.add(Code::InvalidNodePool, path.key("name"), message, "give each its own name");
        }
        size(&path, pool, out);
        zones(&path, pool, out);
    }
}

fn name(subject: &Subject<'_>, path: &FieldPath, pool: &NodePool, out: &mut Findings) {
    let name = pool.name.as_str();
    let plain = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let letter = name.starts_with(|c: char| c.is_ascii_lowercase());
    if !plain || !letter || name.len() > 12 {
        let message = format!("`{name}` cannot be the name of a pool");
        let help = "begin with a letter and use lower-case letters and digits, at most 12";
        out.add(Code::InvalidNodePool, path.key("name"), message, help);
    } else if name == SYSTEM_POOL && matches!(subject.body.spec, DocumentSpec::Worker(_)) {
        let message = "every worker has a pool `system` already";
        out.add(Code::InvalidNodePool, path.key("name"), message, "choose another name");
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
        let system = "nodePools: [{name: system, replicas: 1}]\n  ";
        finds(worker(system), Code::InvalidNodePool, "spec.nodePools[0].name");
        finds_nothing(cluster(system));
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
