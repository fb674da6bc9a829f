//! Every step of the random histories, for the laws to look at.

use std::cell::RefCell;
use std::sync::LazyLock;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestError, TestRng, TestRunner};

use super::super::Planning;
use super::super::world::World;
use super::history::history;

/// The worlds of random histories, each with its plan: made once, for every law looks at the same.
static STEPS: LazyLock<Vec<(World, Planning)>> = LazyLock::new(|| {
    let steps = RefCell::new(Vec::new());
    let outcome = random_histories(|world, planning| {
        steps.borrow_mut().push((world.clone(), planning.clone()));
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
    steps.into_inner()
});

/// Runs a law on every step of random histories: the world before the plan, and the plan.
pub(in crate::plan) fn every_step(law: impl Fn(&World, &Planning) -> TestCaseResult) {
    hold(STEPS.iter(), law);
}

/// Runs a law that takes long on today's steps, which the seed of the day says: on the next days the others come, and at
/// night all do.
pub(in crate::plan) fn todays_steps(law: impl Fn(&World, &Planning) -> TestCaseResult) {
    let seed: usize = environment("CARP_SEED").parse().unwrap_or(0);
    hold(STEPS.iter().skip(seed % one_of()).step_by(one_of()), law);
}

/// Of how many steps one is today's.
pub(super) fn one_of() -> usize {
    if environment("CARP_BREADTH") == "nightly" { 1 } else { 4 }
}

#[expect(clippy::disallowed_methods, reason = "tests read their environment")]
fn environment(key: &str) -> String {
    std::env::var(key).unwrap_or_default()
}

fn hold<'a>(
    mut steps: impl Iterator<Item = &'a (World, Planning)>,
    law: impl Fn(&World, &Planning) -> TestCaseResult,
) {
    if steps.all(|(world, planning)| law(world, planning).is_ok()) {
        return;
    }
    // Once more from the beginning, for the smallest history that breaks it.
    match random_histories(law) {
        Err(failure) => panic!("{failure}"),
        Ok(()) => panic!("what broke the law came up once and not again"),
    }
}

/// The histories are the same at every call.
fn random_histories(
    law: impl Fn(&World, &Planning) -> TestCaseResult,
) -> Result<(), TestError<Vec<Vec<String>>>> {
    let config = Config { cases: 1024, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, rng).run(&history(), |fleets| {
        let mut committed = World::default();
        for fleet in fleets {
            let world = with_fleet(&committed, &fleet);
            let planning = world.plan();
            law(&world, &planning)?;
            committed = world.after(&planning);
        }
        Ok(())
    })
}

/// What was committed, with another fleet.
fn with_fleet(committed: &World, fleet: &[String]) -> World {
    let read = World::read(&fleet.join("; "));
    let kept = read.previous.kept.clone();
    let World { previous, settled, counted, .. } = committed.clone();
    let mut world = World { previous, settled, counted, ..read };
    world.previous.kept = kept;
    world.load_pools();
    world
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    #[should_panic(expected = "minimal failing input")]
    fn a_law_that_is_broken_is_told_with_a_small_history() {
        every_step(|_, planning| {
            prop_assert!(planning.plan.clusters.is_empty());
            Ok(())
        });
    }
}
