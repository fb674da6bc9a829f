//! A flavor whose clusters need other addresses than their worker has.

use carp::model::{Decision, Proposal, ReasonCode};

use crate::support::small::{self, cluster};
use crate::support::world::World;

const MANIFEST: &str = include_str!("../../templates/kamaji-capz/flavor.yaml");

fn decision(proposal: &Proposal, cluster: &str) -> Decision {
    proposal.plan.clusters[cluster].decision.clone()
}

#[test]
fn templates_that_route_keep_clusters_from_workers_with_their_addresses() {
    let mut world = World::new(small::files());
    world.run();
    world.write("templates/kamaji-capz/flavor.yaml", &format!("{MANIFEST}networks: Apart\n"));
    world.write("fleet/clusters/golf.yaml", &cluster("golf", "westeurope"));
    let proposal = world.run();
    assert!(!proposal.diagnostics.has_errors(), "{:?}", proposal.diagnostics.sorted());
    let Decision::Wait { reasons, .. } = decision(&proposal, "golf") else {
        panic!("{:?}", decision(&proposal, "golf"))
    };
    assert_eq!(reasons, [ReasonCode::Network].into());
    let stays = matches!(decision(&proposal, "alpha"), Decision::Keep { .. });
    assert!(stays, "what is placed stays");
    assert!(!world.run().has_changes());

    let own = "network: {podCIDRs: [10.8.0.0/16], serviceCIDRs: [10.9.0.0/16]}\n  replicas: 2";
    let text = cluster("golf", "westeurope").replace("replicas: 2", own);
    world.write("fleet/clusters/golf.yaml", &text);
    let bound = matches!(decision(&world.run(), "golf"), Decision::Bind(_));
    assert!(bound, "with ranges of its own it is placed");
}

#[test]
fn a_word_that_the_manifest_does_not_know_is_told() {
    let mut world = World::new(small::files());
    world.write("templates/kamaji-capz/flavor.yaml", &format!("{MANIFEST}networks: Disjoint\n"));
    let proposal = world.propose();
    let told: Vec<_> = proposal.diagnostics.sorted().iter().map(|d| d.message.clone()).collect();
    assert!(told.iter().any(|m| m.contains("`Disjoint`") && m.contains("Any, Apart")), "{told:?}");
}
