//! What a Worker's templates get: for the cluster that it is.

use serde_json::{Value, json};

use super::pool::{Role, autoscaler, pool};
use super::{
    CONTROL_PLANE_REPLICAS, ComponentVersions, cloud_images, containers, credentials, default_size,
    or_default, parameters, replicas,
};
use crate::diag::Diagnostics;
use crate::model::api::NodePool;
use crate::model::{Fleet, Nodes, SYSTEM_POOL, SYSTEM_POOL_REPLICAS, Worker};
use crate::render::mirror;

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
    let parameters = parameters::parameters(manifest, &spec.parameters);
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
        "pools": pools(worker, &parameters),
        // The system pool has none, and nothing but hosted control planes is wanted on the others.
        "poolTaints": [],
        "autoscaler": autoscaler(&spec.node_pools, &spec.version),
        "components": ComponentVersions::overlaid(&spec.components.0).of_flavor(manifest),
        "sources": mirror::of(&fleet.spec),
        "registry": fleet.spec.images.as_ref().and_then(|i| i.registry.as_deref()),
        "parameters": parameters,
    });
    let who =
        credentials::CredentialsOf { name: &worker.name, chosen: spec.credentials.as_deref() };
    credentials::add(&mut context, fleet, manifest, who, problems);
    if credentials::are_azure(manifest) {
        let azure = fleet.azure(spec.credentials.as_deref());
        context["issuer"] = json!(azure.and_then(|azure| azure.issuer(&worker.name)));
        context["cloudImages"] = cloud_images(&spec.version).into();
    }
    context
}

fn pools(worker: &Worker, parameters: &Value) -> Vec<Value> {
    let listed = &worker.spec.node_pools;
    let size = default_size(worker.manifest());
    let system = listed.iter().find(|p| p.name == SYSTEM_POOL).cloned().unwrap_or(NodePool {
        name: SYSTEM_POOL.to_owned(),
        replicas: Some(SYSTEM_POOL_REPLICAS),
        ..NodePool::default()
    });
    let hosting = listed.iter().filter(|p| p.name != SYSTEM_POOL);
    let of = |p: &NodePool, role| {
        let mut shown = pool(&worker.name, p, role, &worker.spec.version, size);
        shown["parameters"] = parameters::of_pool(worker.manifest(), parameters, p);
        shown
    };
    let hosting = hosting.map(|p| of(p, Role::HostedControlPlanes));
    std::iter::once(of(&system, Role::General)).chain(hosting).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture::fleet;
    use super::*;

    #[test]
    fn a_pool_called_system_sizes_the_one_that_every_worker_has() {
        let mut fleet = fleet();
        let worker = fleet.workers.values_mut().next().unwrap();
        let named = |name: &str, replicas: u32| NodePool {
            name: name.to_owned(),
            replicas: Some(replicas),
            ..NodePool::default()
        };
        worker.spec.node_pools = vec![named("np0", 2)].into();
        let shown = |worker: &Worker| {
            let shown = |pool: &Value| {
                let hosting = !pool["taints"].as_array().unwrap().is_empty();
                (pool["name"].clone(), pool["deployments"][0]["replicas"].clone(), hosting)
            };
            pools(worker, &json!({})).iter().map(shown).collect::<Vec<_>>()
        };
        let (system, np0) = (json!("system"), json!("np0"));
        let default = [(system.clone(), json!(3), false), (np0.clone(), json!(2), true)];
        assert_eq!(shown(worker), default);
        worker.spec.node_pools.push(named("system", 5));
        assert_eq!(shown(worker), [(system, json!(5), false), (np0, json!(2), true)]);
    }
}
