//! One edit that would make Cluster API replace machines all over the fleet, or scale them away: it is held,
//! wherever it is made, and goes through in the amount that the fleet allows.

use carp::model::{GateReason, Hold, HoldKind, Proposal};

use crate::support::small;
use crate::support::world::World;

const CLUSTER_TEMPLATE: &str = "kamaji-capz/cluster.yaml";

fn built_in(template: &str) -> String {
    let path = format!("{}/templates/{template}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn hold(proposal: &Proposal, kind: HoldKind) -> Option<&Hold> {
    proposal.plan.holds.iter().find(|hold| hold.kind == kind)
}

/// Whether a run changes more than what locks remember.
fn writes(proposal: &Proposal) -> bool {
    proposal.changes.iter().any(|change| !change.path.ends_with(".lock"))
}

fn class(world: &mut World, pool: &str) {
    let text = format!(
        "apiVersion: carp.dev/v1alpha1\nkind: ManagedClusterClass\nmetadata: {{name: small}}\nspec:\n  \
         nodePools: [{{name: np0, {pool}}}]\n"
    );
    world.write("fleet/classes.yaml", &text);
}

const CLUSTERS: [&str; 6] = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"];

/// Six clusters of a class, each with a pool of so many machines.
fn of_a_class(machines: u32) -> World {
    let mut world = World::new(small::files());
    class(&mut world, &format!("replicas: {machines}"));
    for name in CLUSTERS {
        world.edit(&format!("fleet/clusters/{name}.yaml"), "  replicas: 2\n", "  class: small\n");
    }
    assert!(world.run().plan.holds.is_empty());
    world
}

#[test]
fn a_class_that_replaces_every_machine_is_held() {
    let mut world = of_a_class(2);
    class(&mut world, "replicas: 2, vmSize: Standard_D8s_v5");
    let proposal = world.run();
    let held = hold(&proposal, HoldKind::MachinesReplaced).expect("12 machines are too many");
    let names = CLUSTERS.map(|name| format!("MachineDeployment {name}/{name}-np0 (2 machines)"));
    assert_eq!(held.names, names);
    assert_eq!(held.allowed, Some(10));
    assert!(proposal.gates.iter().all(|gate| gate.reason == GateReason::MachinesReplaced));
    assert_eq!(proposal.gates.len(), 6);
    assert!(!writes(&proposal), "{:?}", proposal.changes);
    // Fewer of the same are held as well: somebody must say that it is meant.
    world.remove("fleet/clusters/alpha.yaml");
    world.write("fleet/clusters/alpha.yaml", &small::cluster("alpha", "westeurope"));
    let proposal = world.run();
    assert_eq!(hold(&proposal, HoldKind::MachinesReplaced).unwrap().names, names[1..]);
    // And over when it is gone.
    class(&mut world, "replicas: 2");
    assert!(world.run().plan.holds.is_empty());
}

#[test]
fn what_the_fleet_allows_goes_through_at_once_and_counts_for_an_hour() {
    let mut world = of_a_class(1);
    class(&mut world, "replicas: 1, vmSize: Standard_D8s_v5");
    let proposal = world.run();
    assert!(proposal.plan.holds.is_empty(), "{:?}", proposal.plan.holds);
    assert!(writes(&proposal));
    class(&mut world, "replicas: 1, vmSize: Standard_D4s_v5");
    let proposal = world.run();
    let held = hold(&proposal, HoldKind::MachinesReplaced).expect("six and six are more than ten");
    assert_eq!(held.allowed, Some(4));
    let later = world.now + jiff::SignedDuration::from_hours(2);
    assert_eq!(proposal.valid_until, Some(later), "an hour after this one it goes on by itself");
    world.now = later;
    assert!(world.run().plan.holds.is_empty());
}

#[test]
fn exactly_the_machines_that_were_acknowledged_are_replaced() {
    let mut world = of_a_class(2);
    class(&mut world, "replicas: 2, vmSize: Standard_D8s_v5");
    let proposal = world.run();
    let held = hold(&proposal, HoldKind::MachinesReplaced).unwrap();
    let text = format!(
        "apiVersion: carp.dev/v1alpha1\nkind: Acknowledgement\nmetadata: {{name: meant}}\nspec:\n  \
         of: machines\n  count: {}\n  digest: sha256:{}\n",
        held.names.len(),
        held.digest()
    );
    world.write("fleet/acknowledgements/meant.yaml", &text);
    let proposal = world.run();
    assert!(proposal.plan.holds.is_empty() && proposal.gates.is_empty(), "{:?}", proposal.gates);
    let text = world.output_text("workers/w-weu/clusters/alpha/cluster.yaml").unwrap();
    assert!(text.contains("Standard_D8s_v5"));
    assert!(!world.run().has_changes());
}

#[test]
fn a_class_that_scales_its_pools_to_zero_is_held_and_a_document_is_not() {
    let mut world = of_a_class(2);
    let before = world.clone();
    class(&mut world, "replicas: 0");
    let proposal = world.run();
    let held = hold(&proposal, HoldKind::ObjectsRemoved).unwrap();
    let names = CLUSTERS.map(|name| format!("MachineDeployment {name}/{name}-np0 to 0"));
    assert_eq!(held.names, names);
    assert!(!writes(&proposal));

    let mut world = before;
    let own = "  nodePools: [{name: np0, replicas: 0}]\n  class: small\n";
    world.edit("fleet/clusters/alpha.yaml", "  class: small\n", own);
    assert!(world.run().plan.holds.is_empty());
}

#[test]
fn a_template_that_scales_control_planes_to_zero_is_held() {
    let mut world = World::small();
    let text = built_in(CLUSTER_TEMPLATE);
    let (before, after) = text.split_once("kind: KamajiControlPlane").unwrap();
    let replicas = after.lines().find(|line| line.starts_with("  replicas: ")).unwrap();
    let after = after.replacen(replicas, "  replicas: 0", 1);
    let text = format!("{before}kind: KamajiControlPlane{after}");
    world.write(&format!("templates/{CLUSTER_TEMPLATE}"), &text);
    let proposal = world.run();
    let held = hold(&proposal, HoldKind::ObjectsRemoved).unwrap();
    assert_eq!(held.names[0], "KamajiControlPlane alpha/alpha to 0");
    assert_eq!(held.names.len(), 6);
}

#[test]
fn documents_that_take_pools_away_are_counted_by_clusters() {
    let mut world = World::new(small::files());
    let two = "  nodePools: [{name: np0, replicas: 2}, {name: gpu, replicas: 1}]\n";
    for name in CLUSTERS {
        world.edit(&format!("fleet/clusters/{name}.yaml"), "  replicas: 2\n", two);
    }
    world.run();
    for name in CLUSTERS {
        world.edit(&format!("fleet/clusters/{name}.yaml"), ", {name: gpu, replicas: 1}", "");
    }
    let proposal = world.run();
    let held = hold(&proposal, HoldKind::ObjectsRemoved).expect("six are more than three");
    assert_eq!((held.names.len(), held.allowed), (6, Some(3)));
}

#[test]
fn a_number_of_the_fleet_counts_whoever_asked() {
    let mut world = World::new(small::files());
    world.edit("carp.yaml", "spec:\n", "spec:\n  guards: {maxReplacedMachines: 3}\n");
    world.run();
    for name in ["alpha", "bravo"] {
        let file = format!("fleet/clusters/{name}.yaml");
        world.edit(&file, "v1.34.2", "v1.34.3");
    }
    let proposal = world.run();
    let held =
        hold(&proposal, HoldKind::MachinesReplaced).expect("four machines, and three may be");
    assert_eq!((held.names.len(), held.allowed), (2, Some(3)));
}

/// What a template replaces is not asked for by a document that says something else.
#[test]
fn no_edit_of_a_document_lets_a_template_replace_its_machines() {
    for edit in ["metadata:\n  labels: {tier: gold}\n", "metadata:\n  annotations: {a: b}\n"] {
        let mut world = of_a_class(2);
        let pools = built_in("parts/pools.yaml");
        let text = pools.replace("      version: ", "      failureDomain: \"9\"\n      version: ");
        assert_ne!(text, pools, "machines have a version");
        world.write("templates/parts/pools.yaml", &text);
        for name in CLUSTERS {
            world.edit(&format!("fleet/clusters/{name}.yaml"), "metadata:\n", edit);
        }
        let proposal = world.run();
        let held = hold(&proposal, HoldKind::MachinesReplaced).expect("12 machines are too many");
        for cluster in CLUSTERS {
            let of = |name: &String| name.contains(&format!(" {cluster}/"));
            assert!(held.names.iter().any(of), "{edit}: {held:?}");
        }
    }
}

/// Nor where the documents say something of the very pools: without that the machines would be others, too.
#[test]
fn no_edit_of_a_pool_lets_a_template_replace_its_machines() {
    let pools = built_in("parts/pools.yaml");
    let text = pools.replace("      version: ", "      failureDomain: \"9\"\n      version: ");
    assert_ne!(text, pools, "machines have a version");
    let labels = "  nodePools: [{name: np0, replicas: 2, labels: {a: b}}]\n";
    let edited = |with_template: bool| {
        let mut world = World::small();
        if with_template {
            world.write("templates/parts/pools.yaml", &text);
        }
        for name in CLUSTERS {
            world.edit(&format!("fleet/clusters/{name}.yaml"), "  replicas: 2\n", labels);
        }
        world.run()
    };
    assert_eq!(hold(&edited(false), HoldKind::MachinesReplaced), None, "they ask for it");
    let proposal = edited(true);
    let held = hold(&proposal, HoldKind::MachinesReplaced).expect("12 machines are too many");
    let of_clusters =
        CLUSTERS.map(|name| format!("MachineDeployment {name}/{name}-np0 (2 machines)"));
    assert!(of_clusters.iter().all(|name| held.names.contains(name)), "{held:?}");
}

#[test]
fn a_classs_parameters_are_the_classs_wish_whatever_else_a_document_says() {
    let mut world = of_a_class(2);
    class(&mut world, "replicas: 2}]\n  parameters: {osDiskType: StandardSSD_LRS}\n# [{a: b");
    for name in CLUSTERS {
        let labels = "metadata:\n  labels: {tier: gold}\n";
        world.edit(&format!("fleet/clusters/{name}.yaml"), "metadata:\n", labels);
    }
    let proposal = world.run();
    let held = hold(&proposal, HoldKind::MachinesReplaced).expect("12 machines are too many");
    assert_eq!(held.names.len(), CLUSTERS.len(), "{held:?}");
}
