//! A small fleet, and ways to look at what it renders to.

use std::collections::BTreeSet;

use serde_json::Value;

use super::object::objects;
use super::{Files, Templates, cluster_job};
use crate::model::api::{
    AzureCredentials, Bootstrap, ControlPlaneCluster, Credentials, Delivery, FleetSpec, Images,
    ManagedClusterSpec, NodePool, Observation, Tenant, WorkerSpec,
};
use crate::model::{Cluster, Digest, Fleet, Name, Resources, SharedMap, Worker};

/// The identity of the nodes.
const NODES: &str = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/\
                     userAssignedIdentities/nodes";

fn pools() -> Vec<NodePool> {
    vec![NodePool { name: "np0".into(), replicas: Some(3), ..NodePool::default() }]
}

/// The worker `wk-1` and the cluster `pay-eu`.
pub(super) fn fleet() -> Fleet {
    let (worker, cluster) = (Name::parse("wk-1").unwrap(), Name::parse("pay-eu").unwrap());
    let delivery = Delivery {
        url: "ssh://git@example.com/fleet.git".into(),
        secret_ref: Some("git".into()),
        ..Delivery::default()
    };
    let spec = FleetSpec {
        delivery: Some(delivery),
        bootstrap: Some(Bootstrap { credential_ref: "boot".into() }),
        credentials: vec![Credentials {
            name: "main".into(),
            azure: Some(AzureCredentials {
                tenant_id: "tenant".into(),
                subscription_id: "subscription".into(),
                client_id: "client".into(),
                node_identity: Some(NODES.into()),
                ..AzureCredentials::default()
            }),
            ..Credentials::default()
        }],
        ..FleetSpec::default()
    };
    let mut fleet = Fleet { spec, ..Fleet::default() };
    fleet.workers.insert(worker.clone(), self::worker(worker));
    fleet.clusters.insert(cluster.clone(), self::cluster(cluster));
    fleet
}

/// The fleet of these tests with tenants in its `carp.yaml`.
pub(super) fn of_tenants(names: &[&str]) -> Fleet {
    let mut fleet = fleet();
    let tenant = |name: &&str| Tenant { name: (*name).to_owned(), ..Tenant::default() };
    fleet.spec.tenants = names.iter().map(tenant).collect();
    fleet
}

/// The fleet of these tests with an agent on the worker and on the control-plane cluster.
pub(super) fn observed() -> Fleet {
    let mut fleet = fleet();
    fleet.spec.images =
        Some(Images { carp: Some("r.example.com/carp".into()), ..Images::default() });
    let observation = Observation::Agent;
    let hub = ControlPlaneCluster { name: "hub".into(), observation, ..Default::default() };
    fleet.spec.control_plane = Some(hub);
    fleet.workers.values_mut().for_each(|w| w.spec.observation = observation);
    fleet
}

fn worker(name: Name) -> Worker {
    Worker {
        name,
        labels: SharedMap::new(),
        facts: Digest::of(b"w"),
        file: "fleet/w.yaml".into(),
        document: 0,
        spec: WorkerSpec {
            version: "v1.34.2".into(),
            location: "westeurope".into(),
            node_pools: pools().into(),
            ..WorkerSpec::default()
        }
        .into(),
        heartbeat_timeout_seconds: 3600,
        made_by: None,
        catalogue: crate::model::Catalogue::default(),
    }
}

fn cluster(name: Name) -> Cluster {
    Cluster {
        name,
        tenant: "pay".into(),
        labels: [].into(),
        facts: Digest::of(b"c"),
        file: "fleet/c.yaml".into(),
        document: 0,
        spec: ManagedClusterSpec {
            version: "v1.34.2".into(),
            location: "westeurope".into(),
            node_pools: pools().into(),
            ..ManagedClusterSpec::default()
        }
        .into(),
        catalogue: crate::model::Catalogue::default(),
        demand: Resources::new(),
    }
}

/// The folder of the first cluster.
pub(super) fn cluster_files(fleet: &Fleet) -> Files {
    let cluster = fleet.clusters.values().next().unwrap();
    let worker = Name::parse("wk-1").unwrap();
    cluster_job(fleet, cluster, &worker, &Templates::built_in()).render().unwrap()
}

/// All texts, CRDs apart.
pub(super) fn text(files: &Files) -> String {
    let texts = files.iter().filter(|(path, _)| !path.starts_with("crds/"));
    texts.map(|(_, bytes)| String::from_utf8_lossy(bytes)).collect()
}

/// The kinds in a folder, sorted, each once.
pub(super) fn kinds(files: &Files) -> Vec<String> {
    let all = objects(files).unwrap();
    all.iter().map(|o| o.kind().to_owned()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The objects of a kind.
pub(super) fn objects_of(files: &Files, kind: &str) -> Vec<Value> {
    let all = objects(files).unwrap();
    all.into_iter().filter(|o| o.kind() == kind).map(|o| (*o.value).clone()).collect()
}
