//! AWS by files alone: `examples/aws`, a fleet whose templates make clusters of Cluster API's provider for AWS. The steps
//! of `docs/flavors.md` are commands that are run here, and what they print.

use carp::diag::Code;
use serde_json::{Value, json};

use super::example::{Example, objects};
use crate::support::world::World;

const AWS: Example = Example {
    name: "aws",
    title: "AWS, by files alone",
    workers: &[WORKER],
    // The folder of definitions that the tests are given has none of CAPA's.
    without_definitions: &[
        "AWSCluster",
        "AWSMachineTemplate",
        "AWSManagedCluster",
        "AWSManagedControlPlane",
        "AWSManagedMachinePool",
    ],
};
const WORKER: &str = "w-fra";

#[test]
fn every_object_is_one_that_the_crds_accept() {
    AWS.every_object_is_accepted(60);
}

#[test]
fn the_fleet_may_bring_the_add_ons() {
    AWS.add_ons_are_the_fleets("shop", "addOns: {cni: own, ccm: own, csi: own}\n    ");
    AWS.add_ons_are_the_fleets("till", "");
}

#[test]
fn flux_may_install_charts() {
    AWS.charts_may_be_fluxs("shop");
    AWS.charts_may_be_fluxs("till");
}

#[test]
fn what_it_makes_is_of_aws_and_of_nothing_else() {
    let world = AWS.world();
    for cluster in ["shop", "till"] {
        assert_eq!(world.worker_of(cluster).as_deref(), Some(WORKER), "{cluster}");
    }
    for (path, text) in world.output_files() {
        let text = String::from_utf8(text).unwrap().to_lowercase();
        // The rights of what applies clusters, and the agent's, are for all flavors that there are.
        let rights = ["platform/platform.yaml", "agent/rbac.yaml", "/crds/"];
        if !rights.iter().any(|end| path.contains(end)) {
            assert!(!text.contains("azure") && !text.contains("kamaji"), "{path}");
        }
    }
    let shop = "workers/w-fra/clusters/shop/";
    let zones: Vec<_> = objects(&world, shop, "MachineDeployment")
        .iter()
        .map(|o| o["spec"]["template"]["spec"]["failureDomain"].clone())
        .collect();
    assert_eq!(zones, [json!("eu-west-1a"), json!("eu-west-1b"), Value::Null]);
    let till = objects(&world, "workers/w-fra/clusters/till/", "AWSManagedMachinePool");
    assert_eq!(till[0]["spec"]["availabilityZones"], json!(["eu-central-1a"]));
    let own = objects(&world, "control-plane/w-fra/", "KubeadmControlPlane");
    assert_eq!((own.len(), &own[0]["spec"]["replicas"]), (1, &json!(3)));
    let providers = objects(&world, "workers/w-fra/providers/", "InfrastructureProvider");
    assert_eq!(providers.len(), 1);
    assert_eq!(providers[0]["spec"]["configSecret"]["name"], "capa-variables");
}

#[test]
fn machines_rotate_and_what_stays_is_told() {
    let mut world = AWS.world();
    let names = |world: &World| -> Vec<Value> {
        let all = objects(world, "workers/w-fra/clusters/shop/", "AWSMachineTemplate");
        all.iter().map(|o| o["metadata"]["name"].clone()).collect()
    };
    let before = names(&world);
    world.edit("fleet/clusters/shop.yaml", "c6i.2xlarge", "c6i.xlarge");
    let proposal = world.run();
    assert!(proposal.diagnostics.is_empty(), "{:#?}", proposal.diagnostics);
    let differ = names(&world).iter().zip(&before).filter(|(a, b)| a != b).count();
    assert_eq!((differ, before.len()), (1, 3), "another template, and no object that changed");
    // A node group stays what it is: EKS has no other disk for it.
    let pool = "{name: np0, replicas: 3, vmSize: m6i.xlarge, ";
    world.edit("fleet/clusters/till.yaml", pool, &format!("{pool}osDisk: {{sizeGB: 200}}, "));
    let proposal = world.run();
    let told = proposal.diagnostics.iter().find(|d| d.code == Code::ImmutableField).unwrap();
    assert!(told.message.contains("spec.diskSize of AWSManagedMachinePool"), "{}", told.message);
    world.edit("fleet/clusters/till.yaml", "osDisk: {sizeGB: 200}, ", "");
    world.edit("fleet/clusters/till.yaml", "location: eu-central-1", "location: eu-central-9");
    let told = world.propose().diagnostics;
    assert!(told.iter().any(|d| d.code == Code::UnknownLocation), "{told:#?}");
}

#[test]
fn its_clusters_go_in_three_steps() {
    AWS.goes_in_three_steps("shop", WORKER, &["AWSMachine", "KubeadmControlPlane"]);
    AWS.goes_in_three_steps("till", WORKER, &["AWSManagedControlPlane"]);
}

#[test]
fn the_page_tells_the_steps() {
    AWS.the_page_tells_the_steps();
}
