//! Every path that a rendered Flux object names is one that kustomize builds.

use std::collections::BTreeSet;
use std::process::Command;

use carp::render::Files;

use crate::support::{self, documents, fleet};

/// Builds every path that a Flux Kustomization of the tree names, and the roots.
pub(crate) fn check(tree: &Files) {
    if Command::new("kubectl").arg("version").arg("--client").output().is_err() {
        support::skip("rendered_kustomize", "kubectl is not on PATH");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    support::write(tree, folder.path());
    let flux = documents(tree).into_iter().map(|(_, value)| value).filter(|v| {
        v["kind"] == "Kustomization"
            && v["apiVersion"] == "kustomize.toolkit.fluxcd.io/v1"
            && v["spec"]["sourceRef"]["kind"] == "GitRepository"
    });
    let mut paths: BTreeSet<_> =
        flux.map(|v| v["spec"]["path"].as_str().unwrap().to_owned()).collect();
    paths.insert("./control-plane".to_owned());
    assert!(paths.len() > 8, "{paths:?}");
    for path in paths {
        let built = Command::new("kubectl")
            .arg("kustomize")
            .arg(folder.path().join(&path))
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{path}: {errors}");
        assert!(!built.stdout.is_empty(), "{path} is empty");
    }
}

#[test]
fn every_path_builds() {
    check(&fleet::tree(&fleet::full(), ""));
}

#[test]
fn a_worker_without_clusters_builds() {
    let mut fleet = fleet::plain();
    fleet.clusters.clear();
    check(&fleet::tree(&fleet, ""));
}
