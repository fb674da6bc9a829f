//! Control planes that k0smotron hosts, by files alone: `examples/k0smotron`. The steps of `docs/flavors.md` are commands
//! that are run here, and what they print.

use carp::diag::Code;
use carp::model::Quantity;
use serde_json::{Value, json};

use super::example::{Example, objects};
use super::{hear, report_of};
use crate::applied_twice;
use crate::support::world::{World, after_nine};

const K0SMOTRON: Example = Example {
    name: "k0smotron",
    title: "Control planes by k0smotron",
    workers: &[WORKER],
    without_definitions: &[],
};
const WORKER: &str = "w-weu";

/// The only object of a kind in a cluster's folder.
fn only(world: &World, cluster: &str, kind: &str) -> Value {
    let mut all = objects(world, &format!("workers/{WORKER}/clusters/{cluster}/"), kind);
    assert_eq!(all.len(), 1, "{all:#?}");
    all.pop().unwrap()
}

/// What makes nodes of the machines of a cluster's only pool.
fn bootstrap(world: &World, cluster: &str) -> Value {
    let machines = only(world, cluster, "MachineDeployment");
    let name = &machines["spec"]["template"]["spec"]["bootstrap"]["configRef"]["name"];
    let folder = format!("workers/{WORKER}/clusters/{cluster}/");
    let mut all = objects(world, &folder, "K0sWorkerConfigTemplate");
    all.retain(|template| template["metadata"]["name"] == *name);
    assert_eq!(all.len(), 1, "{name}");
    all.remove(0)["spec"]["template"]["spec"].take()
}

/// What a patch of the control plane holds, by its number.
fn patch(control_plane: &Value, nth: usize) -> (String, Value) {
    let patch = &control_plane["spec"]["patches"][nth];
    let of = format!("{} {}", patch["target"]["kind"], patch["target"]["component"]);
    let content = patch["patch"]["content"].as_str().unwrap();
    (of.replace('"', ""), serde_saphyr::from_str(content).unwrap())
}

#[test]
fn the_fleet_may_bring_the_add_ons() {
    K0SMOTRON.add_ons_are_the_fleets("shop", "addOns: {cni: own, ccm: own, csi: own}\n    ");
}

#[test]
fn flux_may_install_charts() {
    K0SMOTRON.charts_may_be_fluxs("shop");
}

#[test]
fn a_version_before_the_first_is_told() {
    let mut fleet = K0SMOTRON.fleet();
    let text = fleet.get_mut("fleet/clusters/till.yaml").unwrap();
    *text = text.replace("v1.33.6", "v1.31.9");
    let found = World::new(fleet).run().diagnostics;
    let told = found.iter().find(|d| d.code == Code::InvalidVersion).unwrap();
    assert_eq!(told.help.as_deref(), Some("it makes v1.32 to v1.36"));
}

#[test]
fn every_object_is_one_that_the_crds_accept() {
    K0SMOTRON.every_object_is_accepted(80);
}

#[test]
fn what_is_applied_once_more_changes_nothing() {
    let tree = K0SMOTRON.world().output_files().into_iter().collect();
    let test = "own_flavor::k0smotron::what_is_applied_once_more_changes_nothing";
    let Some(applied) =
        applied_twice::applied(test, K0SMOTRON.name, &[applied_twice::objects(&tree)])
    else {
        return;
    };
    assert!(applied > 30, "only {applied} objects");
}

#[test]
fn what_its_pods_ask_for_is_what_the_planner_counts() {
    let mut world = K0SMOTRON.world();
    let asked = |world: &World, name: &str| -> i128 {
        let spec = only(world, "shop", "K0smotronControlPlane")["spec"].clone();
        let replicas = spec["replicas"].as_u64().unwrap();
        let amount = |at: &str| {
            let text = spec.pointer(&format!("{at}/resources/requests/{name}"));
            text.unwrap().as_str().unwrap().parse::<Quantity>().unwrap().thousandths()
        };
        // k0smotron_etcd.go, calculateDesiredReplicas: an odd number of members.
        let members = if replicas == 1 { 1 } else { replicas | 1 };
        amount("") * i128::from(replicas) + amount("/storage/etcd") * i128::from(members)
    };
    for replicas in [3, 2, 1] {
        let said = format!("  controlPlane: {{replicas: {replicas}}}\n  class: medium\n");
        world.edit("fleet/clusters/shop.yaml", "  class: medium\n", &said);
        world.run();
        for (name, demand) in [("cpu", "3"), ("memory", "12Gi")] {
            let demand = demand.parse::<Quantity>().unwrap().thousandths();
            let lost = demand - asked(&world, name);
            // Of the members of a pair's etcd there are three, which cannot share evenly.
            assert!((0..demand / 50).contains(&lost), "{replicas} replicas, {name}: {lost}");
        }
        world.edit("fleet/clusters/shop.yaml", &said, "  class: medium\n");
    }
    let till = only(&world, "till", "K0smotronControlPlane");
    assert_eq!(till["spec"].get("resources"), None, "nothing is counted, nothing is asked for");
}

#[test]
fn its_pods_run_where_hosted_ones_may_and_are_drained_one_by_one() {
    let world = K0SMOTRON.world();
    let plane = only(&world, "shop", "K0smotronControlPlane");
    let pools = objects(&world, "control-plane/w-weu/", "MachineDeployment");
    let mut taints = pools.iter().filter_map(|p| p.pointer("/spec/template/spec/taints/0"));
    let taint = taints.next().expect("a pool for hosted control planes").clone();
    for (nth, of) in [(1, "StatefulSet control-plane"), (2, "StatefulSet etcd")] {
        let (target, content) = patch(&plane, nth);
        assert_eq!(target, of);
        let pod = &content["spec"]["template"]["spec"];
        for key in ["key", "value", "effect"] {
            assert_eq!(pod["tolerations"][0][key], taint[key], "{of}");
        }
        assert!(pod["affinity"].get("podAntiAffinity").is_none(), "k0smotron's own stays");
    }
    let budgets = objects(&world, "workers/w-weu/clusters/shop/", "PodDisruptionBudget");
    let of: Vec<_> = budgets.iter().map(|b| &b["spec"]["selector"]["matchLabels"]).collect();
    let labels = |of| json!({"app": "k0smotron", "cluster": "shop", "component": of});
    assert_eq!(of, [&labels("cluster"), &labels("etcd")]);
    let ports = &only(&world, "shop", "NetworkPolicy")["spec"]["ingress"][0]["ports"];
    let service = &plane["spec"]["service"];
    assert_eq!(
        (&ports[0]["port"], &ports[1]["port"]),
        (&service["apiPort"], &service["konnectivityPort"])
    );
}

#[test]
fn who_reaches_it_may_change_and_where_its_address_is_may_not() {
    let mut world = K0SMOTRON.world();
    let internal = "service.beta.kubernetes.io/azure-load-balancer-internal";
    let (_, till) = patch(&only(&world, "till", "K0smotronControlPlane"), 0);
    assert_eq!(till["metadata"]["annotations"][internal], "true");
    let ranges = |world: &World| {
        let (of, content) = patch(&only(world, "shop", "K0smotronControlPlane"), 3);
        assert_eq!(of, "Service control-plane");
        content["spec"]["loadBalancerSourceRanges"].clone()
    };
    assert_eq!(ranges(&world), json!(["203.0.113.0/24"]));
    world.edit("fleet/clusters/shop.yaml", "203.0.113.0/24", "198.51.100.0/24");
    assert!(world.run().diagnostics.is_empty());
    assert_eq!(ranges(&world), json!(["198.51.100.0/24"]));
    world.edit("fleet/clusters/till.yaml", "endpoint: Private", "endpoint: Public");
    let told = world.run().diagnostics;
    let told = told.iter().find(|d| d.code == Code::ImmutableField).unwrap();
    assert!(told.message.contains("K0smotronControlPlane"), "{}", told.message);
    let (_, till) = patch(&only(&world, "till", "K0smotronControlPlane"), 0);
    assert_eq!(till["metadata"]["annotations"][internal], "true", "its last good folder");
}

#[test]
fn the_store_keeps_its_disk() {
    let mut world = K0SMOTRON.world();
    let etcd = |world: &World| {
        only(world, "till", "K0smotronControlPlane")["spec"]["storage"]["etcd"].clone()
    };
    assert_eq!(etcd(&world)["persistence"]["size"], "32Gi");
    assert_eq!(etcd(&world)["args"], json!(["--quota-backend-bytes=8589934592"]), "8 GiB at most");
    let small = &only(&world, "shop", "K0smotronControlPlane")["spec"]["storage"]["etcd"];
    assert_eq!(small["persistence"]["size"], "16Gi");
    world.edit("fleet/clusters/till.yaml", "sizeGB: 32", "sizeGB: 64");
    let told = world.run().diagnostics;
    assert!(told.iter().any(|d| d.code == Code::ImmutableField), "{told:#?}");
    assert_eq!(etcd(&world)["persistence"]["size"], "32Gi");
}

/// The report of a worker with a cluster, all of whose control plane and pools have these versions.
fn at_versions(world: &World, control_plane: &str, pools: &str) -> String {
    let report = report_of(world, WORKER, "till", &["Cluster", "ManagedCluster", "Namespace"]);
    let seen = format!(
        "  version: {control_plane}\n  controlPlaneVersion: {control_plane}\n  poolVersion: {pools}\n"
    );
    report.replace("  version: v1.34.2\n", &seen)
}

#[test]
fn versions_go_up_one_after_the_other() {
    let mut world = K0SMOTRON.observed();
    world.run();
    let versions = |world: &World| {
        let plane = only(world, "till", "K0smotronControlPlane")["spec"]["version"].clone();
        let machines = only(world, "till", "MachineDeployment");
        let machines = machines["spec"]["template"]["spec"]["version"].clone();
        (plane, bootstrap(world, "till")["version"].clone(), machines)
    };
    let all =
        |plane: &str, nodes: &str, machines: &str| (json!(plane), json!(nodes), json!(machines));
    assert_eq!(versions(&world), all("v1.33.6+k0s.0", "v1.33.6+k0s.0", "v1.33.6"));
    world.now = after_nine(1);
    let report = at_versions(&world, "v1.33.6", "v1.33.6");
    hear(&mut world, WORKER, report);
    // k0s has had two builds of this one, and the second is wanted.
    let etcd = "    etcd: {sizeGB: 32}\n";
    world.edit("fleet/clusters/till.yaml", etcd, &format!("{etcd}    builds: {{v1.34.1: 1}}\n"));
    world.edit("fleet/clusters/till.yaml", "v1.33.6", "v1.34.1");
    world.run();
    assert_eq!(versions(&world), all("v1.34.1+k0s.1", "v1.33.6+k0s.0", "v1.33.6"), "first its own");
    world.now = after_nine(2);
    let report = at_versions(&world, "v1.34.1", "v1.33.6");
    hear(&mut world, WORKER, report);
    world.run();
    assert_eq!(
        versions(&world),
        all("v1.34.1+k0s.1", "v1.34.1+k0s.1", "v1.34.1"),
        "then its nodes'"
    );
}

#[test]
fn what_its_webhooks_refuse_is_told_before_the_commit() {
    let mut world = K0SMOTRON.world();
    let pools = "  nodePools:\n    - {name: np0, replicas: 2}\n";
    let both =
        "  nodePools:\n    - name: np0\n      replicas: 2\n      parameters:\n        files:\n";
    for (file, says) in [
        (
            "{path: /a, content: x, contentFrom: {secretRef: {name: s, key: k}}}",
            "content and a source",
        ),
        ("{path: /a}", "has a file without content"),
        ("{path: /etc/kubernetes/azure.json, content: x}", "has two files at one path"),
    ] {
        let said = format!("{both}        - {file}\n");
        world.edit("fleet/clusters/till.yaml", pools, &said);
        let told = world.run().diagnostics;
        let told = told.iter().find(|d| d.code == Code::RenderedInvalid).unwrap();
        assert!(told.message.contains(says), "{}", told.message);
        world.edit("fleet/clusters/till.yaml", &said, pools);
    }
    let template = "templates/k0smotron-capz/pools.yaml";
    for (template, with, instead, says) in [
        (template, "\"+k0s.\"", "\"-k0s.\"", "names a build of k0s after `-`"),
        (
            "templates/k0smotron-capz/cluster.yaml",
            "~ \"+k0s.\" ~ builds[version] | default(0)",
            "",
            "names no build",
        ),
    ] {
        world.edit(template, with, instead);
        let told = world.run().diagnostics;
        assert!(told.iter().any(|d| d.message.contains(says)), "{told:#?}");
        let text = K0SMOTRON.fleet()[template].clone();
        world.write(template, &text);
    }
}

/// What stands before each mention of a registry in a text.
fn not_behind<'a>(text: &'a str, mirror: &str) -> Vec<&'a str> {
    let registries = ["registry.k8s.io", "quay.io", "docker.io/", "ghcr.io", "mcr.microsoft.com"];
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let mentions =
        lines.flat_map(|line| registries.iter().filter_map(move |r| Some((line, line.find(r)?))));
    mentions.filter(|(line, at)| !line[..*at].ends_with(mirror)).map(|(line, _)| line).collect()
}

#[test]
fn all_its_images_and_sources_are_behind_a_mirror() {
    let mut files = K0SMOTRON.fleet();
    let images = "  images:\n";
    let mirrored = "  images:\n    registry: mirror.example.com\n    sources: Mirror\n";
    let carp = files["carp.yaml"].replace(images, mirrored);
    files.insert("carp.yaml".to_owned(), carp);
    let binary = "    binary: https://mirror.example.com/k0s/VERSION/k0s-amd64\n    etcd: ";
    let till = files["fleet/clusters/till.yaml"].replace("    etcd: ", binary);
    files.insert("fleet/clusters/till.yaml".to_owned(), till);
    let mut world = World::new(files);
    let first = world.run();
    assert!(first.diagnostics.is_empty(), "{:#?}", first.diagnostics);
    for (path, text) in world.output_files() {
        if path.contains("/clusters/") || path.ends_with("/providers/providers.yaml") {
            let text = String::from_utf8(text).unwrap();
            assert_eq!(not_behind(&text, "mirror.example.com/"), Vec::<&str>::new(), "{path}");
        }
    }
    let spec = only(&world, "till", "K0smotronControlPlane")["spec"].clone();
    assert_eq!(spec["image"], "mirror.example.com/quay.io/k0sproject/k0s");
    assert_eq!(
        spec["storage"]["etcd"]["image"],
        "mirror.example.com/quay.io/k0sproject/etcd:v3.7.1"
    );
    assert_eq!(spec["k0sConfig"]["spec"]["images"]["repository"], "mirror.example.com/quay.io");
    assert_eq!(
        bootstrap(&world, "till")["downloadURL"],
        "https://mirror.example.com/k0s/v1.33.6+k0s.0/k0s-amd64"
    );
    let providers = "workers/w-weu/providers/";
    let names: Vec<_> = ["BootstrapProvider", "ControlPlaneProvider"]
        .iter()
        .flat_map(|kind| objects(&world, providers, kind))
        .filter(|o| o["metadata"]["name"] == "k0sproject-k0smotron")
        .map(|o| (o["metadata"]["namespace"].clone(), o["spec"]["version"].clone()))
        .collect();
    assert_eq!(
        names,
        [(json!("k0smotron"), json!("v2.1.0")), (json!("k0smotron"), json!("v2.1.0"))]
    );
    let namespaces = objects(&world, providers, "Namespace");
    let theirs = namespaces.iter().filter(|o| o["metadata"]["name"] == "k0smotron").count();
    assert_eq!(theirs, 1, "two providers share one");
}

#[test]
fn what_people_say_of_its_api_server_and_nodes_arrives() {
    let mut world = K0SMOTRON.world();
    let etcd = "    etcd: {sizeGB: 32}\n";
    let more = "    apiServerExtraArgs: {v: \"4\"}\n    auditPolicy: \"apiVersion: audit.k8s.io/v1\\nkind: Policy\\nrules: [{level: Metadata}]\\n\"\n    \
                encryptionConfigSecret: keys-1\n    oidc: {issuerURL: https://login.example.com, clientID: k8s}\n    maxPods: 60\n    \
                kubeletExtraArgs: {system-reserved: \"cpu=200m,memory=500Mi\"}\n";
    world.edit("fleet/clusters/till.yaml", etcd, &format!("{etcd}{more}"));
    let proposal = world.run();
    assert!(proposal.diagnostics.is_empty(), "{:#?}", proposal.diagnostics);
    let spec = only(&world, "till", "K0smotronControlPlane")["spec"].clone();
    assert_eq!(
        spec["k0sConfig"]["spec"]["api"]["extraArgs"],
        json!({
            "audit-log-path": "-", "audit-policy-file": "/etc/kubernetes/audit/policy.yaml",
            "encryption-provider-config": "/etc/kubernetes/encryption/encryption.yaml",
            "oidc-client-id": "k8s", "oidc-issuer-url": "https://login.example.com", "v": "4",
        })
    );
    let mounts: Vec<_> = spec["mounts"].as_array().unwrap().iter().map(|m| &m["path"]).collect();
    assert_eq!(mounts, ["/etc/kubernetes/audit", "/etc/kubernetes/encryption"]);
    let audit = spec["mounts"][0]["configMap"]["name"].as_str().unwrap();
    let maps = objects(&world, "workers/w-weu/clusters/till/", "ConfigMap");
    assert!(maps.iter().any(|map| map["metadata"]["name"] == audit));
    assert_eq!(
        bootstrap(&world, "till")["args"],
        json!([
            "--enable-cloud-provider",
            "--kubelet-root-dir=/var/lib/kubelet",
            "--labels=carp.dev/pool=np0",
            "--kubelet-extra-args=--max-pods=60 --system-reserved=cpu=200m,memory=500Mi",
        ])
    );
}

#[test]
fn nothing_is_missing_that_brings_it_up() {
    K0SMOTRON.comes_up(&[
        "shop: control plane",
        "K0smotronControlPlane shop/shop",
        "shop: machines",
    ]);
}

#[test]
fn its_clusters_go_in_three_steps() {
    for cluster in ["shop", "till"] {
        K0SMOTRON.goes_in_three_steps(cluster, WORKER, &["AzureMachine", "K0smotronControlPlane"]);
    }
}

#[test]
fn the_page_tells_the_steps() {
    K0SMOTRON.the_page_tells_the_steps();
}
