//! How the clusters of each worker's lock count for the rules of spread, anti-affinity and quota: what the
//! memo keeps of that, so that a run counts only the workers that something happened to.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Digest, Id, Resources};

/// The counts of locks, by the rules of one fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// The digest of the rules; the counts are of no use for any others.
    pub asked: Option<Digest>,
    /// By the id of the lock's blob.
    pub locks: BTreeMap<Id, Arc<CountedLock>>,
}

/// The counts of one lock: a function of its rows and of the rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedLock {
    /// Who is in which group.
    pub groups: Vec<CountedPart>,
    /// Who keeps away from which group.
    pub keepers: Vec<CountedPart>,
    /// What the clusters of each tenant take.
    pub tenants: Vec<CountedShare>,
}

/// Some clusters of a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedPart {
    /// The place of the group or of the rule in the order of them all.
    pub rule: usize,
    /// The values of the labels by which the rule tells clusters apart.
    pub values: Vec<String>,
    /// The places of the clusters in the lock.
    pub rows: Vec<usize>,
}

/// What the clusters of one tenant take in one location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedShare {
    /// The tenant.
    pub tenant: String,
    /// Where the clusters' nodes are.
    pub location: String,
    /// What they take together.
    pub takes: Resources,
}
