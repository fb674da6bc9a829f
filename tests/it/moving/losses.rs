//! Workers that are lost, for a while or for ever.

use carp::diag::Code;
use carp::model::{Decision, Ending, MoveProgress, Progress};

use super::stage::{NEW, OLD, Stage};

const FAILOVER: &str = "failover: {grace: 30m}";

/// A worker that died, long enough for its clusters to be named.
fn lost() -> Stage {
    let mut stage = Stage::new(3, 1, FAILOVER);
    stage.dead.insert(OLD);
    stage.minute += 60;
    let silent = stage.tick();
    assert!(silent.plan.moves.is_empty(), "the grace begins now");
    stage.minute += 27;
    assert!(stage.tick().plan.moves.is_empty(), "and is not over");
    stage.minute += 2;
    stage
}

#[test]
fn a_worker_that_dies_and_returns_loses_nothing() {
    let mut stage = lost();
    let before = stage.folder(OLD, "c0");
    let proposal = stage.tick();
    for name in ["c0", "c1"] {
        let decision = &proposal.plan.clusters[name].decision;
        assert!(matches!(decision, Decision::Move { step: None, .. }), "{decision:?}");
    }
    assert!(matches!(proposal.plan.clusters["c2"].decision, Decision::Keep { .. }));
    assert_eq!(
        stage.folder(OLD, "c0"),
        before,
        "what it will apply when it comes back is the same"
    );
    assert!(stage.on(NEW).is_empty());
    let held = stage.cluster_status("c2");
    assert!(held.contains("reason: NotMovable\n"), "{held}");
    let told = stage.cluster_status("c0");
    assert!(told.contains("phase: Unknown\n") && told.contains("gone for ever"), "{told}");
    for _ in 0..3 {
        stage.minute += 500;
        assert!(!stage.tick().has_changes(), "it waits for a person");
    }
    stage.dead.clear();
    let back = stage.tick();
    assert_eq!(back.plan.moves["c0"].progress, MoveProgress::CalledOff);
    assert_eq!(stage.folder(OLD, "c0"), before);
    assert!(stage.record("c0").contains("state: Bound\nworker: w-weu\n"), "{}", stage.record("c0"));
    assert_eq!(back.plan.workers[NEW].clusters, 0);
    insta::assert_snapshot!("dies_and_returns", stage.told);
}

#[test]
fn a_worker_that_is_said_to_be_gone_for_ever_is_left_behind() {
    let mut stage = lost();
    stage.tick();
    let set = stage.abandon();
    assert_eq!(set.names, ["c0", "c1"]);
    let proposal = stage.tick();
    for name in ["c0", "c1"] {
        let deletion = &proposal.plan.deletions[name];
        assert_eq!(deletion.progress, Progress::Ends(Ending::Abandoned));
        assert!(stage.folder(NEW, name).contains("kind: Cluster\n"), "it is made anew");
    }
    assert_eq!(stage.on(OLD).len(), 1, "what may not move stays");
    assert!(stage.record("c0").contains("state: Bound\nworker: w-eus\n"), "{}", stage.record("c0"));
    insta::assert_snapshot!("abandoned", stage.told);
    // It returns after all, as it was: that is told, and moves nothing.
    stage.minute += 1;
    stage.says_again(OLD, stage.minute);
    let back = stage.run();
    assert!(back.diagnostics.iter().any(|d| d.code == Code::ReportContradiction));
    assert_eq!(stage.on(NEW).len(), 2);
}

#[test]
fn a_late_report_brings_nobody_back() {
    let mut stage = lost();
    stage.tick();
    let minute = stage.minute;
    // A report of before the silence comes late.
    stage.minute = minute + 1;
    stage.says_again(OLD, 50);
    let proposal = stage.run();
    assert!(!proposal.has_changes(), "{:?}", proposal.changes);
    assert_eq!(proposal.plan.moves["c0"].progress, MoveProgress::Leaves);
}
