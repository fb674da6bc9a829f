//! Drains.

use carp::model::{Decision, MoveCause};

use super::stage::{NEW, OLD, Stage};

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
    assert_eq!(proposal.plan.moved("c0").unwrap().cause, MoveCause::Drain);
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
