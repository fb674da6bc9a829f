//! Conditions, as Kubernetes has them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One observation on an object: the truth, with one writer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What is observed: `Ready`, `Placed`, `Rendered`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// Why, as one word in CamelCase.
    pub reason: String,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// When the status last changed: a time that comes from observed facts or from the run that saw the
    /// change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<String>,
    /// On a cluster: the generation that the condition speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// Whether a condition holds.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not.
    False,
    /// It is not known.
    Unknown,
}
