//! The decision records, all of them, and the lock of those that wait.

use std::collections::BTreeMap;

use serde_json::Value;

use super::RebuildInput;
use crate::diag::{Code, Diagnostic, Diagnostics, Place};
use crate::load::read_yaml;
use crate::model::{
    DECISION_SCHEMA, DecisionRecord, EntryKind, Id, IndexRow, Name, PendingLock, PendingRow,
    Previous, RecordState, SharedMap, StoreError, paths,
};

/// The records that can be read, by cluster, each with its id.
#[derive(Default)]
pub(super) struct Records(BTreeMap<Name, (Id, DecisionRecord)>);

impl Records {
    pub(super) fn get(&self, name: &Name) -> Option<&(Id, DecisionRecord)> {
        self.0.get(name)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Name, &(Id, DecisionRecord))> {
        self.0.iter()
    }

    /// The workers that clusters are on.
    pub(super) fn workers(&self) -> impl Iterator<Item = &Name> {
        self.0.values().flat_map(|(_, record)| record.worker.iter().chain(&record.target))
    }
}

/// Reads every record. One that cannot be read counts as lost; one of a newer format is an error.
pub(super) fn read(
    ground: RebuildInput<'_>,
    found: &mut Diagnostics,
) -> Result<Records, StoreError> {
    let mut records = Records::default();
    let Some(folder) = ground.dir(paths::DECISIONS)? else { return Ok(records) };
    for (shard, entry) in ground.store.dir(folder.id)?.iter() {
        if entry.kind != EntryKind::Dir {
            continue;
        }
        for (file, entry) in ground.store.dir(entry.id)?.iter() {
            let name = file.strip_suffix(".yaml").and_then(|name| Name::parse(name).ok());
            let plain = entry.kind == EntryKind::File;
            let Some(name) = name.filter(|name| plain && paths::shard(name) == shard) else {
                continue;
            };
            match record(&ground.store.blob(entry.id)?, &name) {
                Ok(Some(record)) => drop(records.0.insert(name, (entry.id, record))),
                Ok(None) => {}
                Err(version) => found.push(newer(&name, version)),
            }
        }
    }
    Ok(records)
}

/// A record, `None` where the bytes are none of that cluster; the number of a newer format as an error.
fn record(bytes: &[u8], name: &Name) -> Result<Option<DecisionRecord>, u64> {
    let Ok(value) = read_yaml::<Value>(bytes) else { return Ok(None) };
    match value.get("schemaVersion").and_then(Value::as_u64) {
        Some(version) if version > u64::from(DECISION_SCHEMA) => return Err(version),
        _ => {}
    }
    let record: Option<DecisionRecord> = serde_json::from_value(value).ok();
    let placed = |r: &DecisionRecord| (r.state == RecordState::Pending) == r.worker.is_none();
    Ok(record.filter(|record| record.cluster == *name && placed(record)))
}

fn newer(name: &Name, version: u64) -> Diagnostic {
    let path = paths::decision(name);
    let message = format!(
        "`{path}`: it has schemaVersion {version}; this carp reads up to {DECISION_SCHEMA}"
    );
    let finding = Diagnostic::new(Code::NewerFormat, message).at(Place::file(path));
    finding.help("use the carp that wrote it, or a newer one")
}

/// The lock of those that wait, from their records. What an index needs is in their documents.
pub(super) fn pending(
    ground: RebuildInput<'_>,
    previous: &Previous,
    records: &Records,
) -> PendingLock {
    let placed = |name: &Name| previous.workers.values().any(|l| l.clusters.contains_key(name));
    let waiting = records
        .iter()
        .filter(|(name, (_, record))| record.state == RecordState::Pending && !placed(name));
    let rows = waiting.map(|(name, (id, record))| {
        let cluster = ground.fleet.clusters.get(name);
        let row = PendingRow {
            seen: record.seen.unwrap_or_default(),
            facts: cluster.map_or_else(super::no_key, |cluster| cluster.facts),
            reasons: record.reasons.clone(),
            record: Some(*id),
            demand: record.demand.clone(),
            row: cluster.map_or_else(nothing_known, crate::model::Cluster::index_row),
        };
        (name.clone(), row)
    });
    PendingLock { clusters: rows.collect(), ..PendingLock::default() }
}

/// The row of a cluster of which neither a document nor a ManagedCluster is left.
pub(super) fn nothing_known() -> IndexRow {
    IndexRow {
        labels: SharedMap::new(),
        tenant: String::new(),
        location: String::new(),
        version: String::new(),
        flavor: String::new(),
        priority: 0,
        class: None,
        deletion_policy: None,
        spread: Vec::new(),
        anti_affinity: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_of_its_cluster_and_whole() {
        let name = Name::parse("a").unwrap();
        let read = |text: &str| record(text.as_bytes(), &name).map(|record| record.is_some());
        let bound = "schemaVersion: 1\ncluster: a\nstate: Bound\nworker: w1\n";
        assert_eq!(read(bound), Ok(true));
        for wrong in [
            bound.replace("cluster: a", "cluster: b"),
            bound.replace("worker: w1\n", ""),
            bound.replace("Bound", "Pending"),
            format!("{bound}more: x\n"),
            format!("<<<<<<< ours\n{bound}"),
            String::new(),
        ] {
            assert_eq!(read(&wrong), Ok(false), "{wrong}");
        }
        assert_eq!(read(&bound.replace("schemaVersion: 1", "schemaVersion: 7")), Err(7));
    }
}
