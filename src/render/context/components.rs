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

/// One provider: its kind and name for the operator, its namespace, its component, its image.
struct Provider {
    kind: &'static str,
    name: &'static str,
    namespace: &'static str,
    component: &'static str,
    image: &'static str,
}

/// The providers that every cluster with Cluster API has. Their names are clusterctl's, by which the
/// operator knows where their releases are.
const PROVIDERS: &[Provider] = &[
    Provider {
        kind: "CoreProvider",
        name: "cluster-api",
        namespace: "capi-system",
        component: "capi",
        image: "registry.k8s.io/cluster-api/cluster-api-controller",
    },
    Provider {
        kind: "BootstrapProvider",
        name: "kubeadm",
        namespace: "capi-kubeadm-bootstrap-system",
        component: "capi",
        image: "registry.k8s.io/cluster-api/kubeadm-bootstrap-controller",
    },
    Provider {
        kind: "ControlPlaneProvider",
        name: "kubeadm",
        namespace: "capi-kubeadm-control-plane-system",
        component: "capi",
        image: "registry.k8s.io/cluster-api/kubeadm-control-plane-controller",
    },
    Provider {
        kind: "InfrastructureProvider",
        name: "azure",
        namespace: "capz-system",
        component: "capz",
        image: "registry.k8s.io/cluster-api-azure/cluster-api-azure-controller",
    },
    Provider {
        kind: "AddonProvider",
        name: "helm",
        namespace: "caaph-system",
        component: "caaph",
        image: "registry.k8s.io/cluster-api-helm/cluster-api-helm-controller",
    },
];

/// The provider of hosted control planes, which clusterctl does not know.
const KAMAJI: Provider = Provider {
    kind: "ControlPlaneProvider",
    name: "kamaji",
    namespace: "kamaji-system",
    component: "kamaji-provider",
    image: "docker.io/clastix/cluster-api-control-plane-provider-kamaji",
};
const KAMAJI_RELEASES: &str =
    "https://github.com/clastix/cluster-api-control-plane-provider-kamaji/releases";

/// The providers of a cluster, as templates get them.
pub(in crate::render) fn providers(components: &Components, hosting: Hosting) -> Value {
    let entry = |p: &Provider, releases: Option<&str>| {
        json!({
            "kind": p.kind,
            "name": p.name,
            "namespace": p.namespace,
            "version": components.version(p.component),
            "image": p.image,
            "releases": releases,
            "featureGates": if p.name == "azure" { vec!["ASOAPI", "MachinePool"] } else { vec![] },
        })
    };
    let wanted = |p: &&Provider| hosting != Hosting::Containers || p.kind == "CoreProvider";
    let mut all: Vec<_> = PROVIDERS.iter().filter(wanted).map(|p| entry(p, None)).collect();
    if hosting == Hosting::Hosted {
        all.push(entry(&KAMAJI, Some(KAMAJI_RELEASES)));
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
