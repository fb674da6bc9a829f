//! The documents that a remedy may change: copies, to be edited and put into a fleet that is planned.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::model::api::{ClusterSelector, PlacementPolicySpec, Tenant};
use crate::model::{
    Cluster, FOLDED_SCHEMA, Fleet, FoldedReport, Freshness, Name, Observed, Policy, Worker,
};

/// All that a change can be about: one cluster, what applies to it, and one worker.
#[derive(Clone, Debug)]
pub(super) struct EditedDocuments {
    pub(super) cluster: Cluster,
    /// The policy that applies to the cluster; `None` where none does.
    pub(super) policy: Option<Policy>,
    /// What `carp.yaml` says of the cluster's tenant; `None` where it does not list it.
    pub(super) tenant: Option<Tenant>,
    pub(super) worker: Worker,
    /// A name that no policy has.
    free: Name,
    /// Whether the worker's next report says that it is well.
    pub(super) well: bool,
}

impl EditedDocuments {
    /// As the fleet has them.
    pub(super) fn of(
        fleet: &Fleet,
        cluster: &Cluster,
        policy: Option<&Policy>,
        worker: &Worker,
    ) -> Self {
        Self {
            cluster: cluster.clone(),
            policy: policy.cloned(),
            tenant: fleet.tenant(&cluster.tenant).cloned(),
            worker: worker.clone(),
            free: free_name(fleet, &cluster.name),
            well: false,
        }
    }

    /// A policy to which more can be added. What carp brings along is nobody's to edit: a policy of the
    /// fleet's own for this cluster alone says the same.
    pub(super) fn own_policy(&mut self) -> &mut PlacementPolicySpec {
        let built_in = self.policy.as_ref().is_none_or(|policy| policy.file.is_none());
        if built_in {
            let by_tenant = self.policy.as_ref().is_some_and(|policy| policy.by_tenant);
            let spec = self.policy.take().map(|policy| policy.spec).unwrap_or_default();
            let names = vec![self.cluster.name.to_string()];
            let cluster_selector = ClusterSelector { names, ..ClusterSelector::default() };
            self.policy = Some(Policy {
                name: self.free.clone(),
                file: Some(String::new()),
                document: 0,
                spec: PlacementPolicySpec { cluster_selector, priority: 0, ..spec },
                by_tenant,
            });
        }
        &mut self.policy.get_or_insert_with(|| unreachable!("it was made above")).spec
    }

    /// What `carp.yaml` says of the tenant, where it says nothing yet: that it may use no pool.
    pub(super) fn listed_tenant(&mut self) -> &mut Tenant {
        let name = &self.cluster.tenant;
        self.tenant.get_or_insert_with(|| Tenant {
            name: name.clone(),
            pools: Some(Vec::new()),
            ..Tenant::default()
        })
    }

    /// Puts them into a fleet in the place of its own.
    pub(super) fn put(&self, fleet: &mut Fleet) {
        fleet.clusters.insert(self.cluster.name.clone(), self.cluster.clone());
        fleet.workers.insert(self.worker.name.clone(), self.worker.clone());
        if let Some(policy) = &self.policy {
            fleet.policies.insert(policy.name.clone(), policy.clone());
        }
        if let Some(tenant) = &self.tenant {
            let tenants = &mut fleet.spec.tenants;
            match tenants.iter_mut().find(|there| there.name == tenant.name) {
                Some(there) => there.clone_from(tenant),
                None => tenants.push(tenant.clone()),
            }
        }
    }

    /// Puts those of another fleet back.
    pub(super) fn put_back(&self, fleet: &mut Fleet, from: &Fleet) {
        let (cluster, worker) = (&self.cluster.name, &self.worker.name);
        back(&mut fleet.clusters, &from.clusters, cluster);
        back(&mut fleet.workers, &from.workers, worker);
        if let Some(policy) = &self.policy {
            back(&mut fleet.policies, &from.policies, &policy.name);
        }
        fleet.spec.tenants.clone_from(&from.spec.tenants);
    }
}

/// The cluster's own name, or else the first of some.
fn free_name(fleet: &Fleet, cluster: &Name) -> Name {
    let others = (1..).filter_map(|number: u32| Name::parse(&format!("own-policy-{number}")).ok());
    let free = std::iter::once(cluster.clone()).chain(others);
    let mut free = free.filter(|name| !fleet.policies.contains_key(name));
    free.next().unwrap_or_else(|| cluster.clone())
}

fn back<T: Clone>(to: &mut BTreeMap<Name, T>, from: &BTreeMap<Name, T>, name: &Name) {
    match from.get(name) {
        Some(was) => drop(to.insert(name.clone(), was.clone())),
        None => drop(to.remove(name)),
    }
}

/// The last report of a worker, as it would be if the worker were well and nothing else were changed.
pub(super) fn well(observed: &Observed, worker: &Name) -> FoldedReport {
    match observed.workers.get(worker) {
        Some(report) => {
            FoldedReport { freshness: Freshness::Fresh, healthy: true, ..report.clone() }
        }
        None => FoldedReport {
            schema_version: FOLDED_SCHEMA,
            worker: worker.clone(),
            worker_uid: String::new(),
            freshness: Freshness::Fresh,
            freshness_since: Timestamp::UNIX_EPOCH,
            healthy: true,
            healthy_since: Timestamp::UNIX_EPOCH,
            reason: None,
            message: None,
            complete: true,
            applied_revision: None,
            applied_digest: None,
            components: BTreeMap::new(),
            ahead: None,
            foreign_namespaces: BTreeSet::new(),
            clusters: BTreeMap::new(),
        },
    }
}
