//! `ManagedClusterClass`: a named size.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{Resources, SharedList};
use super::shared::{ClusterAccess, ControlPlane, Network, NodePool, no_resources};
use super::{DataStoreChoice, DeletionPolicy, Parameters};

/// A named size: what a cluster of it takes on its worker, and defaults for the cluster's fields.
#[derive(
    CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "carp.dev",
    version = "v1alpha1",
    kind = "ManagedClusterClass",
    doc = "A named size of managed clusters, with defaults for their fields.",
    namespaced,
    shortname = "mcc",
    category = "carp",
    printcolumn = r#"{"name":"Flavor","type":"string","jsonPath":".spec.flavor"}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ManagedClusterClassSpec {
    /// What one cluster takes of its worker's capacity. `clusters: 1` is always part of it.
    #[serde(default, skip_serializing_if = "no_resources")]
    pub demand: Resources,
    /// Default of the cluster's `flavor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flavor: Option<String>,
    /// Default of the cluster's `credentials`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<String>,
    /// Default of the cluster's `controlPlane`, field by field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<ControlPlane>,
    /// Default of the cluster's `nodePools`, as a whole.
    #[serde(default, skip_serializing_if = "SharedList::is_empty")]
    pub node_pools: SharedList<NodePool>,
    /// Default of the cluster's `network`, field by field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Default of the cluster's `access`, field by field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<ClusterAccess>,
    /// Defaults of the cluster's `parameters`, one by one. They are of the class's flavor.
    #[serde(default, skip_serializing_if = "Parameters::is_default")]
    pub parameters: Parameters,
    /// Default of the cluster's `dataStore`, as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_store: Option<DataStoreChoice>,
    /// Default of the cluster's `priority`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Default of the cluster's `deletionPolicy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<DeletionPolicy>,
}
