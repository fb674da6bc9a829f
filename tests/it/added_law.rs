//! A run that places new clusters by what stands on the workers says what a run says that looks at everything, over random
//! histories.

use std::sync::OnceLock;

use proptest::prelude::*;

use crate::affected_law::Standing;
use crate::memo_law::{Edit, apply};
use crate::support::breadth;
use crate::support::small;

/// Clusters that come, one or several at once, each with a label by which rules tell clusters apart.
#[derive(Clone, Debug)]
struct Coming {
    /// By its name, its location and its label.
    clusters: Vec<(u8, u8, u8)>,
    /// Another policy, another quota, or an edit of a cluster, before.
    before: Option<(u8, u8)>,
}

fn coming() -> impl Strategy<Value = Vec<Coming>> {
    let clusters = prop::collection::vec((0..30_u8, 0..3_u8, 0..4_u8), 1..3);
    let one = (clusters, any::<Option<(u8, u8)>>());
    prop::collection::vec(one.prop_map(|(clusters, before)| Coming { clusters, before }), 1..9)
}

impl Standing {
    /// Four workers with room, in three locations.
    fn roomy() -> Self {
        static ROOMY: OnceLock<Standing> = OnceLock::new();
        let first_runs = || {
            let mut standing = Self::new();
            let places = ["westeurope", "eastus", "northeurope", "westeurope"];
            for (name, location) in ["w-weu", "w-eus", "w-neu", "w-two"].into_iter().zip(places) {
                let text = small::worker(name, location, 12);
                standing.world.write(&format!("fleet/workers/{name}.yaml"), &text);
            }
            standing.run();
            standing.run();
            standing
        };
        ROOMY.get_or_init(first_runs).clone()
    }

    pub(crate) fn come(&mut self, (number, location, label): (u8, u8, u8)) {
        let location = ["westeurope", "eastus", "northeurope"][usize::from(location)];
        let text = small::cluster(&format!("n{number:02}"), location);
        let labels = format!("  labels: {{team: t{label}}}\nspec:\n");
        let text = if label == 3 { text } else { text.replacen("spec:\n", &labels, 1) };
        self.world.write(&format!("fleet/clusters/n{number:02}.yaml"), &text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: breadth(24, 512), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_stands_is_never_what_a_new_cluster_affects(history in coming()) {
        let mut standing = Standing::roomy();
        for Coming { clusters, before } in history {
            if let Some((which, how)) = before {
                let edit = match which % 5 {
                    4 => Edit::Own(how, how),
                    0 => Edit::Rules(how),
                    1 => Edit::Quota(how),
                    2 => Edit::Capacity(how, how),
                    _ => Edit::Tag(1, how),
                };
                apply(&mut standing.world, &edit);
                standing.run();
                standing.run();
            }
            for cluster in clusters {
                standing.come(cluster);
            }
            standing.run();
            standing.run();
        }
    }
}

#[test]
fn a_new_cluster_is_placed_by_what_stands() {
    let mut standing = Standing::roomy();
    let mut next = 0..;
    let mut comes = |standing: &mut Standing, label: u8| {
        let number = next.next().unwrap();
        standing.come((number, number % 3, label));
        let before = standing.world.output;
        let is_small = standing.run();
        assert!(!is_small || standing.world.output != before);
        // It is looked at once more, and stands then.
        assert!(standing.run() || !is_small);
        is_small
    };
    for (edit, what) in [
        (Edit::Quota(11), "a quota"),
        (Edit::Drift(0), "no rule"),
        (Edit::Rules(1), "spread"),
        (Edit::Rules(3), "spread and kept apart"),
    ] {
        apply(&mut standing.world, &edit);
        for _ in 0..3 {
            standing.run();
        }
        assert!(comes(&mut standing, 0) && comes(&mut standing, 3), "{what}");
    }
    standing.come((40, 0, 3));
    standing.come((41, 1, 3));
    assert!(standing.run(), "two at once");
    apply(&mut standing.world, &Edit::Quota(1));
    for _ in 0..3 {
        standing.run();
    }
    assert!(!comes(&mut standing, 3), "it waits");
}

/// A cluster keeps others of its label away, and no policy has any rule: a new one is placed as everything would place
/// it.
#[test]
fn a_rule_of_a_placed_cluster_counts_for_a_new_one() {
    let mut standing = Standing::roomy();
    apply(&mut standing.world, &Edit::Add(1));
    standing.stand();
    apply(&mut standing.world, &Edit::Own(1, 0));
    standing.stand();
    let own = standing.world.worker_of("r01").unwrap();
    for number in 0..4 {
        standing.come((number, 1, 0));
        standing.run();
        standing.run();
        let there = standing.world.worker_of(&format!("n{number:02}"));
        assert!(there.is_some_and(|there| there != own), "it is kept away");
    }
}

#[test]
fn a_pool_that_nobody_has_is_found_of_a_new_cluster() {
    let mut standing = Standing::roomy();
    let text = small::cluster("n01", "eastus");
    standing
        .world
        .write("fleet/clusters/n01.yaml", &format!("{text}  placement: {{pools: [nowhere]}}\n"));
    assert!(!standing.run(), "whether there is such a pool is asked of all workers");
}

/// A worker that reports its clusters is no reason to look at everything where a new one comes.
#[test]
fn a_new_cluster_is_placed_by_what_stands_where_workers_report() {
    let mut standing = Standing::observed("");
    standing.come((1, 0, 3));
    assert!(standing.run() && standing.run());
    assert!(standing.world.worker_of("n01").is_some());
}

/// What a policy prefers is read where a cluster is placed: nobody who is or waits is looked at.
#[test]
fn a_policy_that_weighs_otherwise_looks_at_nobody() {
    let mut standing = Standing::roomy();
    apply(&mut standing.world, &Edit::Rules(7));
    standing.stand();
    apply(&mut standing.world, &Edit::Rules(11));
    let before = standing.world.output;
    assert!(standing.run());
    assert_eq!(standing.world.output, before);
    standing.come((1, 0, 0));
    assert!(standing.run() && standing.run(), "by the policy as it is now");
    apply(&mut standing.world, &Edit::Rules(8));
    assert!(!standing.run(), "it keeps nobody apart any more");
}
