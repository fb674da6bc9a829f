//! The breaker: carp stops committing when its commits feed themselves.
//!
//! Planning a plan's own result changes nothing, so from the same inputs one commit follows, or a few
//! while the world answers. Many mean that something is wrong which no further commit mends: an output
//! that is not a function of its inputs, or another writer that undoes each commit.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

use crate::model::{Digest, Turn, TurnOutcome};

/// How many commits the same inputs may bring within the window.
const MOST: usize = 10;
/// The window.
const WINDOW: SignedDuration = SignedDuration::from_mins(10);

/// Counts commits of carp's own from the same foreign inputs.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    inputs: Option<Digest>,
    commits: VecDeque<Timestamp>,
    is_open: bool,
}

impl Breaker {
    /// Takes note of a turn.
    pub(super) fn note(&mut self, turn: &Turn) {
        let Some(inputs) = turn.inputs else { return };
        if self.inputs != Some(inputs) {
            *self = Self { inputs: Some(inputs), ..Self::default() };
        }
        if turn.outcome == TurnOutcome::Committed {
            self.commits.push_back(turn.now);
            while self.commits.front().is_some_and(|at| turn.now.duration_since(*at) > WINDOW) {
                self.commits.pop_front();
            }
            self.is_open |= self.commits.len() > MOST;
        }
    }

    /// The inputs from which nothing more is to be committed. They stay until others come; time alone
    /// mends nothing.
    #[must_use]
    pub(super) fn still(&self) -> Option<Digest> {
        self.inputs.filter(|_| self.is_open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FailureKind;

    fn turn(outcome: TurnOutcome, inputs: &str, second: i64) -> Turn {
        let now = Timestamp::from_second(second).unwrap();
        let inputs = Some(Digest::of(inputs.as_bytes()));
        Turn { outcome, inputs, failure: None, ..Turn::failed(FailureKind::Races, "", now) }
    }

    fn commits(breaker: &mut Breaker, inputs: &str, seconds: impl Iterator<Item = i64>) {
        seconds.for_each(|s| breaker.note(&turn(TurnOutcome::Committed, inputs, s)));
    }

    #[test]
    fn many_commits_from_the_same_inputs_open_it_until_others_come() {
        let mut breaker = Breaker::default();
        commits(&mut breaker, "a", 0..10);
        assert_eq!(breaker.still(), None);
        commits(&mut breaker, "a", 10..11);
        assert_eq!(breaker.still(), Some(Digest::of(b"a")));
        breaker.note(&turn(TurnOutcome::Held, "a", 100_000));
        assert!(breaker.still().is_some(), "time alone mends nothing");
        breaker.note(&turn(TurnOutcome::Unchanged, "b", 100_001));
        assert_eq!(breaker.still(), None);
    }

    #[test]
    fn a_commit_for_each_change_is_no_loop_and_neither_are_slow_ones() {
        let mut breaker = Breaker::default();
        for second in 0..100 {
            commits(&mut breaker, &second.to_string(), second..=second);
        }
        assert_eq!(breaker.still(), None);
        commits(&mut breaker, "a", (0..100).map(|n| n * 61));
        assert_eq!(breaker.still(), None);
    }
}
