//! `invalid-node-pool` on taints of pools: what an API server and Cluster API refuse of a node's taint. One that
//! they refuse keeps the whole folder of the cluster from being applied (Cluster API,
//! `internal/util/taints/validation.go` and `internal/webhooks/machine.go`; k8s.io/apimachinery,
//! `pkg/api/validate/content`).

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::model::api::Taint;
use crate::model::{is_label_key, is_label_value};

/// Keys that only Cluster API, Kubernetes or carp set.
const RESERVED: &[&str] = &[
    "carp.dev/hosted-control-planes",
    "node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/master",
    "node.cluster.x-k8s.io/outdated-revision",
    "node.cluster.x-k8s.io/uninitialized",
];
/// Domains whose keys only Kubernetes and the cloud provider set.
const RESERVED_DOMAINS: &[&str] = &["node.kubernetes.io", "node.cloudprovider.kubernetes.io"];
/// The one key of them that people set.
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    for (path, pool) in subject.node_pools() {
        for (i, taint) in pool.taints.iter().enumerate().filter(|(_, t)| !t.key.is_empty()) {
            one(taint, &path.key("taints").index(i), out);
        }
    }
}

fn one(taint: &Taint, path: &FieldPath, out: &mut Findings) {
    let key = taint.key.as_str();
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    let reserved = RESERVED_DOMAINS.contains(&domain) && key != OUT_OF_SERVICE;
    if !is_label_key(key) {
        let message = format!("`{key}` cannot be the key of a taint");
        let help = "use letters, digits, `-`, `_` and `.`, at most 63, perhaps after `domain/`";
        out.add(Code::InvalidNodePool, path.key("key"), message, help);
    } else if reserved || RESERVED.contains(&key) {
        let message = format!("nodes get the taint `{key}` from the system alone");
        out.add(Code::InvalidNodePool, path.key("key"), message, "take a key of your own");
    }
    let value = taint.value.as_str();
    if !is_label_value(value) {
        let message = format!("`{value}` cannot be the value of a taint");
        let help = "use letters, digits, `-`, `_` and `.`, at most 63 of them";
        out.add(Code::InvalidNodePool, path.key("value"), message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{class, cluster, finds, finds_nothing, worker};
    use super::*;

    fn pool(taint: &str) -> String {
        format!(
            "nodePools: [{{name: a, replicas: 1, taints: [{{effect: NoSchedule, {taint}}}]}}]\n  "
        )
    }

    #[test]
    fn a_taint_is_what_an_api_server_takes() {
        let path = "spec.nodePools[0].taints[0].key";
        for key in ["\"two words\"", "a/b/c", "\"-a\"", "example.com/"] {
            let pool = pool(&format!("key: {key}"));
            for text in [cluster(&pool), worker(&pool), class("small", &pool)] {
                finds(text, Code::InvalidNodePool, path);
            }
        }
        let path = "spec.nodePools[0].taints[0].value";
        finds(cluster(&pool("key: a, value: \"two words\"")), Code::InvalidNodePool, path);
        for good in ["key: a", "key: a, value: \"\"", "key: example.com/a, value: b.c_d"] {
            finds_nothing(cluster(&pool(good)));
        }
    }

    #[test]
    fn what_the_system_sets_is_not_for_people() {
        let path = "spec.nodePools[0].taints[0].key";
        for key in RESERVED {
            finds(cluster(&pool(&format!("key: {key}"))), Code::InvalidNodePool, path);
        }
        let not_ready = cluster(&pool("key: node.kubernetes.io/not-ready"));
        finds(not_ready, Code::InvalidNodePool, path);
        let cloud = cluster(&pool("key: node.cloudprovider.kubernetes.io/uninitialized"));
        finds(cloud, Code::InvalidNodePool, path);
        finds_nothing(cluster(&pool(&format!("key: {OUT_OF_SERVICE}"))));
    }
}
