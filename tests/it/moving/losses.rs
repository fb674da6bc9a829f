//! Workers that are lost, for a while or for ever.

use carp::model::MoveProgress;

use super::stage::{OLD, Stage};

const FAILOVER: &str = "failover: {grace: 30m}";

/// A worker that died, long enough for its clusters to be named.
fn lost() -> Stage {
    let mut stage = Stage::new(3, 1, FAILOVER);
    stage.dead.insert(OLD);
    stage.minute += 60;
    let silent = stage.tick();
    assert!(silent.plan.moves().next().is_none(), "the grace begins now");
    stage.minute += 27;
    assert!(stage.tick().plan.moves().next().is_none(), "and is not over");
    stage.minute += 2;
    stage
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
    assert_eq!(proposal.plan.moved("c0").unwrap().progress, MoveProgress::Leaves);
}
