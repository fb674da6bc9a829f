//! `reserved-name`: a cluster's name is its namespace on the worker and a worker's name a folder, so
//! the names of system namespaces and of carp's own folders and layers are taken.

use super::{Scene, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::Spec;

/// Namespaces that Kubernetes, Flux and the components live in.
const SYSTEM: [&str; 12] = [
    "default",
    "flux-system",
    "cert-manager",
    "capi-system",
    "capz-system",
    "caaph-system",
    "capi-operator-system",
    "kamaji-system",
    "calico-system",
    "calico-apiserver",
    "tigera-operator",
    "carp-system",
];

/// Folders and layers that carp writes.
const OWN: [&str; 8] = [
    "crds",
    "capi-operator",
    "providers",
    "platform",
    "agent",
    "clusters",
    "workers",
    "control-plane",
];

pub(super) fn check(subject: &Subject<'_>, scene: &Scene<'_>, out: &mut Findings) {
    if !matches!(subject.body.spec, Spec::ManagedCluster(_) | Spec::Worker(_)) {
        return;
    }
    let name = subject.body.name.as_str();
    let control_plane = scene.fleet.and_then(|f| f.control_plane.as_ref()).map(|c| c.name.as_str());
    let why = if SYSTEM.contains(&name) || name.starts_with("kube-") || is_provider(name) {
        "a system namespace"
    } else if OWN.contains(&name) {
        "one of carp's own folders"
    } else if Some(name) == control_plane {
        "the control-plane cluster"
    } else {
        return;
    };
    let message = format!("`{name}` is the name of {why}");
    out.add(Code::ReservedName, FieldPath::keys("metadata.name"), message, "choose another name");
}

/// The namespaces of Cluster API's providers: `capi-kubeadm-bootstrap-system` and the like.
fn is_provider(name: &str) -> bool {
    name.starts_with("capi-") && name.ends_with("-system")
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{
        CARP, class, cluster, files_find, finds, finds_nothing, worker,
    };
    use super::*;

    #[test]
    fn names_of_the_system_and_of_carp_are_taken() {
        for taken in
            ["kube-system", "flux-system", "capi-kubeadm-bootstrap-system", "crds", "workers"]
        {
            finds(cluster("").replace("pay-eu", taken), Code::ReservedName, "metadata.name");
            finds(worker("").replace("w1", taken), Code::ReservedName, "metadata.name");
        }
        finds_nothing(cluster("").replace("pay-eu", "capi-test"));
        finds_nothing(class("platform", ""));
    }

    #[test]
    fn the_control_planes_name_is_taken() {
        let carp = format!("{CARP}  controlPlane: {{name: hub}}\n");
        let text = cluster("").replace("pay-eu", "hub");
        let files = [("carp.yaml", &*carp), ("fleet/x.yaml", &text)];
        files_find(&files, Code::ReservedName, "metadata.name");
    }
}
