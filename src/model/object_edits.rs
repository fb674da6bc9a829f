//! What changes objects between the templates that made them and the checks that they must pass. Who renders knows
//! nothing of who changes, and the other way round: both know this.

use std::fmt;

use serde_json::Value;

use super::Name;
use crate::diag::{Diagnostics, Place};

/// The annotation of an object that names those who changed it, in the order in which they did.
pub const OVERRIDDEN_BY: &str = "carp.dev/overridden-by";

/// Changes of the objects of one folder. Equal [`facts`](Self::facts) and equal objects come out equal.
pub trait ObjectEdits: fmt::Debug + Send + Sync {
    /// All that the changes follow from. It is part of the folder's render key.
    fn facts(&self) -> Value;

    /// The objects that come out otherwise, each at the place of its object; `None` for one that stays.
    ///
    /// # Errors
    /// What could not be changed as it is wanted: then nothing of the folder is.
    fn edit(&self, objects: &[&Value]) -> Result<Vec<Option<EditedObject>>, Diagnostics>;

    /// Where one of those who change stands, for findings about what came of it.
    fn place(&self, by: &Name) -> Option<Place>;
}

/// An object that was changed.
#[derive(Clone, Debug, PartialEq)]
pub struct EditedObject {
    /// What it is now.
    pub value: Value,
    /// Who changed it, in order.
    pub by: Vec<Name>,
}

/// Whether objects of an `apiVersion` are carp's own, or Flux's: by them the clusters are applied, and what they say is
/// evidence.
#[must_use]
pub fn is_carps_api(api_version: &str) -> bool {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    is_carps_domain(group)
}

/// Whether a label or annotation is carp's own, or an order to Flux.
#[must_use]
pub fn is_carps_key(key: &str) -> bool {
    key.split_once('/').is_some_and(|(domain, _)| is_carps_domain(domain))
}

fn is_carps_domain(domain: &str) -> bool {
    ["carp.dev", "fluxcd.io"].into_iter().any(|own| {
        let above = domain.strip_suffix(own);
        above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
    })
}

/// Why nobody but carp may write at a JSON pointer of an object; `None` where others may.
#[must_use]
pub fn carps_path(pointer: &str) -> Option<&'static str> {
    let parts: Vec<_> = pointer.split('/').skip(1).collect();
    match parts.as_slice() {
        [] => Some("the object would be another one"),
        ["apiVersion" | "kind"] => Some("an object stays of the kind that it is of"),
        ["status", ..] => Some("the status is the controllers' own"),
        ["metadata"] => Some("carp's own labels and annotations stand there"),
        ["metadata", "labels" | "annotations"] => {
            Some("carp's own labels and annotations stand there")
        }
        ["metadata", "labels" | "annotations", key] => {
            let key = key.replace("~1", "/").replace("~0", "~");
            is_carps_key(&key).then_some("it is carp's own")
        }
        ["metadata", ..] => Some("of the metadata only labels and annotations are free"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carps_own_is_known_by_its_domain() {
        for own in ["carp.dev/v1alpha1", "kustomize.toolkit.fluxcd.io/v1", "x.carp.dev/v1"] {
            assert!(is_carps_api(own), "{own}");
        }
        for other in ["v1", "apps/v1", "mycarp.dev/v1", "cluster.x-k8s.io/v1beta2"] {
            assert!(!is_carps_api(other), "{other}");
        }
        assert!(is_carps_key("carp.dev/tenant"));
        assert!(is_carps_key("kustomize.toolkit.fluxcd.io/prune"));
        assert!(!is_carps_key("carp.dev") && !is_carps_key("example.com/carp.dev"));
    }

    #[test]
    fn of_the_metadata_labels_and_annotations_are_free() {
        for own in [
            "",
            "/kind",
            "/apiVersion",
            "/metadata",
            "/metadata/name",
            "/metadata/namespace",
            "/metadata/finalizers/-",
            "/metadata/labels",
            "/metadata/labels/carp.dev~1tenant",
            "/metadata/annotations/kustomize.toolkit.fluxcd.io~1prune",
            "/status/ready",
        ] {
            assert!(carps_path(own).is_some(), "{own}");
        }
        for free in ["/spec", "/spec/kind", "/data/x", "/metadata/labels/example.com~1tier"] {
            assert_eq!(carps_path(free), None, "{free}");
        }
    }
}
