//! The status of a fleet in other forms than tables: names, YAML, and one line that sums it up.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::status_view::{ClusterStatusRow, PoolStatusRow, StatusView, WorkerStatusRow};
use super::{count, len};
use crate::model::api::API_VERSION;
use crate::model::{Quantity, Resources};

/// `6 workers: 5 Running, 1 Unknown; 14 of 60 places taken` and `12 clusters: 11 Running, 1 Pending`; what
/// there is at most one of is not summed up.
#[must_use]
pub fn summary(view: &StatusView) -> Vec<String> {
    let mut lines = Vec::new();
    if view.workers.len() > 1 {
        let phases = phases(view.workers.iter().map(|w| w.status.phase.as_deref()));
        let sum = |of: fn(&WorkerStatusRow) -> &Resources| {
            let each = view.workers.iter().filter_map(|w| of(w).get("clusters"));
            each.fold(Quantity::units(0), |sum, amount| sum.plus(*amount))
        };
        let (taken, all) = (sum(|w| &w.status.allocated), sum(|w| &w.status.capacity));
        let workers = count(len(&view.workers), "worker");
        lines.push(format!("{workers}: {phases}; {taken} of {all} places taken"));
    }
    if view.clusters.len() > 1 {
        let phases = phases(view.clusters.iter().map(|c| c.status.phase.as_deref()));
        lines.push(format!("{}: {phases}", count(len(&view.clusters), "cluster")));
    }
    lines
}

/// How many are in each phase, the most frequent first.
fn phases<'a>(all: impl Iterator<Item = Option<&'a str>>) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for phase in all {
        *counts.entry(phase.unwrap_or("Unknown")).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(phase, number)| (std::cmp::Reverse(*number), *phase));
    let each: Vec<_> = counts.iter().map(|(phase, number)| format!("{number} {phase}")).collect();
    each.join(", ")
}

/// `worker/NAME`, `pool/NAME` and `cluster/NAME`, a line each: for other commands to read.
#[must_use]
pub fn names(view: &StatusView) -> String {
    let mut out = String::new();
    for (kind, name) in view
        .workers
        .iter()
        .map(|row| ("worker", &row.name))
        .chain(view.pools.iter().map(|row| ("pool", &row.name)))
        .chain(view.clusters.iter().map(|row| ("cluster", &row.name)))
    {
        let _ = writeln!(out, "{kind}/{name}");
    }
    out
}

/// Each object as a document, as a cluster's API server would give it: what is wanted, defaults filled in,
/// and what is known.
#[must_use]
pub fn yaml(view: &StatusView) -> String {
    let objects = view
        .workers
        .iter()
        .map(worker)
        .chain(view.pools.iter().map(pool))
        .chain(view.clusters.iter().map(cluster));
    let texts: Vec<String> =
        objects.map(|value| serde_saphyr::to_string(&value).unwrap_or_default()).collect();
    texts.join("---\n")
}

fn worker(row: &WorkerStatusRow) -> Value {
    let status = serde_json::to_value(&row.status).unwrap_or_default();
    object("Worker", metadata(row.name.as_str(), None, &row.labels), row.spec.as_ref(), status)
}

fn cluster(row: &ClusterStatusRow) -> Value {
    let status = serde_json::to_value(&row.status).unwrap_or_default();
    let metadata = metadata(row.name.as_str(), Some(&row.tenant), &row.labels);
    object("ManagedCluster", metadata, row.spec.as_ref(), status)
}

fn pool(row: &PoolStatusRow) -> Value {
    let status = json!({
        "workers": row.workers,
        "pending": row.pending,
        "overdue": row.overdue,
        "leaving": row.leaving,
    });
    let metadata = metadata(row.name.as_str(), None, &BTreeMap::new());
    object("WorkerPool", metadata, row.spec.as_ref(), status)
}

fn metadata(name: &str, tenant: Option<&str>, labels: &BTreeMap<String, String>) -> Value {
    let mut metadata = Map::from_iter([("name".to_owned(), json!(name))]);
    metadata.extend(tenant.map(|tenant| ("namespace".to_owned(), json!(tenant))));
    if !labels.is_empty() {
        metadata.insert("labels".to_owned(), json!(labels));
    }
    Value::Object(metadata)
}

fn object(kind: &str, metadata: Value, spec: Option<&Value>, status: Value) -> Value {
    let mut object = Map::from_iter([
        ("apiVersion".to_owned(), json!(API_VERSION)),
        ("kind".to_owned(), json!(kind)),
        ("metadata".to_owned(), metadata),
    ]);
    object.extend(spec.map(|spec| ("spec".to_owned(), spec.clone())));
    object.insert("status".to_owned(), status);
    Value::Object(object)
}
