//! Which Kubernetes versions the components of a worker support, from the table in `policies/`. It goes by
//! minor versions, as those who make the components say it.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::tables::components;
use super::{KubeVersion, Worker};

/// A minor version of Kubernetes, written `v1.34`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minor(pub u32, pub u32);

impl From<KubeVersion> for Minor {
    fn from(version: KubeVersion) -> Self {
        Self(version.major, version.minor)
    }
}

impl fmt::Display for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}.{}", self.0, self.1)
    }
}

impl FromStr for Minor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let version: Result<KubeVersion, _> = format!("{text}.0").parse();
        version.map(Self::from).map_err(|_| format!("`{text}` is not a minor version like v1.34"))
    }
}

impl<'de> Deserialize<'de> for Minor {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

impl Serialize for Minor {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// A component of a worker that does not support a Kubernetes version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unsupported {
    /// The component.
    pub component: String,
    /// Its version on the worker.
    pub release: String,
    /// The oldest minor version that it supports; `None` where it names none.
    pub min: Option<Minor>,
    /// The newest.
    pub max: Minor,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { component, release, min, max } = self;
        match min {
            Some(min) => write!(f, "{component} {release} supports {min} to {max}"),
            None => write!(f, "{component} {release} supports up to {max}"),
        }
    }
}

/// The version of a component: three numbers, with or without a `v` before them and a word after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ComponentRelease(u32, u32, u32);

impl ComponentRelease {
    fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let numbers = text.split(['-', '+']).next()?;
        let mut parts = numbers.split('.').map(|part| part.parse().ok());
        let release = Self(parts.next()??, parts.next()??, parts.next()??);
        parts.next().is_none().then_some(release)
    }
}

#[derive(Deserialize)]
struct SupportedTable {
    components: BTreeMap<String, Component>,
}

#[derive(Deserialize)]
struct Component {
    releases: Vec<ReleaseRow>,
}

#[derive(Deserialize)]
struct ReleaseRow {
    from: String,
    min: Option<Minor>,
    max: Minor,
}

const SUPPORTED: &str = include_str!("../../policies/supported.json");

static TABLE: LazyLock<SupportedTable> = LazyLock::new(|| {
    serde_json::from_str(SUPPORTED).expect("the built-in table is well-formed, which a test shows")
});

impl Worker {
    /// The components of this worker that do not support a Kubernetes version of a cluster of that flavor;
    /// none where all do. Whatever is newer than the table supports at least the versions of its last row
    /// as far as carp knows. The worker's own version is no matter: hosted control planes do not run it.
    #[must_use]
    pub fn unsupported(&self, flavor: &str, version: KubeVersion) -> Vec<Unsupported> {
        let minor = Minor::from(version);
        self.supports(flavor)
            .into_iter()
            .filter(|s| s.max < minor || s.min.is_some_and(|min| minor < min))
            .collect()
    }

    /// What the components of this worker support of clusters of that flavor.
    #[must_use]
    pub fn supports(&self, flavor: &str) -> Vec<Unsupported> {
        let manifest = self.catalogue.flavor(flavor);
        let of_flavor = manifest.into_iter().flat_map(|flavor| &flavor.supported_by);
        let known = of_flavor.filter_map(|component| {
            let own = self.spec.components.0.get(component);
            let release = own.or_else(|| components().get(component))?;
            let row = row(component, release)?;
            let (component, release) = (component.clone(), release.clone());
            Some(Unsupported { component, release, min: row.min, max: row.max })
        });
        known.collect()
    }
}

/// The components of whose releases something is known.
pub(super) fn listed() -> impl Iterator<Item = &'static str> {
    TABLE.components.keys().map(String::as_str)
}

fn row(component: &str, release: &str) -> Option<&'static ReleaseRow> {
    let release = ComponentRelease::parse(release)?;
    let rows = &TABLE.components.get(component)?.releases;
    rows.iter()
        .rev()
        .find(|row| ComponentRelease::parse(&row.from).is_some_and(|from| from <= release))
}

/// The oldest release of a component of which carp knows what it supports; `None` where that is no matter.
#[must_use]
pub fn oldest_release(component: &str) -> Option<&'static str> {
    TABLE.components.get(component)?.releases.first().map(|row| row.from.as_str())
}

/// Whether carp knows what a release of a component supports. It knows that of every release where it
/// is no matter.
#[must_use]
pub fn is_known_release(component: &str, release: &str) -> bool {
    !TABLE.components.contains_key(component) || row(component, release).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Catalogue;
    use crate::model::tables::managed_versions;

    #[test]
    fn the_table_is_well_formed_and_the_pinned_components_are_in_it() {
        for (flavor, manifest) in Catalogue::default().flavors() {
            for component in &manifest.supported_by {
                let pinned = &components()[component];
                assert!(is_known_release(component, pinned), "{flavor}: {component} {pinned}");
            }
        }
        for (name, component) in &TABLE.components {
            let from: Vec<_> =
                component.releases.iter().map(|r| ComponentRelease::parse(&r.from)).collect();
            assert!(from.iter().all(Option::is_some) && from.is_sorted(), "{name}");
            assert!(component.releases.iter().all(|r| r.min.is_none_or(|min| min <= r.max)));
            assert!(components().contains_key(name), "{name} is pinned");
        }
    }

    #[test]
    fn what_loads_is_what_the_pinned_components_support() {
        let pinned = |component: &str| row(component, &components()[component]).unwrap();
        let (capi, kamaji) = (pinned("capi"), pinned("kamaji"));
        let range = managed_versions();
        assert_eq!(capi.min, Some(Minor::from(range.min)));
        assert_eq!(capi.max.min(kamaji.max), Minor::from(range.max));
    }

    #[test]
    fn the_last_row_at_or_before_a_release_counts() {
        for (release, max) in [
            ("v1.13.0", "v1.35"),
            ("v1.13.1", "v1.36"),
            ("v1.13.9-rc.1", "v1.36"),
            ("v1.20.0", "v1.36"),
        ] {
            assert_eq!(row("capi", release).unwrap().max, max.parse().unwrap(), "{release}");
        }
        assert!(!is_known_release("capi", "v1.11.9"));
        assert!(!is_known_release("capi", "latest"));
        assert!(!is_known_release("kamaji", "1.0"));
        assert!(is_known_release("kamaji", "26.8.2-edge"));
        assert!(is_known_release("flux", "latest"), "it says nothing of versions");
    }

    #[test]
    fn a_minor_version_has_two_numbers() {
        assert_eq!("v1.34".parse::<Minor>().unwrap().to_string(), "v1.34");
        for bad in ["1.34", "v1", "v1.34.2", "v1.x", ""] {
            assert!(bad.parse::<Minor>().is_err(), "{bad}");
        }
    }
}
