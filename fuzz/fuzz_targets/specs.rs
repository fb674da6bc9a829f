//! Fleets that are nearly right, through the built-in templates: whatever loads renders, all that is
//! written is good YAML, and planning the result again changes nothing.
#![no_main]

use carp::diag::Code;
use carp::model::Memo;
use carp::pipeline::{fleet_document, propose};
use carp::store::MemoryStore;
use carp_fuzz::{FLEET, WORKER, files, is_good_yaml, load_checked, snapshot, tree};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Unstructured::new(bytes);
    let Ok(documents) = documents(&mut choices) else { return };
    let text: Vec<_> = documents.iter().map(carp::load::emit_yaml).collect();
    run(&text.join("---\n"));
});

fn run(text: &str) {
    let store = MemoryStore::new();
    let desired: [(&str, &[u8]); 3] = [
        ("carp.yaml", FLEET.as_bytes()),
        ("fleet/workers.yaml", WORKER.as_bytes()),
        ("fleet/fuzzed.yaml", text.as_bytes()),
    ];
    let input = tree(&store, &desired);
    load_checked(&store, input, &desired);
    let mut memo = Memo::default();
    let first = propose(&snapshot(input, None, None), &store, &mut memo).expect("memory reads");
    let never =
        [Code::TemplateFailed, Code::TemplateBudget, Code::RenderedInvalid, Code::RenderedRefused];
    for finding in first.diagnostics.iter() {
        assert!(!never.contains(&finding.code), "what loads renders: {finding:?}\n{text}");
    }
    for (path, bytes) in files(&store, first.tree) {
        if path.ends_with(".yaml") {
            is_good_yaml(&path, &bytes);
        }
    }
    if first.stopped {
        return;
    }
    let status = fleet_document(&first, "", None, None, &store).expect("memory takes it");
    let next = snapshot(input, Some(first.tree), Some(status.tree));
    let again = propose(&next, &store, &mut memo).expect("memory reads");
    assert_eq!(again.tree, first.tree, "planning its own result changes nothing\n{text}");
    let afresh = propose(&next, &store, &mut Memo::default()).expect("memory reads");
    assert_eq!(afresh.tree, again.tree, "with a memo and without one it is the same\n{text}");
}

fn documents(choices: &mut Unstructured<'_>) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    for number in 0..=choices.int_in_range(0..=3)? {
        all.push(document(choices, number)?);
    }
    Ok(all)
}

fn document(choices: &mut Unstructured<'_>, number: usize) -> Result<Value> {
    let kind = *choices.choose(&["ManagedCluster", "ManagedCluster", "Worker", "WorkerOverlay"])?;
    let mut metadata =
        json!({"name": format!("{}{number}", choices.choose(&["a", "pay-eu", "w", "on"])?)});
    if kind == "WorkerOverlay" {
        metadata["name"] = json!("w-weu");
    }
    if choices.ratio(1, 4)? {
        metadata["name"] = words(choices)?;
    }
    if kind == "ManagedCluster" {
        metadata["namespace"] = json!(*choices.choose(&["shop", "payments", "default"])?);
    }
    if choices.arbitrary()? {
        metadata["labels"] = labels(choices)?;
    }
    let spec = match kind {
        "WorkerOverlay" => overlay(choices)?,
        _ => cluster(choices, kind)?,
    };
    Ok(json!({
        "apiVersion": "carp.dev/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec
    }))
}

fn overlay(choices: &mut Unstructured<'_>) -> Result<Value> {
    let mut spec = Map::new();
    if choices.arbitrary()? {
        spec.insert("unschedulable".into(), json!(choices.arbitrary::<bool>()?));
    }
    if choices.arbitrary()? {
        spec.insert("taints".into(), taints(choices)?);
    }
    if choices.arbitrary()? {
        spec.insert("reserved".into(), json!({"clusters": choices.int_in_range(0..=30)?}));
    }
    Ok(Value::Object(spec))
}

fn cluster(choices: &mut Unstructured<'_>, kind: &str) -> Result<Value> {
    let mut spec = Map::new();
    let version = *choices.choose(&["v1.34.2", "v1.33.0", "v1.30", "1.34.2", "v1.34.99"])?;
    spec.insert("version".into(), json!(version));
    let location = *choices.choose(&["westeurope", "eastus", "northeurope", "nowhere"])?;
    spec.insert("location".into(), json!(location));
    if kind == "Worker" {
        let capacity = choices.int_in_range(0..=60)?;
        spec.insert("capacity".into(), json!(capacity));
        if choices.arbitrary()? {
            spec.insert("taints".into(), taints(choices)?);
        }
    } else {
        if choices.arbitrary()? {
            spec.insert("deletionPolicy".into(), json!("Delete"));
        }
        if choices.arbitrary()? {
            spec.insert("paused".into(), json!(choices.arbitrary::<bool>()?));
        }
        if choices.arbitrary()? {
            spec.insert("priority".into(), json!(choices.arbitrary::<i32>()?));
        }
    }
    if choices.arbitrary()? {
        spec.insert("network".into(), network(choices)?);
    }
    if choices.ratio(1, 3)? {
        let size = words(choices)?;
        spec.insert(
            "controlPlane".into(),
            json!({"replicas": choices.int_in_range(0..=6)?, "size": size}),
        );
    }
    if choices.arbitrary()? {
        spec.insert("replicas".into(), json!(choices.int_in_range(0..=9)?));
    } else {
        let mut pools = Vec::new();
        for number in 0..=choices.int_in_range(0..=2)? {
            pools.push(pool(choices, number)?);
        }
        spec.insert("nodePools".into(), Value::Array(pools));
    }
    Ok(Value::Object(spec))
}

fn pool(choices: &mut Unstructured<'_>, number: usize) -> Result<Value> {
    let mut pool = Map::new();
    pool.insert("name".into(), json!(format!("np{number}")));
    if choices.arbitrary()? {
        pool.insert("replicas".into(), json!(choices.int_in_range(0..=1100)?));
    } else {
        let (min, max) = (choices.int_in_range(0..=12)?, choices.int_in_range(0..=12)?);
        pool.insert("autoscale".into(), json!({"min": min, "max": max}));
    }
    if choices.arbitrary()? {
        let zones: Vec<_> = (0..choices.int_in_range(0..=4)?).map(|z| z.to_string()).collect();
        pool.insert("zones".into(), json!(zones));
    }
    if choices.arbitrary()? {
        pool.insert("labels".into(), labels(choices)?);
    }
    if choices.arbitrary()? {
        pool.insert("taints".into(), taints(choices)?);
    }
    if choices.ratio(1, 3)? {
        pool.insert("vmSize".into(), words(choices)?);
    }
    if choices.arbitrary()? {
        pool.insert("spot".into(), json!(choices.arbitrary::<bool>()?));
    }
    if choices.arbitrary()? {
        pool.insert("osDisk".into(), json!({"sizeGB": choices.arbitrary::<u16>()?}));
    }
    Ok(Value::Object(pool))
}

fn network(choices: &mut Unstructured<'_>) -> Result<Value> {
    let mut network = Map::new();
    for key in ["podCIDRs", "serviceCIDRs"] {
        let ranges =
            ["10.0.0.0/16", "192.168.0.0/16", "10.96.0.0/12", "fd00::/64", "10.0.0.1/8", "x"];
        let mut some = Vec::new();
        for _ in 0..choices.int_in_range(0..=2)? {
            some.push(*choices.choose(&ranges)?);
        }
        network.insert(key.into(), json!(some));
    }
    Ok(Value::Object(network))
}

fn labels(choices: &mut Unstructured<'_>) -> Result<Value> {
    let mut labels = Map::new();
    for _ in 0..choices.int_in_range(0..=3)? {
        let key =
            *choices.choose(&["team", "example.com/tier", "on", "a", "1", "kubernetes.io/os"])?;
        labels.insert(key.to_owned(), words(choices)?);
    }
    Ok(Value::Object(labels))
}

fn taints(choices: &mut Unstructured<'_>) -> Result<Value> {
    let mut taints = Vec::new();
    for _ in 0..choices.int_in_range(0..=2)? {
        let effect = *choices.choose(&["NoSchedule", "PreferNoSchedule", "NoExecute", "No"])?;
        let key = *choices.choose(&["dedicated", "on", "1e3", "example.com/gpu"])?;
        taints.push(json!({"key": key, "value": words(choices)?, "effect": effect}));
    }
    Ok(Value::Array(taints))
}

/// Words that YAML could misread, and any text.
fn words(choices: &mut Unstructured<'_>) -> Result<Value> {
    const RISKY: [&str; 16] = [
        "on",
        "yes",
        "NO",
        "y",
        "1e3",
        "0o7",
        "012",
        "1_000",
        "null",
        "~",
        "2024-01-01",
        "12:30:45",
        "${X}",
        "{{ 1 }}",
        "a",
        "Standard_D4s_v5",
    ];
    if choices.ratio(3, 4)? {
        return Ok(json!(*choices.choose(&RISKY)?));
    }
    let length = choices.int_in_range(0..=24)?;
    let bytes = choices.bytes(length.min(choices.len()))?;
    Ok(json!(String::from_utf8_lossy(bytes)))
}
