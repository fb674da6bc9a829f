//! What a Worker's templates get: for the cluster that it is.

use serde_json::{Value, json};

use super::pool::{Role, autoscaler, pool};
use super::{
    CONTROL_PLANE_REPLICAS, ComponentVersions, azure, cloud_images, containers, credentials,
    default_size, or_default, replicas,
};
use crate::diag::Diagnostics;
use crate::model::api::NodePool;
use crate::model::{Fleet, Nodes, Worker};
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
    if worker.nodes() == Nodes::Containers {
        return containers::worker(fleet, worker, problems);
    }
    let spec = &worker.spec;
    let network = spec.network.as_ref();
    let control_plane = spec.control_plane.clone().unwrap_or_default();
    let manifest = worker.manifest();
    let (default_pods, default_services) = worker.default_ranges();
    let mut context = json!({
        "name": worker.name,
        "tenant": null,
        "version": spec.version,
        "location": spec.location,
        "controlPlane": {
            "replicas": control_plane.replicas.unwrap_or(replicas(manifest, CONTROL_PLANE_REPLICAS)),
            "vmSize": control_plane.size.as_deref().unwrap_or(default_size(manifest)),
        },
        "podCIDRs": or_default(network.map(|n| &n.pod_cidrs), default_pods),
        "serviceCIDRs": or_default(network.map(|n| &n.service_cidrs), default_services),
        "pools": pools(worker),
        // The system pool has none, and nothing but hosted control planes is wanted on the others.
        "poolTaints": [],
        "autoscaler": autoscaler(&spec.node_pools, &spec.version),
        "components": ComponentVersions::overlaid(&spec.components.0).of_flavor(manifest),
        "sources": mirror::of(&fleet.spec),
        "registry": fleet.spec.images.as_ref().and_then(|i| i.registry.as_deref()),
    });
    let who =
        credentials::CredentialsOf { name: &worker.name, chosen: spec.credentials.as_deref() };
    credentials::add(&mut context, fleet, manifest, who, problems);
    if credentials::are_azure(manifest) {
        let azure = azure::find(fleet, spec.credentials.as_deref());
        context["issuer"] = json!(azure.and_then(|c| azure::issuer(c, &worker.name)));
        context["cloudImages"] = cloud_images(&spec.version).into();
    }
    context
}

fn pools(worker: &Worker) -> Vec<Value> {
    let listed = &worker.spec.node_pools;
    let size = default_size(worker.manifest());
    let system = listed.iter().find(|p| p.name == SYSTEM_POOL).cloned().unwrap_or(NodePool {
        name: SYSTEM_POOL.to_owned(),
        replicas: Some(SYSTEM_REPLICAS),
        ..NodePool::default()
    });
    let hosting = listed.iter().filter(|p| p.name != SYSTEM_POOL);
    let of = |p: &NodePool, role| pool(&worker.name, p, role, &worker.spec.version, size);
    let hosting = hosting.map(|p| of(p, Role::HostedControlPlanes));
    std::iter::once(of(&system, Role::General)).chain(hosting).collect()
}
