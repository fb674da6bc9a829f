//! The network that is made for a cluster of AKS lies apart from the ranges of its pods and services, and has no routes of its
//! own. Azure makes no cluster otherwise, and says so when the network is there already (learn.microsoft.com:
//! `azure/aks/azure-cni-overlay`, "IP address planning"; `azure/aks/egress-udr`).

use serde_json::Value;

use super::super::job::Job;
use super::super::object::Object;
use super::super::path::at;
use super::field::ObjectField;
use crate::diag::{Code, Diagnostics};
use crate::model::Cidr;

const NETWORK: &str = "AzureASOManagedCluster";
const CONTROL_PLANE: &str = "AzureASOManagedControlPlane";
const RANGES: [(&str, &str); 2] = [
    ("pods", "/spec/clusterNetwork/pods/cidrBlocks"),
    ("services", "/spec/clusterNetwork/services/cidrBlocks"),
];

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    let mut findings = Diagnostics::default();
    for network in objects.iter().filter(|o| o.kind() == NETWORK) {
        let beside = |kind: &'static str| {
            let all = objects.iter().filter(move |o| o.kind() == kind);
            all.filter(|o| o.namespace() == network.namespace())
        };
        let own: Vec<Cidr> = vnets(network).flat_map(|vnet| ranges(vnet, PREFIXES)).collect();
        for (what, path) in RANGES {
            let theirs = beside("Cluster").flat_map(|cluster| ranges(&cluster.value, path));
            if theirs.into_iter().any(|range| own.iter().any(|own| own.overlaps(range))) {
                let message =
                    format!("{network} has a virtual network with addresses of the {what}");
                let help = "give `vnet` and `nodeSubnet` other ranges, or the cluster's `network`";
                findings.push(job.finding(Code::RenderedInvalid, &network.file, &message, help));
            }
        }
        if !own.is_empty() && beside(CONTROL_PLANE).any(is_routed) {
            let message = format!(
                "{network} has a virtual network without routes, by which its nodes would reach the internet"
            );
            let help = "name a `subnet` that has routes, or take another `outboundType`";
            findings.push(job.finding(Code::RenderedInvalid, &network.file, &message, help));
        }
    }
    findings
}

const PREFIXES: &str = "/spec/addressSpace/addressPrefixes";

fn resources(object: &Object) -> impl Iterator<Item = &Value> {
    ObjectField::Resources.of(object).and_then(Value::as_array).into_iter().flatten()
}

fn vnets(object: &Object) -> impl Iterator<Item = &Value> {
    let is_vnet =
        |resource: &&Value| at(resource, "/kind").is_some_and(|kind| kind == "VirtualNetwork");
    resources(object).filter(is_vnet)
}

fn ranges(value: &Value, path: &str) -> Vec<Cidr> {
    let all = at(value, path).and_then(Value::as_array).into_iter().flatten();
    all.filter_map(|range| Cidr::parse(range.as_str()?)).collect()
}

fn is_routed(control_plane: &Object) -> bool {
    let outbound = |resource: &Value| {
        let outbound = at(resource, "/spec/networkProfile/outboundType");
        outbound.is_some_and(|outbound| outbound == "userDefinedRouting")
    };
    resources(control_plane).any(outbound)
}

#[cfg(test)]
mod tests {
    use super::super::tests::messages;
    use super::*;

    fn found(vnet: &str, outbound: &str) -> Vec<String> {
        let of = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\n";
        let text = format!(
            "{of}kind: {NETWORK}\nmetadata: {{name: a, namespace: a}}\nspec: {{resources: [{{kind: VirtualNetwork, \
             spec: {{addressSpace: {{addressPrefixes: [{vnet}]}}}}}}]}}\n---\n\
             {of}kind: {CONTROL_PLANE}\nmetadata: {{name: a, namespace: a}}\nspec: {{resources: [{{kind: ManagedCluster, \
             spec: {{networkProfile: {{outboundType: {outbound}}}}}}}]}}\n---\n\
             apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {{name: a, namespace: a}}\nspec: \
             {{clusterNetwork: {{pods: {{cidrBlocks: [10.244.0.0/16]}}, services: {{cidrBlocks: [10.96.0.0/16]}}}}}}\n"
        );
        messages(check, &text, Code::RenderedInvalid)
    }

    #[test]
    fn the_network_of_nodes_lies_apart_from_pods_and_services() {
        assert_eq!(found("10.64.0.0/16, fd00::/64", "loadBalancer"), Vec::<String>::new());
        let one = |vnet: &str| found(vnet, "loadBalancer");
        assert!(one("10.244.128.0/17")[0].ends_with("with addresses of the pods"));
        assert!(one("10.96.0.0/12")[0].ends_with("with addresses of the services"));
        assert_eq!(one("10.0.0.0/8").len(), 2);
    }

    #[test]
    fn a_network_that_is_made_has_no_routes_of_ones_own() {
        let told = found("10.64.0.0/16", "userDefinedRouting");
        assert!(told[0].contains("without routes") && told.len() == 1, "{told:?}");
        assert_eq!(found("", "userDefinedRouting"), Vec::<String>::new());
    }
}
