//! What would place a cluster that waits is found by what stands on the workers as a look at everything finds it, over
//! random fleets that are full.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use carp::model::{Decision, Name, Proposal};
use carp::pipeline::Sought;
use proptest::prelude::*;

use crate::affected_law::Standing;
use crate::support::breadth;
use crate::support::reconciled::Reconciled;
use crate::support::small::{self, cluster, worker};

const LOCATIONS: [&str; 3] = ["westeurope", "eastus", "northeurope"];

/// A fleet, as bits say it.
#[derive(Clone, Debug)]
struct FullFleet {
    workers: [u8; 3],
    policy: u8,
    tenant: u8,
    clusters: Vec<u8>,
}

impl FullFleet {
    fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::from([("carp.yaml".to_owned(), self.carp_yaml())]);
        for (at, bits) in self.workers.iter().enumerate() {
            files.insert(format!("fleet/workers/w{at}.yaml"), worker_of(at, *bits));
        }
        for (at, bits) in self.clusters.iter().enumerate() {
            files.insert(format!("fleet/clusters/c{at}.yaml"), cluster_of(at, *bits));
        }
        let policies = [("all", self.of_all()), ("gold", self.of_gold())];
        for (name, policy) in policies.into_iter().filter_map(|(name, p)| Some((name, p?))) {
            let head = "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicy\nmetadata:\n  name: ";
            files.insert(format!("policies/{name}.yaml"), format!("{head}{name}\nspec:\n{policy}"));
        }
        files
    }

    fn carp_yaml(&self) -> String {
        let mut text = small::FLEET.to_owned();
        if self.tenant & 1 != 0 {
            let pools = if self.tenant & 2 != 0 { "pools: [prod], " } else { "" };
            let clusters = 2 + self.tenant / 4 % 4;
            let quota = format!("quota: {{total: {{clusters: {clusters}}}}}");
            let _ = writeln!(text, "  tenants:\n  - {{name: shop, {pools}{quota}}}");
        }
        text
    }

    fn of_all(&self) -> Option<String> {
        let mut text = "  clusterSelector: {}\n".to_owned();
        if self.policy & 1 != 0 {
            text += "  spread:\n  - {topologyKey: carp.dev/location, maxSkew: 1, matchLabelKeys: [team]}\n";
        }
        if self.policy & 2 != 0 {
            text += "  antiAffinity:\n  - {topologyKey: carp.dev/worker, matchLabelKeys: [team]}\n";
        }
        (self.policy & 3 != 0).then_some(text)
    }

    fn of_gold(&self) -> Option<String> {
        let mut text = "  clusterSelector: {matchLabels: {tier: gold}}\n  priority: 5\n".to_owned();
        if self.policy & 8 != 0 {
            text += "  affinity: {required: [{matchLabels: {tier: gold}}]}\n";
        } else {
            text += "  affinity: {groups: [{name: near, required: [{locations: [eastus]}]}]}\n";
        }
        if self.policy & 16 != 0 {
            text += "  pools: [prod]\n";
        }
        if self.policy & 32 != 0 {
            text += "  tolerations: [{key: dedicated, operator: Exists}]\n";
        }
        if self.policy & 0xC0 == 0xC0 {
            text += "  onViolation: Move\n";
        }
        (self.policy & 4 != 0).then_some(text)
    }
}

/// A worker with room for one to three.
fn worker_of(at: usize, bits: u8) -> String {
    let mut text = worker(&format!("w{at}"), LOCATIONS[at], u32::from(1 + bits / 32 % 3));
    if bits & 1 != 0 {
        text += "  unschedulable: true\n";
    }
    if bits & 2 != 0 {
        text += "  taints: [{key: dedicated, value: batch, effect: NoSchedule}]\n";
    }
    if bits & 8 != 0 {
        text += "  pool: prod\n";
    }
    if bits & 16 != 0 {
        text += "  ceiling: {clusters: 4}\n";
    }
    let labels = if bits & 4 != 0 { "  labels: {tier: gold}\n" } else { "" };
    text.replacen("spec:\n", &format!("{labels}spec:\n"), 1)
}

fn cluster_of(at: usize, bits: u8) -> String {
    let location = LOCATIONS[usize::from(bits) % 3];
    let mut text = cluster(&format!("c{at}"), location);
    let mut placement = Vec::new();
    if bits & 4 != 0 {
        placement.push(format!("affinity: {{required: [{{locations: [{location}]}}]}}"));
    }
    if bits & 0xC0 == 0xC0 {
        let spread = "spread: [{topologyKey: carp.dev/worker, maxSkew: 1, matchLabelKeys: [team]}]";
        placement.push(spread.to_owned());
    }
    if !placement.is_empty() {
        let _ = writeln!(text, "  placement: {{{}}}", placement.join(", "));
    }
    if bits & 32 != 0 {
        text += "  priority: 10\n";
    }
    let tier = if bits & 8 != 0 { ", tier: gold" } else { "" };
    let labels = format!("  labels: {{team: t{}{tier}}}\n", bits / 16 % 2);
    text.replacen("spec:\n", &format!("{labels}spec:\n"), 1)
}

impl Standing {
    /// What is read to say why the first in the queue waits.
    fn first_in_queue(&self) -> Proposal {
        let (_, documents) = self.baseline.as_ref().expect("the fleet stands");
        let (_, queue) = documents.queue.as_ref().expect("there is a lock");
        let mut labels = queue.labels.iter().flat_map(|labels| labels.keys());
        assert!(labels.all(|key| queue.keys.contains(key)), "nobody reads the others");
        self.look(&Sought::Reasons(queue.clusters[0].name.clone()))
            .expect("it is known by what stands")
    }

    /// Holds what is said of each cluster that waits against a look at everything. How many wait, and of how many it was
    /// known by what stands.
    fn whys(&self) -> (usize, usize) {
        let whole = self.world.propose_afresh();
        let waits = whole.plan.clusters.iter().filter_map(|(name, planned)| {
            matches!(planned.decision, Decision::Wait { .. }).then_some(name)
        });
        let waits: Vec<&Name> = waits.collect();
        let known = waits.iter().filter(|name| self.is_explained(name, &whole)).count();
        (waits.len(), known)
    }
}

fn fleets() -> impl Strategy<Value = FullFleet> {
    let policy = prop_oneof![Just(0_u8), any::<u8>()];
    let tenant = prop_oneof![Just(0_u8), any::<u8>()];
    (any::<[u8; 3]>(), policy, tenant, prop::collection::vec(any::<u8>(), 4..9)).prop_map(
        |(workers, policy, tenant, clusters)| FullFleet { workers, policy, tenant, clusters },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: breadth(24, 512), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_would_place_a_cluster_is_known_by_what_stands(fleet in fleets()) {
        let mut standing = Standing::of_world(fleet.files());
        standing.stand();
        standing.whys();
    }
}

/// Where nothing asks for more than is counted, everybody who waits is explained by what stands.
#[test]
fn who_waits_is_explained_by_what_stands() {
    let plain = FullFleet { workers: [1, 2, 0], policy: 0, tenant: 0, clusters: vec![0; 4] };
    let ruled =
        FullFleet { policy: 0b10_1111, tenant: 1, clusters: vec![8, 0, 16, 1], ..plain.clone() };
    for (fleet, in_order) in [(plain.clone(), true), (ruled, false)] {
        let mut standing = Standing::of_world(fleet.files());
        standing.stand();
        let (waits, known) = standing.whys();
        assert!(waits > 1 && known == waits, "{known} of {waits}: {fleet:?}");
        let read = standing.first_in_queue().fleet.clusters.len();
        assert_eq!(read, if in_order { 1 } else { waits }, "those behind it: {fleet:?}");
    }
    let moves = FullFleet { workers: [4; 3], policy: 0b1100_1100, ..plain };
    let of = |clusters: Vec<u8>| {
        let mut standing = Standing::of_world(FullFleet { clusters, ..moves.clone() }.files());
        standing.stand();
        standing.whys()
    };
    assert_eq!(of(vec![8; 5]), (2, 2), "room for more makes nobody leave");
    let bare = FullFleet { workers: [0; 3], clusters: vec![8, 0, 1, 2], ..moves };
    let mut standing = Standing::of_world(bare.files());
    standing.stand();
    assert!(
        matches!(standing.whys(), (1.., 0)),
        "other labels may, and nobody read who stands there"
    );
}

/// The program says the same of a fleet in which what stands does not tell, with what the last run left and without.
#[test]
fn where_what_stands_does_not_tell_all_is_looked_at() {
    let moving =
        FullFleet { workers: [0; 3], policy: 0b1100_1100, tenant: 0, clusters: vec![8, 0, 1, 2] };
    let fleet = Reconciled::of(&moving.files());
    for _ in 0..3 {
        assert_eq!(fleet.carp(&["reconcile", "--once"]).exit, 0);
    }
    let explain = || fleet.carp(&["explain", "cluster/c0"]);
    let with = explain();
    assert!(with.out.contains("would place it:"), "{}{}", with.out, with.err);
    std::fs::remove_dir_all(fleet.path().join(".git/carp")).unwrap();
    let without = explain();
    assert_eq!((with.exit, with.out, with.err), (without.exit, without.out, without.err));
}
