//! A fleet made by hand, and the tree that its rendering makes.

use carp::model::api::{
    AzureCredentials, Bootstrap, ControlPlaneCluster, Credentials, Delivery, FleetSpec, Images,
    ManagedClusterSpec, NodePool, Observation, ObservedSettings, Sources, WorkerSpec,
};
use carp::model::{Cluster, Digest, Fleet, Name, Resources, SharedMap, Worker, paths};
use carp::render::{self, Files, Templates};

/// The identity of the nodes.
const NODES: &str = "/subscriptions/21111111-2222-4333-8444-555555555555/resourceGroups/fleet/providers/\
                     Microsoft.ManagedIdentity/userAssignedIdentities/nodes";

/// A fleet with every feature that templates branch on.
pub(crate) fn full() -> Fleet {
    let mut fleet = plain();
    let registry = Some("mirror.example.com".into());
    fleet.spec.images = Some(Images { registry, sources: Sources::Mirror, carp: None });
    let azure = fleet.spec.credentials[0].azure.as_mut().unwrap();
    azure.oidc_issuer_prefix = Some("https://oidc.example.com/workers".into());
    azure.environment = Some("AzurePublicCloud".into());
    let pools: Vec<NodePool> = serde_json::from_str(
        r#"[{"name": "np0", "autoscale": {"min": 2, "max": 9}, "zones": ["1", "2", "3"]},
            {"name": "spot", "replicas": 0, "spot": true, "osDisk": {"sizeGB": 64},
             "labels": {"team": "on", "node-role.kubernetes.io/batch": ""},
             "taints": [{"key": "batch", "value": "yes", "effect": "NoSchedule"},
                        {"key": "bare", "effect": "PreferNoSchedule"}]}]"#,
    )
    .unwrap();
    let signers = vec!["wk-weu-1 ssh-ed25519 AAAA".to_owned()];
    fleet.spec.observed =
        Some(ObservedSettings { allowed_signers: signers, ..ObservedSettings::default() });
    let observation = Observation::Agent;
    let hub = ControlPlaneCluster { name: "hub".into(), observation, ..Default::default() };
    fleet.spec.control_plane = Some(hub);
    fleet.workers.values_mut().for_each(|w| w.spec.observation = observation);
    for cluster in fleet.clusters.values_mut() {
        cluster.spec.node_pools = pools.clone().into();
        cluster.spec.paused = true;
        let demand = [("cpu", "1500m"), ("memory", "4Gi")];
        let demand = demand.map(|(name, amount)| (name.to_owned(), amount.parse().unwrap()));
        cluster.demand = demand.into();
    }
    fleet
}

/// A fleet of one worker with one cluster, as small as can be.
pub(crate) fn plain() -> Fleet {
    let azure = AzureCredentials {
        tenant_id: "11111111-2222-4333-8444-555555555555".into(),
        subscription_id: "21111111-2222-4333-8444-555555555555".into(),
        client_id: "31111111-2222-4333-8444-555555555555".into(),
        node_identity: Some(NODES.into()),
        ..AzureCredentials::default()
    };
    let delivery = Delivery {
        url: "ssh://git@git.example.com/fleet.git".into(),
        secret_ref: Some("carp-fleet".into()),
        ..Delivery::default()
    };
    let spec = FleetSpec {
        delivery: Some(delivery),
        bootstrap: Some(Bootstrap { credential_ref: "carp-bootstrap".into() }),
        credentials: vec![Credentials {
            name: "main".into(),
            azure: Some(azure),
            ..Credentials::default()
        }],
        ..FleetSpec::default()
    };
    let (worker, cluster) = (worker(), cluster());
    Fleet {
        name: "test".into(),
        spec,
        clusters: [(cluster.name.clone(), cluster)].into(),
        workers: [(worker.name.clone(), worker)].into(),
        ..Fleet::default()
    }
}

/// A fleet on one machine: a worker and a cluster of kind, and no credentials at all.
pub(crate) fn kind() -> Fleet {
    let mut fleet = of("kind");
    fleet.spec.credentials.clear();
    fleet
}

/// The small fleet with a worker and a cluster of a flavor for both.
pub(crate) fn of(flavor: &str) -> Fleet {
    let mut fleet = plain();
    let flavor = || Some(flavor.to_owned());
    fleet.workers.values_mut().for_each(|w| w.spec.flavor = flavor());
    fleet.clusters.values_mut().for_each(|c| c.spec.flavor = flavor());
    fleet
}

fn pool(name: &str) -> NodePool {
    NodePool { name: name.into(), replicas: Some(3), ..NodePool::default() }
}

fn worker() -> Worker {
    Worker {
        name: Name::parse("wk-weu-1").unwrap(),
        labels: SharedMap::new(),
        facts: Digest::of(b"worker"),
        file: "fleet/workers.yaml".into(),
        document: 0,
        spec: WorkerSpec {
            version: "v1.34.2".into(),
            location: "westeurope".into(),
            node_pools: vec![pool("np0")].into(),
            ..WorkerSpec::default()
        }
        .into(),
        heartbeat_timeout_seconds: 3600,
        made_by: None,
        catalogue: carp::model::Catalogue::default(),
    }
}

fn cluster() -> Cluster {
    Cluster {
        name: Name::parse("pay-eu").unwrap(),
        tenant: "pay".into(),
        labels: [("tier".to_owned(), "on".to_owned())].into(),
        facts: Digest::of(b"cluster"),
        file: "fleet/clusters.yaml".into(),
        document: 0,
        spec: ManagedClusterSpec {
            version: "v1.34.2".into(),
            location: "westeurope".into(),
            node_pools: vec![pool("np0")].into(),
            ..ManagedClusterSpec::default()
        }
        .into(),
        catalogue: carp::model::Catalogue::default(),
        demand: Resources::new(),
    }
}

/// The whole tree below the fleet's root, without locks and records: every cluster on the first worker.
pub(crate) fn tree(fleet: &Fleet, prefix: &str) -> Files {
    let templates = Templates::built_in();
    let mut tree = Files::new();
    let mut put = |folder: String, files: Files| {
        let files = files.into_iter().map(|(path, bytes)| (format!("{folder}/{path}"), bytes));
        tree.extend(files);
    };
    for worker in fleet.workers.values() {
        let folder = paths::worker(&worker.name);
        let job = render::worker_job(fleet, worker, &templates, prefix);
        let files = job.render().unwrap();
        let appliers = render::Appliers::of(&files[paths::PLATFORM]);
        put(folder.clone(), files);
        let clusters = fleet.clusters.values().map(|cluster| render::IndexedCluster {
            name: &cluster.name,
            tenant: &cluster.tenant,
            removal: render::Removal::Prune,
            applying: render::Applying::Active,
        });
        let index = render::clusters_index(fleet, &worker.name, clusters, &appliers, prefix);
        let sentinel = render::sentinel(&worker.name, &Digest::of(b"folder"));
        put(
            folder,
            [("clusters.yaml".to_owned(), index), ("sentinel.yaml".to_owned(), sentinel)].into(),
        );
        for cluster in fleet.clusters.values() {
            let job = render::cluster_job(fleet, cluster, &worker.name, &templates);
            put(paths::cluster(&worker.name, &cluster.name), job.render().unwrap());
        }
        // Nobody makes an attached worker.
        if let Some(job) = render::control_plane_worker_job(fleet, worker, &templates, prefix) {
            put(paths::control_plane(&worker.name), job.render().unwrap());
        }
    }
    let settings = render::RenderSettings::of(&fleet.spec);
    let job = render::control_plane_job(fleet, &templates, prefix, settings);
    put(paths::CONTROL_PLANE.to_owned(), job.render().unwrap());
    let index = render::control_plane_index(fleet, fleet.workers.keys(), prefix);
    put(paths::CONTROL_PLANE.to_owned(), [("workers.yaml".to_owned(), index)].into());
    tree
}
