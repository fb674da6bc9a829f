//! Which Kubernetes versions a fleet offers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Kubernetes version that the fleet offers to new clusters, and to clusters that change to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SupportedVersion {
    /// A minor version with all its patches (`v1.34`), or one patch (`v1.34.2`), which counts before its
    /// minor version.
    #[schemars(regex(pattern = r"^v[0-9]+\.[0-9]+(\.[0-9]+)?$"))]
    pub version: String,
    /// What is thought of it. Default: `Supported`.
    #[serde(default, skip_serializing_if = "Classification::is_default")]
    pub classification: Classification,
    /// From when on it is offered no more, as RFC 3339 (`2027-02-28T00:00:00Z`). What runs goes on running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// What is thought of a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Classification {
    /// It may be used.
    #[default]
    Supported,
    /// It may be used and had better not: the clusters that have it are told of.
    Deprecated,
}

impl Classification {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
