//! Hand edits, foreign files and lost locks on the output branch: found, told, and handled as the fleet
//! wants it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use carp::diag::Code;
use carp::model::{GateReason, HoldKind, Id, Memo, Name, PendingLock, Proposal, WorkerLock, paths};

use crate::support::small::{self, cluster, worker};
use crate::support::world::{World, record};

const ALPHA: &str = "workers/w-weu/clusters/alpha/cluster.yaml";

/// The small fleet after a run that changed nothing.
fn small() -> World {
    static SETTLED: OnceLock<World> = OnceLock::new();
    let settled = || {
        let mut world = World::small();
        assert!(!world.run().has_changes());
        world
    };
    SETTLED.get_or_init(settled).clone()
}

/// The small fleet with a policy for hand edits.
fn with_policy(policy: &str) -> World {
    let mut files = small::files();
    let fleet = files.get_mut("carp.yaml").unwrap();
    *fleet = fleet.replace("spec:\n", &format!("spec:\n  drift: {policy}\n"));
    let mut world = World::new(files);
    world.run();
    world
}

fn found(proposal: &Proposal, code: Code) -> Vec<String> {
    proposal.diagnostics.iter().filter(|d| d.code == code).map(|d| d.message.clone()).collect()
}

fn held(proposal: &Proposal) -> BTreeMap<HoldKind, Vec<String>> {
    proposal.plan.holds.iter().map(|hold| (hold.kind, hold.names.clone())).collect()
}

fn gate(proposal: &Proposal, name: &str) -> Option<GateReason> {
    proposal.gates.iter().find(|gate| gate.name.as_str() == name).map(|gate| gate.reason)
}

fn lock(world: &World, worker: &str) -> WorkerLock {
    let text = world.output_text(&format!("workers/{worker}/carp.lock")).unwrap();
    carp::model::lock_from_bytes(text.as_bytes(), carp::model::WORKER_LOCK_SCHEMA).unwrap()
}

/// A world whose next run must find the same without a memo, commit `tree`, and be settled then.
#[track_caller]
fn comes_back(world: &mut World, tree: Option<Id>) -> Proposal {
    let afresh = world.propose_afresh();
    let proposal = world.run();
    assert!(!proposal.stopped, "{:?}", proposal.diagnostics.sorted().first());
    assert_eq!(proposal.tree, afresh.tree);
    assert_eq!(proposal.diagnostics.sorted(), afresh.diagnostics.sorted());
    if let Some(tree) = tree {
        assert_eq!(proposal.changes.is_empty(), !proposal.has_changes());
        assert_eq!(Some(proposal.tree), Some(tree), "{:#?}", proposal.changes);
    }
    let again = world.run();
    assert!(!again.has_changes(), "{:#?}", again.changes);
    proposal
}

#[test]
fn a_hand_edit_is_told_and_set_back() {
    let all: Vec<(&str, Option<&str>)> = vec![
        (ALPHA, Some("kind: ConfigMap\n")),
        (ALPHA, None),
        ("workers/w-weu/clusters/alpha", None),
        ("workers/w-weu/layers.yaml", Some("# none\n")),
        ("workers/w-weu/crds/kustomization.yaml", None),
        ("workers/w-weu/clusters.yaml", Some("# none\n")),
        ("workers/w-weu/sentinel.yaml", None),
        ("control-plane/layers.yaml", Some("# none\n")),
        ("control-plane/workers.yaml", None),
        ("control-plane/w-weu/cluster.yaml", Some("kind: ConfigMap\n")),
        ("control-plane/w-weu", None),
    ];
    for (path, text) in all {
        let mut world = small();
        let before = world.output;
        match text {
            Some(text) => world.put_by_hand(path, text),
            None => world.remove_by_hand(path),
        }
        let proposal = comes_back(&mut world, before);
        let told = found(&proposal, Code::HandEdit).join("\n");
        assert!(told.contains(path), "{path}: {told}");
        let happened = if text.is_some() { "changed" } else { "removed" };
        let line = format!("SET BACK {path}, which was {happened} by hand");
        assert!(proposal.message.contains(&line), "{line}\n{}", proposal.message);
        assert!(held(&proposal).is_empty() && proposal.gates.is_empty());
    }
}

#[test]
fn a_record_that_was_edited_or_lost_comes_back() {
    for text in [Some("worker: elsewhere\n"), Some("<<<<<<< ours\n"), None] {
        let mut world = small();
        let before = world.output;
        match text {
            Some(text) => world.put_by_hand(&record("alpha"), text),
            None => world.remove_by_hand(&record("alpha")),
        }
        let proposal = comes_back(&mut world, before);
        assert!(found(&proposal, Code::HandEdit)[0].contains(&record("alpha")));
    }
    let mut world = small();
    let before = world.output;
    world.remove_by_hand("decisions");
    comes_back(&mut world, before);
}

#[test]
fn an_edit_does_not_hide_a_change_and_a_change_not_an_edit() {
    let mut world = small();
    world.put_by_hand(ALPHA, "kind: ConfigMap\n");
    world.put_by_hand("workers/w-weu/clusters/bravo/cluster.yaml", "kind: ConfigMap\n");
    world.edit("fleet/clusters/alpha.yaml", "v1.34.2", "v1.34.3");
    let mut plain = small();
    plain.edit("fleet/clusters/alpha.yaml", "v1.34.2", "v1.34.3");
    plain.run();
    comes_back(&mut world, plain.output);
}

#[test]
fn refuse_keeps_the_folder_and_asks() {
    let mut world = with_policy("refuse");
    world.put_by_hand(ALPHA, "kind: ConfigMap\n");
    world.edit("fleet/clusters/alpha.yaml", "v1.34.2", "v1.34.3");
    world.edit("fleet/clusters/bravo.yaml", "v1.34.2", "v1.34.3");
    let proposal = comes_back(&mut world, None);
    assert_eq!(held(&proposal), [(HoldKind::Drifted, vec!["alpha".to_owned()])].into());
    assert_eq!(gate(&proposal, "alpha"), Some(GateReason::Drifted));
    assert_eq!(world.output_text(ALPHA).as_deref(), Some("kind: ConfigMap\n"));
    let bravo = world.output_text("workers/w-weu/clusters/bravo/cluster.yaml").unwrap();
    assert!(bravo.contains("v1.34.3"), "the rest goes on");
    assert!(!proposal.message.contains("SET BACK"));
    let status = world.cluster_status("alpha");
    assert!(status.unwrap().contains("type: Drifted"));

    // The person reverts, and what was asked for comes.
    world.edit("carp.yaml", "drift: refuse", "drift: overwrite");
    let proposal = comes_back(&mut world, None);
    assert!(held(&proposal).is_empty());
    assert!(world.output_text(ALPHA).unwrap().contains("v1.34.3"));
    let status = world.cluster_status("alpha");
    assert!(!status.unwrap().contains("type: Drifted"));
}

#[test]
fn refuse_writes_nothing_of_a_worker_whose_own_files_were_edited() {
    let mut world = with_policy("refuse");
    let folder = |world: &World| {
        let all = world.output_files();
        all.into_iter().filter(|(p, _)| p.starts_with("workers/w-weu/")).collect::<Vec<_>>()
    };
    world.put_by_hand("workers/w-weu/clusters.yaml", "# by hand\n");
    let before = folder(&world);
    world.edit("fleet/clusters/alpha.yaml", "v1.34.2", "v1.34.3");
    world.edit("fleet/clusters/charlie.yaml", "v1.34.2", "v1.34.3");
    world.remove("fleet/clusters/bravo.yaml");
    world.write("fleet/clusters/golf.yaml", &cluster("golf", "westeurope"));
    let proposal = comes_back(&mut world, None);
    assert_eq!(folder(&world), before);
    let held = held(&proposal);
    assert_eq!(held[&HoldKind::Drifted], ["w-weu"]);
    assert_eq!(held[&HoldKind::DeletionsHeld], ["bravo"]);
    assert_eq!(gate(&proposal, "w-weu"), Some(GateReason::Drifted));
    assert_eq!(gate(&proposal, "alpha"), Some(GateReason::Drifted));
    assert_eq!(world.worker_of("golf").as_deref(), Some("w-eus"), "nothing new goes there");
    assert_eq!(world.worker_of("bravo").as_deref(), Some("w-weu"));
    let charlie = world.output_text("workers/w-eus/clusters/charlie/cluster.yaml").unwrap();
    assert!(charlie.contains("v1.34.3"));
}

#[test]
fn refuse_covers_records_and_the_control_plane() {
    let mut world = with_policy("refuse");
    world.put_by_hand(&record("alpha"), "worker: elsewhere\n");
    world.put_by_hand("control-plane/layers.yaml", "# by hand\n");
    world.put_by_hand("control-plane/w-eus/cluster.yaml", "# by hand\n");
    world.edit("fleet/workers/w-eus.yaml", "replicas: 3", "replicas: 4");
    world.remove("fleet/clusters/alpha.yaml");
    let proposal = comes_back(&mut world, None);
    for path in ["control-plane/layers.yaml", "control-plane/w-eus/cluster.yaml"] {
        assert_eq!(world.output_text(path).as_deref(), Some("# by hand\n"), "{path}");
    }
    assert_eq!(world.output_text(&record("alpha")).as_deref(), Some("worker: elsewhere\n"));
    let held = held(&proposal);
    assert_eq!(held[&HoldKind::Drifted], ["alpha", "control-plane", "w-eus"]);
    assert_eq!(held[&HoldKind::DeletionsHeld], ["alpha"]);
}

#[test]
fn warn_keeps_the_edit_and_holds_nothing() {
    let mut world = with_policy("warn");
    world.put_by_hand(ALPHA, "kind: ConfigMap\n");
    world.edit("fleet/clusters/bravo.yaml", "v1.34.2", "v1.34.3");
    let proposal = comes_back(&mut world, None);
    assert!(held(&proposal).is_empty());
    assert_eq!(world.output_text(ALPHA).as_deref(), Some("kind: ConfigMap\n"));
    assert!(!found(&proposal, Code::HandEdit).is_empty());
    assert!(!proposal.diagnostics.has_errors());
}

#[test]
fn foreign_files_stay_byte_for_byte() {
    let mut world = small();
    let beside_alpha = format!("decisions/{}/NOTES.md", paths::shard("alpha"));
    let notes = [
        "workers/w-weu/NOTES.md",
        "workers/w-weu/crds/NOTES.md",
        "workers/w-weu/clusters/alpha/NOTES.md",
        "workers/w-weu/clusters/alpha/more/NOTES.md",
        "workers/w-weu/clusters/theirs/cluster.yaml",
        "control-plane/NOTES.md",
        "control-plane/w-weu/NOTES.md",
        "decisions/NOTES.md",
        beside_alpha.as_str(),
    ];
    for path in notes {
        world.put_by_hand(path, "a person's\n");
    }
    let proposal = comes_back(&mut world, None);
    assert!(!proposal.has_changes());
    let told = found(&proposal, Code::ForeignFile).join("\n");
    for path in ["workers/w-weu/clusters/alpha/more/", "workers/w-weu/clusters/theirs/"] {
        assert!(told.contains(path), "{told}");
    }
    // Everything beside them is written anew: a change, an edit, a deletion.
    world.edit("fleet/clusters/alpha.yaml", "v1.34.2", "v1.34.3");
    world.put_by_hand("workers/w-weu/layers.yaml", "# by hand\n");
    world.edit("fleet/workers/w-weu.yaml", "replicas: 3", "replicas: 4");
    comes_back(&mut world, None);
    world.remove("fleet/clusters/alpha.yaml");
    comes_back(&mut world, None);
    assert!(!world.output_text(ALPHA).unwrap().contains("kind: Cluster\n"));
    for path in notes {
        assert_eq!(world.output_text(path).as_deref(), Some("a person's\n"), "{path}");
    }
}

#[test]
fn a_collision_stops_what_it_is_in_the_way_of_and_nothing_else() {
    let mut world = small();
    world.put_by_hand("workers/w-eus/clusters/golf/cluster.yaml", "a person's\n");
    world.write("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    world.put_by_hand(&record("hotel"), "a person's\n");
    world.write("fleet/clusters/hotel.yaml", &cluster("hotel", "eastus"));
    world.put_by_hand("workers/w-new/kustomization.yaml", "a person's\n");
    world.write("fleet/workers/w-new.yaml", &worker("w-new", "japaneast", 4));
    world.write("fleet/clusters/india.yaml", &cluster("india", "japaneast"));
    world.put_by_hand("control-plane/w-neu", "a person's\n");
    world.write("fleet/workers/w-neu.yaml", &worker("w-neu", "northeurope", 4));
    world.edit("fleet/clusters/charlie.yaml", "v1.34.2", "v1.34.3");
    let proposal = comes_back(&mut world, None);
    let told = found(&proposal, Code::OutputCollision);
    assert_eq!(told.len(), 4, "{told:#?}");
    for name in ["golf", "w-new", "w-neu"] {
        assert_eq!(gate(&proposal, name), Some(GateReason::Collided), "{name}");
    }
    assert!(!proposal.plan.clusters.contains_key(&Name::parse("hotel").unwrap()));
    assert_ne!(world.worker_of("india").as_deref(), Some("w-new"));
    assert!(world.worker_of("india").is_some());
    let charlie = world.output_text("workers/w-eus/clusters/charlie/cluster.yaml").unwrap();
    assert!(charlie.contains("v1.34.3"), "the rest goes on");
    for path in [
        "workers/w-eus/clusters/golf/cluster.yaml",
        "workers/w-new/kustomization.yaml",
        "control-plane/w-neu",
        &record("hotel"),
    ] {
        assert_eq!(world.output_text(path).as_deref(), Some("a person's\n"), "{path}");
    }
    assert!(world.output_text("workers/w-new/carp.lock").is_none());
    world.remove_by_hand("workers/w-eus/clusters/golf");
    world.remove_by_hand(&record("hotel"));
    world.remove_by_hand("workers/w-new");
    world.remove_by_hand("control-plane/w-neu");
    let proposal = comes_back(&mut world, None);
    assert!(found(&proposal, Code::OutputCollision).is_empty());
    assert!(world.output_text("workers/w-new/carp.lock").is_some());
}

#[test]
fn a_file_where_a_folder_must_be_is_never_overwritten() {
    let mut world = small();
    world.remove_by_hand("workers/w-weu/crds");
    world.put_by_hand("workers/w-weu/crds", "a person's\n");
    let proposal = comes_back(&mut world, None);
    assert_eq!(gate(&proposal, "w-weu"), Some(GateReason::Collided));
    assert_eq!(world.output_text("workers/w-weu/crds").as_deref(), Some("a person's\n"));
}

/// A way to lose a lock.
type Loss = Box<dyn Fn(&mut World)>;

/// Ways to lose a lock, by name.
fn lost_locks(path: &str) -> Vec<(&'static str, Loss)> {
    let own = |path: &str| path.to_owned();
    let text = move |world: &World, path: &str| world.output_text(path).unwrap();
    let (a, b, c, d) = (own(path), own(path), own(path), own(path));
    vec![
        ("missing", Box::new(move |world| world.remove_by_hand(&a))),
        (
            "conflict",
            Box::new(move |world| {
                let was = text(world, &b);
                let both = format!("<<<<<<< ours\n{was}=======\n{was}>>>>>>> theirs\n");
                world.put_by_hand(&b, both);
            }),
        ),
        (
            "truncated",
            Box::new(move |world| {
                let was = text(world, &c);
                world.put_by_hand(&c, &was[..was.len() / 2]);
            }),
        ),
        (
            "edited",
            Box::new(move |world| {
                let was = text(world, &d);
                let was = was.replace("shop", "spam").replace("\"fleet\"", "\"feet\"");
                world.put_by_hand(&d, was);
            }),
        ),
    ]
}

#[test]
fn a_lost_lock_comes_back_as_it_was() {
    let waiting = waiting();
    for path in [
        "workers/w-weu/carp.lock",
        "workers/w-eus/carp.lock",
        "decisions/pending.lock",
        "control-plane/fleet.lock",
    ] {
        for (how, lose) in lost_locks(path) {
            let mut world = waiting.clone();
            let before = world.output;
            lose(&mut world);
            if world.output == before {
                continue;
            }
            let proposal = comes_back(&mut world, before);
            let told = found(&proposal, Code::LockRebuilt);
            assert_eq!(told.len(), 1, "{path} {how}: {told:#?}");
            assert!(told[0].contains(path), "{path} {how}: {told:#?}");
            assert!(found(&world.propose(), Code::LockRebuilt).is_empty());
        }
    }
}

/// The small fleet with a cluster that waits.
fn waiting() -> World {
    let mut world = World::new(small::files());
    let huge = cluster("huge", "eastus").replace(
        "  deletionPolicy",
        "  placement:\n    affinity:\n      required:\n        - matchLabels:\n            gpu: nvidia\n  deletionPolicy",
    );
    world.write("fleet/clusters/huge.yaml", &huge);
    world.run();
    assert!(!world.run().has_changes());
    world
}

#[test]
fn a_deletion_that_has_begun_is_known_without_its_lock() {
    let mut world = small();
    world.remove("fleet/clusters/echo.yaml");
    world.run();
    let before = world.output_files();
    world.remove_by_hand("workers/w-weu/carp.lock");
    world.remove_by_hand(&record("echo"));
    comes_back(&mut world, None);
    let row = &lock(&world, "w-weu").clusters["echo"];
    assert_eq!(row.state, carp::model::ClusterState::Deleting);
    let own =
        |(path, _): &(String, Vec<u8>)| !path.ends_with("carp.lock") && *path != record("echo");
    let after: Vec<_> = world.output_files().into_iter().filter(own).collect();
    assert_eq!(after, before.into_iter().filter(own).collect::<Vec<_>>());
}

#[test]
fn all_locks_lost_at_once_come_back() {
    let mut world = waiting();
    let before = world.output;
    for path in ["workers/w-weu/carp.lock", "workers/w-eus/carp.lock"] {
        world.remove_by_hand(path);
    }
    world.remove_by_hand("decisions/pending.lock");
    world.remove_by_hand("control-plane/fleet.lock");
    let proposal = comes_back(&mut world, before);
    assert_eq!(found(&proposal, Code::LockRebuilt).len(), 4);
}

#[test]
fn the_lock_of_another_worker_is_no_lock() {
    let mut world = small();
    let before = world.output;
    let other = world.output_text("workers/w-eus/carp.lock").unwrap();
    world.put_by_hand("workers/w-weu/carp.lock", other);
    comes_back(&mut world, before);
}

#[test]
fn a_lock_of_a_newer_format_stops_the_run() {
    for path in ["workers/w-weu/carp.lock", "decisions/pending.lock", "control-plane/fleet.lock"] {
        let mut world = small();
        world.put_by_hand(path, "{\"schemaVersion\": 99}\n");
        let proposal = world.run();
        assert!(proposal.stopped && !proposal.has_changes(), "{path}");
        assert!(found(&proposal, Code::NewerFormat)[0].contains(path), "{path}");
    }
}

#[test]
fn locks_of_the_first_format_are_brought_forward_once() {
    let mut world = waiting();
    let before = world.output;
    for path in [
        "workers/w-weu/carp.lock",
        "workers/w-eus/carp.lock",
        "decisions/pending.lock",
        "control-plane/fleet.lock",
    ] {
        let text = world.output_text(path).unwrap();
        let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
        value["schemaVersion"] = 1.into();
        value.as_object_mut().unwrap().remove("digest");
        if let Some(rows) = value.get_mut("clusters").and_then(|rows| rows.as_object_mut()) {
            rows.values_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("record")));
        }
        world.put_by_hand(path, value.to_string());
    }
    let proposal = comes_back(&mut world, before);
    assert_eq!(proposal.changes.len(), 4);
    assert!(found(&proposal, Code::LockRebuilt).is_empty());
}

#[test]
fn with_a_lost_lock_nothing_is_deleted_and_the_next_run_goes_on() {
    let mut world = small();
    world.write("fleet/workers/w-old.yaml", &worker("w-old", "japaneast", 0));
    world.run();
    world.remove_by_hand("workers/w-eus/carp.lock");
    world.remove("fleet/clusters/alpha.yaml");
    world.remove("fleet/workers/w-old.yaml");
    let proposal = world.run();
    assert_eq!(held(&proposal)[&HoldKind::DeletionsHeld], ["alpha", "w-old"]);
    assert!(world.output_text(ALPHA).unwrap().contains("kind: Cluster\n"));
    let proposal = world.run();
    assert!(held(&proposal).is_empty());
    assert!(!world.output_text(ALPHA).unwrap().contains("kind: Cluster\n"));
}

#[test]
fn lock_and_records_lost_clusters_stay_where_their_folder_is() {
    let mut world = small();
    let before: Vec<_> = ["alpha", "bravo", "echo"].map(|c| world.worker_of(c)).into();
    world.remove_by_hand("workers/w-weu/carp.lock");
    for cluster in ["alpha", "bravo", "echo"] {
        world.remove_by_hand(&record(cluster));
    }
    comes_back(&mut world, None);
    let after: Vec<_> = ["alpha", "bravo", "echo"].map(|c| world.worker_of(c)).into();
    assert_eq!(before, after);
    assert_eq!(lock(&world, "w-weu").clusters.len(), 3);
}

#[test]
fn a_worker_whose_folder_is_removed_is_written_again_with_its_clusters() {
    let mut world = small();
    let before = world.output;
    world.remove_by_hand("workers/w-weu");
    comes_back(&mut world, before);
    world.remove_by_hand("workers");
    comes_back(&mut world, before);
}

#[test]
fn a_worker_that_exists_already_is_found_by_its_records() {
    let mut world = World::new(small::files());
    world.edit("fleet/workers/w-weu.yaml", "  replicas: 3\n", "  flavor: attached\n");
    world.run();
    let before = world.output;
    world.remove_by_hand("workers/w-weu");
    comes_back(&mut world, before);
}

#[test]
fn what_a_rebuilt_lock_cannot_prove_is_foreign() {
    let mut world = small();
    world.remove_by_hand("workers/w-weu/carp.lock");
    world.put_by_hand("workers/w-weu/NOTES.md", "a person's\n");
    world.put_by_hand("workers/w-weu/clusters/alpha/NOTES.md", "a person's\n");
    world.put_by_hand("workers/w-weu/layers.yaml", "# by hand\n");
    let proposal = comes_back(&mut world, None);
    // Nothing says whose the edited file is, so the worker waits for a person.
    assert_eq!(gate(&proposal, "w-weu"), Some(GateReason::Collided));
    assert_eq!(world.output_text("workers/w-weu/layers.yaml").as_deref(), Some("# by hand\n"));
    world.remove_by_hand("workers/w-weu/layers.yaml");
    let proposal = comes_back(&mut world, None);
    assert!(proposal.gates.is_empty(), "{:?}", proposal.gates);
    for path in ["workers/w-weu/NOTES.md", "workers/w-weu/clusters/alpha/NOTES.md"] {
        assert_eq!(world.output_text(path).as_deref(), Some("a person's\n"));
    }
    assert!(world.output_text("workers/w-weu/layers.yaml").unwrap().contains("component-crds"));
}

#[test]
fn without_records_locks_and_folders_the_run_stops() {
    let mut world = small();
    world.remove_by_hand("workers");
    world.remove_by_hand("decisions");
    let proposal = world.run();
    assert!(proposal.stopped && !proposal.has_changes());
    assert_eq!(found(&proposal, Code::RecordUnreadable).len(), 1);
}

#[test]
fn a_lost_fleet_lock_spends_every_acknowledgement() {
    let mut world = small();
    let digest = carp::model::Digest::of_names(["alpha"]);
    world.write(
        "fleet/ack.yaml",
        &format!(
            "apiVersion: carp.dev/v1alpha1\nkind: Acknowledgement\nmetadata:\n  name: once\nspec:\n  of: \
             deletions\n  count: 1\n  digest: sha256:{digest}\n"
        ),
    );
    world.run();
    world.remove_by_hand("control-plane/fleet.lock");
    comes_back(&mut world, None);
    assert!(world.output_text("control-plane/fleet.lock").unwrap().contains("\"name\":\"once\""));
}

#[test]
fn a_memo_of_a_clean_tree_hides_no_edit() {
    let mut world = small();
    let clean = world.memo.clean.clone();
    assert_eq!((clean.workers.len(), clean.decisions.is_some()), (2, true));
    world.put_by_hand(ALPHA, "kind: ConfigMap\n");
    world.put_by_hand(&record("charlie"), "x: y\n");
    assert_eq!(found(&world.propose(), Code::HandEdit).len(), 2);
    world.memo = Memo::default();
    assert_eq!(found(&world.propose(), Code::HandEdit).len(), 2);
}

#[test]
fn a_pending_lock_names_the_records() {
    let world = waiting();
    let text = world.output_text("decisions/pending.lock").unwrap();
    let lock: PendingLock =
        carp::model::lock_from_bytes(text.as_bytes(), carp::model::PENDING_SCHEMA).unwrap();
    let huge = Name::parse("huge").unwrap();
    let bytes = world.output_text(&record("huge")).unwrap();
    assert_eq!(lock.clusters[&huge].record, Some(carp::model::blob_id(bytes.as_bytes())));
}

#[test]
fn a_worker_that_is_renamed_is_a_removal_that_is_held_and_a_creation() {
    let mut world = small();
    let before: Vec<_> = ["alpha", "bravo", "echo"].map(|c| world.worker_of(c)).into();
    world.remove("fleet/workers/w-weu.yaml");
    world.write("fleet/workers/w-new.yaml", &worker("w-new", "westeurope", 4));
    let proposal = comes_back(&mut world, None);
    assert_eq!(held(&proposal), [(HoldKind::WorkerInUse, vec!["w-weu".to_owned()])].into());
    let after: Vec<_> = ["alpha", "bravo", "echo"].map(|c| world.worker_of(c)).into();
    assert_eq!(before, after, "nobody moves");
    assert!(world.output_text("workers/w-new/carp.lock").is_some());
    let cluster = world.output_text("control-plane/w-weu/cluster.yaml").unwrap();
    assert!(cluster.contains("kind: Cluster\n"), "the worker's own cluster stays");
}

#[test]
fn a_cluster_that_is_renamed_without_a_deletion_policy_stays_beside_the_new_one() {
    let mut files = small::files();
    let unset = |name: &str| cluster(name, "westeurope").replace("  deletionPolicy: Delete\n", "");
    files.insert("fleet/clusters/alpha.yaml".to_owned(), unset("alpha"));
    let mut world = World::new(files);
    world.run();
    world.write("fleet/clusters/alpha.yaml", &unset("renamed"));
    let proposal = comes_back(&mut world, None);
    assert_eq!(held(&proposal), [(HoldKind::DeletionPolicyUnset, vec!["alpha".to_owned()])].into());
    assert!(world.output_text(ALPHA).unwrap().contains("kind: Cluster\n"));
    assert_eq!(world.worker_of("renamed").as_deref(), Some("w-weu"));
}

#[test]
fn machines_that_somebody_added_by_hand_are_not_set_back_away() {
    let mut world = small();
    let text = world.output_text(ALPHA).unwrap();
    let pool = text.split("---\n").find(|d| d.contains("kind: MachineDeployment")).unwrap();
    let more = pool.replace("alpha-np0", "alpha-hot");
    let edited = format!("{text}---\n{more}");
    world.put_by_hand(ALPHA, &edited);
    let proposal = world.run();
    assert_eq!(held(&proposal)[&HoldKind::Drifted], ["alpha"]);
    assert_eq!(gate(&proposal, "alpha"), Some(GateReason::Drifted));
    assert!(found(&proposal, Code::HandEdit)[0].contains(ALPHA));
    assert_eq!(world.output_text(ALPHA).unwrap(), edited);
    // Somebody who meant it takes them away; what removes nothing is set back as ever.
    world.put_by_hand(ALPHA, text.replace("replicas: 2", "replicas: 3"));
    let proposal = world.run();
    assert!(held(&proposal).is_empty(), "{:?}", proposal.plan.holds);
    assert_eq!(world.output_text(ALPHA).unwrap(), text);
}
