//! Writing some clusters: their folders, their records, and what their workers keep of them.

use std::collections::BTreeSet;

use super::super::contents::OwnFiles;
use super::super::writing::{Writing, WrittenTree};
use crate::model::{Id, Name, StoreError};

impl Writing<'_> {
    /// Writes the planned clusters, and says which of them have another row than before. The other clusters of
    /// their workers stay as the locks have them, and so do the workers' own files: nothing that these are made
    /// from has changed. `None` where a worker is not the one that its lock knows.
    pub(super) fn write_part(
        mut self,
    ) -> Result<Option<(WrittenTree, BTreeSet<Name>)>, StoreError> {
        self.moves();
        self.records()?;
        let locks = &self.run.read.previous.workers;
        let mut changed = BTreeSet::new();
        for (worker, lock) in locks {
            let document = self.run.read.loaded.fleet.workers.get(worker);
            if document.is_none_or(|document| document.facts != lock.facts) {
                return Ok(None);
            }
            let mut rows = lock.clusters.clone();
            rows.extend(self.contents.rows.remove(worker).unwrap_or_default());
            let other = rows.iter().filter(|(name, row)| lock.clusters.get(*name) != Some(row));
            let other: BTreeSet<_> = other.map(|(name, _)| name.clone()).collect();
            if !other.is_empty() {
                self.write_worker(worker, rows, OwnFiles::kept(lock, lock.facts))?;
                changed.extend(other);
            }
        }
        let no_lock = Id::EMPTY_DIR;
        Ok(Some((self.close(Vec::new(), no_lock)?, changed)))
    }
}
