//! What a fleet can be made of: the flavors, providers and clouds that are built in, and those of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::de::DeserializeOwned;

use super::capi_provider::{CapiProvider, read_provider};
use super::cloud::{CloudManifest, read_cloud};
use super::flavor::{
    Flavor, FlavorFault, FlavorKind, Mobility, Networks, read_flavor, read_parameters,
};
use super::parameters::ParameterFile;
use super::provided_kind::ProvidedKind;
use super::published::{DefinitionsManifest, read_definitions};
use super::tables::{self, Location};
use super::template_paths::{
    DEFINITIONS, PARAMETERS, PROVIDERS, cloud_of, declares, definitions_of, flavor_of, manifest_of,
    parameters_of, provider_of,
};
use super::templates::BUILT_IN_MANIFESTS;
use crate::diag::FieldPath;

/// The flavors that a fleet has, the providers of Cluster API that they name, and where clusters can be. Cheap to
/// clone.
#[derive(Clone)]
pub struct Catalogue(Arc<Inner>);

#[derive(Default)]
struct Inner {
    flavors: BTreeMap<String, Flavor>,
    providers: BTreeMap<String, CapiProvider>,
    clouds: BTreeMap<String, CloudManifest>,
    parameters: BTreeMap<String, ParameterFile>,
    /// Where the definitions of components that are no providers are published.
    definitions: BTreeMap<String, DefinitionsManifest>,
    /// carp's locations and those of the clouds; `None` where there are carp's alone.
    locations: Option<BTreeMap<String, Location>>,
    /// The kinds that providers and flavors bring, carp's and the fleet's.
    provided: BTreeMap<(String, String), ProvidedKind>,
    /// Files that cannot be read, by their path.
    broken: BTreeMap<String, FlavorFault>,
}

static BUILT_IN: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::of(built_in(), BTreeMap::new()));

/// What is built in, by path.
fn built_in() -> impl Iterator<Item = (&'static str, ManifestText<'static>)> {
    BUILT_IN_MANIFESTS.iter().map(|(path, json)| (*path, ManifestText::BuiltIn(json)))
}

/// The text of a file that declares something.
#[derive(Clone, Copy)]
enum ManifestText<'a> {
    /// carp's own, as the build wrote it down; what it says is held to be sound by a test.
    BuiltIn(&'a str),
    /// A fleet's, as YAML.
    Own(&'a str),
}

impl ManifestText<'_> {
    fn read<T: DeserializeOwned>(
        self,
        own: fn(&str) -> Result<T, FlavorFault>,
    ) -> Result<T, FlavorFault> {
        match self {
            Self::BuiltIn(json) => serde_json::from_str(json)
                .map_err(|error| FlavorFault::at(FieldPath::default(), error.to_string())),
            Self::Own(yaml) => own(yaml),
        }
    }
}

impl Default for Catalogue {
    /// The flavors that are built in.
    fn default() -> Self {
        BUILT_IN.clone()
    }
}

impl Catalogue {
    /// What is built in with a fleet's own, which is among the texts of its templates, by path. One of the same
    /// path takes the place of carp's.
    #[must_use]
    pub fn with<'a>(own: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let own = own.into_iter().filter(|(path, _)| declares(path));
        let own: BTreeMap<_, _> = own.map(|(path, text)| (path, ManifestText::Own(text))).collect();
        if own.is_empty() {
            return Self::default();
        }
        let mut all: BTreeMap<&str, ManifestText<'_>> = built_in().collect();
        all.extend(own);
        Self::of(all, BUILT_IN.0.provided.clone())
    }

    /// The catalogue of these texts. `provided` are kinds of which something is known whatever the texts say: a
    /// provider's file that was copied before they were declared takes nothing from them.
    fn of<'a>(
        texts: impl IntoIterator<Item = (&'a str, ManifestText<'a>)>,
        provided: BTreeMap<(String, String), ProvidedKind>,
    ) -> Self {
        let mut all = Inner { provided, ..Inner::default() };
        for (path, text) in texts {
            all.read(path, text)
                .unwrap_or_else(|fault| drop(all.broken.insert(path.into(), fault)));
        }
        let unknown = |flavor: &Flavor| {
            let nth = flavor.providers.iter().position(|name| !all.has_provider(name))?;
            Some((nth, flavor.providers[nth].clone()))
        };
        let lost = all.flavors.iter().filter_map(|(name, flavor)| Some((name, unknown(flavor)?)));
        let lost: Vec<_> = lost.map(|(name, provider)| (name.clone(), provider)).collect();
        for (name, (nth, provider)) in lost {
            let message = format!(
                "there is no provider `{provider}`: `templates/{PROVIDERS}{provider}.yaml`"
            );
            all.flavors.remove(&name);
            let fault = FlavorFault::at(FieldPath::keys("providers").index(nth), message);
            all.broken.insert(manifest_of(&name), fault);
        }
        all.include_parameters();
        all.know_versions();
        all.locate();
        all.collect_provided();
        Self(Arc::new(all))
    }

    /// The manifest of a flavor; `None` where there is none that can be read.
    #[must_use]
    pub fn flavor(&self, name: &str) -> Option<&Flavor> {
        self.0.flavors.get(name)
    }

    /// All flavors, by name.
    pub fn flavors(&self) -> impl Iterator<Item = (&str, &Flavor)> + Clone {
        self.0.flavors.iter().map(|(name, flavor)| (name.as_str(), flavor))
    }

    /// The names of the flavors for a kind, sorted.
    pub fn names(&self, kind: FlavorKind) -> impl Iterator<Item = &str> + Clone {
        self.flavors().filter(move |(_, flavor)| flavor.kinds.contains(&kind)).map(|(name, _)| name)
    }

    /// Whether something may be of a flavor: it is there for that kind, or its manifest cannot be read, and
    /// then nobody knows what it is for.
    #[must_use]
    pub fn may_be(&self, name: &str, kind: FlavorKind) -> bool {
        self.0.broken.contains_key(&manifest_of(name))
            || self.flavor(name).is_some_and(|flavor| flavor.kinds.contains(&kind))
    }

    /// A provider of Cluster API, by the name of its file.
    #[must_use]
    pub fn provider(&self, name: &str) -> Option<&CapiProvider> {
        self.0.providers.get(name)
    }

    /// The tables of a cloud, by the name of their file.
    #[must_use]
    pub fn cloud(&self, name: &str) -> Option<&CloudManifest> {
        self.0.clouds.get(name)
    }

    /// The locations by name: carp's, and those of the fleet's own clouds.
    #[must_use]
    pub fn locations(&self) -> &BTreeMap<String, Location> {
        self.0.locations.as_ref().unwrap_or_else(|| tables::locations())
    }

    /// Whether there may be a location of that name: it is known, or the tables of a cloud cannot be read.
    #[must_use]
    pub fn may_be_location(&self, name: &str) -> bool {
        self.locations().contains_key(name)
            || self.0.broken.keys().any(|path| cloud_of(path).is_some())
    }

    /// How far two locations are apart ([`tables::distance`]).
    #[must_use]
    pub fn distance(&self, from: &str, to: &str) -> u32 {
        tables::distance(self.locations(), from, to)
    }

    /// All providers, by the names of their files.
    pub fn providers(&self) -> impl Iterator<Item = &CapiProvider> {
        self.0.providers.values()
    }

    /// Where the definitions of components are published, by component; of those of providers their files tell.
    pub fn definitions(&self) -> impl Iterator<Item = (&str, &DefinitionsManifest)> {
        self.0.definitions.iter().map(|(component, published)| (component.as_str(), published))
    }

    /// Whether a Worker may say the version of a component: it is in carp's table, or the providers have it.
    #[must_use]
    pub fn has_component(&self, name: &str) -> bool {
        self.0.has_component(name)
    }

    /// The components that the providers, the flavors and the files of definitions name.
    pub fn components(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.components()
    }

    /// What is declared of a kind, in whichever version of the API.
    pub fn provided<'a>(
        &'a self,
        group: &'a str,
        kind: &'a str,
    ) -> impl Iterator<Item = &'a ProvidedKind> {
        self.declared().filter(move |provided| provided.kind == kind && provided.group() == group)
    }

    /// All that is declared of kinds.
    pub fn declared(&self) -> impl Iterator<Item = &ProvidedKind> {
        self.0.provided.values()
    }

    /// The kinds by which clusters are observed.
    pub fn observed(&self) -> impl Iterator<Item = &ProvidedKind> {
        self.declared().filter(|kind| kind.is_observed())
    }

    /// Those of them that an agent does not look at by itself: the fleet's own templates declare them.
    #[must_use]
    pub fn observed_besides(&self) -> Vec<&ProvidedKind> {
        let known: Vec<_> = BUILT_IN.observed().collect();
        self.observed().filter(|kind| !known.contains(kind)).collect()
    }

    /// The files that cannot be read, by path.
    pub fn broken(&self) -> impl Iterator<Item = (&str, &FlavorFault)> {
        self.0.broken.iter().map(|(name, fault)| (name.as_str(), fault))
    }

    /// The flavors whose clusters need other addresses than their worker has.
    #[must_use]
    pub fn networks_apart(&self) -> BTreeSet<String> {
        let apart = self.flavors().filter(|(_, flavor)| flavor.networks == Networks::Apart);
        apart.map(|(name, _)| name.to_owned()).collect()
    }

    /// The flavors whose clusters are handed over to another worker as they are.
    #[must_use]
    pub fn transfers(&self) -> BTreeSet<String> {
        let some = self.flavors().filter(|(_, flavor)| flavor.mobility == Mobility::Transfer);
        some.map(|(name, _)| name.to_owned()).collect()
    }
}

impl Inner {
    fn read(&mut self, path: &str, text: ManifestText<'_>) -> Result<(), FlavorFault> {
        if let Some(name) = flavor_of(path) {
            self.flavors.insert(name.to_owned(), text.read(read_flavor)?);
        } else if let Some(name) = provider_of(path) {
            self.providers.insert(name.to_owned(), text.read(read_provider)?);
        } else if let Some(name) = cloud_of(path) {
            self.clouds.insert(name.to_owned(), text.read(read_cloud)?);
        } else if let Some(name) = parameters_of(path) {
            self.parameters.insert(name.to_owned(), text.read(read_parameters)?);
        } else if let Some(name) = definitions_of(path) {
            self.definitions.insert(name.to_owned(), text.read(read_definitions)?);
        }
        Ok(())
    }

    fn components(&self) -> impl Iterator<Item = &str> + Clone {
        let of_providers = self.providers.values().map(|provider| provider.component.as_str());
        let of_flavors = self.flavors.values().flat_map(|flavor| flavor.components.keys());
        let own = self.definitions.iter().filter(|(_, published)| published.version.is_some());
        let own = own.map(|(component, _)| component.as_str());
        of_providers.chain(of_flavors.map(String::as_str)).chain(own)
    }

    fn has_component(&self, name: &str) -> bool {
        tables::components().contains_key(name) || self.components().any(|own| own == name)
    }

    /// Leaves out the files of definitions of which nobody knows a version.
    fn know_versions(&mut self) {
        let unknown = self.definitions.keys().filter(|component| !self.has_component(component));
        for component in unknown.cloned().collect::<Vec<_>>() {
            self.definitions.remove(&component);
            let message = format!(
                "there is no component `{component}`, and no `version` that says which of its definitions are wanted"
            );
            let fault = FlavorFault::at(FieldPath::keys("addresses"), message);
            self.broken.insert(format!("{DEFINITIONS}{component}.yaml"), fault);
        }
    }

    /// Adds to each flavor the parameters of the files that it includes. One that is not there, or cannot be read,
    /// leaves nobody knowing what the flavor may be told.
    fn include_parameters(&mut self) {
        let mut lost = Vec::new();
        for (name, flavor) in &mut self.flavors {
            let include = flavor.parameters.include.clone();
            let missing = include.iter().position(|file| !self.parameters.contains_key(file));
            if let Some(nth) = missing {
                lost.push((name.clone(), nth, include[nth].clone()));
                continue;
            }
            for file in include.iter().filter_map(|file| self.parameters.get(file)) {
                flavor.parameters.schema.include(&file.schema);
            }
        }
        let wrong =
            |(name, flavor): (&String, &Flavor)| Some((name.clone(), flavor.nothing_own()?));
        for (name, fault) in self.flavors.iter().filter_map(wrong).collect::<Vec<_>>() {
            self.flavors.remove(&name);
            self.broken.insert(manifest_of(&name), fault);
        }
        for (name, nth, file) in lost {
            let path = format!("{PARAMETERS}{file}.yaml");
            let what = if self.broken.contains_key(&path) { "can be read" } else { "are there" };
            let message = format!("no parameters `{file}` {what}: `templates/{path}`");
            self.flavors.remove(&name);
            let field = FieldPath::keys("parameters.include").index(nth);
            self.broken.insert(manifest_of(&name), FlavorFault::at(field, message));
        }
    }

    /// Brings the locations of all clouds together. One of carp's name takes its place.
    fn locate(&mut self) {
        if !self.clouds.is_empty() {
            let mut all = tables::locations().clone();
            let own = self.clouds.iter().flat_map(|(cloud, table)| table.located(cloud));
            all.extend(own.map(|location| (location.name.clone(), location)));
            self.locations = Some(all);
        }
    }

    /// Brings the kinds of all providers and flavors together, each once.
    fn collect_provided(&mut self) {
        let of_providers = self.providers.values().flat_map(|provider| &provider.provides);
        let of_flavors = self.flavors.values().flat_map(|flavor| &flavor.provides);
        let all = of_providers.chain(of_flavors);
        let all = all.map(|k| ((k.api_version.clone(), k.kind.clone()), k.clone()));
        self.provided.extend(all);
    }

    /// Whether there is a provider of that name, readable or not.
    fn has_provider(&self, name: &str) -> bool {
        self.providers.contains_key(name)
            || self.broken.contains_key(&format!("{PROVIDERS}{name}.yaml"))
    }
}

impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.flavors.keys()).finish()
    }
}

#[cfg(test)]
mod tests;
