//! How the placed clusters count for decisions about others, by worker: what a run reads of them that looks at a few.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CountedShare, Digest, Name, Resources};

/// What stands on the workers of a fleet in which nothing is on its way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingClusters {
    /// The digest of the rules by which the clusters were counted; `None` where no rule asks for any count.
    pub rules: Option<Digest>,
    /// By worker; every worker is there.
    pub workers: BTreeMap<Name, StandingWorker>,
}

/// The clusters of one worker, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingWorker {
    /// How many there are.
    pub clusters: u64,
    /// What they take together.
    pub allocated: Resources,
    /// Who is in which group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<StandingPart>,
    /// Who keeps away from which group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keepers: Vec<StandingPart>,
    /// What the clusters of each tenant take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tenants: Vec<CountedShare>,
}

/// Some clusters of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingPart {
    /// The place of the group or of the rule in the order of them all.
    pub rule: usize,
    /// The values of the labels by which the rule tells clusters apart.
    pub values: Vec<String>,
    /// The clusters, in the order of their names.
    pub clusters: Vec<Name>,
}
