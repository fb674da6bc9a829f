//! Clusters of AKS, as a worker and as a ManagedCluster: what Azure Service Operator is given, what people need not do, and
//! what is refused.

use carp::diag::Code;
use carp::model::Fleet;
use carp::model::api::{Autoscale, NodePool, Taint, TaintEffect};
use carp::render;
use serde_json::{Value, json};

use crate::support::world::World;
use crate::support::{documents, fleet, small};

/// A worker and a cluster of AKS, in a fleet whose machines have no identity of their own.
fn aks() -> Fleet {
    let mut fleet = fleet::of("aks");
    let azure = fleet.spec.credentials[0].azure.as_mut().unwrap();
    (azure.node_identity, azure.resource_group_prefix) = (None, Some("rg-".into()));
    fleet
}

const CLUSTER: &str = "workers/wk-weu-1/clusters/pay-eu/";
const WORKER: &str = "control-plane/wk-weu-1/";

fn folder(fleet: &Fleet, folder: &str) -> Vec<Value> {
    let all = documents(&fleet::tree(fleet, "")).into_iter();
    all.filter(|(path, _)| path.starts_with(folder)).map(|(_, object)| object).collect()
}

/// The objects of a kind, those within others too.
fn of_kind(objects: &[Value], kind: &str) -> Vec<Value> {
    let aso = |o: &&Value| o["kind"].as_str().unwrap_or_default().starts_with("AzureASO");
    let inner = objects
        .iter()
        .filter(aso)
        .flat_map(|o| o["spec"]["resources"].as_array().into_iter().flatten());
    let all = objects.iter().chain(inner);
    all.filter(|o| o["kind"] == kind && !o["apiVersion"].as_str().unwrap().starts_with("carp.dev/"))
        .cloned()
        .collect()
}

fn pool(name: &str) -> NodePool {
    NodePool { name: name.into(), replicas: Some(3), ..NodePool::default() }
}

fn with_pools(pools: Vec<NodePool>) -> Vec<Value> {
    let mut fleet = aks();
    fleet.clusters.values_mut().for_each(|c| c.spec.node_pools = pools.clone().into());
    folder(&fleet, CLUSTER)
}

#[test]
fn a_worker_and_a_cluster_are_whole() {
    let fleet = aks();
    for (at, name) in [(CLUSTER, "pay-eu"), (WORKER, "wk-weu-1")] {
        let objects = folder(&fleet, at);
        let cluster = &of_kind(&objects, "Cluster")[0];
        assert_eq!(cluster["spec"]["controlPlaneRef"]["kind"], "AzureASOManagedControlPlane");
        let group = &of_kind(&objects, "ResourceGroup")[0];
        assert_eq!(
            group["spec"],
            json!({"azureName": format!("rg-{name}"), "location": "westeurope"})
        );
        let aks = &of_kind(&objects, "ManagedCluster")[0];
        assert_eq!(aks["spec"]["owner"], json!({"name": group["metadata"]["name"]}));
        assert_eq!(aks["spec"]["nodeResourceGroup"], format!("rg-{name}-nodes"));
        for resource in [group, aks] {
            let credential =
                &resource["metadata"]["annotations"]["serviceoperator.azure.com/credential-from"];
            assert_eq!(*credential, of_kind(&objects, "Secret")[0]["metadata"]["name"]);
        }
        // The address of the DNS is in the range of services that CAPZ writes into the resource.
        let services =
            cluster["spec"]["clusterNetwork"]["services"]["cidrBlocks"][0].as_str().unwrap();
        let dns: std::net::Ipv4Addr =
            aks["spec"]["networkProfile"]["dnsServiceIP"].as_str().unwrap().parse().unwrap();
        assert!(
            carp::model::Cidr::parse(services).unwrap().contains(dns.into()),
            "{dns} in {services}"
        );
        let pools = of_kind(&objects, "ManagedClustersAgentPool");
        assert!(pools.iter().any(|pool| pool["spec"]["mode"] == "System"), "{pools:#?}");
        assert_eq!(pools.len(), of_kind(&objects, "MachinePool").len());
    }
}

#[test]
fn a_pool_is_one_in_all_zones_and_says_nothing_that_capz_says() {
    let zones = vec!["1".to_owned(), "2".to_owned()];
    let scaled = NodePool {
        replicas: None,
        autoscale: Some(Autoscale { min: 2, max: 9 }),
        zones,
        ..pool("np0")
    };
    let objects = with_pools(vec![scaled, pool("np1")]);
    let pools = of_kind(&objects, "ManagedClustersAgentPool");
    assert_eq!(pools.len(), 2);
    let spec = &pools[0]["spec"];
    assert_eq!(spec["availabilityZones"], json!(["1", "2"]));
    assert_eq!(
        (&spec["enableAutoScaling"], &spec["minCount"], &spec["maxCount"]),
        (&json!(true), &json!(2), &json!(9))
    );
    for pool in &pools {
        assert!(pool["spec"]["count"].is_null() && pool["spec"]["orchestratorVersion"].is_null());
    }
    let owners = of_kind(&objects, "MachinePool");
    // The webhook begins with the fewest, and Azure has the say from then on.
    assert_eq!(owners[0]["spec"]["replicas"], Value::Null);
    let annotations = &owners[0]["metadata"]["annotations"];
    assert_eq!(annotations["cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size"], "2");
    assert_eq!(annotations["cluster.x-k8s.io/replicas-managed-by"], "aks");
    assert_eq!(owners[1]["spec"]["replicas"], 3);
}

#[test]
fn the_system_runs_on_pools_that_take_it() {
    let taint =
        |effect| Taint { key: "batch".into(), value: "yes".into(), effect, time_added: None };
    let spot = NodePool { spot: true, ..pool("spot") };
    let tainted = NodePool { taints: vec![taint(TaintEffect::NoSchedule)], ..pool("tainted") };
    let soft = NodePool { taints: vec![taint(TaintEffect::PreferNoSchedule)], ..pool("soft") };
    let empty = NodePool { replicas: Some(0), ..pool("empty") };
    let objects = with_pools(vec![spot, tainted, empty, soft]);
    let pools = of_kind(&objects, "ManagedClustersAgentPool");
    let modes: Vec<_> = pools.iter().map(|p| p["spec"]["mode"].as_str().unwrap()).collect();
    assert_eq!(modes, ["User", "User", "User", "System"]);
    assert_eq!(
        pools[0]["spec"]["nodeTaints"],
        json!(["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"])
    );
    assert_eq!(pools[1]["spec"]["nodeTaints"], json!(["batch=yes:NoSchedule"]));
}

/// The small fleet with clusters and workers of AKS.
fn world() -> World {
    let mut files = small::files();
    for text in
        files.values_mut().filter(|text| text.contains("\nspec:\n") && text.contains("kind: "))
    {
        if text.contains("kind: ManagedCluster\n") || text.contains("kind: Worker\n") {
            *text = text.replace("\nspec:\n", "\nspec:\n  flavor: aks\n");
        }
    }
    World::new(files)
}

/// A document of the small fleet with other pools.
fn of_pools(text: &str, pools: &str) -> String {
    let changed = text.replace("  replicas: 2\n", &format!("  nodePools: {pools}\n"));
    assert_ne!(changed, text);
    changed
}

#[test]
fn what_azure_refuses_is_told_before_the_commit() {
    let mut world = world();
    let first = world.run();
    assert!(first.diagnostics.is_empty(), "{:#?}", first.diagnostics);
    let (file, text) = world
        .files
        .iter()
        .find(|(_, text)| text.contains("kind: ManagedCluster\n"))
        .map(|(f, t)| (f.clone(), t.clone()))
        .unwrap();
    for (pools, code, says) in [
        ("[{name: np0, replicas: 1, spot: true}]", Code::RenderedInvalid, "can run its system on"),
        ("[{name: np0, replicas: 0}]", Code::RenderedInvalid, "can run its system on"),
        (
            "[{name: np0, replicas: 1, osDisk: {sizeGB: 4000}}]",
            Code::RenderedInvalid,
            "at most 2048 GiB",
        ),
    ] {
        let changed = of_pools(&text, pools);
        world.write(&file, &changed);
        let told = world.propose().diagnostics;
        assert!(
            told.iter().any(|d| d.code == code && d.message.contains(says)),
            "{pools}: {told:#?}"
        );
    }
}

#[test]
fn what_stays_in_azure_is_told_before_the_commit() {
    let mut world = world();
    let file = world
        .files
        .iter()
        .find(|(_, text)| text.contains("kind: ManagedCluster\n"))
        .unwrap()
        .0
        .clone();
    let text = world.files[&file].clone();
    let with = |pools: &str| of_pools(&text, pools);
    world.write(&file, &with("[{name: np0, replicas: 3, vmSize: Standard_D4s_v5}]"));
    let first = world.run();
    assert!(first.diagnostics.is_empty(), "{:#?}", first.diagnostics);
    for (pools, field) in [
        ("[{name: np0, replicas: 3, vmSize: Standard_D8s_v5}]", "vmSize"),
        ("[{name: np0, replicas: 3, vmSize: Standard_D4s_v5, zones: ['1']}]", "availabilityZones"),
        (
            "[{name: np0, replicas: 3, vmSize: Standard_D4s_v5, osDisk: {sizeGB: 64}}]",
            "osDiskSizeGB",
        ),
    ] {
        world.write(&file, &with(pools));
        let told = world.propose().diagnostics;
        let stays = told.iter().find(|d| d.code == Code::ImmutableField);
        let stays = stays.unwrap_or_else(|| panic!("{pools}: {told:#?}"));
        assert!(stays.message.contains(field), "{}", stays.message);
    }
    // Another number of nodes, and a pool beside, are no such change.
    world.write(
        &file,
        &with("[{name: np0, replicas: 5, vmSize: Standard_D4s_v5}, {name: np1, replicas: 1}]"),
    );
    assert!(world.run().diagnostics.is_empty());
}

#[test]
fn the_worker_gets_what_it_has_not() {
    let fleet = aks();
    let tree = fleet::tree(&fleet, "");
    let classes = |tree| {
        of_kind(&documents(tree).into_iter().map(|(_, o)| o).collect::<Vec<_>>(), "StorageClass")
    };
    assert_eq!(
        classes(&tree),
        Vec::<Value>::new(),
        "AKS has a class of that name, and its parameters stay"
    );
    assert_eq!(classes(&fleet::tree(&fleet::plain(), "")).len(), 1);
    let worker = fleet.workers.values().next().unwrap();
    let steps = render::preparations(&fleet, worker, "");
    let commands: Vec<_> = steps.iter().map(|step| step.command.as_str()).collect();
    let federated = |c: &&&str| c.contains("federated-credential create");
    assert_eq!(commands.iter().filter(federated).count(), 2, "{commands:#?}");
    let asked = "--resource-group rg-wk-weu-1 --name wk-weu-1 --query oidcIssuerProfile.issuerUrl";
    assert!(
        commands.iter().filter(federated).all(|command| command.contains(asked)),
        "{commands:#?}"
    );
    assert!(!commands.iter().any(|command| command.contains("/openid/v1/jwks")), "{commands:#?}");
}

#[test]
fn the_secret_holds_ids_and_what_applies_it_may_touch_no_other() {
    let fleet = aks();
    let objects = folder(&fleet, CLUSTER);
    let secret = &of_kind(&objects, "Secret")[0];
    let keys: Vec<_> = secret["stringData"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["AUTH_MODE", "AZURE_CLIENT_ID", "AZURE_SUBSCRIPTION_ID", "AZURE_TENANT_ID"]);
    let platform = folder(&fleet, "workers/wk-weu-1/platform/");
    let role = of_kind(&platform, "ClusterRole")
        .into_iter()
        .find(|o| o["metadata"]["name"] == "carp-clusters")
        .unwrap();
    let rules = role["rules"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|rule| rule["resources"] == json!(["secrets"]));
    let rules: Vec<_> =
        rules.map(|rule| (rule["verbs"].clone(), rule["resourceNames"].clone())).collect();
    let named = (json!(["get", "patch", "delete"]), json!(["aso-credential"]));
    assert_eq!(rules, [named, (json!(["create"]), Value::Null)]);
    let policy = &of_kind(&platform, "ValidatingAdmissionPolicy")[0]["spec"];
    let guards = policy["validations"].as_array().unwrap().iter();
    let mut guards =
        guards.filter(|v| v["expression"].as_str().unwrap().contains("request.name in"));
    let guard = guards.next().unwrap()["expression"].as_str().unwrap().to_owned();
    assert!(guard.contains("[\"secrets\"]") && guard.contains("[\"aso-credential\"]"), "{guard}");
}
