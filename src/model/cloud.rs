//! A cloud that carp has no tables of: its locations and the sizes of its machines, as a file below
//! `templates/clouds/` has them. The file is called as Cluster API calls the provider (`aws`), which is how flavors
//! name it, or as the provider calls a cloud of Azure (`AzurePublicCloud`), which gets more locations so.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::flavor::{FlavorFault, read_manifest};
use super::is_dns_label;
use super::tables::Location;

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
    match table.nonsense() {
        None => Ok(table),
        Some(message) => Err(FlavorFault { message, line: 1, column: 1 }),
    }
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
    fn nonsense(&self) -> Option<String> {
        let mut names = BTreeSet::new();
        for location in &self.locations {
            let CloudLocation { name, zones, .. } = location;
            if !is_dns_label(name) {
                return Some(format!("`{name}` can be no name of a location"));
            }
            if let Some(zone) = zones.iter().find(|zone| !is_dns_label(zone)) {
                return Some(format!("`{zone}` can be no name of a zone"));
            }
            if !names.insert(name) {
                return Some(format!("the location `{name}` stands twice"));
            }
        }
        let mut sizes = BTreeSet::new();
        let twice = self.sizes.iter().find(|size| !sizes.insert(&size.name));
        twice.map(|size| format!("the size `{}` stands twice", size.name))
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
