//! What happens to a move midway: its lock is lost.

use carp::model::Decision;

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
