//! The status of a fleet, as the status branch has it after the run that would be made now.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;

use super::super::show::{ClusterStatusRow, PoolStatusRow, StatusView, WorkerStatusRow};
use super::super::{Error, ObjectKind, Selector, Target};
use super::open::{FleetLook, text_at};
use super::unknown::unknown;
use crate::diag::suggest;
use crate::load::read_yaml;
use crate::model::{Cluster, IndexRow, Name, Pending, Proposal, paths};
use crate::pipeline::Sought;
use crate::status::{ClusterDocument, WorkerDocument};

/// What of a fleet is asked for.
pub struct Query {
    /// Everything, a kind, or one object.
    pub target: Target,
    /// Only what has these labels.
    pub labels: Selector,
    /// Only the clusters of this tenant.
    pub tenant: Option<String>,
    /// Only this worker and its clusters.
    pub worker: Option<Name>,
    /// Only what is in one of these phases; none: in any.
    pub phases: Vec<String>,
    /// Whether the rows have their spec.
    pub specs: bool,
}

/// Workers, pools and clusters as far as they are asked for.
pub(super) fn status(look: &FleetLook, query: &Query) -> Result<StatusView, Error> {
    known(look, query)?;
    let plan = &look.opened.proposal.plan;
    let workers = plan.workers.keys().filter(|name| query.names(ObjectKind::Worker, name));
    let clusters = plan.clusters.keys().filter(|name| query.names(ObjectKind::Cluster, name));
    let workers = workers.filter_map(|name| worker(look, name, query.specs));
    let rows = look.opened.proposal.previous.index_rows();
    let clusters = clusters.filter_map(|name| cluster(look, (name, &rows), query.specs));
    let pools = pools(&look.opened.proposal, query.specs).into_iter();
    let view = StatusView {
        now: look.now,
        warnings: look.opened.source.notes.clone(),
        workers: workers.filter(|row| query.wants_worker(row)).collect(),
        pools: pools.filter(|row| query.wants_pool(row)).collect(),
        clusters: clusters.filter(|row| query.wants_cluster(row)).collect(),
    };
    match &query.target {
        Target::Object(object) if view.is_empty() && !query.filters() => {
            Err(unknown(&look.opened.proposal, object.kind, &object.name))
        }
        _ => Ok(view),
    }
}

/// Refuses what can have no answer.
fn known(look: &FleetLook, query: &Query) -> Result<(), Error> {
    let proposal = &look.opened.proposal;
    let policies = |name: &str| {
        Err(Error::usage("a policy has no status")
            .help(format!("`carp explain policy/{name}` says where it applies")))
    };
    match &query.target {
        Target::Kind(ObjectKind::Policy) => policies("NAME")?,
        Target::Object(object) if object.kind == Some(ObjectKind::Policy) => {
            policies(&object.name)?;
        }
        _ => {}
    }
    if let Some(name) =
        query.worker.as_ref().filter(|name| !proposal.plan.workers.contains_key(*name))
    {
        return Err(unknown(&look.opened.proposal, Some(ObjectKind::Worker), name));
    }
    let Some(tenant) = &query.tenant else { return Ok(()) };
    let listed = proposal.fleet.spec.tenants.iter().map(|tenant| tenant.name.as_str());
    let of_clusters = proposal.fleet.clusters.values().map(|cluster| cluster.tenant.as_str());
    let tenants: BTreeSet<&str> = listed.chain(of_clusters).collect();
    if tenants.contains(tenant.as_str()) {
        return Ok(());
    }
    let help = suggest::help(tenant, tenants.iter().copied(), "tenants");
    Err(Error::failed(format!("there is no tenant `{tenant}` in this fleet")).help(help))
}

impl Query {
    /// What is asked for where the locks and the documents of the status branch say it: no spec of all clusters, and whether
    /// there is such a tenant is a matter of all documents.
    pub(super) fn sought(&self) -> Option<Sought> {
        let Target::Object(object) = &self.target else {
            return (!self.specs && self.tenant.is_none()).then_some(Sought::Statuses);
        };
        let is_cluster = object.kind.is_none_or(|kind| kind == ObjectKind::Cluster);
        (is_cluster && !self.filters()).then(|| Sought::Cluster(object.name.clone()))
    }

    /// Whether what has a name may be left out for what it is.
    fn filters(&self) -> bool {
        !self.labels.is_empty()
            || self.tenant.is_some()
            || self.worker.is_some()
            || !self.phases.is_empty()
    }

    fn names(&self, kind: ObjectKind, name: &Name) -> bool {
        match &self.target {
            Target::All => true,
            Target::Kind(wanted) => *wanted == kind,
            Target::Object(object) => {
                object.name == *name && object.kind.is_none_or(|wanted| wanted == kind)
            }
        }
    }

    fn wants_phase(&self, phase: Option<&str>) -> bool {
        let phase = phase.unwrap_or("Unknown");
        self.phases.is_empty() || self.phases.iter().any(|wanted| wanted == phase)
    }

    fn wants_worker(&self, row: &WorkerStatusRow) -> bool {
        self.tenant.is_none()
            && self.worker.as_ref().is_none_or(|worker| *worker == row.name)
            && self.labels.selects(&row.labels)
            && self.wants_phase(row.status.phase.as_deref())
    }

    fn wants_cluster(&self, row: &ClusterStatusRow) -> bool {
        let worker = self.worker.as_ref().map(Name::as_str);
        self.tenant.as_ref().is_none_or(|tenant| *tenant == row.tenant)
            && worker.is_none_or(|worker| row.status.assigned_worker.as_deref() == Some(worker))
            && self.labels.selects(&row.labels)
            && self.wants_phase(row.status.phase.as_deref())
    }

    /// A pool has no labels and no phase.
    fn wants_pool(&self, row: &PoolStatusRow) -> bool {
        !self.filters() && self.names(ObjectKind::Pool, &row.name)
    }
}

fn worker(look: &FleetLook, name: &Name, specs: bool) -> Option<WorkerStatusRow> {
    let document: WorkerDocument = document(look, &format!("workers/{name}.yaml"))?;
    let desired = look.opened.proposal.fleet.workers.get(name);
    Some(WorkerStatusRow {
        name: name.clone(),
        location: desired.map(|w| w.spec.location.clone()).unwrap_or_default(),
        version: desired.map(|w| w.spec.version.clone()).unwrap_or_default(),
        unschedulable: desired.is_some_and(|w| w.spec.unschedulable),
        flavor: desired.map(|w| w.flavor().to_owned()).unwrap_or_default(),
        labels: desired.map(|w| (*w.labels).clone()).unwrap_or_default(),
        spec: desired.filter(|_| specs).and_then(|w| serde_json::to_value(&w.spec).ok()),
        status: document.status,
    })
}

fn pools(proposal: &Proposal, specs: bool) -> Vec<PoolStatusRow> {
    let (fleet, plan) = (&proposal.fleet, &proposal.plan);
    let row = |name: &Name| {
        let spec = fleet.pools.get(name).map(|pool| &pool.spec);
        let made = plan.pools.get(name).into_iter().flat_map(|pool| &pool.lock.workers);
        let of = |state: Pending| {
            let plans = made.clone().filter_map(|(worker, _)| plan.workers.get(worker));
            plans.filter(|plan| plan.pending == Some(state)).count()
        };
        let (leaving, there): (Vec<_>, Vec<_>) = made.clone().partition(|(_, row)| row.leaving);
        let overdue = of(Pending::Overdue);
        PoolStatusRow {
            name: name.clone(),
            spec: spec.filter(|_| specs).and_then(|spec| serde_json::to_value(spec).ok()),
            workers: there.len(),
            min: spec.map(|spec| spec.min),
            max: spec.map(|spec| spec.max),
            pending: of(Pending::Awaited) + overdue,
            overdue,
            leaving: leaving.len(),
        }
    };
    let names: BTreeSet<&Name> = fleet.pools.keys().chain(plan.pools.keys()).collect();
    names.into_iter().map(row).collect()
}

fn cluster(
    look: &FleetLook,
    (name, rows): (&Name, &BTreeMap<&Name, &IndexRow>),
    specs: bool,
) -> Option<ClusterStatusRow> {
    let path = format!("clusters/{}/{name}.yaml", paths::shard(name));
    let document: ClusterDocument = document(look, &path)?;
    let proposal = &look.opened.proposal;
    let desired = proposal.fleet.clusters.get(name);
    let of_document = desired.map(Cluster::index_row);
    let facts = of_document.or_else(|| rows.get(name).map(|row| (*row).clone()))?;
    Some(ClusterStatusRow {
        name: name.clone(),
        tenant: facts.tenant,
        version: facts.version,
        location: facts.location,
        class: facts.class,
        labels: facts.labels,
        spec: desired.filter(|_| specs).and_then(|c| serde_json::to_value(&c.spec).ok()),
        status: document.status,
    })
}

fn document<T: DeserializeOwned>(look: &FleetLook, path: &str) -> Option<T> {
    let path = paths::in_repository(&look.opened.source.prefix, path);
    let tree = look.opened.proposal.status_tree;
    let text = look.sources.with(|store| text_at(store, tree, &path)).ok().flatten()?;
    read_yaml(text.as_bytes()).ok()
}
