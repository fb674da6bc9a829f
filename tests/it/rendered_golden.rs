//! What is rendered, byte for byte: a change here changes every fleet.

use carp::render::Files;

use crate::support::fleet;

/// The files below a folder, one after the other. CRDs are left out: they follow the API's types.
fn shown(tree: &Files, folder: &str) -> String {
    let files = tree.iter().filter(|(p, _)| p.starts_with(folder) && !p.contains("/crds/"));
    let texts = files.map(|(path, bytes)| (path, String::from_utf8_lossy(bytes)));
    texts.fold(String::new(), |all, (path, text)| format!("{all}==> {path}\n{text}"))
}

#[test]
fn a_cluster() {
    let tree = fleet::tree(&fleet::plain(), "");
    insta::assert_snapshot!("cluster", shown(&tree, "workers/wk-weu-1/clusters/"));
    let tree = fleet::tree(&fleet::full(), "");
    insta::assert_snapshot!("cluster_full", shown(&tree, "workers/wk-weu-1/clusters/"));
}

#[test]
fn a_worker() {
    let mut tree = fleet::tree(&fleet::plain(), "");
    tree.retain(|path, _| !path.contains("/clusters/"));
    insta::assert_snapshot!("worker", shown(&tree, "workers/wk-weu-1/"));
    insta::assert_snapshot!("worker_control_plane", shown(&tree, "control-plane/wk-weu-1/"));
}

#[test]
fn the_control_plane() {
    let mut tree = fleet::tree(&fleet::plain(), "");
    tree.retain(|path, _| !path.starts_with("control-plane/wk-weu-1/"));
    insta::assert_snapshot!("control_plane", shown(&tree, "control-plane/"));
}

#[test]
fn a_fleet_of_kind() {
    let tree = fleet::tree(&fleet::kind(), "");
    insta::assert_snapshot!("kind_cluster", shown(&tree, "workers/wk-weu-1/clusters/"));
    insta::assert_snapshot!("kind_worker_control_plane", shown(&tree, "control-plane/wk-weu-1/"));
}

#[test]
fn an_agent() {
    let mut tree = fleet::tree(&fleet::full(), "");
    // Its rights are those of deploy/agent/rbac.yaml, byte for byte.
    let rights = tree.remove("workers/wk-weu-1/agent/rbac.yaml").unwrap();
    let by_hand = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/agent/rbac.yaml");
    assert_eq!(rights, std::fs::read(by_hand).unwrap());
    insta::assert_snapshot!("agent", shown(&tree, "workers/wk-weu-1/agent/"));
}
