//! Versions of the components, and the providers of Cluster API.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::tables;

/// Versions by component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::render) struct Components(BTreeMap<String, String>);

impl Components {
    /// The built-in table with some versions replaced.
    pub(in crate::render) fn overlaid(overrides: &BTreeMap<String, String>) -> Self {
        let mut all = tables::components().clone();
        all.extend(overrides.iter().map(|(k, v)| (k.clone(), v.clone())));
        Self(all)
    }

    /// The version of one; empty where it is not in the table.
    pub(in crate::render) fn version(&self, component: &str) -> &str {
        self.0.get(component).map_or("", String::as_str)
    }

    /// Some of them, as templates get them: what they do not use must not change their key.
    pub(in crate::render) fn only(&self, names: &[&str]) -> Value {
        let chosen: BTreeMap<_, _> = names.iter().map(|n| (*n, self.version(n))).collect();
        json!(chosen)
    }
}

/// What a cluster has Cluster API for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::render) enum Hosting {
    /// Clusters in Azure whose control planes it hosts: a worker.
    Hosted,
    /// Clusters in Azure with control planes of their own: the control plane.
    None,
    /// Clusters of kind, for which Cluster API's core is enough: a worker that is one itself.
    Containers,
}

/// One provider: its kind and name for the operator, its namespace, its component, its image, and the
/// feature gates that are on. Its name is clusterctl's, by which the operator knows where its releases are
/// (Cluster API, `cmd/clusterctl/client/config/providers_client.go`).
struct Provider {
    kind: &'static str,
    name: &'static str,
    namespace: &'static str,
    component: &'static str,
    image: &'static str,
    feature_gates: &'static [&'static str],
}

/// The feature gate of Cluster API without which no machine may have taints.
pub(in crate::render) const MACHINE_TAINTS: &str = "MachineTaintPropagation";

/// The providers that every cluster with Cluster API has.
const PROVIDERS: &[Provider] = &[
    Provider {
        kind: "CoreProvider",
        name: "cluster-api",
        namespace: "capi-system",
        component: "capi",
        image: "registry.k8s.io/cluster-api/cluster-api-controller",
        feature_gates: &[MACHINE_TAINTS],
    },
    Provider {
        kind: "BootstrapProvider",
        name: "kubeadm",
        namespace: "capi-kubeadm-bootstrap-system",
        component: "capi",
        image: "registry.k8s.io/cluster-api/kubeadm-bootstrap-controller",
        feature_gates: &[],
    },
    Provider {
        kind: "ControlPlaneProvider",
        name: "kubeadm",
        namespace: "capi-kubeadm-control-plane-system",
        component: "capi",
        image: "registry.k8s.io/cluster-api/kubeadm-control-plane-controller",
        feature_gates: &[],
    },
    Provider {
        kind: "InfrastructureProvider",
        name: "azure",
        namespace: "capz-system",
        component: "capz",
        image: "registry.k8s.io/cluster-api-azure/cluster-api-azure-controller",
        feature_gates: &["ASOAPI", "MachinePool"],
    },
    Provider {
        kind: "AddonProvider",
        name: "helm",
        namespace: "caaph-system",
        component: "caaph",
        image: "registry.k8s.io/cluster-api-helm/cluster-api-helm-controller",
        feature_gates: &[],
    },
];

/// The provider of hosted control planes.
const KAMAJI: Provider = Provider {
    kind: "ControlPlaneProvider",
    name: "kamaji",
    namespace: "kamaji-system",
    component: "kamaji-provider",
    image: "docker.io/clastix/cluster-api-control-plane-provider-kamaji",
    feature_gates: &[],
};

/// The providers of a cluster, as templates get them.
pub(in crate::render) fn providers(components: &Components, hosting: Hosting) -> Value {
    let entry = |p: &Provider| {
        json!({
            "kind": p.kind,
            "name": p.name,
            "namespace": p.namespace,
            "version": components.version(p.component),
            "image": p.image,
            "featureGates": p.feature_gates,
        })
    };
    let wanted = |p: &&Provider| hosting != Hosting::Containers || p.kind == "CoreProvider";
    let mut all: Vec<_> = PROVIDERS.iter().filter(wanted).map(entry).collect();
    if hosting == Hosting::Hosted {
        all.push(entry(&KAMAJI));
    }
    Value::Array(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_component_that_templates_use_is_pinned() {
        let components = Components::overlaid(&BTreeMap::new());
        for name in tables::components().keys() {
            assert!(!components.version(name).is_empty(), "{name} has no version");
        }
        for provider in PROVIDERS.iter().chain([&KAMAJI]) {
            assert!(
                components.version(provider.component).starts_with('v'),
                "{}",
                provider.component
            );
        }
    }

    #[test]
    fn the_core_provider_lets_machines_have_taints_wherever_it_runs() {
        for hosting in [Hosting::Hosted, Hosting::None, Hosting::Containers] {
            let providers = providers(&Components::overlaid(&BTreeMap::new()), hosting);
            assert_eq!(providers[0]["kind"], "CoreProvider");
            assert_eq!(providers[0]["featureGates"], json!([MACHINE_TAINTS]));
        }
    }

    #[test]
    fn a_worker_may_have_its_own_versions() {
        let own = BTreeMap::from([("capi".to_owned(), "v9.9.9".to_owned())]);
        let providers = providers(&Components::overlaid(&own), Hosting::None);
        assert_eq!(providers[0]["version"], "v9.9.9");
        assert_eq!(providers.as_array().unwrap().len(), 5, "Kamaji is for workers only");
        let light = super::providers(&Components::overlaid(&own), Hosting::Containers);
        assert_eq!(
            (light.as_array().unwrap().len(), &light[0]["name"]),
            (1, &json!("cluster-api"))
        );
    }
}
