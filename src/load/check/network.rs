//! `invalid-network`: ranges of addresses are CIDRs, those of pods and services do not overlap, and that of
//! the services has an address for the DNS.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::Cidr;
use crate::model::api::Network;

/// Which address of the services is the DNS's (kubeadm, `constants.GetDNSIP`).
const DNS_ADDRESS: u32 = 10;

pub(super) fn check(subject: &Subject<'_>, _: &CheckContext<'_>, out: &mut Findings) {
    let (own, resolved) = match &subject.body.spec {
        DocumentSpec::ManagedCluster(c) => {
            (c.network.as_ref(), subject.cluster.as_ref().and_then(|c| c.network.as_ref()))
        }
        DocumentSpec::Worker(w) => (w.network.as_ref(), w.network.as_ref()),
        DocumentSpec::ManagedClusterClass(c) => (c.network.as_ref(), c.network.as_ref()),
        _ => return,
    };
    let Some(network) = resolved else { return };
    let path = match own {
        Some(_) => FieldPath::keys("spec.network"),
        // All of it comes from the class, which its own check looks at.
        None => return,
    };
    let ranges = ranges(network, &path, out);
    for (i, (_, range, one)) in ranges.iter().enumerate() {
        for (second, _, two) in ranges.iter().skip(i + 1).filter(|r| r.1.overlaps(*range)) {
            let message = format!("`{one}` and `{two}` overlap");
            let help = "give pods and services ranges of their own";
            out.add(Code::InvalidNetwork, second.clone(), message, help);
        }
    }
}

/// The ranges that can be read, with their places; a finding for each other.
fn ranges<'n>(
    network: &'n Network,
    path: &FieldPath,
    out: &mut Findings,
) -> Vec<(FieldPath, Cidr, &'n str)> {
    let mut found = Vec::new();
    for (key, ranges) in
        [("podCIDRs", &network.pod_cidrs), ("serviceCIDRs", &network.service_cidrs)]
    {
        for (i, text) in ranges.iter().enumerate() {
            let path = path.key(key).index(i);
            if let Some(cidr) = Cidr::parse(text) {
                if key == "serviceCIDRs" && cidr.address(DNS_ADDRESS).is_none() {
                    let message = format!("`{text}` is too small for services");
                    let help = "take at least 16 addresses (/28): the tenth is that of the DNS";
                    out.add(Code::InvalidNetwork, path.clone(), message, help);
                }
                found.push((path, cidr, text.as_str()));
            } else {
                let message = format!("`{text}` is not a range of addresses");
                let help = "write it as a CIDR, such as 10.244.0.0/16";
                out.add(Code::InvalidNetwork, path, message, help);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{class, cluster, finds, finds_nothing, worker};
    use super::*;

    fn network(pods: &str, services: &str) -> String {
        format!("network: {{podCIDRs: [{pods}], serviceCIDRs: [{services}]}}\n  ")
    }

    #[test]
    fn ranges_are_cidrs() {
        for bad in ["10.0.0.0", "10.0.0.0/33", "10.0.0/8", "\"x/8\"", "10.0.0.0/+8", "\"::/129\""] {
            let text = network(bad, "");
            for text in [cluster(&text), worker(&text), class("small", &text)] {
                finds(text, Code::InvalidNetwork, "spec.network.podCIDRs[0]");
            }
        }
        finds_nothing(cluster(&network(
            "10.0.0.0/16, \"fd00::/64\"",
            "10.1.0.0/16, \"fd01::/108\"",
        )));
    }

    #[test]
    fn services_have_an_address_for_the_dns() {
        let path = "spec.network.serviceCIDRs[0]";
        finds(cluster(&network("10.1.0.0/16", "10.2.0.0/29")), Code::InvalidNetwork, path);
        finds_nothing(cluster(&network("10.1.0.0/16", "10.2.0.0/28")));
    }

    #[test]
    fn pods_and_services_do_not_overlap() {
        let path = "spec.network.serviceCIDRs[0]";
        finds(cluster(&network("10.0.0.0/8", "10.96.0.0/12")), Code::InvalidNetwork, path);
        finds(cluster(&network("10.96.4.0/24", "10.96.0.0/12")), Code::InvalidNetwork, path);
        finds(cluster(&network("\"fd00::/16\"", "\"fd00:1::/32\"")), Code::InvalidNetwork, path);
        finds(cluster(&network("0.0.0.0/0", "10.96.0.0/12")), Code::InvalidNetwork, path);
    }

    #[test]
    fn a_clusters_own_range_may_not_overlap_its_classs() {
        let class = class("small", "network: {serviceCIDRs: [10.96.0.0/12]}\n  ");
        let own = cluster("class: small\n  network: {podCIDRs: [10.0.0.0/8]}\n  ");
        finds(format!("{class}---\n{own}"), Code::InvalidNetwork, "spec.network.serviceCIDRs[0]");
    }
}
