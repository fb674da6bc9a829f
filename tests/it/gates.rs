//! What holds back a run, a cluster, a worker or a file, told as stories over a small fleet.

use std::collections::BTreeMap;

use carp::change::{TreeEdit, entry_at};
use carp::diag::Code;
use carp::model::{
    ClusterState, Decision, FLEET_LOCK_SCHEMA, FleetLock, Gate, GateReason, Id, Memo, Name,
    Proposal, Store as _, WORKER_LOCK_SCHEMA, WorkerLock, lock_from_bytes, lock_to_bytes,
};
use carp::pipeline::propose;
use carp::store::{HashingStore, Overlay};

use crate::support::small::{self, cluster, worker};
use crate::support::world::{World, files_below, record};

const CLUSTER_TEMPLATE: &str = "templates/kamaji-capz/cluster.yaml";
const WORKER_TEMPLATE: &str = "templates/capz/cluster.yaml";
const PLATFORM_TEMPLATE: &str = "templates/components/platform.yaml";
const NO_SUCH_NAME: &str = "a: {{ there_is_no_such_name }}\n";

fn gate<'a>(proposal: &'a Proposal, name: &str) -> Option<&'a Gate> {
    proposal.gates.iter().find(|g| g.name.as_str() == name)
}

fn reason(proposal: &Proposal, name: &str) -> Option<GateReason> {
    gate(proposal, name).map(|g| g.reason)
}

fn decision<'a>(proposal: &'a Proposal, cluster: &str) -> &'a Decision {
    &proposal.plan.clusters[cluster].decision
}

fn finds(proposal: &Proposal, code: Code) -> bool {
    proposal.diagnostics.iter().any(|d| d.code == code)
}

fn report(worker: &str) -> String {
    format!(
        "schemaVersion: 1
worker: {worker}
workerUID: 11111111-1111-4111-8111-111111111111
time: \"2026-11-01T08:59:00Z\"
complete: true
healthy: true
"
    )
}

fn report_as(world: &mut World, worker: &str, text: &str) {
    world.reports = Some([(Name::parse(worker).unwrap(), text.as_bytes().to_vec())].into());
}

#[test]
fn a_folded_report_that_cannot_be_read_stops_the_run() {
    let mut world = World::small();
    let mut edit = TreeEdit::default();
    edit.file("observed/w-weu.yaml", world.store.put_blob(b"worker: [").unwrap());
    world.status = Some(edit.apply(&world.store, world.status).unwrap());
    let proposal = world.run();
    assert!(proposal.stopped && !proposal.has_changes());
    assert!(finds(&proposal, Code::RecordUnreadable));
}

#[test]
fn a_report_that_is_not_used_is_a_finding_and_the_run_goes_on() {
    let mut world = World::small();
    report_as(&mut world, "w-none", &report("w-none"));
    let proposal = world.propose();
    assert!(finds(&proposal, Code::ReportRefused), "nobody wants this worker");
    assert!(!proposal.stopped);
    report_as(&mut world, "w-weu", "worker: [");
    assert!(finds(&world.propose(), Code::ReportRefused), "it is not YAML");
}

#[test]
fn a_broken_template_that_nobody_uses_is_a_finding_all_the_same() {
    let mut world = World::small();
    world.write("templates/spare/cluster.yaml", "{% if %}\n");
    let proposal = world.run();
    assert!(finds(&proposal, Code::TemplateFailed) && proposal.gates.is_empty());
}

#[test]
fn a_file_that_is_there_already_with_the_same_content_is_no_collision() {
    let mut world = World::small();
    let before = world.output;
    world.write("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    world.run();
    let text = world.output_text("workers/w-eus/clusters/golf/cluster.yaml").unwrap();
    let file = record("golf");
    let written = world.output_text(&file).unwrap();
    assert!(!text.is_empty());

    world.output = before;
    world.put_by_hand(&file, written.as_bytes());
    let proposal = world.run();
    assert!(!proposal.stopped && proposal.has_changes(), "{:#?}", proposal.diagnostics);
}

/// alpha and bravo of a class, whose demand and pools can be edited.
fn of_a_class() -> World {
    let mut world = World::new(small::files());
    world.write(
        "fleet/classes.yaml",
        "apiVersion: carp.dev/v1alpha1
kind: ManagedClusterClass
metadata:
  name: small
spec:
  demand: {memory: 4Gi}
  nodePools: [{name: np0, replicas: 2}]
",
    );
    for name in ["w-weu", "w-eus"] {
        let file = format!("fleet/workers/{name}.yaml");
        world.edit(&file, "capacity: 4", "capacity: {clusters: 4, memory: 16Gi}");
    }
    for name in ["alpha", "bravo"] {
        let file = format!("fleet/clusters/{name}.yaml");
        world.edit(&file, "  replicas: 2\n", "  class: small\n");
    }
    let first = world.run();
    assert!(!first.diagnostics.has_errors(), "{:#?}", first.diagnostics);
    world
}

#[test]
fn a_resize_that_does_not_fit_keeps_the_last_output() {
    let mut world = of_a_class();
    world.edit("fleet/classes.yaml", "memory: 4Gi", "memory: 40Gi");
    world.edit("fleet/classes.yaml", "replicas: 2", "replicas: 5");
    let proposal = world.run();
    assert_eq!(reason(&proposal, "alpha"), Some(GateReason::ResizeBlocked));
    assert!(!proposal.has_changes(), "{:?}", proposal.changes);
}

#[test]
fn a_resize_that_fits_is_recorded_and_keeps_why_the_cluster_is_there() {
    let mut world = of_a_class();
    let before = world.output_text(&record("alpha")).unwrap();
    let why: Vec<_> = before.lines().filter(|l| l.starts_with("decidedBy: ")).collect();
    assert_eq!(why.len(), 1, "{before}");
    world.edit("fleet/classes.yaml", "memory: 4Gi", "memory: 5Gi");
    world.run();
    let after = world.output_text(&record("alpha")).unwrap();
    assert!(after.contains("memory: 5Gi") && after.contains(why[0]), "{after}");
}

#[test]
fn a_version_that_goes_back_is_refused_at_its_document() {
    let mut world = World::small();
    world.edit("fleet/clusters/alpha.yaml", "version: v1.34.2", "version: v1.34.1");
    let proposal = world.run();
    assert_eq!(reason(&proposal, "alpha"), Some(GateReason::ForbiddenChange));
    assert!(!proposal.has_changes());
    let finding = proposal.diagnostics.iter().find(|d| d.code == Code::VersionSkew).unwrap();
    assert_eq!(finding.place.as_ref().unwrap().file, "fleet/clusters/alpha.yaml");
}

#[test]
fn a_template_that_fails_keeps_every_last_good_folder_and_lists_no_new_one() {
    let mut world = World::small();
    world.write(CLUSTER_TEMPLATE, NO_SUCH_NAME);
    world.write("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let index = world.output_text("workers/w-eus/clusters.yaml");
    let alpha = world.output_text("workers/w-weu/clusters/alpha/cluster.yaml");
    let proposal = world.run();
    for name in ["alpha", "golf"] {
        assert_eq!(reason(&proposal, name), Some(GateReason::RenderFailed), "{name}");
    }
    assert!(finds(&proposal, Code::TemplateFailed));
    assert_eq!(world.output_text("workers/w-weu/clusters/alpha/cluster.yaml"), alpha);
    let lock = world.output_text("workers/w-weu/carp.lock").unwrap();
    let lock: WorkerLock = lock_from_bytes(lock.as_bytes(), WORKER_LOCK_SCHEMA).unwrap();
    assert!(lock.clusters["alpha"].folder.is_some(), "the lock still knows the folder");
    assert_eq!(world.output_text("workers/w-eus/clusters.yaml"), index, "golf has no folder");

    world.remove("fleet/clusters/golf.yaml");
    let proposal = world.run();
    assert_eq!(*decision(&proposal, "golf"), Decision::Forget, "there is nothing to take down");
    assert_eq!(world.output_text(&record("golf")), None);
}

#[test]
fn output_that_breaks_a_rule_is_another_gate_than_a_template_that_fails() {
    let mut world = World::small();
    let foreign =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  namespace: kube-system\n";
    world.write(CLUSTER_TEMPLATE, foreign);
    let proposal = world.run();
    assert_eq!(reason(&proposal, "alpha"), Some(GateReason::CheckFailed));
    assert!(finds(&proposal, Code::RenderedRefused) && !proposal.has_changes());
}

#[test]
fn a_deletion_that_has_begun_is_not_begun_again() {
    let mut world = World::small();
    world.remove("fleet/clusters/alpha.yaml");
    world.run();
    world.write("templates/kamaji-capz/flavor.yaml", "kind: [\n");
    let proposal = world.run();
    assert!(matches!(decision(&proposal, "alpha"), Decision::Delete { .. }));
    assert_eq!(reason(&proposal, "alpha"), None, "its folder is not made anew");
}

#[test]
fn a_paused_cluster_is_never_taken_down() {
    let mut world = World::small();
    world.edit("fleet/clusters/alpha.yaml", "spec:\n", "spec:\n  paused: true\n");
    world.run();
    world.remove("fleet/clusters/alpha.yaml");
    let proposal = world.run();
    assert!(!proposal.has_changes());
    assert_eq!(reason(&proposal, "alpha"), Some(GateReason::RenderFailed));
    assert!(matches!(decision(&proposal, "alpha"), Decision::Keep { .. }), "it is not deleting");
}

#[test]
fn a_worker_that_moves_is_refused_and_its_last_output_stays() {
    let mut world = World::small();
    let path = "control-plane/w-weu/cluster.yaml";
    let before = world.output_text(path);
    world.edit("fleet/workers/w-weu.yaml", "location: westeurope", "location: northeurope");
    let proposal = world.run();
    assert_eq!(reason(&proposal, "w-weu"), Some(GateReason::ForbiddenChange));
    assert!(finds(&proposal, Code::ImmutableField));
    assert_eq!(world.output_text(path), before);
}

#[test]
fn a_worker_whose_template_fails_keeps_its_last_output() {
    let mut world = World::small();
    world.write(WORKER_TEMPLATE, NO_SUCH_NAME);
    let proposal = world.run();
    assert_eq!(reason(&proposal, "w-weu"), Some(GateReason::RenderFailed));
    assert!(!proposal.has_changes(), "{:?}", proposal.changes);
}

#[test]
fn components_that_do_not_render_keep_their_last_output_everywhere() {
    let mut world = World::small();
    world.write(PLATFORM_TEMPLATE, NO_SUCH_NAME);
    let proposal = world.run();
    assert_eq!(reason(&proposal, "w-weu"), Some(GateReason::RenderFailed));
    assert!(!proposal.has_changes(), "{:?}", proposal.changes);
    assert!(finds(&proposal, Code::TemplateFailed), "{:#?}", proposal.diagnostics);
}

#[test]
fn a_flavor_that_cannot_be_read_takes_no_right_away_from_what_applies_its_folders() {
    for flavor in ["kamaji-capz", "capz"] {
        let mut world = World::small();
        world.write(&format!("templates/{flavor}/flavor.yaml"), "kind: [\n");
        let proposal = world.run();
        assert!(finds(&proposal, Code::TemplateFailed), "{flavor}");
        assert!(!proposal.has_changes(), "{flavor}: {:?}", proposal.changes);
    }
}

/// A fleet whose third worker is empty.
fn with_an_empty_worker() -> World {
    let mut world = World::new(small::files());
    world.write("fleet/workers/w-old.yaml", &worker("w-old", "japaneast", 0));
    world.run();
    world
}

#[test]
fn the_removal_of_a_worker_that_has_begun_is_not_begun_again() {
    let mut world = with_an_empty_worker();
    world.remove("fleet/workers/w-old.yaml");
    world.run();
    let before = world.output_text("control-plane/w-old/cluster.yaml");
    world.write("templates/capz/flavor.yaml", "kind: [\n");
    let proposal = world.run();
    assert_eq!(reason(&proposal, "w-old"), None);
    assert_eq!(world.output_text("control-plane/w-old/cluster.yaml"), before);
}

#[test]
fn a_worker_that_comes_back_while_it_is_taken_down_stays_as_it_is() {
    let mut world = with_an_empty_worker();
    world.remove("fleet/workers/w-old.yaml");
    world.run();
    let own = |world: &World| {
        let mut files = world.output_files();
        files.retain(|path, _| path.starts_with("workers/w-old/"));
        files
    };
    let before = own(&world);
    let newer = "  components: {capi-operator: 0.27.0}\n";
    let text = format!("{}{newer}", worker("w-old", "japaneast", 0));
    world.write("fleet/workers/w-old.yaml", &text);
    let proposal = world.run();
    assert!(!proposal.diagnostics.has_errors(), "{:#?}", proposal.diagnostics);
    assert!(proposal.plan.holds.iter().any(|hold| hold.names == ["w-old"]));
    assert_eq!(own(&world), before);
}

#[test]
fn a_worker_that_cannot_be_taken_down_stays_as_it_is() {
    let mut world = with_an_empty_worker();
    world.remove("fleet/workers/w-old.yaml");
    world.write("templates/capz/flavor.yaml", "kind: [\n");
    let proposal = world.run();
    assert_eq!(reason(&proposal, "w-old"), Some(GateReason::RenderFailed));
    assert!(!proposal.has_changes(), "{:?}", proposal.changes);
    let lock = world.output_text("control-plane/fleet.lock").unwrap();
    let lock: FleetLock = lock_from_bytes(lock.as_bytes(), FLEET_LOCK_SCHEMA).unwrap();
    assert_eq!(lock.workers["w-old"].state, ClusterState::Bound);
}

#[test]
fn a_file_that_an_earlier_carp_made_and_this_one_does_not_is_removed() {
    let mut world = World::small();
    let old = world.store.put_blob(b"# of an earlier carp\n").unwrap();
    let unlike = carp::model::Digest::of(b"an earlier carp");

    let text = world.output_text("control-plane/fleet.lock").unwrap();
    let mut lock: FleetLock = lock_from_bytes(text.as_bytes(), FLEET_LOCK_SCHEMA).unwrap();
    lock.files.insert("old.yaml".to_owned(), old);
    lock.render_key = unlike;
    world.put_by_hand("control-plane/fleet.lock", lock_to_bytes(&lock));

    let text = world.output_text("workers/w-weu/carp.lock").unwrap();
    let mut lock: WorkerLock = lock_from_bytes(text.as_bytes(), WORKER_LOCK_SCHEMA).unwrap();
    lock.files.insert("old.yaml".to_owned(), old);
    lock.render_key = unlike;
    world.put_by_hand("workers/w-weu/carp.lock", lock_to_bytes(&lock));

    for root in ["control-plane", "workers/w-weu"] {
        world.put_by_hand(&format!("{root}/old.yaml"), b"# of an earlier carp\n");
    }
    world.run();
    for root in ["control-plane", "workers/w-weu"] {
        assert_eq!(world.output_text(&format!("{root}/old.yaml")), None, "{root}");
    }
}

#[test]
fn a_cluster_that_two_locks_name_stops_the_run() {
    let mut world = World::small();
    let read = |world: &World, worker: &str| -> WorkerLock {
        let text = world.output_text(&format!("workers/{worker}/carp.lock")).unwrap();
        lock_from_bytes(text.as_bytes(), WORKER_LOCK_SCHEMA).unwrap()
    };
    let row = read(&world, "w-weu").clusters["alpha"].clone();
    let mut other = read(&world, "w-eus");
    other.clusters.insert(Name::parse("alpha").unwrap(), row);
    world.put_by_hand("workers/w-eus/carp.lock", lock_to_bytes(&other));
    let file = |worker: &str| format!("workers/{worker}/clusters/alpha/cluster.yaml");
    world.put_by_hand(&file("w-eus"), b"# as a person merged it\n");
    let proposal = world.run();
    assert!(proposal.stopped && !proposal.has_changes());
    for worker in ["w-weu", "w-eus"] {
        assert!(
            world.output_text(&file(worker)).is_some(),
            "{worker}: nothing is removed on a guess"
        );
    }
}

#[test]
fn a_cluster_that_waited_and_is_removed_leaves_no_record_and_no_status() {
    let mut world = World::small();
    for name in ["golf", "hotel", "india"] {
        world.write(&format!("fleet/clusters/{name}.yaml"), &cluster(name, "eastus"));
    }
    let proposal = world.run();
    assert!(matches!(decision(&proposal, "india"), Decision::Wait { .. }));
    assert!(world.output_text(&record("india")).is_some());
    assert!(world.cluster_status("india").is_some());

    world.remove("fleet/clusters/india.yaml");
    world.run();
    let (file, output) = (record("india"), world.output.unwrap());
    assert_eq!(world.output_text(&file), None);
    let folder = file.rsplit_once('/').unwrap().0;
    let left = entry_at(&world.store, output, folder).unwrap();
    assert_eq!(left, None, "it was alone in {folder}, and Git has no empty folder");
    assert_eq!(world.cluster_status("india"), None);
}

#[test]
fn a_cluster_that_waits_keeps_its_place_while_its_document_is_broken() {
    let mut world = World::small();
    for name in ["golf", "hotel", "india"] {
        world.write(&format!("fleet/clusters/{name}.yaml"), &cluster(name, "eastus"));
    }
    world.run();
    let before = world.output_text("decisions/pending.lock");
    assert!(before.as_ref().is_some_and(|lock| lock.contains("india")));
    world.edit("fleet/clusters/india.yaml", "version: v1.34.2", "version: latest");
    let proposal = world.run();
    assert!(matches!(decision(&proposal, "india"), Decision::Wait { seen: 1, .. }));
    assert_eq!(world.output_text("decisions/pending.lock"), before);
}

/// One cluster waits, one is being deleted, the others stand: nothing of them is made again. What is
/// made all the same is put together from the locks: the index of the workers.
#[test]
fn a_run_without_news_makes_nothing_again() {
    let mut world = World::small();
    for name in ["golf", "hotel", "india"] {
        world.write(&format!("fleet/clusters/{name}.yaml"), &cluster(name, "eastus"));
    }
    world.run();
    world.remove("fleet/clusters/alpha.yaml");
    world.run();
    world.run();
    let snapshot = world.snapshot();
    let made = HashingStore::new();
    let store = Overlay::new(&made, &world.store);
    let proposal = propose(&snapshot, &store, &mut world.memo).unwrap();
    assert!(!proposal.has_changes());
    assert_eq!(made.puts().blobs, 1);
}

#[test]
fn what_waits_and_what_is_known_is_not_looked_at_again() {
    let mut world = World::small();
    for name in ["golf", "hotel", "india"] {
        world.write(&format!("fleet/clusters/{name}.yaml"), &cluster(name, "eastus"));
    }
    world.run();
    world.run();
    let work = world.propose().work;
    assert_eq!((work.clusters_planned, work.clusters_rendered), (0, 0), "with the memo");
    let afresh = world.propose_afresh().work;
    assert_eq!((afresh.clusters_planned, afresh.clusters_rendered), (1, 0), "india, without it");
}

#[test]
fn a_rewind_that_is_acknowledged_is_spent() {
    let mut world = World::small();
    let from: Id = "1111111111111111111111111111111111111111".parse().unwrap();
    let run = |world: &World| {
        let mut snapshot = world.snapshot();
        snapshot.input.rewound_from = Some(from);
        propose(&snapshot, &world.store, &mut Memo::default()).unwrap()
    };
    let held = run(&world);
    assert!(held.stopped && held.plan.holds.len() == 1);
    let digest = held.plan.holds[0].digest();
    world.write(
        "fleet/ack.yaml",
        &format!(
            "apiVersion: carp.dev/v1alpha1
kind: Acknowledgement
metadata:
  name: back-we-go
spec:
  of: rewind
  count: 1
  digest: \"{digest}\"
"
        ),
    );
    let proposal = run(&world);
    assert!(!proposal.stopped);
    let mut files = BTreeMap::new();
    files_below(&world.store, proposal.tree, "", &mut |path, id| {
        files.insert(path.to_owned(), id);
    });
    let lock = world.store.blob(files["control-plane/fleet.lock"]).unwrap();
    let lock: FleetLock = lock_from_bytes(&lock, FLEET_LOCK_SCHEMA).unwrap();
    assert_eq!(lock.spent.iter().map(|a| a.name.as_str()).collect::<Vec<_>>(), ["back-we-go"]);
}

#[test]
fn an_acknowledgement_in_the_commit_that_needs_it_is_refused() {
    let acknowledge = |world: &mut World, name: &str, hold: &carp::model::Hold| {
        let text = format!(
            "apiVersion: carp.dev/v1alpha1\nkind: Acknowledgement\nmetadata:\n  name: {name}\nspec:\n  of: \
             deletions\n  count: {}\n  digest: \"{}\"\n",
            hold.names.len(),
            hold.digest()
        );
        world.write(&format!("fleet/{name}.yaml"), &text);
    };
    let deletes = |proposal: &Proposal| {
        let all = proposal.plan.clusters.values();
        all.filter(|planned| matches!(planned.decision, Decision::Delete { .. })).count()
    };
    let mut world = World::small();
    for name in ["alpha", "bravo", "charlie", "delta"] {
        world.remove(&format!("fleet/clusters/{name}.yaml"));
    }
    let hold = world.propose().plan.holds[0].clone();
    acknowledge(&mut world, "at-once", &hold);
    for run in 0..3 {
        let proposal = world.run();
        assert_eq!(deletes(&proposal), 0, "run {run}");
        assert!(finds(&proposal, Code::AcknowledgementTooEarly), "run {run}");
        assert_eq!(proposal.has_changes(), run == 0, "the hold is left in the lock, once");
    }
    acknowledge(&mut world, "seen", &hold);
    let proposal = world.run();
    assert_eq!(deletes(&proposal), 4, "{:?}", proposal.plan.holds);
    assert!(!finds(&proposal, Code::AcknowledgementTooEarly));
}

#[test]
fn a_cluster_whose_document_has_an_unknown_kind_is_told_to_be_kept() {
    for kind in ["kind: ManagedClustr", "kind: Nonsense", "kind: 7"] {
        let mut world = World::small();
        world.edit("fleet/clusters/alpha.yaml", "kind: ManagedCluster", kind);
        let proposal = world.run();
        assert_eq!(reason(&proposal, "alpha"), Some(GateReason::NotLoaded), "{kind}");
        assert!(matches!(decision(&proposal, "alpha"), Decision::Keep { .. }), "{kind}");
        assert!(proposal.plan.holds.is_empty(), "{kind}: {:?}", proposal.plan.holds);
    }
}

#[test]
fn a_placed_cluster_of_a_tenant_that_there_is_not_gets_one_finding() {
    let mut world = World::new(small::files());
    world.edit("carp.yaml", "  controlPlane:", "  tenants: [{name: shop}]\n  controlPlane:");
    assert!(world.run().diagnostics.is_empty());
    world.edit("fleet/clusters/alpha.yaml", "namespace: shop", "namespace: shopp");
    let proposal = world.run();
    let codes: Vec<_> = proposal.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, [Code::UnknownTenant]);
    assert!(matches!(decision(&proposal, "alpha"), Decision::Keep { .. }));
}
