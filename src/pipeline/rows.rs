//! What the rows of a worker's lock say to those who make files of them.

use std::collections::BTreeMap;

use crate::model::{ClusterRow, DeletionStep, Digest, Id, Name, paths};
use crate::render::{Applying, IndexedCluster, Removal};

/// What Flux does with a cluster's objects when its Kustomization goes.
pub(super) fn removal(row: &ClusterRow) -> Removal {
    match row.deletion.as_ref().map(|deletion| deletion.step) {
        Some(DeletionStep::Orphan) => Removal::Orphan,
        _ => Removal::Prune,
    }
}

/// The clusters that have a folder.
pub(super) fn rendered(
    rows: &BTreeMap<Name, ClusterRow>,
) -> impl Iterator<Item = IndexedCluster<'_>> {
    let rendered = rows.iter().filter(|(_, row)| row.folder.is_some());
    rendered.map(|(name, row)| IndexedCluster {
        name,
        tenant: &row.row.tenant,
        removal: removal(row),
        applying: if row.suspended { Applying::Suspended } else { Applying::Active },
    })
}

/// The digest of a worker's folder without the lock and without the sentinel, which carries it.
pub(super) fn folder_digest(
    files: &BTreeMap<String, Id>,
    rows: &BTreeMap<Name, ClusterRow>,
) -> Digest {
    let folders = rows.iter().filter_map(|(name, row)| {
        row.folder.map(|folder| (format!("{}/{name}", paths::CLUSTERS), folder))
    });
    let all: BTreeMap<String, Id> =
        files.iter().map(|(path, id)| (path.clone(), *id)).chain(folders).collect();
    Digest::of_value(&all)
}
