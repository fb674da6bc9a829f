//! Data stores of a worker: where the state of hosted control planes is.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Quantity;

/// An etcd of three members on a worker, in which hosted control planes keep their state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DataStore {
    /// Its name on the worker: lower-case letters, digits and `-`, at most 20. `default` is the one that every
    /// worker has.
    pub name: String,
    /// Its labels, by which clusters choose it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The disk of each member. It stays as it is once the store is there. etcd takes writes until four fifths of
    /// it are used, and never more than `8Gi`. Default: `8Gi`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Quantity>,
    /// Snapshots of it that are kept elsewhere. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshots: Option<DataStoreSnapshots>,
}

/// Snapshots of a data store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DataStoreSnapshots {
    /// When one is taken, in UTC, as the five fields of cron: `0 */6 * * *`.
    pub schedule: String,
    /// Where they go: a remote of rclone's, and a path in it, such as `backup:bucket/etcd`. carp adds the worker,
    /// the store and the time.
    pub to: String,
    /// The Secret on the worker that has rclone's configuration in its key `rclone.conf`, the remote among it.
    pub secret_ref: String,
}

/// Which data store of its worker a hosted cluster is in: the one of that name, or one that has all of the labels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DataStoreChoice {
    /// The name of the store; not together with `matchLabels`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Labels that the store has, all of them. Of several such stores the clusters are in one as often as in another.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub match_labels: BTreeMap<String, String>,
    /// Whether a cluster that is in another store goes to the one called `name`: its state is copied, and until that
    /// is done its API server takes no writes. Default: it stays where it is, and what is said here counts when it is
    /// placed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub migrate: bool,
}

/// What is known of a data store of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataStoreStatus {
    /// Its name.
    pub name: String,
    /// How many clusters are in it.
    pub clusters: u64,
    /// How many bytes it takes before it takes no more writes; absent for one that its Worker has no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<Quantity>,
}
