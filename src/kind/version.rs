//! The node image of each minor version.
//!
//! The table is `policies/kind-images.json`, which the flavor `kind` reads too. From 1.21 on the images are
//! those of Cluster API's own table (`test/infrastructure/kind/mapper.go`) and of kind's release notes, by
//! digest where the release names one; below, they are the tags of the first provider
//! (`controllers/kindcluster_controller.go`), which nobody tests with today's kind.

use crate::model::tables;

/// A node image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeImage {
    /// What to give to kind.
    pub reference: &'static str,
    /// Whether an image of this version was made for a kind of the last years.
    pub tested: bool,
}

/// The oldest minor version of which the images still count as tested.
const OLDEST_TESTED: u32 = 21;

/// The image of a minor version such as `1.34`; `None` where carp knows none.
#[must_use]
pub fn node_image(version: &str) -> Option<NodeImage> {
    let whole = tables::kind_images().get(version)?;
    let minor: u32 = version.split_once('.')?.1.parse().ok()?;
    // As kind itself writes it.
    let reference = whole.strip_prefix("docker.io/").unwrap_or(whole);
    Some(NodeImage { reference, tested: minor >= OLDEST_TESTED })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::DEFAULT_KIND_VERSION;

    #[test]
    fn every_version_that_the_api_takes_has_an_image_of_its_own() {
        for minor in 14..=37 {
            let version = format!("1.{minor}");
            let image = node_image(&version).unwrap_or_else(|| panic!("{version}"));
            let start = format!("kindest/node:v{version}.");
            assert!(image.reference.starts_with(&start), "{image:?}");
            let digest = image.reference.split_once("@sha256:").map(|(_, digest)| digest);
            assert!(digest.is_none_or(|d| d.len() == 64), "{image:?}");
            assert_eq!(image.tested, minor >= 21, "{version}");
        }
        assert_eq!(node_image("1.13"), None);
        assert_eq!(node_image("1.38"), None);
        assert!(node_image(DEFAULT_KIND_VERSION).is_some());
    }
}
