//! Drains.

use carp::model::{Blocker, Decision, MoveCause};

use super::stage::{NEW, OLD, Stage};

#[test]
fn a_worker_with_ten_clusters_is_drained_two_at_a_time() {
    let mut stage = Stage::new(10, 2, "");
    stage.overlay("drain: {maxUnavailable: 2}");
    for _ in 0..24 {
        let proposal = stage.tick();
        assert!(Stage::away(&proposal) <= 2, "{}", stage.told);
        for name in stage.on(NEW) {
            assert!(!stage.on(OLD).contains(&name), "{name} is on one worker at a time");
        }
    }
    let left: Vec<_> = stage.on(OLD).into_iter().collect();
    assert_eq!(left, ["c8", "c9"], "what cannot move stays\n{}", stage.told);
    assert_eq!(stage.on(NEW).len(), 8);
    insta::assert_snapshot!("drain_of_ten", stage.told);
    let told = stage.worker_status(OLD);
    assert!(told.contains("phase: Draining\n"), "{told}");
    assert!(
        told.contains("reason: NotMovable\n") && told.contains("NotMovable: 2 (c8, c9)"),
        "{told}"
    );
    let stays = stage.cluster_status("c8");
    assert!(stays.contains("type: Moving\n") && stays.contains("reason: NotMovable\n"), "{stays}");
}

#[test]
fn nothing_goes_on_while_no_report_comes() {
    let mut stage = Stage::new(3, 0, "");
    stage.overlay("drain: true");
    let mut before = stage.tick();
    for _ in 0..9 {
        // Whatever was reported last, without a new report there is no next step.
        stage.minute += 1;
        let again = stage.run();
        assert!(!again.has_changes(), "{:?}", again.changes);
        let (was, is) = (&before.plan.clusters, &again.plan.clusters);
        for (name, planned) in was {
            assert_eq!(planned.decision.worker(), is[name].decision.worker(), "{name}");
            assert_eq!(planned.decision.reserved(), is[name].decision.reserved(), "{name}");
        }
        before = stage.tick();
    }
    assert!(!stage.on(NEW).is_empty(), "and with reports there are some: {}", stage.told);
}

#[test]
fn a_cluster_that_moves_is_recorded_counted_and_told_on_both_workers() {
    let mut stage = Stage::new(1, 0, "");
    let before = stage.folder(OLD, "c0");
    stage.overlay("drain: true");
    let proposal = stage.tick();
    assert!(matches!(proposal.plan.clusters["c0"].decision, Decision::Move { .. }));
    assert_eq!(proposal.plan.moves["c0"].cause, MoveCause::Drain);
    assert_eq!(proposal.plan.workers[OLD].clusters, 1);
    assert_eq!(proposal.plan.workers[NEW].clusters, 1);
    assert!(
        proposal.message.contains("a new, empty cluster is made on w-eus"),
        "{}",
        proposal.message
    );
    insta::assert_snapshot!("record_moving", stage.record("c0"));
    assert!(stage.file(&format!("workers/{NEW}/carp.lock")).contains("\"state\":\"Reserved\""));
    assert!(stage.on(NEW).is_empty(), "nothing of it is rendered there");
    assert!(stage.file(&format!("workers/{NEW}/clusters.yaml")).starts_with("# No cluster"));
    let told = stage.cluster_status("c0");
    assert!(told.contains("phase: Deleting\n") && told.contains("new, empty cluster"), "{told}");
    while stage.on(NEW).is_empty() {
        stage.tick();
    }
    assert_eq!(stage.on(OLD).len(), 0);
    insta::assert_snapshot!("record_moved", stage.record("c0"));
    let place = |text: &str| text.replace("digest", "").len();
    assert!(place(&stage.folder(NEW, "c0")) > place(&before) / 2, "it is whole");
    assert!(stage.file(&format!("workers/{NEW}/carp.lock")).contains("\"moves\":"));
    stage.tick();
    stage.tick();
    assert!(!stage.file(&format!("workers/{NEW}/carp.lock")).contains("\"moves\":"), "it runs");
    let told = stage.worker_status(OLD);
    assert!(told.contains("type: Drained\n") && told.contains("reason: Empty\n"), "{told}");
}

#[test]
fn a_drain_that_is_lifted_in_time_calls_the_move_off() {
    let mut stage = Stage::new(1, 0, "");
    let before = stage.folder(OLD, "c0");
    stage.overlay("drain: true");
    // The worker does not apply what is committed, and what it reported stands: nothing was deleted.
    stage.dead.insert(OLD);
    stage.tick();
    assert_ne!(stage.folder(OLD, "c0"), before);
    stage.world.remove(&format!("fleet/overlays/{OLD}.yaml"));
    let proposal = stage.tick();
    assert_eq!(
        proposal.plan.clusters["c0"].decision.worker().map(carp::model::Name::as_str),
        Some(OLD)
    );
    assert!(proposal.message.contains("c0 stays on w-weu"), "{}", proposal.message);
    assert_eq!(stage.folder(OLD, "c0"), before, "the very bytes");
    assert_eq!(proposal.plan.workers[NEW].clusters, 0, "and the place is free");
    assert!(stage.record("c0").contains("state: Bound\n"));
}

#[test]
fn a_full_fleet_holds_its_drain() {
    let mut stage = Stage::new(2, 0, "");
    stage.world.edit(&format!("fleet/workers/{NEW}.yaml"), "capacity: 20", "capacity: 0");
    stage.overlay("drain: true");
    let proposal = stage.tick();
    assert!(proposal.plan.moves.is_empty());
    let stay = &proposal.plan.stays["c0"];
    assert!(matches!(stay.blocker, Blocker::NoWorkerFits(_)), "{stay:?}");
}
