//! The templates that are built in: every file of `templates/`, which the build lists.

/// The files of `templates/`, by path from there, sorted.
pub const BUILT_IN_TEMPLATES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/templates.rs"));

/// Those of them that declare something, by path, as JSON.
pub(super) const BUILT_IN_MANIFESTS: &[(&str, &str)] =
    include!(concat!(env!("OUT_DIR"), "/manifests.rs"));
