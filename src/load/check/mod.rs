//! The rules on what a document means: one file each, with its code, its reason and its tests.
//!
//! A rule looks at one [`Subject`] in its [`CheckContext`] and adds what it finds. A document with an error
//! has no effect; what it has made before stays.

mod access;
mod acknowledgement;
mod address;
mod affinity;
mod apart;
mod ceiling;
mod class;
mod cloud;
mod components;
mod control_plane;
mod credentials;
mod data_store;
pub(super) mod duplicate;
pub(super) mod empty_safeguard;
mod failover;
mod flavor;
pub(super) mod fleet;
mod git;
mod grant;
mod heartbeat;
pub(super) mod identity_full;
mod images;
mod issuer_storage;
mod label_grant;
mod labels;
mod location;
mod made;
mod max_priority;
mod name;
mod network;
pub(super) mod no_domain;
mod node_identity;
mod node_label;
mod node_pool;
mod node_taint;
pub(super) mod not_for_tenants;
mod offered;
mod overlay;
mod override_kind;
pub(super) mod override_order;
mod override_own;
mod override_shape;
#[cfg(test)]
mod own_parameters;
mod parameters;
mod paths;
mod placeholder;
pub(super) mod pool;
mod provider;
mod quantity;
mod quota;
mod reserved;
pub(super) mod rule_count;
mod secrets;
mod selector;
mod taint_time;
pub(super) mod taken;
mod tenant;
pub(super) mod tie;
mod together;
mod version;
mod vm_size;
mod worker_pool;
mod worker_uid;
mod zones;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::body::Body;
use super::finding::Findings;
use super::kind::DocumentSpec;
use super::names::HeldNames;
use super::resolve;
use crate::diag::FieldPath;
use crate::model::api::{
    AZURE, FleetSpec, ManagedClusterClassSpec, ManagedClusterSpec, NodePool, PlacementTerm,
    PreferredTerm, Tenant, WorkerField,
};
use crate::model::{
    Catalogue, CredentialsNeeded, DEFAULT_CLUSTER_FLAVOR, DEFAULT_WORKER_FLAVOR, Flavor,
};

/// What a rule looks at.
pub(super) struct Subject<'a> {
    pub(super) body: &'a Body,
    /// A `ManagedCluster` with its defaults filled in.
    pub(super) cluster: Option<ManagedClusterSpec>,
    /// The terms on workers, with their places, for several rules read them.
    terms: NamedTerms<'a>,
}

/// What stands around it.
#[derive(Default)]
pub(super) struct CheckContext<'a> {
    /// `carp.yaml`; `None` where it did not load, and rules that need it say nothing.
    pub(super) fleet: Option<&'a FleetSpec>,
    /// The flavors that there are.
    pub(super) catalogue: Catalogue,
    /// The classes that loaded.
    pub(super) classes: BTreeMap<String, ManagedClusterClassSpec>,
    /// The names of all classes that are there, loaded or not.
    pub(super) class_names: BTreeSet<String>,
    /// The names of all Workers that are there, loaded or not.
    pub(super) worker_names: BTreeSet<String>,
    /// The workers that pools made, each with its pool.
    pub(super) made: BTreeMap<String, String>,
    /// The names that are held already.
    pub(super) held: HeldNames<'a>,
    /// The entries of credentials whose `nodeIdentity` is none, by their place; looked at once for all documents.
    pub(super) wrong_identities: OnceCell<BTreeSet<usize>>,
}

type Rule = fn(&Subject<'_>, &CheckContext<'_>, &mut Findings);

/// Every rule on one document, in the order in which their findings are found.
const RULES: &[Rule] = &[
    name::check,
    reserved::check,
    labels::check,
    label_grant::check,
    tenant::check,
    version::check,
    location::check,
    cloud::check,
    provider::check,
    class::check,
    flavor::check,
    credentials::check,
    grant::check,
    placeholder::check,
    node_identity::check,
    parameters::check,
    control_plane::check,
    node_pool::check,
    data_store::check,
    node_label::check,
    node_taint::check,
    zones::check,
    vm_size::check,
    network::check,
    access::check,
    quantity::check,
    ceiling::check,
    selector::check,
    affinity::check,
    together::check,
    rule_count::check,
    max_priority::check,
    paths::check,
    taint_time::check,
    failover::check,
    components::check,
    heartbeat::check,
    worker_uid::check,
    overlay::check,
    made::check,
    worker_pool::check,
    acknowledgement::check,
    override_shape::check,
    override_own::check,
    override_kind::check,
];

/// Runs every rule on a document.
pub(super) fn run(body: &Body, scene: &CheckContext<'_>, out: &mut Findings) {
    let cluster = scene.resolved(body);
    let subject = Subject { body, cluster, terms: terms(&body.spec) };
    for rule in RULES {
        rule(&subject, scene, out);
    }
}

impl CheckContext<'_> {
    /// The entry of the cluster's tenant, where `carp.yaml` has one.
    pub(super) fn tenant(&self, body: &Body) -> Option<&Tenant> {
        self.fleet?.tenants.iter().find(|t| t.name == body.tenant())
    }

    /// A `ManagedCluster` with its defaults filled in.
    pub(super) fn resolved(&self, body: &Body) -> Option<ManagedClusterSpec> {
        let DocumentSpec::ManagedCluster(own) = &body.spec else { return None };
        let mut spec = ManagedClusterSpec::clone(own);
        self.resolve(&mut spec, body.tenant());
        Some(spec)
    }

    /// Fills in the defaults of a `ManagedCluster` of a tenant.
    pub(super) fn resolve(&self, spec: &mut ManagedClusterSpec, tenant: &str) {
        let class = spec.class.as_ref().and_then(|c| self.classes.get(c));
        let tenant = self.fleet.and_then(|fleet| fleet.tenants.iter().find(|t| t.name == tenant));
        let none = FleetSpec::default();
        resolve::cluster(spec, class, tenant, self.fleet.unwrap_or(&none), &self.catalogue);
    }
}

impl Subject<'_> {
    /// The flavor of what has one.
    fn flavor(&self) -> Option<&str> {
        match &self.body.spec {
            DocumentSpec::ManagedCluster(_) => {
                let named = self.cluster.as_ref().and_then(|c| c.flavor.as_deref());
                Some(named.unwrap_or(DEFAULT_CLUSTER_FLAVOR))
            }
            DocumentSpec::ManagedClusterClass(c) => {
                Some(c.flavor.as_deref().unwrap_or(DEFAULT_CLUSTER_FLAVOR))
            }
            DocumentSpec::Worker(w) => Some(w.flavor.as_deref().unwrap_or(DEFAULT_WORKER_FLAVOR)),
            _ => None,
        }
    }

    /// The manifest of its flavor.
    fn manifest<'s>(&self, scene: &'s CheckContext<'_>) -> Option<&'s Flavor> {
        scene.catalogue.flavor(self.flavor()?)
    }

    /// The credentials that its flavor needs.
    fn needed<'s>(&self, scene: &'s CheckContext<'_>) -> Option<&'s CredentialsNeeded> {
        self.manifest(scene)?.credentials.as_ref()
    }

    /// Whether its flavor makes machines in Azure.
    fn is_in_azure(&self, scene: &CheckContext<'_>) -> bool {
        self.needed(scene).is_some_and(|needed| needed.of == AZURE)
    }

    /// The credentials of what has some. A cluster's own, its class's and its tenant's are resolved
    /// already.
    fn credentials<'s>(
        &'s self,
        scene: &CheckContext<'_>,
    ) -> Option<resolve::ChosenCredentials<'s>> {
        let named = match &self.body.spec {
            DocumentSpec::ManagedCluster(_) => self.cluster.as_ref()?.credentials.as_deref(),
            DocumentSpec::Worker(w) => w.credentials.as_deref(),
            _ => return None,
        };
        Some(resolve::credentials(named, None, scene.fleet?, self.needed(scene)))
    }

    /// Where a `ManagedCluster`'s or Worker's credentials are named.
    fn credentials_path(&self) -> FieldPath {
        let (own, class) = match &self.body.spec {
            DocumentSpec::ManagedCluster(c) => (c.credentials.is_some(), c.class.is_some()),
            DocumentSpec::Worker(w) => (w.credentials.is_some(), false),
            _ => (false, false),
        };
        match (own, class) {
            (false, true) => FieldPath::keys("spec.class"),
            _ => FieldPath::keys("spec.credentials"),
        }
    }

    /// The pools that the document itself has.
    fn node_pools(&self) -> impl Iterator<Item = (FieldPath, &NodePool)> {
        let pools: &[NodePool] = match &self.body.spec {
            DocumentSpec::ManagedCluster(c) => &c.node_pools,
            DocumentSpec::Worker(w) => &w.node_pools,
            DocumentSpec::ManagedClusterClass(c) => &c.node_pools,
            _ => &[],
        };
        let path = |i| FieldPath::keys("spec.nodePools").index(i);
        pools.iter().enumerate().map(move |(i, pool)| (path(i), pool))
    }
}

/// The terms on workers that a document has, with their places.
fn terms(spec: &DocumentSpec) -> NamedTerms<'_> {
    let mut all = Vec::new();
    match spec {
        DocumentSpec::ManagedCluster(c) => {
            if let Some(affinity) = c.placement.as_ref().and_then(|p| p.affinity.as_ref()) {
                let path = FieldPath::keys("spec.placement.affinity");
                required(&path, &affinity.required, &mut all);
                preferred(&path, &affinity.preferred, &mut all);
            }
        }
        DocumentSpec::PlacementPolicy(p) => {
            if let Some(affinity) = &p.affinity {
                let path = FieldPath::keys("spec.affinity");
                required(&path, &affinity.required, &mut all);
                preferred(&path, &affinity.preferred, &mut all);
                for (i, group) in affinity.groups.iter().enumerate() {
                    required(&path.key("groups").index(i), &group.required, &mut all);
                }
            }
        }
        _ => {}
    }
    all
}

type NamedTerms<'s> = Vec<(FieldPath, &'s PlacementTerm)>;

fn required<'s>(path: &FieldPath, terms: &'s [PlacementTerm], all: &mut NamedTerms<'s>) {
    let path = path.key("required");
    all.extend(terms.iter().enumerate().map(|(i, term)| (path.index(i), term)));
}

fn preferred<'s>(path: &FieldPath, terms: &'s [PreferredTerm], all: &mut NamedTerms<'s>) {
    let path = path.key("preferred");
    all.extend(terms.iter().enumerate().map(|(i, p)| (path.index(i).key("term"), &p.term)));
}

/// What the expressions of a term name of a field, with its places.
fn field_values<'s>(
    term: &'s PlacementTerm,
    path: &FieldPath,
    field: WorkerField,
) -> Vec<(FieldPath, &'s str)> {
    let mut all = Vec::new();
    let expressions = term.match_fields.iter().enumerate().filter(|(_, e)| e.key == field);
    for (i, expression) in expressions {
        let path = path.key("matchFields").index(i).key("values");
        let values = expression.values.iter().enumerate();
        all.extend(values.map(|(j, value)| (path.index(j), value.as_str())));
    }
    all
}
