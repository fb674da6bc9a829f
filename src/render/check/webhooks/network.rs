//! The network of an `AzureCluster` (cluster-api-provider-azure v1.26.0,
//! `internal/webhooks/azurecluster_validation.go`, `validateNetworkSpec`, which is after the defaults: every
//! virtual network then has a resource group, so that all of it is looked at).

use serde_json::Value;

use super::azure_cluster::{is_internal, is_of_a_name, makes_control_plane};
use super::rules;
use super::value::{below, has, list, no_cidr, number, repeats, text};
use crate::model::Cidr;
use crate::pattern::DocumentPart;

const NETWORK: &str = "/spec/networkSpec";
const VNET: &str = "/spec/networkSpec/vnet";
/// What CAPZ takes for the virtual network and its two subnets where nothing is said
/// (`internal/api/v1beta1/azurecluster_default.go`).
const DEFAULT_VNET: &str = "10.0.0.0/8";

rules! {
    "has a virtual network in a resource group of an impossible name",
        "spec: {networkSpec: {vnet: {resourceGroup: 'a,b'}}}" =>
        |o| !is_group(text(below(o, VNET), "/resourceGroup"));
    "has a range of the virtual network that is no CIDR",
        "spec: {networkSpec: {vnet: {cidrBlocks: [10.0.0.0]}}}" =>
        |o| no_cidr(list(below(o, VNET), "/cidrBlocks"));
    "is peered twice with one virtual network",
        "spec: {networkSpec: {vnet: {peerings: [{resourceGroup: g, remoteVnetName: v}, {resourceGroup: g, remoteVnetName: v}]}}}" =>
        |o| {
            let peer = |p: &Value| format!("{}/{}", text(p, "/resourceGroup"), text(p, "/remoteVnetName"));
            let all: Vec<_> = list(below(o, VNET), "/peerings").iter().map(peer).collect();
            repeats(all.iter().map(String::as_str))
        };
    "has a subnet of an impossible name",
        "spec: {networkSpec: {subnets: [{name: a b, role: cluster}]}}" =>
        |o| any(o, |s| text(s, "/name").is_empty() || !text(s, "/name").chars().all(is_of_a_name));
    "has two subnets of one name",
        "spec: {networkSpec: {subnets: [{name: a, role: node}, {name: a, role: control-plane}]}}" =>
        |o| repeats(subnets(o).iter().map(|subnet| text(subnet, "/name")));
    "has no subnet for nodes", "spec: {networkSpec: {subnets: [{name: a, role: control-plane}]}}" =>
        |o| lacks(o, "node");
    "has no subnet for the control plane", "spec: {networkSpec: {subnets: [{name: a, role: node}]}}" =>
        |o| makes_control_plane(o) && lacks(o, "control-plane");
    "has a range of a subnet that is no CIDR",
        "spec: {networkSpec: {subnets: [{name: a, role: cluster, cidrBlocks: [10.0.0.0]}]}}" =>
        |o| any(o, |s| no_cidr(list(s, "/cidrBlocks")));
    "has a subnet outside the virtual network",
        "spec: {networkSpec: {subnets: [{name: a, role: cluster, cidrBlocks: [192.168.0.0/16]}]}}" =>
        |o| any(o, |s| list(s, "/cidrBlocks").iter().any(|range| is_outside(o, range)));
    "has a subnet that says no range, in a virtual network without the range that it then gets",
        "spec: {networkSpec: {vnet: {cidrBlocks: [192.168.0.0/16]}, subnets: [{name: a, role: cluster}]}}" =>
        |o| by_default(o).into_iter().any(|range| is_outside(o, &range.into()));
    "has a security rule whose priority is not from 100 to 4096",
        "spec: {networkSpec: {subnets: [{name: a, role: cluster, securityGroup: {securityRules: [{priority: 99}]}}]}}" =>
        |o| any(o, |s| list(s, "/securityGroup/securityRules").iter()
            .any(|rule| number(rule, "/priority").is_none_or(|p| !(100..=4096).contains(&p))));
    "has a security rule with a source and a list of them",
        "spec: {networkSpec: {subnets: [{name: a, role: cluster, securityGroup: {securityRules: [{priority: 100, source: a, sources: [b]}]}}]}}" =>
        |o| any(o, |s| list(s, "/securityGroup/securityRules").iter()
            .any(|rule| has(rule, "/source") && has(rule, "/sources")));
    "has a service endpoint without a service, or of a malformed one",
        "spec: {networkSpec: {subnets: [{name: a, role: cluster, serviceEndpoints: [{service: Storage, locations: ['*']}]}]}}" =>
        |o| endpoints(o).any(|e| !is_service(text(e, "/service")));
    "has a service endpoint without a location",
        "spec: {networkSpec: {subnets: [{name: a, role: cluster, serviceEndpoints: [{service: Microsoft.Storage}]}]}}" =>
        |o| endpoints(o).any(|e| list(e, "/locations").is_empty());
    "has two endpoints of one service in a subnet",
        "spec: {networkSpec: {subnets: [{name: a, role: cluster, serviceEndpoints: [{service: Microsoft.Sql, locations: ['*']}, {service: Microsoft.Sql, locations: ['*']}]}]}}" =>
        |o| any(o, |s| repeats(list(s, "/serviceEndpoints").iter().map(|e| text(e, "/service"))));
    "has a private zone for an API server that is public",
        "spec: {networkSpec: {privateDNSZoneName: a.example.com}}" =>
        |o| has(below(o, NETWORK), "/privateDNSZoneName") && makes_control_plane(o) && !is_internal(o);
    "has a resource group for a private zone and no zone",
        "spec: {networkSpec: {privateDNSZoneResourceGroup: g}}" =>
        |o| has(below(o, NETWORK), "/privateDNSZoneResourceGroup")
            && !has(below(o, NETWORK), "/privateDNSZoneName");
}

fn subnets(object: DocumentPart<'_>) -> &[Value] {
    list(below(object, NETWORK), "/subnets")
}

fn any(object: DocumentPart<'_>, broken: impl Fn(&Value) -> bool) -> bool {
    subnets(object).iter().any(broken)
}

fn endpoints(object: DocumentPart<'_>) -> impl Iterator<Item = &Value> {
    subnets(object).iter().flat_map(|subnet| list(subnet, "/serviceEndpoints"))
}

/// Whether no subnet has a role, where subnets are said at all: CAPZ makes up those of an empty list.
fn lacks(object: DocumentPart<'_>, role: &str) -> bool {
    !subnets(object).is_empty() && !any(object, |s| [role, "cluster"].contains(&text(s, "/role")))
}

/// The ranges that subnets get which say none (cluster-api-provider-azure v1.26.0,
/// `internal/api/v1beta1/azurecluster_default.go`).
fn by_default(object: DocumentPart<'_>) -> Vec<String> {
    let mut nodes = 0;
    let of = |subnet: &Value| {
        let is_of_nodes = text(subnet, "/role") == "node";
        nodes += u32::from(is_of_nodes);
        let range = format!("10.{}.0.0/16", if is_of_nodes { nodes } else { 0 });
        list(subnet, "/cidrBlocks").is_empty().then_some(range)
    };
    subnets(object).iter().filter_map(of).collect()
}

/// Whether a range begins outside the virtual network.
fn is_outside(object: DocumentPart<'_>, range: &Value) -> bool {
    let Some(range) = range.as_str().and_then(Cidr::parse) else { return false };
    let said = list(below(object, VNET), "/cidrBlocks");
    let known = said.iter().filter_map(Value::as_str).filter_map(Cidr::parse);
    let known: Vec<_> =
        known.chain(Cidr::parse(DEFAULT_VNET).filter(|_| said.is_empty())).collect();
    range.address(0).is_some_and(|first| !known.iter().any(|cidr| cidr.contains(first)))
}

fn is_group(name: &str) -> bool {
    name.chars().all(|c| is_of_a_name(c) || "()".contains(c))
}

/// `Microsoft.` and a word that begins with a letter.
fn is_service(service: &str) -> bool {
    service.strip_prefix("Microsoft.").is_some_and(|word| {
        word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.chars().all(|c| c.is_ascii_alphanumeric())
    })
}
