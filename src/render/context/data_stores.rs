//! What the templates of the layers get of a Worker's data stores.

use serde_json::{Value, json};

use crate::model::api::DataStore;
use crate::model::{SYSTEM_POOL, Worker};

/// The stores of which the Worker says something, sorted by name.
pub(in crate::render) fn data_stores(worker: &Worker) -> Vec<Value> {
    // Members run where nothing is tolerated, which is on the system pool.
    let system = worker.spec.node_pools.iter().find(|pool| pool.name == SYSTEM_POOL);
    let zones = system.is_some_and(|pool| pool.zones.len() > 1);
    let mut listed: Vec<&DataStore> = worker.spec.data_stores.iter().collect();
    listed.sort_by_key(|store| &store.name);
    listed.into_iter().map(|store| shown(worker, store, zones)).collect()
}

fn shown(worker: &Worker, store: &DataStore, zones: bool) -> Value {
    let snapshots = store.snapshots.as_ref().map(|snapshots| {
        let folder = format!("{}/{}/{}", snapshots.to, worker.name, store.name);
        json!({"schedule": snapshots.schedule, "to": folder, "secretRef": snapshots.secret_ref})
    });
    json!({
        "name": store.name,
        "labels": store.labels,
        "size": store.disk(),
        // A number of that size would become another one on its way through Helm.
        "quota": store.quota().to_string(),
        "zones": zones,
        "snapshots": snapshots,
    })
}
