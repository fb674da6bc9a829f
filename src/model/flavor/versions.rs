//! The Kubernetes versions that a flavor's templates make. What a worker's components support of them is asked of
//! the worker (`supportedBy`), and what a fleet offers of `carp.yaml`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::super::{KubeVersion, Minor};
use super::{Flavor, FlavorFault};
use crate::diag::FieldPath;

/// The minor versions that templates make, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FlavorVersions {
    /// The oldest; `None` where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Minor>,
    /// The newest; `None` where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Minor>,
}

impl fmt::Display for FlavorVersions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (Some(min), Some(max)) => write!(f, "{min} to {max}"),
            (Some(min), None) => write!(f, "{min} and newer"),
            (None, Some(max)) => write!(f, "up to {max}"),
            (None, None) => f.write_str("every version"),
        }
    }
}

impl FlavorVersions {
    fn contain(self, version: KubeVersion) -> bool {
        let minor = Minor::from(version);
        self.min.is_none_or(|min| min <= minor) && self.max.is_none_or(|max| minor <= max)
    }
}

impl Flavor {
    /// The versions that its templates make, where this is none of them.
    #[must_use]
    pub fn makes_only(&self, version: KubeVersion) -> Option<FlavorVersions> {
        self.versions.filter(|versions| !versions.contain(version))
    }

    /// Versions of which there are none.
    pub(super) fn no_versions(&self) -> Option<FlavorFault> {
        let message = match self.versions? {
            FlavorVersions { min: None, max: None } => {
                "it names neither `min` nor `max`".to_owned()
            }
            FlavorVersions { min: Some(min), max: Some(max) } if max < min => {
                format!("`max` is {max}, which is older than `min`, {min}")
            }
            _ => return None,
        };
        Some(FlavorFault::at(FieldPath::keys("versions"), message))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Catalogue;
    use super::super::super::tables::managed_versions;
    use super::super::{FaultPlace, Nodes, read_flavor};
    use super::*;

    fn read(versions: &str) -> Result<Flavor, FlavorFault> {
        read_flavor(&format!("kind: Worker\nmobility: None\nobjects: []\nversions: {versions}\n"))
    }

    #[test]
    fn both_ends_are_made() {
        let refused = |versions: &str, version: &str| {
            let flavor = read(versions).unwrap();
            flavor.makes_only(version.parse().unwrap()).map(|only| only.to_string())
        };
        let both = "{min: v1.32, max: v1.34}";
        for fine in ["v1.32.0", "v1.33.9", "v1.34.99"] {
            assert_eq!(refused(both, fine), None, "{fine}");
        }
        for other in ["v1.31.14", "v1.35.0"] {
            assert_eq!(refused(both, other).as_deref(), Some("v1.32 to v1.34"), "{other}");
        }
        assert_eq!(refused("{min: v1.32}", "v1.31.1").as_deref(), Some("v1.32 and newer"));
        assert_eq!(refused("{max: v1.34}", "v1.35.0").as_deref(), Some("up to v1.34"));
        assert_eq!(refused("{max: v1.34}", "v1.20.0"), None);
    }

    #[test]
    fn versions_of_which_there_are_none_are_told() {
        let told = |versions: &str| {
            let fault = read(versions).unwrap_err();
            assert_eq!(fault.place, FaultPlace::Field(FieldPath::keys("versions")));
            fault.message
        };
        assert_eq!(told("{}"), "it names neither `min` nor `max`");
        let order = "`max` is v1.31, which is older than `min`, v1.32";
        assert_eq!(told("{min: v1.32, max: v1.31}"), order);
        assert!(read("{min: v1.32.1}").is_err(), "a patch is no minor version");
    }

    #[test]
    fn carps_own_flavors_say_what_they_make_and_none_more_than_carp_knows() {
        let range = managed_versions();
        for (name, flavor) in Catalogue::default().flavors() {
            if flavor.nodes == Nodes::Existing {
                assert_eq!(flavor.versions, None, "{name} makes no cluster");
                continue;
            }
            let FlavorVersions { min, max } = flavor.versions.unwrap_or_else(|| panic!("{name}"));
            assert!(min >= Some(Minor::from(range.min)), "{name}");
            assert!(max.is_some_and(|max| max <= Minor::from(range.max)), "{name}");
        }
    }
}
