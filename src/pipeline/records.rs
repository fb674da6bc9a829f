//! `decisions/`: one record per cluster, and the lock of those that wait.

use super::Read;
use super::output::Run;
use crate::load::emit_yaml;
use crate::model::{
    Binding, ClusterRow, ClusterState, DECISION_SCHEMA, Decision, DecisionRecord, Name,
    PendingLock, PendingRow, Plan, Planned, RecordState, StoreError, lock_to_bytes, paths,
};

impl Run<'_> {
    /// Writes the records whose decision is new or another, and the pending lock.
    pub(super) fn records(&mut self) -> Result<(), StoreError> {
        let planned = self.plan.clusters.clone();
        let pending = pending_lock(self.read, self.plan);
        for (name, planned) in &planned {
            let path = paths::decision(name);
            if planned.decision == Decision::Forget {
                if self.is_known(name) {
                    self.remove(&path);
                }
            } else if let Some(record) = self.changed_record(name, planned)? {
                let id = self.store.put_blob(emit_yaml(&record).as_bytes())?;
                self.set_file(&path, id, self.is_known(name))?;
            }
        }
        let before = self.read.previous.fleet.is_some();
        if pending == self.read.previous.pending && before {
            return Ok(());
        }
        let id = self.store.put_blob(&lock_to_bytes(&pending))?;
        let path = format!("{}/{}", paths::DECISIONS, paths::PENDING_LOCK);
        self.set_file(&path, id, before)
    }

    fn is_known(&self, name: &Name) -> bool {
        let previous = &self.read.previous;
        previous.pending.clusters.contains_key(name)
            || previous.workers.values().any(|lock| lock.clusters.contains_key(name))
    }

    /// The record, where it says something else than before. A record that stands is not read: the locks
    /// hold all that is compared.
    fn changed_record(
        &self,
        name: &Name,
        planned: &Planned,
    ) -> Result<Option<DecisionRecord>, StoreError> {
        let previous = &self.read.previous;
        let blank = DecisionRecord {
            schema_version: DECISION_SCHEMA,
            cluster: name.clone(),
            state: RecordState::Bound,
            worker: None,
            policy: None,
            demand: planned.demand.clone(),
            decided_by: None,
            runner_up: None,
            seen: None,
            reasons: std::collections::BTreeSet::new(),
            deletion_policy: None,
            step: None,
        };
        match &planned.decision {
            Decision::Bind(binding) => Ok(Some(bound(blank, binding))),
            Decision::Wait { seen, reasons } => {
                let before = previous.pending.clusters.get(name);
                let same = before.is_some_and(|row| {
                    row.seen == *seen && row.reasons == *reasons && row.demand == planned.demand
                });
                let (seen, reasons) = (Some(*seen), reasons.clone());
                let record = DecisionRecord { state: RecordState::Pending, seen, reasons, ..blank };
                Ok((!same).then_some(record))
            }
            Decision::Keep { worker } => {
                let row = self.row_before(name, worker);
                if row.is_none_or(|row| row.demand == planned.demand) {
                    return Ok(None);
                }
                let record = self.record_before(name)?;
                let blank = DecisionRecord { worker: Some(worker.clone()), ..blank };
                let demand = planned.demand.clone();
                Ok(Some(record.map_or(blank, |record| DecisionRecord { demand, ..record })))
            }
            Decision::Delete { worker, step } => {
                let row = self.row_before(name, worker);
                let begun = row.is_some_and(|row| row.state == ClusterState::Deleting);
                let record = DecisionRecord {
                    state: RecordState::Deleting,
                    worker: Some(worker.clone()),
                    deletion_policy: row.and_then(|row| row.row.deletion_policy),
                    step: Some(*step),
                    ..blank
                };
                Ok((!begun).then_some(record))
            }
            Decision::Forget => Ok(None),
        }
    }

    fn row_before(&self, name: &Name, worker: &Name) -> Option<&ClusterRow> {
        self.read.previous.workers.get(worker)?.clusters.get(name)
    }

    /// The record as it stands; `None` where it is missing or cannot be read, for it is about to be
    /// written whole.
    fn record_before(&self, name: &Name) -> Result<Option<DecisionRecord>, StoreError> {
        let path = paths::in_repository(&self.snapshot.input.prefix, &paths::decision(name));
        let Some(base) = self.snapshot.previous else { return Ok(None) };
        let Some(entry) = crate::change::entry_at(self.store, base, &path)? else {
            return Ok(None);
        };
        let bytes = self.store.blob(entry.id)?;
        Ok(crate::load::read_yaml(&bytes).ok())
    }
}

/// The lock of the clusters that wait.
pub(super) fn pending_lock(read: &Read, plan: &Plan) -> PendingLock {
    let rows = plan.clusters.iter().filter_map(|(name, planned)| {
        let Decision::Wait { seen, reasons } = &planned.decision else { return None };
        let row = match read.loaded.fleet.clusters.get(name) {
            Some(cluster) => PendingRow {
                seen: *seen,
                facts: cluster.facts,
                reasons: reasons.clone(),
                demand: planned.demand.clone(),
                row: cluster.index_row(),
            },
            // Its document did not load: the row stays as it was.
            None => read.previous.pending.clusters.get(name)?.clone(),
        };
        Some((name.clone(), row))
    });
    PendingLock { clusters: rows.collect(), ..PendingLock::default() }
}

fn bound(blank: DecisionRecord, binding: &Binding) -> DecisionRecord {
    DecisionRecord {
        state: RecordState::Bound,
        worker: Some(binding.worker.clone()),
        policy: binding.policy.clone(),
        decided_by: binding.decided_by,
        runner_up: binding.runner_up.clone(),
        ..blank
    }
}
