//! The steps of a hand-over as folders and rows, on both workers.
//!
//! The old worker's folder keeps its bytes, and Flux is told to leave it alone, until the new worker has the cluster. That
//! gets the very same folder then: nothing changes by the move itself, and what changed meanwhile comes after it.

use std::collections::BTreeMap;

use super::choosing::Choosing;
use super::folders::{put_folder, read_folder};
use crate::gate::{self, NotMade};
use crate::model::{
    ClusterPlan, ClusterRow, ClusterState, Decision, DeletionStep, Digest, Move, MoveProgress,
    MoveRow, Name, SteppedVersions, StoreError, Transfer, TransferRow, TransferStep, paths,
};
use crate::render;

impl Choosing<'_> {
    /// The row of a cluster on the worker that it leaves, where it is handed over; the row of the new worker is noted.
    /// `None` where nothing is handed over.
    pub(super) fn handing_over(
        &mut self,
        name: &Name,
        planned: &ClusterPlan,
        old: Option<&ClusterRow>,
    ) -> Result<Option<ClusterRow>, StoreError> {
        let moved = planned.moved.as_deref();
        let moved = moved.and_then(|moved| Some((moved, moved.transfer.as_deref()?)));
        let (Decision::Move { binding, .. }, Some((moved, transfer)), Some(old)) =
            (&planned.decision, moved, old)
        else {
            return Ok(None);
        };
        let place = self.run.row_before(name, &moved.to);
        let (here, there) = match (transfer.row.step, place) {
            (TransferStep::Prepare, _) if moved.progress == MoveProgress::Begins => {
                let there = self.prepared(name, (moved, transfer), old)?;
                let group = binding.group.clone();
                let there = there.map(|there| ClusterRow { group, ..there });
                (ClusterRow { suspended: there.is_some(), ..old.clone() }, there)
            }
            (TransferStep::Prepare | TransferStep::HandOver, place) => {
                let there = place.map(|place| with_row(place, moved, &transfer.row));
                (ClusterRow { suspended: true, ..old.clone() }, there)
            }
            (TransferStep::Adopt, Some(place)) => {
                self.adopted(name, (moved, transfer), old, place)?
            }
            (TransferStep::Adopt, None) => (old.clone(), None),
        };
        if let Some(there) = there {
            self.rows.entry(moved.to.clone()).or_default().insert(name.clone(), there);
        }
        Ok(Some(here))
    }

    /// Whether a place is kept for a hand-over of which nobody knows where the cluster comes from: it stays as it is.
    pub(super) fn stands_still(
        &mut self,
        name: &Name,
        planned: &ClusterPlan,
        old: Option<&ClusterRow>,
    ) -> bool {
        let (Decision::Keep { worker }, Some(old)) = (&planned.decision, old) else { return false };
        let transfers = old.moves.as_ref().is_some_and(|moves| moves.transfer.is_some());
        let moves = planned.moved.is_some();
        let stands = old.state == ClusterState::Reserved && transfers && !moves;
        if stands {
            self.rows.entry(worker.clone()).or_default().insert(name.clone(), old.clone());
        }
        stands
    }

    /// The row of the new worker with the folder that prepares it; `None` where that could not be made, so that the
    /// hand-over does not begin.
    fn prepared(
        &mut self,
        name: &Name,
        (moved, transfer): (&Move, &Transfer),
        old: &ClusterRow,
    ) -> Result<Option<ClusterRow>, StoreError> {
        let attempt = self.prepare(name, (moved, transfer), old).map(Some);
        let chosen = gate::choose(attempt, || None)?;
        let row = self.chosen(name, chosen);
        if row.is_none() {
            self.standing.cluster(name, &moved.from, None);
        }
        Ok(row)
    }

    fn prepare(
        &mut self,
        name: &Name,
        (moved, transfer): (&Move, &Transfer),
        old: &ClusterRow,
    ) -> Result<ClusterRow, NotMade> {
        let folder = old.folder.map(|folder| read_folder(self.run.store, folder)).transpose()?;
        let last = folder.unwrap_or_default();
        let templates = &self.run.read.templates;
        let made = render::prepared_folder(&old.row.flavor, &last, templates);
        let made = made.map_err(gate::not_rendered)?;
        let folder = put_folder(self.run.store, &made.files)?;
        self.run.fits(&paths::cluster(&moved.to, name), None, folder)?;
        let (prepared, leaves) = (Some(made.digest), made.leaves);
        let transfer = TransferRow { prepared, leaves, ..transfer.row.clone() };
        let (from, cause) = (moved.from.clone(), moved.cause);
        Ok(ClusterRow {
            state: ClusterState::Reserved,
            deletion: None,
            moves: Some(MoveRow { from, cause, transfer: Some(transfer) }),
            suspended: false,
            facts: old.facts,
            render_key: Digest::of(b""),
            folder: Some(folder),
            files: BTreeMap::new(),
            record: old.record,
            versions: None,
            group: None,
            data_store: None,
            demand: moved.demand.clone(),
            row: old.row.clone(),
        })
    }

    /// The rows once the new worker has the cluster: there its whole folder, as it stood, and on the old one what the
    /// last step of a deletion leaves, which takes away what was left behind.
    fn adopted(
        &mut self,
        name: &Name,
        (moved, transfer): (&Move, &Transfer),
        old: &ClusterRow,
        place: &ClusterRow,
    ) -> Result<(ClusterRow, Option<ClusterRow>), StoreError> {
        if old.state == ClusterState::Deleting {
            return Ok((old.clone(), Some(place.clone())));
        }
        let here = self.deleting(name, &moved.from, DeletionStep::D2, Some(old))?;
        let here = here.unwrap_or_else(|| old.clone());
        if here.state != ClusterState::Deleting {
            // The folder was not made, and that was noted: everything is as it was.
            return Ok((here, Some(place.clone())));
        }
        let there = ClusterRow {
            render_key: old.render_key,
            folder: old.folder,
            // The `Cluster` is another object there.
            versions: old
                .versions
                .clone()
                .map(|versions| SteppedVersions { uid: None, ..versions }),
            data_store: old.data_store.clone(),
            ..with_row(place, moved, &transfer.row)
        };
        Ok((here, Some(there)))
    }
}

/// A cluster that has arrived: the place that was kept for it is its own, and what was applied there is its last good
/// folder.
pub(super) fn arrived(planned: &ClusterPlan, old: Option<&ClusterRow>) -> Option<ClusterRow> {
    let moved = planned.moved.as_ref()?;
    let arrives = moved.progress == MoveProgress::Arrives && moved.transfer.is_some();
    let old = old.filter(|old| arrives && old.state == ClusterState::Reserved)?;
    Some(ClusterRow { state: ClusterState::Bound, moves: None, ..old.clone() })
}

fn with_row(place: &ClusterRow, moved: &Move, transfer: &TransferRow) -> ClusterRow {
    let (from, cause) = (moved.from.clone(), moved.cause);
    let row = MoveRow { from, cause, transfer: Some(transfer.clone()) };
    ClusterRow { moves: Some(row), ..place.clone() }
}
