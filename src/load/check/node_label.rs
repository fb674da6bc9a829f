//! `invalid-node-pool` on labels of pools: a kubelet that is given a label of Kubernetes' own domains which it
//! may not set does not start, and no node of the pool joins (kubernetes, `cmd/kubelet/app/options/options.go`,
//! `ValidateKubeletFlags`, and `k8s.io/kubelet/pkg/apis/well_known_labels.go`). Labels that Cluster API sets on
//! nodes itself do not go through the kubelet.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;

/// The domains that belong to Kubernetes, with all below them.
const KUBERNETES: &[&str] = &["kubernetes.io", "k8s.io"];
/// Those of them, with all below, of which a kubelet sets any label, and those that Cluster API copies from
/// a Machine to its Node.
const ALLOWED: &[&str] = &[
    "kubelet.kubernetes.io",
    "node.kubernetes.io",
    "node.cluster.x-k8s.io",
    "node-role.kubernetes.io",
    "node-restriction.kubernetes.io",
];
/// Labels elsewhere in these domains that a kubelet may set.
const KUBELET: &[&str] = &[
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];
/// Labels that carp itself puts on the nodes of a pool.
const OWN: &[&str] =
    &["carp.dev/pool", "node.cluster.x-k8s.io/hosted-control-planes", "node.cluster.x-k8s.io/pool"];

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    for (path, pool) in subject.node_pools() {
        for label in pool.labels.keys() {
            one(label, path.key("labels").key(label), out);
        }
    }
}

fn one(label: &str, path: FieldPath, out: &mut Findings) {
    let domain = label.split_once('/').map_or("", |(domain, _)| domain);
    let below = |of: &&str| domain == *of || domain.ends_with(&format!(".{of}"));
    if OWN.contains(&label) {
        let message = format!("the label `{label}` is carp's own");
        let help = "remove it: the nodes of a pool have it already";
        out.add_on_key(Code::InvalidNodePool, path, message, help);
    } else if KUBERNETES.iter().any(below)
        && !ALLOWED.iter().any(below)
        && !KUBELET.contains(&label)
    {
        let message = format!("no node may give itself the label `{label}`");
        let help = "take a domain of your own, or `node-role.kubernetes.io/` for a role";
        out.add_on_key(Code::InvalidNodePool, path, message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{class, cluster, finds, finds_nothing, worker};
    use super::*;

    fn pool(label: &str) -> String {
        format!("nodePools: [{{name: a, replicas: 1, labels: {{{label}: x}}}}]\n  ")
    }

    #[test]
    fn a_kubelet_sets_only_what_it_may() {
        let refused = ["kubernetes.io/role", "app.kubernetes.io/name", "x.k8s.io/a", "k8s.io/a"];
        for label in refused.into_iter().chain(["kubernetes.io/cluster-service"]) {
            for text in [cluster(&pool(label)), worker(&pool(label)), class("s", &pool(label))] {
                let path = format!("spec.nodePools[0].labels.{label}");
                finds(text, Code::InvalidNodePool, &path);
            }
        }
        for label in [
            "team",
            "example.com/kubernetes.io",
            "node-role.kubernetes.io/batch",
            "x.node-restriction.kubernetes.io/a",
            "node.kubernetes.io/instance-type",
            "kubernetes.io/os",
            "xkubernetes.io/a",
        ] {
            finds_nothing(cluster(&pool(label)));
        }
    }

    #[test]
    fn carps_own_labels_are_not_for_people() {
        for label in OWN {
            let path = format!("spec.nodePools[0].labels.{label}");
            finds(cluster(&pool(label)), Code::InvalidNodePool, &path);
        }
    }
}
