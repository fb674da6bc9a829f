//! What is written to an object: its finalizer, its endpoint, its status.
//!
//! Each write carries the version that was read. So of two controllers that begin a creation for one
//! object, one is refused before kind runs.

use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};
use serde_json::json;

use super::super::Error;
use super::{FIELD_MANAGER, FINALIZER};
use crate::model::api::{Endpoint, KINDCluster, KINDClusterStatus};

/// One object's place on the API server.
pub(super) struct ObjectPlace {
    api: Api<KINDCluster>,
    pub(super) namespace: String,
    pub(super) name: String,
}

impl ObjectPlace {
    pub(super) fn new(client: &Client, namespace: &str, name: &str) -> Self {
        let api = Api::namespaced(client.clone(), namespace);
        Self { api, namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// The object as it is now: what a watch has may be older than our own last write.
    pub(super) async fn read(&self) -> Result<Option<KINDCluster>, Error> {
        self.api.get_opt(&self.name).await.map_err(|e| self.failed("reading", &e))
    }

    /// Adds the finalizer; the object as it is then.
    pub(super) async fn hold(&self, object: KINDCluster) -> Result<KINDCluster, Error> {
        if object.finalizers().iter().any(|f| f == FINALIZER) {
            return Ok(object);
        }
        let mut finalizers = object.finalizers().to_vec();
        finalizers.push(FINALIZER.to_owned());
        self.set_finalizers(&object, &finalizers).await
    }

    /// Removes the finalizer: the object may go.
    pub(super) async fn release(&self, object: &KINDCluster) -> Result<(), Error> {
        let mut finalizers = object.finalizers().to_vec();
        finalizers.retain(|f| f != FINALIZER);
        if finalizers.len() == object.finalizers().len() {
            return Ok(());
        }
        self.set_finalizers(object, &finalizers).await.map(drop)
    }

    async fn set_finalizers(
        &self,
        object: &KINDCluster,
        finalizers: &[String],
    ) -> Result<KINDCluster, Error> {
        let version = object.resource_version();
        let patch = json!({"metadata": {"resourceVersion": version, "finalizers": finalizers}});
        self.patch(&patch, "writing the finalizer of").await
    }

    /// Writes where the API server is, as Cluster API wants it.
    pub(super) async fn set_endpoint(
        &self,
        object: KINDCluster,
        endpoint: Option<Endpoint>,
    ) -> Result<KINDCluster, Error> {
        if endpoint.is_none() || object.spec.control_plane_endpoint == endpoint {
            return Ok(object);
        }
        let patch = json!({
            "metadata": {"resourceVersion": object.resource_version()},
            "spec": {"controlPlaneEndpoint": endpoint},
        });
        self.patch(&patch, "writing the endpoint of").await
    }

    async fn patch(&self, patch: &serde_json::Value, doing: &str) -> Result<KINDCluster, Error> {
        let params =
            PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        let done = self.api.patch(&self.name, &params, &Patch::Merge(patch)).await;
        done.map_err(|e| self.failed(doing, &e))
    }

    /// Writes the status, if it is another one; the object as it is then.
    pub(super) async fn tell(
        &self,
        mut object: KINDCluster,
        status: KINDClusterStatus,
    ) -> Result<KINDCluster, Error> {
        if object.status.as_ref() == Some(&status) {
            return Ok(object);
        }
        object.status = Some(status);
        object.metadata.managed_fields = None;
        let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), dry_run: false };
        let done = self.api.replace_status(&self.name, &params, &object).await;
        done.map_err(|e| self.failed("writing the status of", &e))
    }

    fn failed(&self, doing: &str, error: &kube::Error) -> Error {
        Error::Api {
            what: format!("{doing} KINDCluster {}/{}", self.namespace, self.name),
            detail: error.to_string(),
        }
    }
}
