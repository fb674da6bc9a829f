//! The flavor `kind`: a fleet on one machine, without any cloud, from documents to objects.

use std::collections::BTreeSet;

use carp::diag::Code;
use carp::model::api::Network;
use carp::model::{DeletionStep, Fleet, GateReason};
use carp::render::{self, Files, Templates};
use serde_json::{Value, json};

use crate::support::world::World;
use crate::support::{documents, fleet, small};
use crate::{rendered_crds, rendered_kustomize, rendered_yaml};

/// The fields of a `KINDCluster`'s spec that this flavor writes (its provider documents them).
const FIELDS: [&str; 7] = [
    "clusterName",
    "config",
    "controlPlaneNodes",
    "endpointType",
    "image",
    "kubernetesVersion",
    "workerNodes",
];

fn of_kind(tree: &Files, folder: &str, kind: &str) -> Vec<Value> {
    let below = |(path, _): &(String, Value)| path.starts_with(folder);
    let all = documents(tree).into_iter().filter(below).map(|(_, value)| value);
    all.filter(|value| value["kind"] == kind).collect()
}

fn spec(fleet: &Fleet, folder: &str) -> Value {
    let tree = fleet::tree(fleet, "");
    let found = of_kind(&tree, folder, "KINDCluster");
    assert_eq!(found.len(), 1, "{folder}");
    found[0]["spec"].clone()
}

const CLUSTER: &str = "workers/wk-weu-1/clusters/";
const WORKER: &str = "control-plane/wk-weu-1/";

#[test]
fn every_object_is_accepted_every_path_builds_and_every_reader_reads_the_same() {
    let mut fleet = fleet::kind();
    rendered_crds::check(&fleet::tree(&fleet, "teams/a"));
    rendered_kustomize::check(&fleet::tree(&fleet, ""));
    rendered_yaml::check(&fleet::tree(&fleet, ""));
    let network = Network {
        pod_cidrs: vec!["10.1.0.0/16".to_owned(), "fd00:10::/56".to_owned()],
        service_cidrs: vec!["10.2.0.0/16".to_owned()],
    };
    for cluster in fleet.clusters.values_mut() {
        cluster.spec.network = Some(network.clone());
        cluster.spec.paused = true;
    }
    fleet.spec.images = fleet::full().spec.images;
    rendered_crds::check(&fleet::tree(&fleet, ""));
    rendered_yaml::check(&fleet::tree(&fleet, ""));
    let networking = json!({
        "ipFamily": "dual",
        "podSubnet": "10.1.0.0/16,fd00:10::/56",
        "serviceSubnet": "10.2.0.0/16",
    });
    let spec = spec(&fleet, CLUSTER);
    assert_eq!(spec["config"], json!({"networking": networking}));
    let image = spec["image"].as_str().unwrap();
    assert!(image.starts_with("mirror.example.com/docker.io/kindest/node:v1.34."), "{image}");
    assert!(spec.as_object().unwrap().keys().all(|field| FIELDS.contains(&field.as_str())));
}

#[test]
fn one_object_is_infrastructure_and_control_plane() {
    let tree = fleet::tree(&fleet::kind(), "");
    for (folder, name) in [(CLUSTER, "pay-eu"), (WORKER, "wk-weu-1")] {
        let cluster = &of_kind(&tree, folder, "Cluster")[0];
        let wanted = json!({
            "apiGroup": "infrastructure.cluster-k8s.io", "kind": "KINDCluster", "name": name,
        });
        assert_eq!(cluster["spec"]["controlPlaneRef"], wanted);
        assert_eq!(cluster["spec"]["infrastructureRef"], wanted);
        let kind = &of_kind(&tree, folder, "KINDCluster")[0];
        assert_eq!(kind["metadata"]["namespace"], name);
        assert_eq!(
            kind["spec"],
            json!({
                "clusterName": name,
                "kubernetesVersion": "1.34",
                "controlPlaneNodes": 1,
                "workerNodes": 3,
                "endpointType": "Internal",
            }),
            "who runs kind knows the image of a version"
        );
    }
}

#[test]
fn a_worker_is_begun_by_the_control_plane_and_is_light() {
    let tree = fleet::tree(&fleet::kind(), "");
    let flux = of_kind(&tree, WORKER, "Kustomization");
    let secret = |k: &Value| k.pointer("/spec/kubeConfig/secretRef/name").cloned();
    let remote: Vec<_> = flux.iter().filter_map(secret).collect();
    assert_eq!(remote, [json!("wk-weu-1-kubeconfig"), json!("wk-weu-1-kubeconfig")]);
    let set = &of_kind(&tree, WORKER, "ClusterResourceSet")[0];
    let selected = &set["spec"]["clusterSelector"]["matchLabels"];
    let labels = &of_kind(&tree, WORKER, "Cluster")[0]["metadata"]["labels"];
    assert_eq!(selected["carp.dev/worker"], labels["carp.dev/worker"]);
    let azure = tree
        .iter()
        .filter(|(path, _)| path.starts_with("workers/") && !path.contains("/platform/"))
        .filter(|(path, _)| !path.contains("/crds/"))
        .filter(|(_, bytes)| String::from_utf8_lossy(bytes).to_lowercase().contains("azure"));
    assert_eq!(azure.map(|(path, _)| path).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn a_deletion_leaves_the_end_to_cluster_api() {
    let tree = fleet::tree(&fleet::kind(), "");
    let folder = format!("{CLUSTER}pay-eu/");
    let last: Files = tree
        .into_iter()
        .filter_map(|(path, bytes)| Some((path.strip_prefix(&folder)?.to_owned(), bytes)))
        .collect();
    let kept = |o: &Value| {
        let prune = "kustomize.toolkit.fluxcd.io/prune";
        o["metadata"]["annotations"][prune] == "disabled"
    };
    let cluster = of_kind(&last, "", "KINDCluster").remove(0);
    assert!(kept(&cluster), "Flux does not delete it beside Cluster API");
    let gone =
        render::deletion_folder("kind", &last, &Templates::built_in(), DeletionStep::D1).unwrap();
    let kinds: BTreeSet<_> =
        documents(&gone).iter().map(|(_, o)| o["kind"].as_str().unwrap().to_owned()).collect();
    let stays = ["ConfigMap", "Kustomization", "ManagedCluster", "Namespace"];
    assert_eq!(kinds, stays.map(str::to_owned).into());
}

#[test]
fn the_folder_of_a_worker_says_its_flavor_to_the_end() {
    let flavor = |fleet: &Fleet, folder: &str| {
        let tree = fleet::tree(fleet, "").into_iter();
        let below =
            |(path, bytes): (String, _)| Some((path.strip_prefix(folder)?.to_owned(), bytes));
        render::worker_flavor(&tree.filter_map(below).collect())
    };
    assert_eq!(flavor(&fleet::kind(), WORKER), "kind");
    assert_eq!(flavor(&fleet::full(), "control-plane/wk-weu-1/"), "capz");
}

/// A fleet on one machine, as a person writes it: no control plane, no credentials.
fn on_one_machine() -> World {
    let fleet = "apiVersion: carp.dev/v1alpha1
kind: Fleet
metadata: {name: laptop}
spec:
  delivery: {url: \"https://git.example.com/me/fleet.git\"}
";
    let kind = |text: String| text.replacen("spec:\n", "spec:\n  flavor: kind\n", 1);
    let files = [
        ("carp.yaml", fleet.to_owned()),
        ("fleet/w.yaml", kind(small::worker("w1", "westeurope", 4))),
        ("fleet/c.yaml", kind(small::cluster("dev", "westeurope"))),
    ];
    World::new(files.map(|(path, text)| (path.to_owned(), text)).into())
}

#[test]
fn a_fleet_on_one_machine_needs_no_credentials() {
    let mut world = on_one_machine();
    let run = world.run();
    assert!(run.diagnostics.is_empty() && run.gates.is_empty(), "{:?}", run.diagnostics);
    assert_eq!(world.worker_of("dev").as_deref(), Some("w1"));
    let cluster = world.output_text("workers/w1/clusters/dev/cluster.yaml").unwrap();
    assert!(cluster.contains("clusterName: \"dev\"\n"), "{cluster}");
    assert!(world.output_text("control-plane/w1/cluster.yaml").unwrap().contains("KINDCluster"));
    assert!(!world.propose().has_changes());
}

#[test]
fn what_kind_cannot_change_is_kept_and_said() {
    for (from, to, field) in
        [("v1.34.2", "v1.35.0", "kubernetesVersion"), ("replicas: 2", "replicas: 5", "workerNodes")]
    {
        let mut world = on_one_machine();
        world.run();
        world.edit("fleet/c.yaml", from, to);
        let run = world.propose();
        assert_eq!(run.gates[0].reason, GateReason::ForbiddenChange, "{field}");
        let found = run.diagnostics.iter().find(|d| d.code == Code::ImmutableField).unwrap();
        assert!(found.message.contains(field), "{}", found.message);
    }
    let mut world = on_one_machine();
    world.run();
    world.edit("fleet/c.yaml", "v1.34.2", "v1.34.9");
    assert!(world.propose().gates.is_empty(), "kind has one image for each minor version");
}

#[test]
fn the_fleet_of_the_documentation_is_one() {
    let page = include_str!("../../docs/kind.md");
    let blocks = page.split("```yaml\n# ").skip(1).filter_map(|rest| rest.split_once("```"));
    let files = blocks.map(|(block, _)| {
        let (path, text) = block.split_once('\n').unwrap();
        (path.to_owned(), text.to_owned())
    });
    let mut world = World::new(files.collect());
    assert_eq!(world.files.len(), 2, "{:?}", world.files.keys());
    let run = world.run();
    assert!(run.diagnostics.is_empty() && run.gates.is_empty(), "{:?}", run.diagnostics);
    assert_eq!(world.worker_of("dev").as_deref(), Some("w1"));
    assert!(world.output_text("control-plane/w1/cluster.yaml").unwrap().contains("workerNodes: 0"));
}
