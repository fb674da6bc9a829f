//! Where the agents' reports are found: on their refs, in a folder of the fleet, in a folder that a
//! person names.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Error, Names};
use crate::change::entry_at;
use crate::git::Repository;
use crate::model::{EntryKind, Id, Name, Store, paths};

/// The reports by worker.
pub(super) type Reports = BTreeMap<Name, Vec<u8>>;

/// The largest report that is read: one row of at most 2 KiB for each of 1,000 clusters.
const MOST_BYTES: u64 = 2 << 20;

/// The reports on the refs of the agents, one ref a worker.
pub(super) fn reports_on_refs(
    repository: &Repository,
    names: &Names,
    store: &dyn Store,
) -> Result<Reports, Error> {
    let prefix = names.observed();
    let mut reports = Reports::new();
    for (name, commit) in repository.list_refs(&prefix)? {
        let Some(worker) = name.strip_prefix(&prefix).and_then(|w| Name::parse(w).ok()) else {
            continue;
        };
        let tree = repository.commit_tree(commit)?;
        if let Some(entry) = entry_at(store, tree, paths::REPORT_FILE)?
            && store.blob_size(entry.id)? <= MOST_BYTES
        {
            reports.insert(worker, store.blob(entry.id)?.to_vec());
        }
    }
    Ok(reports)
}

/// The reports in a folder of a tree: `<worker>.yaml`.
pub(super) fn reports_in_tree(store: &dyn Store, tree: Id, folder: &str) -> Result<Reports, Error> {
    let mut reports = Reports::new();
    let Some(entry) = entry_at(store, tree, folder)?.filter(|e| e.kind == EntryKind::Dir) else {
        return Ok(reports);
    };
    for (name, entry) in store.dir(entry.id)?.iter() {
        let worker = name.strip_suffix(".yaml").and_then(|w| Name::parse(w).ok());
        if let Some(worker) = worker.filter(|_| entry.kind == EntryKind::File)
            && store.blob_size(entry.id)? <= MOST_BYTES
        {
            reports.insert(worker, store.blob(entry.id)?.to_vec());
        }
    }
    Ok(reports)
}

/// The reports in a folder on disk: `<worker>.yaml`.
///
/// # Errors
/// The folder or a file in it cannot be read.
#[expect(clippy::disallowed_methods, reason = "a folder that a person names on the command line")]
pub fn reports_in_folder(folder: &Path) -> Result<BTreeMap<Name, Vec<u8>>, Error> {
    let failed = |error: std::io::Error| Error::Observed {
        folder: folder.to_owned(),
        detail: error.to_string(),
    };
    let mut reports = Reports::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let worker = name.to_str().and_then(|n| n.strip_suffix(".yaml"));
        let Some(worker) = worker.and_then(|w| Name::parse(w).ok()) else { continue };
        let meta = entry.metadata().map_err(failed)?;
        if meta.is_file() && meta.len() <= MOST_BYTES {
            reports.insert(worker, std::fs::read(entry.path()).map_err(failed)?);
        }
    }
    Ok(reports)
}
