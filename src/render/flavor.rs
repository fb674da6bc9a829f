//! A flavor's manifest: what its folders may hold, and when a deletion takes it out of them.

use serde::{Deserialize, Serialize};

/// `flavor.yaml` in a flavor's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Flavor {
    /// What the flavor makes.
    pub kind: FlavorKind,
    /// Whether a cluster of it can move to another worker.
    pub mobility: Mobility,
    /// The kinds that its folders may hold.
    pub objects: Vec<FlavorObject>,
}

/// What a flavor makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlavorKind {
    /// Clusters on a worker.
    ManagedCluster,
    /// Workers.
    Worker,
}

/// Whether a cluster can move to another worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mobility {
    /// It never moves: its state is on the worker.
    None,
}

/// One kind of a flavor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FlavorObject {
    /// The `apiVersion`.
    pub api_version: String,
    /// The `kind`.
    pub kind: String,
    /// When a deletion takes objects of it out of the folder.
    pub on_deletion: OnDeletion,
}

/// When a deletion takes an object out of the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnDeletion {
    /// At the first step, D1; Cluster API deletes it in its own order.
    Drop,
    /// At the second step, D2, once the cluster is gone: the end of the cluster needs it.
    Follow,
    /// With the folder: everything else lies in it, or acts by it.
    Keep,
}

impl Flavor {
    /// What is declared for a kind; `None` where the flavor does not have it.
    #[must_use]
    pub fn object(&self, api_version: &str, kind: &str) -> Option<&FlavorObject> {
        self.objects.iter().find(|o| o.api_version == api_version && o.kind == kind)
    }
}
