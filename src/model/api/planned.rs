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

/// Whether a field of a kind is planned, which is called `key`; its path is dotted, without indices, and is asked for where a field of that
/// name is.
#[must_use]
pub fn is_planned_field(kind: &str, key: &str, path: impl FnOnce() -> String) -> bool {
    let of_kind = FIELDS.iter().filter(|(of, _)| *of == kind).flat_map(|(_, fields)| *fields);
    let mut called = of_kind.filter(|field| field.rsplit('.').next() == Some(key)).peekable();
    called.peek().is_some() && {
        let path = path();
        called.any(|field| *field == path)
    }
}
