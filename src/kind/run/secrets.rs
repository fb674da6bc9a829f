//! The two secrets with a cluster's kubeconfig.
//!
//! `<clusterName>-config` with the key `config` is the first provider's (`utils/secret.go`);
//! `<cluster>-kubeconfig` with the key `value` is Cluster API's contract, and what Flux reads.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{Api, DeleteParams, ObjectMeta, Patch, PatchParams, Preconditions};
use kube::{Client, Resource as _, ResourceExt as _};

use super::super::{Access, Error};
use super::FIELD_MANAGER;
use super::gate::{CLUSTER_NAME, cluster};
use crate::model::api::KINDCluster;

/// The names of both.
fn names(object: &KINDCluster, cluster_name: &str) -> [String; 2] {
    [format!("{cluster_name}-config"), format!("{}-kubeconfig", cluster(object, cluster_name))]
}

/// Writes both, with what there is now.
///
/// # Errors
/// The API server refuses or does not answer, or a secret of that name belongs to another object.
pub(super) async fn write(
    client: &Client,
    object: &KINDCluster,
    cluster_name: &str,
    access: &Access,
) -> Result<(), Error> {
    let api: Api<Secret> = Api::namespaced(client.clone(), &object.namespace().unwrap_or_default());
    for secret in wanted(object, cluster_name, access) {
        let name = secret.name_any();
        let failed = |e: kube::Error| failed("writing", &name, &e);
        let there = api.get_opt(&name).await.map_err(failed)?;
        if let Some(other) = there.as_ref().and_then(|there| of_another(there, object)) {
            let detail = format!("it belongs to KINDCluster {other}");
            return Err(Error::Api { what: format!("writing the secret {name}"), detail });
        }
        let params = PatchParams::apply(FIELD_MANAGER).force();
        api.patch(&name, &params, &Patch::Apply(&secret)).await.map_err(failed)?;
    }
    Ok(())
}

/// Deletes both, if they are this object's. That they have an owner does not do it where nothing
/// collects garbage.
///
/// # Errors
/// The API server refuses or does not answer.
pub(super) async fn delete(
    client: &Client,
    object: &KINDCluster,
    cluster_name: &str,
) -> Result<(), Error> {
    let api: Api<Secret> = Api::namespaced(client.clone(), &object.namespace().unwrap_or_default());
    for name in names(object, cluster_name) {
        let failed = |e: kube::Error| failed("deleting", &name, &e);
        let Some(there) = api.get_opt(&name).await.map_err(failed)? else { continue };
        if !is_of(&there, object) {
            continue;
        }
        // Only the one that was looked at: another may have its name by now.
        let preconditions = Preconditions { uid: there.uid(), resource_version: None };
        let params = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
        match api.delete(&name, &params).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(())
}

fn wanted(object: &KINDCluster, cluster_name: &str, access: &Access) -> [Secret; 2] {
    let [config, kubeconfig] = names(object, cluster_name);
    let of = |name: String, kind: &str, key: &str, value: &str, labels| Secret {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: object.namespace(),
            labels,
            owner_references: Some(vec![reference(object)]),
            ..ObjectMeta::default()
        },
        type_: Some(kind.to_owned()),
        data: Some(BTreeMap::from([(key.to_owned(), ByteString(value.as_bytes().to_vec()))])),
        ..Secret::default()
    };
    let label = BTreeMap::from([(CLUSTER_NAME.to_owned(), cluster(object, cluster_name))]);
    [
        of(config, "Opaque", "config", &access.external, None),
        of(kubeconfig, "cluster.x-k8s.io/secret", "value", &access.wanted, Some(label)),
    ]
}

fn reference(object: &KINDCluster) -> OwnerReference {
    OwnerReference {
        api_version: KINDCluster::api_version(&()).into_owned(),
        kind: KINDCluster::kind(&()).into_owned(),
        name: object.name_any(),
        uid: object.uid().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: None,
    }
}

fn is_of(secret: &Secret, object: &KINDCluster) -> bool {
    let uid = object.uid();
    secret.owner_references().iter().any(|owner| Some(&owner.uid) == uid.as_ref())
}

/// The other object that a secret belongs to. One without an owner, as the first provider wrote it, is
/// nobody's.
fn of_another(secret: &Secret, object: &KINDCluster) -> Option<String> {
    let owners = secret.owner_references();
    let other =
        owners.iter().find(|o| o.kind == "KINDCluster" && Some(&o.uid) != object.uid().as_ref());
    other.filter(|_| !is_of(secret, object)).map(|owner| owner.name.clone())
}

fn failed(doing: &str, name: &str, error: &kube::Error) -> Error {
    Error::Api { what: format!("{doing} the secret {name}"), detail: error.to_string() }
}
