//! Where the agents' reports are found: on their refs, in a folder of the fleet, in a folder that a
//! person names.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Error, Names};
use crate::change::entry_at;
use crate::git::Repository;
use crate::model::{
    Digest, EntryKind, Id, MAX_REPORT_BYTES, Name, ReportsSince, Store, StoreError, paths,
};

/// The most bytes of reports that are read in one run: those of 256,000 clusters at their largest.
const MOST_BYTES: u64 = 512 << 20;

/// The reports by worker. One that is larger than carp reads is there without its bytes: it did not
/// vanish, and it cannot be used.
pub(super) type Reports = BTreeMap<Name, Vec<u8>>;

/// The refs of the agents, with their tips.
pub(super) type ReportTips = BTreeMap<String, Id>;

/// The reports of a run, by who vouches for them.
pub(super) enum FoundReports {
    /// Those that a person names, or that the fleet pins.
    Named(Reports),
    /// Those that the agents pushed.
    OnRefs(Reports),
}

/// The reports that a run may read. Of those on refs the refs are known, and nothing is read yet: there is one for
/// each worker, and most runs find them as the last one did.
pub(super) enum Reporting {
    /// Those that a person names, or that the fleet pins.
    Named(Reports),
    /// The refs that the agents push to, with their tips.
    OnRefs(Vec<(String, Id)>),
}

impl Reporting {
    /// Looks at the refs of the agents, one ref a worker.
    pub(super) fn on_refs(repository: &Repository, names: &Names) -> Result<Self, Error> {
        Ok(Self::OnRefs(repository.list_refs(&names.observed())?))
    }

    /// What tells these reports from any others.
    pub(super) fn digest(&self) -> Digest {
        match self {
            Self::Named(reports) => {
                let of = |(worker, bytes): (&Name, &Vec<u8>)| (worker.clone(), Digest::of(bytes));
                Digest::of_value(&reports.iter().map(of).collect::<Vec<_>>())
            }
            Self::OnRefs(refs) => Self::digest_of(&refs.iter().cloned().collect()),
        }
    }

    /// The digest of reports whose refs had these tips.
    pub(super) fn digest_of(tips: &ReportTips) -> Digest {
        Digest::of_value(tips)
    }

    /// What they are since others stood, whose refs had the tips of `before`.
    pub(super) fn since(
        &self,
        before: Option<&ReportTips>,
        repository: &Repository,
        names: &Names,
        store: &dyn Store,
    ) -> Result<ReportsSince, Error> {
        let digest = self.digest();
        let (Self::OnRefs(refs), Some(before)) = (self, before) else {
            return Ok(ReportsSince { digest, changed: None });
        };
        let same_refs =
            refs.len() == before.len() && refs.iter().all(|(name, _)| before.contains_key(name));
        if !same_refs {
            return Ok(ReportsSince { digest, changed: None });
        }
        let changed = refs.iter().filter(|(name, tip)| before.get(name) != Some(tip)).cloned();
        let changed = changed.collect();
        let changed = Some(read_refs(repository, &names.observed(), changed, store)?);
        Ok(ReportsSince { digest, changed })
    }

    /// The refs with their tips; `None` where the reports are on none.
    pub(super) fn tips(&self) -> Option<ReportTips> {
        match self {
            Self::Named(_) => None,
            Self::OnRefs(refs) => Some(refs.iter().cloned().collect()),
        }
    }

    /// Reads them.
    pub(super) fn read(
        self,
        repository: &Repository,
        names: &Names,
        store: &dyn Store,
    ) -> Result<FoundReports, Error> {
        Ok(match self {
            Self::Named(reports) => FoundReports::Named(reports),
            Self::OnRefs(refs) => {
                FoundReports::OnRefs(read_refs(repository, &names.observed(), refs, store)?)
            }
        })
    }
}

/// The reports on the refs of the agents.
pub(super) fn reports_on_refs(
    repository: &Repository,
    names: &Names,
    store: &dyn Store,
) -> Result<Reports, Error> {
    read_refs(repository, &names.observed(), repository.list_refs(&names.observed())?, store)
}

/// The reports on refs with these tips.
pub(super) fn read_refs(
    repository: &Repository,
    prefix: &str,
    refs: Vec<(String, Id)>,
    store: &dyn Store,
) -> Result<Reports, Error> {
    let mut sized = Vec::new();
    for (name, commit) in refs {
        let Some(worker) = name.strip_prefix(prefix).and_then(|w| Name::parse(w).ok()) else {
            continue;
        };
        let tree = repository.commit_tree(commit)?;
        if let Some(entry) = entry_at(store, tree, paths::REPORT_FILE)? {
            sized.push((store.blob_size(entry.id)?, worker, entry.id));
        }
    }
    let mut reports = Reports::new();
    for (worker, id, fits) in within(sized, MOST_BYTES) {
        reports.insert(worker, if fits { bytes(store, id)? } else { Vec::new() });
    }
    Ok(reports)
}

/// Which reports are read, by the sizes in their headers: the small ones first, until so many bytes are. Whoever
/// may push reports under many names is who is not heard then.
fn within(mut sized: Vec<(u64, Name, Id)>, most: u64) -> Vec<(Name, Id, bool)> {
    sized.sort();
    let mut sum = 0_u64;
    let read = sized.into_iter().map(|(size, worker, id)| {
        sum = sum.saturating_add(size);
        (worker, id, sum <= most)
    });
    read.collect()
}

fn bytes(store: &dyn Store, report: Id) -> Result<Vec<u8>, StoreError> {
    if store.blob_size(report)? > MAX_REPORT_BYTES {
        return Ok(Vec::new());
    }
    Ok(store.blob(report)?.to_vec())
}

/// The reports in a folder of a tree: `<worker>.yaml`.
pub(super) fn reports_in_tree(store: &dyn Store, tree: Id, folder: &str) -> Result<Reports, Error> {
    let mut reports = Reports::new();
    let Some(entry) = entry_at(store, tree, folder)?.filter(|e| e.kind == EntryKind::Dir) else {
        return Ok(reports);
    };
    for (name, entry) in store.dir(entry.id)?.iter() {
        let worker = name.strip_suffix(".yaml").and_then(|w| Name::parse(w).ok());
        if let Some(worker) = worker.filter(|_| entry.kind == EntryKind::File) {
            reports.insert(worker, bytes(store, entry.id)?);
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
        if meta.is_file() {
            let small = meta.len() <= MAX_REPORT_BYTES;
            let read = || std::fs::read(entry.path()).map_err(failed);
            reports.insert(worker, if small { read()? } else { Vec::new() });
        }
    }
    Ok(reports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_more_reports_than_memory_has_the_small_ones_are_read() {
        let of = |size: u64, name: &str| (size, Name::parse(name).unwrap(), Id::EMPTY_DIR);
        let all = vec![of(60, "huge"), of(10, "w1"), of(30, "w2"), of(61, "huger")];
        let read = within(all, 100);
        let read: Vec<_> =
            read.iter().filter(|(.., fits)| *fits).map(|(n, ..)| n.as_str()).collect();
        assert_eq!(read, ["w1", "w2", "huge"]);
    }
}
