//! Writing: the tree of what was decided and chosen. It has no opinions: it reads the plan as it is carried out and
//! the folders as they were chosen, and says what was in its way.

use super::writing::{Writing, WrittenTree};
use crate::model::{Drifted, Id, StoreError};

impl Writing<'_> {
    pub(super) fn write(mut self) -> Result<WrittenTree, StoreError> {
        let set_back = self.set_back()?;
        self.moves();
        let waiting = self.records()?;
        let is_there = self.run.read.previous.fleet.is_some();
        let pending = self.pending_lock(&waiting, is_there)?;
        for (worker, own) in std::mem::take(&mut self.contents.own) {
            self.worker(&worker, own)?;
        }
        self.gone_workers();
        self.write_control_plane()?;
        self.close(set_back, pending)
    }

    /// Makes the tree.
    pub(super) fn close(
        mut self,
        set_back: Vec<Drifted>,
        pending: Id,
    ) -> Result<WrittenTree, StoreError> {
        let tree = self.edit.apply(self.run.store, self.run.snapshot.previous)?;
        let form = self.form_tree()?;
        Ok(WrittenTree { tree, form, taken: self.taken, pending, set_back })
    }
}
