//! Objects on an API server, read and written over one connection.
//!
//! `kubectl` is a process for each command, which asks a server for all of its kinds before it asks for anything
//! else. Where a test writes many objects that is most of what it costs.

use std::path::Path;
use std::time::Duration;

use kube::Api;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use super::proxy::client;

/// A connection to a server, by which objects are written one after the other.
pub(crate) struct Objects {
    runtime: Runtime,
    client: kube::Client,
}

impl Objects {
    /// By the settings in a kubeconfig.
    pub(crate) fn by(kubeconfig: &Path) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(client(kubeconfig));
        Self { runtime, client }
    }

    /// What the server has at a path; `None` where there is nothing.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Option<Value> {
        match self.runtime.block_on(self.asked(path)) {
            Err(kube::Error::Api(status)) if status.code == 404 => None,
            answer => Some(answer.unwrap_or_else(|error| panic!("{path}: {error}"))),
        }
    }

    /// The same of a server that may not be ready; `None` also where it has not answered after five seconds, or with an error.
    pub(crate) fn get_if_ready(&self, path: &str) -> Option<Value> {
        let asked = async { tokio::time::timeout(Duration::from_secs(5), self.asked(path)).await };
        self.runtime.block_on(asked).ok()?.ok()
    }

    async fn asked(&self, path: &str) -> Result<Value, kube::Error> {
        self.client.request(http::Request::get(path).body(Vec::new()).unwrap()).await
    }

    /// The object that is called like this one; `None` where there is none.
    #[track_caller]
    pub(crate) fn find(&self, object: &Value) -> Option<Value> {
        let there = self.runtime.block_on(api(&self.client, object).get_opt(name(object)));
        let there = there.unwrap_or_else(|error| panic!("{}: {error}", identity(object)));
        there.map(|object| serde_json::to_value(object).unwrap())
    }

    /// The objects of a kind, `KIND.GROUP`, in a namespace, in the first version that has the kind.
    #[track_caller]
    pub(crate) fn list(&self, kind: &str, namespace: &str) -> Vec<Value> {
        let (name, group) = kind.split_once('.').unwrap();
        let plural = carp::model::plural(name);
        let known = self.get(&format!("/apis/{group}")).unwrap();
        let versions = known["versions"].as_array().unwrap().iter();
        let mut lists = versions.filter_map(|version| {
            let version = version["groupVersion"].as_str().unwrap();
            self.get(&format!("/apis/{version}/namespaces/{namespace}/{plural}"))
        });
        let mut list = lists.next().unwrap_or_else(|| panic!("{kind} is not served"));
        list["items"].as_array_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Puts an object in the place of what the server has at a path.
    #[track_caller]
    pub(crate) fn replace(&self, path: &str, object: &Value) {
        let put = http::Request::put(path).header("content-type", "application/json");
        let put = put.body(object.to_string().into_bytes()).unwrap();
        let put = self.runtime.block_on(self.client.request::<Value>(put));
        put.unwrap_or_else(|error| panic!("{path}: {error}"));
    }

    /// Creates an object, and returns what the server made of it.
    #[track_caller]
    pub(crate) fn create(&self, object: &Value) -> Value {
        let api = api(&self.client, object);
        let created = self.runtime.block_on(api.create(&PostParams::default(), &typed(object)));
        let created = created.unwrap_or_else(|error| panic!("{}: {error}", identity(object)));
        serde_json::to_value(created).unwrap()
    }

    /// Whether `user` may do this, as the server's authorizer says, also with kinds that it does not know. An account is in the
    /// groups that servers put it in (apiserver, `pkg/authentication/serviceaccount/util.go`, `MakeGroupNames`, and
    /// `pkg/authentication/group/authenticated_group_adder.go`).
    pub(crate) fn may(&self, user: &str, attributes: Value) -> bool {
        let account = user.strip_prefix("system:serviceaccount:").and_then(|of| of.split_once(':'));
        let mut groups = vec!["system:authenticated".to_owned()];
        groups.extend(account.iter().flat_map(|(namespace, _)| {
            ["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")]
        }));
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "metadata": {},
            "spec": {"user": user, "groups": groups, "resourceAttributes": attributes},
        });
        self.create(&review)["status"]["allowed"].as_bool().unwrap()
    }

    /// Applies an object as Flux does, over what others have said; what the server has then.
    #[track_caller]
    pub(crate) fn apply(&self, object: &Value, manager: &str) -> Value {
        let params = PatchParams::apply(manager).force();
        let patch = Patch::Apply(object);
        let applied = api(&self.client, object);
        let applied = self.runtime.block_on(applied.patch(name(object), &params, &patch));
        let applied = applied.unwrap_or_else(|error| panic!("{}: {error}", identity(object)));
        serde_json::to_value(applied).unwrap()
    }

    /// Changes some fields of an object that is there.
    #[track_caller]
    pub(crate) fn merge(&self, object: &Value, change: Value) {
        let api = api(&self.client, object);
        let (params, change) = (PatchParams::default(), Patch::Merge(change));
        let merged = self.runtime.block_on(api.patch(name(object), &params, &change));
        merged.unwrap_or_else(|error| panic!("{}: {error}", identity(object)));
    }

    /// Writes the status of an object that is there, whoever has changed the object before.
    #[track_caller]
    pub(crate) fn status(&self, object: &Value) {
        let api = api(&self.client, object);
        let there = self.runtime.block_on(api.get(name(object)));
        let there = there.unwrap_or_else(|error| panic!("{}: {error}", identity(object)));
        let mut there = serde_json::to_value(there).unwrap();
        there["status"] = object["status"].clone();
        self.replace_status(&there);
    }

    /// Writes the status of an object that was just read.
    #[track_caller]
    pub(crate) fn replace_status(&self, object: &Value) {
        let api = api(&self.client, object);
        let params = PostParams::default();
        let written =
            self.runtime.block_on(api.replace_status(name(object), &params, &typed(object)));
        written.unwrap_or_else(|error| panic!("status of {}: {error}", identity(object)));
    }

    /// Begins to delete an object that is there.
    #[track_caller]
    pub(crate) fn begin_deletion(&self, object: &Value) {
        let api = api(&self.client, object);
        let begun = self.runtime.block_on(api.delete(name(object), &DeleteParams::background()));
        assert!(begun.is_ok(), "{}: {:?}", identity(object), begun.err());
    }

    /// Deletes an object that is there, and waits until it is gone; half a minute at most.
    #[track_caller]
    pub(crate) fn delete(&self, object: &Value) {
        self.begin_deletion(object);
        let api = api(&self.client, object);
        let gone = self.runtime.block_on(async {
            for _ in 0..600 {
                if api.get_opt(name(object)).await?.is_none() {
                    return Ok(true);
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Ok::<_, kube::Error>(false)
        });
        assert!(gone.unwrap(), "{} is still there", identity(object));
    }
}

/// Where a server has objects like this one.
pub(crate) fn api(client: &kube::Client, object: &Value) -> Api<DynamicObject> {
    let version = object["apiVersion"].as_str().unwrap();
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    let kind = GroupVersionKind::gvk(group, version, object["kind"].as_str().unwrap());
    let plural = carp::model::plural(&kind.kind);
    let resource = ApiResource::from_gvk_with_plural(&kind, &plural);
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    }
}

fn typed(object: &Value) -> DynamicObject {
    serde_json::from_value(object.clone()).unwrap()
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

fn identity(object: &Value) -> Value {
    json!([object["kind"], object["metadata"]["namespace"], object["metadata"]["name"]])
}
