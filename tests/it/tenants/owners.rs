//! Whose a name is: who has it keeps it.

use carp::diag::Code;
use carp::model::{Decision, HoldKind};

use super::{cluster, errors, fleet};
use crate::support::small;
use crate::support::world::World;

#[test]
fn a_broken_file_of_a_tenant_holds_the_deletions_of_its_own_clusters() {
    let mut world = fleet();
    world.remove("fleet/red/r-1.yaml").write("fleet/red/x.yaml", "kind: [\n");
    world.remove("fleet/blue/b-1.yaml");
    let held = world.run();
    let holds: Vec<_> = held.plan.holds.iter().map(|h| (h.kind, h.names.join(" "))).collect();
    assert_eq!(holds, [(HoldKind::DeletionsHeld, "r-1".to_owned())]);
    assert!(matches!(held.plan.clusters["r-1"].decision, Decision::Keep { .. }));
    assert!(matches!(held.plan.clusters["b-1"].decision, Decision::Delete { .. }));
}

#[test]
fn a_tenants_cluster_whose_document_breaks_stays() {
    let mut world = fleet();
    let before = world.output_files();
    world.edit("fleet/red/r-1.yaml", "spec:", "spec: [");
    let kept = world.run();
    assert!(!kept.has_changes() && kept.plan.holds.is_empty(), "{:#?}", kept.plan.holds);
    assert_eq!(world.output_files(), before);
}

#[test]
fn a_removed_cluster_that_is_held_is_not_taken_over() {
    let mut world = fleet();
    world.edit("fleet/blue/b-2.yaml", "  deletionPolicy: Delete\n", "");
    world.run();
    world.remove("fleet/blue/b-2.yaml");
    assert_eq!(world.run().plan.holds[0].kind, HoldKind::DeletionPolicyUnset);
    let before = world.output_files();
    world.write("fleet/red/b-2.yaml", &cluster("b-2", "red", "eastus"));
    let taken = world.run();
    assert_eq!(errors(&taken), [Code::NameTaken]);
    assert_eq!(world.output_files(), before);
    world.write("fleet/blue/b-2.yaml", &cluster("b-2", "blue", "eastus"));
    let back = world.run();
    assert!(matches!(back.plan.clusters["b-2"].decision, Decision::Keep { .. }));
    assert_eq!(errors(&back), [Code::NameTaken], "and red's is still none");
}

/// The small fleet has no list of tenants: everybody may be in any folder.
#[test]
fn the_tenant_of_a_placed_cluster_does_not_change() {
    let mut world = World::small();
    let before = world.output_files();
    world.edit("fleet/clusters/alpha.yaml", "namespace: shop", "namespace: other");
    let kept = world.run();
    assert_eq!(errors(&kept), [Code::NameTaken]);
    assert_eq!(world.output_files(), before);
    world.edit("fleet/clusters/alpha.yaml", "namespace: other", "namespace: shop");
    assert!(!world.run().diagnostics.has_errors());
}

#[test]
fn the_owner_of_a_name_keeps_it_against_a_second_document() {
    let mut world = World::small();
    let second = small::cluster("alpha", "eastus").replace("shop", "other");
    world.write("fleet/clusters/second.yaml", &second);
    world.edit("fleet/clusters/alpha.yaml", "replicas: 2", "replicas: 3");
    let run = world.run();
    assert_eq!(errors(&run), [Code::NameTaken]);
    let text = world.output_text("workers/w-weu/clusters/alpha/cluster.yaml").unwrap();
    assert!(text.contains("replicas: 3"), "the owner's own document still counts");
}

#[test]
fn a_name_is_free_once_its_owner_is_gone() {
    let mut world = fleet();
    world.remove("fleet/blue/b-wait.yaml");
    let waiting = cluster("b-wait", "red", "westeurope");
    world.write("fleet/red/b-wait.yaml", &waiting);
    let run = world.run();
    assert!(!run.diagnostics.has_errors(), "{:#?}", run.diagnostics);
    assert!(!world.run().has_changes());
}

#[test]
fn a_cluster_is_not_called_as_a_worker_that_is_going() {
    let mut world = World::small();
    world.remove("fleet/workers/w-eus.yaml");
    world.write("fleet/clusters/w-eus.yaml", &small::cluster("w-eus", "westeurope"));
    let run = world.run();
    assert_eq!(errors(&run), [Code::NameTaken]);
    assert!(!run.plan.clusters.contains_key("w-eus"), "{:#?}", run.plan.clusters);
}
