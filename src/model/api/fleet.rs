//! `Fleet`: `carp.yaml`, the root of everything.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SupportedVersion;
use super::acknowledgement::AcknowledgementSettings;
use super::forge::ForgeSettings;
use super::git::{GitSettings, ObservedSettings, OutputSettings};
use super::guards::Guards;
use super::images::Images;
use super::secrets::{ExternalSecretSettings, SecretSettings};
use super::tenant::Tenant;
use super::worker::Observation;

/// What holds for the whole fleet: its guards, tenants, delivery and defaults. It is `carp.yaml`.
#[derive(
    CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "carp.dev",
    version = "v1alpha1",
    kind = "Fleet",
    doc = "The fleet as a whole.",
    namespaced,
    category = "carp"
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FleetSpec {
    /// Where people write, relative to `carp.yaml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roots: Option<Roots>,
    /// The branches that carp reads and writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branches: Option<Branches>,
    /// Where the workers' Flux finds the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// The one cluster that carp does not make: it makes the workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<ControlPlaneCluster>,
    /// Cloud credentials: IDs only, never a secret.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credentials: Vec<Credentials>,
    /// Who may use what; a tenant is a cluster's `metadata.namespace`. Without a list every namespace
    /// is a tenant that may use everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tenants: Vec<Tenant>,
    /// Names that no new cluster or worker may have, besides those that carp knows of: a cluster's name is its
    /// namespace on the worker. One `*`, at the beginning or at the end, stands for any text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reserved_names: Vec<String>,
    /// How much may happen in one run before a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guards: Option<Guards>,
    /// Whose acknowledgements count. Unset: those of everybody who may write to the input branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledgements: Option<AcknowledgementSettings>,
    /// The Kubernetes versions that are offered to new clusters, and to those that change their version.
    /// Without a list all that carp knows are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supported_versions: Vec<SupportedVersion>,
    /// Where images and charts come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Images>,
    /// Whether Flux on the workers may install charts into clusters (`helmReleases`). What applies clusters may make
    /// objects `HelmRelease` then, which reach the cluster that they are of and nothing else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flux_releases: bool,
    /// Whether Azure Service Operator may peer the networks of clusters of AKS (`vnet.peerings`): it serves the kind then, and
    /// Cluster API's provider for Azure may make objects of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub vnet_peerings: bool,
    /// What a new worker's Flux needs to read the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<Bootstrap>,
    /// Who makes the Secrets of the workers that carp makes. Unset: people do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<SecretSettings>,
    /// What becomes of edits that somebody made by hand to what carp owns on the output branch. Default:
    /// `overwrite`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<DriftPolicy>,
    /// How carp's commits are made and reach the output branch, and whose commits it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitSettings>,
    /// Where carp writes, if that is another repository than the one with this file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputSettings>,
    /// Where the workers' agents push their reports, and which of these count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<ObservedSettings>,
    /// Tells the forge that hosts the fleet how each commit fared. Unset: nothing is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forge: Option<ForgeSettings>,
    /// Pins time and reports, for demonstrations. Such a fleet can be pushed to a local path only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<Example>,
}

impl FleetSpec {
    /// Of what an operator makes the Secrets of workers; `None` where people make them.
    #[must_use]
    pub fn external_secrets(&self) -> Option<&ExternalSecretSettings> {
        self.secrets.as_ref()?.external_secrets.as_ref()
    }

    /// Whether any tenant has a folder of its own, so that what stands there is nobody else's.
    #[must_use]
    pub fn sets_tenants_apart(&self) -> bool {
        self.tenants.iter().any(|tenant| !tenant.paths.is_empty())
    }
}

/// Folders below the fleet's root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Roots {
    /// Clusters, workers, overlays, classes, acknowledgements.
    #[serde(default = "Roots::default_fleet")]
    pub fleet: String,
    /// Placement and override policies, and in `tests/` below it the tests of policies.
    #[serde(default = "Roots::default_policies")]
    pub policies: String,
    /// Templates that replace or add to the built-in ones, file by file.
    #[serde(default = "Roots::default_templates")]
    pub templates: String,
    /// The definitions (`CustomResourceDefinition`s) that what is rendered is checked against, each in a file
    /// called as it is: `clusters.cluster.x-k8s.io.yaml`. It is `crds` where nothing is said.
    #[serde(default = "Roots::default_crds", skip_serializing_if = "Roots::is_default_crds")]
    pub crds: String,
}

impl Roots {
    fn default_fleet() -> String {
        "fleet".to_owned()
    }
    fn default_policies() -> String {
        "policies".to_owned()
    }
    fn default_templates() -> String {
        "templates".to_owned()
    }
    fn default_crds() -> String {
        "crds".to_owned()
    }
    // Locks name the roots: those of fleets without another folder stay as they are.
    fn is_default_crds(root: &str) -> bool {
        root == Self::default_crds()
    }
}

impl Default for Roots {
    fn default() -> Self {
        Self {
            fleet: Self::default_fleet(),
            policies: Self::default_policies(),
            templates: Self::default_templates(),
            crds: Self::default_crds(),
        }
    }
}

/// The branches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Branches {
    /// The branch that people write and carp reads.
    #[serde(default = "Branches::default_input")]
    pub input: String,
    /// The branch that carp writes and the workers' Flux syncs.
    #[serde(default = "Branches::default_output")]
    pub output: String,
    /// The branch on which carp tells the status of clusters, workers and the fleet.
    #[serde(default = "Branches::default_status")]
    pub status: String,
    /// The prefix of the agents' report branches.
    #[serde(default = "Branches::default_observed")]
    pub observed: String,
    /// What carp proposes where `git.write` is `pullRequest`. While a branch of this name with
    /// `-approved` after it is at the same commit, the proposal stays as it is.
    #[serde(default = "Branches::default_proposal")]
    pub proposal: String,
}

impl Branches {
    fn default_input() -> String {
        "main".to_owned()
    }
    fn default_output() -> String {
        "carp/rendered".to_owned()
    }
    fn default_status() -> String {
        "carp/status".to_owned()
    }
    fn default_observed() -> String {
        "carp/observed".to_owned()
    }
    fn default_proposal() -> String {
        "carp/proposal".to_owned()
    }
}

impl Default for Branches {
    fn default() -> Self {
        Self {
            input: Self::default_input(),
            output: Self::default_output(),
            status: Self::default_status(),
            observed: Self::default_observed(),
            proposal: Self::default_proposal(),
        }
    }
}

/// Where the workers' Flux finds the output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Delivery {
    /// How the output gets to the workers.
    #[serde(default)]
    pub kind: DeliveryKind,
    /// The repository as the workers reach it.
    pub url: String,
    /// How often Flux of a worker looks for a new commit. Default: `5m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    /// The Secret in `flux-system` that Flux reads the repository with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<String>,
}

/// How the output travels to the workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryKind {
    /// One GitRepository with a sparse checkout of the worker's path.
    #[default]
    Path,
}

/// The cluster that makes the workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ControlPlaneCluster {
    /// The name of that cluster, by which its agent reports.
    pub name: String,
    /// Versions of its components, where they differ from carp's own table.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub components: BTreeMap<String, String>,
    /// How carp learns of the clusters that the workers are. `Agent`: an agent on this cluster reports
    /// them, under this cluster's name. Default: `None`.
    #[serde(default, skip_serializing_if = "Observation::is_default")]
    pub observation: Observation,
}

/// One set of cloud credentials.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// The name that clusters and workers refer to.
    pub name: String,
    /// IDs of the subscription in Azure and of the identities used in it; no secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub azure: Option<AzureCredentials>,
    /// Whose they are, where carp has no field for it: what a flavor of the fleet's own asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// What the templates of that flavor get: IDs and names, no secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
}

impl Credentials {
    /// Whose they are; `None` where the entry says nothing.
    #[must_use]
    pub fn of(&self) -> Option<&str> {
        self.provider.as_deref().or(self.azure.as_ref().map(|_| AZURE))
    }
}

/// Whose credentials the field `azure` holds.
pub const AZURE: &str = "azure";

/// IDs in Azure. Access itself comes from workload identity on the worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AzureCredentials {
    /// The ID of the tenant of Entra ID that the subscription belongs to.
    #[serde(rename = "tenantID")]
    pub tenant_id: String,
    /// The subscription that the machines are made in.
    #[serde(rename = "subscriptionID")]
    pub subscription_id: String,
    /// The application or managed identity that Cluster API acts as.
    #[serde(rename = "clientID")]
    pub client_id: String,
    /// The resource id of the managed identity that the nodes have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_identity: Option<String>,
    /// What the names of resource groups begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_group_prefix: Option<String>,
    /// Which cloud of Azure it is, such as `AzureChinaCloud`. Default: `AzurePublicCloud`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The URL below which the service-account issuers' documents are published, one folder a worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oidc_issuer_prefix: Option<String>,
    /// Where those documents are written, so that the control-plane cluster does it. Unset: people do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oidc_issuer_storage: Option<IssuerStorage>,
    /// The resource id of the managed identity that `clientID` is of: with it Azure Service Operator makes its
    /// federated credentials, two for each worker. Unset: people do, as for an application, which has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
}

/// Where the documents of service-account issuers are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IssuerStorage {
    /// A remote of rclone's, and a path in it, which Azure reads below `oidcIssuerPrefix`. With what the remote is, such as
    /// `:azureblob,account=fleetoidc,use_msi=true:$web/fleet`, nothing else is needed: what writes there is the managed
    /// identity of the control-plane cluster's nodes.
    pub to: String,
    /// The Secret with rclone's configuration in its key `rclone.conf`, in each worker's namespace on the
    /// control-plane cluster, for a remote that `to` only names. Unset: none is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<String>,
}

/// What becomes of hand edits on the output branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DriftPolicy {
    /// They are set back in the next commit, which names them.
    #[default]
    Overwrite,
    /// The edited folder stays as it is and nothing is written there until a person has decided; the run
    /// exits 3.
    Refuse,
    /// The edited folder stays as it is, and a warning says so; nothing is held.
    Warn,
}

/// What a new worker's Flux needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bootstrap {
    /// The Secret in the control-plane cluster's `flux-system` whose copy on the worker lets Flux read
    /// the output.
    pub credential_ref: String,
}

/// Pins of a demonstration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The time that every run takes for now, in RFC 3339.
    pub now: String,
    /// A folder with the workers' reports, relative to `carp.yaml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<String>,
}
