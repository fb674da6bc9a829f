//! Every rendered object is one that the real CRDs accept, fields that they would drop included.

use carp::render::Files;
use serde_json::{Value, json};

use crate::support::crd::Crds;
use crate::support::{self, documents, fleet};

/// The CRDs, where the environment names their folder.
fn crds() -> Option<&'static Crds> {
    let crds = Crds::given();
    if crds.is_none() {
        support::skip("rendered_crds", "CARP_CRDS does not name a folder of CRDs");
    }
    crds
}

/// Checks every object of a tree.
pub(crate) fn check(tree: &Files) {
    let Some(crds) = crds() else { return };
    let mut checked = 0;
    let mut found = Vec::new();
    for (path, object) in documents(tree) {
        checked += 1;
        let name = format!("{path}: {} {}", object["kind"], object["metadata"]["name"]);
        found.extend(crds.findings(&object).into_iter().map(|f| format!("{name}: {f}")));
    }
    assert!(checked > 30, "only {checked} objects");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_object_is_accepted() {
    check(&fleet::tree(&fleet::full(), "teams/a"));
    check(&fleet::tree(&fleet::plain(), ""));
}

/// The first object of a kind in the tree of the full fleet.
fn one(kind: &str) -> Value {
    let tree = fleet::tree(&fleet::full(), "");
    documents(&tree).into_iter().map(|(_, v)| v).find(|v| v["kind"] == kind).unwrap()
}

#[test]
fn a_wrong_object_is_not_accepted() {
    let Some(crds) = crds() else { return };
    for (kind, pointer, value, why) in [
        ("MachineDeployment", "/spec/strategy", json!({}), "a field of v1beta1"),
        ("MachineDeployment", "/spec/template/spec/version", json!(1.34), "a wrong type"),
        ("Cluster", "/apiVersion", json!("cluster.x-k8s.io/v9"), "a version that is not served"),
        ("KamajiControlPlane", "/spec/version", json!(null), "a field that must be there"),
        ("AzureClusterIdentity", "/spec/type", json!("Password"), "a value that is not allowed"),
        ("ManagedCluster", "/spec/lables", json!({}), "a misspelled field"),
        ("ConfigMap", "/dta", json!({}), "a misspelled field of a built-in kind"),
    ] {
        let mut object = one(kind);
        assert!(crds.findings(&object).is_empty(), "{kind}");
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        object.pointer_mut(parent).unwrap()[key] = value;
        assert!(!crds.findings(&object).is_empty(), "{kind}: {why}");
    }
    let mut twice = one("KubeadmControlPlane");
    let args = "/spec/kubeadmConfigSpec/clusterConfiguration/controllerManager/extraArgs";
    let args = twice.pointer_mut(args).unwrap().as_array_mut().unwrap();
    args.push(args[0].clone());
    assert!(!crds.findings(&twice).is_empty(), "an argument that is there twice");
}
