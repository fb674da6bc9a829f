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
        let planned = self.plan.clusters.get(name).map(|planned| planned.decision.clone());
        let row = self.deleting(name, from, step, old)?;
        let taken = row.as_ref().and_then(|row| row.deletion.as_ref()).map(|d| d.step);
        if taken != Some(step) {
            self.not_left(name, planned, taken);
        }
        Ok(row)
    }

    /// A step whose folder could not be made: the move is where it was, or does not begin.
    fn not_left(&mut self, name: &Name, planned: Option<Decision>, taken: Option<DeletionStep>) {
        let begins = self.plan.moves.get(name).map(|m| m.progress) == Some(MoveProgress::Begins);
        let Some(Decision::Move { from, binding, .. }) = planned else { return };
        let Some(decided) = self.plan.clusters.get_mut(name) else { return };
        if !begins {
            decided.decision = Decision::Move { from, step: taken, binding };
            return;
        }
        self.plan.moves.remove(name);
        self.plan.deletions.remove(name);
        decided.decision = Decision::Keep { worker: from };
        let demand = self.read.loaded.fleet.clusters.get(name).map(|cluster| &cluster.demand);
        if let (Some(worker), Some(demand)) = (self.plan.workers.get_mut(&binding.worker), demand) {
            worker.give_back(demand);
        }
    }

    /// The place that is kept for a cluster on the worker that it goes to.
    pub(super) fn keep_place(&mut self, name: &Name) {
        let Some(planned) = self.plan.clusters.get(name) else { return };
        let (Decision::Move { from, binding, .. }, Some(moved)) =
            (&planned.decision, self.plan.moves.get(name))
        else {
            return;
        };
        let row_on = |worker: &Name| {
            self.read.previous.workers.get(worker).and_then(|lock| lock.clusters.get(name))
        };
        let kept = row_on(&binding.worker).filter(|row| row.state == ClusterState::Reserved);
        let demand = match (kept, self.read.loaded.fleet.clusters.get(name)) {
            (Some(kept), _) => kept.demand.clone(),
            (None, Some(cluster)) => cluster.demand.clone(),
            (None, None) => planned.demand.clone(),
        };
        let Some(leaves) = row_on(from) else { return };
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
            demand,
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
