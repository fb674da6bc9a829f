//! The worker itself: what its Flux applied, its components, and whether it can host clusters.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::conditions::bounded;
use super::listing::Listing;
use super::object::ObservedObject;
use super::{FLUX_SYSTEM, ObservedKind};

/// The Kustomization of a worker's whole folder.
const ROOT: &str = "carp-worker";
/// What the names of the layers' Kustomizations begin with.
const LAYER: &str = "component-";
/// The Kustomization of the agent's own layer, which hosts no cluster: while an agent reports, it is up.
const AGENT: &str = "component-agent";

/// The kinds that say which providers are there.
const PROVIDERS: [ObservedKind; 5] = [
    ObservedKind::CoreProvider,
    ObservedKind::BootstrapProvider,
    ObservedKind::ControlPlaneProvider,
    ObservedKind::InfrastructureProvider,
    ObservedKind::AddonProvider,
];

/// Why a worker cannot host clusters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unhealthy {
    /// One word in CamelCase.
    pub(super) reason: &'static str,
    /// For people.
    pub(super) message: String,
    /// Since when; `None` where that is not said.
    pub(super) since: Option<Timestamp>,
}

/// The output commit that Flux applied to the worker's own folder.
pub(super) fn applied_revision(listing: &Listing) -> Option<String> {
    root(listing).and_then(|root| root.status.last_applied_revision.clone())
}

fn root(listing: &Listing) -> Option<&ObservedObject> {
    flux(listing).find(|k| k.name() == ROOT)
}

fn flux(listing: &Listing) -> impl Iterator<Item = &ObservedObject> {
    listing.of(ObservedKind::Kustomization).iter().filter(|k| k.namespace() == FLUX_SYSTEM)
}

/// The versions of what is installed: providers by name, charts by the name of their release. What Flux installs into
/// clusters is theirs.
pub(super) fn components(listing: &Listing) -> BTreeMap<String, String> {
    let providers = PROVIDERS.iter().flat_map(|kind| listing.of(*kind)).filter_map(|provider| {
        Some((provider.name().to_owned(), provider.status.installed_version.clone()?))
    });
    let clusters = listing.clusters();
    let own = listing.of(ObservedKind::HelmRelease).iter();
    let own = own.filter(|release| !clusters.iter().any(|c| c.as_str() == release.namespace()));
    let charts = own.filter_map(|release| {
        let newest = release.status.history.first()?;
        Some((release.name().to_owned(), newest.chart_version.clone()))
    });
    providers.chain(charts).filter(|(_, version)| !version.is_empty()).collect()
}

/// Why the worker cannot host clusters; `None` where nothing says so. A worker is unfit while a layer
/// below the clusters was never applied, or while a provider that makes clusters is not ready. A layer
/// that was applied once and fails to upgrade hosts clusters still.
pub(super) fn unhealthy(listing: &Listing) -> Option<Unhealthy> {
    let never = flux(listing)
        .filter(|k| k.name().starts_with(LAYER) && k.name() != AGENT)
        .find(|k| k.status.last_applied_revision.is_none());
    if let Some(layer) = never {
        let why = layer.condition("Ready").map_or("it was not applied yet", |c| c.message.as_str());
        let message = bounded(&format!("Kustomization {}: {why}", layer.name()));
        return Some(Unhealthy { reason: "LayerNotApplied", message, since: None });
    }
    let providers = PROVIDERS.iter().filter(|kind| **kind != ObservedKind::AddonProvider);
    let broken = providers.flat_map(|kind| listing.of(*kind).iter().map(move |p| (kind, p)));
    let (kind, provider) = broken.into_iter().find(|(_, p)| p.is_false("Ready"))?;
    let why = provider.condition("Ready").map_or("", |c| c.message.as_str());
    let message = bounded(&format!("{} {}: {why}", kind.name(), provider.name()));
    let since = provider.since("Ready");
    Some(Unhealthy { reason: "ProviderNotReady", message, since })
}

/// Since when nothing says that the worker is unfit; `None` where that is not said.
pub(super) fn healthy_since(listing: &Listing) -> Option<Timestamp> {
    let providers = PROVIDERS.iter().filter(|kind| **kind != ObservedKind::AddonProvider);
    providers.flat_map(|kind| listing.of(*kind)).filter_map(|p| p.since("Ready")).max()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn layer(name: &str, applied: Option<&str>) -> Value {
        json!({
            "metadata": {"name": name, "namespace": "flux-system"},
            "status": {
                "lastAppliedRevision": applied,
                "conditions": [{"type": "Ready", "status": "False", "message": "chart not found"}],
            },
        })
    }

    fn provider(ready: &str) -> Value {
        json!({
            "metadata": {"name": "azure", "namespace": "capz-system"},
            "status": {
                "installedVersion": "v1.26.0",
                "conditions": [{
                    "type": "Ready", "status": ready, "message": "no deployment",
                    "lastTransitionTime": "2026-11-01T08:00:00Z",
                }],
            },
        })
    }

    fn listing(layers: Vec<Value>, providers: Vec<Value>) -> Listing {
        let mut listing = Listing::default();
        listing.add(ObservedKind::Kustomization, layers);
        listing.add(ObservedKind::InfrastructureProvider, providers);
        listing
    }

    #[test]
    fn a_worker_whose_layers_were_applied_can_host_clusters() {
        let applied = Some("carp/rendered@sha1:1");
        let listing = listing(
            vec![layer("carp-worker", applied), layer("component-providers", applied)],
            vec![provider("True")],
        );
        assert_eq!(unhealthy(&listing), None, "a failing upgrade takes no worker away");
        assert_eq!(applied_revision(&listing).as_deref(), applied);
        assert_eq!(components(&listing)["azure"], "v1.26.0");
    }

    #[test]
    fn a_layer_that_was_never_applied_or_a_provider_that_is_down_makes_it_unfit() {
        let never = unhealthy(&listing(vec![layer("component-providers", None)], vec![])).unwrap();
        assert_eq!(never.reason, "LayerNotApplied");
        assert_eq!(never.message, "Kustomization component-providers: chart not found");
        let down = unhealthy(&listing(vec![], vec![provider("False")])).unwrap();
        assert_eq!(down.reason, "ProviderNotReady");
        assert_eq!(down.message, "InfrastructureProvider azure: no deployment");
        let since = "2026-11-01T08:00:00Z".parse().ok();
        assert_eq!((never.since, down.since), (None, since));
        assert_eq!(healthy_since(&listing(vec![], vec![provider("True")])), since);
    }

    #[test]
    fn the_agents_own_layer_says_nothing_of_the_worker() {
        assert_eq!(unhealthy(&listing(vec![layer("component-agent", None)], vec![])), None);
    }

    #[test]
    fn a_cluster_that_was_never_applied_is_not_the_workers_fault() {
        assert_eq!(unhealthy(&listing(vec![layer("cluster-a", None)], vec![])), None);
    }

    #[test]
    fn the_newest_release_of_a_chart_counts() {
        let mut listing = Listing::default();
        let history = json!([{"chartVersion": "1.19.1"}, {"chartVersion": "1.18.0"}]);
        let release = json!({"metadata": {"name": "cert-manager"}, "status": {"history": history}});
        listing.add(ObservedKind::HelmRelease, [release]);
        assert_eq!(components(&listing)["cert-manager"], "1.19.1");
    }

    #[test]
    fn what_flux_installs_into_a_cluster_is_no_component() {
        let mut listing = Listing::default();
        let release = |namespace: &str, version: &str| {
            json!({
                "metadata": {"name": "cert-manager", "namespace": namespace},
                "status": {"history": [{"chartVersion": version}]},
            })
        };
        let namespace = json!({"metadata": {"name": "pay", "labels": {"carp.dev/cluster": "pay"}}});
        listing.add(ObservedKind::Namespace, [namespace]);
        let all = [release("cert-manager", "1.19.1"), release("pay", "1.0.0")];
        listing.add(ObservedKind::HelmRelease, all);
        assert_eq!(components(&listing)["cert-manager"], "1.19.1");
    }
}
