//! The network among the resources of an `AzureASOManagedCluster` (cluster-api-provider-azure v1.26.0). Its webhook asks for a
//! feature gate alone. What is made of the list stops elsewhere: at the webhooks of Azure Service Operator's kinds
//! (`v2/api/network/v1api20240301`; `ValidateOwner` and `ValidateResourceReferences` of `genruntime`), at an owner that never
//! comes, or at Azure (`Microsoft.Network/virtualNetworks`, API 2024-03-01).

use serde_json::Value;

use super::rules;
use super::value::{has, list, no_cidr, repeats, text};
use crate::model::Cidr;
use crate::pattern::DocumentPart;

const VNET: &str = "VirtualNetwork";
const SUBNET: &str = "VirtualNetworksSubnet";
const PEERING: &str = "VirtualNetworksVirtualNetworkPeering";
const REMOTE: &str = "/spec/remoteVirtualNetwork/reference";

rules! {
    "has two resources of one kind and name",
        "spec: {resources: [{kind: VirtualNetwork, metadata: {name: a}}, {kind: VirtualNetwork, metadata: {name: a}}]}" =>
        |o| {
            let named = list(o, "/spec/resources").iter();
            let named: Vec<_> = named.map(|r| format!("{}/{}", text(r, "/kind"), name(r))).collect();
            repeats(named.iter().map(String::as_str))
        };
    "has a range of the virtual network that is no CIDR",
        "spec: {resources: [{kind: VirtualNetwork, metadata: {name: a}, \
         spec: {addressSpace: {addressPrefixes: [10.0.0.0]}}}]}" =>
        |o| of(o, VNET).any(|vnet| no_cidr(ranges(vnet)));
    "has a virtual network without a range of addresses",
        "spec: {resources: [{kind: VirtualNetwork, metadata: {name: a}}]}" =>
        |o| of(o, VNET).any(|vnet| ranges(vnet).is_empty());
    "has a subnet of a virtual network that is not among its resources",
        "spec: {resources: [{kind: VirtualNetworksSubnet, metadata: {name: a}, spec: {owner: {name: other}}}]}" =>
        |o| of(o, SUBNET).any(|subnet| is_lost(o, subnet));
    "has a range of a subnet that is no CIDR",
        "spec: {resources: [{kind: VirtualNetworksSubnet, metadata: {name: a}, spec: {owner: {armId: /a}, \
         addressPrefix: 10.0.0.0}}]}" =>
        |o| of(o, SUBNET).any(|subnet| no_cidr(&of_subnet(subnet)));
    "has a subnet outside the virtual network",
        "spec: {resources: [{kind: VirtualNetwork, metadata: {name: v}, spec: {addressSpace: {addressPrefixes: [10.64.0.0/16]}}}, \
         {kind: VirtualNetworksSubnet, metadata: {name: a}, spec: {owner: {name: v}, addressPrefix: 10.65.0.0/24}}]}" =>
        |o| of(o, SUBNET).any(|subnet| {
            let whole: Vec<_> = owner(o, subnet).map_or(&[][..], ranges).iter().filter_map(cidr).collect();
            let outside = |range: Cidr| !whole.iter().any(|cidr| range.is_within(*cidr));
            !whole.is_empty() && of_subnet(subnet).iter().filter_map(cidr).any(outside)
        });
    "has a peering of a virtual network that is not among its resources",
        "spec: {resources: [{kind: VirtualNetworksVirtualNetworkPeering, metadata: {name: a}, spec: {owner: {name: other}}}]}" =>
        |o| of(o, PEERING).any(|peering| is_lost(o, peering));
    "has a peering with a virtual network that is not among its resources",
        "spec: {resources: [{kind: VirtualNetworksVirtualNetworkPeering, metadata: {name: a}, spec: {owner: {armId: /a}, \
         remoteVirtualNetwork: {reference: {group: network.azure.com, kind: VirtualNetwork, name: other}}}}]}" =>
        |o| of(o, PEERING).any(|peering| {
            let remote = text(peering, &format!("{REMOTE}/name"));
            !remote.is_empty() && !of(o, VNET).any(|vnet| name(vnet) == remote)
        });
    "has a resource whose owner is said by name and by id, or not at all",
        "spec: {resources: [{kind: VirtualNetworksVirtualNetworkPeering, metadata: {name: a}, \
         spec: {owner: {name: v, armId: /a}}}]}" =>
        |o| [VNET, SUBNET, PEERING].into_iter().flat_map(|kind| of(o, kind))
            .any(|r| has(r, "/spec/owner/name") == has(r, "/spec/owner/armId"));
    "has a peering that says the other network by name and by id, or not at all",
        "spec: {resources: [{kind: VirtualNetworksVirtualNetworkPeering, metadata: {name: a}, spec: {owner: {armId: /a}}}]}" =>
        |o| of(o, PEERING).any(|peering| {
            has(peering, &format!("{REMOTE}/name")) == has(peering, &format!("{REMOTE}/armId"))
        });
    "is peered twice with one virtual network",
        "spec: {resources: [{kind: VirtualNetworksVirtualNetworkPeering, metadata: {name: a}, spec: {owner: {name: v}, \
         remoteVirtualNetwork: {reference: {armId: /A}}}}, {kind: VirtualNetworksVirtualNetworkPeering, metadata: {name: b}, \
         spec: {owner: {name: v}, remoteVirtualNetwork: {reference: {armId: /a}}}}]}" =>
        |o| {
            let remote = |p: &Value| text(p, &format!("{REMOTE}/armId")).to_ascii_lowercase();
            let all = of(o, PEERING).filter(|&p| has(p, &format!("{REMOTE}/armId")));
            let all: Vec<_> = all.map(|p| format!("{}>{}", text(p, "/spec/owner/name"), remote(p))).collect();
            repeats(all.iter().map(String::as_str))
        };
}

/// The resources of a kind.
fn of<'a>(object: DocumentPart<'a>, kind: &'static str) -> impl Iterator<Item = &'a Value> {
    list(object, "/spec/resources").iter().filter(move |&resource| text(resource, "/kind") == kind)
}

fn name(resource: &Value) -> &str {
    text(resource, "/metadata/name")
}

/// The virtual network of the list that a resource is in.
fn owner<'a>(object: DocumentPart<'a>, resource: &Value) -> Option<&'a Value> {
    let owner = text(resource, "/spec/owner/name");
    of(object, VNET).find(|vnet| name(vnet) == owner)
}

/// Whether a resource is in a virtual network neither of the list nor there already.
fn is_lost(object: DocumentPart<'_>, resource: &Value) -> bool {
    !has(resource, "/spec/owner/armId") && owner(object, resource).is_none()
}

fn ranges(vnet: &Value) -> &[Value] {
    list(vnet, "/spec/addressSpace/addressPrefixes")
}

fn of_subnet(subnet: &Value) -> Vec<Value> {
    let one = subnet.pointer("/spec/addressPrefix").into_iter();
    one.chain(list(subnet, "/spec/addressPrefixes")).cloned().collect()
}

fn cidr(range: &Value) -> Option<Cidr> {
    range.as_str().and_then(Cidr::parse)
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureASOManagedCluster
metadata: {name: a, namespace: a}
spec:
  resources:
  - apiVersion: resources.azure.com/v1api20200601
    kind: ResourceGroup
    metadata: {name: a}
    spec: {azureName: a, location: westeurope}
  - apiVersion: network.azure.com/v1api20240301
    kind: VirtualNetwork
    metadata: {name: v}
    spec: {owner: {name: a}, location: westeurope, addressSpace: {addressPrefixes: [10.64.0.0/16]}}
  - apiVersion: network.azure.com/v1api20240301
    kind: VirtualNetworksSubnet
    metadata: {name: s}
    spec: {owner: {name: v}, addressPrefix: 10.64.1.0/24}
  - apiVersion: network.azure.com/v1api20240301
    kind: VirtualNetworksVirtualNetworkPeering
    metadata: {name: there}
    spec: {owner: {name: v}, remoteVirtualNetwork: {reference: {armId: /hub}}}
  - apiVersion: network.azure.com/v1api20240301
    kind: VirtualNetworksVirtualNetworkPeering
    metadata: {name: back}
    spec:
      owner: {armId: /hub}
      remoteVirtualNetwork: {reference: {group: network.azure.com, kind: VirtualNetwork, name: v}}
";
