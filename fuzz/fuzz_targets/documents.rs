//! Any bytes as a file of the fleet, as a policy, and as `carp.yaml`: loading ends, says the same twice,
//! and places its findings.
#![no_main]

use carp::store::MemoryStore;
use carp_fuzz::{FLEET, WORKER, load_checked, tree};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let good = FLEET.as_bytes();
    let desired: [(&str, &[u8]); 4] = [
        ("carp.yaml", good),
        ("fleet/workers.yaml", WORKER.as_bytes()),
        ("fleet/fuzzed.yaml", bytes),
        ("policies/fuzzed.yaml", bytes),
    ];
    let store = MemoryStore::new();
    let loaded = load_checked(&store, tree(&store, &desired), &desired);
    assert!(!loaded.fleet_broken, "carp.yaml is good, whatever stands beside it");

    let fleet_file: [(&str, &[u8]); 2] =
        [("carp.yaml", bytes), ("fleet/workers.yaml", WORKER.as_bytes())];
    let store = MemoryStore::new();
    load_checked(&store, tree(&store, &fleet_file), &fleet_file);
});
