//! Another flavor is another cluster: of what runs the last good folder stays, whoever asks for another.

use carp::model::{GateReason, HoldKind, Proposal};

use crate::support::small;
use crate::support::world::World;

const WORKER: &str = "control-plane/w-weu/cluster.yaml";
const ALPHA: &str = "workers/w-weu/clusters/alpha/cluster.yaml";

fn told_of(proposal: &Proposal, name: &str) -> Vec<GateReason> {
    let gates = proposal.gates.iter().filter(|gate| gate.name.as_str() == name);
    gates.map(|gate| gate.reason).collect()
}

/// What is held, beyond what names the cluster itself.
fn holds(proposal: &Proposal) -> Vec<HoldKind> {
    proposal.plan.holds.iter().map(|hold| hold.kind).collect()
}

#[test]
fn a_worker_that_runs_keeps_its_flavor() {
    let mut world = World::new(small::files());
    world.run();
    let before = world.output_text(WORKER).unwrap();
    world.edit("fleet/workers/w-weu.yaml", "spec:\n", "spec:\n  flavor: kind\n");
    for _ in 0..2 {
        let proposal = world.run();
        let told = (told_of(&proposal, "w-weu"), holds(&proposal));
        assert!(!told.0.is_empty() || !told.1.is_empty(), "it is told: {told:?}");
        assert_eq!(world.output_text(WORKER).unwrap(), before, "{told:?}");
    }
}

#[test]
fn a_cluster_that_runs_keeps_its_flavor() {
    let mut world = World::new(small::files());
    world.run();
    let before = world.output_text(ALPHA).unwrap();
    world.edit("fleet/clusters/alpha.yaml", "spec:\n", "spec:\n  flavor: kind\n");
    for _ in 0..2 {
        let proposal = world.run();
        let told = (told_of(&proposal, "alpha"), holds(&proposal));
        assert!(!told.0.is_empty() || !told.1.is_empty(), "it is told: {told:?}");
        assert_eq!(world.output_text(ALPHA).unwrap(), before, "{told:?}");
    }
}
