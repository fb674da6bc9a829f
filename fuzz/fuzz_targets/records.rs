//! Any bytes as each of the files that carp reads back: locks, records, reports, folded reports, status
//! documents. What is read is written again as what it was, and a report folds.
#![no_main]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use carp::load;
use carp::model::{
    DecisionRecord, FLEET_LOCK_SCHEMA, FleetLock, FoldedReport, Memo, Name, PENDING_SCHEMA,
    PendingLock, Report, WORKER_LOCK_SCHEMA, Worker, WorkerLock, lock_from_bytes, lock_to_bytes,
};
use carp::plan::{FoldInput, fold};
use carp::status::{ClusterDocument, FleetStatus, WorkerDocument};
use carp::store::MemoryStore;
use carp_fuzz::{FLEET, WORKER, input, name, tree};
use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;

fuzz_target!(|bytes: &[u8]| {
    lock::<WorkerLock>(bytes, WORKER_LOCK_SCHEMA);
    lock::<PendingLock>(bytes, PENDING_SCHEMA);
    lock::<FleetLock>(bytes, FLEET_LOCK_SCHEMA);
    document::<DecisionRecord>(bytes);
    document::<FoldedReport>(bytes);
    document::<Report>(bytes);
    document::<ClusterDocument>(bytes);
    document::<WorkerDocument>(bytes);
    document::<FleetStatus>(bytes);
    output_tree(bytes);
    folds(bytes);
});

fn lock<T: DeserializeOwned + Serialize>(bytes: &[u8], schema: u32) {
    let Ok(read) = lock_from_bytes::<T>(bytes, schema) else { return };
    let written = lock_to_bytes(&read);
    let again = lock_from_bytes::<T>(&written, schema).expect("what carp writes it reads");
    assert_eq!(lock_to_bytes(&again), written, "a lock that is read and written stays");
}

fn document<T: DeserializeOwned + Serialize>(bytes: &[u8]) {
    let Ok(read) = load::read_yaml::<T>(bytes) else { return };
    let written = load::emit_yaml(&read);
    let again = load::read_yaml::<T>(written.as_bytes())
        .unwrap_or_else(|e| panic!("what carp writes it reads: {e}\n{written}"));
    assert_eq!(load::emit_yaml(&again), written, "a document that is read and written stays");
}

/// The same bytes in every place of an output tree.
fn output_tree(bytes: &[u8]) {
    let store = MemoryStore::new();
    let output = tree(
        &store,
        &[
            ("workers/w-weu/carp.lock", bytes),
            ("decisions/pending.lock", bytes),
            ("control-plane/fleet.lock", bytes),
        ],
    );
    let mut memo = Memo::default();
    let (first, found) = load::previous(&store, Some(output), "", &mut memo).expect("memory reads");
    let (again, found_again) =
        load::previous(&store, Some(output), "", &mut memo).expect("memory reads");
    assert_eq!(format!("{first:?}{found:?}"), format!("{again:?}{found_again:?}"));
}

/// The bytes as a report, and as what was folded before.
fn folds(bytes: &[u8]) {
    let (store, workers) = (MemoryStore::new(), workers());
    let raw: BTreeMap<Name, Vec<u8>> = [(name("w-weu"), bytes.to_vec())].into();
    let (reports, _) = load::reports(&raw);
    let status = tree(&store, &[("observed/w-weu.yaml", bytes)]);
    let (last, _) = load::folded(&store, Some(status), "", None).expect("memory reads");
    if reports.is_empty() && last.is_empty() {
        return;
    }
    let unusable = BTreeSet::new();
    let now = "2026-11-01T09:00:00Z".parse().expect("a time");
    let first = fold(&FoldInput {
        last: &last,
        reports: Some(&reports),
        unusable: &unusable,
        control_plane: None,
        workers,
        now,
    });
    let again = fold(&FoldInput {
        last: &first.observed.workers,
        reports: Some(&reports),
        unusable: &unusable,
        control_plane: None,
        workers,
        now,
    });
    assert_eq!(
        format!("{:?}", first.observed),
        format!("{:?}", again.observed),
        "folding the same report again changes nothing"
    );
}

/// The one worker that is desired.
fn workers() -> &'static BTreeMap<Name, Worker> {
    static WORKERS: OnceLock<BTreeMap<Name, Worker>> = OnceLock::new();
    WORKERS.get_or_init(|| {
        let store = MemoryStore::new();
        let desired: [(&str, &[u8]); 2] =
            [("carp.yaml", FLEET.as_bytes()), ("fleet/workers.yaml", WORKER.as_bytes())];
        let input = input(tree(&store, &desired));
        let loaded = load::load(&input, &store, &mut Memo::default()).expect("memory reads");
        assert_eq!(loaded.fleet.workers.len(), 1, "{:?}", loaded.diagnostics);
        loaded.fleet.workers
    })
}
