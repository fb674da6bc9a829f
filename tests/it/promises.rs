//! The promises of the README, told as stories over a small fleet.

use std::collections::BTreeSet;

use carp::diag::Code;
use carp::model::{Change, Decision, GateReason, HoldKind, Name, Proposal};

use crate::support::small::{self, cluster, worker};
use crate::support::world::{World, cluster_status, record};

fn paths_of(changes: &[Change]) -> BTreeSet<&str> {
    changes.iter().map(|c| c.path.as_str()).collect()
}

fn held(proposal: &Proposal) -> Vec<(HoldKind, Vec<String>)> {
    proposal.plan.holds.iter().map(|h| (h.kind, h.names.clone())).collect()
}

fn decision<'a>(proposal: &'a Proposal, cluster: &str) -> &'a Decision {
    &proposal.plan.clusters[cluster].decision
}

#[test]
fn a_second_run_commits_nothing() {
    let mut world = World::small();
    let (output, status) = (world.output, world.status);
    let second = world.run();
    assert!(!second.has_changes());
    assert_eq!((world.output, world.status), (output, status));
}

#[test]
fn clusters_go_to_the_nearest_worker_with_room() {
    let world = World::small();
    assert_eq!(world.worker_of("alpha").as_deref(), Some("w-weu"));
    assert_eq!(world.worker_of("charlie").as_deref(), Some("w-eus"));
}

#[test]
fn an_edit_of_one_cluster_touches_its_folder_and_its_workers_index_only() {
    let mut world = World::small();
    world.edit("fleet/clusters/alpha.yaml", "replicas: 2", "replicas: 3");
    let proposal = world.run();
    let expected = [
        "workers/w-weu/carp.lock",
        "workers/w-weu/clusters/alpha/cluster.yaml",
        "workers/w-weu/sentinel.yaml",
    ];
    assert_eq!(paths_of(&proposal.changes), expected.into());
    // What guards count for the runs to come stands in the fleet's lock.
    world.edit("fleet/clusters/alpha.yaml", "version: v1.34.2", "version: v1.34.3");
    let proposal = world.run();
    let counted = ["control-plane/fleet.lock"].into_iter().chain(expected).collect();
    assert_eq!(paths_of(&proposal.changes), counted);
}

#[test]
fn comments_order_names_and_splits_of_files_change_nothing() {
    let mut world = World::small();
    let text = format!("# a comment\n{}", world.files["fleet/clusters/alpha.yaml"]);
    world.write("fleet/clusters/alpha.yaml", &text);
    assert!(!world.propose().has_changes(), "a comment");

    let reordered = "kind: ManagedCluster
spec:
  deletionPolicy: Delete
  paused: false
  nodePools: [{replicas: 2, name: np0}]
  location: \"westeurope\"
  version: v1.34.2
metadata: {namespace: shop, name: alpha}
apiVersion: carp.dev/v1alpha1
";
    world.write("fleet/clusters/alpha.yaml", reordered);
    assert!(!world.propose().has_changes(), "another order, the long form, an explicit default");

    let bravo = world.files["fleet/clusters/bravo.yaml"].clone();
    world.remove("fleet/clusters/alpha.yaml").remove("fleet/clusters/bravo.yaml");
    world.write("fleet/deep/er/both.yaml", &format!("{bravo}---\n{reordered}"));
    assert!(!world.propose().has_changes(), "two files joined under another name");
}

#[test]
fn a_new_cluster_is_bound_and_nobody_else_moves() {
    let mut world = World::small();
    world.write("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let proposal = world.run();
    let golf = record("golf");
    let expected = [
        golf.as_str(),
        "workers/w-eus/carp.lock",
        "workers/w-eus/clusters.yaml",
        "workers/w-eus/clusters/golf/cluster.yaml",
        "workers/w-eus/clusters/golf/kustomization.yaml",
        "workers/w-eus/sentinel.yaml",
    ];
    assert_eq!(paths_of(&proposal.changes), expected.into());
}

#[test]
fn a_full_fleet_makes_clusters_wait_and_room_takes_them_in_order() {
    let mut world = World::small();
    for name in ["golf", "hotel", "india", "juliett"] {
        world.write(&format!("fleet/clusters/{name}.yaml"), &cluster(name, "eastus"));
    }
    let proposal = world.run();
    let waits = |p: &Proposal, name: &str| matches!(decision(p, name), Decision::Wait { .. });
    assert!(!waits(&proposal, "golf") && !waits(&proposal, "hotel"));
    assert!(waits(&proposal, "india") && waits(&proposal, "juliett"));
    let record = record("india");
    assert!(world.output_text(&record).unwrap().contains("- Capacity"));
    assert!(!world.run().has_changes());

    world.edit("fleet/workers/w-eus.yaml", "capacity: 4", "capacity: 5");
    let proposal = world.run();
    assert_eq!(decision(&proposal, "india").worker().map(Name::as_str), Some("w-eus"));
    assert!(waits(&proposal, "juliett"), "the one that was seen first goes first");
}

#[test]
fn one_broken_file_holds_deletions_and_the_rest_goes_on() {
    let mut world = World::small();
    let before = world.output_text("workers/w-weu/clusters/bravo/cluster.yaml");
    world.write("fleet/clusters/bravo.yaml", "kind: [ManagedCluster\n");
    world.remove("fleet/clusters/alpha.yaml");
    world.write("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let proposal = world.run();
    assert_eq!(
        held(&proposal)[0],
        (HoldKind::DeletionsHeld, vec!["alpha".to_owned(), "bravo".into()])
    );
    assert!(proposal.diagnostics.has_errors());
    assert!(matches!(decision(&proposal, "alpha"), Decision::Keep { .. }));
    assert!(matches!(decision(&proposal, "golf"), Decision::Bind(_)));
    assert_eq!(world.output_text("workers/w-weu/clusters/bravo/cluster.yaml"), before);

    world.write("fleet/clusters/bravo.yaml", &cluster("bravo", "westeurope"));
    let proposal = world.run();
    assert!(matches!(decision(&proposal, "alpha"), Decision::Delete { .. }), "now it may begin");
}

#[test]
fn a_file_that_is_moved_and_broken_costs_nobody_a_cluster() {
    let mut world = World::small();
    let text =
        world.files["fleet/clusters/alpha.yaml"].replace("version: v1.34.2", "version: 1.34");
    world.remove("fleet/clusters/alpha.yaml").write("fleet/moved/alpha.yaml", &text);
    let proposal = world.run();
    assert!(!proposal.has_changes());
    assert!(matches!(decision(&proposal, "alpha"), Decision::Keep { .. }));
    let gate = &proposal.gates[0];
    assert_eq!((gate.name.as_str(), gate.reason), ("alpha", GateReason::NotLoaded));
}

#[test]
fn a_deletion_begins_with_its_first_step_and_keeps_what_must_outlive_the_cluster() {
    let mut world = World::small();
    world.remove("fleet/clusters/alpha.yaml");
    let proposal = world.run();
    assert!(matches!(decision(&proposal, "alpha"), Decision::Delete { .. }));
    let text = world.output_text("workers/w-weu/clusters/alpha/cluster.yaml").unwrap();
    assert!(!text.contains("kind: Cluster\n"), "the Cluster is gone");
    for kept in ["kind: Namespace\n", "kind: AzureClusterIdentity\n", "kind: HelmChartProxy\n"] {
        assert!(text.contains(kept), "{kept}");
    }
    assert!(text.contains("kind: ManagedCluster\n"));
    let record = record("alpha");
    assert!(world.output_text(&record).unwrap().contains("state: Deleting"));
    assert!(!world.run().has_changes(), "the next step waits for evidence");

    world.write("fleet/clusters/alpha.yaml", &cluster("alpha", "westeurope"));
    let proposal = world.run();
    assert_eq!(held(&proposal), [(HoldKind::NameStillDeleting, vec!["alpha".to_owned()])]);
}

#[test]
fn a_removal_without_a_deletion_policy_is_held() {
    let mut world = World::new(small::files());
    world.edit("fleet/clusters/alpha.yaml", "  deletionPolicy: Delete\n", "");
    world.run();
    world.remove("fleet/clusters/alpha.yaml");
    let proposal = world.run();
    assert_eq!(held(&proposal), [(HoldKind::DeletionPolicyUnset, vec!["alpha".to_owned()])]);
    assert!(!proposal.has_changes());
}

#[test]
fn four_deletions_at_once_are_held_until_exactly_they_are_acknowledged() {
    let mut world = World::small();
    let gone = ["alpha", "bravo", "charlie", "delta"];
    for name in gone {
        world.remove(&format!("fleet/clusters/{name}.yaml"));
    }
    world.write("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let proposal = world.run();
    assert_eq!(held(&proposal), [(HoldKind::MassDeletion, gone.map(String::from).into())]);
    assert!(matches!(decision(&proposal, "golf"), Decision::Bind(_)), "the rest goes on");
    let digest = proposal.plan.holds[0].digest();

    let acknowledgement = |digest: &str| {
        format!(
            "apiVersion: carp.dev/v1alpha1
kind: Acknowledgement
metadata:
  name: clean-up
spec:
  of: deletions
  count: 4
  digest: \"{digest}\"
"
        )
    };
    world.write("fleet/acks.yaml", &acknowledgement(&"0".repeat(64)));
    let proposal = world.run();
    assert_eq!(held(&proposal).len(), 1, "another set is not acknowledged");
    assert!(proposal.diagnostics.iter().any(|d| d.code == Code::AcknowledgementMismatch));

    world.write("fleet/acks.yaml", &acknowledgement(&digest.to_string()));
    let proposal = world.run();
    assert!(held(&proposal).is_empty());
    for name in gone {
        assert!(matches!(decision(&proposal, name), Decision::Delete { .. }), "{name}");
    }
    let lock = world.output_text("control-plane/fleet.lock").unwrap();
    assert!(lock.contains("clean-up"), "it is spent");
}

#[test]
fn a_guard_that_the_same_commit_loosens_does_not_let_it_through() {
    let mut world = World::small();
    world.edit("carp.yaml", "  controlPlane:", "  guards: {maxDeletions: 100}\n  controlPlane:");
    for name in ["alpha", "bravo", "charlie", "delta"] {
        world.remove(&format!("fleet/clusters/{name}.yaml"));
    }
    assert_eq!(held(&world.run())[0].0, HoldKind::MassDeletion);
    assert_eq!(held(&world.run())[0].0, HoldKind::MassDeletion, "also not in the next run");
}

#[test]
fn a_worker_in_use_is_not_removed() {
    let mut world = World::small();
    let before = world.output_files();
    world.remove("fleet/workers/w-weu.yaml");
    let proposal = world.run();
    assert_eq!(held(&proposal), [(HoldKind::WorkerInUse, vec!["w-weu".to_owned()])]);
    assert_eq!(world.output_files(), before);
}

#[test]
fn an_empty_read_stops_the_run() {
    let mut world = World::small();
    world.files.retain(|path, _| path == "carp.yaml");
    let proposal = world.run();
    assert!(proposal.stopped && !proposal.has_changes());
    assert!(proposal.diagnostics.iter().any(|d| d.code == Code::FleetEmpty));
}

#[test]
fn a_broken_fleet_file_stops_the_run() {
    let mut world = World::small();
    world.edit("carp.yaml", "kind: Fleet", "kind: Flete");
    let proposal = world.run();
    assert!(proposal.stopped && !proposal.has_changes() && proposal.diagnostics.has_errors());
}

#[test]
fn a_policy_that_does_not_load_holds_new_placements() {
    let mut world = World::small();
    world.write("policies/p.yaml", "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicy\nmetadata:\n  name: p\nspec:\n  tolerationz: []\n");
    world.write("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let proposal = world.run();
    assert!(held(&proposal).contains(&(HoldKind::PlacementsHeld, vec!["golf".to_owned()])));
    assert!(matches!(decision(&proposal, "golf"), Decision::Wait { .. }));
    assert!(matches!(decision(&proposal, "alpha"), Decision::Keep { .. }));
}

#[test]
fn a_change_of_location_is_refused_and_the_last_output_stays() {
    let mut world = World::small();
    world.edit("fleet/clusters/alpha.yaml", "location: westeurope", "location: eastus");
    let proposal = world.run();
    assert!(!proposal.has_changes());
    assert_eq!(proposal.gates[0].reason, GateReason::ForbiddenChange);
    assert!(proposal.diagnostics.iter().any(|d| d.code == Code::ImmutableField));
}

#[test]
fn a_foreign_file_is_never_overwritten_nor_removed() {
    let mut world = World::small();
    world.put_by_hand("workers/w-eus/NOTES.md", "a person's\n");
    world.put_by_hand("workers/w-eus/clusters/golf/cluster.yaml", "a person's\n");
    world.edit("fleet/clusters/charlie.yaml", "v1.34.2", "v1.34.3");
    assert!(world.run().has_changes());
    assert_eq!(world.output_text("workers/w-eus/NOTES.md").as_deref(), Some("a person's\n"));

    world.write("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    let proposal = world.run();
    assert!(proposal.diagnostics.iter().any(|d| d.code == Code::OutputCollision));
    let there = world.output_text("workers/w-eus/clusters/golf/cluster.yaml");
    assert_eq!(there.as_deref(), Some("a person's\n"));
    assert!(!world.run().has_changes());
}

#[test]
fn a_worker_that_is_empty_and_removed_begins_to_go() {
    let mut world = World::new(small::files());
    world.write("fleet/workers/w-old.yaml", &worker("w-old", "japaneast", 0));
    world.run();
    world.remove("fleet/workers/w-old.yaml");
    let proposal = world.run();
    assert!(held(&proposal).is_empty());
    let text = world.output_text("control-plane/w-old/cluster.yaml").unwrap();
    assert!(!text.contains("kind: Cluster\n"));
    assert!(world.output_text("workers/w-old/kustomization.yaml").is_some());
    assert!(!world.run().has_changes());
}

#[test]
fn a_status_document_is_written_on_a_transition_and_not_otherwise() {
    let mut world = World::small();
    let path = cluster_status("alpha");
    let first = world.status_text(&path).unwrap();
    assert!(first.contains("phase: Scheduled\n") && first.contains("assignedWorker: w-weu\n"));

    world.now = "2026-11-02T09:00:00Z".parse().unwrap();
    world.edit("fleet/clusters/bravo.yaml", "replicas: 2", "replicas: 3");
    world.run();
    assert_eq!(world.status_text(&path).unwrap(), first, "another cluster's change, a day later");

    world.remove("fleet/clusters/alpha.yaml");
    world.run();
    let deleting = world.status_text(&path).unwrap();
    assert!(deleting.contains("phase: Deleting\n"), "{deleting}");
    let ready = deleting.find("type: Ready").unwrap();
    assert!(
        deleting[ready..].contains("lastTransitionTime: \"2026-11-01T09:00:00Z\""),
        "it was not ready before either, so its time stays: {deleting}"
    );
}

#[test]
fn the_fold_of_a_silent_worker_is_a_transition_and_stops_new_placements_only() {
    let mut world = World::new(small::files());
    world.edit("fleet/workers/w-eus.yaml", "spec:\n", "spec:\n  observation: Agent\n");
    let report = "schemaVersion: 1
worker: w-eus
workerUID: 11111111-1111-4111-8111-111111111111
time: \"2026-11-01T08:59:00Z\"
complete: true
healthy: true
";
    let worker = Name::parse("w-eus").unwrap();
    world.reports = Some([(worker, report.as_bytes().to_vec())].into());
    let proposal = world.run();
    assert_eq!(world.worker_of("charlie").as_deref(), Some("w-eus"));
    assert_eq!(proposal.valid_until, Some("2026-11-01T09:59:00Z".parse().unwrap()));
    let folded = world.status_text("observed/w-eus.yaml").unwrap();

    world.now = "2026-11-01T09:58:59Z".parse().unwrap();
    world.run();
    assert_eq!(world.status_text("observed/w-eus.yaml").unwrap(), folded, "no heartbeat in it");

    world.now = "2026-11-01T12:00:00Z".parse().unwrap();
    world.write("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    world.run();
    let silent = world.status_text("observed/w-eus.yaml").unwrap();
    assert!(silent.contains("freshness: Silent\n"), "{silent}");
    assert!(silent.contains("freshnessSince: \"2026-11-01T09:59:00Z\""), "{silent}");
    assert_eq!(world.worker_of("golf").as_deref(), Some("w-weu"), "nothing new goes there");
    assert_eq!(world.worker_of("charlie").as_deref(), Some("w-eus"), "what is there stays");
}

#[test]
fn a_worker_whose_overlay_is_broken_stays_as_it_is() {
    let mut world = World::small();
    let overlay = "apiVersion: carp.dev/v1alpha1
kind: WorkerOverlay
metadata:
  name: w-eus
spec:
  unschedulable: true
";
    world.write("fleet/overlays/w-eus.yaml", overlay);
    world.run();
    let before = world.output_files();
    world.edit("fleet/overlays/w-eus.yaml", "unschedulable: true", "unschedulable: yess");
    world.write("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    world.run();
    assert_eq!(world.worker_of("golf").as_deref(), Some("w-weu"), "it may have been a cordon");
    let after = world.output_files();
    let own = |path: &String| path.starts_with("workers/w-eus/") || path.contains("/w-eus/");
    for (path, bytes) in before.iter().filter(|(path, _)| own(path)) {
        assert_eq!(after.get(path), Some(bytes), "{path}");
    }
}

/// The built-in template with something added to it.
fn template(path: &str, added: &str) -> String {
    let built_in = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("templates").join(path);
    format!("{}{added}", std::fs::read_to_string(built_in).unwrap())
}

#[test]
fn empty_workers_are_not_retired_by_the_dozen() {
    let mut world = World::new(small::files());
    let old = ["w-old0", "w-old1", "w-old2", "w-old3"];
    for name in old {
        world.write(&format!("fleet/workers/{name}.yaml"), &worker(name, "japaneast", 0));
    }
    world.run();
    for name in old {
        world.remove(&format!("fleet/workers/{name}.yaml"));
    }
    let proposal = world.run();
    assert_eq!(held(&proposal), [(HoldKind::MassDeletion, old.map(String::from).into())]);
    // The lock remembers that they are held, and nothing else is written.
    let paths: Vec<_> = proposal.changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["control-plane/fleet.lock"]);
}

#[test]
fn a_fleet_of_workers_alone_is_not_emptied_by_an_empty_read() {
    let mut world = World::new(small::files());
    world.files.retain(|path, _| !path.starts_with("fleet/clusters/"));
    world.run();
    world.files.retain(|path, _| path == "carp.yaml");
    let proposal = world.run();
    assert!(proposal.stopped && !proposal.has_changes(), "{:?}", proposal.plan.workers);
}

#[test]
fn what_is_not_below_another_root_was_not_removed() {
    let mut world = World::new(small::files());
    world.write("fleet/workers/w-old.yaml", &worker("w-old", "japaneast", 0));
    world.run();
    world.edit("carp.yaml", "  controlPlane:", "  roots: {fleet: estate}\n  controlPlane:");
    let files: Vec<_> = world.files.keys().filter(|p| p.starts_with("fleet/")).cloned().collect();
    for path in files {
        if !path.contains("alpha") && !path.contains("w-old") {
            let text = world.files.remove(&path).unwrap();
            world.write(&path.replacen("fleet/", "estate/", 1), &text);
        }
    }
    let proposal = world.run();
    let left = vec!["alpha".to_owned(), "w-old".into()];
    assert_eq!(held(&proposal), [(HoldKind::RootChanged, left)]);
    assert!(!proposal.has_changes());

    world.write("estate/alpha.yaml", &cluster("alpha", "westeurope"));
    world.write("estate/w-old.yaml", &worker("w-old", "japaneast", 0));
    assert!(held(&world.run()).is_empty());
    assert!(world.output_text("control-plane/fleet.lock").unwrap().contains("estate"));
    world.remove("estate/alpha.yaml");
    assert!(matches!(decision(&world.run(), "alpha"), Decision::Delete { .. }));
}

#[test]
fn a_cluster_in_two_locks_stops_the_run() {
    use carp::model::{WORKER_LOCK_SCHEMA, WorkerLock, lock_from_bytes, lock_to_bytes};

    let mut world = World::small();
    let read = |world: &World, worker: &str| -> WorkerLock {
        let text = world.output_text(&format!("workers/{worker}/carp.lock")).unwrap();
        lock_from_bytes(text.as_bytes(), WORKER_LOCK_SCHEMA).unwrap()
    };
    let (weu, mut eus) = (read(&world, "w-weu"), read(&world, "w-eus"));
    let (name, row) = weu.clusters.iter().next().unwrap();
    eus.clusters.insert(name.clone(), row.clone());
    world.put_by_hand("workers/w-eus/carp.lock", lock_to_bytes(&eus));
    let proposal = world.run();
    assert!(proposal.stopped && !proposal.has_changes());
    assert!(proposal.diagnostics.iter().any(|d| d.code == Code::RecordUnreadable));
}

#[test]
fn a_cluster_that_never_rendered_leaves_at_once_and_makes_room() {
    let mut world = World::new(small::files());
    let broken = "{% if cluster.name == \"golf\" %}{{ no_such_thing }}{% endif %}\n";
    let path = "templates/kamaji-capz/cluster.yaml";
    world.write(path, &template("kamaji-capz/cluster.yaml", broken));
    world.write("fleet/workers/w-jpe.yaml", &worker("w-jpe", "japaneast", 1));
    world.write("fleet/clusters/golf.yaml", &cluster("golf", "japaneast"));
    let proposal = world.run();
    assert_eq!(decision(&proposal, "golf").worker().map(Name::as_str), Some("w-jpe"));
    assert_eq!(proposal.gates[0].reason, GateReason::RenderFailed);
    assert!(!world.run().has_changes());

    for name in ["hotel", "india", "juliett"] {
        world.write(&format!("fleet/clusters/{name}.yaml"), &cluster(name, "japaneast"));
    }
    world.run();
    let waits = |w: &World| w.worker_of("juliett").is_none();
    assert!(waits(&world), "every worker is full");
    world.remove("fleet/clusters/golf.yaml");
    let proposal = world.run();
    assert_eq!(*decision(&proposal, "golf"), Decision::Forget);
    assert!(held(&proposal).is_empty());
    assert!(!waits(&world), "the room counts in the same run");
    assert!(!world.run().has_changes(), "planning its own result changes nothing");

    world.remove("fleet/clusters/juliett.yaml");
    world.run();
}

#[test]
fn a_change_that_is_kept_back_gives_nobody_room() {
    let mut world = World::new(small::files());
    let class = |name: &str, cpu: u32| {
        format!(
            "apiVersion: carp.dev/v1alpha1\nkind: ManagedClusterClass\nmetadata:\n  name: {name}\nspec:\n  \
             demand: {{cpu: {cpu}}}\n"
        )
    };
    world.write("fleet/classes.yaml", &format!("{}---\n{}", class("big", 3), class("small", 1)));
    world.files.retain(|path, _| !path.starts_with("fleet/clusters/"));
    world.remove("fleet/workers/w-eus.yaml");
    world.edit("fleet/workers/w-weu.yaml", "capacity: 4", "capacity: {clusters: 9, cpu: 4}");
    let of = |name: &str, class: &str, location: &str| {
        format!("{}  class: {class}\n", cluster(name, location))
    };
    world.write("fleet/clusters/alpha.yaml", &of("alpha", "big", "westeurope"));
    world.run();
    world.write("fleet/clusters/golf.yaml", &of("golf", "big", "westeurope"));
    world.run();
    // The smaller class comes with a move that is refused, so alpha goes on taking three.
    world.write("fleet/clusters/alpha.yaml", &of("alpha", "small", "eastus"));
    let proposal = world.run();
    assert_eq!(proposal.gates[0].reason, GateReason::ForbiddenChange);
    assert!(matches!(decision(&proposal, "golf"), Decision::Wait { .. }));
    assert!(!world.run().has_changes());

    world.write("fleet/clusters/alpha.yaml", &of("alpha", "small", "westeurope"));
    assert!(matches!(decision(&world.run(), "golf"), Decision::Bind(_)), "now there is room");
}

#[test]
fn a_report_that_cannot_be_read_silences_nobody_before_the_timeout() {
    let mut world = World::new(small::files());
    world.edit("fleet/workers/w-eus.yaml", "spec:\n", "spec:\n  observation: Agent\n");
    let report = "schemaVersion: 1\nworker: w-eus\nworkerUID: u\ntime: \"2026-11-01T08:59:00Z\"\n\
                  complete: true\nhealthy: true\n";
    let worker = Name::parse("w-eus").unwrap();
    world.reports = Some([(worker.clone(), report.as_bytes().to_vec())].into());
    world.run();
    let known = world.status_text("observed/w-eus.yaml");
    let newer = report.replace("schemaVersion: 1", "schemaVersion: 2");
    world.reports = Some([(worker, newer.into_bytes())].into());
    let proposal = world.run();
    assert!(proposal.diagnostics.iter().any(|d| d.code == Code::ReportRefused));
    assert_eq!(world.status_text("observed/w-eus.yaml"), known);
    world.now = "2026-11-01T12:00:00Z".parse().unwrap();
    world.run();
    assert!(world.status_text("observed/w-eus.yaml").unwrap().contains("freshness: Silent\n"));
}

#[test]
fn an_acknowledgement_names_the_count_and_stays_spent_while_it_does_not_load() {
    let mut world = World::small();
    let gone = ["alpha", "bravo", "charlie", "delta"];
    for name in gone {
        world.remove(&format!("fleet/clusters/{name}.yaml"));
    }
    let digest = world.propose().plan.holds[0].digest();
    let text = format!(
        "apiVersion: carp.dev/v1alpha1\nkind: Acknowledgement\nmetadata:\n  name: clean-up\nspec:\n  of: \
         deletions\n  count: 5\n  digest: \"{digest}\"\n"
    );
    world.write("fleet/ack.yaml", &text);
    assert_eq!(held(&world.run())[0].0, HoldKind::MassDeletion, "four are held, and five named");
    world.edit("fleet/ack.yaml", "count: 5", "count: 4");
    assert!(held(&world.run()).is_empty());
    let spent = |w: &World| {
        w.output_text("control-plane/fleet.lock").unwrap().contains("\"name\":\"clean-up\"")
    };
    assert!(spent(&world));
    world.edit("fleet/ack.yaml", "kind: Ack", "kind: Hack");
    world.run();
    assert!(spent(&world));
    world.remove("fleet/ack.yaml");
    world.run();
    assert!(!spent(&world));
}

#[test]
fn a_worker_whose_own_files_never_rendered_applies_nothing() {
    let mut world = World::new(small::files());
    let path = "templates/components/platform.yaml";
    world.write(path, &template("components/platform.yaml", "\n{{ no_such_thing }}\n"));
    let proposal = world.run();
    assert!(proposal.diagnostics.has_errors());
    let listed = |w: &World| w.output_text("workers/w-weu/kustomization.yaml").unwrap();
    assert!(listed(&world).ends_with("resources:\n- sentinel.yaml\n"), "{}", listed(&world));
    assert!(world.output_text("control-plane/kustomization.yaml").is_some());
    assert!(!world.run().has_changes());
    world.remove(path);
    world.run();
    assert!(listed(&world).contains("- clusters.yaml\n- layers.yaml\n"), "{}", listed(&world));
    assert_eq!(world.output_files(), {
        let mut whole = World::small();
        whole.run();
        whole.output_files()
    });
}

#[test]
fn a_workers_version_goes_up_by_one_minor_version_at_a_time() {
    let mut world = World::small();
    world.edit("fleet/workers/w-weu.yaml", "version: v1.34.2", "version: v1.33.0");
    let proposal = world.run();
    assert!(!proposal.changes.iter().any(|c| c.path.starts_with("control-plane/w-weu/")));
    assert!(proposal.diagnostics.iter().any(|d| d.code == Code::VersionSkew));
}

#[test]
fn other_files_on_the_status_branch_stay() {
    use carp::model::Store as _;

    let mut world = World::small();
    let mut edit = carp::change::TreeEdit::default();
    let note = world.store.put_blob(b"a note\n").unwrap();
    // The second is what a fleet in a folder called `clusters` has there.
    let others = ["clusters/README.md", "clusters/workers/w9.yaml"];
    for path in others {
        edit.file(path, note);
    }
    edit.file("clusters/00/gone.yaml", note);
    world.status = Some(edit.apply(&world.store, world.status).unwrap());
    world.run();
    for path in others {
        assert!(world.status_text(path).is_some(), "{path}");
    }
}
