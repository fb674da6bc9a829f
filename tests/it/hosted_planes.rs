//! Hosted control planes as the worker's scheduler and its network see them.

use carp::model::Quantity;
use serde_json::{Value, json};

use crate::support::world::World;
use crate::support::{documents, fleet};

/// The objects of the cluster of a fleet.
fn folder(fleet: &carp::model::Fleet) -> Vec<Value> {
    let all = documents(&fleet::tree(fleet, "")).into_iter();
    let own = all.filter(|(path, _)| path.starts_with("workers/wk-weu-1/clusters/pay-eu/"));
    own.map(|(_, object)| object).collect()
}

fn of_kind<'a>(objects: &'a [Value], kind: &str) -> &'a Value {
    objects.iter().find(|o| o["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"))
}

#[test]
fn its_pods_ask_for_what_the_planner_counts() {
    let mut fleet = fleet::full();
    for (cpu, memory, replicas) in [("1500m", "4Gi", 2), ("3", "24Gi", 3), ("700m", "1Gi", 1)] {
        let cluster = fleet.clusters.values_mut().next().unwrap();
        cluster.spec.control_plane.get_or_insert_default().replicas = Some(replicas);
        for (name, amount) in [("cpu", cpu), ("memory", memory)] {
            cluster.demand.insert(name.to_owned(), amount.parse().unwrap());
        }
        let demand = cluster.demand.clone();
        let folder = folder(&fleet);
        let spec = &of_kind(&folder, "KamajiControlPlane")["spec"];
        assert_eq!(spec["replicas"], replicas);
        for name in ["cpu", "memory"] {
            let containers =
                ["/apiServer", "/scheduler", "/controllerManager", "/addons/konnectivity/server"];
            let asked = containers.map(|container| {
                let amount = spec.pointer(&format!("{container}/resources/requests/{name}"));
                let amount = amount.unwrap_or_else(|| panic!("{container} asks for no {name}"));
                amount.as_str().unwrap().parse::<Quantity>().unwrap().thousandths()
            });
            let all = asked.iter().sum::<i128>() * i128::from(replicas);
            let lost = demand[name].thousandths() - all;
            // What does not go evenly into the replicas: less than a byte, or a thousandth, for each.
            let smallest = if name == "memory" { 1000 } else { 1 };
            assert!((0..i128::from(replicas) * smallest).contains(&lost), "{name}: {asked:?}");
        }
    }
    let plain = folder(&fleet::plain());
    let spec = of_kind(&plain, "KamajiControlPlane")["spec"].to_string();
    assert!(!spec.contains("resources"), "nothing is counted, nothing is asked for: {spec}");
}

#[test]
fn it_outlives_a_node_a_drain_and_a_zone() {
    let folder = folder(&fleet::plain());
    let spec = &of_kind(&folder, "KamajiControlPlane")["spec"]["deployment"];
    let spread = spec["topologySpreadConstraints"].as_array().unwrap();
    let keys: Vec<_> = spread.iter().map(|s| s["topologyKey"].as_str().unwrap()).collect();
    assert_eq!(keys, ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]);
    assert!(spread.iter().all(|s| s["whenUnsatisfiable"] == "ScheduleAnyway"));
    // By the label that Kamaji gives to the pods of a control plane of this name.
    let budget = &of_kind(&folder, "PodDisruptionBudget")["spec"];
    let name = &of_kind(&folder, "KamajiControlPlane")["metadata"]["name"];
    assert_eq!(budget["selector"]["matchLabels"]["kamaji.clastix.io/name"], *name);
    assert_eq!(budget["maxUnavailable"], 1);
}

#[test]
fn its_neighbours_reach_its_api_and_nothing_else() {
    let folder = folder(&fleet::plain());
    let policy = of_kind(&folder, "NetworkPolicy");
    assert_eq!(policy["metadata"]["namespace"], "pay-eu");
    let spec = &policy["spec"];
    assert_eq!((&spec["podSelector"], &spec["policyTypes"]), (&json!({}), &json!(["Ingress"])));
    let rules = spec["ingress"].as_array().unwrap();
    let (open, others): (Vec<_>, Vec<_>) =
        rules.iter().partition(|rule| rule.get("from").is_none());
    let ports: Vec<_> = open.iter().flat_map(|r| r["ports"].as_array().unwrap()).collect();
    assert_eq!(ports.iter().map(|p| &p["port"]).collect::<Vec<_>>(), [6443, 8132]);
    let tunnel = &of_kind(&folder, "KamajiControlPlane")["spec"]["addons"]["konnectivity"];
    assert_eq!(tunnel["server"]["port"], 8132);
    let from: Vec<_> = others.iter().flat_map(|r| r["from"].as_array().unwrap()).collect();
    assert_eq!(
        json!(from),
        json!([
            {"podSelector": {}},
            {"namespaceSelector": {"matchLabels": {"carp.dev/may-call": "true"}}},
        ])
    );
}

/// The policy on the page of operations closes the way out of what the templates make, and loses nothing.
#[test]
fn its_way_out_is_closed_by_a_policy_of_the_platforms() {
    let page = include_str!("../../docs/operations.md");
    let mut blocks = page.split("\n```yaml\n").filter_map(|part| part.split("\n```").next());
    let policy = blocks.find(|block| block.contains("name: hosted-egress")).expect("it is there");
    let mut world = World::small();
    world.write("policies/egress.yaml", &format!("{policy}\n"));
    let run = world.run();
    assert!(run.diagnostics.is_empty() && run.plan.holds.is_empty(), "{:#?}", run.diagnostics);
    let worker = world.worker_of("alpha").unwrap();
    let text = world.output_text(&format!("workers/{worker}/clusters/alpha/cluster.yaml")).unwrap();
    let files = [("a.yaml".to_owned(), text.into_bytes())].into();
    let objects: Vec<Value> = documents(&files).into_iter().map(|(_, object)| object).collect();
    let spec = &of_kind(&objects, "NetworkPolicy")["spec"];
    assert_eq!(spec["policyTypes"], json!(["Ingress", "Egress"]));
    assert_eq!(spec["ingress"].as_array().unwrap().len(), 2, "who comes in is as before");
    let ports = |rule: &Value| rule["ports"].as_array().cloned().unwrap_or_default();
    let out: Vec<Value> = spec["egress"].as_array().unwrap().iter().flat_map(ports).collect();
    let out: Vec<_> = out.iter().map(|port| port["port"].as_u64().unwrap()).collect();
    assert_eq!(out, [53, 53, 2379, 443, 6443]);
    let store = world.output_text(&format!("workers/{worker}/platform/platform.yaml")).unwrap();
    assert!(store.contains(".kamaji-system.svc.cluster.local:2379"), "where the DataStore is");
}
