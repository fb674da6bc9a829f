//! The tables in `policies/`, built into carp: locations, supported versions, component versions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

use super::KubeVersion;

/// What is known of a location.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Location {
    /// Its name in the cloud.
    pub name: String,
    /// The geography (a data-residency boundary) it lies in.
    pub geography: String,
    /// The locations it is paired with.
    #[serde(default)]
    pub pairs: Vec<String>,
    /// Its availability zones; empty where it has none.
    #[serde(default)]
    pub zones: Vec<String>,
    /// The cloud that it is a part of, as [`azure_cloud`](super::azure_cloud) knows it, or as its tables are called
    /// below `templates/clouds/`.
    #[serde(default = "public_cloud")]
    pub cloud: String,
}

fn public_cloud() -> String {
    super::PUBLIC_CLOUD.to_owned()
}

/// An inclusive range of Kubernetes versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionRange {
    /// The oldest.
    pub min: KubeVersion,
    /// The newest.
    pub max: KubeVersion,
}

impl VersionRange {
    /// Whether a version lies in it.
    #[must_use]
    pub fn contains(&self, version: KubeVersion) -> bool {
        (self.min..=self.max).contains(&version)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LocationTable {
    #[serde(rename = "schemaVersion")]
    _schema: u32,
    #[serde(rename = "source")]
    _source: String,
    locations: Vec<Location>,
}

#[derive(Deserialize)]
struct RangeText {
    min: String,
    max: String,
}

#[derive(Deserialize)]
struct VersionTable {
    managed: RangeText,
    worker: RangeText,
    between: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct ComponentTable {
    components: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct ProviderTable {
    providers: BTreeSet<String>,
}

/// Images by minor version.
#[derive(Deserialize)]
struct ImageTable {
    images: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct ReservedTable {
    names: BTreeSet<String>,
    prefixes: Vec<String>,
    suffixes: Vec<String>,
}

const RESERVED: &str = include_str!("../../policies/reserved-names.json");
const LOCATIONS: &str = include_str!("../../policies/locations.json");
const VERSIONS: &str = include_str!("../../policies/versions.json");
const COMPONENTS: &str = include_str!("../../policies/components.json");
const KIND_IMAGES: &str = include_str!("../../policies/kind-images.json");
const AUTOSCALER: &str = include_str!("../../policies/autoscaler.json");
const PROVIDERS: &str = include_str!("../../policies/providers.json");
const BUILT_IN: &str = "the built-in tables are well-formed, which a test shows";

static LOCATION_TABLE: LazyLock<BTreeMap<String, Location>> = LazyLock::new(|| {
    let table: LocationTable = serde_json::from_str(LOCATIONS).expect(BUILT_IN);
    table.locations.into_iter().map(|l| (l.name.clone(), l)).collect()
});

static VERSION_TABLE: LazyLock<[VersionRange; 2]> = LazyLock::new(|| {
    let table: VersionTable = serde_json::from_str(VERSIONS).expect(BUILT_IN);
    [table.managed, table.worker].map(|range| VersionRange {
        min: range.min.parse().expect(BUILT_IN),
        max: range.max.parse().expect(BUILT_IN),
    })
});

static BETWEEN: LazyLock<Vec<KubeVersion>> = LazyLock::new(|| {
    let table: VersionTable = serde_json::from_str(VERSIONS).expect(BUILT_IN);
    table.between.values().map(|version| version.parse().expect(BUILT_IN)).collect()
});

static COMPONENT_TABLE: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let table: ComponentTable = serde_json::from_str(COMPONENTS).expect(BUILT_IN);
    table.components
});

static PROVIDER_TABLE: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let table: ProviderTable = serde_json::from_str(PROVIDERS).expect(BUILT_IN);
    table.providers
});

static KIND_IMAGE_TABLE: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let table: ImageTable = serde_json::from_str(KIND_IMAGES).expect(BUILT_IN);
    table.images
});

static AUTOSCALER_TABLE: LazyLock<Vec<(KubeVersion, String)>> = LazyLock::new(|| {
    let table: ImageTable = serde_json::from_str(AUTOSCALER).expect(BUILT_IN);
    let of = |(minor, tag): (String, String)| (format!("v{minor}.0").parse().expect(BUILT_IN), tag);
    table.images.into_iter().map(of).collect()
});
static RESERVED_TABLE: LazyLock<ReservedTable> =
    LazyLock::new(|| serde_json::from_str(RESERVED).expect(BUILT_IN));

/// Whether a namespace of that name is usually somebody else's: monitoring, ingress, backup, a service mesh.
#[must_use]
pub fn is_others_namespace(name: &str) -> bool {
    let ReservedTable { names, prefixes, suffixes } = &*RESERVED_TABLE;
    names.contains(name)
        || prefixes.iter().any(|prefix| name.starts_with(prefix))
        || suffixes.iter().any(|suffix| name.ends_with(suffix))
}

/// The locations that are built in, by name.
#[must_use]
pub fn locations() -> &'static BTreeMap<String, Location> {
    &LOCATION_TABLE
}

/// How far two of some locations are apart: 0 the same, 1 paired, 2 in the same geography, 3 elsewhere. A
/// location that is not among them is elsewhere from all but itself.
#[must_use]
pub fn distance(locations: &BTreeMap<String, Location>, from: &str, to: &str) -> u32 {
    if from == to {
        return 0;
    }
    let (Some(a), Some(b)) = (locations.get(from), locations.get(to)) else {
        return 3;
    };
    if a.pairs.contains(&b.name) || b.pairs.contains(&a.name) {
        1
    } else if a.geography == b.geography {
        2
    } else {
        3
    }
}

/// The versions that a managed cluster may have (Cluster API v1.13: 1.30 to 1.36).
#[must_use]
pub fn managed_versions() -> VersionRange {
    VERSION_TABLE[0]
}

/// The versions that a worker may have (Cluster API v1.13, management clusters: 1.32 to 1.36).
#[must_use]
pub fn worker_versions() -> VersionRange {
    VERSION_TABLE[1]
}

/// The version of a minor that a cluster goes through on its way to a later one; `None` where the table
/// has none. Its sources stand in the table: kubernetes/website, `data/releases`.
#[must_use]
pub fn version_between(major: u32, minor: u32) -> Option<KubeVersion> {
    BETWEEN.iter().copied().find(|v| (v.major, v.minor) == (major, minor))
}

/// The pinned versions of the components.
#[must_use]
pub fn components() -> &'static BTreeMap<String, String> {
    &COMPONENT_TABLE
}

/// The names that Cluster API has for infrastructure providers; the source stands in the table.
#[must_use]
pub fn providers() -> &'static BTreeSet<String> {
    &PROVIDER_TABLE
}

/// The node images of kind, by minor version such as `1.34` (Cluster API,
/// `test/infrastructure/kind/mapper.go`, and kind's release notes): one for each, whatever the patch.
#[must_use]
pub fn kind_images() -> &'static BTreeMap<String, String> {
    &KIND_IMAGE_TABLE
}

/// The release of the cluster-autoscaler for a cluster of a version: that of its minor version, or of the
/// nearest that there is; the source stands in the table.
#[must_use]
pub fn autoscaler(version: KubeVersion) -> &'static str {
    let table = &*AUTOSCALER_TABLE;
    let upto = table.iter().rev().find(|(from, _)| *from <= version);
    upto.or_else(|| table.first()).map_or("", |(_, tag)| tag.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_autoscaler_is_of_the_clusters_minor_version_or_near_it() {
        let of = |version: &str| autoscaler(version.parse().unwrap());
        assert!(of("v1.30.4").starts_with("v1.34."), "the oldest that knows v1beta2");
        assert!(of("v1.35.9").starts_with("v1.35."));
        assert!(of("v1.99.0").starts_with("v1.36."));
    }

    #[test]
    fn the_tables_are_well_formed() {
        assert!(locations().len() > 50);
        assert!(managed_versions().contains("v1.34.2".parse().unwrap()));
        assert!(!worker_versions().contains("v1.31.0".parse().unwrap()));
        assert!(components().contains_key("flux"));
        for (name, flavor) in crate::model::Catalogue::default().flavors() {
            let known = flavor.provider.as_ref().is_none_or(|own| providers().contains(own));
            assert!(known, "{name}");
        }
        let own = components().get("carp").map(String::as_str);
        assert_eq!(own, Some(env!("CARGO_PKG_VERSION")), "an agent is of the carp that renders it");
        let (from, to) = (managed_versions().min.minor, managed_versions().max.minor);
        for minor in from + 1..to {
            let between = version_between(1, minor).expect("a way through every minor");
            assert!(managed_versions().contains(between), "{between}");
        }
        assert_eq!(version_between(1, to + 1), None);
        for location in locations().values() {
            for pair in &location.pairs {
                assert_ne!(*pair, location.name);
            }
            assert!(crate::model::azure_cloud(&location.cloud).is_some(), "{}", location.name);
        }
    }

    #[test]
    fn every_version_that_a_cluster_may_have_has_an_image_of_kind() {
        let VersionRange { min, max } = managed_versions();
        for minor in min.minor..=max.minor {
            let image = &kind_images()[&format!("1.{minor}")];
            assert!(image.contains(&format!(":v1.{minor}.")) && image.contains("@sha256:"));
        }
    }

    #[test]
    fn a_pair_is_nearer_than_the_geography_and_that_nearer_than_the_rest() {
        let between = |from: &str, to: &str| distance(locations(), from, to);
        assert_eq!(between("westeurope", "westeurope"), 0);
        assert_eq!(between("westeurope", "northeurope"), 1);
        assert_eq!(between("eastus", "centralus"), 2);
        assert_eq!(between("westeurope", "eastus"), 3);
        assert_eq!(between("atlantis", "eastus"), 3);
        assert_eq!(between("northeurope", "westeurope"), between("westeurope", "northeurope"));
    }
}
