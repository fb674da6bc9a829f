//! The random attacker: one tenant writes anything at all below its own folder, again and again. Whatever it is,
//! no byte of another tenant's clusters, of the workers or of the control plane changes; all that red can do is
//! to take room that nobody has.

use std::collections::{BTreeMap, BTreeSet};

use carp::model::{Decision, WorkerState};
use proptest::prelude::*;
use serde_json::Value;

use super::{cluster, fleet, others_go_on};
use crate::support::breadth;
use crate::support::world::World;

/// Names of others, of workers there are and will be, of nobody, and some that cannot be.
const NAMES: [&str; 18] = [
    "b-1",
    "b-2",
    "b-3",
    "b-wait",
    "w-weu",
    "w-eus",
    "w-old",
    "eu-1",
    "eu-2",
    "eu",
    "small",
    "hub",
    "monitoring",
    "r-1",
    "r-2",
    "r-3",
    "..",
    "Blue",
];
const KINDS: [&str; 12] = [
    "ManagedCluster",
    "Worker",
    "WorkerOverlay",
    "WorkerPool",
    "ManagedClusterClass",
    "PlacementPolicy",
    "PlacementPolicyTest",
    "Acknowledgement",
    "Fleet",
    "RolloutPolicy",
    "OverridePolicy",
    "Deployment",
];
const SPECS: [&str; 18] = [
    "{}",
    "{unschedulable: true, drain: true, capacity: 0}",
    "{version: v1.34.2, location: westeurope, capacity: 500}",
    "{max: 50, min: 50, template: {spec: {version: v1.34.2, location: westeurope}}}",
    "{demand: {clusters: 900}, flavor: kind}",
    "{priority: 1000, clusterSelector: {}, affinity: {required: [{names: [w-none]}]}}",
    "{of: deletions, count: 1, digest: \"0000000000000000000000000000000000000000000000000000000000000000\"}",
    "{version: v1.34.2, location: eastus, class: small, priority: 9999}",
    "{version: v1.34.2, location: westeurope, placement: {antiAffinity: [{topologyKey: carp.dev/worker, \
     labelSelector: {matchExpressions: [{key: x, operator: DoesNotExist}]}}]}}",
    "[",
    // Sizes beyond everything, and rules about everybody.
    "{version: v1.34.2, location: westeurope, nodePools: [{name: np0, replicas: 1000000000}]}",
    "{version: v1.34.2, location: westeurope, controlPlane: {replicas: 9999, size: huge}, replicas: -1}",
    "{version: v1.34.2, location: eastus, nodePools: [{name: a, autoscale: {min: 0, max: 4000000000}, vmSize: Standard_M416}]}",
    "{version: v1.34.2, location: westeurope, deletionPolicy: Orphan, onWorkerLoss: Rebuild, paused: true}",
    "{version: v1.34.2, location: westeurope, placement: {pools: [eu], affinity: {required: [{names: [w-weu, eu-1]}]}}}",
    "{version: v1.34.2, location: eastus, placement: {spread: [{topologyKey: carp.dev/location, maxSkew: 1, \
     labelSelector: {}}]}}",
    "{version: v1.34.2, location: westeurope, placement: {antiAffinity: [{topologyKey: carp.dev/location, \
     labelSelector: {matchLabels: {app: x}}}]}}",
    "{version: v1.34.2, location: westeurope, credentials: azure, network: {podCIDRs: [0.0.0.0/0]}}",
];
/// Labels and annotations: others' words, carp's own, what a node or Flux would obey, and what none may be.
const LABELS: [&str; 12] = [
    "{tier: gold}",
    "{app: x, dr: shop}",
    "{carp.dev/tenant: blue}",
    "{carp.dev/cluster: b-1, carp.dev/worker: w-weu}",
    "{kustomize.toolkit.fluxcd.io/prune: disabled}",
    "{kubernetes.io/metadata.name: kube-system}",
    "{\"\": x}",
    "{\"a\\u202eb\": \"x\\ny\"}",
    "{x: \"\\0\"}",
    "[a]",
    "{a: 1, a: 2}",
    "{}",
];

/// A document of any kind, name, tenant and content.
fn document() -> impl Strategy<Value = String> {
    let pick = |all: &'static [&'static str]| prop::sample::select(all);
    let tenants = pick(&["red", "red", "red", "blue", "default", "Red"]);
    let specs = pick(&SPECS);
    let words = (tenants, pick(&LABELS), pick(&["labels", "annotations"]));
    let anything = (pick(&KINDS), name(), words, specs).prop_map(|(kind, name, words, spec)| {
        let (tenant, labels, of) = words;
        format!(
            "apiVersion: carp.dev/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}\n  namespace: {tenant}\n  \
             {of}: {labels}\nspec: {spec}\n"
        )
    });
    let own = (name(), pick(&["westeurope", "eastus", "northeurope"]), pick(&LABELS), 0..4_u8);
    let own = own.prop_map(|(name, location, labels, what)| {
        let text = cluster(&name, "red", location);
        match what {
            0 => text.replace("namespace: red", &format!("namespace: red\n  labels: {labels}")),
            1 => text.replace("  replicas: 2", "  replicas: 5000"),
            2 => text.replace("spec:\n", "spec:\n  class: small\n  priority: 2000000000\n"),
            _ => text,
        }
    });
    let garbage = prop::collection::vec(any::<char>(), 0..40).prop_map(String::from_iter);
    prop_oneof![6 => anything, 6 => own, 1 => garbage, 1 => huge()]
}

/// A name: one of those, one of many of red's own, or one that is too long.
fn name() -> impl Strategy<Value = String> {
    let one = prop::sample::select(&NAMES[..]).prop_map(str::to_owned);
    prop_oneof![4 => one, 2 => "r-[0-9]{1,2}", 1 => Just("r".repeat(41)), 1 => ".{0,12}"]
}

/// Text that is large, deep, much of little, or many documents.
fn huge() -> impl Strategy<Value = String> {
    let many = || (0..150).map(|n| cluster(&format!("r-x{n}"), "red", "westeurope"));
    let rules =
        "{topologyKey: carp.dev/worker, labelSelector: {matchLabels: {a: b}}}, ".repeat(900);
    let rules = format!("  placement: {{antiAffinity: [{rules}]}}\n  deletionPolicy");
    let bomb = (1..9).fold("a0: &a0 [x, x]\n".to_owned(), |text, n| {
        format!("{text}a{n}: &a{n} [{}]\n", format!("*a{}, ", n - 1).repeat(9))
    });
    let pools = (0..500).map(|n| format!("{{name: p{n}, replicas: 100}}")).collect::<Vec<_>>();
    let pools = format!("  nodePools: [{}]\n", pools.join(", "));
    prop::sample::select(vec![
        "# large\n".repeat(150_000),
        format!("a: {}{}", "[".repeat(5_000), "]".repeat(5_000)),
        bomb,
        many().collect::<Vec<_>>().join("---\n"),
        "---\n".repeat(2_000),
        cluster("r-5", "red", "westeurope").replace("  deletionPolicy", &rules),
        cluster("r-6", "red", "westeurope").replace("  replicas: 2\n", &pools),
    ])
}

/// A file: documents, some of them cut short or doubled.
fn file() -> impl Strategy<Value = String> {
    let documents = prop::collection::vec(document(), 0..4).prop_map(|all| all.join("---\n"));
    (documents, 0..4_u8, any::<prop::sample::Index>()).prop_map(|(text, what, at)| match what {
        0 if !text.is_empty() => {
            let end = at.index(text.len());
            text.char_indices().take_while(|(i, _)| *i <= end).map(|(_, c)| c).collect()
        }
        1 => format!("{text}---\n{text}"),
        _ => text,
    })
}

/// What red has in its folder at one time.
fn folder() -> impl Strategy<Value = BTreeMap<String, String>> {
    let path = prop::sample::select(vec![
        "a.yaml",
        "deep/er/b.yml",
        "r-1.yaml",
        "b-1.yaml",
        "c.yaml",
        "carp.yaml",
    ]);
    prop::collection::btree_map(path.prop_map(|path| format!("fleet/red/{path}")), file(), 0..6)
}

/// All that is not red's, of an output: files as they are, and of the locks the rows of others.
fn others(world: &World) -> BTreeMap<String, String> {
    let (mut seen, mut reds) = (BTreeMap::new(), BTreeSet::new());
    let files = world.output_files();
    let is_lock = |path: &str| path.ends_with("carp.lock") || path.ends_with("pending.lock");
    for (path, bytes) in files.iter().filter(|(path, _)| is_lock(path)) {
        let lock: Value = serde_json::from_slice(bytes).unwrap();
        for (name, row) in lock["clusters"].as_object().into_iter().flatten() {
            if row["tenant"] == "red" {
                reds.insert(name.clone());
            } else {
                seen.insert(format!("{path} {name}"), row.to_string());
            }
        }
    }
    for (path, bytes) in files {
        // What lists the clusters of a worker changes with each.
        let lists = ["clusters.yaml", "sentinel.yaml"].iter().any(|file| path.ends_with(file));
        if !lists && !is_lock(&path) && !is_of(&reds, &path) {
            let bytes = if path.ends_with("fleet.lock") { without_red(&bytes) } else { bytes };
            seen.insert(path, String::from_utf8(bytes).unwrap());
        }
    }
    seen
}

/// The fleet's lock without what it remembers of what red asked for of its own clusters.
fn without_red(lock: &[u8]) -> Vec<u8> {
    let mut lock: Value = serde_json::from_slice(lock).unwrap();
    let fields = lock.as_object_mut().unwrap();
    fields.remove("digest");
    // What is counted for no tenant nobody asked for.
    let not_reds = |count: &Value| {
        let tenants = count.as_object().map(|by_tenant| by_tenant.keys());
        tenants.is_none_or(|mut tenants| tenants.any(|tenant| tenant != "red"))
    };
    let not_reds = |run: &Value| {
        let did = run["did"].as_object().unwrap();
        did.is_empty() || did.values().any(not_reds)
    };
    if let Some(runs) = fields.get_mut("recent").and_then(Value::as_array_mut) {
        runs.retain(not_reds);
    }
    if let Some(sets) = fields.get_mut("held").and_then(Value::as_array_mut) {
        sets.retain(|set| set["tenants"] != serde_json::json!(["red"]));
    }
    for list in ["recent", "held"] {
        if fields.get(list).is_some_and(|list| list == &serde_json::json!([])) {
            fields.remove(list);
        }
    }
    lock.to_string().into_bytes()
}

/// Whether a file is about one of these clusters.
fn is_of(clusters: &BTreeSet<String>, path: &str) -> bool {
    match path.split('/').collect::<Vec<_>>()[..] {
        ["workers", _, "clusters", name, ..] => clusters.contains(name),
        ["decisions", _, file] => clusters.contains(file.trim_end_matches(".yaml")),
        _ => false,
    }
}

/// What red leaves out of its own cluster is remembered as what red asked for, as its deletions are.
#[test]
fn what_red_leaves_out_of_its_own_cluster_is_remembered_as_its_own() {
    let mut world = fleet();
    let before = others(&world);
    world.files.retain(|path, _| !path.starts_with("fleet/red/"));
    let text = "apiVersion: carp.dev/v1alpha1\nkind: ManagedCluster\nmetadata:\n  name: r-1\n  namespace: red\nspec: \
                {version: v1.34.2, location: westeurope}\n";
    world.write("fleet/red/a.yaml", text);
    world.run();
    assert_eq!(others(&world), before);
    let lock = world.output_text("control-plane/fleet.lock").unwrap();
    let lock: Value = serde_json::from_str(&lock).unwrap();
    assert_eq!(lock["recent"][0]["did"]["removing"], serde_json::json!({"red": 1}), "{lock}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: breadth(24, 512), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_one_tenant_writes_changes_a_byte_of_anybody_else(
        history in prop::collection::vec(folder(), 1..4)
    ) {
        let mut world = fleet();
        let before = others(&world);
        for folder in history {
            world.files.retain(|path, _| !path.starts_with("fleet/red/"));
            world.files.extend(folder);
            let run = world.run();
            prop_assert!(!run.stopped, "{:#?}", run.diagnostics);
            prop_assert_eq!(&others(&world), &before);
            for hold in &run.plan.holds {
                let is_reds = |name: &String| !name.starts_with("b-") && !name.starts_with("w-");
                prop_assert!(hold.names.iter().all(is_reds), "{:?}", hold);
            }
        }
        others_go_on(&mut world);
        let run = world.run();
        let deleted = matches!(run.plan.clusters["b-1"].decision, Decision::Delete { .. });
        prop_assert!(deleted, "{:#?}", run.plan.holds);
        prop_assert!(run.plan.clusters.contains_key("b-new"));
        prop_assert_eq!(run.plan.workers["w-old"].state, WorkerState::Retiring);
        prop_assert_eq!(run.plan.workers["w-swe"].state, WorkerState::Desired);
    }
}
