//! Which of two releases of a component is older.

use semver::{BuildMetadata, Version};

/// How old a release is beside others of its component, from the oldest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReleaseAge {
    /// By its version ([Semantic Versioning](https://semver.org), 11), whatever build it is.
    Known(Version),
    /// It is called after no version, as `latest` is: nobody knows, so that it counts as the newest.
    Unknown,
}

/// The age of a release that is called `v1.2.3` or `1.2.3`.
#[must_use]
pub fn release_age(name: &str) -> ReleaseAge {
    let version = Version::parse(name.strip_prefix('v').unwrap_or(name));
    let build = BuildMetadata::EMPTY;
    version.map_or(ReleaseAge::Unknown, |version| ReleaseAge::Known(Version { build, ..version }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_in_their_order() {
        let names = ["v1.2.0-alpha.9", "v1.2.0-rc.2", "v1.2.0-rc.10", "v1.2.0", "1.10.0", "latest"];
        let ages: Vec<_> = names.into_iter().map(release_age).collect();
        assert!(ages.is_sorted_by(|one, other| one < other), "{ages:?}");
    }

    #[test]
    fn a_build_makes_none_older() {
        assert_eq!(release_age("v1.2.0+a"), release_age("1.2.0"));
        assert_eq!(release_age("v1.2"), ReleaseAge::Unknown);
    }
}
