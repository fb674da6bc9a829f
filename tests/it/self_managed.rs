//! ManagedClusters whose control plane is on machines of their own: the flavor of workers, made on a worker.

use serde_json::{Value, json};

use crate::support::world::World;
use crate::support::{documents, fleet, small};

/// The small fleet, one cluster of which has a control plane of its own.
fn world() -> (World, String) {
    let mut files = small::files();
    let cluster = |text: &String| text.contains("kind: ManagedCluster\n");
    let file = files.iter().find(|(_, text)| cluster(text)).unwrap().0.clone();
    let text = files.get_mut(&file).unwrap();
    *text = text.replacen("\nspec:\n", "\nspec:\n  flavor: capz\n", 1);
    (World::new(files), file)
}

fn objects(kind: &str) -> Vec<Value> {
    let tree = fleet::tree(&fleet::of("capz"), "");
    let own = documents(&tree).into_iter();
    let own = own.filter(|(path, _)| path.starts_with("workers/wk-weu-1/clusters/pay-eu/"));
    own.map(|(_, object)| object).filter(|object| object["kind"] == kind).collect()
}

#[test]
fn it_is_a_cluster_of_its_tenant_with_machines_and_disks_of_its_own() {
    let cluster = &objects("Cluster")[0];
    let labels = &cluster["metadata"]["labels"];
    assert!(
        labels["carp.dev/tenant"].is_string() && labels["carp.dev/worker"].is_null(),
        "{labels}"
    );
    assert_eq!(cluster["spec"]["controlPlaneRef"]["kind"], "KubeadmControlPlane");
    let plane = &objects("KubeadmControlPlane")[0];
    assert_eq!(plane["spec"]["replicas"], 3, "an odd number where nobody says one");
    let args = plane["spec"]["kubeadmConfigSpec"]["clusterConfiguration"]["apiServer"].clone();
    assert_eq!(args, Value::Null, "workers alone have an issuer that is published");
    // A worker gets its class with its components, a ManagedCluster by its folder.
    assert_eq!(objects("ClusterResourceSet")[0]["metadata"]["name"], "storage-class");
    let roles: Vec<_> = objects("AzureCluster")[0]["spec"]["networkSpec"]["subnets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|subnet| subnet["role"].clone())
        .collect();
    assert_eq!(roles, [json!("control-plane"), json!("node")]);
}

#[test]
fn an_even_control_plane_is_told_and_moves_nothing() {
    let (mut world, file) = world();
    let first = world.run();
    assert!(first.diagnostics.is_empty(), "{:#?}", first.diagnostics);
    assert!(!world.run().has_changes());
    world.edit(&file, "\nspec:\n", "\nspec:\n  controlPlane: {replicas: 2}\n");
    let told = world.propose().diagnostics;
    let told: Vec<_> = told.iter().map(|d| d.message.clone()).collect();
    assert!(told.iter().any(|m| m.contains("KubeadmControlPlane")), "{told:#?}");
}
