//! Versions of the components, and the providers of Cluster API.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::{AzureCloud, KubeVersion, PUBLIC_CLOUD, tables};

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

/// What the providers of a cluster differ by.
#[derive(Clone, Copy, Debug)]
pub(in crate::render) struct Site {
    /// What Cluster API is there for.
    pub(in crate::render) hosting: Hosting,
    /// The cloud of Azure that machines are made in; without one there is no provider for it.
    pub(in crate::render) azure: Option<&'static AzureCloud>,
}

/// One provider: its kind and name for the operator, its namespace, its component, its image, the container
/// that has it, and the feature gates that are on. Its name is clusterctl's, by which the operator knows where
/// its releases are (Cluster API, `cmd/clusterctl/client/config/providers_client.go`). A container that is not
/// in the provider's Deployment ends in `cannot find container`, and nothing of the provider is installed
/// (`cluster-api-operator`, `internal/controller/component_customizer.go`).
struct Provider {
    kind: &'static str,
    name: &'static str,
    namespace: &'static str,
    component: &'static str,
    image: &'static str,
    container: &'static str,
    /// Where its manifests are behind a mirror: where it is released, and which of the release's they are.
    manifests: &'static str,
    feature_gates: &'static [&'static str],
    beside: &'static [Beside],
}

/// A Deployment of a provider besides its own controller's: the operator leaves it as it is unless it is named.
struct Beside {
    deployment: &'static str,
    container: &'static str,
    component: &'static str,
    image: &'static str,
    /// Since which release of the provider its first init container has the provider's own image.
    init_since: &'static str,
}

/// The kind of the provider of machines: Azure's.
const INFRASTRUCTURE: &str = "InfrastructureProvider";

/// The container of nearly every provider.
const MANAGER: &str = "manager";

/// What comes with CAPZ: Azure Service Operator, whose first init container is CAPZ's own image
/// (`cluster-api-provider-azure`, `config/aso`).
const ASO: Beside = Beside {
    deployment: "azureserviceoperator-controller-manager",
    container: MANAGER,
    component: "aso",
    image: "mcr.microsoft.com/k8s/azureserviceoperator",
    init_since: "v1.25.0",
};

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
        container: MANAGER,
        manifests: "github.com/kubernetes-sigs/cluster-api/core-components",
        feature_gates: &[MACHINE_TAINTS],
        beside: &[],
    },
    Provider {
        kind: "BootstrapProvider",
        name: "kubeadm",
        namespace: "capi-kubeadm-bootstrap-system",
        component: "capi",
        image: "registry.k8s.io/cluster-api/kubeadm-bootstrap-controller",
        container: MANAGER,
        manifests: "github.com/kubernetes-sigs/cluster-api/bootstrap-components",
        feature_gates: &[],
        beside: &[],
    },
    Provider {
        kind: "ControlPlaneProvider",
        name: "kubeadm",
        namespace: "capi-kubeadm-control-plane-system",
        component: "capi",
        image: "registry.k8s.io/cluster-api/kubeadm-control-plane-controller",
        container: MANAGER,
        manifests: "github.com/kubernetes-sigs/cluster-api/control-plane-components",
        feature_gates: &[],
        beside: &[],
    },
    Provider {
        kind: INFRASTRUCTURE,
        name: "azure",
        namespace: "capz-system",
        component: "capz",
        image: "registry.k8s.io/cluster-api-azure/cluster-api-azure-controller",
        container: MANAGER,
        manifests: "github.com/kubernetes-sigs/cluster-api-provider-azure/infrastructure-components",
        feature_gates: &["ASOAPI", "MachinePool"],
        beside: &[ASO],
    },
    Provider {
        kind: "AddonProvider",
        name: "helm",
        namespace: "caaph-system",
        component: "caaph",
        image: "registry.k8s.io/cluster-api-helm/cluster-api-helm-controller",
        container: MANAGER,
        manifests: "github.com/kubernetes-sigs/cluster-api-addon-provider-helm/addon-components",
        feature_gates: &[],
        beside: &[],
    },
];

/// The provider of hosted control planes. Its container has a name of its own
/// (`cluster-api-control-plane-provider-kamaji`, `config/manager/manager.yaml`).
const KAMAJI: Provider = Provider {
    kind: "ControlPlaneProvider",
    name: "kamaji",
    namespace: "kamaji-system",
    component: "kamaji-provider",
    image: "docker.io/clastix/cluster-api-control-plane-provider-kamaji",
    container: "controller",
    manifests: "github.com/clastix/cluster-api-control-plane-provider-kamaji/control-plane-components",
    feature_gates: &[],
    beside: &[],
};

/// The providers of a cluster, as templates get them.
pub(in crate::render) fn providers(components: &Components, site: Site) -> Value {
    let Site { hosting, azure } = site;
    let entry = |p: &Provider| {
        json!({
            "kind": p.kind,
            "name": p.name,
            "namespace": p.namespace,
            "version": components.version(p.component),
            "image": p.image,
            "container": p.container,
            "manifests": p.manifests,
            "settings": azure.filter(|_| p.kind == INFRASTRUCTURE).and_then(settings),
            "featureGates": p.feature_gates,
            "beside": p.beside.iter().map(|b| beside(b, p, components)).collect::<Vec<_>>(),
        })
    };
    let wanted = |p: &&Provider| match hosting {
        Hosting::Containers => p.kind == "CoreProvider",
        _ => p.kind != INFRASTRUCTURE || azure.is_some(),
    };
    let mut all: Vec<_> = PROVIDERS.iter().filter(wanted).map(entry).collect();
    if hosting == Hosting::Hosted {
        all.push(entry(&KAMAJI));
    }
    Value::Array(all)
}

/// What Azure Service Operator must be told of a cloud that is not the public one, as entries of the Secret
/// `aso-controller-settings` that comes with CAPZ (`cluster-api-provider-azure`, `config/aso/settings.yaml`).
fn settings(cloud: &AzureCloud) -> Option<Value> {
    (cloud.name != PUBLIC_CLOUD).then(|| {
        json!({
            "AZURE_AUTHORITY_HOST": cloud.authority_host,
            "AZURE_RESOURCE_MANAGER_AUDIENCE": cloud.resource_manager_audience,
            "AZURE_RESOURCE_MANAGER_ENDPOINT": cloud.resource_manager_endpoint,
        })
    })
}

fn beside(beside: &Beside, provider: &Provider, components: &Components) -> Value {
    let release = |text: &str| text.parse::<KubeVersion>().ok();
    let has_init = release(components.version(provider.component)) >= release(beside.init_since);
    json!({
        "deployment": beside.deployment,
        "container": beside.container,
        "image": beside.image,
        "version": components.version(beside.component),
        "hasInit": has_init,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::azure_cloud;

    fn of(hosting: Hosting) -> Site {
        Site { hosting, azure: azure_cloud(PUBLIC_CLOUD) }
    }

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
            let providers = providers(&Components::overlaid(&BTreeMap::new()), of(hosting));
            assert_eq!(providers[0]["kind"], "CoreProvider");
            assert_eq!(providers[0]["featureGates"], json!([MACHINE_TAINTS]));
        }
    }

    #[test]
    fn a_container_has_the_name_that_its_deployment_gives_it() {
        let providers = providers(&Components::overlaid(&BTreeMap::new()), of(Hosting::Hosted));
        let all = providers.as_array().unwrap();
        let named = |container: &str| all.iter().filter(|p| p["container"] == container).count();
        assert_eq!((named("manager"), named("controller")), (5, 1));
        assert_eq!(all.last().unwrap()["name"], "kamaji");
    }

    #[test]
    fn an_older_capz_has_no_init_container_to_patch() {
        let has_init = |capz: &str| {
            let own = BTreeMap::from([("capz".to_owned(), capz.to_owned())]);
            let providers = providers(&Components::overlaid(&own), of(Hosting::None));
            providers[3]["beside"][0]["hasInit"].clone()
        };
        assert_eq!((has_init("v1.24.3"), has_init("v1.25.0")), (json!(false), json!(true)));
    }

    #[test]
    fn a_worker_may_have_its_own_versions() {
        let own = BTreeMap::from([("capi".to_owned(), "v9.9.9".to_owned())]);
        let providers = providers(&Components::overlaid(&own), of(Hosting::None));
        assert_eq!(providers[0]["version"], "v9.9.9");
        assert_eq!(providers.as_array().unwrap().len(), 5, "Kamaji is for workers only");
        let light = super::providers(&Components::overlaid(&own), of(Hosting::Containers));
        assert_eq!(
            (light.as_array().unwrap().len(), &light[0]["name"]),
            (1, &json!("cluster-api"))
        );
    }

    #[test]
    fn without_a_cloud_of_azure_there_is_no_provider_for_it() {
        let none = Site { hosting: Hosting::Hosted, azure: None };
        let all = providers(&Components::overlaid(&BTreeMap::new()), none);
        let kinds: Vec<_> = all.as_array().unwrap().iter().map(|p| p["kind"].clone()).collect();
        assert!(!kinds.contains(&json!(INFRASTRUCTURE)), "{kinds:?}");
        assert_eq!(kinds.len(), 5, "{kinds:?}");
    }

    #[test]
    fn azure_service_operator_is_told_of_a_cloud_that_is_not_the_public_one() {
        let settings = |cloud: &str| {
            let site = Site { hosting: Hosting::None, azure: azure_cloud(cloud) };
            let all = providers(&Components::overlaid(&BTreeMap::new()), site);
            all.as_array().unwrap().iter().find(|p| p["kind"] == INFRASTRUCTURE).unwrap()["settings"].clone()
        };
        assert_eq!(settings(PUBLIC_CLOUD), Value::Null);
        assert_eq!(
            settings("AzureChinaCloud")["AZURE_AUTHORITY_HOST"],
            "https://login.chinacloudapi.cn/"
        );
    }
}
