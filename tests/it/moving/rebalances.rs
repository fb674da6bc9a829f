//! Rebalances that somebody requests.

use carp::diag::Code;
use carp::model::{Decision, DeletionStep, MoveCause, Proposal};

use super::stage::{NEW, OLD, Stage};

/// The clusters that are on the move for a rebalance, and how far each is on the worker that it leaves.
fn leaving(proposal: &Proposal) -> Vec<(&str, DeletionStep)> {
    let moves = proposal.plan.moves().filter(|(_, m)| m.cause == MoveCause::Rebalance);
    let step = |name: &'_ carp::model::Name| match proposal.plan.clusters[name].decision {
        Decision::Move { step, .. } => step,
        _ => None,
    };
    moves.filter_map(|(name, _)| Some((name.as_str(), step(name)?))).collect()
}

fn mismatches(proposal: &Proposal) -> usize {
    proposal.diagnostics.iter().filter(|d| d.code == Code::AcknowledgementMismatch).count()
}

#[test]
fn nothing_moves_where_the_set_is_another_one_by_then() {
    let mut stage = Stage::uneven(8);
    let rebuild = "  onWorkerLoss: Rebuild\n";
    stage.world.edit("fleet/clusters/c1.yaml", rebuild, "");
    stage.rebalance(&["c0", "c1"]);
    for _ in 0..3 {
        let proposal = stage.tick();
        assert_eq!(
            (leaving(&proposal).len(), mismatches(&proposal)),
            (0, 1),
            "c0 and c2 are meant?"
        );
    }
    assert!(stage.on(NEW).is_empty());
    assert!(!stage.file("control-plane/fleet.lock").contains("rebalance"), "it is not spent");
    // While something did not load nothing is chosen, so it is another set again.
    let text = stage.world.files["fleet/clusters/c7.yaml"].clone();
    stage.world.write("fleet/clusters/c7.yaml", "kind: [");
    stage.rebalance(&["c0", "c2"]);
    let proposal = stage.tick();
    assert_eq!((leaving(&proposal).len(), mismatches(&proposal)), (0, 1));
    stage.world.write("fleet/clusters/c7.yaml", &text);
    let proposal = stage.tick();
    assert_eq!(leaving(&proposal).len(), 2);
}

#[test]
fn a_late_report_holds_the_next_step() {
    let mut stage = Stage::uneven(8);
    stage.rebalance(&["c0", "c1"]);
    stage.tick();
    stage.dead.insert(OLD);
    for _ in 0..4 {
        let proposal = stage.tick();
        let at_first = [("c0", DeletionStep::D1), ("c1", DeletionStep::D1)];
        assert_eq!(leaving(&proposal), at_first, "nothing is called off, and nothing goes on");
    }
    assert_eq!((stage.on(OLD).len(), stage.on(NEW).len()), (8, 0));
    stage.dead.clear();
    assert_eq!(leaving(&stage.tick()).len(), 2);
    for _ in 0..6 {
        stage.tick();
    }
    assert_eq!((stage.on(OLD).len(), stage.on(NEW).len()), (6, 2), "{}", stage.told);
}
