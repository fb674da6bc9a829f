//! What a run reads while it chooses folders and while it writes them. None of it changes on the way.

use super::read::Read;
use crate::model::{ClusterRow, Kept, Name, Owned, Plan, Snapshot, Store};

/// The run as it stands.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) store: &'a dyn Store,
    pub(super) read: &'a Read,
    pub(super) plan: &'a Plan,
}

impl<'a> Run<'a> {
    /// The row that a worker's lock has of a cluster.
    pub(super) fn row_before(self, name: &Name, worker: &Name) -> Option<&'a ClusterRow> {
        self.read.previous.workers.get(worker)?.clusters.get(name)
    }

    /// Whether this run writes nothing of it.
    pub(super) fn is_kept(self, of: &Owned) -> bool {
        let mut one = Kept::default();
        one.add(of);
        self.read.previous.kept.contains(&one)
    }

    /// Whether a pool is making the worker: what is given to it waits there and is not rendered yet.
    pub(super) fn is_pending(self, worker: &Name) -> bool {
        self.plan.workers.get(worker).is_some_and(|plan| plan.pending.is_some())
    }
}
