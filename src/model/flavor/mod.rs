//! A flavor's manifest: what its folders may hold, and when a deletion takes it out of them.

mod read;

pub use read::{FlavorFault, read_flavor};

use serde::{Deserialize, Serialize};

use read::one_or_more;

/// `flavor.yaml` in a flavor's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Flavor {
    /// What the flavor makes: one kind, or a list.
    #[serde(rename = "kind", deserialize_with = "one_or_more")]
    pub kinds: Vec<FlavorKind>,
    /// Whether a cluster of it can move to another worker.
    pub mobility: Mobility,
    /// Whether a cluster of it may have the addresses of its worker.
    #[serde(default)]
    pub networks: Networks,
    /// The kinds that its folders may hold.
    pub objects: Vec<FlavorObject>,
    /// What brings a cluster of it up, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readiness: Vec<FlavorStep>,
}

/// One step from nothing to a cluster that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FlavorStep {
    /// What happens, in a word or two.
    pub step: String,
    /// The kind of the objects that do it.
    pub kind: String,
    /// Their name, where only one of the kind does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The steps that it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// A field with the name of an object on the worker that it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<Need>,
}

/// An object on the worker that a cluster's object names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Need {
    /// The field, as a JSON pointer.
    pub path: String,
    /// The kind of what it names.
    pub kind: String,
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

/// Whether a cluster may have the addresses of its worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Networks {
    /// It may: nothing routes between the two.
    #[default]
    Any,
    /// Its pods and services need addresses that the worker's have not.
    Apart,
}

/// One kind of a flavor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FlavorObject {
    /// The `apiVersion`.
    pub api_version: String,
    /// The `kind`.
    pub kind: String,
    /// The kind of flavor that has it, where only one of several does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<FlavorKind>,
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

    /// What is declared for objects that `makes` has.
    pub fn objects_of(&self, makes: FlavorKind) -> impl Iterator<Item = &FlavorObject> {
        self.objects.iter().filter(move |o| o.of.is_none_or(|of| of == makes))
    }
}
