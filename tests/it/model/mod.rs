//! The model test: people and several carps at once, killed wherever it hurts, against a bare path and a
//! real HTTP server on loopback. After each round, when everything is quiet, nothing is lost and the tree
//! is the plan of the last inputs.
//!
//! A seed fixes the moves; which process is faster is the machine's affair. Where an invariant fails, the
//! story of that world is printed with its seed:
//!
//! ```sh
//! CARP_MODEL_SEED=17 cargo test --test it model::           # that world again, on both transports
//! CARP_MODEL_ROUNDS=1000 cargo test --test it model::       # more worlds, this many rounds in each test
//! ```

mod input;
mod invariants;
mod moves;
mod output;
mod rounds;
mod runner;
mod settle;
mod world;

use crate::support::generator::Random;
use crate::support::{breadth, skip};
use world::{Transport, World};

/// The rounds of each test where nothing else is asked for: with every change, and in the nightly.
const ROUNDS: [u64; 2] = [6, 300];
/// After so many rounds the world is made anew: a story that people can still read.
const ROUNDS_OF_A_WORLD: u64 = 6;
/// The first world of a test that no seed is given for.
const FIRST_SEED: u64 = 1;

#[test]
fn nothing_is_lost_on_a_bare_path() {
    rounds(Transport::Path);
}

#[test]
fn nothing_is_lost_over_http() {
    rounds(Transport::Http);
}

fn rounds(transport: Transport) {
    let rounds = number("CARP_MODEL_ROUNDS").unwrap_or(breadth(ROUNDS[0], ROUNDS[1]));
    let (worlds, first) = number("CARP_MODEL_SEED").map_or_else(
        || (rounds.div_ceil(ROUNDS_OF_A_WORLD), number("CARP_MODEL_FIRST").unwrap_or(FIRST_SEED)),
        |seed| (1, seed),
    );
    let mut counts = moves::Counts::default();
    for seed in first..first + worlds {
        let Some(mut world) = World::new(transport, Random(seed), seed) else {
            return skip("model::nothing_is_lost_over_http", "git has no http-backend");
        };
        for round in 1..=ROUNDS_OF_A_WORLD {
            world.round(round);
        }
        world.replays();
        counts.add(&world.counts);
    }
    eprintln!("model: {worlds} worlds {transport:?}: {counts}");
    assert!(counts.commits > 0 && counts.people > 0, "the rounds did something: {counts}");
}

/// A number that is given for this run of the tests.
fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is not a number")))
}
