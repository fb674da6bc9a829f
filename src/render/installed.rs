//! Which releases a fleet has installed, and where the definitions of the kinds that they bring are published.

use std::collections::{BTreeMap, BTreeSet};

use super::context::{ComponentVersions, ProviderSite};
use super::control_plane::FLUX;
use super::layers::COMPONENTS;
use crate::model::{Catalogue, FlavorKind, Fleet, Nodes, addresses_of, release_age};

/// A component of a fleet in a version, and the files with its definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledRelease {
    /// The component.
    pub component: String,
    /// The version: the newest that a worker, a pool or the control plane has. Definitions grow: those of an older
    /// one would refuse what is right where the newer one is.
    pub version: String,
    /// The other versions, and who has them; the oldest first.
    pub older: Vec<OlderVersion>,
    /// The files of YAML with the definitions.
    pub addresses: Vec<String>,
    /// The names of the definitions that are wanted of them; all where there is none.
    pub only: Vec<String>,
}

/// A version of a component that is not the newest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OlderVersion {
    /// The version.
    pub version: String,
    /// Who has it: `worker/NAME`, `pool/NAME`, or the control plane.
    pub who: Vec<String>,
}

/// What a fleet has installed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstalledReleases {
    /// Those whose definitions are published somewhere, by component.
    pub releases: Vec<InstalledRelease>,
    /// The components of which nobody says where theirs are.
    pub unpublished: Vec<String>,
}

/// The releases that the workers of a fleet, its pools and its control plane have.
#[must_use]
pub fn installed(fleet: &Fleet) -> InstalledReleases {
    let catalogue = &fleet.catalogue;
    let mut all =
        VersionsFound { catalogue, found: BTreeMap::new(), of_providers: BTreeMap::new() };
    let none = BTreeMap::new();
    let hub = fleet.spec.control_plane.as_ref().map_or(&none, |cluster| &cluster.components);
    all.add(fleet, "the control plane", hub, FlavorKind::Worker, Nodes::Machines);
    for (name, worker) in &fleet.workers {
        let (who, own) = (format!("worker/{name}"), &worker.spec.components.0);
        all.add(fleet, &who, own, FlavorKind::ManagedCluster, worker.nodes());
    }
    for (name, pool) in &fleet.pools {
        let components = &pool.spec.template.spec.components.0;
        let flavor = pool.spec.template.spec.flavor.as_deref();
        let flavor = flavor.and_then(|name| fleet.catalogue.flavor(name));
        let nodes = flavor.map_or(Nodes::Machines, |flavor| flavor.nodes);
        all.add(fleet, &format!("pool/{name}"), components, FlavorKind::ManagedCluster, nodes);
    }
    all.releases()
}

struct VersionsFound<'a> {
    catalogue: &'a Catalogue,
    /// The versions that there are of each component, and who has them.
    found: BTreeMap<&'a str, BTreeMap<String, BTreeSet<String>>>,
    /// Where those of the providers are published, by component.
    of_providers: BTreeMap<&'a str, BTreeSet<String>>,
}

impl<'a> VersionsFound<'a> {
    fn add(
        &mut self,
        fleet: &'a Fleet,
        who: &str,
        own: &BTreeMap<String, String>,
        makes: FlavorKind,
        nodes: Nodes,
    ) {
        let versions = ComponentVersions::overlaid(own);
        let in_containers = nodes == Nodes::Containers;
        let catalogue = self.catalogue;
        let site = ProviderSite { catalogue, makes, in_containers, fleet: &fleet.spec };
        let mut there: Vec<(&str, &str)> = Vec::new();
        there.extend(COMPONENTS.iter().chain([&FLUX]).map(|name| (*name, versions.version(name))));
        there
            .extend(site.platform().iter().map(|part| (&*part.name, versions.version(&part.name))));
        for provider in site.providers() {
            there.push((&provider.component, versions.of(provider)));
            let published = self.of_providers.entry(&provider.component).or_default();
            published.extend(provider.published());
            let beside = provider.beside.iter().map(|beside| &*beside.component);
            there.extend(beside.map(|component| (component, versions.version(component))));
        }
        for (component, published) in catalogue.definitions() {
            let Some(version) = &published.version else { continue };
            let said = versions.version(component);
            there.push((component, if said.is_empty() { version } else { said }));
        }
        for (component, version) in there {
            let versions = self.found.entry(component).or_default();
            versions.entry(version.to_owned()).or_default().insert(who.to_owned());
        }
    }

    fn releases(mut self) -> InstalledReleases {
        let own: BTreeMap<_, _> = self.catalogue.definitions().collect();
        let mut all = InstalledReleases::default();
        for (component, versions) in self.found {
            let versions = versions.into_iter().filter(|(version, _)| !version.is_empty());
            let mut versions: Vec<_> = versions.collect();
            versions.sort_by_cached_key(|(version, _)| release_age(version));
            let mut published = self.of_providers.remove(component).unwrap_or_default();
            let own = own.get(component);
            published.extend(own.into_iter().flat_map(|own| own.addresses.iter().cloned()));
            let component = component.to_owned();
            let Some((version, _)) = versions.pop().filter(|_| !published.is_empty()) else {
                all.unpublished.push(component);
                continue;
            };
            let addresses = addresses_of(published.iter(), &version);
            let only = own.map(|own| own.only.clone()).unwrap_or_default();
            let older = versions.into_iter();
            let older = older
                .map(|(version, who)| OlderVersion { version, who: who.into_iter().collect() })
                .collect();
            all.releases.push(InstalledRelease { component, version, older, addresses, only });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::fleet;
    use super::*;
    use crate::model::tables;

    fn of<'a>(all: &'a InstalledReleases, component: &str) -> &'a InstalledRelease {
        all.releases.iter().find(|release| release.component == component).unwrap()
    }

    #[test]
    fn what_is_built_in_is_published_somewhere() {
        let all = installed(&fleet());
        assert_eq!(all.unpublished, [""; 0]);
        for release in &all.releases {
            assert_eq!(Some(&release.version), tables::components().get(&release.component));
            assert!(release.older.is_empty() && !release.addresses.is_empty(), "{release:?}");
            assert!(release.addresses.iter().all(|address| !address.contains('{')), "{release:?}");
        }
        let capi = &of(&all, "capi").addresses;
        assert_eq!(capi.len(), 3, "core, bootstrap and control plane: {capi:?}");
    }

    #[test]
    fn the_newest_version_counts_and_the_others_are_told() {
        let mut fleet = fleet();
        let (name, worker) = fleet.workers.iter_mut().next().unwrap();
        let who = vec![format!("worker/{name}")];
        worker.spec.components.0.insert("capi".to_owned(), "v1.9.10".to_owned());
        let all = installed(&fleet);
        let capi = of(&all, "capi");
        let newest = tables::components()["capi"].clone();
        assert_eq!(
            (&capi.version, &*capi.older),
            (&newest, &[OlderVersion { version: "v1.9.10".to_owned(), who }][..]),
            "by numbers"
        );
        assert!(capi.addresses.iter().all(|address| address.contains(&format!("/{newest}/"))));
    }

    #[test]
    fn what_is_not_installed_is_not_wanted() {
        let mut fleet = fleet();
        fleet.spec.credentials.clear();
        let without = installed(&fleet);
        let names: Vec<_> = without.releases.iter().map(|r| r.component.as_str()).collect();
        assert!(!names.contains(&"aso") && names.contains(&"flux"), "{names:?}");
    }

    #[test]
    fn a_fleet_says_where_its_own_are() {
        let mut fleet = fleet();
        let provider = "kind: InfrastructureProvider\nname: moon\nnamespace: moon\ncomponent: moon\nversion: v1\nimage: r/m\n\
                        manifests: r/m\n";
        let flavor = "kind: ManagedCluster\nmobility: None\nobjects: []\nproviders: [moon]\n";
        let secrets = "version: v0.20.1\naddresses: ['https://x.example.com/{version}/crds.yaml']\nonly: [as.x.io]\n";
        fleet.catalogue = Catalogue::with([
            ("moon/flavor.yaml", flavor),
            ("providers/moon.yaml", provider),
            ("definitions/secrets.yaml", secrets),
        ]);
        let all = installed(&fleet);
        assert_eq!(all.unpublished, ["moon"]);
        let own = of(&all, "secrets");
        assert_eq!(own.addresses, ["https://x.example.com/v0.20.1/crds.yaml"]);
        assert_eq!((own.version.as_str(), &*own.only), ("v0.20.1", &["as.x.io".to_owned()][..]));
        let worker = fleet.workers.values_mut().next().unwrap();
        worker.spec.components.0.insert("secrets".to_owned(), "v0.19.0".to_owned());
        assert_eq!(of(&installed(&fleet), "secrets").older[0].version, "v0.19.0");
    }
}
