//! The component layers of a cluster with Cluster API: the same on workers and on the control plane.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::agent::{self, Agent};
use super::context::{ComponentVersions, ProviderSite, providers};
use super::crd::crds;
use super::federation;
use super::flux::{self, FleetRepository, Kustomization};
use super::health;
use super::job::{Job, Scope};
use super::mirror;
use super::rights::{self, RenderSettings};
use super::templates::Templates;
use crate::model::{FlavorKind, RenderedWith};

/// The layers, each after the one before, with how long Flux waits for each.
const LAYERS: [(&str, &str); 5] = [
    ("crds", "5m"),
    ("cert-manager", "15m"),
    ("capi-operator", "15m"),
    ("providers", "30m"),
    ("platform", "15m"),
];
/// The folder of templates.
const FOLDER: &str = "components";
/// The layer that carp makes itself, from its own types.
const CRDS: &str = "crds";
/// The file with the Flux objects.
const LAYERS_FILE: &str = "layers.yaml";
/// The templates of the agent's layer and the files that they make.
const AGENT_TEMPLATES: [(&str, &str); 2] = [("agent", "agent"), ("agent-rbac", "rbac")];
/// How long Flux waits for the agent. It holds a place in Flux's queue while it does.
const AGENT_TIMEOUT: &str = "3m";
/// What templates of the layers use of the table, the parts of the platform apart.
pub(super) const COMPONENTS: [&str; 2] = ["capi-operator", "cert-manager"];

/// What the layers of one cluster differ by.
pub(super) struct LayerSite<'a> {
    /// The cluster's folder below the fleet's root.
    pub(super) folder: String,
    pub(super) repository: FleetRepository<'a>,
    pub(super) components: ComponentVersions<'a>,
    /// Whether it is made in containers: what needs credentials is not made from here.
    pub(super) in_containers: bool,
    /// Whether carp makes the cluster itself, and so its StorageClass too.
    pub(super) storage_class: bool,
    /// The service account that applies the folders of clusters.
    pub(super) applier: &'static str,
    /// The tenants whose folders have a service account of their own.
    pub(super) tenants: Vec<&'a str>,
    /// The kind of flavors whose objects it may touch.
    pub(super) applies: FlavorKind,
    /// The settings with which its folders are rendered, or were.
    pub(super) settings: RenderSettings,
    /// Whether clusters of kind may be made from here.
    pub(super) containers: bool,
    /// The agent that reports the cluster.
    pub(super) agent: Option<Agent>,
    /// The data stores of which the cluster's Worker says something, as templates get them.
    pub(super) data_stores: Vec<Value>,
    /// What the root's `kustomization.yaml` lists besides the layers.
    pub(super) beside: &'a [&'a str],
}

impl LayerSite<'_> {
    fn made_here<'a>(&'a self, templates: &'a Templates) -> ProviderSite<'a> {
        ProviderSite {
            catalogue: templates.catalogue(),
            makes: self.applies,
            in_containers: self.in_containers,
            fleet: self.repository.spec,
        }
    }

    /// The settings by which providers are told more, or may do more, on this cluster. Where workers are made, whom
    /// identities trust is said to Azure; networks are peered wherever clusters are made.
    fn settings_here(&self) -> Vec<RenderedWith> {
        let of_workers = (self.applies == FlavorKind::Worker).then_some(RenderedWith::Identity);
        let all = of_workers.into_iter().chain([RenderedWith::VnetPeerings]);
        all.filter(|with| self.settings.has(*with)).collect()
    }
}

/// The job of a cluster's layers.
pub(super) fn job(site: LayerSite<'_>, templates: &Templates) -> Job {
    let rendered = LAYERS.iter().filter(|(layer, _)| *layer != CRDS);
    let rendered = rendered.map(|(l, _)| (format!("{FOLDER}/{l}.yaml"), format!("{l}/{l}.yaml")));
    let agent = AGENT_TEMPLATES.iter().filter(|_| site.agent.is_some());
    let agent = agent.map(|(template, file)| {
        (format!("{FOLDER}/{template}.yaml"), format!("{}/{file}.yaml", agent::LAYER))
    });
    let rendered = rendered.chain(agent);
    let crds = crds(site.containers);
    let crd_files = crds.iter().map(|crd| crd.file.to_owned()).collect();
    let mut listed: Vec<_> = LAYERS
        .iter()
        .filter(|(layer, _)| *layer != CRDS)
        .map(|(layer, _)| ((*layer).to_owned(), vec![format!("{layer}.yaml")]))
        .collect();
    listed.push((CRDS.to_owned(), crd_files));
    if site.agent.is_some() {
        let files = AGENT_TEMPLATES.iter().map(|(_, file)| format!("{file}.yaml")).collect();
        listed.push((agent::LAYER.to_owned(), files));
    }
    let root = site.beside.iter().copied().chain([LAYERS_FILE]).map(str::to_owned).collect();
    listed.push((String::new(), root));
    let added = vec![(LAYERS_FILE.to_owned(), flux_objects(&site, templates))];
    let fixed = crds.into_iter().map(|crd| (format!("{CRDS}/{}", crd.file), crd)).collect();
    Job {
        context: context(&site, templates),
        templates: templates.clone(),
        folder: FOLDER.to_owned(),
        rendered: rendered.collect(),
        added,
        fixed,
        listed,
        scope: Scope::Components,
        // A flavor that cannot be read declares no kinds: without it, what applies the folders would
        // lose the right to touch the clusters that are there.
        edits: None,
        problems: templates.broken_manifests().cloned().collect(),
    }
}

fn context(site: &LayerSite<'_>, templates: &Templates) -> Value {
    let made_here = site.made_here(templates);
    let mut context = json!({
        "containers": site.containers,
        "storageClass": site.storage_class,
        "registry": site.repository.spec.images.as_ref().and_then(|i| i.registry.as_deref()),
        "components": site.components.only(&components(site, templates)),
        "sources": mirror::of(site.repository.spec),
        "providers": providers(site.components, made_here, &site.settings_here()),
        "applier": site.applier,
        "tenants": site.tenants,
        "rules": rights::rules(templates, site.applies, &site.settings),
        "agent": site.agent.as_ref().map(|agent| agent.context(templates.catalogue())),
    });
    if site.settings_here().contains(&RenderedWith::Identity) {
        context["federates"] = true.into();
    }
    if site.applies == FlavorKind::Worker && site.settings.has(RenderedWith::IssuerStorage) {
        context["issuers"] = federation::issuers(site.repository.spec);
    }
    if !site.data_stores.is_empty() {
        context["dataStores"] = site.data_stores.clone().into();
    }
    let wanted = made_here.platform();
    for part in parts(templates) {
        context[part] = wanted.iter().any(|wanted| wanted.name == part).into();
    }
    context
}

/// The names of all parts of the platform that any flavor names.
fn parts(templates: &Templates) -> BTreeSet<&str> {
    let all = templates.catalogue().flavors().flat_map(|(_, flavor)| &flavor.platform);
    all.map(|part| part.name.as_str()).collect()
}

/// What templates of the layers use of the table.
fn components<'a>(site: &LayerSite<'_>, templates: &'a Templates) -> Vec<&'a str> {
    let flavors = templates.catalogue().flavors().filter(|_| !site.data_stores.is_empty());
    let stores = flavors.filter_map(|(_, flavor)| flavor.data_stores.as_ref());
    let of_stores = stores.flat_map(|stores| &stores.components).map(String::as_str);
    COMPONENTS.iter().copied().chain(parts(templates)).chain(of_stores).collect()
}

/// The source, if carp delivers, and a Kustomization for each layer. Components are waited for.
fn flux_objects(site: &LayerSite<'_>, templates: &Templates) -> Vec<Value> {
    let mut objects: Vec<_> = site.repository.source(&site.folder).into_iter().collect();
    let made_here = site.made_here(templates);
    let has = health::Has {
        providers: providers(site.components, made_here, &[]),
        platform: made_here.platform(),
    };
    let mut before: Option<String> = None;
    for (id, timeout) in LAYERS {
        let name = format!("component-{id}");
        let path = site.repository.path(&format!("{}/{id}", site.folder));
        let mut layer = Kustomization::new(&name, flux::FLUX_SYSTEM, &path)
            .with("timeout", timeout)
            .with("wait", true);
        if let Some(expressions) = health::expressions(id, &has) {
            layer = layer.with("healthCheckExprs", expressions);
        }
        if let Some(before) = before {
            layer = layer.after(&before);
        }
        objects.push(layer.done());
        before = Some(name);
    }
    objects.extend(site.agent.as_ref().map(|_| agent_layer(site)));
    objects
}

/// The agent's Kustomization: nothing waits for it, and it waits for nothing.
fn agent_layer(site: &LayerSite<'_>) -> Value {
    let path = site.repository.path(&format!("{}/{}", site.folder, agent::LAYER));
    Kustomization::new(&format!("component-{}", agent::LAYER), flux::FLUX_SYSTEM, &path)
        .with("timeout", AGENT_TIMEOUT)
        .with("wait", true)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_applies_clusters_has_no_rights_in_the_systems_namespaces() {
        let fleet = super::super::fixture::fleet();
        let worker = fleet.workers.values().next().unwrap();
        let templates = Templates::built_in();
        let files = super::super::worker_job(&fleet, worker, &templates, "").render().unwrap();
        let objects = super::super::fixture::objects_of;
        let policy = &objects(&files, "ValidatingAdmissionPolicy")[0];
        let binding = &objects(&files, "ValidatingAdmissionPolicyBinding")[0]["spec"];
        assert_eq!(binding["policyName"], policy["metadata"]["name"]);
        assert_eq!(binding["validationActions"], json!(["Deny"]));
        // Whoever is kept to the label must be given it.
        let cluster = super::super::fixture::cluster_files(&fleet);
        let namespace = &objects(&cluster, "Namespace")[0]["metadata"];
        assert_eq!(namespace["labels"]["carp.dev/cluster"], namespace["name"]);
    }
}
