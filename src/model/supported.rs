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

impl Unsupported {
    fn of((component, release, row): (&str, &str, &ReleaseRow)) -> Self {
        let (component, release) = (component.to_owned(), release.to_owned());
        Self { component, release, min: row.min, max: row.max }
    }
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
    from: FirstRelease,
    min: Option<Minor>,
    max: Minor,
}

/// The release from which on a row counts. It is asked for every worker and cluster, so it is read once.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct FirstRelease {
    text: String,
    release: ComponentRelease,
}

impl TryFrom<String> for FirstRelease {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let release = ComponentRelease::parse(&text);
        let release = release.ok_or_else(|| format!("`{text}` is no release of a component"))?;
        Ok(Self { text, release })
    }
}

const SUPPORTED: &str = include_str!("../../policies/supported.json");

static TABLE: LazyLock<SupportedTable> = LazyLock::new(|| {
    serde_json::from_str(SUPPORTED).expect("the built-in table is well-formed, which a test shows")
});

/// The release of a component, with what it supports where that is known.
type KnownRelease = (&'static str, Option<&'static ReleaseRow>);

/// The releases that workers have which name none, worked out once: it is asked for every worker and cluster.
static PINNED: LazyLock<BTreeMap<&'static str, KnownRelease>> = LazyLock::new(|| {
    let known = |(component, release): (&'static String, &'static String)| {
        (component.as_str(), (release.as_str(), row(component, release)))
    };
    components().iter().map(known).collect()
});

impl Worker {
    /// The components of this worker that do not support a Kubernetes version of a cluster of that flavor;
    /// none where all do. Whatever is newer than the table supports at least the versions of its last row
    /// as far as carp knows. The worker's own version is no matter: hosted control planes do not run it.
    #[must_use]
    pub fn unsupported(&self, flavor: &str, version: KubeVersion) -> Vec<Unsupported> {
        let minor = Minor::from(version);
        let lacks = |row: &ReleaseRow| row.max < minor || row.min.is_some_and(|min| minor < min);
        self.rows(flavor).filter(|row| lacks(row.2)).map(Unsupported::of).collect()
    }

    /// What the components of this worker support of clusters of that flavor.
    #[must_use]
    pub fn supports(&self, flavor: &str) -> Vec<Unsupported> {
        self.rows(flavor).map(Unsupported::of).collect()
    }

    /// The components of this worker that clusters of that flavor ask for, with their releases and what those support.
    fn rows(&self, flavor: &str) -> impl Iterator<Item = (&str, &str, &'static ReleaseRow)> {
        let manifest = self.catalogue.flavor(flavor);
        let of_flavor = manifest.into_iter().flat_map(|flavor| &flavor.supported_by);
        of_flavor.filter_map(|component| {
            let (release, row) = match self.spec.components.0.get(component) {
                Some(own) => (own.as_str(), row(component, own)),
                None => *PINNED.get(component.as_str())?,
            };
            Some((component.as_str(), release, row?))
        })
    }
}

/// The components of whose releases something is known.
pub(super) fn listed() -> impl Iterator<Item = &'static str> {
    TABLE.components.keys().map(String::as_str)
}

fn row(component: &str, release: &str) -> Option<&'static ReleaseRow> {
    let release = ComponentRelease::parse(release)?;
    let rows = &TABLE.components.get(component)?.releases;
    rows.iter().rev().find(|row| row.from.release <= release)
}

/// The oldest release of a component of which carp knows what it supports; `None` where that is no matter.
#[must_use]
pub fn oldest_release(component: &str) -> Option<&'static str> {
    TABLE.components.get(component)?.releases.first().map(|row| row.from.text.as_str())
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
            assert!(component.releases.is_sorted_by_key(|row| row.from.release), "{name}");
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
