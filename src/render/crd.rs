//! The CRDs that stand on every cluster with carp's kinds. They are the same everywhere, so they are made from
//! the types once a process.

use std::sync::LazyLock;

use serde_json::Value;

use super::yaml;
use crate::model::{Digest, api};

/// A CRD as a file.
#[derive(Debug)]
pub(super) struct Crd {
    /// The name of the file.
    pub(super) file: String,
    /// Its text.
    pub(super) text: String,
    /// The digest of its text.
    pub(super) digest: Digest,
}

impl Crd {
    fn new((file, value): (String, Value)) -> Self {
        let text = yaml::emit_all(&[value]);
        Self { file, digest: Digest::of(text.as_bytes()), text }
    }
}

/// Those of clusters and workers.
static OWN: LazyLock<Vec<Crd>> = LazyLock::new(|| api::crds().into_iter().map(Crd::new).collect());
/// That of clusters of kind.
static OF_KIND: LazyLock<Crd> = LazyLock::new(|| Crd::new(api::kind_crd()));

/// The kinds whose objects stand on a cluster: those of clusters and workers and, where clusters of kind may
/// be made from there, those of these.
pub(super) fn crds(containers: bool) -> Vec<&'static Crd> {
    let of_kind = containers.then(|| &*OF_KIND);
    OWN.iter().chain(of_kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Files;
    use crate::render::object::objects;

    #[test]
    fn each_is_one_object_in_which_flux_sees_no_variable() {
        assert_eq!(crds(false).len() + 1, crds(true).len());
        for crd in crds(true) {
            let files = Files::from([(crd.file.clone(), crd.text.clone().into_bytes())]);
            let objects = objects(&files).unwrap();
            assert_eq!(objects.len(), 1);
            assert_eq!(objects[0].kind(), "CustomResourceDefinition");
            assert!(!crd.text.contains("${"), "{}", crd.file);
        }
    }
}
