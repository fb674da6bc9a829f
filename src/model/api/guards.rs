//! `spec.guards` of a fleet: how much may happen before a person is asked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much may happen in one run before a person is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Guards {
    /// The most clusters whose deletion may start in one run, of each tenant with `paths` and of the platform.
    /// Default: the larger of 3 and 5 % of the placed clusters, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_deletions: Option<u32>,
    /// The most clusters that may change their worker in one run without a reason of their own.
    /// Default: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_moves: Option<u32>,
    /// The most objects with machines, storage or network behind them that one run may leave out of the
    /// folders of clusters, workers and layers, or scale to zero. Default: none, but for the pools that
    /// clusters' own documents take away, in as many clusters as may be deleted by default. It counts for each
    /// tenant with `paths` what its own documents ask for, and for the platform everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_removed_objects: Option<u32>,
    /// The most machines that one run may replace by others. Default: 10, and beside them those of clusters
    /// whose own documents ask for it: the larger of 10 clusters and 10 % of the placed ones, rounded up. It
    /// counts for each tenant with `paths` what its own documents ask for, and for the platform everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_replaced_machines: Option<u32>,
    /// Whether an Acknowledgement counts that came together with what it acknowledges. Default: no; a run
    /// must have held the set before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_commit: Option<bool>,
    /// How often in an hour and in a day a run may do what it may do at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<GuardWindow>,
}

/// What runs may do together: multiples of what one run may do. What somebody acknowledged does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct GuardWindow {
    /// How many times the numbers of one run, within an hour.
    #[schemars(range(min = 1, max = 1000))]
    pub hour: u32,
    /// How many times the numbers of one run, within a day.
    #[schemars(range(min = 1, max = 1000))]
    pub day: u32,
}

impl Default for GuardWindow {
    fn default() -> Self {
        Self { hour: 1, day: 3 }
    }
}
