//! What a ManagedCluster's templates get.

use serde_json::{Value, json};

use super::pool::{Role, autoscaler, pool, taint_keys};
use super::requests::requests;
use super::{
    ComponentVersions, HOSTED_REPLICAS, cloud_images, containers, credentials, default_size,
    hosted_taint, or_default, parameters, replicas,
};
use crate::diag::Diagnostics;
use crate::model::{Cidr, Cluster, Fleet, Name, Nodes, Versions};
use crate::render::mirror;

/// The context of a cluster on a worker.
pub(in crate::render) fn cluster(
    fleet: &Fleet,
    cluster: &Cluster,
    worker: &Name,
    versions: &Versions,
    problems: &mut Diagnostics,
) -> Value {
    if cluster.nodes() == Nodes::Containers {
        return containers::cluster(fleet, cluster, problems);
    }
    let spec = &cluster.spec;
    let network = spec.network.as_ref();
    let control_plane = spec.control_plane.clone().unwrap_or_default();
    let own = fleet.workers.get(worker).map(|worker| &worker.spec.components.0);
    let components = own.map_or_else(ComponentVersions::built_in, ComponentVersions::overlaid);
    let size = default_size(cluster.manifest());
    let manifest = cluster.manifest();
    let parameters = parameters::parameters(manifest, &spec.parameters);
    let pools = spec.node_pools.iter().map(|p| {
        let mut shown = pool(&cluster.name, p, Role::General, &versions.pools, size);
        shown["parameters"] = parameters::of_pool(manifest, &parameters, p);
        shown
    });
    let pools = pools.collect();
    let (default_pods, default_services) = cluster.default_ranges();
    let services = or_default(network.map(|n| &n.service_cidrs), default_services);
    let planes = control_plane.replicas.unwrap_or(replicas(manifest, HOSTED_REPLICAS));
    let access = spec.access.clone().unwrap_or_default();
    // What is a value already comes after it: `json!` would copy it.
    let mut context = json!({
        "name": cluster.name,
        "tenant": cluster.tenant,
        "version": versions.control_plane,
        "location": spec.location,
        "paused": spec.paused,
        "controlPlane": {
            "replicas": planes,
            "vmSize": control_plane.size.as_deref().unwrap_or(size),
        },
        "podCIDRs": or_default(network.map(|n| &n.pod_cidrs), default_pods),
        "dnsServiceIPs": dns_service_ips(&services),
        "serviceCIDRs": services,
        "poolTaints": taint_keys(&spec.node_pools),
        "autoscaler": autoscaler(&spec.node_pools, &versions.control_plane),
        "sources": mirror::of(&fleet.spec),
        "registry": fleet.spec.images.as_ref().and_then(|i| i.registry.as_deref()),
        "access": {
            "endpoint": access.endpoint.unwrap_or_default(),
            "allowedCIDRs": access.allowed_cidrs,
        },
    });
    context["controlPlane"]["requests"] = requests(&cluster.demand, planes);
    context["pools"] = pools;
    context["components"] = components.of_flavor(manifest);
    context["hostedTaint"] = hosted_taint();
    context["parameters"] = parameters;
    let who =
        credentials::CredentialsOf { name: &cluster.name, chosen: spec.credentials.as_deref() };
    credentials::add(&mut context, fleet, manifest, who, problems);
    // Only where it is so, that no other folder is made anew by it.
    if fleet.spec.flux_releases {
        context["fluxReleases"] = true.into();
    }
    if credentials::are_azure(manifest) {
        context["cloudImages"] = cloud_images(&versions.control_plane).into();
    }
    context
}

/// The address of the cluster's DNS. Kamaji's provider passes on the first range only, and the address is the
/// tenth of it, as kubeadm has it (kubeadm, `constants.GetDNSIP`).
fn dns_service_ips(services: &[String]) -> Vec<String> {
    let first = services.first().and_then(|range| Cidr::parse(range));
    first.and_then(|range| range.address(10)).map(|ip| ip.to_string()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dns_has_the_tenth_address_of_the_services() {
        let of = |range: &str| dns_service_ips(&[range.to_owned(), "10.9.0.0/16".to_owned()]);
        assert_eq!(of("10.96.0.0/16"), ["10.96.0.10"]);
        assert_eq!(of("10.96.1.2/16"), ["10.96.0.10"], "of the range and not of what is written");
        assert_eq!(of("fd00::/108"), ["fd00::a"]);
        assert_eq!(of("10.96.0.0/29"), Vec::<String>::new(), "there is none");
    }
}
