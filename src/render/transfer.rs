//! What a worker gets of a cluster that is handed over to it, before it is.

use std::collections::BTreeSet;

use serde_json::json;

use super::cluster::{CLUSTER_FILE, no_flavor};
use super::deletion::{PRUNE, unreadable};
use super::flux::kustomization_file;
use super::folder::{folder_digest, with_digest};
use super::job::KUSTOMIZATION;
use super::object::{Object, objects};
use super::templates::Templates;
use super::{Files, yaml};
use crate::diag::Diagnostics;
use crate::model::{Digest, OnDeletion};

/// The folder that prepares a hand-over.
pub struct PreparedFolder {
    /// Its files.
    pub files: Files,
    /// The digest that a report repeats once it is applied.
    pub digest: Digest,
    /// The kinds that may be left where the cluster was: what is prepared, and the add-ons, which do nothing without a
    /// cluster.
    pub leaves: BTreeSet<String>,
}

/// The last good folder with only what everything else lies in or acts by: the Namespace, the identity, what is carp's.
/// What the `Cluster` owns is not there, for `clusterctl move` brings it, and Flux must not make a second one before.
///
/// The Namespace is marked against pruning, whatever the flavor says: a hand-over that is called off must not take a
/// cluster with it that somebody brought all the same.
///
/// # Errors
/// The folder cannot be read, or its flavor has no manifest.
pub fn prepared_folder(
    flavor: &str,
    last: &Files,
    templates: &Templates,
) -> Result<PreparedFolder, Diagnostics> {
    let all = objects(last).map_err(|all| all.iter().map(unreadable).collect::<Diagnostics>())?;
    let manifest = templates
        .flavor(flavor)
        .ok_or_else(|| Diagnostics::from_iter([no_flavor(flavor, "carp.yaml")]))?;
    let stays = |object: &Object, add_ons: bool| {
        let declared = manifest.object(object.api_version(), object.kind()).map(|d| d.on_deletion);
        object.group() == "carp.dev"
            || declared == Some(OnDeletion::Keep)
            || (add_ons && declared == Some(OnDeletion::Follow))
    };
    let leaves = all.iter().filter(|object| stays(object, true));
    let leaves = leaves.map(|object| object.kind().to_owned()).collect();
    let documents: Vec<_> = all.iter().filter(|object| stays(object, false)).map(text).collect();
    let files = with_digest(Files::from([
        (KUSTOMIZATION.to_owned(), kustomization_file([CLUSTER_FILE])),
        (CLUSTER_FILE.to_owned(), documents.join("---\n").into_bytes()),
    ]));
    let digest = folder_digest(files.iter().map(|(path, bytes)| (path.as_str(), &**bytes)));
    Ok(PreparedFolder { files, digest, leaves })
}

/// The object as it stands, a Namespace with its mark.
fn text(object: &Object) -> String {
    let annotations = object.value.pointer("/metadata/annotations");
    let marked = annotations.and_then(|all| all.get(PRUNE)).is_some_and(|v| v == "disabled");
    if object.kind() != "Namespace" || marked {
        return object.text.clone();
    }
    let mut value = (*object.value).clone();
    value["metadata"]["annotations"][PRUNE] = json!("disabled");
    yaml::emit(&value)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{cluster_files, fleet, kinds, objects_of, text as text_of};
    use super::*;

    fn prepared(last: &Files) -> PreparedFolder {
        prepared_folder("kamaji-capz", last, &Templates::built_in()).unwrap()
    }

    #[test]
    fn nothing_that_the_cluster_owns_is_there_and_what_it_lies_in_is() {
        let last = cluster_files(&fleet());
        let folder = prepared(&last);
        assert_eq!(
            kinds(&folder.files),
            ["AzureClusterIdentity", "ConfigMap", "ManagedCluster", "Namespace"]
        );
        assert!(folder.leaves.contains("HelmChartProxy") && !folder.leaves.contains("Cluster"));
        let digest = format!("carp.dev/digest: sha256:{}", folder.digest);
        assert!(text_of(&folder.files).contains(&digest) && !text_of(&last).contains(&digest));
    }

    #[test]
    fn its_namespace_is_never_pruned() {
        let mut last = cluster_files(&fleet());
        let namespace = |files: &Files| {
            objects_of(files, "Namespace")[0]["metadata"]["annotations"][PRUNE].clone()
        };
        assert_eq!(namespace(&prepared(&last).files), "disabled");
        let text = String::from_utf8(last[CLUSTER_FILE].clone()).unwrap();
        let unmarked =
            text.replacen("    kustomize.toolkit.fluxcd.io/prune: disabled\n", "    a: b\n", 1);
        last.insert(CLUSTER_FILE.to_owned(), unmarked.into_bytes());
        assert_eq!(namespace(&prepared(&last).files), "disabled");
    }
}
