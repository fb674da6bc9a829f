//! Moves as rows: a cluster on the worker that it leaves, and the place that another one keeps for it.

use super::output::Run;
use crate::model::{
    ClusterRow, ClusterState, Decision, DeletionStep, Digest, MoveProgress, MoveRow, Name,
    StoreError,
};

impl Run<'_> {
    /// A cluster on the worker that it leaves: at a step of its deletion, or as it was where nothing is
    /// deleted because that worker is not heard of.
    pub(super) fn leaving(
        &mut self,
        name: &Name,
        from: &Name,
        step: Option<DeletionStep>,
        old: Option<&ClusterRow>,
    ) -> Result<Option<ClusterRow>, StoreError> {
        let Some(step) = step else { return Ok(old.cloned()) };
        let row = self.deleting(name, from, step, old)?;
        let taken = row.as_ref().and_then(|row| row.deletion.as_ref()).map(|d| d.step);
        if taken != Some(step) {
            self.plan.hold(name, from, taken);
        }
        Ok(row)
    }

    /// The place that is kept for a cluster on the worker that it goes to.
    pub(super) fn keep_place(&mut self, name: &Name) {
        let Some(planned) = self.plan.clusters.get(name) else { return };
        let (Decision::Move { from, binding, .. }, Some(moved)) =
            (&planned.decision, self.plan.moves.get(name))
        else {
            return;
        };
        let lock = self.read.previous.workers.get(from);
        let Some(leaves) = lock.and_then(|lock| lock.clusters.get(name)) else { return };
        let row = ClusterRow {
            state: ClusterState::Reserved,
            deletion: None,
            moves: Some(MoveRow { from: from.clone(), cause: moved.cause }),
            facts: leaves.facts,
            render_key: Digest::of(b""),
            folder: None,
            record: leaves.record,
            group: binding.group.clone(),
            versions: None,
            demand: moved.demand.clone(),
            row: leaves.row.clone(),
        };
        let rows = self.rows.entry(binding.worker.clone()).or_default();
        rows.insert(name.clone(), row);
    }

    /// What the lock keeps of a move whose cluster is made on a worker, until it is reported running.
    pub(super) fn arrived(&self, name: &Name, worker: &Name) -> Option<MoveRow> {
        let moved = self.plan.moves.get(name).filter(|moved| moved.to == *worker)?;
        let made = matches!(moved.progress, MoveProgress::Arrives | MoveProgress::Starts);
        moved.row().filter(|_| made)
    }
}
