//! What a PlacementPolicy says of workers beyond plain terms: ordered groups, the strategy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::term::{PlacementTerm, PreferredTerm};

/// Terms of a policy on workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyAffinity {
    /// Terms that a worker must all meet, in whatever group it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<PlacementTerm>,
    /// Terms that a worker had better meet; the weights of those it meets are added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preferred: Vec<PreferredTerm>,
    /// Groups of workers, tried in this order, each alone: a worker of a later group takes a cluster only
    /// where none of the earlier ones can. None means that all workers are one group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<AffinityGroup>,
    /// Where a cluster that is placed anew begins. Default: `Never`.
    #[serde(default, skip_serializing_if = "Failback::is_default")]
    pub failback: Failback,
}

/// One group of workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AffinityGroup {
    /// The group's name, by which records remember it.
    pub name: String,
    /// Terms that a worker of the group must all meet. Without any, every worker is in the group; only
    /// the last group may be such.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<PlacementTerm>,
}

/// Where a cluster that was placed in a group, and is placed anew for a cause of its own, begins. None of
/// them moves a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Failback {
    /// With the group that it was in: the earlier ones are past.
    #[default]
    Never,
    /// With the first group.
    OnMove,
}

impl Failback {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What the share of a worker's capacity that is used means for the next cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Strategy {
    /// The worker that is used less is better: clusters are spread.
    #[default]
    Spread,
    /// The worker that is used more is better: workers are filled one after the other.
    BinPack,
}

impl Strategy {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
