//! Moves as rows: a cluster on the worker that it leaves, and the place that another one keeps for it.

use std::collections::BTreeMap;

use super::choosing::Choosing;
use super::writing::Writing;
use crate::model::{
    ClusterRow, ClusterState, Decision, DeletionStep, Digest, Move, MoveProgress, MoveRow, Name,
    StoreError,
};

impl Choosing<'_> {
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
            self.standing.cluster(name, from, taken);
        }
        Ok(row)
    }
}

impl Writing<'_> {
    /// What the rows keep of moves: where a cluster came from, until it is reported running, and the place that
    /// another worker keeps for one that leaves.
    pub(super) fn moves(&mut self) {
        for (name, planned) in &self.run.plan.clusters {
            let Some(moved) = &planned.moved else { continue };
            // What is handed over has its rows already.
            let leaves = matches!(planned.decision, Decision::Move { .. });
            if moved.transfer.is_some() && leaves {
                continue;
            }
            let rows = self.contents.rows.get_mut(&moved.to);
            if let Some(row) = rows.and_then(|rows| rows.get_mut(name)) {
                let made = matches!(moved.progress, MoveProgress::Arrives | MoveProgress::Starts);
                row.moves = moved.row().filter(|_| made);
            }
            self.keep_place(name, moved, &planned.decision);
        }
    }

    /// The place that is kept for a cluster on the worker that it goes to.
    fn keep_place(&mut self, name: &Name, moved: &Move, decision: &Decision) {
        let Decision::Move { from, binding, .. } = decision else { return };
        let Some(leaves) = self.run.row_before(name, from) else { return };
        let row = ClusterRow {
            state: ClusterState::Reserved,
            deletion: None,
            moves: Some(MoveRow { from: from.clone(), cause: moved.cause, transfer: None }),
            suspended: false,
            facts: leaves.facts,
            render_key: Digest::of(b""),
            folder: None,
            files: BTreeMap::new(),
            record: leaves.record,
            group: binding.group.clone(),
            data_store: None,
            versions: None,
            demand: moved.demand.clone(),
            row: leaves.row.clone(),
        };
        let rows = self.contents.rows.entry(binding.worker.clone()).or_default();
        rows.insert(name.clone(), row);
    }
}
