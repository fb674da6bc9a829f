//! A run that plans those that wait, and nobody who is placed, says what a run says that looks at everything, over random
//! histories of fleets that are full.

use proptest::prelude::*;

use crate::affected_law::Standing;
use crate::memo_law::{Edit, apply};
use crate::removed_law::Going;
use crate::support::breadth;
use crate::support::small;

/// What people and workers do.
#[derive(Clone, Debug)]
enum Step {
    Add(u8),
    Remove(u8),
    Edit(Edit),
    Gone(u8),
}

fn path(number: u8) -> String {
    format!("fleet/clusters/r{:02}.yaml", number % 12)
}

/// A cluster that may go to any worker, or to those in one place.
fn cluster(number: u8) -> String {
    let location = ["westeurope", "eastus"][usize::from(number) % 2];
    let text = small::cluster(&format!("r{:02}", number % 12), location);
    let required =
        format!("  placement: {{affinity: {{required: [{{locations: [{location}]}}]}}}}\n");
    if number.is_multiple_of(3) { text + &required } else { text }
}

impl Standing {
    /// The small fleet, whose workers report and have room for so many.
    fn full(capacity: u32) -> Self {
        Self::of_reporting(small::files(), capacity)
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Add(number) => drop(self.world.write(&path(*number), &cluster(*number))),
            Step::Remove(number) => drop(self.world.files.remove(&path(*number))),
            Step::Edit(edit) => apply(&mut self.world, edit),
            Step::Gone(worker) => self.say(*worker, Going::Evidence),
        }
    }

    fn pending(&self) -> u64 {
        self.baseline.as_ref().map_or(0, |(baseline, _)| baseline.counts.pending)
    }
}

fn steps() -> impl Strategy<Value = Vec<Vec<Step>>> {
    let edit = prop_oneof![
        any::<(u8, u8)>().prop_map(|(c, n)| Edit::Tag(c, n)),
        any::<(u8, u8)>().prop_map(|(c, n)| Edit::Label(c, n)),
        any::<(u8, u8)>().prop_map(|(c, n)| Edit::Version(c, n)),
        any::<(u8, u8)>().prop_map(|(c, n)| Edit::Comment(c, n)),
    ];
    let step = prop_oneof![
        4 => any::<u8>().prop_map(Step::Add),
        2 => any::<u8>().prop_map(Step::Remove),
        2 => edit.prop_map(Step::Edit),
        3 => (0..2_u8).prop_map(Step::Gone),
    ];
    prop::collection::vec(prop::collection::vec(step, 1..4), 1..10)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: breadth(24, 512), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_stands_is_never_what_the_queue_affects(
        capacity in 3..6_u32,
        rules in prop_oneof![Just(0_u8), 0..4_u8],
        quota in prop::option::of(6..12_u8),
        history in steps(),
    ) {
        let mut standing = Standing::full(capacity);
        apply(&mut standing.world, &Edit::Rules(rules));
        if let Some(n) = quota {
            apply(&mut standing.world, &Edit::Quota(n));
        }
        for _ in 0..3 {
            standing.run();
        }
        for (minute, steps) in (1..).zip(history) {
            standing.world.now = crate::support::world::after_nine(minute);
            for step in &steps {
                standing.step(step);
            }
            standing.run();
            standing.run();
        }
    }
}

#[test]
fn clusters_that_nobody_takes_come_to_wait() {
    let mut standing = Standing::full(3);
    for number in [1, 2] {
        standing.step(&Step::Add(number));
        let before = standing.world.output;
        assert!(standing.run(), "it is held against all workers");
        assert_ne!(standing.world.output, before);
        assert!(standing.run(), "and looked at once more");
        assert_eq!(standing.pending(), u64::from(number));
    }
    standing.step(&Step::Edit(Edit::Version(1, 1)));
    assert!(standing.run() && standing.run(), "one that waits is edited");
    standing.step(&Step::Remove(1));
    assert!(standing.run() && standing.run(), "and gone");
    assert_eq!(standing.pending(), 1);
}

#[test]
fn room_that_comes_back_is_given_to_those_that_wait() {
    let mut standing = Standing::full(3);
    for number in [1, 2] {
        standing.step(&Step::Add(number));
    }
    standing.stand();
    assert_eq!(standing.pending(), 2);
    standing.world.remove("fleet/clusters/alpha.yaml");
    for _ in 0..2 {
        assert!(standing.run() && standing.run());
        standing.say(0, Going::Evidence);
    }
    assert!(standing.run(), "it ends");
    assert_eq!(standing.pending(), 1, "one of them came");
    assert!(standing.run());
    let came = ["r01", "r02"].map(|name| standing.world.worker_of(name));
    assert_eq!(came.iter().flatten().count(), 1);
}

#[test]
fn a_quota_that_is_full_since_one_came_is_told() {
    let mut standing = Standing::full(4);
    apply(&mut standing.world, &Edit::Quota(7));
    let text = small::cluster("r01", "westeurope");
    let elsewhere = "  placement: {affinity: {required: [{names: [w-neu]}]}}\n";
    standing.world.write(&path(1), &(text.clone() + elsewhere));
    standing.stand();
    assert_eq!(standing.pending(), 1);
    standing.world.write(&path(1), &text);
    assert!(standing.run(), "it comes by a run of what changed");
    assert_eq!(standing.pending(), 0);
    let quotas = carp::change::pressure(&standing.world.propose_afresh()).quotas;
    assert!(quotas.contains_key("shop"), "{quotas:?}");
    standing.looks();
}
