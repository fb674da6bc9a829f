//! The CustomResourceDefinitions of the API.

use kube::CustomResourceExt;
use kube::core::ApiResource;
use serde_json::{Value, json};

use super::{
    Acknowledgement, Fleet, KINDCluster, ManagedCluster, ManagedClusterClass, OverridePolicy,
    PlacementPolicy, PlacementPolicyTest, Worker, WorkerOverlay, WorkerPool,
};

/// The CRDs that clusters have, by file name: those of the kinds of which objects stand on a cluster. A
/// ManagedCluster is on its worker and a Worker on the control plane; the other kinds are read from Git
/// only.
#[must_use]
pub fn crds() -> Vec<(String, Value)> {
    vec![file::<ManagedCluster>(), file::<Worker>()]
}

/// The CRDs of every kind, by file name: for editors and for `kubectl explain`.
#[must_use]
pub fn all_crds() -> Vec<(String, Value)> {
    let mut all: Vec<_> = api_kinds().iter().map(ApiKind::crd).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// A kind, with its names. To make its CRD takes milliseconds.
pub struct ApiKind {
    /// Its name, plural, group and version.
    pub resource: ApiResource,
    /// What it is called for short.
    pub short_names: &'static [&'static str],
    crd: fn() -> (String, Value),
}

impl ApiKind {
    fn of<K: CustomResourceExt>() -> Self {
        Self { resource: K::api_resource(), short_names: K::shortnames(), crd: file::<K> }
    }

    /// Its CRD, by file name.
    #[must_use]
    pub fn crd(&self) -> (String, Value) {
        (self.crd)()
    }
}

/// Every kind, by name.
#[must_use]
pub fn api_kinds() -> Vec<ApiKind> {
    let mut kinds = vec![
        ApiKind::of::<Acknowledgement>(),
        ApiKind::of::<Fleet>(),
        ApiKind::of::<KINDCluster>(),
        ApiKind::of::<ManagedCluster>(),
        ApiKind::of::<ManagedClusterClass>(),
        ApiKind::of::<OverridePolicy>(),
        ApiKind::of::<PlacementPolicy>(),
        ApiKind::of::<PlacementPolicyTest>(),
        ApiKind::of::<Worker>(),
        ApiKind::of::<WorkerOverlay>(),
        ApiKind::of::<WorkerPool>(),
    ];
    kinds.sort_by(|a, b| a.resource.kind.cmp(&b.resource.kind));
    kinds
}

/// The CRD of `KINDCluster`, by file name: for clusters on which `carp kind run` works.
#[must_use]
pub fn kind_crd() -> (String, Value) {
    file::<KINDCluster>()
}

/// The CRD of a kind, which Flux never prunes: with a CRD go all objects of its kind.
///
/// # Panics
/// Never: a CRD serialises to JSON.
fn file<K: CustomResourceExt>() -> (String, Value) {
    let mut crd = serde_json::to_value(K::crd()).expect("a CRD serialises to JSON");
    known_formats(&mut crd);
    crd["metadata"]["annotations"] = json!({"kustomize.toolkit.fluxcd.io/prune": "disabled"});
    (format!("{}.yaml", K::crd_name()), crd)
}

/// Takes out the formats that no API server knows and warns of at every apply: Rust's unsigned numbers, whose
/// bounds stand beside them (Kubernetes, `apiextensions-apiserver/pkg/apiserver/validation/formats.go`, and
/// the numbers' `int32` and `int64`).
fn known_formats(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            let unsigned = |format: &Value| format.as_str().is_some_and(|f| f.starts_with("uint"));
            if map.contains_key("type") && map.get("format").is_some_and(unsigned) {
                map.remove("format");
            }
            map.values_mut().for_each(known_formats);
        }
        Value::Array(list) => list.iter_mut().for_each(known_formats),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an API server takes without a warning, as its source lists it.
    const FORMATS: &[&str] = &["int32", "int64", "float", "double", "date-time", "date"];

    fn formats(schema: &Value, found: &mut Vec<String>) {
        match schema {
            Value::Object(map) => {
                let format = map.get("format").and_then(Value::as_str);
                found.extend(format.map(ToOwned::to_owned));
                map.values().for_each(|value| formats(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| formats(value, found)),
            _ => {}
        }
    }

    #[test]
    fn a_format_is_one_that_a_server_knows() {
        for (file, crd) in all_crds() {
            let mut found = Vec::new();
            formats(&crd, &mut found);
            let unknown: Vec<_> = found.iter().filter(|f| !FORMATS.contains(&&***f)).collect();
            assert!(unknown.is_empty(), "{file}: {unknown:?}");
        }
    }

    #[test]
    fn every_kind_has_its_crd_and_clusters_have_what_stands_on_them() {
        let names = |crds: Vec<(String, Value)>| crds.into_iter().map(|c| c.0).collect::<Vec<_>>();
        assert_eq!(names(crds()), ["managedclusters.carp.dev.yaml", "workers.carp.dev.yaml"]);
        assert_eq!(names(all_crds()).len(), 11);
        for (file, crd) in all_crds() {
            let prune = &crd["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/prune"];
            assert_eq!(prune, "disabled", "{file}");
        }
    }
}
