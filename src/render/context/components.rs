//! Versions of the components, and the providers of Cluster API.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::model::api::FleetSpec;
use crate::model::{
    AggregatedRole, AzureCloud, CapiProvider, Catalogue, DeploymentBeside, Flavor, FlavorKind,
    InstalledCrds, KubeVersion, PUBLIC_CLOUD, PlatformPart, RenderedWith, azure_cloud, tables,
};

/// Versions by component.
#[derive(Clone, Copy, Debug)]
pub(in crate::render) struct ComponentVersions<'a> {
    overrides: Option<&'a BTreeMap<String, String>>,
}

impl<'a> ComponentVersions<'a> {
    /// The built-in table with some versions replaced.
    pub(in crate::render) const fn overlaid(overrides: &'a BTreeMap<String, String>) -> Self {
        Self { overrides: Some(overrides) }
    }

    /// The built-in table.
    pub(in crate::render) const fn built_in() -> Self {
        Self { overrides: None }
    }

    fn get(self, component: &str) -> Option<&'a str> {
        let own = self.overrides.and_then(|own| own.get(component));
        own.or_else(|| tables::components().get(component)).map(String::as_str)
    }

    /// The version of one; empty where it is not in the table.
    pub(in crate::render) fn version(self, component: &str) -> &'a str {
        self.get(component).unwrap_or_default()
    }

    /// The version of a provider.
    pub(in crate::render) fn of(self, provider: &'a CapiProvider) -> &'a str {
        self.get(&provider.component).unwrap_or(&provider.version)
    }

    /// Some of them, as templates get them: what they do not use must not change their key.
    pub(in crate::render) fn only(self, names: &[&str]) -> Value {
        let chosen: BTreeMap<_, _> = names.iter().map(|n| (*n, self.version(n))).collect();
        json!(chosen)
    }

    /// Those that a flavor's templates get: what it chose of the table, and its own.
    pub(in crate::render) fn of_flavor(self, flavor: Option<&Flavor>) -> Value {
        let Some(flavor) = flavor else { return json!({}) };
        let own = flavor.components.iter();
        let own = own.map(|(name, pinned)| (name.as_str(), self.get(name).unwrap_or(pinned)));
        let chosen = flavor.add_ons.iter().map(|name| (name.as_str(), self.version(name)));
        json!(chosen.chain(own).collect::<BTreeMap<_, _>>())
    }
}

/// What the providers of a cluster are for.
#[derive(Clone, Copy)]
pub(in crate::render) struct ProviderSite<'a> {
    /// The flavors that there are.
    pub(in crate::render) catalogue: &'a Catalogue,
    /// What is made from here.
    pub(in crate::render) makes: FlavorKind,
    /// Whether it is made in containers on one machine, which no cloud's credentials reach: only flavors that need
    /// none are made from there.
    pub(in crate::render) in_containers: bool,
    /// Whose credentials the fleet has.
    pub(in crate::render) fleet: &'a FleetSpec,
}

impl<'a> ProviderSite<'a> {
    /// The flavors that are made from here. Where the fleet has credentials, only those that it has some for: what
    /// another cloud's clusters need on their worker would wait for that cloud's disks for ever.
    fn flavors(self) -> impl Iterator<Item = &'a Flavor> {
        let all = self.catalogue.flavors().map(|(_, flavor)| flavor);
        let credentials = &self.fleet.credentials;
        let possible = move |flavor: &&Flavor| {
            let needed = flavor.credentials.as_ref().filter(|_| !credentials.is_empty());
            needed.is_none_or(|needed| credentials.iter().any(|c| c.of() == Some(&*needed.of)))
        };
        all.filter(move |flavor| flavor.kinds.contains(&self.makes))
            .filter(move |flavor| !self.in_containers || flavor.credentials.is_none())
            .filter(possible)
    }

    /// The providers that these name and that have something to do, each once.
    pub(in crate::render) fn providers(self) -> Vec<&'a CapiProvider> {
        let mut all: Vec<&CapiProvider> = Vec::new();
        for name in self.flavors().flat_map(|flavor| &flavor.providers) {
            let Some(provider) = self.catalogue.provider(name) else { continue };
            let has = |of: &String| self.fleet.credentials.iter().any(|c| c.of() == Some(of));
            if provider.credentials.as_ref().is_none_or(has) && !all.contains(&provider) {
                all.push(provider);
            }
        }
        all
    }

    /// The parts of the platform that these name, each once.
    pub(in crate::render) fn platform(self) -> Vec<&'a PlatformPart> {
        let mut all: Vec<&PlatformPart> = Vec::new();
        for part in self.flavors().flat_map(|flavor| &flavor.platform) {
            if !all.contains(&part) {
                all.push(part);
            }
        }
        all
    }

    /// The cloud of Azure that machines are made in from here.
    fn cloud(self) -> Option<&'static AzureCloud> {
        let azure = self.fleet.credentials.iter().find_map(|c| c.azure.as_ref())?;
        azure_cloud(azure.environment.as_deref().unwrap_or(PUBLIC_CLOUD))
    }
}

/// The feature gate of Cluster API without which no machine may have taints.
pub(in crate::render) const MACHINE_TAINTS: &str = "MachineTaintPropagation";

/// The providers of a cluster, as templates get them, with what they are told and may do by settings of the fleet.
pub(in crate::render) fn providers(
    components: ComponentVersions<'_>,
    site: ProviderSite<'_>,
    settings_here: &[RenderedWith],
) -> Value {
    let entry = |p: &CapiProvider| {
        let mut entry = json!({
            "kind": p.kind,
            "name": p.name,
            "namespace": p.namespace,
            "version": components.of(p),
            "image": p.image,
            "container": p.container,
            "manifests": p.manifests,
            "settings": site.cloud().and_then(|cloud| settings(p, cloud)),
            "featureGates": p.feature_gates,
            "beside": p.beside.iter().map(|b| beside(b, p, components)).collect::<Vec<_>>(),
        });
        if let Some(url) = &p.url {
            entry["url"] = json!(url);
        }
        if let Some(crds) = p.crds.as_ref().and_then(|crds| told_crds(crds, settings_here)) {
            entry["crds"] = crds;
        }
        if let Some(role) = p.aggregated.as_ref().and_then(|role| granted(role, settings_here)) {
            entry["aggregated"] = role;
        }
        if let Some(secret) = &p.config_secret {
            entry["configSecret"] = json!(secret.name);
        }
        entry
    };
    site.providers().into_iter().map(entry).collect()
}

/// What a Deployment is told of the kinds to install; `None` where these are those that it installs anyway.
fn told_crds(crds: &InstalledCrds, settings_here: &[RenderedWith]) -> Option<Value> {
    let more = settings_here.iter().filter_map(|with| crds.with.get(with)).flatten();
    let more: BTreeSet<_> = more.collect();
    let all: BTreeSet<_> = crds.patterns.iter().chain(more.iter().copied()).collect();
    (!more.is_empty()).then(|| json!({"deployment": crds.deployment, "patterns": all}))
}

/// The rules of a role that are there; `None` where none is.
fn granted(role: &AggregatedRole, settings_here: &[RenderedWith]) -> Option<Value> {
    let rules = role.rules.iter().filter(|rule| settings_here.contains(&rule.with));
    let rules: Vec<_> = rules.collect();
    (!rules.is_empty()).then(|| json!({"label": role.label, "rules": rules}))
}

/// What a provider must be told of a cloud that is not the public one.
fn settings(provider: &CapiProvider, cloud: &AzureCloud) -> Option<Value> {
    if provider.cloud_settings.is_empty() || cloud.name == PUBLIC_CLOUD {
        return None;
    }
    let cloud = json!(cloud);
    let all = provider.cloud_settings.iter().map(|(name, field)| (name, cloud[field].clone()));
    Some(json!(all.collect::<BTreeMap<_, _>>()))
}

fn beside(
    beside: &DeploymentBeside,
    provider: &CapiProvider,
    components: ComponentVersions<'_>,
) -> Value {
    let release = |text: &str| text.parse::<KubeVersion>().ok();
    let has_init = release(components.of(provider)) >= release(&beside.init_since);
    json!({
        "deployment": beside.deployment,
        "container": beside.container,
        "image": beside.image,
        "version": components.version(&beside.component),
        "hasInit": has_init,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::{AzureCredentials, Credentials};

    const WORKER: FlavorKind = FlavorKind::ManagedCluster;
    const CONTROL_PLANE: FlavorKind = FlavorKind::Worker;

    fn fleet(cloud: &str) -> FleetSpec {
        let environment = Some(cloud.to_owned());
        let azure = Some(AzureCredentials { environment, ..AzureCredentials::default() });
        let credentials = vec![Credentials { azure, ..Credentials::default() }];
        FleetSpec { credentials, ..FleetSpec::default() }
    }

    fn all_of(own: &BTreeMap<String, String>, makes: FlavorKind, fleet: &FleetSpec) -> Vec<Value> {
        let catalogue = Catalogue::default();
        let site = ProviderSite { catalogue: &catalogue, makes, in_containers: false, fleet };
        let Value::Array(all) = providers(ComponentVersions::overlaid(own), site, &[]) else {
            panic!()
        };
        all
    }

    fn all(makes: FlavorKind) -> Vec<Value> {
        all_of(&BTreeMap::new(), makes, &fleet(PUBLIC_CLOUD))
    }

    #[test]
    fn every_component_that_templates_use_is_pinned() {
        let components = ComponentVersions::built_in();
        for name in tables::components().keys() {
            assert!(!components.version(name).is_empty(), "{name} has no version");
        }
        for provider in all(WORKER) {
            let version = provider["version"].as_str().unwrap();
            assert!(version.starts_with('v'), "{provider}");
        }
    }

    #[test]
    fn the_core_provider_lets_machines_have_taints_wherever_it_runs() {
        for makes in [WORKER, CONTROL_PLANE] {
            let providers = all(makes);
            assert_eq!(providers[0]["kind"], "CoreProvider");
            assert_eq!(providers[0]["featureGates"], json!([MACHINE_TAINTS]));
        }
    }

    #[test]
    fn a_container_has_the_name_that_its_deployment_gives_it() {
        let all = all(WORKER);
        let named = |container: &str| all.iter().filter(|p| p["container"] == container).count();
        assert_eq!((named("manager"), named("controller")), (5, 1));
        assert_eq!(all.last().unwrap()["name"], "kamaji");
    }

    #[test]
    fn an_older_capz_has_no_init_container_to_patch() {
        let has_init = |capz: &str| {
            let own = BTreeMap::from([("capz".to_owned(), capz.to_owned())]);
            all_of(&own, CONTROL_PLANE, &fleet(PUBLIC_CLOUD))[3]["beside"][0]["hasInit"].clone()
        };
        assert_eq!((has_init("v1.24.3"), has_init("v1.25.0")), (json!(false), json!(true)));
    }

    #[test]
    fn a_worker_may_have_its_own_versions() {
        let own = BTreeMap::from([("capi".to_owned(), "v9.9.9".to_owned())]);
        let fleet = fleet(PUBLIC_CLOUD);
        let all = all_of(&own, CONTROL_PLANE, &fleet);
        assert_eq!(all[0]["version"], "v9.9.9");
        assert_eq!(all.len(), 5, "Kamaji is for workers only");
        let catalogue = Catalogue::default();
        let site = ProviderSite {
            catalogue: &catalogue,
            makes: WORKER,
            in_containers: true,
            fleet: &fleet,
        };
        let light = providers(ComponentVersions::overlaid(&own), site, &[]);
        assert_eq!(light.as_array().unwrap().len(), 1);
        assert_eq!(light[0]["name"], "cluster-api");
    }

    #[test]
    fn without_credentials_there_is_no_provider_that_needs_some() {
        let all = all_of(&BTreeMap::new(), WORKER, &FleetSpec::default());
        assert!(all.iter().all(|p| p["kind"] != "InfrastructureProvider"), "{all:?}");
        assert_eq!(all.len(), 5);
    }

    #[test]
    fn what_a_fleet_has_no_credentials_for_is_not_prepared() {
        let flavor = "kind: ManagedCluster\nmobility: None\ncredentials: {of: moon}\nobjects: []\n\
                      providers: [cluster-api]\n";
        let catalogue = Catalogue::with([("moon/flavor.yaml", flavor)]);
        let moon = Credentials { provider: Some("moon".to_owned()), ..Credentials::default() };
        let fleet = FleetSpec { credentials: vec![moon], ..FleetSpec::default() };
        let site = ProviderSite {
            catalogue: &catalogue,
            makes: WORKER,
            in_containers: false,
            fleet: &fleet,
        };
        assert_eq!(site.platform(), Vec::<&PlatformPart>::new());
        let names: Vec<_> = site.providers().iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["cluster-api"]);
    }

    #[test]
    fn a_flavor_of_the_fleets_own_brings_its_provider() {
        let flavor = "kind: ManagedCluster\nmobility: None\nobjects: []\nproviders: [cluster-api, \
                      infrastructure-moon]\n";
        let provider = "kind: InfrastructureProvider\nname: moon\nnamespace: moon-system\ncomponent: moon\n\
                        version: v0.1.0\nimage: r/moon\nmanifests: r/m\nurl: https://moon.example.com/v0.1.0\n";
        let files =
            [("moon/flavor.yaml", flavor), ("providers/infrastructure-moon.yaml", provider)];
        let catalogue = Catalogue::with(files);
        let fleet = FleetSpec::default();
        let site = ProviderSite {
            catalogue: &catalogue,
            makes: WORKER,
            in_containers: false,
            fleet: &fleet,
        };
        let find = |components: ComponentVersions<'_>| {
            let all = providers(components, site, &[]);
            all.as_array().unwrap().iter().find(|p| p["name"] == "moon").cloned().unwrap()
        };
        let moon = find(ComponentVersions::built_in());
        assert_eq!(
            (&moon["version"], &moon["url"]),
            (&json!("v0.1.0"), &json!("https://moon.example.com/v0.1.0"))
        );
        let own = BTreeMap::from([("moon".to_owned(), "v0.2.0".to_owned())]);
        assert_eq!(find(ComponentVersions::overlaid(&own))["version"], "v0.2.0");
    }

    #[test]
    fn in_containers_there_is_what_needs_no_credentials() {
        let manifest = "kind: InfrastructureProvider\nname: moon\nnamespace: moon-system\ncomponent: moon\n\
                        version: v0.1.0\nimage: r/moon\nmanifests: r/m\n";
        let names = |flavor: &str| {
            let files =
                [("moon/flavor.yaml", flavor), ("providers/infrastructure-moon.yaml", manifest)];
            let (catalogue, fleet) = (Catalogue::with(files), fleet(PUBLIC_CLOUD));
            let (makes, in_containers) = (WORKER, true);
            let site = ProviderSite { catalogue: &catalogue, makes, in_containers, fleet: &fleet };
            site.providers().into_iter().map(|p| p.name.clone()).collect::<Vec<_>>()
        };
        let flavor = "kind: ManagedCluster\nmobility: None\nobjects: []\nproviders: [cluster-api, \
                      infrastructure-moon]\n";
        assert_eq!(names(flavor), ["cluster-api", "moon"]);
        assert_eq!(names(&format!("{flavor}credentials: {{of: azure}}\n")), ["cluster-api"]);
    }

    #[test]
    fn azure_service_operator_is_told_of_a_cloud_that_is_not_the_public_one() {
        let settings = |cloud: &str| {
            let all = all_of(&BTreeMap::new(), CONTROL_PLANE, &fleet(cloud));
            all.iter().find(|p| p["kind"] == "InfrastructureProvider").unwrap()["settings"].clone()
        };
        assert_eq!(settings(PUBLIC_CLOUD), Value::Null);
        assert_eq!(
            settings("AzureChinaCloud")["AZURE_AUTHORITY_HOST"],
            "https://login.chinacloudapi.cn/"
        );
    }
}
