//! The node image of each minor version.
//!
//! From 1.21 on the images are those of Cluster API's own table (`test/infrastructure/kind/mapper.go`)
//! and of kind's release notes, by digest where the release names one; below, they are the tags of the
//! first provider (`controllers/kindcluster_controller.go`), which nobody tests with today's kind.

/// A node image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeImage {
    /// What to give to kind.
    pub image: &'static str,
    /// Whether an image of this version was made for a kind of the last years.
    pub tested: bool,
}

/// The newest first.
const IMAGES: &[(&str, &str)] = &[
    ("1.37", "v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5"),
    ("1.36", "v1.36.1@sha256:3489c7674813ba5d8b1a9977baea8a6e553784dab7b84759d1014dbd78f7ebd5"),
    ("1.35", "v1.35.5@sha256:ce977ae6d65918d0b58a5f8b5e940429c2ce42fa3a5619ec2bbc60b949c0ac95"),
    ("1.34", "v1.34.8@sha256:02722c2dedddcfc00febf5d27fbeb9b7b2c14294c82109ff4a85d89ac9ba3256"),
    ("1.33", "v1.33.12@sha256:3f5c8443c620245e4d355cfe09e96a91ead32ceaa569d3f1ca9edf0cb2fe2ff4"),
    ("1.32", "v1.32.11@sha256:5fc52d52a7b9574015299724bd68f183702956aa4a2116ae75a63cb574b35af8"),
    ("1.31", "v1.31.14@sha256:6f86cf509dbb42767b6e79debc3f2c32e4ee01386f0489b3b2be24b0a55aac2b"),
    ("1.30", "v1.30.13@sha256:397209b3d947d154f6641f2d0ce8d473732bd91c87d9575ade99049aa33cd648"),
    ("1.29", "v1.29.14@sha256:8703bd94ee24e51b778d5556ae310c6c0fa67d761fae6379c8e0bb480e6fea29"),
    ("1.28", "v1.28.15@sha256:a7c05c7ae043a0b8c818f5a06188bc2c4098f6cb59ca7d1856df00375d839251"),
    ("1.27", "v1.27.16@sha256:2d21a61643eafc439905e18705b8186f3296384750a835ad7a005dceb9546d20"),
    ("1.26", "v1.26.15@sha256:c79602a44b4056d7e48dc20f7504350f1e87530fe953428b792def00bc1076dd"),
    ("1.25", "v1.25.16"),
    ("1.24", "v1.24.17"),
    ("1.23", "v1.23.17"),
    ("1.22", "v1.22.17@sha256:f5b2e5698c6c9d6d0adc419c0deae21a425c07d81bbf3b6a6834042f25d4fba2"),
    ("1.21", "v1.21.14@sha256:8a4e9bb3f415d2bb81629ce33ef9c76ba514c14d707f9797a01e3216376ba093"),
    ("1.20", "v1.20.7"),
    ("1.19", "v1.19.11"),
    ("1.18", "v1.18.19"),
    ("1.17", "v1.17.17"),
    ("1.16", "v1.16.15"),
    ("1.15", "v1.15.12"),
    ("1.14", "v1.14.10"),
];

/// The oldest minor version of which the images still count as tested.
const OLDEST_TESTED: u32 = 21;

/// The image of a minor version such as `1.34`; `None` where carp knows none.
#[must_use]
pub fn node_image(version: &str) -> Option<NodeImage> {
    let (_, tag) = IMAGES.iter().find(|(minor, _)| *minor == version)?;
    let minor: u32 = version.split_once('.')?.1.parse().ok()?;
    Some(NodeImage { image: tag, tested: minor >= OLDEST_TESTED })
}

impl NodeImage {
    /// The whole reference.
    #[must_use]
    pub fn reference(&self) -> String {
        format!("kindest/node:{}", self.image)
    }
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
            assert!(image.image.starts_with(&format!("v{version}.")), "{image:?}");
            let digest = image.image.split_once("@sha256:").map(|(_, digest)| digest);
            assert!(digest.is_none_or(|d| d.len() == 64), "{image:?}");
            assert_eq!(image.tested, minor >= 21, "{version}");
        }
        assert_eq!(node_image("1.13"), None);
        assert_eq!(node_image("1.38"), None);
        assert_eq!(IMAGES[0].0, DEFAULT_KIND_VERSION);
    }
}
