//! A cluster's folder at each step of its deletion.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::cluster::{CLUSTER_FILE, no_flavor};
use super::flux::kustomization_file;
use super::folder::{folder_digest, with_digest};
use super::job::KUSTOMIZATION;
use super::object::{Malformed, Object, objects};
use super::templates::Templates;
use super::{Files, yaml};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::model::{DEFAULT_WORKER_FLAVOR, DeletionRow, DeletionStep};
use crate::model::{Flavor, OnDeletion};

/// The ConfigMap that says that the deletion has begun; with it a folder is never empty.
pub(super) const TOMBSTONE: &str = "carp-tombstone";

/// What keeps Flux from pruning an object. It looks at the object on the cluster, as an annotation or a
/// label (fluxcd/pkg `ssa/manager_delete.go`, kustomize-controller `deleteObjects`).
pub(super) const PRUNE: &str = "kustomize.toolkit.fluxcd.io/prune";

/// The last good folder as a step of the deletion leaves it. Documents that stay are kept byte for byte,
/// but for the marks that a step sets or takes away.
///
/// - D1 is without the `Cluster` and what it owns: Flux prunes the `Cluster`, and Cluster API takes down
///   the rest in its own order. Namespace, identity and add-ons stay until the cluster is reported gone
///   (uninstalled earlier they would break the drain of its machines), and so does the ManagedCluster.
/// - D2 is without the add-ons. What is left loses its marks against pruning and stays listed: what leaves
///   a folder while it is marked leaves Flux's inventory too, and would stay on the cluster for ever. So
///   it goes with the folder's Kustomization, which prunes its inventory when it is removed.
/// - Orphan is the whole folder with every object marked, so that Flux deletes none of them.
///
/// # Errors
/// The folder cannot be read, its flavor has no manifest, or the cluster is paused: Cluster API looks at
/// `paused` before it looks at a deletion, so the deletion would hang.
pub fn deletion_folder(
    flavor: &str,
    last: &Files,
    templates: &Templates,
    step: DeletionStep,
) -> Result<Files, Diagnostics> {
    let all = objects(last).map_err(|all| all.iter().map(unreadable).collect::<Diagnostics>())?;
    if step == DeletionStep::Orphan {
        return Ok(orphaned(last, &all));
    }
    let manifest = templates
        .flavor(flavor)
        .ok_or_else(|| Diagnostics::from_iter([no_flavor(flavor, "carp.yaml")]))?;
    if let Some(paused) = all.iter().find(|o| is_paused(o)) {
        return Err(Diagnostics::from_iter([held_by_pause(paused)]));
    }
    let stays = all.iter().filter(|o| o.name() != TOMBSTONE && outlasts(manifest, o, step));
    let mut documents: Vec<_> = stays
        .map(|o| if step == DeletionStep::D2 { unmarked(o) } else { o.text.clone() })
        .collect();
    let namespace = all.iter().find(|o| o.kind() == "Namespace");
    documents.extend(namespace.map(|namespace| tombstone(namespace.name(), step)));
    Ok(with_digest(Files::from([
        (KUSTOMIZATION.to_owned(), kustomization_file([CLUSTER_FILE])),
        (CLUSTER_FILE.to_owned(), documents.join("---\n").into_bytes()),
    ])))
}

/// What a lock keeps of a folder that a step left. What is not marked by a tombstone is let go of.
#[must_use]
pub fn deletion_row(files: &Files, worker_uid: Option<String>) -> DeletionRow {
    let all = objects(files).unwrap_or_default();
    let tombstone = all.iter().find(|object| object.name() == TOMBSTONE);
    let step = match tombstone.map(|object| object.value.pointer("/data/step")) {
        None => DeletionStep::Orphan,
        Some(Some(step)) if step == "D2" => DeletionStep::D2,
        Some(_) => DeletionStep::D1,
    };
    let keeps = match step {
        DeletionStep::Orphan => BTreeSet::new(),
        _ => all.iter().map(|object| object.kind().to_owned()).collect(),
    };
    let parts = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
    DeletionRow { step, digest: folder_digest(parts), keeps, worker_uid }
}

/// Whether an object is still in the folder after a step. carp's own object is what reports read the digest
/// from, whatever a manifest says.
fn outlasts(manifest: &Flavor, object: &Object, step: DeletionStep) -> bool {
    let declared = manifest.object(object.api_version(), object.kind()).map(|d| d.on_deletion);
    match declared {
        _ if object.group() == "carp.dev" => true,
        Some(OnDeletion::Keep) => true,
        Some(OnDeletion::Follow) => step == DeletionStep::D1,
        Some(OnDeletion::Drop) | None => false,
    }
}

/// The object without a mark against pruning.
fn unmarked(object: &Object) -> String {
    let mut value = (*object.value).clone();
    let mut changed = false;
    for field in ["annotations", "labels"] {
        let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) else {
            break;
        };
        let Some(marks) = metadata.get_mut(field).and_then(Value::as_object_mut) else { continue };
        changed |= marks.remove(PRUNE).is_some();
        if marks.is_empty() {
            metadata.remove(field);
        }
    }
    if changed { yaml::emit(&value) } else { object.text.clone() }
}

/// The folder with every object marked against pruning.
fn orphaned(last: &Files, all: &[Object]) -> Files {
    let mut files = last.clone();
    let marked = |object: &&Object| {
        let annotations = object.value.pointer("/metadata/annotations");
        annotations.and_then(|all| all.get(PRUNE)).is_some_and(|value| value == "disabled")
    };
    for object in all.iter().filter(|object| !marked(object)) {
        let mut value = (*object.value).clone();
        value["metadata"]["annotations"][PRUNE] = json!("disabled");
        if let Some(bytes) = files.get_mut(&object.file) {
            let text = String::from_utf8_lossy(bytes);
            *bytes = text.replacen(&object.text, &yaml::emit(&value), 1).into_bytes();
        }
    }
    with_digest(files)
}

/// The flavor that the Worker in a folder names, or else the default.
#[must_use]
pub fn worker_flavor(files: &Files) -> String {
    let all = objects(files).unwrap_or_default();
    let worker = all.iter().find(|o| o.kind() == "Worker" && o.group() == "carp.dev");
    let flavor = worker.and_then(|o| o.value.pointer("/spec/flavor")?.as_str());
    flavor.unwrap_or(DEFAULT_WORKER_FLAVOR).to_owned()
}

/// Where the Worker in a folder is.
pub struct WorkerPlace {
    /// The pool that it is in.
    pub pool: String,
    /// Its location.
    pub location: String,
    /// The zones of its node pools, by their names.
    pub zones: BTreeMap<String, Vec<String>>,
}

/// What the Worker in a folder says of its place; `None` where there is none, or it is in no pool.
#[must_use]
pub fn worker_place(files: &Files) -> Option<WorkerPlace> {
    let all = objects(files).ok()?;
    let worker = all.iter().find(|o| o.kind() == "Worker" && o.group() == "carp.dev")?;
    let text = |path: &str| worker.value.pointer(path)?.as_str().map(str::to_owned);
    let pools = worker.value.pointer("/spec/nodePools").and_then(Value::as_array);
    let zones = pools.into_iter().flatten().filter_map(|pool| {
        let zones = pool.get("zones").and_then(Value::as_array).into_iter().flatten();
        let zones = zones.filter_map(Value::as_str).map(str::to_owned).collect();
        Some((pool.get("name")?.as_str()?.to_owned(), zones))
    });
    Some(WorkerPlace {
        pool: text("/spec/pool")?,
        location: text("/spec/location")?,
        zones: zones.collect(),
    })
}

/// The last good folder was read before it was committed, so somebody else wrote into it.
pub(super) fn unreadable(document: &Malformed) -> Diagnostic {
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

fn tombstone(cluster: &str, step: DeletionStep) -> String {
    let mut data = json!({"cluster": cluster, "state": "Deleting"});
    if step == DeletionStep::D2 {
        data["step"] = json!("D2");
    }
    yaml::emit(&json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": TOMBSTONE, "namespace": cluster},
        "data": data,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{cluster_files, fleet, kinds, objects_of, text};
    use super::*;

    fn deleted(last: &Files) -> Result<Files, Diagnostics> {
        at(last, DeletionStep::D1)
    }

    fn at(last: &Files, step: DeletionStep) -> Result<Files, Diagnostics> {
        deletion_folder("kamaji-capz", last, &Templates::built_in(), step)
    }

    #[test]
    fn the_cluster_goes_and_what_its_end_needs_stays() {
        let files = deleted(&cluster_files(&fleet())).unwrap();
        assert_eq!(
            kinds(&files),
            [
                "AzureClusterIdentity",
                "ClusterResourceSet",
                "ConfigMap",
                "HelmChartProxy",
                "ManagedCluster",
                "Namespace"
            ]
        );
        assert!(text(&files).contains("name: carp-tombstone\n"), "the folder is never empty");
        assert!(files.contains_key("kustomization.yaml"));
    }

    #[test]
    fn what_flux_installs_stays_as_long_as_machines_drain() {
        let mut fleet = fleet();
        fleet.spec.flux_releases = true;
        let chart = json!({"name": "ingress", "repoURL": "https://charts.example.com", "chartName": "ingress",
            "version": "1.0.0", "namespace": "ingress"});
        let said: crate::model::api::Parameters =
            serde_json::from_value(json!({"helmReleases": [chart]})).unwrap();
        fleet.clusters.values_mut().for_each(|c| c.spec.parameters = said.clone());
        let last = cluster_files(&fleet);
        let has = |files: &Files| {
            ["HelmRelease", "HelmRepository"].map(|kind| kinds(files).iter().any(|k| *k == kind))
        };
        let first = deleted(&last).unwrap();
        assert_eq!([has(&last), has(&first)], [[true; 2]; 2]);
        assert_eq!(has(&at(&first, DeletionStep::D2).unwrap()), [false; 2]);
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
        let findings = deletion_folder("gone", &last, &Templates::built_in(), DeletionStep::D1);
        let findings = findings.unwrap_err();
        assert_eq!(findings.iter().next().unwrap().code, Code::UnknownFlavor);
    }

    #[test]
    fn add_ons_follow_and_what_is_left_may_be_pruned() {
        let last = cluster_files(&fleet());
        let first = deleted(&last).unwrap();
        let files = at(&first, DeletionStep::D2).unwrap();
        assert_eq!(
            kinds(&files),
            ["AzureClusterIdentity", "ConfigMap", "ManagedCluster", "Namespace"]
        );
        assert!(text(&first).contains("prune: disabled") && !text(&files).contains("prune"));
        let namespace = &objects_of(&files, "Namespace")[0]["metadata"];
        assert!(namespace.get("annotations").is_none(), "{namespace}");
        assert_eq!(namespace["labels"]["carp.dev/cluster"], "pay-eu", "the rest stays");
        assert!(text(&files).contains("step: D2\n"));
        assert_eq!(at(&files, DeletionStep::D2).unwrap(), files, "a second time changes nothing");
    }

    #[test]
    fn an_orphan_has_all_it_had_and_nothing_of_it_is_pruned() {
        let last = cluster_files(&fleet());
        let files = at(&last, DeletionStep::Orphan).unwrap();
        assert_eq!(kinds(&files), kinds(&last));
        for kind in kinds(&files) {
            for object in objects_of(&files, &kind) {
                assert_eq!(object["metadata"]["annotations"][PRUNE], "disabled", "{kind}");
            }
        }
        assert_eq!(at(&files, DeletionStep::Orphan).unwrap(), files);
        let namespace = |files| text(files).split("---\n").next().unwrap().to_owned();
        assert_eq!(namespace(&files), namespace(&last), "what was marked is kept byte for byte");
    }

    #[test]
    fn a_paused_cluster_can_be_let_go_of() {
        let mut fleet = fleet();
        fleet.clusters.values_mut().for_each(|c| c.spec.paused = true);
        assert!(at(&cluster_files(&fleet), DeletionStep::Orphan).is_ok());
    }

    #[test]
    fn a_folder_says_which_step_left_it_and_what_it_has() {
        let last = cluster_files(&fleet());
        let first = deleted(&last).unwrap();
        let row = |files: &Files| deletion_row(files, Some("u".to_owned()));
        assert_eq!(row(&first).step, DeletionStep::D1);
        assert!(row(&first).keeps.contains("HelmChartProxy"));
        assert!(text(&first).contains(&format!("carp.dev/digest: sha256:{}", row(&first).digest)));
        let second = at(&first, DeletionStep::D2).unwrap();
        assert_eq!(row(&second).step, DeletionStep::D2);
        assert!(!row(&second).keeps.contains("HelmChartProxy"));
        assert_ne!(row(&second).digest, row(&first).digest);
        let orphan = row(&at(&last, DeletionStep::Orphan).unwrap());
        assert_eq!((orphan.step, orphan.worker_uid.as_deref()), (DeletionStep::Orphan, Some("u")));
    }
}
