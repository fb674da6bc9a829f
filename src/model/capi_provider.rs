//! A provider of Cluster API, as a file below `templates/providers/` declares it. The file has clusterctl's name
//! of the provider (`infrastructure-azure`), by which flavors name it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::flavor::{FlavorFault, RenderedWith, read_manifest};
use super::provided_kind::ProvidedKind;
use super::published::{address_fault, release_file};

/// The container of nearly every provider.
const MANAGER: &str = "manager";

/// One provider: what the operator installs. Its name is clusterctl's, by which the operator knows where its
/// releases are (Cluster API, `cmd/clusterctl/client/config/providers_client.go`). A container that is not in the
/// provider's Deployment ends in `cannot find container`, and nothing of the provider is installed
/// (`cluster-api-operator`, `internal/controller/component_customizer.go`).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CapiProvider {
    /// The operator's kind: `InfrastructureProvider`.
    pub kind: String,
    /// Its name without what it provides: `azure`.
    pub name: String,
    /// The namespace of its controller.
    pub namespace: String,
    /// The component whose version it has, which `components` of a Worker may say.
    pub component: String,
    /// Its version where neither the Worker nor carp's table has one.
    #[serde(default)]
    pub version: String,
    /// Where its releases are, for one that clusterctl does not know.
    #[serde(default)]
    pub url: Option<String>,
    /// The image of its controller, without a tag.
    pub image: String,
    /// The container that has it.
    #[serde(default = "manager")]
    pub container: String,
    /// Where its manifests are behind a mirror: where it is released, and which of the release's they are.
    pub manifests: String,
    /// The files with the definitions of its kinds, where these are not the release's that `manifests` names.
    #[serde(default)]
    pub definitions: Vec<String>,
    /// The feature gates that are on.
    #[serde(default)]
    pub feature_gates: Vec<String>,
    /// Whose credentials a fleet must have for it to be installed; `None`: it always is.
    #[serde(default)]
    pub credentials: Option<String>,
    /// The Secret that it is installed with, which people make: Git holds none.
    #[serde(default)]
    pub config_secret: Option<ConfigSecret>,
    /// The service accounts that act in Azure with an identity of their own.
    #[serde(default)]
    pub identities: Vec<ProviderIdentity>,
    /// What a Deployment of it is told of the kinds to install, where that is more than it is told anyway.
    #[serde(default)]
    pub crds: Option<InstalledCrds>,
    /// What its controller may do besides, with settings of `carp.yaml`.
    #[serde(default)]
    pub aggregated: Option<AggregatedRole>,
    /// What it is told of a cloud of Azure that is not the public one: variables, each with the field of the
    /// table of clouds.
    #[serde(default)]
    pub cloud_settings: BTreeMap<String, String>,
    /// The kinds that it brings to the API.
    #[serde(default)]
    pub provides: Vec<ProvidedKind>,
    /// Its Deployments besides its controller's.
    #[serde(default)]
    pub beside: Vec<DeploymentBeside>,
}

impl CapiProvider {
    /// Where its definitions are published: what its file says, or the release's file that its `manifests` name. None where
    /// neither is known.
    #[must_use]
    pub fn published(&self) -> Vec<String> {
        if self.definitions.is_empty() {
            return release_file(&self.manifests).into_iter().collect();
        }
        self.definitions.clone()
    }
}

/// A Secret of variables of a provider's manifests. What they name without a default must be in it, else nothing is
/// installed (`cluster-api-operator`, `internal/controller/phase_fetch.go`).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConfigSecret {
    /// Its name, in the namespace of the provider.
    pub name: String,
    /// The variables that must be in it.
    pub variables: Vec<String>,
}

/// A service account that acts in Azure.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProviderIdentity {
    /// Its name, in the namespace of the provider.
    pub service_account: String,
    /// What the name of its federated credential ends in.
    pub suffix: String,
}

/// The kinds that a Deployment of a provider installs by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstalledCrds {
    /// The Deployment.
    pub deployment: String,
    /// Those that it installs anyway, as it wants them named.
    pub patterns: Vec<String>,
    /// Those that it installs besides with a setting of `carp.yaml`.
    pub with: BTreeMap<RenderedWith, Vec<String>>,
}

/// Rights that the controller of a provider has by a ClusterRole of a label, which its own role takes in (Kubernetes,
/// `aggregationRule`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AggregatedRole {
    /// The label, whose value is `true`.
    pub label: String,
    /// The rules, each with a setting of `carp.yaml` only.
    pub rules: Vec<AggregatedRule>,
}

/// One rule: kinds of an API group, and what the controller may do with their objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AggregatedRule {
    /// The setting without which it is not there.
    #[serde(skip_serializing)]
    pub with: RenderedWith,
    /// The API group.
    pub group: String,
    /// The kinds, by their names in URLs.
    pub resources: Vec<String>,
    /// What may be done with them.
    pub verbs: Vec<String>,
}

/// Reads a provider's file.
///
/// # Errors
/// It is not YAML, has a field that means nothing, or says what cannot be.
pub(super) fn read_provider(text: &str) -> Result<CapiProvider, FlavorFault> {
    let provider: CapiProvider = read_manifest(text)?;
    let fault = FlavorFault::in_provided(&provider.provides)
        .or_else(|| address_fault(&provider.definitions, "definitions"));
    fault.map_or(Ok(provider), Err)
}

/// A Deployment of a provider besides its own controller's: the operator leaves it as it is unless it is named.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeploymentBeside {
    /// Its name.
    pub deployment: String,
    /// Its container.
    #[serde(default = "manager")]
    pub container: String,
    /// The component whose version it has.
    pub component: String,
    /// Its image, without a tag.
    pub image: String,
    /// Since which release of the provider its first init container has the provider's own image.
    pub init_since: String,
}

fn manager() -> String {
    MANAGER.to_owned()
}
