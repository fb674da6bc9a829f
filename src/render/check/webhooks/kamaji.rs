//! `KamajiControlPlane`: Kamaji's webhooks refuse the `TenantControlPlane` that its provider makes of it, which has
//! its name (kamaji 26.8.2-edge, `internal/webhook/handlers`; cluster-api-control-plane-provider-kamaji v0.20.0,
//! `controllers/kamajicontrolplane_controller_tcp.go`).

use std::net::{IpAddr, SocketAddr};

use serde_json::Value;

use super::rules;
use super::value::{at, list, no_version, repeats, text};

rules! {
    // tcp_name.go
    "has a name that does not begin with a letter, or has other than small letters, digits and dashes",
        "metadata: {name: 1a}" => |o| !is_dns_1035_label(text(o, "/metadata/name"));
    // tcp_dns.go
    "has an address of the DNS that is none", "spec: {addons: {coreDNS: {dnsServiceIPs: [dns]}}}" =>
        |o| ["/spec/addons/coreDNS/dnsServiceIPs", "/spec/network/dnsServiceIPs"]
            .iter().flat_map(|path| list(o, path))
            .any(|ip| ip.as_str().is_none_or(|ip| ip.parse::<IpAddr>().is_err()));
    "says no address of the DNS, so that its provider takes it away at every turn",
        "spec: {addons: {coreDNS: {dnsServiceIPs: null}}}" =>
        |o| at(o, "/spec/addons/coreDNS").is_some()
            && list(o, "/spec/addons/coreDNS/dnsServiceIPs").is_empty();
    // tcp_version.go; its provider puts a v before a version that has none.
    "has a version that is none", "spec: {version: '1.34'}" =>
        |o| no_version(&format!("v{}", text(o, "/spec/version").trim_start_matches('v')));
    // tcp_certsans.go, and the provider itself.
    "has a name in its certificate that is none, such as one with a port",
        "spec: {network: {certSANs: ['api.example.com:6443']}}" =>
        |o| list(o, "/spec/network/certSANs").iter().any(no_certificate_name);
    // tcp_datastore.go
    "sends one resource to two stores",
        "spec: {dataStoreOverrides: [{resource: /events, dataStore: a}, {resource: /events, dataStore: b}]}" =>
        |o| repeats(list(o, "/spec/dataStoreOverrides").iter().map(|s| text(s, "/resource")));
}

fn is_dns_1035_label(name: &str) -> bool {
    let letter = |b: u8| b.is_ascii_lowercase();
    let bytes = name.as_bytes();
    bytes.len() <= 63
        && bytes.first().is_some_and(|b| letter(*b))
        && bytes.last().is_some_and(|b| letter(*b) || b.is_ascii_digit())
        && bytes.iter().all(|b| letter(*b) || b.is_ascii_digit() || *b == b'-')
}

fn no_certificate_name(name: &Value) -> bool {
    let Some(name) = name.as_str() else { return true };
    let host = name.strip_prefix("*.").unwrap_or(name);
    let label = |part: &str| {
        let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        (1..=63).contains(&part.len())
            && part.bytes().all(known)
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    name.parse::<SocketAddr>().is_ok()
        || name.parse::<IpAddr>().is_err() && !host.split('.').all(label)
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: controlplane.cluster.x-k8s.io/v1alpha2
kind: KamajiControlPlane
metadata: {name: a, namespace: a}
spec:
  version: 1.34.2
  addons: {coreDNS: {dnsServiceIPs: [10.96.0.10]}, kubeProxy: {}}
  network: {serviceType: LoadBalancer, certSANs: [api.example.com, '*.example.com', 10.0.0.1, 'fd00::1']}
  dataStoreOverrides: [{resource: /events, dataStore: a}]
";
