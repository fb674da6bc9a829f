//! The file that says what became of one cluster.

use serde::{Deserialize, Serialize};

use crate::model::api::{KINDClusterStatus, KindDeletionPolicy};

/// The format of [`KindRecord`].
pub const KIND_RECORD_SCHEMA: u32 = 1;

/// `<namespace>/<name>.yaml` on the status branch: while it is there, so may be the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KindRecord {
    /// [`KIND_RECORD_SCHEMA`].
    pub schema_version: u32,
    /// The object's namespace.
    pub namespace: String,
    /// The object's name.
    pub name: String,
    /// What becomes of the cluster when the object is gone: what it said last.
    pub deletion_policy: KindDeletionPolicy,
    /// What the object's status would say on a cluster.
    pub status: KINDClusterStatus,
}
