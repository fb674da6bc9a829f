//! Names that the design has and this carp does not act on yet. The loader refuses them like any
//! unknown name and says that they are planned.

/// Kinds of `carp.dev` that do not exist yet.
pub const KINDS: &[&str] = &["RolloutPolicy"];

/// Fields by kind, as dotted paths below the document; lists are written without an index.
pub const FIELDS: &[(&str, &[&str])] = &[
    ("Fleet", &["spec.images.overrides"]),
    (
        "ManagedCluster",
        &["spec.controlPlane.size", "spec.maintenance", "spec.placement.tolerations"],
    ),
];

/// Whether a field of a kind is planned; the path is dotted, without indices.
#[must_use]
pub fn is_planned_field(kind: &str, path: &str) -> bool {
    FIELDS.iter().any(|(k, fields)| *k == kind && fields.contains(&path))
}
