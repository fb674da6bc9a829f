//! What templates of flavors in containers get: nodes are containers, so there are no machines, no zones and
//! no credentials. Of pools only their size counts.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{or_default, parameters};
use crate::diag::{Code, Diagnostic, Diagnostics, Place};
use crate::model::api::{ControlPlane, Network, NodePool};
use crate::model::{Cluster, Fleet, KubeVersion, Worker, tables};

/// The nodes of a control plane that names no replicas: one machine has one etcd to lose.
const CONTROL_PLANE_NODES: u32 = 1;

/// What a ManagedCluster and a Worker have in common.
struct ContainerOptions<'a> {
    name: &'a str,
    tenant: Option<&'a str>,
    file: &'a str,
    version: &'a str,
    paused: bool,
    control_plane: Option<&'a ControlPlane>,
    pools: &'a [NodePool],
    network: Option<&'a Network>,
    ranges: (&'a str, &'a str),
    parameters: Value,
}

/// The context of a cluster of kind.
pub(super) fn cluster(fleet: &Fleet, cluster: &Cluster, problems: &mut Diagnostics) -> Value {
    let spec = &cluster.spec;
    let wanted = ContainerOptions {
        name: &cluster.name,
        tenant: Some(&cluster.tenant),
        file: &cluster.file,
        version: &spec.version,
        paused: spec.paused,
        control_plane: spec.control_plane.as_ref(),
        pools: &spec.node_pools,
        network: spec.network.as_ref(),
        ranges: cluster.default_ranges(),
        parameters: parameters::parameters(cluster.manifest(), &spec.parameters),
    };
    context(fleet, &wanted, problems)
}

/// The context of a worker that is a cluster of kind. It has no pool but those that it lists.
pub(super) fn worker(fleet: &Fleet, worker: &Worker, problems: &mut Diagnostics) -> Value {
    let spec = &worker.spec;
    let wanted = ContainerOptions {
        name: &worker.name,
        tenant: None,
        file: &worker.file,
        version: &spec.version,
        paused: false,
        control_plane: spec.control_plane.as_ref(),
        pools: &spec.node_pools,
        network: spec.network.as_ref(),
        ranges: worker.default_ranges(),
        parameters: parameters::parameters(worker.manifest(), &spec.parameters),
    };
    context(fleet, &wanted, problems)
}

fn context(fleet: &Fleet, wanted: &ContainerOptions<'_>, problems: &mut Diagnostics) -> Value {
    let registry = fleet.spec.images.as_ref().and_then(|i| i.registry.as_deref());
    let minor = wanted.version.parse::<KubeVersion>().map(|v| format!("{}.{}", v.major, v.minor));
    let minor = minor.unwrap_or_default();
    let image = tables::kind_images().get(&minor);
    if image.is_none() {
        problems.push(no_image(wanted));
    }
    let replicas = wanted.control_plane.and_then(|c| c.replicas);
    json!({
        "name": wanted.name,
        "tenant": wanted.tenant,
        "paused": wanted.paused,
        "version": minor,
        // Whoever runs kind knows the image of a version. Only a mirror has another name for it.
        "image": image.filter(|_| registry.is_some()),
        "registry": registry,
        "controlPlaneNodes": replicas.unwrap_or(CONTROL_PLANE_NODES),
        "workerNodes": wanted.pools.iter().map(nodes).sum::<u32>(),
        "podCIDRs": or_default(wanted.network.map(|n| &n.pod_cidrs), wanted.ranges.0),
        "serviceCIDRs": or_default(wanted.network.map(|n| &n.service_cidrs), wanted.ranges.1),
        "parameters": wanted.parameters,
        "networking": wanted.network.map(networking).filter(|n| !n.is_empty()),
    })
}

/// kind has no node image of the version.
fn no_image(wanted: &ContainerOptions<'_>) -> Diagnostic {
    let ContainerOptions { name, version, .. } = wanted;
    let mut known = tables::kind_images().keys();
    let (first, last) = (known.next(), known.next_back());
    let or_none = |minor: Option<&String>| minor.cloned().unwrap_or_default();
    let message = format!("{name}: there is no node image of kind for {version}");
    Diagnostic::new(Code::InvalidVersion, message).at(Place::file(wanted.file)).help(format!(
        "there are images for {} to {}, one for each minor version",
        or_none(first),
        or_none(last)
    ))
}

/// How many nodes a pool has: nothing scales them, so the least of an autoscaled one.
fn nodes(pool: &NodePool) -> u32 {
    pool.replicas.or_else(|| pool.autoscale.map(|a| a.min)).unwrap_or(1)
}

/// The part `networking` of kind's configuration, for what the document says.
fn networking(network: &Network) -> BTreeMap<&'static str, String> {
    let subnets = [("podSubnet", &network.pod_cidrs), ("serviceSubnet", &network.service_cidrs)];
    let given = subnets.into_iter().filter(|(_, cidrs)| !cidrs.is_empty());
    let mut all: BTreeMap<_, _> = given.map(|(key, cidrs)| (key, cidrs.join(","))).collect();
    let has = |six: bool| all.values().flat_map(|c| c.split(',')).any(|c| c.contains(':') == six);
    if has(true) {
        let family = if has(false) { "dual" } else { "ipv6" };
        all.insert("ipFamily", family.to_owned());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::Autoscale;

    #[test]
    fn the_least_of_a_pool_counts() {
        let autoscale = Some(Autoscale { min: 2, max: 9 });
        assert_eq!(nodes(&NodePool { autoscale, ..NodePool::default() }), 2);
        assert_eq!(nodes(&NodePool { replicas: Some(3), ..NodePool::default() }), 3);
        assert_eq!(nodes(&NodePool::default()), 1);
    }

    #[test]
    fn networks_are_said_only_where_they_are_given() {
        let of = |pods: &[&str], services: &[&str]| {
            let own = |all: &[&str]| all.iter().map(|c| (*c).to_owned()).collect();
            networking(&Network { pod_cidrs: own(pods), service_cidrs: own(services) })
        };
        assert!(of(&[], &[]).is_empty());
        assert_eq!(of(&["10.1.0.0/16"], &[]), [("podSubnet", "10.1.0.0/16".to_owned())].into());
        assert_eq!(of(&["10.1.0.0/16", "fd00::/56"], &[])["ipFamily"], "dual");
        assert_eq!(of(&["fd00::/56"], &["fd01::/112"])["ipFamily"], "ipv6");
    }
}
