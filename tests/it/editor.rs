//! The random editor: any edit of templates, classes, policies and the fleet's own settings, one after the other, in
//! fleets of every flavor. Whatever it is, no machine, control plane, add-on or namespace disappears that nobody deleted, and no more machines are
//! replaced than the guards allow, unless it is held. The judge compares the two trees with other code than the
//! guards: another reader of YAML, and its own idea of what a machine is.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde::Deserialize as _;
use serde_yaml::Value;

use crate::support::world::World;
use crate::support::{breadth, small};

/// Templates that clusters, workers and layers are made from.
const TEMPLATES: [&str; 15] = [
    "kamaji-capz/cluster.yaml",
    "kamaji-capz/flavor.yaml",
    "capz/cluster.yaml",
    "capz/flavor.yaml",
    "aks/cluster.yaml",
    "aks/flavor.yaml",
    "kind/cluster.yaml",
    "kind/flavor.yaml",
    "parts/pools.yaml",
    "parts/addons.yaml",
    "parts/identity.yaml",
    "parts/autoscaler.yaml",
    "components/platform.yaml",
    "components/providers.yaml",
    "components/cert-manager.yaml",
];
/// Kinds with nothing behind them that would be lost.
const HARMLESS: [&str; 15] = [
    "ConfigMap",
    "ServiceAccount",
    "Deployment",
    "DaemonSet",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleBinding",
    "ClusterResourceSet",
    "MachineHealthCheck",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "StorageClass",
    "Kustomization",
    "Worker",
];
/// So many machines may be replaced in one run and within an hour (`MachinesReplaced` in `docs/errors.md`).
const ALLOWED: u64 = 10;
const CLUSTERS: [&str; 6] = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"];

/// What somebody does to a text.
#[derive(Clone, Debug)]
enum Change {
    /// Takes out one of its documents.
    Document(prop::sample::Index),
    /// Takes out a line.
    Line(prop::sample::Index),
    /// Writes one word for another.
    Word(&'static str, &'static str),
    /// Leaves nothing of it.
    Everything,
    /// Brings the last good one back.
    Undo,
}

/// One edit of the fleet.
#[derive(Clone, Debug)]
enum Edit {
    Template(&'static str, Change),
    Class(&'static str),
    Setting(&'static str),
    Policy(&'static str),
}

/// The flavors of a fleet's workers and of its clusters.
const FLAVORS: [(&str, &str); 4] =
    [("capz", "kamaji-capz"), ("capz", "capz"), ("aks", "aks"), ("kind", "kind")];

const WORDS: [(&str, &str); 12] = [
    ("replicas: {{ pool.replicas }}", "replicas: 0"),
    ("replicas: ", "replicas: 0 # "),
    ("-np", "-pool"),
    ("MachineDeployment", "MachinePool"),
    ("pool.", "poll."),
    ("{{ name }}", "{{ name }}-x"),
    ("onDeletion: Drop", "onDeletion: Keep"),
    ("kind: Namespace", "kind: ConfigMap"),
    ("prune: disabled", "prune: enabled"),
    ("{% if ", "{% if not "),
    ("osDisk:", "osDisk: {diskSizeGB: 64}\n# "),
    ("version:", "version: v1.34.3 # "),
];
/// Pools of the class that all clusters are of.
const POOLS: [&str; 6] = [
    "{name: np0, replicas: 2}",
    "{name: np0, replicas: 0}",
    "{name: np1, replicas: 2}",
    "{name: np0, replicas: 2, vmSize: Standard_D8s_v5}",
    "{name: np0, replicas: 2}, {name: np1, replicas: 1}",
    "",
];
const SETTINGS: [&str; 6] = [
    "",
    "  images: {registry: mirror.example.com}\n",
    "  components: {cert-manager: v1.20.0}\n",
    "  guards: {maxDeletions: 0, maxRemovedObjects: 0, maxReplacedMachines: 4}\n",
    "  guards: {maxMoves: 3}\n",
    "  roots: {fleet: elsewhere}\n",
];

/// What a policy of the platform's says; the last two are none.
const POLICIES: [&str; 12] = [
    "OverridePolicy, spec: {objects: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineDeployment}], \
     changes: [{mergePatch: {spec: {replicas: 0}}}]}",
    "OverridePolicy, spec: {objects: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineDeployment}], \
     changes: [{mergePatch: {spec: {template: {spec: {failureDomain: \"9\"}}}}}]}",
    "OverridePolicy, spec: {objects: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachinePool}], \
     changes: [{jsonPatch: [{op: replace, path: /spec/replicas, value: 0}]}]}",
    "OverridePolicy, spec: {objects: [{apiVersion: controlplane.cluster.x-k8s.io/v1alpha2, kind: KamajiControlPlane}], \
     changes: [{mergePatch: {spec: {replicas: 0}}}]}",
    "OverridePolicy, spec: {objects: [{apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlane}], \
     changes: [{mergePatch: {spec: {replicas: 1}}}]}",
    "OverridePolicy, spec: {objects: [{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, \
     kind: AzureMachineTemplate}], changes: [{mergePatch: {spec: {template: {spec: {osDisk: {diskSizeGB: 99}}}}}}]}",
    "OverridePolicy, spec: {objects: [{apiVersion: v1, kind: Namespace}], changes: [{labels: {set: {a: b}}}]}",
    "PlacementPolicy, spec: {affinity: {required: [{names: [w-none]}]}, onViolation: Move}",
    "PlacementPolicy, spec: {pools: [nobody], failover: {grace: 1m}}",
    "PlacementPolicy, spec: {antiAffinity: [{topologyKey: carp.dev/worker}], onViolation: Move}",
    "PlacementPolicy, spec: [",
    "",
];

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => any::<prop::sample::Index>().prop_map(Change::Document),
        4 => any::<prop::sample::Index>().prop_map(Change::Line),
        4 => prop::sample::select(&WORDS[..]).prop_map(|(from, to)| Change::Word(from, to)),
        1 => Just(Change::Everything),
        1 => Just(Change::Undo),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        6 => (prop::sample::select(&TEMPLATES[..]), change())
            .prop_map(|(template, change)| Edit::Template(template, change)),
        3 => prop::sample::select(&POOLS[..]).prop_map(Edit::Class),
        2 => prop::sample::select(&SETTINGS[..]).prop_map(Edit::Setting),
        3 => prop::sample::select(&POLICIES[..]).prop_map(Edit::Policy),
    ]
}

fn class(pools: &str) -> String {
    format!(
        "apiVersion: carp.dev/v1alpha1\nkind: ManagedClusterClass\nmetadata: {{name: small}}\nspec:\n  \
         nodePools: [{pools}]\n"
    )
}

fn built_in(template: &str) -> String {
    let path = format!("{}/templates/{template}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Six clusters of one class on two workers.
fn fleet((of_workers, of_clusters): (&str, &str)) -> World {
    let mut files = small::files();
    for (path, text) in &mut files {
        let flavor = if path.starts_with("fleet/workers/") { of_workers } else { of_clusters };
        *text = text
            .replace("\nspec:\n  version:", &format!("\nspec:\n  flavor: {flavor}\n  version:"));
    }
    let mut world = World::new(files);
    world.write("fleet/classes.yaml", &class(POOLS[0]));
    for name in CLUSTERS {
        world.edit(&format!("fleet/clusters/{name}.yaml"), "  replicas: 2\n", "  class: small\n");
    }
    let first = world.run();
    assert!(
        first.diagnostics.is_empty() && first.plan.holds.is_empty(),
        "{:#?}",
        first.diagnostics
    );
    world
}

fn apply(world: &mut World, edit: &Edit) {
    match edit {
        Edit::Class(pools) => {
            world.write("fleet/classes.yaml", &class(pools));
        }
        Edit::Policy(policy) => {
            let text = format!(
                "{{apiVersion: carp.dev/v1alpha1, metadata: {{name: p}}, kind: {policy}}}\n"
            );
            let text = if policy.is_empty() { String::new() } else { text };
            world.write("policies/p.yaml", &text);
        }
        Edit::Setting(setting) => {
            world.write("carp.yaml", &format!("{}{setting}", small::FLEET));
        }
        Edit::Template(template, change) => {
            let path = format!("templates/{template}");
            let text = world.files.get(&path).cloned().unwrap_or_else(|| built_in(template));
            let lines: Vec<&str> = text.lines().collect();
            let without = |at: &prop::sample::Index, parts: &[&str], between: &str| {
                let at = at.index(parts.len().max(1));
                let kept =
                    parts.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, part)| *part);
                kept.collect::<Vec<_>>().join(between)
            };
            let text = match change {
                Change::Document(at) => {
                    without(at, &text.split("---\n").collect::<Vec<_>>(), "---\n")
                }
                Change::Line(at) => without(at, &lines, "\n") + "\n",
                Change::Word(from, to) => text.replace(from, to),
                Change::Everything => String::new(),
                Change::Undo => built_in(template),
            };
            world.write(&path, &text);
        }
    }
}

/// What stands behind the objects of an output: by who syncs it and what it is, its machines and what they are
/// made of.
fn behind(world: &World) -> BTreeMap<String, (u64, [Value; 3])> {
    let mut found = BTreeMap::new();
    for (path, bytes) in world.output_files() {
        let synced_by: Vec<_> = path.split('/').take(2).collect();
        if synced_by[0] == "decisions" || !path.ends_with(".yaml") {
            continue;
        }
        for document in serde_yaml::Deserializer::from_slice(&bytes) {
            let object = Value::deserialize(document).unwrap();
            let text =
                |at: &[&str]| at.iter().fold(&object, |v, key| &v[*key]).as_str().unwrap_or("-");
            let kind = text(&["kind"]);
            let ours = text(&["apiVersion"]).starts_with("carp.dev/");
            let fluxes =
                text(&["apiVersion"]).contains(".toolkit.fluxcd.io") && kind != "HelmRelease";
            if ours || fluxes || HARMLESS.contains(&kind) || kind.ends_with("Template") {
                continue;
            }
            let spec = &object["spec"];
            let machines =
                spec["replicas"].as_u64().unwrap_or(u64::from(kind == "MachineDeployment"));
            let of = &spec["template"]["spec"];
            let mut make = ["version", "bootstrap", "infrastructureRef"].map(|key| of[key].clone());
            if kind == "KubeadmControlPlane" {
                let machine = &spec["machineTemplate"]["spec"]["infrastructureRef"];
                make = [spec["version"].clone(), machine.clone(), Value::Null];
            }
            let place = if synced_by[0] == "workers" { synced_by[1] } else { "hub" };
            let name = [kind, text(&["metadata", "namespace"]), text(&["metadata", "name"])];
            found.insert(format!("{place}: {}", name.join(" ")), (machines, make));
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: breadth(48, 512), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_edit_takes_away_what_nobody_deleted(
        flavors in prop::sample::select(&FLAVORS[..]),
        edits in prop::collection::vec(edit(), 1..6),
    ) {
        let mut world = fleet(flavors);
        let mut replaced: BTreeSet<String> = BTreeSet::new();
        let mut machines = 0;
        for edit in &edits {
            let before = behind(&world);
            apply(&mut world, edit);
            world.run();
            let after = behind(&world);
            for (name, (count, make)) in &before {
                let Some((now, made)) = after.get(name) else {
                    return Err(TestCaseError::fail(format!("{name} is gone after {edit:?}")));
                };
                prop_assert!(*count == 0 || *now > 0, "{} has no machine after {:?}", name, edit);
                // An override writes the same fields in another order.
                if made != make && replaced.insert(format!("{name} {made:?}")) {
                    machines += count;
                }
            }
            prop_assert!(machines <= ALLOWED, "{} machines replaced by {:?}: {:?}", machines, edits, replaced);
        }
    }
}
