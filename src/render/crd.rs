//! The CRDs that stand on every cluster with carp's kinds. They are the same everywhere. To make them from the types takes
//! longer than most runs, so their files are kept in `deploy/`, and tests hold them to what the types say.

use std::sync::LazyLock;

use crate::model::Digest;

/// A CRD as a file.
#[derive(Debug)]
pub(super) struct Crd {
    /// The name of the file.
    pub(super) file: &'static str,
    /// Its text.
    pub(super) text: &'static str,
    /// The digest of its text.
    pub(super) digest: Digest,
}

impl Crd {
    /// The line before it says where it comes from.
    fn new((file, kept): (&'static str, &'static str)) -> Self {
        let text = kept.split_once('\n').map_or(kept, |(_, text)| text);
        Self { file, text, digest: Digest::of(text.as_bytes()) }
    }
}

/// By file name: those of clusters and workers, and that of clusters of kind.
const KEPT: [(&str, &str); 3] = [
    (
        "managedclusters.carp.dev.yaml",
        include_str!("../../deploy/crds/managedclusters.carp.dev.yaml"),
    ),
    ("workers.carp.dev.yaml", include_str!("../../deploy/crds/workers.carp.dev.yaml")),
    ("kindclusters.infrastructure.cluster-k8s.io.yaml", include_str!("../../deploy/kind/crd.yaml")),
];

static CRDS: LazyLock<[Crd; 3]> = LazyLock::new(|| KEPT.map(Crd::new));

/// The kinds whose objects stand on a cluster: those of clusters and workers and, where clusters of kind may
/// be made from there, those of these.
pub(super) fn crds(containers: bool) -> Vec<&'static Crd> {
    CRDS.iter().take(if containers { 3 } else { 2 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api;
    use crate::render::object::objects;
    use crate::render::{Files, yaml};

    #[test]
    #[expect(clippy::disallowed_methods, reason = "tests read their environment")]
    fn each_is_what_the_types_say() {
        let made = api::crds().into_iter().chain([api::kind_crd()]);
        let made: Vec<_> = made.map(|(file, crd)| (file, yaml::emit_all(&[crd]))).collect();
        if std::env::var_os("UPDATE").is_some() {
            let head =
                "# What carp puts on clusters. A test keeps it so: UPDATE=1 cargo test render::crd";
            for (file, text) in &made {
                let is_of_kind = file.starts_with("kindclusters.");
                let place =
                    if is_of_kind { "kind/crd.yaml".to_owned() } else { format!("crds/{file}") };
                let kept = format!("{}/deploy/{place}", env!("CARGO_MANIFEST_DIR"));
                std::fs::write(kept, format!("{head}\n{text}")).unwrap();
            }
        }
        let kept: Vec<_> = CRDS.iter().map(|c| (c.file.to_owned(), c.text.to_owned())).collect();
        assert!(
            kept == made,
            "deploy/ has another; UPDATE=1 cargo test render::crd, and build anew"
        );
    }

    #[test]
    fn each_is_one_object_in_which_flux_sees_no_variable() {
        assert_eq!(crds(false).len() + 1, crds(true).len());
        for crd in crds(true) {
            let files = Files::from([(crd.file.to_owned(), crd.text.as_bytes().to_vec())]);
            let objects = objects(&files).unwrap();
            assert_eq!(objects.len(), 1);
            assert_eq!(objects[0].kind(), "CustomResourceDefinition");
            assert!(!crd.text.contains("${"), "{}", crd.file);
        }
    }
}
