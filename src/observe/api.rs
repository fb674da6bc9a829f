//! The API server of a worker, through kube.

use futures::{Stream, StreamExt as _};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client};
use serde_json::Value;
use std::path::Path;

use super::client::client;
use super::object::DIGEST_ANNOTATION;
use super::watched::{WatchEvent, WatchTrouble};
use super::{Error, FLUX_SYSTEM, ObservedKind};
use crate::model::{Digest, Name};

/// The ConfigMap that says what was applied, in the namespace of Flux.
const SENTINEL: &str = "carp-worker";
/// Who owns the fields that the agent writes.
const FIELD_MANAGER: &str = "carp-agent";

/// A worker's API server.
#[derive(Clone)]
pub struct Server {
    client: Client,
}

/// The identity of a worker's cluster and what Flux applied there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The UID of the `kube-system` namespace.
    pub uid: String,
    /// The digest on the sentinel; `None` before Flux applied it for the first time.
    pub applied: Option<Digest>,
}

impl Server {
    /// Connects as `kubectl` does: with the file and context that are named, else with `KUBECONFIG`,
    /// else as a pod of the cluster. Nothing is sent yet.
    ///
    /// # Errors
    /// Nothing says where the API server is, or the file cannot be read.
    pub async fn connect(file: Option<&Path>, context: Option<&str>) -> Result<Self, Error> {
        Ok(Self { client: client(file, context).await? })
    }

    /// Who the cluster is, and what was applied.
    ///
    /// # Errors
    /// The API server does not answer or does not let us.
    pub async fn identity(&self) -> Result<Identity, Error> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let system = namespaces.get("kube-system").await.map_err(|e| Error::Api {
            what: "reading the namespace kube-system".to_owned(),
            detail: e.to_string(),
        })?;
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), FLUX_SYSTEM);
        let sentinel = maps.get_opt(SENTINEL).await.map_err(|e| Error::Api {
            what: "reading the ConfigMap flux-system/carp-worker".to_owned(),
            detail: e.to_string(),
        })?;
        let applied = sentinel.and_then(|map| {
            let text = map.metadata.annotations?.get(DIGEST_ANNOTATION)?.clone();
            text.strip_prefix("sha256:").unwrap_or(&text).parse().ok()
        });
        Ok(Identity { uid: system.metadata.uid.unwrap_or_default(), applied })
    }

    /// Watches a kind. The stream ends after the first failure, which is its last item: what happened
    /// since is known only after a new list.
    pub fn watch(&self, kind: ObservedKind) -> impl Stream<Item = WatchEvent> + Send + use<> {
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource(kind));
        let mut failed = false;
        watcher::watcher(api, watcher::Config::default())
            .take_while(move |event| {
                let goes_on = !failed;
                failed = event.is_err();
                std::future::ready(goes_on)
            })
            .map(move |event| match event {
                Ok(event) => change(kind, event),
                Err(error) => WatchEvent::Failed(trouble(&error)),
            })
    }

    /// Writes the status of a ManagedCluster or a Worker by server-side apply, as the owner of its fields.
    ///
    /// # Errors
    /// The API server does not answer or does not let us, or the object is gone.
    pub async fn apply_status(
        &self,
        kind: ObservedKind,
        name: &Name,
        status: Value,
    ) -> Result<(), Error> {
        let resource = resource(kind);
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), name.as_str(), &resource);
        let document = serde_json::json!({
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {"name": name, "namespace": name},
            "status": status,
        });
        let params = PatchParams::apply(FIELD_MANAGER).force();
        let applied = api.patch_status(name.as_str(), &params, &Patch::Apply(&document)).await;
        applied.map(|_| ()).map_err(|e| Error::Api {
            what: format!("writing the status of {} {name}", kind.name()),
            detail: e.to_string(),
        })
    }
}

fn resource(kind: ObservedKind) -> ApiResource {
    let of = GroupVersionKind::gvk(kind.group(), kind.version(), kind.name());
    ApiResource::from_gvk_with_plural(&of, kind.plural())
}

fn change(kind: ObservedKind, event: Event<DynamicObject>) -> WatchEvent {
    let read = |object: &DynamicObject| {
        let mut value = serde_json::to_value(object)?;
        bring_home(kind, &mut value);
        serde_json::from_value::<super::ObservedObject>(value)
    };
    match event {
        Event::Init => WatchEvent::Restarted,
        Event::InitDone => WatchEvent::Complete,
        Event::InitApply(object) => {
            read(&object).map_or(WatchEvent::Unreadable, WatchEvent::Listed)
        }
        Event::Apply(object) => read(&object).map_or(WatchEvent::Unreadable, WatchEvent::Applied),
        Event::Delete(object) => {
            let metadata = object.metadata;
            WatchEvent::Gone(
                metadata.namespace.unwrap_or_default(),
                metadata.name.unwrap_or_default(),
            )
        }
    }
}

/// Puts what an object says elsewhere where Cluster API's contract has it.
fn bring_home(kind: ObservedKind, object: &mut Value) {
    let Some(paths) = kind.paths() else { return };
    for (at, [parent, key]) in paths.elsewhere() {
        let said = object.pointer(at).cloned();
        let parent = object.as_object_mut().map(|object| object.entry(parent));
        let parent = parent.map(|parent| parent.or_insert_with(|| serde_json::json!({})));
        if let (Some(said), Some(Value::Object(parent))) = (said, parent) {
            parent.insert(key.to_owned(), said);
        }
    }
}

/// What a failed watch means.
fn trouble(error: &watcher::Error) -> WatchTrouble {
    let code = match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::WatchFailed(kube::Error::Api(status))
        | watcher::Error::WatchError(status) => status.code,
        _ => 0,
    };
    match code {
        404 => WatchTrouble::NotServed,
        401 | 403 => WatchTrouble::Denied(error.to_string()),
        _ => WatchTrouble::Broken(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{KindRole, ObservedPaths, ProvidedKind};

    #[test]
    fn what_is_said_elsewhere_is_read() {
        let declared = ProvidedKind {
            roles: vec![KindRole::ControlPlane],
            api_version: "g.example.com/v1".to_owned(),
            kind: "Elsewhere".to_owned(),
            paths: ObservedPaths {
                wanted_version: Some("/spec/release/version".to_owned()),
                version: Some("/status/running".to_owned()),
                ..ObservedPaths::default()
            },
            ..ProvidedKind::default()
        };
        let all = ObservedKind::with(vec![declared]);
        let kind = all.into_iter().find(|kind| kind.name() == "Elsewhere").unwrap();
        let read = |object: Value| {
            let mut object = object;
            bring_home(kind, &mut object);
            serde_json::from_value::<super::super::ObservedObject>(object).unwrap()
        };
        let seen = read(
            json!({"spec": {"release": {"version": "v1.35.0"}}, "status": {"running": "v1.34.2"}}),
        );
        assert_eq!(seen.status.version.as_deref(), Some("v1.34.2"));
        assert_eq!(seen.spec.version.as_deref(), Some("v1.35.0"));
        assert_eq!(read(json!({})).status.version, None, "nothing is said yet");
    }
}
