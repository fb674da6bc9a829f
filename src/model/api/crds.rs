//! The CustomResourceDefinitions of the API.

use kube::CustomResourceExt;
use serde_json::{Value, json};

use super::{
    Acknowledgement, Fleet, KINDCluster, ManagedCluster, ManagedClusterClass, PlacementPolicy,
    PlacementPolicyTest, Worker, WorkerOverlay, WorkerPool,
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
    let mut all = crds();
    all.extend([
        kind_crd(),
        file::<Acknowledgement>(),
        file::<Fleet>(),
        file::<ManagedClusterClass>(),
        file::<PlacementPolicy>(),
        file::<PlacementPolicyTest>(),
        file::<WorkerOverlay>(),
        file::<WorkerPool>(),
    ]);
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
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
    crd["metadata"]["annotations"] = json!({"kustomize.toolkit.fluxcd.io/prune": "disabled"});
    (format!("{}.yaml", K::crd_name()), crd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_crd_and_clusters_have_what_stands_on_them() {
        let names = |crds: Vec<(String, Value)>| crds.into_iter().map(|c| c.0).collect::<Vec<_>>();
        assert_eq!(names(crds()), ["managedclusters.carp.dev.yaml", "workers.carp.dev.yaml"]);
        assert_eq!(names(all_crds()).len(), 10);
        for (file, crd) in all_crds() {
            let prune = &crd["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/prune"];
            assert_eq!(prune, "disabled", "{file}");
        }
    }
}
