//! Locks of fleets that nobody rendered: the small fleet of a policy test, and those that are measured.

use std::collections::BTreeMap;

use super::{Cluster, ClusterRow, ClusterState, Digest, Id, Name, WORKER_LOCK_SCHEMA, WorkerLock};

impl WorkerLock {
    /// The lock of a worker without any cluster or file.
    #[must_use]
    pub fn imagined(worker: &Name) -> Self {
        Self {
            schema_version: WORKER_LOCK_SCHEMA,
            worker: worker.clone(),
            facts: Digest::of(b""),
            render_key: Digest::of(b""),
            clusters: BTreeMap::new(),
            files: BTreeMap::new(),
        }
    }
}

impl ClusterRow {
    /// The row of a cluster as if an earlier run had placed it just as its document is.
    #[must_use]
    pub fn imagined(cluster: &Cluster) -> Self {
        Self {
            state: ClusterState::Bound,
            deletion: None,
            moves: None,
            suspended: false,
            facts: cluster.facts,
            render_key: Digest::of(b""),
            folder: Some(Id::EMPTY_DIR),
            files: BTreeMap::new(),
            record: None,
            versions: None,
            group: None,
            data_store: None,
            demand: cluster.demand.clone(),
            row: cluster.index_row(),
        }
    }
}
