//! The data stores of workers: which one a placed cluster is in, and that none goes in which clusters are.

use std::collections::BTreeMap;

use super::run::Run;
use crate::diag::{Code, Diagnostic, FieldPath, Place};
use crate::model::{Cluster, DEFAULT_DATA_STORE, Name, Worker, WorkerLock, data_store_of};

/// How many clusters a finding names.
const NAMED: usize = 5;

impl Run<'_> {
    /// Whether a cluster's own document takes it to another data store than its folder names.
    pub(super) fn changes_store(self, cluster: &Cluster, worker: &Name) -> bool {
        let document = self.read.loaded.fleet.workers.get(worker);
        let before = self.cluster_jobs().data_store_before(cluster, worker);
        before.is_some() && data_store_of(cluster, document, before) != before
    }

    /// What the row of a cluster says of its data store.
    pub(super) fn data_store(self, cluster: &Cluster, worker: &Name) -> Option<String> {
        let document = self.read.loaded.fleet.workers.get(worker);
        let store = data_store_of(
            cluster,
            document,
            self.cluster_jobs().data_store_before(cluster, worker),
        )?;
        (store != DEFAULT_DATA_STORE).then(|| store.to_owned())
    }
}

/// The data stores that a worker's document has no more, and that clusters are in.
pub(super) fn missing(worker: &Worker, lock: &WorkerLock) -> Vec<Diagnostic> {
    let mut used = BTreeMap::<&str, Vec<&Name>>::new();
    for (name, row) in &lock.clusters {
        let store = row.data_store.as_deref();
        let gone = store.filter(|store| worker.data_stores().all(|own| own != *store));
        if let Some(store) = gone {
            used.entry(store).or_default().push(name);
        }
    }
    used.into_iter().map(|(store, clusters)| in_use(worker, store, &clusters)).collect()
}

fn in_use(worker: &Worker, store: &str, clusters: &[&Name]) -> Diagnostic {
    let names: Vec<_> = clusters.iter().take(NAMED).map(|name| name.as_str()).collect();
    let more = match clusters.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!(
        "the data store `{store}` of {} may not go: the state of {}{more} is in it",
        worker.name,
        names.join(", ")
    );
    let help = "put it back; it can go when its clusters are gone or in another store (`dataStore.migrate`)";
    Diagnostic::new(Code::InvalidDataStore, message)
        .at(Place::field(&worker.file, worker.document, FieldPath::keys("spec")))
        .help(help)
}
