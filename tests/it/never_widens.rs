//! What fails to load never widens anything: in a fleet in which everything that is new waits, each for a rule
//! of its own, everything goes on waiting whichever document breaks, and however it breaks.

use std::collections::BTreeMap;

use carp::model::{Decision, Proposal};

use crate::support::small::{self, cluster, worker};
use crate::support::world::World;

/// A ManagedCluster of the location westeurope, with these labels and this at its end.
fn one(name: &str, tenant: &str, labels: &str, more: &str) -> String {
    let head = format!("  name: {name}\n  labels: {{{labels}}}\n");
    let text = cluster(name, "westeurope").replace(&format!("  name: {name}\n"), &head);
    text.replace("namespace: shop", &format!("namespace: {tenant}")) + more
}

fn only(worker: &str) -> String {
    format!("  placement: {{affinity: {{required: [{{names: [{worker}]}}]}}}}\n")
}

fn policy(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicy\nmetadata:\n  name: {name}\nspec:\n{spec}"
    )
}

fn of(kind: &str, name: &str, spec: &str) -> String {
    format!("apiVersion: carp.dev/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}\nspec:\n{spec}")
}

/// The clusters that are placed, and all that the others wait for.
fn placed() -> World {
    let mut files = BTreeMap::new();
    let tenants = "  tenants:\n    - {name: shop}\n    - {name: pay, quota: {total: {clusters: 1}}}\n    \
                   - {name: few, pools: [closed]}\n";
    files.insert("carp.yaml".to_owned(), format!("{}{tenants}", small::FLEET));
    for (name, zone, more) in [
        ("w-weu", 1, "  capacity: {clusters: 9, memory: 16Gi}\n"),
        ("w-full", 2, "  capacity: {clusters: 1, memory: 16Gi}\n"),
        ("w-shut", 3, "  capacity: {clusters: 9, memory: 16Gi}\n"),
        ("w-kept", 4, "  capacity: {clusters: 9, memory: 16Gi}\n"),
        (
            "w-pool",
            5,
            "  capacity: {clusters: 9, memory: 16Gi}\n  pool: closed\n  unschedulable: true\n",
        ),
    ] {
        let head = format!("  name: {name}\n  labels: {{zone: \"{zone}\"}}\n");
        let text = worker(name, "westeurope", 9).replace(&format!("  name: {name}\n"), &head);
        let text = text.replace("  capacity: 9\n", more);
        files.insert(format!("fleet/workers/{name}.yaml"), text);
    }
    let shut = of("WorkerOverlay", "w-shut", "  unschedulable: true\n");
    let taint = "  taints: [{key: k, value: v, effect: NoSchedule}]\n";
    files.insert("fleet/overlays/w-shut.yaml".to_owned(), shut);
    files.insert("fleet/overlays/w-kept.yaml".to_owned(), of("WorkerOverlay", "w-kept", taint));
    let big = of("ManagedClusterClass", "big", "  demand: {memory: 40Gi}\n");
    files.insert("fleet/classes.yaml".to_owned(), big);
    let selects = |labels: &str| format!("  clusterSelector: {{matchLabels: {{{labels}}}}}\n");
    for (name, spec) in [
        (
            "spread",
            selects("app: s")
                + "  spread: [{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]\n",
        ),
        ("apart", selects("dr: x") + "  antiAffinity: [{topologyKey: carp.dev/location}]\n"),
        ("gold", selects("tier: gold") + "  affinity: {required: [{matchLabels: {tier: gold}}]}\n"),
    ] {
        files.insert(format!("policies/{name}.yaml"), policy(name, &spec));
    }
    let own = "  placement:\n    affinity: {required: [{names: [w-weu]}]}\n    antiAffinity: \
               [{topologyKey: carp.dev/worker, labelSelector: {matchLabels: {app: loud}}}]\n";
    for (name, tenant, labels, more) in [
        ("full", "shop", "app: other", only("w-full")),
        ("spread-1", "shop", "app: s", only("w-weu")),
        ("apart-1", "shop", "dr: x", only("w-weu")),
        ("paid", "pay", "", only("w-weu")),
        ("quiet", "shop", "", own.to_owned()),
    ] {
        files.insert(format!("fleet/clusters/{name}.yaml"), one(name, tenant, labels, &more));
    }
    let mut world = World::new(files);
    let first = world.run();
    assert!(first.counts.pending == 0, "{:#?}", first.diagnostics);
    world
}

/// The clusters that wait, each with what it waits for.
const WAITING: [(&str, &str, &str, &str); 9] = [
    ("by-room", "shop", "", "w-full"),
    ("by-cordon", "shop", "", "w-shut"),
    ("by-taint", "shop", "", "w-kept"),
    ("by-spread", "shop", "app: s", ""),
    ("by-pair", "shop", "dr: x", ""),
    ("by-policy", "shop", "tier: gold", ""),
    ("by-quota", "pay", "", ""),
    ("by-pool", "few", "", ""),
    ("by-other", "shop", "app: loud", "w-weu"),
];

/// The fleet in which they wait.
fn waiting() -> World {
    let mut world = placed();
    for (name, tenant, labels, worker) in WAITING {
        let more = if worker.is_empty() { String::new() } else { only(worker) };
        world.write(&format!("fleet/clusters/{name}.yaml"), &one(name, tenant, labels, &more));
    }
    let big = one("by-class", "shop", "", "  class: big\n").replace("  replicas: 2\n", "");
    world.write("fleet/clusters/by-class.yaml", &big);
    let proposal = world.run();
    let waits: Vec<_> =
        proposal.plan.clusters.iter().filter(|(name, _)| name.starts_with("by-")).collect();
    assert_eq!(waits.len(), WAITING.len() + 1, "{:#?}", proposal.diagnostics);
    assert_eq!(bound(&proposal), [] as [String; 0], "{:#?}", proposal.diagnostics);
    assert!(!proposal.diagnostics.has_errors(), "{:#?}", proposal.diagnostics);
    world
}

fn bound(proposal: &Proposal) -> Vec<String> {
    let new = |decision: &Decision| matches!(decision, Decision::Bind(_) | Decision::Move { .. });
    let clusters = proposal.plan.clusters.iter().filter(|(_, planned)| new(&planned.decision));
    clusters.map(|(name, _)| name.to_string()).collect()
}

/// What a document looks like after an accident, by what the accident is.
fn broken(text: &str) -> Vec<(&'static str, String)> {
    let kind = text.lines().find(|line| line.starts_with("kind: ")).unwrap();
    let name = text.lines().find(|line| line.starts_with("  name: ")).unwrap();
    let slip = &kind[..kind.len() - 1];
    vec![
        ("it is no YAML", text.replace("spec:", "spec: [")),
        ("a field is unknown", text.replace("spec:\n", "spec:\n  colour: red\n")),
        ("a value has another type", text.replace("spec:\n", "spec:\n  labels: 7\n")),
        ("its kind has a slip of the pen", text.replace(kind, slip)),
        ("its kind is nonsense", text.replace(kind, "kind: Nonsense")),
        ("it has no kind", text.replace(&format!("{kind}\n"), "")),
        ("its name is none", text.replace(name, "  name: Not_A_Name")),
        ("it has no name", text.replace(&format!("{name}\n"), "")),
        ("its version is none that carp knows", text.replace("carp.dev/v1alpha1", "carp.dev/v9")),
        ("it is a list", "- a\n".to_owned()),
        ("it is empty", "\n".to_owned()),
        ("it is in an encoding of its own", format!("\u{0}{text}")),
        ("it is an unresolved merge", format!("<<<<<<< mine\n{text}>>>>>>> theirs\n")),
    ]
}

#[test]
fn whichever_document_breaks_and_however_what_waits_goes_on_waiting() {
    let world = waiting();
    let mut wide = Vec::new();
    let mut seen = 0;
    for (path, text) in &world.files {
        for (how, text) in broken(text) {
            let mut world = world.clone();
            world.write(path, &text);
            let proposal = world.propose();
            seen += 1;
            let bound = bound(&proposal);
            if !bound.is_empty() {
                wide.push(format!("{path}: {how}: {}", bound.join(", ")));
            }
            let goes = |decision: &Decision| matches!(decision, Decision::Delete { .. });
            assert!(!proposal.plan.clusters.values().any(|p| goes(&p.decision)), "{path}: {how}");
        }
    }
    assert!(seen > 250, "{seen}");
    assert!(wide.is_empty(), "{wide:#?}");
}
