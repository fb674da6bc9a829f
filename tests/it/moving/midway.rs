//! What happens to a move midway: its cluster is removed, its target is lost, its lock is lost.

use carp::model::{Decision, HoldKind, Progress};

use super::stage::{NEW, OLD, Stage};

/// One cluster that leaves its worker.
fn leaving() -> Stage {
    let mut stage = Stage::new(1, 0, "");
    stage.overlay("drain: true");
    stage.tick();
    assert!(stage.record("c0").contains("state: Moving\n"));
    stage
}

#[test]
fn a_cluster_that_is_removed_goes_and_is_made_nowhere() {
    let mut stage = leaving();
    stage.world.remove("fleet/clusters/c0.yaml");
    let proposal = stage.tick();
    assert!(matches!(proposal.plan.clusters["c0"].decision, Decision::Delete { .. }));
    assert_eq!(proposal.plan.workers[NEW].clusters, 0, "its place is free");
    for _ in 0..4 {
        stage.tick();
    }
    assert!(stage.world.output_files().keys().all(|path| !path.contains("c0")), "nothing is left");
}

#[test]
fn a_lock_that_is_lost_midway_is_rebuilt_with_its_place() {
    for worker in [OLD, NEW] {
        let mut stage = leaving();
        let path = format!("workers/{worker}/carp.lock");
        let before = stage.file(&path);
        stage.world.remove_by_hand(&path);
        let proposal = stage.run();
        assert!(matches!(proposal.plan.clusters["c0"].decision, Decision::Move { .. }), "{worker}");
        let row_of = |text: &str| text.lines().find(|l| l.contains("\"c0\"")).map(str::to_owned);
        let (was, is) = (row_of(&before).unwrap(), row_of(&stage.file(&path)).unwrap());
        for word in
            ["\"state\":\"Reserved\"", "\"state\":\"Deleting\"", "\"moves\":{\"cause\":\"Drain\""]
        {
            assert_eq!(was.contains(word), is.contains(word), "{word}: {was}\n{is}");
        }
        for _ in 0..6 {
            stage.tick();
        }
        assert_eq!(stage.on(NEW).len(), 1, "{worker}: it arrives");
    }
}

#[test]
fn a_target_that_is_removed_is_given_up() {
    let mut stage = leaving();
    stage.world.remove(&format!("fleet/workers/{NEW}.yaml"));
    let proposal = stage.tick();
    assert!(matches!(proposal.plan.clusters["c0"].decision, Decision::Delete { .. }));
    let kinds: Vec<_> = proposal.plan.holds.iter().map(|hold| hold.kind).collect();
    assert!(kinds.contains(&HoldKind::NameStillDeleting), "{kinds:?}");
    for _ in 0..4 {
        stage.tick();
    }
    assert!(stage.record("c0").contains("state: Pending\n"), "{}", stage.record("c0"));
}

#[test]
fn a_move_that_policies_ask_for_is_counted_by_the_guard() {
    let mut stage = Stage::new(2, 0, "");
    let policy = format!(
        "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicy\nmetadata:\n  name: mine\nspec:\n  priority: \
         1\n  onViolation: Move\n  affinity:\n    required:\n      - names: [{NEW}]\n"
    );
    stage.world.write("policies/mine.yaml", &policy);
    let proposal = stage.tick();
    let hold = proposal.plan.holds.iter().find(|h| h.kind == HoldKind::MassMove).unwrap();
    assert_eq!(hold.names, ["c0", "c1"]);
    assert!(proposal.plan.moves.is_empty());
    assert!(proposal.changes.iter().all(|change| change.path.ends_with("fleet.lock")));
    assert_eq!(proposal.plan.workers[NEW].clusters, 0, "no place is kept for what is held");
    let told = stage.cluster_status("c0");
    assert!(told.contains("type: PlacementViolated\n"), "{told}");
    let ack = format!(
        "apiVersion: carp.dev/v1alpha1\nkind: Acknowledgement\nmetadata:\n  name: yes\nspec:\n  of: moves\n  \
         count: 2\n  digest: \"{}\"\n",
        hold.digest()
    );
    stage.world.write("fleet/acknowledgements/yes.yaml", &ack.replace("name: yes", "name: both"));
    let moves = stage.tick();
    assert_eq!(moves.plan.moves.len(), 2);
    assert_eq!(moves.plan.deletions["c0"].progress, Progress::Begins);
    for _ in 0..5 {
        stage.tick();
    }
    assert_eq!(stage.on(NEW).len(), 2);
}
