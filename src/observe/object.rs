//! One object, as far as the agent reads it.
//!
//! Only these fields are kept, so that a worker with 1,000 clusters is observed in bounded memory: a
//! Kustomization's inventory alone would be larger than all of them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

/// The annotation with the digest of the folder that an object was applied from.
pub(super) const DIGEST_ANNOTATION: &str = "carp.dev/digest";
/// The label of a cluster's namespace.
pub(super) const CLUSTER_LABEL: &str = "carp.dev/cluster";

/// An object on a worker. Unknown fields are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ObservedObject {
    pub(super) metadata: Metadata,
    pub(super) spec: ObservedSpec,
    pub(super) status: Status,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Metadata {
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) uid: String,
    pub(super) generation: i64,
    pub(super) deletion_timestamp: Option<String>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) annotations: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ObservedSpec {
    pub(super) version: Option<String>,
    pub(super) replicas: Option<u32>,
    pub(super) control_plane_endpoint: Option<ObservedEndpoint>,
    /// What the cloud calls a machine.
    #[serde(rename = "providerID")]
    pub(super) provider_id: Option<String>,
    /// Whether Flux leaves alone what a Kustomization applied.
    pub(super) suspend: bool,
    pub(super) template: Template,
}

/// What the machines of a pool are made from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Template {
    pub(super) spec: MachineSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct MachineSpec {
    pub(super) version: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct ObservedEndpoint {
    pub(super) host: String,
    pub(super) port: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Status {
    pub(super) observed_generation: Option<i64>,
    pub(super) conditions: Vec<ProviderCondition>,
    /// The API says that a status must not be read as more than its conditions; this one is carp's own.
    pub(super) phase: Option<String>,
    pub(super) initialization: Option<ObservedInitialization>,
    pub(super) control_plane: Option<Replicas>,
    pub(super) workers: Option<Replicas>,
    pub(super) replicas: Option<u32>,
    pub(super) ready_replicas: Option<u32>,
    pub(super) up_to_date_replicas: Option<u32>,
    pub(super) version: Option<String>,
    pub(super) versions: Vec<VersionCount>,
    pub(super) last_applied_revision: Option<String>,
    pub(super) installed_version: Option<String>,
    pub(super) history: Vec<Release>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ObservedInitialization {
    pub(super) infrastructure_provisioned: bool,
    pub(super) control_plane_initialized: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Replicas {
    pub(super) desired_replicas: Option<u32>,
    pub(super) ready_replicas: Option<u32>,
}

/// A condition as providers write it: those of the old contract have a severity and may lack a reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ProviderCondition {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) status: String,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) severity: String,
    pub(super) last_transition_time: Option<String>,
    pub(super) observed_generation: Option<i64>,
}

/// How many machines have a version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct VersionCount {
    pub(super) version: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Release {
    pub(super) chart_version: String,
}

impl ObservedObject {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Its namespace; empty for an object without one.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.metadata.namespace
    }

    /// Whether its deletion has begun.
    pub(super) fn is_deleting(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// Whether a condition is there and `True`.
    pub(super) fn is_true(&self, kind: &str) -> bool {
        self.condition(kind).is_some_and(|c| c.status == "True")
    }

    /// Whether a condition is there and `False`.
    pub(super) fn is_false(&self, kind: &str) -> bool {
        self.condition(kind).is_some_and(|c| c.status == "False")
    }

    pub(super) fn condition(&self, kind: &str) -> Option<&ProviderCondition> {
        self.status.conditions.iter().find(|c| c.kind == kind)
    }

    /// Since when a condition is as it is; `None` where that is not said.
    pub(super) fn since(&self, kind: &str) -> Option<Timestamp> {
        self.condition(kind)?.last_transition_time.as_deref()?.parse().ok()
    }

    /// Whether all replicas that there are, are as the object asks for now.
    pub(super) fn is_up_to_date(&self) -> bool {
        let Status { observed_generation, replicas, up_to_date_replicas, .. } = &self.status;
        let behind = observed_generation.is_some_and(|seen| seen < self.metadata.generation);
        let all = replicas.unwrap_or(0) == up_to_date_replicas.unwrap_or(0);
        !behind && all && !self.is_true("RollingOut")
    }

    /// Whether the status speaks of what the object asks for now.
    pub(super) fn is_observed(&self) -> bool {
        self.status.observed_generation.is_none_or(|seen| seen >= self.metadata.generation)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_read_is_kept() {
        let object: ObservedObject = serde_json::from_value(json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": {"name": "cluster-a", "namespace": "flux-system", "managedFields": [1]},
            "spec": {"path": "./x"},
            "status": {
                "inventory": {"entries": [{"id": "x", "v": "v1"}]},
                "lastAppliedRevision": "carp/rendered@sha1:1",
                "history": [{"digest": "sha256:1"}],
            },
        }))
        .unwrap();
        assert_eq!(object.status.last_applied_revision.as_deref(), Some("carp/rendered@sha1:1"));
        assert_eq!((object.name(), object.namespace()), ("cluster-a", "flux-system"));
    }
}
