//! A cloud that carp has no tables of: its locations and the sizes of its machines, as a file below
//! `templates/clouds/` has them. The file is called as Cluster API calls the provider (`aws`), which is how flavors
//! name it, or as the provider calls a cloud of Azure (`AzurePublicCloud`), which gets more locations so.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::flavor::{FlavorFault, read_manifest};
use super::is_dns_label;
use super::tables::Location;
use crate::diag::FieldPath;

/// The tables of one cloud.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CloudManifest {
    /// Its locations.
    pub locations: Vec<CloudLocation>,
    /// The sizes of its machines; none where any may be.
    #[serde(default)]
    pub sizes: Vec<MachineSize>,
}

/// One location.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CloudLocation {
    /// Its name in the cloud.
    pub name: String,
    /// The geography (a data-residency boundary) that it lies in, which other clouds may be in as well.
    pub geography: String,
    /// The locations that it is paired with, whatever their cloud.
    #[serde(default)]
    pub pairs: Vec<String>,
    /// Its zones, as documents name them; none where it has none.
    #[serde(default)]
    pub zones: Vec<String>,
}

/// One size of machines.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MachineSize {
    /// Its name in the cloud.
    pub name: String,
    /// How many virtual CPUs it has.
    pub cpus: u32,
}

/// Reads the tables of a cloud.
///
/// # Errors
/// The text is not YAML, has a field that means nothing, or names a location, zone or size that cannot be.
pub(super) fn read_cloud(text: &str) -> Result<CloudManifest, FlavorFault> {
    let table: CloudManifest = read_manifest(text)?;
    table.nonsense().map_or(Ok(table), Err)
}

impl CloudManifest {
    /// The locations as those of the cloud of that name.
    pub(super) fn located(&self, cloud: &str) -> impl Iterator<Item = Location> {
        self.locations.iter().map(move |location| Location {
            name: location.name.clone(),
            geography: location.geography.clone(),
            pairs: location.pairs.clone(),
            zones: location.zones.clone(),
            cloud: cloud.to_owned(),
        })
    }

    /// What in it can mean nothing, for its author. Zones end the names of objects.
    fn nonsense(&self) -> Option<FlavorFault> {
        let mut names = BTreeSet::new();
        for (i, location) in self.locations.iter().enumerate() {
            let CloudLocation { name, zones, .. } = location;
            let at = FieldPath::keys("locations").index(i);
            if !is_dns_label(name) {
                let message = format!("`{name}` can be no name of a location");
                return Some(FlavorFault::at(at.key("name"), message));
            }
            if let Some(nth) = zones.iter().position(|zone| !is_dns_label(zone)) {
                let message = format!("`{}` can be no name of a zone", zones[nth]);
                return Some(FlavorFault::at(at.key("zones").index(nth), message));
            }
            if !names.insert(name) {
                let message = format!("the location `{name}` stands twice");
                return Some(FlavorFault::at(at.key("name"), message));
            }
        }
        let mut sizes = BTreeSet::new();
        let twice = self.sizes.iter().position(|size| !sizes.insert(&size.name))?;
        let message = format!("the size `{}` stands twice", self.sizes[twice].name);
        Some(FlavorFault::at(FieldPath::keys("sizes").index(twice).key("name"), message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_can_mean_nothing_is_told() {
        let told = |text: &str| read_cloud(text).unwrap_err().message;
        let one = "locations: [{name: moon-1, geography: Moon, zones: [a]}]\n";
        assert_eq!(read_cloud(one).unwrap().located("moon").next().unwrap().cloud, "moon");
        assert!(
            told("locations: [{name: Moon, geography: Moon}]").contains("no name of a location")
        );
        assert!(
            told("locations: [{name: m, geography: Moon, zones: ['a b']}]").contains("of a zone")
        );
        assert!(
            told("locations: [{name: m, geography: M}, {name: m, geography: M}]").contains("twice")
        );
        let sizes = "locations: []\nsizes: [{name: s, cpus: 1}, {name: s, cpus: 2}]";
        assert!(told(sizes).contains("the size `s` stands twice"));
        assert!(told("locations: []\ncolour: blue").contains("unknown field `colour`"));
    }
}
