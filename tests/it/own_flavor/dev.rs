//! A fleet without a cloud: `examples/dev`, whose clusters are in the memory of Cluster API's provider for development, on
//! workers in containers.

use carp::diag::Code;
use serde_json::{Value, json};

use super::example::{Example, objects};
use crate::support::world::World;

const DEV: Example = Example {
    name: "dev",
    title: "A fleet without a cloud",
    workers: &["bench-1", "bench-2"],
    without_definitions: &[],
};

/// The folder of a cluster.
fn folder(world: &World, cluster: &str) -> String {
    format!("workers/{}/clusters/{cluster}/", world.worker_of(cluster).unwrap())
}

#[test]
fn every_object_is_one_that_the_crds_accept() {
    DEV.every_object_is_accepted(60);
}

#[test]
fn a_worker_in_containers_gets_the_provider_and_no_cloud() {
    let world = DEV.world();
    for worker in DEV.workers {
        let providers = format!("workers/{worker}/providers/");
        let infrastructure = objects(&world, &providers, "InfrastructureProvider");
        assert_eq!(infrastructure.len(), 1, "{infrastructure:#?}");
        assert_eq!(infrastructure[0]["metadata"]["name"], "docker");
        // It is released with the core, and is of the same version.
        let core = objects(&world, &providers, "CoreProvider");
        assert_eq!(infrastructure[0]["spec"]["version"], core[0]["spec"]["version"]);
    }
    for (path, text) in world.output_files() {
        let text = String::from_utf8(text).unwrap();
        assert!(!path.starts_with("workers/") || !text.contains("name: \"azure\""), "{path}");
    }
}

#[test]
fn a_machine_in_memory_is_replaced_by_what_would_replace_one_in_a_cloud() {
    let mut world = DEV.world();
    let shop = folder(&world, "shop");
    assert_eq!(
        objects(&world, &shop, "DevCluster")[0]["spec"],
        json!({"backend": {"inMemory": {}}})
    );
    let zones: Vec<_> = objects(&world, &shop, "MachineDeployment")
        .iter()
        .map(|o| o["spec"]["template"]["spec"]["failureDomain"].clone())
        .collect();
    assert_eq!(zones, [json!("1"), json!("2"), json!("3"), Value::Null]);
    let names = |world: &World| -> Vec<Value> {
        let all = objects(world, &folder(world, "shop"), "DevMachineTemplate");
        all.iter().map(|o| o["metadata"]["name"].clone()).collect()
    };
    let before = names(&world);
    world.edit("fleet/clusters.yaml", "Standard_E8s_v5", "Standard_E16s_v5");
    let proposal = world.run();
    assert!(proposal.diagnostics.is_empty(), "{:#?}", proposal.diagnostics);
    let differ = names(&world).iter().zip(&before).filter(|(a, b)| a != b).count();
    assert_eq!((differ, before.len()), (1, 3), "another template, and no object that changed");
}

#[test]
fn versions_go_up_as_they_do_in_a_cloud() {
    let mut world = DEV.world();
    let version = |world: &World| {
        let planes = objects(world, &folder(world, "till"), "KubeadmControlPlane");
        planes[0]["spec"]["version"].clone()
    };
    assert_eq!(version(&world), "v1.33.6");
    world.edit("fleet/clusters.yaml", "v1.33.6", "v1.34.2");
    world.run();
    assert_eq!(version(&world), "v1.34.2");
    world.edit(
        "fleet/clusters.yaml",
        "version: v1.34.2\n  location: northeurope",
        "version: v1.33.6\n  location: northeurope",
    );
    let told = world.run().diagnostics;
    assert!(told.iter().any(|d| d.code == Code::VersionSkew), "{told:#?}");
    assert_eq!(version(&world), "v1.34.2", "its last good folder");
}

#[test]
fn its_clusters_go_in_three_steps() {
    for cluster in ["shop", "till"] {
        let worker = DEV.world().worker_of(cluster).unwrap();
        DEV.goes_in_three_steps(cluster, &worker, &["DevMachine", "DevCluster"]);
    }
}

#[test]
fn the_page_tells_the_steps() {
    DEV.the_page_tells_the_steps();
}
