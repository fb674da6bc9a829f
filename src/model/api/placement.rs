//! `PlacementPolicy`: which workers take which clusters.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::duration_seconds;
use super::affinity::{PolicyAffinity, Strategy};
use super::selector::ClusterSelector;
use super::shared::TaintEffect;
use super::together::{AntiAffinity, SpreadConstraint};

/// Which workers take the clusters that it selects.
#[derive(
    CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "carp.dev",
    version = "v1alpha1",
    kind = "PlacementPolicy",
    doc = "Which workers take the clusters that it selects.",
    namespaced,
    shortname = "pp",
    category = "carp",
    printcolumn = r#"{"name":"Priority","type":"integer","jsonPath":".spec.priority"}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlacementPolicySpec {
    /// Which clusters; the empty selector selects all. One policy applies to a cluster: the one with
    /// the highest `priority`, then the most specific selector (names, then labels, then none of
    /// either), then the smaller name. A policy that is built into carp comes after all of them.
    #[serde(default, skip_serializing_if = "ClusterSelector::is_empty")]
    pub cluster_selector: ClusterSelector,
    /// Which policy applies where several select one cluster.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub priority: i32,
    /// Which workers the clusters of this policy may be on, and which they prefer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affinity: Option<PolicyAffinity>,
    /// The pools of workers that the selected clusters use; none named means all. What a tenant is
    /// granted bounds it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<String>,
    /// Whether the selected clusters are spread over the workers that are otherwise alike, or packed.
    /// Default: `Spread`.
    #[serde(default, skip_serializing_if = "Strategy::is_default")]
    pub strategy: Strategy,
    /// Which taints the selected clusters tolerate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    /// How evenly the selected clusters are spread over domains of workers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spread: Vec<SpreadConstraint>,
    /// Which other clusters the selected ones keep away from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anti_affinity: Vec<AntiAffinity>,
    /// What becomes of a placed cluster that this policy would not place there now.
    #[serde(default, skip_serializing_if = "OnViolation::is_default")]
    pub on_violation: OnViolation,
    /// When the selected clusters leave a worker that is lost. Unset: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failover: Option<Failover>,
}

/// What becomes of a placed cluster that its policy would not place there now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum OnViolation {
    /// It stays, and its status says so.
    #[default]
    Keep,
    /// It moves where it may move (`onWorkerLoss: Rebuild`) and `guards.maxMoves` allows it.
    Move,
}

impl OnViolation {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// When clusters leave a worker that is lost: only those with `onWorkerLoss: Rebuild` do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failover {
    /// For how long a worker must have been silent or unhealthy, such as `30m`.
    #[schemars(regex(pattern = r"^([0-9]+h)?([0-9]+m)?([0-9]+s)?$"))]
    pub grace: String,
    /// How many of the selected clusters may be on the move for this at a time. Default: 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub rate: Option<u32>,
}

impl Failover {
    /// `grace` in seconds; never, where it is no duration.
    #[must_use]
    pub fn grace_seconds(&self) -> i64 {
        duration_seconds(&self.grace).unwrap_or(i64::MAX)
    }

    /// How many may be on the move at a time.
    #[must_use]
    pub fn rate(&self) -> usize {
        self.rate.map_or(5, |rate| usize::try_from(rate).unwrap_or(usize::MAX))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn is_zero(number: &i32) -> bool {
    *number == 0
}

/// A taint that is put up with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Toleration {
    /// The taint's key; empty with `Exists` means every key.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// How the value of the taint is compared. Default: `Equal`.
    #[serde(default, skip_serializing_if = "TolerationOperator::is_default")]
    pub operator: TolerationOperator,
    /// The taint's value, for `Equal`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// The taint's effect; unset means every effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<TaintEffect>,
    /// For how many seconds after the taint's `timeAdded` what is there may stay; for `NoExecute` only.
    /// Nothing new is placed on the strength of such a toleration.
    #[serde(rename = "tolerationSeconds", default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 31_536_000))]
    pub toleration_seconds: Option<i64>,
}

/// How a [`Toleration`] compares values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TolerationOperator {
    /// The value is the one given.
    #[default]
    Equal,
    /// Any value.
    Exists,
}

impl TolerationOperator {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
