//! What a fleet can be made of: the flavors that are built in, and those of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, LazyLock};

use super::flavor::{Flavor, FlavorFault, FlavorKind, Networks, read_flavor};
use super::templates::BUILT_IN_TEMPLATES;

/// The name of a flavor's manifest in its folder.
const MANIFEST: &str = "flavor.yaml";

/// The flavors that a fleet has. Cheap to clone.
#[derive(Clone)]
pub struct Catalogue(Arc<Inner>);

struct Inner {
    flavors: BTreeMap<String, Flavor>,
    /// Manifests that cannot be read, by flavor.
    broken: BTreeMap<String, FlavorFault>,
}

static BUILT_IN: LazyLock<Catalogue> = LazyLock::new(|| {
    let manifests = BUILT_IN_TEMPLATES.iter().copied();
    Catalogue::of(manifests.filter_map(|(path, text)| Some((flavor_of(path)?, text))))
});

impl Default for Catalogue {
    /// The flavors that are built in.
    fn default() -> Self {
        BUILT_IN.clone()
    }
}

impl Catalogue {
    /// The flavors that are built in with a fleet's own, which are among the texts of its templates, by path.
    /// One of the same name takes the place of carp's.
    #[must_use]
    pub fn with<'a>(own: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let own = own.into_iter().filter_map(|(path, text)| Some((flavor_of(path)?, text)));
        let own: BTreeMap<_, _> = own.collect();
        if own.is_empty() {
            return Self::default();
        }
        let all = BUILT_IN_TEMPLATES.iter().copied();
        let all = all.filter_map(|(path, text)| Some((flavor_of(path)?, text)));
        let mut all: BTreeMap<_, _> = all.collect();
        all.extend(own);
        Self::of(all)
    }

    fn of<'a>(manifests: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let (mut flavors, mut broken) = (BTreeMap::new(), BTreeMap::new());
        for (name, text) in manifests {
            match read_flavor(text) {
                Ok(flavor) => drop(flavors.insert(name.to_owned(), flavor)),
                Err(fault) => drop(broken.insert(name.to_owned(), fault)),
            }
        }
        Self(Arc::new(Inner { flavors, broken }))
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
        self.0.broken.contains_key(name)
            || self.flavor(name).is_some_and(|flavor| flavor.kinds.contains(&kind))
    }

    /// The manifests that cannot be read, by flavor.
    pub fn broken(&self) -> impl Iterator<Item = (&str, &FlavorFault)> {
        self.0.broken.iter().map(|(name, fault)| (name.as_str(), fault))
    }

    /// The flavors whose clusters need other addresses than their worker has.
    #[must_use]
    pub fn networks_apart(&self) -> BTreeSet<String> {
        let apart = self.flavors().filter(|(_, flavor)| flavor.networks == Networks::Apart);
        apart.map(|(name, _)| name.to_owned()).collect()
    }
}

impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.flavors.keys()).finish()
    }
}

/// The flavor that a file is the manifest of.
#[must_use]
pub fn flavor_of(path: &str) -> Option<&str> {
    path.strip_suffix(MANIFEST)?.strip_suffix('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_manifest_that_is_built_in_can_be_read() {
        let all = Catalogue::default();
        assert_eq!(all.broken().next(), None);
        assert!(all.names(FlavorKind::ManagedCluster).count() > 1);
        assert!(all.names(FlavorKind::Worker).count() > 1);
    }

    #[test]
    fn a_fleets_own_flavors_stand_beside_carps_or_in_their_place() {
        let own = "kind: ManagedCluster\nmobility: None\nnetworks: Apart\nobjects: []\n";
        let all = Catalogue::with([("moon/flavor.yaml", own), ("moon/cluster.yaml", "x")]);
        assert!(all.may_be("moon", FlavorKind::ManagedCluster));
        assert!(!all.may_be("moon", FlavorKind::Worker));
        assert!(all.networks_apart().contains("moon"));
        let carps = Catalogue::default();
        let name = carps.names(FlavorKind::Worker).next().unwrap();
        assert!(all.may_be(name, FlavorKind::Worker) && !all.networks_apart().contains(name));
        let path = format!("{name}/flavor.yaml");
        let replaced = Catalogue::with([(path.as_str(), own)]);
        assert!(replaced.networks_apart().contains(name));
        assert!(!replaced.may_be(name, FlavorKind::Worker));
    }

    #[test]
    fn of_a_manifest_that_cannot_be_read_nobody_knows_what_it_is_for() {
        let text = "kind: Worker\nmobility: None\nobjects: []\ncolour: blue\n";
        let all = Catalogue::with([("moon/flavor.yaml", text)]);
        assert!(all.may_be("moon", FlavorKind::Worker) && all.flavor("moon").is_none());
        let (name, fault) = all.broken().next().unwrap();
        assert_eq!((name, fault.line, fault.column), ("moon", 4, 1));
        assert!(fault.message.contains("unknown field `colour`"), "{}", fault.message);
    }
}
