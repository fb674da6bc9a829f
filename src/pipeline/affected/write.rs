//! Writing some clusters: their folders, their records, what their workers keep of them, and what the fleet's lock
//! remembers of the run.

use std::collections::BTreeSet;

use super::super::contents::OwnFiles;
use super::super::run::Run;
use super::super::writing::{Writing, WrittenTree};
use crate::change;
use crate::model::{Decision, FleetLock, Id, Name, Owned, StoreError, lock_to_bytes, paths};

impl Writing<'_> {
    /// Writes the planned clusters, and says which of them have another row than before. The other clusters of
    /// their workers stay as the locks have them, and so do the workers' own files: nothing that these are made
    /// from has changed. `None` where a worker is not the one that its lock knows.
    ///
    /// `fleet` is the fleet's lock, where the run does anything that guards count. Where all that wait are `queued`, what is
    /// kept of them is written, too.
    pub(super) fn write_part(
        mut self,
        fleet: Option<&FleetLock>,
        queued: bool,
    ) -> Result<Option<(WrittenTree, BTreeSet<Name>)>, StoreError> {
        self.moves();
        let waiting = self.records()?;
        if queued {
            self.renew_pending_lock(&waiting)?;
        }
        let locks = &self.run.read.previous.workers;
        let mut changed = BTreeSet::new();
        for (worker, lock) in locks {
            let document = self.run.read.loaded.fleet.workers.get(worker);
            if document.is_none_or(|document| document.facts != lock.facts) {
                return Ok(None);
            }
            let mut rows = lock.clusters.clone();
            let plan = &self.run.plan.clusters;
            let is_over = |name: &Name| {
                plan.get(name).is_some_and(|planned| planned.decision == Decision::Forget)
            };
            let over: BTreeSet<Name> = rows.keys().filter(|name| is_over(name)).cloned().collect();
            rows.retain(|name, _| !over.contains(name));
            rows.extend(self.contents.rows.remove(worker).unwrap_or_default());
            let other = rows.iter().filter(|(name, row)| lock.clusters.get(*name) != Some(row));
            let other = other.map(|(name, _)| name.clone()).chain(over);
            let other: BTreeSet<_> = other.collect();
            if !other.is_empty() {
                self.write_worker(worker, rows, OwnFiles::kept(lock, lock.facts))?;
                changed.extend(other);
            }
        }
        if let Some(lock) = fleet {
            self.remember(lock)?;
        }
        let no_lock = Id::EMPTY_DIR;
        Ok(Some((self.close(Vec::new(), no_lock)?, changed)))
    }

    /// Writes what the fleet's lock remembers of the run. All else that stands there is of what did not change.
    fn remember(&mut self, lock: &FleetLock) -> Result<(), StoreError> {
        let Run { store, snapshot, .. } = self.run;
        let recent = change::remember_run(&lock.recent, &self.remembered.did, snapshot.now);
        if recent == lock.recent {
            return Ok(());
        }
        let id = store.put_blob(&lock_to_bytes(&FleetLock { recent, ..lock.clone() }))?;
        let path = format!("{}/{}", paths::CONTROL_PLANE, paths::FLEET_LOCK);
        self.set_file(&Owned::ControlPlane, &path, id, true)
    }
}
