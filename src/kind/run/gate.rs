//! Whether an object is this controller's to act on.
//!
//! The Cluster API contract: what has `cluster.x-k8s.io/managed-by` is somebody else's, what is paused
//! (itself, or its Cluster) is let alone, and what belongs to a Cluster waits until that owns it. An
//! object without any of these stands for itself, as with the first provider.

use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, ResourceExt as _};

use super::super::Error;
use crate::model::api::KINDCluster;

const MANAGED_BY: &str = "cluster.x-k8s.io/managed-by";
const PAUSED: &str = "cluster.x-k8s.io/paused";
/// The label that names an object's Cluster.
pub(super) const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";
const CLUSTER_GROUP: &str = "cluster.x-k8s.io/";

/// Whether to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ActionGate {
    /// Yes.
    Open,
    /// Never: another one looks after it.
    ManagedElsewhere,
    /// Not now.
    Paused,
    /// Not before its Cluster owns it.
    WaitsForOwner,
}

/// The Cluster that owns an object: `apiVersion` and name.
pub(super) fn owner(object: &KINDCluster) -> Option<(String, String)> {
    let owners = object.owner_references();
    let owner = owners
        .iter()
        .find(|owner| owner.kind == "Cluster" && owner.api_version.starts_with(CLUSTER_GROUP))?;
    Some((owner.api_version.clone(), owner.name.clone()))
}

/// What the secret of Cluster API is named after: the Cluster, where there is one.
pub(super) fn cluster(object: &KINDCluster, cluster_name: &str) -> String {
    let labelled = || object.labels().get(CLUSTER_NAME).filter(|name| !name.is_empty()).cloned();
    owner(object).map(|(_, name)| name).or_else(labelled).unwrap_or_else(|| cluster_name.to_owned())
}

/// Whether to act on an object, as far as the object itself says it.
fn by_itself(object: &KINDCluster) -> ActionGate {
    // The documents speak of a label, Cluster API's code reads the annotation.
    let managed = object.annotations().contains_key(MANAGED_BY);
    if managed || object.labels().contains_key(MANAGED_BY) {
        ActionGate::ManagedElsewhere
    } else if object.annotations().contains_key(PAUSED) {
        ActionGate::Paused
    } else if object.labels().contains_key(CLUSTER_NAME)
        && owner(object).is_none()
        && object.metadata.deletion_timestamp.is_none()
    {
        ActionGate::WaitsForOwner
    } else {
        ActionGate::Open
    }
}

/// Whether to act on an object.
///
/// # Errors
/// The object's Cluster cannot be read.
pub(super) async fn gate(client: &Client, object: &KINDCluster) -> Result<ActionGate, Error> {
    let by_itself = by_itself(object);
    let Some((api_version, name)) = owner(object).filter(|_| by_itself == ActionGate::Open) else {
        return Ok(by_itself);
    };
    let version = api_version.trim_start_matches(CLUSTER_GROUP);
    let kind = GroupVersionKind::gvk(CLUSTER_GROUP.trim_end_matches('/'), version, "Cluster");
    let resource = ApiResource::from_gvk_with_plural(&kind, "clusters");
    let namespace = object.namespace().unwrap_or_default();
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), &namespace, &resource);
    let paused = match api.get(&name).await {
        Ok(cluster) => cluster.data["spec"]["paused"] == true,
        // The Cluster, or Cluster API itself, is not there.
        Err(kube::Error::Api(status)) if status.code == 404 => false,
        Err(error) => {
            let what = format!("reading the Cluster {namespace}/{name}");
            return Err(Error::Api { what, detail: error.to_string() });
        }
    };
    Ok(if paused { ActionGate::Paused } else { ActionGate::Open })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(metadata: serde_json::Value) -> KINDCluster {
        serde_json::from_value(json!({
            "apiVersion": "infrastructure.cluster-k8s.io/v1alpha1", "kind": "KINDCluster",
            "metadata": metadata, "spec": {"clusterName": "seed"},
        }))
        .unwrap()
    }

    #[test]
    fn an_object_says_whose_it_is() {
        let owner = json!([{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "c",
                            "uid": "u"}]);
        let stranger =
            json!([{"apiVersion": "apps/v1", "kind": "Cluster", "name": "c", "uid": "u"}]);
        let label = json!({"cluster.x-k8s.io/cluster-name": "l"});
        for (metadata, gate, cluster_of) in [
            (json!({}), ActionGate::Open, "seed"),
            (json!({"annotations": {"cluster.x-k8s.io/paused": ""}}), ActionGate::Paused, "seed"),
            (
                json!({"annotations": {"cluster.x-k8s.io/managed-by": "x", "cluster.x-k8s.io/paused": ""}}),
                ActionGate::ManagedElsewhere,
                "seed",
            ),
            (
                json!({"labels": {"cluster.x-k8s.io/managed-by": "x"}}),
                ActionGate::ManagedElsewhere,
                "seed",
            ),
            (json!({"labels": label}), ActionGate::WaitsForOwner, "l"),
            (json!({"labels": label, "ownerReferences": owner}), ActionGate::Open, "c"),
            (json!({"labels": label, "ownerReferences": stranger}), ActionGate::WaitsForOwner, "l"),
            (
                json!({"labels": label, "deletionTimestamp": "2026-01-01T00:00:00Z"}),
                ActionGate::Open,
                "l",
            ),
        ] {
            let object = object(metadata);
            assert_eq!(by_itself(&object), gate, "{:?}", object.metadata);
            assert_eq!(cluster(&object, "seed"), cluster_of);
        }
    }
}
