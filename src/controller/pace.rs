//! How long to wait between two turns.

use std::time::Duration;

use jiff::Timestamp;

use crate::service::{Jitter, doubled};

/// The longest pause after turns that failed.
const MOST_BACKOFF: Duration = Duration::from_secs(300);
/// The pause after the first failure.
const FIRST_BACKOFF: Duration = Duration::from_secs(5);
/// The time that a budget of pushes is for.
const MINUTE: Duration = Duration::from_secs(60);
/// Never a busy loop.
const LEAST: Duration = Duration::from_secs(1);

/// The pauses of one controller. They vary, so that many controllers that were started together do not
/// ask one Git host all at once.
#[derive(Debug)]
pub(super) struct Pace {
    interval: Duration,
    jitter: Jitter,
}

impl Pace {
    /// Turns that are about `interval` apart. The seed makes two controllers differ.
    #[must_use]
    pub(super) fn new(interval: Duration, seed: u64) -> Self {
        Self { interval, jitter: Jitter::new(seed) }
    }

    /// The pause after a turn that went well: the interval give or take a tenth, or less, for a plan is
    /// good until `valid_until` and no longer.
    pub(super) fn after_success(
        &mut self,
        valid_until: Option<Timestamp>,
        now: Timestamp,
    ) -> Duration {
        let tenth = self.interval / 10;
        let pause = self.interval.saturating_sub(tenth) + self.jitter.up_to(tenth * 2);
        let left = valid_until
            .map(|until| Duration::try_from(until.duration_since(now)).unwrap_or(Duration::ZERO));
        left.map_or(pause, |left| left.min(pause)).max(LEAST)
    }

    /// How long no turn may come after one that pushed so often, where so many pushes a minute are
    /// allowed.
    pub(super) fn after_pushes(pushes: u32, budget: Option<u32>) -> Duration {
        budget.map_or(Duration::ZERO, |budget| MINUTE * pushes / budget.max(1))
    }

    /// The pause after that many failures in a row (from 1): it doubles from five seconds to five
    /// minutes, and is somewhere in the upper half of that.
    pub(super) fn after_failure(&mut self, failures: u32) -> Duration {
        let first = FIRST_BACKOFF.min(self.interval);
        self.jitter.upper_half(doubled(first, MOST_BACKOFF, failures)).max(LEAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn a_pause_ends_when_the_plan_does() {
        let mut pace = Pace::new(MINUTE, 1);
        assert_eq!(pace.after_success(Some(at(10)), at(0)), Duration::from_secs(10));
        assert_eq!(pace.after_success(Some(at(0)), at(0)), LEAST, "never a busy loop");
        assert_eq!(pace.after_success(Some(at(0)), at(99)), LEAST, "a deadline that passed");
        for _ in 0..100 {
            let pause = pace.after_success(None, at(0));
            assert!(pause >= MINUTE * 9 / 10 && pause <= MINUTE * 11 / 10, "{pause:?}");
        }
    }

    #[test]
    fn failures_back_off_up_to_five_minutes() {
        let mut pace = Pace::new(MINUTE, 1);
        for (failures, most) in [(1, 5), (2, 10), (3, 20), (6, 160), (7, 300), (1000, 300)] {
            let (most, pause) = (Duration::from_secs(most), pace.after_failure(failures));
            assert!(pause >= most / 2 && pause <= most, "{failures}: {pause:?}");
        }
        assert!(Pace::new(LEAST, 1).after_failure(1) <= LEAST, "never longer than asked for");
    }

    #[test]
    fn pushes_are_spread_over_the_minute_that_they_have() {
        let seconds = |pushes, budget| Pace::after_pushes(pushes, budget).as_secs();
        assert_eq!(seconds(2, None), 0, "without a budget there is none to keep");
        assert_eq!(seconds(0, Some(1)), 0, "a turn that pushed nothing costs nothing");
        assert_eq!(seconds(1, Some(4)), 15);
        assert_eq!(seconds(3, Some(4)), 45);
        assert_eq!(seconds(3, Some(1)), 180);
    }

    #[test]
    fn two_controllers_do_not_keep_in_step() {
        let pauses = |seed| {
            let mut pace = Pace::new(MINUTE, seed);
            [(); 4].map(|()| pace.after_success(None, at(0)))
        };
        assert_eq!(pauses(1), pauses(1));
        assert_ne!(pauses(1), pauses(2));
    }
}
