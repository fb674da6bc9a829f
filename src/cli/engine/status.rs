//! The status of a fleet, as the status branch has it after the run that would be made now.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use super::super::show::{ClusterStatusRow, PoolStatusRow, StatusView, WorkerStatusRow};
use super::super::{Error, ObjectKind, ObjectRef};
use super::open::{Look, text_at};
use super::unknown::unknown;
use crate::load::read_yaml;
use crate::model::{Name, Pending, Proposal, paths};
use crate::status::{ClusterDocument, WorkerDocument};

/// All workers and clusters, or the one that is asked for.
pub(super) fn status(look: &Look, object: Option<&ObjectRef>) -> Result<StatusView, Error> {
    let plan = &look.opened.proposal.plan;
    let wanted = |kind: ObjectKind, name: &Name| {
        object.is_none_or(|o| o.name == *name && o.kind.is_none_or(|k| k == kind))
    };
    let workers = plan.workers.keys().filter(|name| wanted(ObjectKind::Worker, name));
    let clusters = plan.clusters.keys().filter(|name| wanted(ObjectKind::Cluster, name));
    let view = StatusView {
        now: look.now,
        warnings: look.opened.source.notes.clone(),
        workers: workers.filter_map(|name| worker(look, name)).collect(),
        pools: if object.is_none() { pools(&look.opened.proposal) } else { Vec::new() },
        clusters: clusters.filter_map(|name| cluster(look, name)).collect(),
    };
    match object {
        Some(object) if object.kind == Some(ObjectKind::Policy) => {
            Err(Error::usage("a policy has no status")
                .help(format!("`carp explain policy/{}` says where it applies", object.name)))
        }
        Some(object) if view.workers.is_empty() && view.clusters.is_empty() => {
            Err(unknown(look, object.kind, &object.name))
        }
        _ => Ok(view),
    }
}

fn worker(look: &Look, name: &Name) -> Option<WorkerStatusRow> {
    let document: WorkerDocument = document(look, &format!("workers/{name}.yaml"))?;
    let desired = look.opened.proposal.fleet.workers.get(name);
    Some(WorkerStatusRow {
        name: name.clone(),
        location: desired.map(|w| w.spec.location.clone()).unwrap_or_default(),
        version: desired.map(|w| w.spec.version.clone()).unwrap_or_default(),
        unschedulable: desired.is_some_and(|w| w.spec.unschedulable),
        status: document.status,
    })
}

fn pools(proposal: &Proposal) -> Vec<PoolStatusRow> {
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

fn cluster(look: &Look, name: &Name) -> Option<ClusterStatusRow> {
    let path = format!("clusters/{}/{name}.yaml", paths::shard(name));
    let document: ClusterDocument = document(look, &path)?;
    let proposal = &look.opened.proposal;
    let (tenant, version) = match proposal.fleet.clusters.get(name) {
        Some(cluster) => (cluster.tenant.clone(), cluster.spec.version.clone()),
        None => proposal.previous.index_row(name).map(|r| (r.tenant.clone(), r.version.clone()))?,
    };
    Some(ClusterStatusRow { name: name.clone(), tenant, version, status: document.status })
}

fn document<T: DeserializeOwned>(look: &Look, path: &str) -> Option<T> {
    let path = paths::in_repository(&look.opened.source.prefix, path);
    let tree = look.opened.proposal.status_tree;
    let text = look.sources.with(|store| text_at(store, tree, &path)).ok().flatten()?;
    read_yaml(text.as_bytes()).ok()
}
