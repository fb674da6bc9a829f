//! What `carp status` shows: workers, pools and clusters as they are known to be.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::model::api::{ManagedClusterStatus, WorkerStatus};
use crate::model::{Name, SharedMap};

/// The version of the JSON form.
pub(super) const STATUS_SCHEMA: u32 = 1;

/// The status of a fleet, or of one object of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusView {
    /// The time that ages are counted to.
    pub now: Timestamp,
    /// What people should know before they read it.
    pub warnings: Vec<String>,
    /// The workers, by name.
    pub workers: Vec<WorkerStatusRow>,
    /// The pools, by name.
    pub pools: Vec<PoolStatusRow>,
    /// The clusters, by name.
    pub clusters: Vec<ClusterStatusRow>,
}

impl StatusView {
    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.workers.is_empty() && self.pools.is_empty() && self.clusters.is_empty()
    }

    /// Whether another one says the same, the time apart.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        (&self.workers, &self.pools, &self.clusters)
            == (&other.workers, &other.pools, &other.clusters)
    }
}

/// One pool of workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolStatusRow {
    /// Its name.
    pub name: Name,
    /// Its spec as it is used; absent unless it was asked for, and for what is not desired any more.
    #[serde(skip)]
    pub spec: Option<Value>,
    /// Its workers, those that are on their way out left out.
    pub workers: usize,
    /// The fewest that it has; absent for a pool that is not desired any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<u32>,
    /// The most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// How many of the workers are being made.
    pub pending: usize,
    /// How many of these are late.
    pub overdue: usize,
    /// How many are on their way out.
    pub leaving: usize,
}

/// One worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkerStatusRow {
    /// Its name.
    pub name: Name,
    /// Where it is.
    pub location: String,
    /// Its desired version.
    pub version: String,
    /// Whether it is cordoned.
    pub unschedulable: bool,
    /// Its flavor.
    pub flavor: String,
    /// Its labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Its spec as it is used, defaults filled in; absent unless it was asked for, and for what is not
    /// desired any more.
    #[serde(skip)]
    pub spec: Option<Value>,
    /// What is known of it.
    pub status: WorkerStatus,
}

/// One cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatusRow {
    /// Its name.
    pub name: Name,
    /// Its tenant.
    pub tenant: String,
    /// Its desired version.
    pub version: String,
    /// Where its nodes are.
    pub location: String,
    /// Its class; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Its labels.
    #[serde(skip_serializing_if = "SharedMap::is_empty")]
    pub labels: SharedMap<String>,
    /// Its spec as it is used, defaults filled in; absent unless it was asked for, and for what is not
    /// desired any more.
    #[serde(skip)]
    pub spec: Option<Value>,
    /// What is known of it.
    pub status: ManagedClusterStatus,
}
