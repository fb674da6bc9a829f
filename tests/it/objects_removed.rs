//! One edit that would make Flux prune machines, networks or add-ons: it is held, wherever it is made, and
//! goes through only where somebody acknowledged exactly that.

use carp::diag::Code;
use carp::model::{Decision, GateReason, Hold, HoldKind, Proposal};

use crate::support::small;
use crate::support::world::World;

const CLUSTER_TEMPLATE: &str = "kamaji-capz/cluster.yaml";
const WORKER_TEMPLATE: &str = "capz/cluster.yaml";
const POOLS: &str = "{% include \"parts/pools.yaml\" %}\n";
const ADD_ONS: &str = "{% include \"parts/addons.yaml\" %}\n";

/// The text of a built-in template.
fn built_in(template: &str) -> String {
    let path = format!("{}/templates/{template}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Gives the fleet its own copy of a template, without a part of it.
fn without(world: &mut World, template: &str, part: &str) {
    let text = built_in(template);
    assert!(text.contains(part), "{template} has no {part:?}");
    world.write(&format!("templates/{template}"), &text.replace(part, ""));
}

fn held(proposal: &Proposal) -> Option<&Hold> {
    proposal.plan.holds.iter().find(|hold| hold.kind == HoldKind::ObjectsRemoved)
}

#[track_caller]
fn holds(proposal: &Proposal, wanted: &[&str]) {
    let hold = held(proposal).expect("it is held");
    assert_eq!(hold.names, wanted);
    changes_nothing(proposal);
}

/// Locks apart, which take note of other templates and of what is held.
#[track_caller]
fn changes_nothing(proposal: &Proposal) {
    let files = proposal.changes.iter().filter(|change| !change.path.ends_with(".lock"));
    assert_eq!(files.count(), 0, "{:?}", proposal.changes);
}

/// Whether a run changes more than what locks remember.
fn writes(proposal: &Proposal) -> bool {
    proposal.changes.iter().any(|change| !change.path.ends_with(".lock"))
}

fn acknowledge(world: &mut World, hold: &Hold, name: &str) {
    let text = format!(
        "apiVersion: carp.dev/v1alpha1\nkind: Acknowledgement\nmetadata: {{name: {name}}}\nspec:\n  \
         of: objects\n  count: {}\n  digest: sha256:{}\n",
        hold.names.len(),
        hold.digest()
    );
    world.write(&format!("fleet/acknowledgements/{name}.yaml"), &text);
}

#[test]
fn a_template_without_its_pools_deletes_no_machine() {
    let mut world = World::small();
    without(&mut world, CLUSTER_TEMPLATE, POOLS);
    let proposal = world.run();
    let all = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"];
    let objects = all.map(|name| format!("MachineDeployment {name}/{name}-np0"));
    holds(&proposal, &objects.each_ref().map(String::as_str));
    let gates = proposal.gates.iter().map(|gate| (gate.name.as_str(), gate.reason));
    assert!(gates.eq(all.map(|name| (name, GateReason::ObjectsRemoved))));
    assert!(
        proposal.message.contains(
            "; their folders keep what they have: MachineDeployment *-np0 in alpha, bravo, charlie and 3 more\n"
        ),
        "{}",
        proposal.message
    );
    // It is held as long as it is there, and over when it is gone.
    holds(&world.run(), &objects.each_ref().map(String::as_str));
    world.remove(&format!("templates/{CLUSTER_TEMPLATE}"));
    let mended = world.run();
    assert!(held(&mended).is_none() && mended.gates.is_empty() && !writes(&mended));
}

#[test]
fn add_ons_networks_and_control_planes_are_held_alike() {
    let mut world = World::small();
    without(&mut world, CLUSTER_TEMPLATE, ADD_ONS);
    let proposal = world.run();
    let hold = held(&proposal).unwrap();
    assert_eq!(hold.names.len(), 18, "three for each of six clusters: {:?}", hold.names);
    assert!(hold.names.contains(&"HelmChartProxy alpha/calico".to_owned()));

    let mut world = World::small();
    let text = built_in(CLUSTER_TEMPLATE)
        .replace("name: {{ name ~ \"-vnet\" }}", "name: {{ name ~ \"-net\" }}");
    world.write(&format!("templates/{CLUSTER_TEMPLATE}"), &text);
    let proposal = world.run();
    assert!(proposal.gates.iter().all(|gate| gate.reason == GateReason::ForbiddenChange));
    assert!(
        held(&proposal).is_none(),
        "what may not change at all is no matter of acknowledgements"
    );
}

#[test]
fn a_workers_own_pools_are_held() {
    let mut world = World::small();
    without(&mut world, WORKER_TEMPLATE, POOLS);
    let proposal = world.run();
    let hold = held(&proposal).unwrap();
    assert!(
        hold.names.contains(&"MachineDeployment w-eus/w-eus-np0".to_owned()),
        "{:?}",
        hold.names
    );
    assert!(hold.names.iter().any(|name| name.starts_with("MachineDeployment w-weu/")));
    assert!(!writes(&proposal), "{:?}", proposal.changes);
}

#[test]
fn releases_and_stores_of_the_layers_are_held_on_workers_and_on_the_control_plane() {
    let mut world = World::small();
    let config =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nothing, namespace: flux-system}\n";
    world.write("templates/components/cert-manager.yaml", config);
    let proposal = world.run();
    let of = |owner: &str| {
        ["HelmRelease cert-manager/cert-manager", "Namespace cert-manager"]
            .map(|o| format!("{owner}: {o}"))
    };
    let wanted: Vec<_> =
        ["control-plane", "w-eus", "w-weu"].iter().flat_map(|owner| of(owner)).collect();
    holds(&proposal, &wanted.iter().map(String::as_str).collect::<Vec<_>>());

    let mut world = World::small();
    let text = built_in("components/platform.yaml");
    let (before, _) = text.split_once("{% if kamaji %}").unwrap();
    world.write("templates/components/platform.yaml", before);
    let proposal = world.run();
    holds(&proposal, &["w-eus: DataStore default", "w-weu: DataStore default"]);
}

#[test]
fn a_class_without_a_pool_is_held_and_a_document_without_one_is_not() {
    let class = |pools: &str| {
        format!(
            "apiVersion: carp.dev/v1alpha1\nkind: ManagedClusterClass\nmetadata: {{name: small}}\nspec:\n  \
             nodePools: [{pools}]\n"
        )
    };
    let two = "{name: np0, replicas: 2}, {name: gpu, replicas: 1}";
    let mut world = World::new(small::files());
    world.write("fleet/classes.yaml", &class(two));
    world.edit("fleet/clusters/alpha.yaml", "  replicas: 2\n", "  class: small\n");
    let own = format!("  nodePools: [{two}]\n");
    world.edit("fleet/clusters/bravo.yaml", "  replicas: 2\n", &own);
    world.run();
    let before = world.clone();

    world.write("fleet/classes.yaml", &class("{name: np0, replicas: 2}"));
    holds(&world.run(), &["MachineDeployment alpha/alpha-gpu"]);
    // Another change of the document makes the class's pools none of its own.
    world.edit("fleet/clusters/alpha.yaml", "spec:\n", "spec:\n  priority: 3\n");
    let proposal = world.run();
    assert_eq!(held(&proposal).unwrap().names, ["MachineDeployment alpha/alpha-gpu"]);

    let mut world = before;
    world.edit("fleet/clusters/bravo.yaml", ", {name: gpu, replicas: 1}", "");
    let proposal = world.run();
    assert!(held(&proposal).is_none() && proposal.gates.is_empty(), "{:?}", proposal.plan.holds);
    let text = world.output_text("workers/w-weu/clusters/bravo/cluster.yaml").unwrap();
    assert!(!text.contains("bravo-gpu") && text.contains("bravo-np0"));
}

#[test]
fn a_workers_document_without_a_pool_is_meant() {
    let mut world = World::new(small::files());
    let pools = "  nodePools: [{name: np0, replicas: 3}, {name: np1, replicas: 1}]\n";
    world.edit("fleet/workers/w-weu.yaml", "  replicas: 3\n", pools);
    world.run();
    world.edit("fleet/workers/w-weu.yaml", ", {name: np1, replicas: 1}", "");
    let proposal = world.run();
    assert!(held(&proposal).is_none(), "{:?}", proposal.plan.holds);
    let text = world.output_text("control-plane/w-weu/cluster.yaml").unwrap();
    assert!(!text.contains("w-weu-np1"));
}

#[test]
fn a_decided_deletion_a_new_machine_and_a_rotation_are_not_held() {
    let mut world = World::small();
    world.remove("fleet/clusters/alpha.yaml");
    world.edit(
        "fleet/clusters/bravo.yaml",
        "  replicas: 2\n",
        "  nodePools: [{name: np0, replicas: 2, vmSize: Standard_D8s_v5}]\n",
    );
    let proposal = world.run();
    assert!(held(&proposal).is_none(), "{:?}", proposal.plan.holds);
    assert!(matches!(proposal.plan.clusters["alpha"].decision, Decision::Delete { .. }));
    let text = world.output_text("workers/w-weu/clusters/bravo/cluster.yaml").unwrap();
    assert!(text.contains("Standard_D8s_v5"));
}

#[test]
fn exactly_what_was_acknowledged_goes_once() {
    let mut world = World::small();
    without(&mut world, CLUSTER_TEMPLATE, ADD_ONS);
    let hold = held(&world.run()).unwrap().clone();
    // Somebody else's edit meanwhile: the set is another one.
    let mut other = world.clone();
    acknowledge(&mut other, &hold, "meant");
    other.write(
        &format!("templates/{CLUSTER_TEMPLATE}"),
        &built_in(CLUSTER_TEMPLATE).replace(ADD_ONS, "").replace(POOLS, ""),
    );
    let proposal = other.run();
    assert_eq!(held(&proposal).unwrap().names.len(), 24);
    let told = proposal.diagnostics.iter().any(|d| d.code == Code::AcknowledgementMismatch);
    assert!(told, "{:?}", proposal.diagnostics);

    acknowledge(&mut world, &hold, "meant");
    let proposal = world.run();
    assert!(
        proposal.plan.holds.is_empty() && proposal.gates.is_empty(),
        "{:?}",
        proposal.plan.holds
    );
    let text = world.output_text("workers/w-weu/clusters/alpha/cluster.yaml").unwrap();
    assert!(!text.contains("HelmChartProxy"));
    assert!(!world.run().has_changes(), "and that is all");

    // They come back, and go again: the acknowledgement is spent.
    world.remove(&format!("templates/{CLUSTER_TEMPLATE}"));
    assert!(world.run().plan.holds.is_empty());
    without(&mut world, CLUSTER_TEMPLATE, ADD_ONS);
    holds(&world.run(), &hold.names.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn what_is_held_keeps_what_it_takes() {
    let mut world = World::small();
    let mut class = "apiVersion: carp.dev/v1alpha1\nkind: ManagedClusterClass\nmetadata: {name: small}\nspec:\n  \
                     demand: {memory: 4Gi}\n  nodePools: [{name: np0, replicas: 2}, {name: gpu, replicas: 1}]\n".to_owned();
    world.write("fleet/classes.yaml", &class);
    for worker in ["w-weu", "w-eus"] {
        let file = format!("fleet/workers/{worker}.yaml");
        world.edit(&file, "capacity: 4", "capacity: {clusters: 4, memory: 16Gi}");
    }
    world.edit("fleet/clusters/alpha.yaml", "  replicas: 2\n", "  class: small\n");
    world.run();
    class = class.replace("memory: 4Gi", "memory: 6Gi").replace(", {name: gpu, replicas: 1}", "");
    world.write("fleet/classes.yaml", &class);
    let proposal = world.run();
    let hold = held(&proposal).unwrap().clone();
    let takes = |proposal: &Proposal| proposal.plan.clusters["alpha"].demand["memory"].to_string();
    assert_eq!(takes(&proposal), "4Gi");
    acknowledge(&mut world, &hold, "meant");
    let proposal = world.run();
    assert!(held(&proposal).is_none());
    assert_eq!(takes(&proposal), "6Gi");
    assert!(!world.run().has_changes());
}

/// A change of a document asks for what it says, and for nothing that a template does beside it.
#[test]
fn no_edit_of_a_document_lets_a_template_through() {
    let pools = built_in("parts/pools.yaml");
    let line =
        pools.lines().find(|line| line.starts_with("  replicas: ")).expect("pools have replicas");
    let empty = pools.replace(line, "  replicas: 0");
    let three = ["alpha", "bravo", "charlie"];
    let edits: [(&str, &str); 4] = [
        ("metadata:\n", "metadata:\n  labels: {tier: gold}\n"),
        ("spec:\n", "spec:\n  priority: 7\n"),
        ("  replicas: 2\n", "  replicas: 3\n"),
        // The same is not the document's wish where it would come without it.
        ("  replicas: 2\n", "  replicas: 0\n"),
    ];
    for (from, to) in edits {
        for at_once in [false, true] {
            let mut world = World::small();
            world.write("templates/parts/pools.yaml", &empty);
            if !at_once {
                assert!(held(&world.run()).is_some());
            }
            for name in three {
                world.edit(&format!("fleet/clusters/{name}.yaml"), from, to);
            }
            let proposal = world.run();
            let names = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"]
                .map(|name| format!("MachineDeployment {name}/{name}-np0 to 0"));
            let held = held(&proposal).expect("it is held");
            assert!(names.iter().all(|name| held.names.contains(name)), "{to} {at_once}: {held:?}");
            for name in three {
                let worker = world.worker_of(name).unwrap();
                let file = format!("workers/{worker}/clusters/{name}/cluster.yaml");
                let text = world.output_text(&file).unwrap();
                assert!(!text.contains("\n  replicas: 0\n"), "{name}: {to}");
            }
        }
    }
}
