//! What a Worker's templates get: for the cluster that it is.

use serde_json::{Value, json};

use super::cluster::ADD_ONS;
use super::pool::{Role, autoscaler, pool};
use super::{
    CONTROL_PLANE_REPLICAS, Components, VM_SIZE, azure, cloud_images, containers, or_default,
};
use crate::diag::Diagnostics;
use crate::model::api::NodePool;
use crate::model::{Fleet, KIND_FLAVOR, WORKER_RANGES, Worker};
use crate::render::mirror;

/// The pool without a taint that every worker has, for everything but hosted control planes. A worker
/// that lists a pool of this name sizes it so.
const SYSTEM_POOL: &str = "system";
/// Its replicas: one for each member of the etcd that holds the hosted control planes' state.
const SYSTEM_REPLICAS: u32 = 3;

/// The context of a worker.
pub(in crate::render) fn worker(
    fleet: &Fleet,
    worker: &Worker,
    problems: &mut Diagnostics,
) -> Value {
    if worker.flavor() == KIND_FLAVOR {
        return containers::worker(fleet, worker, problems);
    }
    let spec = &worker.spec;
    let network = spec.network.as_ref();
    let control_plane = spec.control_plane.clone().unwrap_or_default();
    let credentials = azure::find(fleet, spec.credentials.as_deref());
    json!({
        "name": worker.name,
        "tenant": null,
        "version": spec.version,
        "location": spec.location,
        "controlPlane": {
            "replicas": control_plane.replicas.unwrap_or(CONTROL_PLANE_REPLICAS),
            "vmSize": control_plane.size.as_deref().unwrap_or(VM_SIZE),
        },
        "podCIDRs": or_default(network.map(|n| &n.pod_cidrs), WORKER_RANGES.pods),
        "serviceCIDRs": or_default(network.map(|n| &n.service_cidrs), WORKER_RANGES.services),
        "azure": azure::azure(fleet, spec.credentials.as_deref(), &worker.name, problems),
        "issuer": credentials.and_then(|c| azure::issuer(c, &worker.name)),
        "pools": pools(worker),
        // The system pool has none, and nothing but hosted control planes is wanted on the others.
        "poolTaints": [],
        "autoscaler": autoscaler(&spec.node_pools, &spec.version),
        "cloudImages": cloud_images(&spec.version),
        "components": Components::overlaid(&spec.components.0).only(ADD_ONS),
        "sources": mirror::of(&fleet.spec),
        "registry": fleet.spec.images.as_ref().and_then(|i| i.registry.as_deref()),
    })
}

fn pools(worker: &Worker) -> Vec<Value> {
    let listed = &worker.spec.node_pools;
    let system = listed.iter().find(|p| p.name == SYSTEM_POOL).cloned().unwrap_or(NodePool {
        name: SYSTEM_POOL.to_owned(),
        replicas: Some(SYSTEM_REPLICAS),
        ..NodePool::default()
    });
    let hosting = listed.iter().filter(|p| p.name != SYSTEM_POOL);
    let of = |p: &NodePool, role| pool(&worker.name, p, role, &worker.spec.version);
    let hosting = hosting.map(|p| of(p, Role::HostedControlPlanes));
    std::iter::once(of(&system, Role::General)).chain(hosting).collect()
}
