//! Networks that are made for clusters of AKS, and whom they are peered with: what Azure Service Operator is given, who may
//! make it, and what is refused.

use carp::diag::Code;
use carp::model::api::Parameters;
use carp::model::{Fleet, HoldKind};
use carp::render::Files;
use serde_json::{Value, json};

use crate::support::world::World;
use crate::support::{documents, fleet, small};

const CLUSTER: &str = "workers/wk-weu-1/clusters/pay-eu/";
const WORKER: &str = "control-plane/wk-weu-1/";
const HUB: &str = "{name: hub, resourceGroup: net}";
const HUB_ID: &str = "/subscriptions/21111111-2222-4333-8444-555555555555/resourceGroups/net/providers/\
                      Microsoft.Network/virtualNetworks/hub";
const PEERING: &str = "VirtualNetworksVirtualNetworkPeering";

/// A fleet of AKS whose worker and cluster say this, in which networks may be peered.
fn aks(text: &str) -> Fleet {
    let mut fleet = fleet::of("aks");
    fleet.spec.vnet_peerings = true;
    let said: Parameters = serde_saphyr::from_str(text).unwrap();
    fleet.clusters.values_mut().for_each(|c| c.spec.parameters = said.clone());
    fleet.workers.values_mut().for_each(|w| w.spec.parameters = said.clone());
    fleet
}

fn peered(peerings: &str) -> Fleet {
    aks(&format!("{{vnet: {{cidrs: [10.64.0.0/16], peerings: [{peerings}]}}}}"))
}

/// The resources of a kind that CAPZ makes of the objects below a folder.
fn resources(fleet: &Fleet, folder: &str, kind: &str) -> Vec<Value> {
    let objects = documents(&fleet::tree(fleet, "")).into_iter();
    let objects = objects.filter(|(path, _)| path.starts_with(folder)).map(|(_, object)| object);
    let inner =
        objects.flat_map(|o| o["spec"]["resources"].as_array().cloned().unwrap_or_default());
    inner.filter(|resource| resource["kind"] == kind).collect()
}

fn names(resources: &[Value]) -> Vec<&str> {
    resources.iter().map(|resource| resource["metadata"]["name"].as_str().unwrap()).collect()
}

#[test]
fn nodes_are_in_the_network_that_is_made_for_them() {
    let whole = aks("{vnet: {cidrs: [10.64.0.0/16, 10.65.0.0/16]}}");
    let part = aks("{vnet: {cidrs: [10.64.0.0/16]}, nodeSubnet: {cidrs: [10.64.1.0/24]}}");
    for (folder, name) in [(CLUSTER, "pay-eu"), (WORKER, "wk-weu-1")] {
        let group = &resources(&whole, folder, "ResourceGroup")[0];
        let vnet = &resources(&whole, folder, "VirtualNetwork")[0];
        assert_eq!(vnet["metadata"]["name"], format!("{name}-vnet"));
        let ranges = json!({"addressPrefixes": ["10.64.0.0/16", "10.65.0.0/16"]});
        assert_eq!(
            vnet["spec"],
            json!({"owner": {"name": group["metadata"]["name"]}, "location": "westeurope", "addressSpace": ranges})
        );
        for (fleet, range) in [(&whole, "10.64.0.0/16"), (&part, "10.64.1.0/24")] {
            let subnet = &resources(fleet, folder, "VirtualNetworksSubnet")[0];
            let owner = json!({"name": vnet["metadata"]["name"]});
            assert_eq!(subnet["spec"], json!({"owner": owner, "addressPrefix": range}));
            let wanted = json!({"group": "network.azure.com", "kind": "VirtualNetworksSubnet",
                "name": subnet["metadata"]["name"]});
            let pools = resources(fleet, folder, "ManagedClustersAgentPool");
            assert!(pools.iter().all(|pool| pool["spec"]["vnetSubnetReference"] == wanted));
        }
    }
}

#[test]
fn a_peering_is_a_resource_in_each_direction() {
    let fleet = peered(HUB);
    for (folder, name) in [(CLUSTER, "pay-eu"), (WORKER, "wk-weu-1")] {
        let peerings = resources(&fleet, folder, PEERING);
        let spec = |nth: usize| peerings[nth]["spec"].clone();
        let (own, there) = (format!("{name}-vnet"), json!({"armId": HUB_ID}));
        assert_eq!(
            spec(0),
            json!({"owner": {"name": own}, "remoteVirtualNetwork": {"reference": there}, "allowVirtualNetworkAccess": true})
        );
        let here = json!({"group": "network.azure.com", "kind": "VirtualNetwork", "name": own});
        assert_eq!(
            spec(1),
            json!({"owner": there, "remoteVirtualNetwork": {"reference": here}, "allowVirtualNetworkAccess": true})
        );
        assert_eq!(peerings.len(), 2);
        for peering in &peerings {
            let credential = &peering["metadata"]["annotations"];
            assert_eq!(credential["serviceoperator.azure.com/credential-from"], "aso-credential");
        }
    }
}

/// What Azure lets nobody change is in the name: another network is another resource, and the others stay as they are.
#[test]
fn the_other_network_is_in_the_name() {
    let of = |peerings: &str| resources(&peered(peerings), CLUSTER, PEERING);
    let other = "{name: hub, resourceGroup: other}";
    let (one, two, both) = (of(HUB), of(other), of(&format!("{other}, {HUB}")));
    assert_eq!(both, [two.clone(), one.clone()].concat());
    let all = names(&both);
    let different: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!(different.len(), 4, "of one name in two groups: {all:?}");
    assert_eq!(
        names(&one),
        names(&of("{name: HUB, resourceGroup: Net}")),
        "for Azure they are one"
    );
}

/// The files of a tree below a folder.
fn files(tree: &Files, folder: &str) -> Files {
    let below = tree.iter().filter(|(path, _)| path.starts_with(folder));
    below.map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
}

#[test]
fn who_makes_it_is_told_and_allowed_by_the_fleet_alone() {
    let tree = |set: bool, peerings: &str| {
        let mut fleet = peered(peerings);
        fleet.spec.vnet_peerings = set;
        fleet::tree(&fleet, "")
    };
    let (without, with) = (tree(false, ""), tree(true, ""));
    for folder in ["workers/wk-weu-1/providers/", "control-plane/providers/"] {
        let objects = |tree: &Files| {
            documents(&files(tree, folder)).into_iter().map(|(_, o)| o).collect::<Vec<_>>()
        };
        let roles = |tree| {
            objects(tree).into_iter().filter(|o| o["kind"] == "ClusterRole").collect::<Vec<_>>()
        };
        let told = |tree: &Files| {
            let provider = objects(tree).into_iter().find(|o| {
                o["kind"] == "InfrastructureProvider" && o["metadata"]["name"] == "azure"
            });
            let patches =
                provider.unwrap()["spec"]["patches"].as_array().cloned().unwrap_or_default();
            patches.into_iter().map(|p| p["patch"].as_str().unwrap().to_owned()).collect::<String>()
        };
        assert_eq!((roles(&without), told(&without)), (Vec::new(), String::new()));
        assert!(told(&with).contains("network.azure.com/VirtualNetworksSubnet;network.azure.com/VirtualNetworksVirtualNetworkPeering;"));
        assert!(!told(&with).contains("FederatedIdentityCredential"), "that is another setting's");
        let role = &roles(&with)[0];
        assert_eq!(
            role["metadata"]["labels"],
            json!({"cluster.x-k8s.io/aggregate-to-capz-manager": "true"})
        );
        assert_eq!(
            role["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/prune"],
            "disabled"
        );
        let verbs = ["create", "delete", "get", "list", "patch", "update", "watch"];
        assert_eq!(
            role["rules"],
            json!([{"apiGroups": ["network.azure.com"], "resources": ["virtualnetworksvirtualnetworkpeerings"], "verbs": verbs}])
        );
        // A cluster that is peered changes nothing of it.
        assert_eq!(files(&with, folder), files(&tree(true, HUB), folder));
    }
}

/// The small fleet with clusters of AKS, where networks may be peered or not.
fn world(peers: bool) -> World {
    let mut files = small::files();
    for text in files.values_mut() {
        if text.contains("kind: ManagedCluster\n") {
            *text = text.replace("\nspec:\n", "\nspec:\n  flavor: aks\n");
        }
    }
    if peers {
        let fleet = files.get_mut("carp.yaml").unwrap();
        *fleet = fleet.replacen("spec:\n", "spec:\n  vnetPeerings: true\n", 1);
    }
    World::new(files)
}

fn say(world: &mut World, parameters: &str) {
    let text = format!("spec:\n  flavor: aks\n  parameters: {parameters}\n");
    world.edit("fleet/clusters/alpha.yaml", "spec:\n  flavor: aks\n", &text);
}

/// What is said of alpha's parameters: the code, the text, and the place.
fn told(peers: bool, parameters: &str) -> Vec<(Code, String, String)> {
    let mut world = world(peers);
    say(&mut world, parameters);
    let all = world.propose().diagnostics;
    all.iter().map(|d| (d.code, d.message.clone(), format!("{:?}", d.place))).collect()
}

#[test]
fn without_the_fleets_word_nothing_is_peered() {
    let vnet = format!("vnet: {{cidrs: [10.64.0.0/16], peerings: [{HUB}]}}");
    // A subnet of the network makes no sense without it, and has no part in this.
    for said in
        [format!("{{{vnet}}}"), format!("{{{vnet}, nodeSubnet: {{cidrs: [10.64.1.0/24]}}}}")]
    {
        let refused = told(false, &said);
        let (code, message, place) = &refused[0];
        assert_eq!(*code, Code::RenderedRefused);
        assert!(message.contains("wants `vnetPeerings: true` in carp.yaml"), "{message}");
        assert!(place.contains("alpha.yaml") && place.contains("peerings"), "{place}");
        assert_eq!(told(true, &said), []);
    }
    assert_eq!(told(false, "{vnet: {cidrs: [10.64.0.0/16], peerings: []}}"), []);
}

#[test]
fn what_cannot_be_is_told_before_the_commit() {
    for (parameters, says) in [
        (
            "{nodeSubnet: {cidrs: [10.64.0.0/24]}}",
            "a subnet of a virtual network that is not among",
        ),
        (
            "{vnet: {cidrs: [10.64.0.0/16]}, nodeSubnet: {cidrs: [10.64.0.0/15]}}",
            "outside the virtual network",
        ),
        (
            "{vnet: {cidrs: [10.64.0.0/16]}, subnet: {vnet: hub, resourceGroup: net, name: nodes}}",
            "a subnet by its name and in one by its id",
        ),
        (
            "{vnet: {cidrs: [10.64.0.0/16], peerings: [{name: hub, resourceGroup: net}, {name: HUB, resourceGroup: net}]}}",
            "two resources of one kind",
        ),
        ("{vnet: {cidrs: [10.0.0.0/8]}}", "with addresses of the"),
        ("{vnet: {cidrs: [10.64.0.0/16]}, outboundType: userDefinedRouting}", "without routes"),
    ] {
        let all = told(true, parameters);
        assert!(all.iter().any(|(_, message, _)| message.contains(says)), "{parameters}: {all:#?}");
    }
}

#[test]
fn a_network_stays_and_a_peering_may_go() {
    let mut world = world(true);
    let peers =
        |peerings: &str| format!("{{vnet: {{cidrs: [10.64.0.0/16], peerings: [{peerings}]}}}}");
    say(&mut world, &peers(HUB));
    let first = world.run();
    assert!(first.diagnostics.is_empty(), "{:#?}", first.diagnostics);
    let count = |world: &World| {
        let path =
            format!("workers/{}/clusters/alpha/cluster.yaml", world.worker_of("alpha").unwrap());
        world.output_text(&path).unwrap().matches(&format!("kind: {PEERING}\n")).count()
    };
    assert_eq!(count(&world), 2);
    world.edit("fleet/clusters/alpha.yaml", HUB, "");
    let gone = world.run();
    assert!(
        gone.diagnostics.is_empty()
            && !gone.plan.holds.iter().any(|h| h.kind == HoldKind::ObjectsRemoved)
    );
    assert_eq!(count(&world), 0);
    world.edit("fleet/clusters/alpha.yaml", "10.64.0.0/16", "10.65.0.0/16");
    let told = world.propose().diagnostics;
    assert!(
        told.iter().any(|d| d.code == Code::ImmutableField && d.message.contains("vnet.cidrs")),
        "{told:#?}"
    );
}
