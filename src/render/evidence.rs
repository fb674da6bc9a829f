//! What a folder says of itself, where the lock that listed it is lost.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Files;
use super::cluster::{CLUSTER_FILE, DATA_STORE_ANNOTATION, TENANT_LABEL, VERSIONS_ANNOTATION};
use super::folder::{DIGEST_ANNOTATION, folder_digest};
use super::job::KUSTOMIZATION;
use super::object::{Object, objects};
use crate::model::api::ManagedClusterSpec;
use crate::model::{DEFAULT_CLUSTER_FLAVOR, Digest, IndexRow, Name, SteppedVersions, Versions};

/// What the folder of a cluster, or of a worker's own cluster, says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The files that are carp's. Those beside them are nobody knows whose.
    pub own: Files,
    /// Whether they are as carp wrote them: the digest that they carry is theirs.
    pub proven: bool,
    /// Whether it holds the object that it is made for, a `ManagedCluster` or `Worker` of that name.
    pub named: bool,
    /// Whether it holds the tombstone of a deletion that has begun.
    pub deleting: bool,
    /// What an index needs of a cluster; `None` where there is no ManagedCluster that can be read.
    pub row: Option<IndexRow>,
    /// The versions of the folder, where they are others than the ManagedCluster's own.
    pub versions: Option<SteppedVersions>,
    /// The data store that the cluster is in, where that is another than `default`.
    pub data_store: Option<String>,
}

/// Looks into a folder. `expected` is what would be rendered there now, where that is known: files of
/// other names are carp's only if the folder's digest says so.
#[must_use]
pub fn evidence(name: &Name, files: &Files, expected: Option<&Files>) -> Evidence {
    let usual = |path: &str| match expected {
        Some(expected) => expected.contains_key(path),
        None => path == KUSTOMIZATION || path == CLUSTER_FILE,
    };
    let some: Files =
        files.iter().filter(|(p, _)| usual(p)).map(|(p, b)| (p.clone(), b.clone())).collect();
    let seen = read(&some);
    let own = seen.iter().find(|object| is_of(object, name));
    let digest = own.and_then(|object| digest_of(&object.value));
    let is = |files: &Files| {
        let parts = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
        digest == Some(folder_digest(parts))
    };
    let proven = [files, &some].into_iter().find(|files| is(files)).cloned();
    Evidence {
        proven: proven.is_some(),
        own: proven.unwrap_or(some),
        named: own.is_some(),
        deleting: seen.iter().any(|object| object.name() == super::deletion::TOMBSTONE),
        row: own.and_then(|object| row_of(&object.value)),
        versions: own.and_then(|object| versions_of(&object.value)),
        data_store: own.and_then(|object| data_store_of(&object.value)),
    }
}

/// The objects of those files that can be read.
fn read(files: &Files) -> Vec<Object> {
    let one = |(path, bytes): (&String, &Vec<u8>)| {
        let alone = Files::from([(path.clone(), bytes.clone())]);
        objects(&alone).unwrap_or_default()
    };
    files.iter().filter(|(path, _)| !path.ends_with(KUSTOMIZATION)).flat_map(one).collect()
}

fn is_of(object: &Object, name: &Name) -> bool {
    let kind = matches!(object.kind(), "ManagedCluster" | "Worker");
    kind && object.group() == "carp.dev" && object.name() == name.as_str()
}

fn digest_of(object: &Value) -> Option<Digest> {
    object.pointer("/metadata/annotations")?.get(DIGEST_ANNOTATION)?.as_str()?.parse().ok()
}

/// The object at which the step began is not in the folder: what is there now counts.
fn versions_of(object: &Value) -> Option<SteppedVersions> {
    let text = object.pointer("/metadata/annotations")?.get(VERSIONS_ANNOTATION)?.as_str()?;
    let versions = Versions::parse(text)?;
    Some(SteppedVersions { versions, digest: digest_of(object), uid: None })
}

fn data_store_of(object: &Value) -> Option<String> {
    let name = object.pointer("/metadata/annotations")?.get(DATA_STORE_ANNOTATION)?.as_str()?;
    Some(name.to_owned())
}

fn row_of(object: &Value) -> Option<IndexRow> {
    let spec: ManagedClusterSpec = serde_json::from_value(object.get("spec")?.clone()).ok()?;
    let labels = object.pointer("/metadata/labels").cloned().unwrap_or_default();
    let mut labels: BTreeMap<String, String> = serde_json::from_value(labels).ok()?;
    let tenant = labels.remove(TENANT_LABEL)?;
    Some(IndexRow {
        spread: spec.own_spread().to_vec(),
        anti_affinity: spec.own_anti_affinity().to_vec(),
        labels: labels.into(),
        tenant,
        location: spec.location,
        version: spec.version,
        flavor: spec.flavor.unwrap_or_else(|| DEFAULT_CLUSTER_FLAVOR.to_owned()),
        priority: spec.priority.unwrap_or(0),
        class: spec.class,
        deletion_policy: spec.deletion_policy,
    })
}

#[cfg(test)]
mod tests {
    use super::super::deletion_folder;
    use super::super::fixture::{cluster_files, fleet};
    use super::super::templates::Templates;
    use super::*;
    use crate::model::DeletionStep;
    use crate::model::api::{AntiAffinity, ManagedClusterPlacement};

    fn pay() -> Name {
        Name::parse("pay-eu").unwrap()
    }

    #[test]
    fn a_folder_proves_itself_and_says_what_an_index_needs() {
        let fleet = fleet();
        let files = cluster_files(&fleet);
        let seen = evidence(&pay(), &files, None);
        assert!(seen.proven && seen.named && !seen.deleting);
        assert_eq!(seen.own, files);
        assert_eq!(seen.row, Some(fleet.clusters[&pay()].index_row()));
        assert!(!evidence(&Name::parse("other").unwrap(), &files, None).named);
    }

    #[test]
    fn a_folder_says_what_rules_its_cluster_has_of_its_own() {
        let mut fleet = fleet();
        let own = AntiAffinity {
            topology_key: "carp.dev/worker".to_owned(),
            match_label_keys: vec!["dr".to_owned()],
            ..AntiAffinity::default()
        };
        let placement = ManagedClusterPlacement { anti_affinity: vec![own], ..Default::default() };
        fleet.clusters.get_mut(&pay()).unwrap().spec.placement = Some(placement);
        let row = evidence(&pay(), &cluster_files(&fleet), None).row.unwrap();
        assert_eq!(row.anti_affinity.len(), 1);
        assert_eq!(row, fleet.clusters[&pay()].index_row());
    }

    #[test]
    fn a_folder_says_which_versions_it_has() {
        let fleet = fleet();
        assert_eq!(evidence(&pay(), &cluster_files(&fleet), None).versions, None);
        let versions = Versions::parse("v1.33.10/v1.32.9").unwrap();
        let worker = Name::parse("wk-1").unwrap();
        let templates = Templates::built_in();
        let job = super::super::cluster_job_at(
            &fleet,
            &fleet.clusters[&pay()],
            &worker,
            (&versions, None),
            &templates,
        );
        let files = job.render().unwrap();
        let digest = folder_digest(files.iter().map(|(p, b)| (p.as_str(), b.as_slice())));
        let stepped = evidence(&pay(), &files, None).versions.unwrap();
        assert_eq!((stepped.versions, stepped.digest), (versions, Some(digest)));
    }

    #[test]
    fn a_file_beside_is_not_carps() {
        let files = cluster_files(&fleet());
        let mut more = files.clone();
        more.insert("NOTES.md".to_owned(), b"a person's: [\n".to_vec());
        let seen = evidence(&pay(), &more, None);
        assert!(seen.proven);
        assert_eq!(seen.own, files);
    }

    #[test]
    fn an_edited_folder_proves_nothing() {
        let mut files = cluster_files(&fleet());
        let text = String::from_utf8(files[CLUSTER_FILE].clone()).unwrap();
        files.insert(CLUSTER_FILE.to_owned(), text.replace("v1.34", "v1.33").into_bytes());
        let seen = evidence(&pay(), &files, None);
        assert!(seen.named && !seen.proven);
        files.insert(CLUSTER_FILE.to_owned(), b"<<<<<<< ours\n".to_vec());
        let seen = evidence(&pay(), &files, None);
        assert!(!seen.named && !seen.proven && seen.row.is_none());
    }

    #[test]
    fn a_tombstone_says_that_the_deletion_has_begun() {
        let files = cluster_files(&fleet());
        let gone = {
            let step = DeletionStep::D1;
            deletion_folder(DEFAULT_CLUSTER_FLAVOR, &files, &Templates::built_in(), step).unwrap()
        };
        let seen = evidence(&pay(), &gone, None);
        assert!(seen.deleting && seen.proven && seen.row.is_some());
    }
}
