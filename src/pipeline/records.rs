//! `decisions/`: one record per cluster, and the lock of those that wait.

use std::collections::BTreeMap;

use super::writing::{ListedClusters, Writing};
use crate::load::emit_yaml;
use crate::model::{
    Binding, ClusterPlan, ClusterRow, ClusterState, Decision, DecisionRecord, Grounds, Id,
    LockName, MoveProgress, Name, Owned, PENDING_SCHEMA, PendingLock, PendingRow, RecordState,
    StoreError, blob_id, lock_to_bytes, paths,
};

impl Writing<'_> {
    /// Writes the records whose decision is new or another. The rows of those that are placed get the ids of
    /// their records; those of the clusters that wait are returned.
    pub(super) fn records(&mut self) -> Result<BTreeMap<Name, Option<Id>>, StoreError> {
        let mut waiting = BTreeMap::new();
        for (name, planned) in &self.run.plan.clusters {
            if planned.decision == Decision::Forget {
                if self.is_known(name) {
                    self.remove(&paths::decision(name));
                }
                continue;
            }
            let before = self.recorded(name, planned);
            let kept = self.run.read.previous.kept.clusters.contains(name);
            let id = if kept { before } else { Some(self.record(name, planned, before)?) };
            match planned.decision.worker() {
                Some(worker) => {
                    let rows = self.contents.rows.get_mut(worker);
                    if let Some(row) = rows.and_then(|rows| rows.get_mut(name)) {
                        row.record = id;
                    }
                    let place =
                        planned.decision.reserved().and_then(|w| self.contents.rows.get_mut(w));
                    if let Some(row) = place.and_then(|rows| rows.get_mut(name)) {
                        row.record = id;
                    }
                }
                None => drop(waiting.insert(name.clone(), id)),
            }
        }
        Ok(waiting)
    }

    fn is_known(&self, name: &Name) -> bool {
        let previous = &self.run.read.previous;
        let placed = self.placed.get_or_init(|| ListedClusters::of(previous));
        previous.pending.clusters.contains_key(name) || placed.names.contains(name)
    }

    /// The id of a cluster's record as the locks know it.
    fn recorded(&self, name: &Name, planned: &ClusterPlan) -> Option<Id> {
        let waiting = self.run.read.previous.pending.clusters.get(name).and_then(|row| row.record);
        waiting.or_else(|| self.row_of(name, planned)?.record)
    }

    /// The id of a cluster's record, written where it is new or lost.
    fn record(
        &mut self,
        name: &Name,
        planned: &ClusterPlan,
        before: Option<Id>,
    ) -> Result<Id, StoreError> {
        let record = match (self.changed_record(name, planned)?, before) {
            (Some(record), _) => record,
            (None, Some(id)) => return Ok(id),
            (None, None) => whole_record(name, planned, self.row_of(name, planned)),
        };
        let id = self.run.store.put_blob(emit_yaml(&record).as_bytes())?;
        let owned = self.is_known(name);
        self.set_file(&Owned::Record(name.clone()), &paths::decision(name), id, owned)?;
        Ok(id)
    }

    fn row_of(&self, name: &Name, planned: &ClusterPlan) -> Option<&ClusterRow> {
        self.run.row_before(name, planned.decision.worker()?)
    }

    /// Writes the lock of the clusters that wait, and returns its id. `is_there`: a run before wrote one.
    pub(super) fn pending_lock(
        &mut self,
        waiting: &BTreeMap<Name, Option<Id>>,
        is_there: bool,
    ) -> Result<Id, StoreError> {
        let pending = self.pending(waiting);
        let bytes = lock_to_bytes(&pending);
        if is_there && self.is_pending_kept(&pending) {
            return Ok(blob_id(&bytes));
        }
        self.put_pending(&bytes)
    }

    /// Writes the lock of the clusters that wait where it says something else than the one that is there. It has a line for
    /// each of them, and is not made to find that out.
    pub(super) fn renew_pending_lock(
        &mut self,
        waiting: &BTreeMap<Name, Option<Id>>,
    ) -> Result<(), StoreError> {
        let pending = self.pending(waiting);
        if !self.is_pending_kept(&pending) {
            self.put_pending(&lock_to_bytes(&pending))?;
        }
        Ok(())
    }

    fn pending(&self, waiting: &BTreeMap<Name, Option<Id>>) -> PendingLock {
        let before = &self.run.read.previous.pending;
        let rows = waiting.iter().filter_map(|(name, record)| {
            let planned = self.run.plan.clusters.get(name)?;
            let Decision::Wait { seen, reasons } = &planned.decision else { return None };
            let kept = self.run.read.previous.kept.clusters.contains(name);
            let row = match self.run.read.loaded.fleet.clusters.get(name).filter(|_| !kept) {
                Some(cluster) => PendingRow {
                    seen: *seen,
                    facts: cluster.facts,
                    reasons: reasons.clone(),
                    record: *record,
                    demand: planned.demand.clone(),
                    row: cluster.index_row(),
                },
                // Its document did not load, or its record is not written: the row stays as it was.
                None => PendingRow { record: *record, ..before.clusters.get(name)?.clone() },
            };
            Some((name.clone(), row))
        });
        PendingLock { clusters: rows.collect(), schema_version: PENDING_SCHEMA }
    }

    /// Whether the lock that is there says it, and is whole.
    fn is_pending_kept(&self, pending: &PendingLock) -> bool {
        let previous = &self.run.read.previous;
        *pending == previous.pending && !previous.is_damaged(&LockName::Pending)
    }

    fn put_pending(&mut self, bytes: &[u8]) -> Result<Id, StoreError> {
        let id = self.run.store.put_blob(bytes)?;
        self.set_file(&Owned::ControlPlane, &LockName::Pending.path(), id, true)?;
        Ok(id)
    }

    /// The record, where it says something else than before. A record that stands is not read: the locks
    /// hold all that is compared.
    fn changed_record(
        &self,
        name: &Name,
        planned: &ClusterPlan,
    ) -> Result<Option<DecisionRecord>, StoreError> {
        let previous = &self.run.read.previous;
        let blank = blank_record(name, planned);
        match &planned.decision {
            Decision::Bind(binding) => Ok(Some(bound(blank, binding))),
            Decision::Wait { seen, reasons } => {
                let before = previous.pending.clusters.get(name);
                let same = before.is_some_and(|row| {
                    row.seen == *seen && row.reasons == *reasons && row.demand == planned.demand
                });
                Ok((!same).then(|| whole_record(name, planned, None)))
            }
            Decision::Keep { worker } => self.kept_record(name, planned, worker),
            Decision::Delete { worker, step } => {
                let row = self.run.row_before(name, worker);
                let before = row.and_then(|row| row.deletion.as_ref());
                let same = before.is_some_and(|before| before.step == *step);
                if same && !self.had_place(name) {
                    return Ok(None);
                }
                // The deletion may be called off, and then the cluster is there for what it was there for.
                let grounds = self.grounds_before(name, worker, row)?;
                Ok(Some(whole_record(name, planned, row).because(grounds)))
            }
            Decision::Move { from, step, binding } => {
                let place = self.run.row_before(name, &binding.worker);
                let kept = place.is_some_and(|row| row.state == ClusterState::Reserved);
                let row = self.run.row_before(name, from);
                let before = row.and_then(|row| row.deletion.as_ref()).map(|before| before.step);
                let rows = self.contents.rows.get(&binding.worker);
                let transfer = |row: &ClusterRow| row.moves.as_ref()?.transfer.clone();
                let now = rows.and_then(|rows| rows.get(name)).and_then(transfer);
                let same = place.and_then(transfer) == now;
                if kept && before == *step && same {
                    return Ok(None);
                }
                let moving = DecisionRecord {
                    state: RecordState::Moving,
                    worker: Some(from.clone()),
                    target: Some(binding.worker.clone()),
                    cause: planned.moved.as_ref().map(|moved| moved.cause),
                    step: *step,
                    ..bound(blank, binding)
                };
                // What decided is said once, when the place was chosen.
                let known = if kept { self.record_before(name)? } else { None };
                let known = known.filter(|known| known.target.as_ref() == Some(&binding.worker));
                if let Some(known) = known {
                    let demand = moving.demand;
                    let known = DecisionRecord { step: *step, demand, ..known };
                    return Ok(Some(known.handing_over(now)));
                }
                let moving = moving.leaving(self.grounds_before(name, from, row)?);
                Ok(Some(moving.handing_over(now)))
            }
            Decision::Forget => Ok(None),
        }
    }

    /// The record of a cluster that stays where it is.
    fn kept_record(
        &self,
        name: &Name,
        planned: &ClusterPlan,
        worker: &Name,
    ) -> Result<Option<DecisionRecord>, StoreError> {
        let row = self.run.row_before(name, worker);
        if let Some(moved) = self.ended_move(name, planned)? {
            return Ok(Some(moved));
        }
        let deleting = row.is_some_and(|row| row.state == ClusterState::Deleting);
        if deleting || self.had_place(name) {
            let grounds = self.grounds_before(name, worker, row)?;
            return Ok(Some(whole_record(name, planned, row).because(grounds)));
        }
        if row.is_none_or(|row| row.demand == planned.demand) {
            return Ok(None);
        }
        let record = self.record_before(name)?;
        let blank = DecisionRecord { worker: Some(worker.clone()), ..blank_record(name, planned) };
        let demand = planned.demand.clone();
        Ok(Some(record.map_or(blank, |record| DecisionRecord { demand, ..record })))
    }

    /// Whether a place was kept for a cluster, so that its record says that it moves.
    fn had_place(&self, name: &Name) -> bool {
        self.placed
            .get_or_init(|| ListedClusters::of(&self.run.read.previous))
            .reserved
            .contains(name)
    }

    /// The record of a cluster that arrives where its place was kept, with what decided that; or that
    /// stays after all.
    fn ended_move(
        &self,
        name: &Name,
        planned: &ClusterPlan,
    ) -> Result<Option<DecisionRecord>, StoreError> {
        let Some(moved) = &planned.moved else { return Ok(None) };
        let there = match moved.progress {
            MoveProgress::Arrives => &moved.to,
            MoveProgress::CalledOff => &moved.from,
            MoveProgress::Begins | MoveProgress::Leaves | MoveProgress::Starts => return Ok(None),
        };
        let grounds = self.grounds_before(name, there, self.run.row_before(name, there))?;
        let blank = blank_record(name, planned);
        Ok(Some(DecisionRecord { worker: Some(there.clone()), ..blank }.because(grounds)))
    }

    /// Why a cluster was placed on a worker, as its record says; of one that was lost the lock knows the group.
    fn grounds_before(
        &self,
        name: &Name,
        worker: &Name,
        row: Option<&ClusterRow>,
    ) -> Result<Grounds, StoreError> {
        let known = self.record_before(name)?;
        let grounds = known.map(|known| known.grounds(worker)).unwrap_or_default();
        let group = grounds.group.or_else(|| row?.group.clone());
        Ok(Grounds { group, ..grounds })
    }

    /// The record as it stands; `None` where it is missing or cannot be read, for it is about to be
    /// written whole.
    fn record_before(&self, name: &Name) -> Result<Option<DecisionRecord>, StoreError> {
        let path = paths::in_repository(&self.run.snapshot.input.prefix, &paths::decision(name));
        let Some(base) = self.run.snapshot.previous else { return Ok(None) };
        let Some(entry) = crate::change::entry_at(self.run.store, base, &path)? else {
            return Ok(None);
        };
        let bytes = self.run.store.blob(entry.id)?;
        Ok(crate::load::read_yaml(&bytes).ok())
    }
}

/// The record of a decision, all but why it was taken: what is left of one that was lost.
fn whole_record(name: &Name, planned: &ClusterPlan, row: Option<&ClusterRow>) -> DecisionRecord {
    let blank = blank_record(name, planned);
    match &planned.decision {
        Decision::Wait { seen, reasons } => DecisionRecord {
            state: RecordState::Pending,
            seen: Some(*seen),
            reasons: reasons.clone(),
            ..blank
        },
        Decision::Delete { worker, step } => DecisionRecord {
            state: RecordState::Deleting,
            worker: Some(worker.clone()),
            deletion_policy: row.and_then(|row| row.row.deletion_policy),
            step: Some(*step),
            ..blank
        },
        Decision::Move { from, step, binding } => DecisionRecord {
            state: RecordState::Moving,
            worker: Some(from.clone()),
            target: Some(binding.worker.clone()),
            step: *step,
            ..blank
        },
        other => DecisionRecord {
            worker: other.worker().cloned(),
            group: row.and_then(|row| row.group.clone()),
            ..blank
        },
    }
}

fn blank_record(name: &Name, planned: &ClusterPlan) -> DecisionRecord {
    DecisionRecord::blank(name.clone(), planned.demand.clone())
}

fn bound(blank: DecisionRecord, binding: &Binding) -> DecisionRecord {
    DecisionRecord {
        state: RecordState::Bound,
        worker: Some(binding.worker.clone()),
        policy: binding.policy.clone(),
        group: binding.group.clone(),
        decided_by: binding.decided_by,
        runner_up: binding.runner_up.clone(),
        ..blank
    }
}
