//! A flavor's manifest: what it makes, of what and with what, what its folders may hold, and when a deletion
//! takes it out of them.

mod nonsense;
mod own;
mod read;
mod versions;

pub(super) use read::read_parameters;
pub use read::{FaultPlace, FlavorFault, read_flavor, read_manifest};
pub use versions::FlavorVersions;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::parameters::FlavorParameters;
use super::provided_kind::ProvidedKind;
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
    /// What its nodes are.
    #[serde(default)]
    pub nodes: Nodes,
    /// The Kubernetes versions that its templates make; `None` where they make every one that carp knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<FlavorVersions>,
    /// Whose machines it makes, by Cluster API's name for the provider (`clusterctl`,
    /// `client/config/providers_client.go`); `None` where it makes none, or where each Worker says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The credentials that it needs; `None` where it needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<CredentialsNeeded>,
    /// The sizes of its machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    /// The control plane of a cluster that says nothing of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<ControlPlaneDefaults>,
    /// What its clusters have from their cloud, so that neither carp nor people bring it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brings: Vec<Brings>,
    /// What the fleet brings instead where a parameter, by its path, says `own`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub own: BTreeMap<Brings, String>,
    /// The ranges of addresses of a cluster that names none; `None` takes carp's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranges: Option<Ranges>,
    /// What it can do of a cluster's `access`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access: Vec<AccessFeature>,
    /// What it is told besides the fields of its kind.
    #[serde(default, skip_serializing_if = "FlavorParameters::is_default")]
    pub parameters: FlavorParameters,
    /// The components of the table whose versions its templates get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add_ons: Vec<String>,
    /// Versions of components that are not in the table, which its templates get as well.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub components: BTreeMap<String, String>,
    /// The providers of Cluster API that must run where its objects are applied, by the names of their files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub providers: Vec<String>,
    /// The parts of the platform that must run there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub platform: Vec<PlatformPart>,
    /// Where the state of its clusters is, where the worker keeps it for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_stores: Option<DataStoresOnWorker>,
    /// The components of a worker whose supported Kubernetes versions decide whether it takes a cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supported_by: Vec<String>,
    /// The kinds that are there for its clusters and come with none of its providers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provides: Vec<ProvidedKind>,
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
    /// The parameter, by its path, that says `own` where the fleet does it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<String>,
    /// The parameter, by its path, that lists the objects by name; where it lists none there is no such step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
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
    /// It is handed over, as it is: `clusterctl move` carries its objects and Secrets, and its machines are untouched.
    Transfer,
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

/// What a flavor can do of a cluster's `access`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccessFeature {
    /// API servers with addresses inside the cloud's networks alone.
    Private,
    /// Ranges of addresses from which they are reached.
    AllowedCIDRs,
}

/// What the nodes of a flavor are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Nodes {
    /// Machines that Cluster API makes.
    #[default]
    Machines,
    /// Containers on one machine: there are no sizes, no zones and no credentials.
    Containers,
    /// Those of a cluster that exists already: carp makes what runs on it and not the cluster.
    Existing,
}

/// What clusters of a flavor have from their cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Brings {
    /// An identity of the machines: the credentials need name none.
    NodeIdentity,
    /// An issuer of the service accounts' tokens that the cloud knows: nobody publishes keys.
    Issuer,
    /// A default StorageClass: a worker gets none from carp.
    StorageClass,
}

/// The credentials that a flavor needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CredentialsNeeded {
    /// Whose they are: `azure`, or the `provider` of an entry with `values`.
    pub of: String,
    /// The names of the values that an entry must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// The sizes of a flavor's machines, by the provider's names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Sizes {
    /// The size of a machine that names none.
    pub default: String,
    /// The sizes that there are; empty where any may be, or where carp has a table of the provider's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
}

/// The control plane of a cluster that says nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ControlPlaneDefaults {
    /// How many replicas.
    pub replicas: u32,
}

/// A part of the layer `platform`: what clusters of a flavor need on their worker besides providers. Templates of
/// the layers get its name as a value that says whether the part is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlatformPart {
    /// Its name, which is that of its component too.
    pub name: String,
    /// What Flux waits for, where it cannot tell by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<WaitsFor>,
}

/// The data stores of a flavor's clusters, as the worker has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DataStoresOnWorker {
    /// The namespace that they are in.
    pub namespace: String,
    /// The components of the table that those need of which a Worker says something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<String>,
}

/// A kind of the platform whose health Flux cannot tell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitsFor {
    /// The `apiVersion`.
    pub api_version: String,
    /// The `kind`.
    pub kind: String,
    /// The expression in CEL that holds once it is current.
    pub current: String,
    /// A field with the address, in the cluster, of what it stands for, as a JSON pointer: a HelmRelease beside it makes
    /// that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// Ranges of addresses, as CIDRs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ranges {
    /// Of the pods.
    pub pods: String,
    /// Of the services.
    pub services: String,
}

/// One kind of a flavor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FlavorObject {
    /// The `apiVersion`.
    pub api_version: String,
    /// The `kind`.
    pub kind: String,
    /// Its name, where only an object of that name may be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The kind of flavor that has it, where only one of several does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<FlavorKind>,
    /// The setting in `carp.yaml` without which no object of it is rendered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<RenderedWith>,
    /// When a deletion takes objects of it out of the folder.
    pub on_deletion: OnDeletion,
}

/// A setting of `carp.yaml` with which objects are rendered. Without it in the fleet nobody may make them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RenderedWith {
    /// `azure.identity` of credentials: what makes identities trust a worker.
    Identity,
    /// `azure.oidcIssuerStorage` of credentials: what publishes the keys of a worker.
    IssuerStorage,
    /// `fluxReleases`: what Flux on a worker installs into clusters.
    FluxReleases,
    /// `vnetPeerings`: what peers virtual networks in Azure.
    VnetPeerings,
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

impl Brings {
    /// Its name, as manifests have it.
    const fn name(self) -> &'static str {
        match self {
            Self::NodeIdentity => "NodeIdentity",
            Self::Issuer => "Issuer",
            Self::StorageClass => "StorageClass",
        }
    }
}

impl Flavor {
    /// What is declared for a kind; `None` where the flavor does not have it.
    #[must_use]
    pub fn object(&self, api_version: &str, kind: &str) -> Option<&FlavorObject> {
        self.objects.iter().find(|o| o.api_version == api_version && o.kind == kind)
    }

    /// Whether its clusters have something from their cloud.
    #[must_use]
    pub fn brings(&self, what: Brings) -> bool {
        self.brings.contains(&what)
    }

    /// What is declared for objects that `makes` has.
    pub fn objects_of(&self, makes: FlavorKind) -> impl Iterator<Item = &FlavorObject> {
        self.objects.iter().filter(move |o| o.of.is_none_or(|of| of == makes))
    }
}
