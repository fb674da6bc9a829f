//! Whether the fleet offers a Kubernetes version: by the list in `carp.yaml` and what of it has expired.

use std::collections::BTreeSet;

use super::KubeVersion;
use super::api::SupportedVersion;

/// The versions that a fleet offers at the time of a run.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// The list; without one every version is offered.
    pub listed: &'a [SupportedVersion],
    /// The entries whose time has come, by their `version`.
    pub expired: &'a BTreeSet<String>,
}

/// Why a version is not offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotOffered<'a> {
    /// There is a list, and it is not on it.
    NotListed,
    /// Its time has come.
    Expired(&'a SupportedVersion),
}

impl<'a> Offer<'a> {
    /// Why a version is not offered to what is new; `None` where it is.
    #[must_use]
    pub fn refuses(&self, version: KubeVersion) -> Option<NotOffered<'a>> {
        if self.listed.is_empty() {
            return None;
        }
        let Some(entry) = offered_entry(self.listed, version) else {
            return Some(NotOffered::NotListed);
        };
        self.expired.contains(&entry.version).then_some(NotOffered::Expired(entry))
    }
}

/// The entry that speaks of a version: that of the patch, else that of the minor version.
#[must_use]
pub fn offered_entry(
    listed: &[SupportedVersion],
    version: KubeVersion,
) -> Option<&SupportedVersion> {
    let (patch, minor) = (version.to_string(), format!("v{}.{}", version.major, version.minor));
    let named = |name: &str| listed.iter().find(|entry| entry.version == name);
    named(&patch).or_else(|| named(&minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_counts_before_its_minor_version() {
        let entry = |version: &str| SupportedVersion {
            version: version.to_owned(),
            ..SupportedVersion::default()
        };
        let listed = [entry("v1.34"), entry("v1.34.1"), entry("v1.33.4")];
        let expired = BTreeSet::from(["v1.34.1".to_owned()]);
        let refused = |version: &str| {
            Offer { listed: &listed, expired: &expired }.refuses(version.parse().unwrap())
        };
        assert_eq!(refused("v1.34.2"), None);
        assert_eq!(refused("v1.34.1"), Some(NotOffered::Expired(&listed[1])));
        assert_eq!(refused("v1.33.4"), None);
        assert_eq!(refused("v1.33.5"), Some(NotOffered::NotListed));
        let all = Offer { listed: &[], expired: &expired };
        assert_eq!(all.refuses("v1.30.0".parse().unwrap()), None);
    }
}
