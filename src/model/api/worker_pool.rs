//! `WorkerPool`: alike workers that carp makes when they are needed.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::worker::WorkerSpec;

/// Alike workers, of which carp makes another one when clusters fit nowhere.
#[derive(
    CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "carp.dev",
    version = "v1alpha1",
    kind = "WorkerPool",
    doc = "Alike workers, of which carp makes another one when clusters fit nowhere.",
    namespaced,
    category = "carp",
    printcolumn = r#"{"name":"Min","type":"integer","jsonPath":".spec.min"}"#,
    printcolumn = r#"{"name":"Max","type":"integer","jsonPath":".spec.max"}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkerPoolSpec {
    /// What each worker of the pool is. An edit counts for the workers that there are as for those to
    /// come; only where a worker is stays as it was when the worker was made.
    pub template: WorkerTemplate,
    /// How many workers there are at least, from the start. Default: none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0, max = 1000))]
    pub min: u32,
    /// How many there are at most. Fewer than there are take none away that is in use.
    #[schemars(range(min = 1, max = 1000))]
    pub max: u32,
    /// Where the pool's workers may be. Default: where the template is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<String>,
    /// How the workers are called: `{pool}` and `{location}` stand for those names, `{ordinal}`, which
    /// must be there once, for a number that no worker of the pool had before. Default:
    /// `{pool}-{ordinal}`. Workers that there are keep their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_pattern: Option<String>,
    /// How many workers that clusters wait for are being made at the same time. One that is not running
    /// in time counts no longer. Without `observation: Agent` nothing says when one is running, and there
    /// is no such bound. Default: 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub max_pending: Option<u32>,
    /// After how long a worker that is not running yet loses the clusters that wait for it. Default:
    /// `1h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^([0-9]+h)?([0-9]+m)?([0-9]+s)?$"))]
    pub provision_timeout: Option<String>,
    /// For how long a worker has been empty before it goes, where there are more than `min`. Default:
    /// `1h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^([0-9]+h)?([0-9]+m)?([0-9]+s)?$"))]
    pub cool_down: Option<String>,
}

/// What each worker of a pool is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerTemplate {
    /// Labels that each worker of the pool gets.
    #[serde(default, skip_serializing_if = "TemplateMetadata::is_default")]
    pub metadata: TemplateMetadata,
    /// The Worker. Its `pool` is the WorkerPool and is not written.
    pub spec: WorkerSpec,
}

/// The metadata of a template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TemplateMetadata {
    /// The labels of each worker.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

impl TemplateMetadata {
    fn is_default(&self) -> bool {
        self.labels.is_empty()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}
