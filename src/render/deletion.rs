//! The first step of a deletion: a cluster's folder without the cluster.

use serde_json::{Value, json};

use super::cluster::{CLUSTER_FILE, no_flavor};
use super::flavor::OnDeletion;
use super::flux::kustomization_file;
use super::folder::with_digest;
use super::job::KUSTOMIZATION;
use super::object::{Malformed, Object, objects};
use super::templates::Templates;
use super::{Files, yaml};
use crate::diag::{Code, Diagnostic, Diagnostics};

/// The ConfigMap that says that the deletion has begun; with it a folder is never empty.
pub(super) const TOMBSTONE: &str = "carp-tombstone";

/// The last good folder without the `Cluster` and what it owns: Flux prunes the `Cluster`, and Cluster
/// API takes down the rest in its own order. Namespace, identity and add-ons stay until the cluster is
/// reported gone (uninstalled earlier they would break the drain of its machines), and so does the
/// ManagedCluster. Documents that stay are kept byte for byte.
///
/// # Errors
/// The folder cannot be read, its flavor has no manifest, or the cluster is paused: Cluster API looks at
/// `paused` before it looks at a deletion, so the deletion would hang.
pub fn deletion_folder(
    flavor: &str,
    last: &Files,
    templates: &Templates,
) -> Result<Files, Diagnostics> {
    let manifest = templates
        .flavor(flavor)
        .ok_or_else(|| Diagnostics::from_iter([no_flavor(flavor, "carp.yaml")]))?;
    let all = objects(last).map_err(|all| all.iter().map(unreadable).collect::<Diagnostics>())?;
    if let Some(paused) = all.iter().find(|o| is_paused(o)) {
        return Err(Diagnostics::from_iter([held_by_pause(paused)]));
    }
    let keeps = |o: &&Object| {
        let declared = manifest.object(o.api_version(), o.kind()).map(|d| d.on_deletion);
        declared == Some(OnDeletion::Keep) && o.name() != TOMBSTONE
    };
    let mut documents: Vec<_> = all.iter().filter(keeps).map(|o| o.text.clone()).collect();
    documents.extend(all.iter().find(|o| o.kind() == "Namespace").map(|n| tombstone(n.name())));
    Ok(with_digest(Files::from([
        (KUSTOMIZATION.to_owned(), kustomization_file([CLUSTER_FILE])),
        (CLUSTER_FILE.to_owned(), documents.join("---\n").into_bytes()),
    ])))
}

/// The last good folder was read before it was committed, so somebody else wrote into it.
fn unreadable(document: &Malformed) -> Diagnostic {
    Diagnostic::new(Code::RecordUnreadable, document.to_string())
        .help("bring the folder back as carp committed it: `git log` on it shows when it changed")
}

fn is_paused(object: &Object) -> bool {
    object.kind() == "Cluster" && object.value.pointer("/spec/paused") == Some(&Value::Bool(true))
}

fn held_by_pause(cluster: &Object) -> Diagnostic {
    let name = cluster.name();
    let message = format!("{name} is paused, and a paused cluster is never taken down");
    Diagnostic::new(Code::ImmutableField, message).help(format!(
        "put the document of {name} back without `paused: true`, and remove it once that is applied"
    ))
}

fn tombstone(cluster: &str) -> String {
    yaml::emit(&json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": TOMBSTONE, "namespace": cluster},
        "data": {"cluster": cluster, "state": "Deleting"},
    }))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{cluster_files, fleet, kinds, text};
    use super::*;

    fn deleted(last: &Files) -> Result<Files, Diagnostics> {
        deletion_folder("kamaji-capz", last, &Templates::built_in())
    }

    #[test]
    fn the_cluster_goes_and_what_its_end_needs_stays() {
        let files = deleted(&cluster_files(&fleet())).unwrap();
        assert_eq!(
            kinds(&files),
            ["AzureClusterIdentity", "ConfigMap", "HelmChartProxy", "ManagedCluster", "Namespace"]
        );
        assert!(text(&files).contains("name: carp-tombstone\n"), "the folder is never empty");
        assert!(files.contains_key("kustomization.yaml"));
    }

    #[test]
    fn what_stays_is_kept_byte_for_byte_under_a_digest_of_its_own() {
        let last = cluster_files(&fleet());
        let files = deleted(&last).unwrap();
        let line = |files: &Files| {
            text(files).lines().find(|l| l.contains("carp.dev/digest")).unwrap().to_owned()
        };
        assert_ne!(line(&last), line(&files));
        let before = text(&last);
        for kept in text(&files).replace(&line(&files), &line(&last)).split("---\n") {
            assert!(before.contains(kept) || kept.contains("carp-tombstone"), "{kept}");
        }
        assert_eq!(deleted(&files).unwrap(), files, "a second time changes nothing");
    }

    #[test]
    fn a_paused_cluster_is_not_deleted() {
        let mut fleet = fleet();
        fleet.clusters.values_mut().for_each(|c| c.spec.paused = true);
        let findings = deleted(&cluster_files(&fleet)).unwrap_err();
        assert!(findings.iter().next().unwrap().message.contains("pay-eu is paused"));
    }

    #[test]
    fn a_flavor_that_is_gone_holds_the_deletion() {
        let last = cluster_files(&fleet());
        let findings = deletion_folder("gone", &last, &Templates::built_in()).unwrap_err();
        assert_eq!(findings.iter().next().unwrap().code, Code::UnknownFlavor);
    }
}
