//! `AzureCluster` (cluster-api-provider-azure v1.26.0, `internal/webhooks/azurecluster_validation.go`): the
//! cluster and its load balancers. Its network is in [`network`](super::network).

use serde_json::Value;

use super::rules;
use super::value::{at, below, has, list, number, on, text};
use crate::model::Cidr;
use crate::pattern::DocumentPart;

const NETWORK: &str = "/spec/networkSpec";
const API: &str = "/spec/networkSpec/apiServerLB";
const BALANCERS: [&str; 3] = ["apiServerLB", "nodeOutboundLB", "controlPlaneOutboundLB"];
/// The most addresses that a load balancer has for what goes out.
const MOST_ADDRESSES: i64 = 16;
/// What a load balancer waits before it closes an idle connection, in minutes.
const IDLE: std::ops::RangeInclusive<i64> = 4..=30;
/// What an internal load balancer, and the subnet that it is in, have where nothing is said
/// (`internal/api/v1beta1/azurecluster_default.go`).
const DEFAULT_ADDRESS: &str = "10.0.0.100";
const DEFAULT_SUBNET: &str = "10.0.0.0/16";
/// The longest name of a cluster: machines' names begin with it.
const LONGEST_NAME: usize = 44;

rules! {
    "has a name that its machines cannot begin with", "metadata: {name: a_b}" =>
        |o| !is_name(text(o, "/metadata/name"));
    "says no identity", "spec: {identityRef: null}" => |o| !has(o, "/spec/identityRef");
    "has an identity that is no AzureClusterIdentity", "spec: {identityRef: {kind: Secret}}" =>
        |o| has(o, "/spec/identityRef") && text(o, "/spec/identityRef/kind") != "AzureClusterIdentity";
    "tunnels through a bastion that is not of the SKU Standard",
        "spec: {bastionSpec: {azureBastion: {enableTunneling: true, sku: Basic}}}" =>
        |o| on(o, "/spec/bastionSpec/azureBastion/enableTunneling")
            && text(o, "/spec/bastionSpec/azureBastion/sku") != "Standard";
    "is in an edge zone, whose feature gate is off",
        "spec: {extendedLocation: {name: a, type: EdgeZone}}" => |o| has(o, "/spec/extendedLocation");
    "has a load balancer that closes idle connections before 4 or after 30 minutes",
        "spec: {networkSpec: {nodeOutboundLB: {idleTimeoutInMinutes: 60}}}" =>
        |o| balancers(o)
            .filter_map(|lb| number(lb, "/idleTimeoutInMinutes")).any(|m| !IDLE.contains(&m));
    "has a load balancer with more than 16 addresses",
        "spec: {networkSpec: {nodeOutboundLB: {frontendIPsCount: 17}}}" =>
        |o| ["nodeOutboundLB", "controlPlaneOutboundLB"].iter()
            .filter_map(|lb| number(o, &format!("{NETWORK}/{lb}/frontendIPsCount")))
            .any(|count| count > MOST_ADDRESSES);
    "has a load balancer of the API server that is not of the SKU Standard",
        "spec: {networkSpec: {apiServerLB: {sku: Basic}}}" =>
        |o| !matches!(text(below(o, API), "/sku"), "" | "Standard");
    "has a load balancer of the API server that is neither Public nor Internal",
        "spec: {networkSpec: {apiServerLB: {type: Private}}}" =>
        |o| !matches!(text(below(o, API), "/type"), "" | "Public" | "Internal");
    "has a malformed name of the API server's load balancer",
        "spec: {networkSpec: {apiServerLB: {name: a b}}}" =>
        |o| !text(below(o, API), "/name").chars().all(is_of_a_name);
    "has a private address of a public load balancer",
        "spec: {networkSpec: {apiServerLB: {frontendIPs: [{name: a, publicIP: {name: b}, privateIP: 10.0.0.4}]}}}" =>
        |o| !is_internal(o)
            && frontends(o).iter().any(|ip| !text(ip, "/privateIP").is_empty());
    "has a public address of an internal load balancer",
        "spec: {networkSpec: {apiServerLB: {type: Internal, frontendIPs: [{name: a, publicIP: {name: b}}]}}}" =>
        |o| is_internal(o) && frontends(o).iter().any(|ip| has(ip, "/publicIP"));
    "has not one public address of the API server",
        "spec: {networkSpec: {apiServerLB: {frontendIPs: [{name: a, publicIP: {name: b}}, {name: c, publicIP: {name: d}}]}}}" =>
        |o| !is_internal(o) && !frontends(o).is_empty()
            && frontends(o).iter().filter(|&ip| has(ip, "/publicIP")).count() != 1;
    "has an internal load balancer whose address is not in the subnet of the control plane",
        "spec: {networkSpec: {apiServerLB: {type: Internal, frontendIPs: [{name: a, privateIP: 10.9.0.4}]}}}" =>
        |o| makes_control_plane(o) && is_internal(o) && !is_in_its_subnet(o);
    "has a load balancer for what goes out of a control plane that is public itself",
        "spec: {networkSpec: {controlPlaneOutboundLB: {frontendIPsCount: 1}}}" =>
        |o| makes_control_plane(o) && !is_internal(o)
            && has(below(o, NETWORK), "/controlPlaneOutboundLB");
}

/// Whether CAPZ makes the control plane's part, as it does unless told otherwise.
pub(super) fn makes_control_plane(object: DocumentPart<'_>) -> bool {
    at(object, "/spec/controlPlaneEnabled") != Some(&Value::Bool(false))
}

/// Whether the API server is reached from inside only.
pub(super) fn is_internal(object: DocumentPart<'_>) -> bool {
    text(below(object, API), "/type") == "Internal"
}

fn balancers(object: DocumentPart<'_>) -> impl Iterator<Item = &Value> {
    BALANCERS.iter().filter_map(move |lb| at(object, &format!("{NETWORK}/{lb}")))
}

fn frontends(object: DocumentPart<'_>) -> &[Value] {
    list(below(object, API), "/frontendIPs")
}

/// Whether the address of an internal load balancer, said or by default, is one of the control plane's subnet, said or
/// by default.
fn is_in_its_subnet(object: DocumentPart<'_>) -> bool {
    let said = frontends(object).iter().map(|ip| text(ip, "/privateIP")).find(|ip| !ip.is_empty());
    let Ok(address) = said.unwrap_or(DEFAULT_ADDRESS).parse() else { return false };
    let subnets = list(below(object, NETWORK), "/subnets").iter();
    let mut of_planes =
        subnets.filter(|&s| ["control-plane", "cluster"].contains(&text(s, "/role")));
    let ranges = of_planes.next().map(|subnet| list(subnet, "/cidrBlocks")).unwrap_or_default();
    let ranges = ranges.iter().filter_map(Value::as_str);
    let mut ranges: Vec<_> = ranges.filter_map(Cidr::parse).collect();
    if ranges.is_empty() {
        ranges.extend(Cidr::parse(DEFAULT_SUBNET));
    }
    ranges.iter().any(|range| range.contains(address))
}

/// The characters of the names of subnets and load balancers.
pub(super) fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.".contains(c)
}

fn is_name(name: &str) -> bool {
    let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = name.as_bytes();
    (2..=LONGEST_NAME).contains(&bytes.len())
        && bytes.iter().all(|b| letter(*b) || *b == b'-')
        && [bytes.first(), bytes.last()].into_iter().flatten().all(|b| letter(*b))
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureCluster
metadata: {name: a-1, namespace: a-1}
spec:
  location: westeurope
  identityRef: {kind: AzureClusterIdentity, name: a-1}
  networkSpec:
    vnet: {name: v, cidrBlocks: [10.0.0.0/8]}
    subnets:
    - {name: control-plane-subnet, role: control-plane, cidrBlocks: [10.0.0.0/16]}
    - {name: node-subnet, role: node, cidrBlocks: [10.1.0.0/16]}
";
