//! What people want, loaded and resolved.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::api::{
    AcknowledgementSpec, ClusterSelector, FleetSpec, ManagedClusterClassSpec, ManagedClusterSpec,
    OverridePolicySpec, OverrideTarget, PlacementPolicySpec, Tenant, WorkerField,
    WorkerOverlaySpec, WorkerSelector, WorkerSpec,
};
use super::{
    Catalogue, CloneOnWrite, Digest, DocumentGrowth, Flavor, IndexRow, MadeBy, Name, Nodes, Pool,
    Resources, SharedMap,
};

/// The desired state: every document that loaded, defaults resolved, overlays laid on.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    /// The fleet's own name, from `carp.yaml`.
    pub name: String,
    /// `carp.yaml`.
    pub spec: FleetSpec,
    /// The clusters.
    pub clusters: BTreeMap<Name, Cluster>,
    /// The workers, with their overlays.
    pub workers: BTreeMap<Name, Worker>,
    /// The overlays, each by its worker's name, where they stand. The workers have them laid on.
    pub overlays: BTreeMap<Name, Sourced<WorkerOverlaySpec>>,
    /// The pools of workers. The workers that they made are among the workers.
    pub pools: BTreeMap<Name, Pool>,
    /// The classes.
    pub classes: BTreeMap<Name, Sourced<ManagedClusterClassSpec>>,
    /// The placement policies, the built-in ones included.
    pub policies: BTreeMap<Name, Policy>,
    /// The override policies.
    pub overrides: BTreeMap<Name, Arc<Override>>,
    /// The override policies that are there and did not load.
    pub broken_overrides: Vec<BrokenOverride>,
    /// The flavors that there are.
    pub catalogue: Catalogue,
    /// The flavors whose clusters need other addresses than their worker has, as the flavors' manifests
    /// say.
    pub networks_apart: BTreeSet<String>,
    /// The flavors whose clusters are handed over to another worker as they are, as the manifests say.
    pub transfers: BTreeSet<String>,
    /// The acknowledgements.
    pub acknowledgements: BTreeMap<Name, Sourced<AcknowledgementSpec>>,
    /// What is there and did not load. While anything stands here no deletion starts; for what stands in a
    /// tenant's folder, no deletion of that tenant's clusters.
    pub unloaded: Vec<Unloaded>,
    /// How many documents more are not too many for anybody; `None` where somebody has too many. Of a part of a fleet that is
    /// not known.
    pub room: Option<DocumentGrowth>,
}

impl Fleet {
    /// The same fleet but for its workers, of which it has none.
    #[must_use]
    pub fn without_workers(&self) -> Self {
        Self {
            name: self.name.clone(),
            spec: self.spec.clone(),
            clusters: self.clusters.clone(),
            workers: BTreeMap::new(),
            overlays: self.overlays.clone(),
            pools: self.pools.clone(),
            classes: self.classes.clone(),
            policies: self.policies.clone(),
            overrides: self.overrides.clone(),
            broken_overrides: self.broken_overrides.clone(),
            catalogue: self.catalogue.clone(),
            networks_apart: self.networks_apart.clone(),
            transfers: self.transfers.clone(),
            acknowledgements: self.acknowledgements.clone(),
            unloaded: self.unloaded.clone(),
            room: self.room,
        }
    }

    /// Whether something that new placements depend on (a policy or class) did not load.
    #[must_use]
    pub fn holds_placements(&self) -> bool {
        self.unloaded.iter().any(|u| u.blocks_placements)
    }

    /// Whether something did not load that may be anything: it stands in no tenant's folder.
    #[must_use]
    pub fn is_unsure(&self) -> bool {
        self.unloaded.iter().any(Unloaded::is_anybodys)
    }

    /// Whether something did not load that may be of a tenant's.
    #[must_use]
    pub fn is_unsure_of(&self, tenant: &str) -> bool {
        self.unloaded.iter().any(|unloaded| unloaded.may_be_of(tenant))
    }

    /// Whether a document that did not load is that cluster's of that tenant. One whose kind could not be
    /// read may be.
    #[must_use]
    pub fn is_broken(&self, cluster: &str, tenant: &str) -> bool {
        let is_cluster =
            |kind: &Option<String>| kind.as_deref().is_none_or(|k| k == "ManagedCluster");
        let named = |u: &&Unloaded| u.name.as_deref() == Some(cluster) && is_cluster(&u.kind);
        self.unloaded.iter().filter(named).any(|unloaded| unloaded.may_be_of(tenant))
    }

    /// The tenant's entry; `None` where `carp.yaml` lists no tenants or not this one.
    #[must_use]
    pub fn tenant(&self, name: &str) -> Option<&Tenant> {
        self.spec.tenants.iter().find(|t| t.name == name)
    }
}

/// Where a document stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sourced<T> {
    /// The file, relative to the fleet's root.
    pub file: String,
    /// The YAML document in it, from 0.
    pub document: usize,
    /// What it says.
    pub value: T,
}

/// A desired cluster.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its name.
    pub name: Name,
    /// Its tenant: `metadata.namespace`, `default` where there is none.
    pub tenant: String,
    /// Its labels.
    pub labels: SharedMap<String>,
    /// The digest of the document's canonical value with default-valued fields left out.
    pub facts: Digest,
    /// The file it stands in.
    pub file: String,
    /// The document in that file, from 0.
    pub document: usize,
    /// The document with the defaults of its class and of the fleet filled in: flavor and credentials
    /// are always set where the flavor needs them. Clusters whose documents say the same share it.
    pub spec: CloneOnWrite<ManagedClusterSpec>,
    /// What it takes of its worker: from the class and the pools at their maximum; `clusters: 1` at
    /// least.
    pub demand: Resources,
    /// The flavors that there are.
    pub catalogue: Catalogue,
}

impl Cluster {
    /// The flavor, resolved.
    #[must_use]
    pub fn flavor(&self) -> &str {
        self.spec.flavor.as_deref().unwrap_or(DEFAULT_CLUSTER_FLAVOR)
    }

    /// The flavor's manifest; `None` where there is none that can be read.
    #[must_use]
    pub fn manifest(&self) -> Option<&Flavor> {
        self.catalogue.flavor(self.flavor())
    }

    /// What its nodes are; machines where nobody can tell.
    #[must_use]
    pub fn nodes(&self) -> Nodes {
        self.manifest().map(|flavor| flavor.nodes).unwrap_or_default()
    }

    /// What the locks keep of it.
    #[must_use]
    pub fn index_row(&self) -> IndexRow {
        IndexRow {
            labels: self.labels.clone(),
            tenant: self.tenant.clone(),
            location: self.spec.location.clone(),
            version: self.spec.version.clone(),
            flavor: self.flavor().to_owned(),
            priority: self.spec.priority.unwrap_or(0),
            class: self.spec.class.clone(),
            deletion_policy: self.spec.deletion_policy,
            spread: self.spec.own_spread().to_vec(),
            anti_affinity: self.spec.own_anti_affinity().to_vec(),
        }
    }
}

/// The flavor of a ManagedCluster that names none.
pub const DEFAULT_CLUSTER_FLAVOR: &str = "kamaji-capz";
/// The flavor of a Worker that names none.
pub const DEFAULT_WORKER_FLAVOR: &str = "capz";
/// The pool without a taint that every worker has, for everything but hosted control planes. A Worker that lists a
/// pool of this name says what it is.
pub const SYSTEM_POOL: &str = "system";
/// Its nodes where nobody says how many: one for each member of the etcd that holds the hosted control planes' state.
pub const SYSTEM_POOL_REPLICAS: u32 = 3;

/// A desired worker, its overlay laid on.
#[derive(Clone, Debug)]
pub struct Worker {
    /// Its name.
    pub name: Name,
    /// Its labels.
    pub labels: SharedMap<String>,
    /// The digest of the document's canonical value, overlay included.
    pub facts: Digest,
    /// The file it stands in.
    pub file: String,
    /// The document in that file, from 0.
    pub document: usize,
    /// The document with its overlay and defaults. Workers whose documents say the same share it.
    pub spec: CloneOnWrite<WorkerSpec>,
    /// `spec.heartbeatTimeout` in seconds.
    pub heartbeat_timeout_seconds: i64,
    /// The pool that made it; `None` where it has a document of its own.
    pub made_by: Option<MadeBy>,
    /// The flavors that there are.
    pub catalogue: Catalogue,
}

impl Worker {
    /// The flavor, resolved.
    #[must_use]
    pub fn flavor(&self) -> &str {
        self.spec.flavor.as_deref().unwrap_or(DEFAULT_WORKER_FLAVOR)
    }

    /// The flavor's manifest; `None` where there is none that can be read.
    #[must_use]
    pub fn manifest(&self) -> Option<&Flavor> {
        self.catalogue.flavor(self.flavor())
    }

    /// What its nodes are; machines where nobody can tell.
    #[must_use]
    pub fn nodes(&self) -> Nodes {
        self.manifest().map(|flavor| flavor.nodes).unwrap_or_default()
    }

    /// Whose machines its flavor makes; `None` where it makes none.
    #[must_use]
    pub fn made_of(&self) -> Option<&str> {
        self.manifest()?.provider.as_deref()
    }

    /// Whose machines it is made of; `None` where an attached worker does not say.
    #[must_use]
    pub fn provider(&self) -> Option<&str> {
        self.made_of().or(self.spec.provider.as_deref())
    }

    /// The zones that its node pools name, sorted, each once.
    #[must_use]
    pub fn zones(&self) -> Vec<&str> {
        let pools = self.spec.node_pools.iter();
        let mut zones: Vec<_> = pools.flat_map(|pool| &pool.zones).map(String::as_str).collect();
        zones.sort_unstable();
        zones.dedup();
        zones
    }

    /// The values of a field.
    #[must_use]
    pub fn values(&self, field: WorkerField) -> Vec<&str> {
        match field {
            WorkerField::Location => vec![self.spec.location.as_str()],
            WorkerField::Provider => self.provider().into_iter().collect(),
            WorkerField::Zone => self.zones(),
        }
    }
}

/// A placement policy.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Its name.
    pub name: Name,
    /// The file it stands in; `None` for one that is built in.
    pub file: Option<String>,
    /// The document in that file, from 0.
    pub document: usize,
    /// What it says.
    pub spec: PlacementPolicySpec,
    /// Whether its rules are about the clusters of each tenant by themselves where they do not say whose.
    pub by_tenant: bool,
}

/// An override policy.
#[derive(Clone, Debug)]
pub struct Override {
    /// Its name.
    pub name: Name,
    /// The file it stands in.
    pub file: String,
    /// The document in that file, from 0.
    pub document: usize,
    /// The digest of what it does to objects that it gets: whom it selects apart.
    pub effect: Digest,
    /// What it says.
    pub spec: OverridePolicySpec,
}

impl Override {
    /// The policy of a document.
    #[must_use]
    pub fn new(name: Name, file: String, document: usize, spec: OverridePolicySpec) -> Self {
        let effect = Digest::of_value(&(&spec.objects, &spec.changes));
        Self { name, file, document, effect, spec }
    }

    /// Whether it is about the folder of a cluster, on whatever worker that is.
    #[must_use]
    pub fn selects_cluster(&self, name: &str, labels: &BTreeMap<String, String>) -> bool {
        self.spec.target == OverrideTarget::ManagedCluster
            && self.spec.cluster_selector.selects(name, labels)
    }

    /// Whether it is about what a worker itself is made of.
    #[must_use]
    pub fn selects_worker(&self, worker: &Worker) -> bool {
        let selector = &self.spec.worker_selector;
        self.spec.target == OverrideTarget::Worker
            && selector.selects(&worker.name, Some(&worker.labels)) == Some(true)
    }
}

/// An override policy, or what may be one, that did not load: what it may select is not rendered without it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrokenOverride {
    /// The file it stands in.
    pub file: String,
    /// Whose objects it changes; `None` where that could not be read, and may be either.
    pub target: Option<OverrideTarget>,
    /// Of which clusters; all where that could not be read.
    pub cluster_selector: ClusterSelector,
    /// On which workers; all where that could not be read.
    pub worker_selector: WorkerSelector,
}

/// A document, or a whole file, that did not load.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unloaded {
    /// The file.
    pub file: String,
    /// The document in it; `None` where the whole file did not load.
    pub document: Option<usize>,
    /// Its kind, where it could be read.
    pub kind: Option<String>,
    /// Its name, where it could be read.
    pub name: Option<String>,
    /// Whether it may be a policy or a class, without which nothing new is placed.
    pub blocks_placements: bool,
    /// The tenants in whose folder it stands. Nothing but a cluster of theirs loads from there, so it is
    /// taken for one (`kind`), whatever it says. Empty: it stands in no tenant's folder, and may be
    /// anybody's.
    pub tenants: Vec<String>,
}

impl Unloaded {
    /// Whether it stands in no tenant's folder: then it may be anything, and of anybody.
    #[must_use]
    pub fn is_anybodys(&self) -> bool {
        self.tenants.is_empty()
    }

    /// Whether it may be of a tenant.
    #[must_use]
    pub fn may_be_of(&self, tenant: &str) -> bool {
        self.is_anybodys() || self.tenants.iter().any(|own| own == tenant)
    }
}
