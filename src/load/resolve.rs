//! Defaults filled in and overlays laid on.

use crate::model::api::{
    ClusterAccess, ControlPlane, Credentials, FleetSpec, ManagedClusterClassSpec,
    ManagedClusterSpec, Network, Taint, Tenant, WorkerOverlaySpec, WorkerSpec,
};
use crate::model::{
    Catalogue, CredentialsNeeded, DEFAULT_CLUSTER_FLAVOR, DEFAULT_WORKER_FLAVOR, Quantity,
    Resources,
};

pub(super) use crate::model::duration_seconds as seconds;
use crate::model::parameters::with_class;

/// The resource that every cluster takes one of.
const CLUSTERS: &str = "clusters";

/// `heartbeatTimeout` where a worker names none, in seconds.
pub(super) const DEFAULT_HEARTBEAT: i64 = 3600;

/// Which credentials something has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChosenCredentials<'a> {
    /// The entry of that index in `carp.yaml`.
    Entry(usize),
    /// One was named that is not there.
    Unknown(&'a str),
    /// None was named and there are several.
    Ambiguous,
    /// There is none.
    Nothing,
}

/// The credentials that are named, else the tenant's first, else the only ones of those that are needed.
pub(super) fn credentials<'a>(
    named: Option<&'a str>,
    tenant: Option<&'a Tenant>,
    fleet: &FleetSpec,
    needed: Option<&CredentialsNeeded>,
) -> ChosenCredentials<'a> {
    let wanted = named.or_else(|| tenant.and_then(Tenant::default_credentials));
    let all = || fleet.credentials.iter().enumerate();
    if let Some(name) = wanted {
        let at = all().find(|(_, entry)| entry.name == name);
        return at.map_or(ChosenCredentials::Unknown(name), |(index, _)| {
            ChosenCredentials::Entry(index)
        });
    }
    let of_others = |entry: &Credentials| {
        let of = entry.of();
        of.is_some() && needed.is_some_and(|needed| of != Some(&*needed.of))
    };
    let mut fit = all().filter(|(_, entry)| !of_others(entry)).map(|(index, _)| index);
    match (fit.next(), fit.next()) {
        (None, _) => ChosenCredentials::Nothing,
        (Some(index), None) => ChosenCredentials::Entry(index),
        (Some(_), Some(_)) => ChosenCredentials::Ambiguous,
    }
}

/// The credentials that a flavor needs to make machines in a cloud.
pub(super) fn needed<'a>(catalogue: &'a Catalogue, flavor: &str) -> Option<&'a CredentialsNeeded> {
    catalogue.flavor(flavor)?.credentials.as_ref()
}

/// A cluster with the defaults of its class and of the fleet.
pub(super) fn cluster(
    spec: &mut ManagedClusterSpec,
    class: Option<&ManagedClusterClassSpec>,
    tenant: Option<&Tenant>,
    fleet: &FleetSpec,
    catalogue: &Catalogue,
) {
    if let Some(class) = class {
        spec.flavor = spec.flavor.take().or_else(|| class.flavor.clone());
        spec.credentials = spec.credentials.take().or_else(|| class.credentials.clone());
        spec.control_plane = control_plane(spec.control_plane.take(), class.control_plane.clone());
        spec.network = network(spec.network.take(), class.network.clone());
        spec.data_store = spec.data_store.take().or_else(|| class.data_store.clone());
        spec.priority = spec.priority.or(class.priority);
        spec.deletion_policy = spec.deletion_policy.or(class.deletion_policy);
        spec.access = access(spec.access.take(), class.access.clone());
        spec.parameters = with_class(&spec.parameters, &class.parameters);
        if spec.node_pools.is_empty() {
            spec.node_pools.clone_from(&class.node_pools);
        }
    }
    let flavor = spec.flavor.get_or_insert_with(|| DEFAULT_CLUSTER_FLAVOR.to_owned());
    if let Some(needed) = needed(catalogue, flavor)
        && let ChosenCredentials::Entry(index) =
            credentials(spec.credentials.as_deref(), tenant, fleet, Some(needed))
    {
        spec.credentials = Some(fleet.credentials[index].name.clone());
    }
}

fn control_plane(own: Option<ControlPlane>, class: Option<ControlPlane>) -> Option<ControlPlane> {
    match (own, class) {
        (Some(own), Some(class)) => Some(ControlPlane {
            replicas: own.replicas.or(class.replicas),
            size: own.size.or(class.size),
        }),
        (own, class) => own.or(class),
    }
}

fn access(own: Option<ClusterAccess>, class: Option<ClusterAccess>) -> Option<ClusterAccess> {
    match (own, class) {
        (Some(own), Some(class)) => Some(ClusterAccess {
            endpoint: own.endpoint.or(class.endpoint),
            allowed_cidrs: if own.allowed_cidrs.is_empty() {
                class.allowed_cidrs
            } else {
                own.allowed_cidrs
            },
        }),
        (own, class) => own.or(class),
    }
}

fn network(own: Option<Network>, class: Option<Network>) -> Option<Network> {
    let filled = |own: Vec<String>, class: Vec<String>| if own.is_empty() { class } else { own };
    match (own, class) {
        (Some(own), Some(class)) => Some(Network {
            pod_cidrs: filled(own.pod_cidrs, class.pod_cidrs),
            service_cidrs: filled(own.service_cidrs, class.service_cidrs),
        }),
        (own, class) => own.or(class),
    }
}

/// What a cluster takes of its worker: `clusters: 1` at least, and what its class says.
pub(super) fn demand(class: Option<&ManagedClusterClassSpec>) -> Resources {
    let mut demand = class.map(|c| c.demand.clone()).unwrap_or_default();
    let one = Quantity::units(1);
    let clusters = demand.entry(CLUSTERS.to_owned()).or_insert(one);
    *clusters = (*clusters).max(one);
    demand
}

/// A worker with its overlay, as its document would say it.
pub(super) fn overlaid(own: &WorkerSpec, overlay: &WorkerOverlaySpec) -> WorkerSpec {
    let mut spec = own.clone();
    spec.unschedulable = overlay.unschedulable.unwrap_or(spec.unschedulable);
    spec.drain = overlay.drain.or(spec.drain);
    for taint in &overlay.taints {
        let same = |t: &&mut Taint| t.key == taint.key && t.effect == taint.effect;
        match spec.taints.iter_mut().find(same) {
            Some(own) => own.clone_from(taint),
            None => spec.taints.push(taint.clone()),
        }
    }
    spec.capacity.extend(overlay.capacity.clone());
    spec.reserved.extend(overlay.reserved.clone());
    spec
}

/// A worker with the defaults of the fleet.
pub(super) fn worker(spec: &mut WorkerSpec, fleet: &FleetSpec, catalogue: &Catalogue) {
    let flavor = spec.flavor.get_or_insert_with(|| DEFAULT_WORKER_FLAVOR.to_owned());
    if let Some(needed) = needed(catalogue, flavor)
        && let ChosenCredentials::Entry(index) =
            credentials(spec.credentials.as_deref(), None, fleet, Some(needed))
    {
        spec.credentials = Some(fleet.credentials[index].name.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CARP, class, cluster, load_files, load_fleet, loads, worker};
    use super::*;

    #[test]
    fn a_class_fills_in_what_the_cluster_leaves_open() {
        let class = class(
            "small",
            "flavor: kamaji-capz\n  priority: 7\n  deletionPolicy: Delete\n  controlPlane: {replicas: 2}\n  \
             demand: {memory: 2Gi}\n  network: {podCIDRs: [10.1.0.0/16], serviceCIDRs: [10.2.0.0/16]}\n  \
             nodePools: [{name: a, replicas: 1}]\n  ",
        );
        let own = "class: small\n  network: {podCIDRs: [10.9.0.0/16]}\n  ";
        let loaded = load_fleet(&[("fleet/a.yaml", &format!("{class}---\n{}", cluster(own)))]);
        let found = &loaded.fleet.clusters["pay-eu"];
        assert_eq!(found.spec.priority, Some(7));
        assert!(found.spec.deletion_policy.is_some());
        assert_eq!(found.spec.node_pools[0].name, "a");
        assert_eq!(found.spec.control_plane.as_ref().unwrap().replicas, Some(2));
        let network = found.spec.network.as_ref().unwrap();
        assert_eq!(
            (&*network.pod_cidrs[0], &*network.service_cidrs[0]),
            ("10.9.0.0/16", "10.2.0.0/16")
        );
        let demand: Vec<_> = found.demand.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(demand, ["clusters=1", "memory=2Gi"]);
    }

    #[test]
    fn a_cluster_says_more_than_its_class() {
        let class = class("small", "priority: 7\n  nodePools: [{name: a, replicas: 1}]\n  ");
        let own = "class: small\n  priority: 0\n  replicas: 2\n  ";
        let loaded = load_fleet(&[("fleet/a.yaml", &format!("{class}---\n{}", cluster(own)))]);
        let found = &loaded.fleet.clusters["pay-eu"];
        assert_eq!((found.spec.priority, &*found.spec.node_pools[0].name), (Some(0), "np0"));
    }

    #[test]
    fn flavor_and_credentials_are_filled_in() {
        let found = &loads(cluster("")).clusters["pay-eu"];
        assert_eq!(found.spec.flavor.as_deref(), Some("kamaji-capz"));
        assert_eq!(found.spec.credentials.as_deref(), Some("main"));
        let two = CARP.replace("credentials:\n", "credentials:\n  - name: other\n    azure: {tenantID: 11111111-1111-1111-1111-111111111111, subscriptionID: 11111111-1111-1111-1111-111111111111, clientID: 11111111-1111-1111-1111-111111111111, nodeIdentity: /subscriptions/6a4e8c1d-3b7f-4c2a-9e1d-1f5b7d3c9a8e/resourceGroups/fleet/providers/Microsoft.ManagedIdentity/userAssignedIdentities/nodes}\n");
        let tenants = format!("{two}  tenants: [{{name: shop, credentials: [other]}}]\n");
        let loaded = load_files(&[("carp.yaml", &tenants), ("fleet/a.yaml", &cluster(""))]);
        let found = &loaded.fleet.clusters["pay-eu"];
        assert_eq!(found.spec.credentials.as_deref(), Some("other"));
    }

    #[test]
    fn an_overlay_is_laid_on_and_counts_as_the_workers_own() {
        let own = worker(
            "capacity: {clusters: 50, memory: 9Gi}\n  taints: [{key: a, effect: NoSchedule}, {key: b, effect: NoExecute}]\n  ",
        );
        let overlay = "---\napiVersion: carp.dev/v1alpha1\nkind: WorkerOverlay\nmetadata: {name: w1}\nspec:\n  unschedulable: true\n  taints: [{key: a, value: x, effect: NoSchedule}]\n  capacity: 40\n  reserved: 2\n";
        let loaded = loads(format!("{own}{overlay}"));
        let written = worker(
            "capacity: {clusters: 40, memory: 9Gi}\n  reserved: 2\n  unschedulable: true\n  taints: [{key: a, value: x, effect: NoSchedule}, {key: b, effect: NoExecute}]\n  ",
        );
        assert_eq!(loaded.workers["w1"].spec, loads(&written).workers["w1"].spec);
        assert_eq!(loaded.workers["w1"].facts, loads(&written).workers["w1"].facts);
        assert_ne!(loaded.workers["w1"].facts, loads(&own).workers["w1"].facts);
    }

    #[test]
    fn durations_are_read() {
        assert_eq!(seconds("1h30m"), Some(5400));
        assert_eq!(seconds("45s"), Some(45));
        for bad in ["", "0s", "1", "1d", "h", "1m1h", "-1h"] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
        assert_eq!(loads(worker("")).workers["w1"].heartbeat_timeout_seconds, DEFAULT_HEARTBEAT);
        let short = loads(worker("heartbeatTimeout: 10m\n  "));
        assert_eq!(short.workers["w1"].heartbeat_timeout_seconds, 600);
    }
}
