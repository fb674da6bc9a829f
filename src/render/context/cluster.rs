//! What a ManagedCluster's templates get.

use serde_json::{Value, json};

use super::pool::{Role, pool};
use super::{Components, HOSTED_REPLICAS, VM_SIZE, azure, containers, hosted_taint, or_default};
use crate::diag::Diagnostics;
use crate::model::{CLUSTER_RANGES, Cluster, Fleet, KIND_FLAVOR, Name, Versions};

/// The add-ons that every cluster gets.
pub(super) const ADD_ONS: &[&str] = &["azuredisk-csi", "calico", "cloud-provider-azure"];

/// The context of a cluster on a worker.
pub(in crate::render) fn cluster(
    fleet: &Fleet,
    cluster: &Cluster,
    worker: &Name,
    versions: &Versions,
    problems: &mut Diagnostics,
) -> Value {
    if cluster.flavor() == KIND_FLAVOR {
        return containers::cluster(fleet, cluster, problems);
    }
    let spec = &cluster.spec;
    let network = spec.network.as_ref();
    let control_plane = spec.control_plane.clone().unwrap_or_default();
    let own = fleet.workers.get(worker).map(|w| w.spec.components.0.clone()).unwrap_or_default();
    let pools = spec.node_pools.iter();
    let pools: Vec<_> =
        pools.map(|p| pool(&cluster.name, p, Role::General, &versions.pools)).collect();
    json!({
        "name": cluster.name,
        "tenant": cluster.tenant,
        "version": versions.control_plane,
        "location": spec.location,
        "paused": spec.paused,
        "controlPlane": {
            "replicas": control_plane.replicas.unwrap_or(HOSTED_REPLICAS),
            "vmSize": control_plane.size.as_deref().unwrap_or(VM_SIZE),
        },
        "podCIDRs": or_default(network.map(|n| &n.pod_cidrs), CLUSTER_RANGES.pods),
        "serviceCIDRs": or_default(network.map(|n| &n.service_cidrs), CLUSTER_RANGES.services),
        "azure": azure::azure(fleet, spec.credentials.as_deref(), &cluster.name, problems),
        "pools": pools,
        "components": Components::overlaid(&own).only(ADD_ONS),
        "registry": fleet.spec.images.as_ref().and_then(|i| i.registry.as_deref()),
        "hostedTaint": hosted_taint(),
    })
}
