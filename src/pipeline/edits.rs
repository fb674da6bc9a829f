//! Files and folders on the output branch: where carp may write and remove, beside what others put there.

use std::collections::BTreeMap;

use super::run::Run;
use super::writing::Writing;
use crate::change::{beside_foreign, entry_at, files_of, in_the_way};
use crate::gate::{self, NotMade};
use crate::model::{Drifted, Entry, EntryKind, Id, Owned, StoreError, paths};

impl Run<'_> {
    /// Whether a folder's new content fits beside what others put there.
    pub(super) fn fits(self, path: &str, before: Option<Id>, new: Id) -> Result<(), NotMade> {
        let Some(base) = self.snapshot.previous else { return Ok(()) };
        let path = paths::in_repository(&self.snapshot.input.prefix, path);
        let taken = match in_the_way(self.store, base, &path)? {
            Some((at, there)) if at == path => {
                match beside_foreign(self.store, Some(there), before, new)? {
                    Ok(_) => return Ok(()),
                    Err(taken) => {
                        taken.into_iter().map(|inner| format!("{path}/{inner}")).collect()
                    }
                }
            }
            Some((at, _)) => vec![at.to_owned()],
            None => return Ok(()),
        };
        Ok(gate::collided(taken.iter().map(|path| path.trim_end_matches('/')))?)
    }
}

impl Writing<'_> {
    /// Sets back what was edited by hand, where nothing of others is in the way.
    pub(super) fn set_back(&mut self) -> Result<Vec<Drifted>, StoreError> {
        let mut done = Vec::new();
        for edit in self.run.read.drift.set_back() {
            if self.run.is_kept(&edit.of) || !self.is_free(&edit.of, &edit.path, true)? {
                continue;
            }
            // What is not known any more is made anew.
            if let Some(was) = edit.was {
                let path = paths::in_repository(&self.run.snapshot.input.prefix, &edit.path);
                self.edit.set(&path, was);
            }
            done.push(edit.clone());
        }
        Ok(done)
    }

    /// Sets a file that carp owns from now on. `owned` says whether the last lock listed it.
    pub(super) fn set_file(
        &mut self,
        of: &Owned,
        path: &str,
        id: Id,
        owned: bool,
    ) -> Result<(), StoreError> {
        let place = paths::in_repository(&self.run.snapshot.input.prefix, path);
        let same = Entry { kind: EntryKind::File, id };
        if self.is_there(&place, same)? || self.is_free(of, path, owned)? {
            self.edit.file(&place, id);
        }
        Ok(())
    }

    /// Sets the content of the folder of a row, unless it stays as the last row had it: the folder then and what was
    /// listed of it. What the row lists of it is returned.
    pub(super) fn set_folder(
        &mut self,
        path: &str,
        folder: Option<Id>,
        last: Option<(Option<Id>, &BTreeMap<String, Id>)>,
    ) -> Result<BTreeMap<String, Id>, StoreError> {
        let Some(folder) = folder else { return Ok(BTreeMap::new()) };
        match last {
            Some((before, listed)) if before == Some(folder) => Ok(listed.clone()),
            _ => self.set_dir(path, folder, last.and_then(|(before, _)| before)),
        }
    }

    /// Sets the content of a folder, beside what others put there. What its row lists of it is returned.
    fn set_dir(
        &mut self,
        path: &str,
        id: Id,
        before: Option<Id>,
    ) -> Result<BTreeMap<String, Id>, StoreError> {
        let path = paths::in_repository(&self.run.snapshot.input.prefix, path);
        let there = self.run.snapshot.previous.map(|base| entry_at(self.run.store, base, &path));
        let there = there.transpose()?.flatten();
        // It was asked before whether all of it fits.
        let Ok(all) = beside_foreign(self.run.store, there, before, id)? else {
            return Ok(BTreeMap::new());
        };
        self.edit.dir(&path, all);
        if all == id {
            return Ok(BTreeMap::new());
        }
        let own = files_of(self.run.store, id)?;
        Ok(own.into_iter().map(|(path, entry)| (path, entry.id)).collect())
    }

    /// Removes what the last lock listed.
    pub(super) fn remove(&mut self, path: &str) {
        self.edit.remove(&paths::in_repository(&self.run.snapshot.input.prefix, path));
    }

    fn is_there(&self, path: &str, entry: Entry) -> Result<bool, StoreError> {
        let Some(base) = self.run.snapshot.previous else { return Ok(false) };
        Ok(entry_at(self.run.store, base, path)? == Some(entry))
    }

    /// Whether a path may be written. Where it may not, what it belongs to is written in no later
    /// attempt of this run.
    fn is_free(&mut self, of: &Owned, path: &str, owned: bool) -> Result<bool, StoreError> {
        let Some(base) = self.run.snapshot.previous else { return Ok(true) };
        let path = paths::in_repository(&self.run.snapshot.input.prefix, path);
        let free = match in_the_way(self.run.store, base, &path)? {
            None => true,
            // What was carp's and is another file now is an edit; a folder in its place is not.
            Some((at, there)) => at == path && owned && there.kind != EntryKind::Dir,
        };
        if free {
            return Ok(true);
        }
        self.taken.entry(of.clone()).or_default().insert(path);
        Ok(false)
    }
}
