//! The one place where times are compared.

use jiff::{SignedDuration, Timestamp};

/// The time of a run, and the earliest moment ahead at which the same inputs may give another answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    now: Timestamp,
    valid_until: Option<Timestamp>,
}

impl Clock {
    /// A clock that stands at `now`, with no deadline ahead.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self { now, valid_until: None }
    }

    /// The time of the run.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Whether a moment has come. Where it has not, it is a deadline ahead, and the earliest of those
    /// is remembered.
    pub fn reached(&mut self, moment: Timestamp) -> bool {
        let reached = moment <= self.now;
        if !reached {
            self.expire_at(moment);
        }
        reached
    }

    /// The time of the run, for a transition that nothing in the inputs dates. A later run would write
    /// a later time, so the answer holds for this moment only.
    pub fn stamp(&mut self) -> Timestamp {
        self.expire_at(self.now);
        self.now
    }

    /// Until when the same inputs give the same answer; `None`: for ever.
    #[must_use]
    pub fn valid_until(&self) -> Option<Timestamp> {
        self.valid_until
    }

    fn expire_at(&mut self, moment: Timestamp) {
        self.valid_until = Some(self.valid_until.map_or(moment, |earlier| earlier.min(moment)));
    }
}

/// A moment that many seconds after another, or the last moment there is.
#[must_use]
pub(super) fn after(moment: Timestamp, seconds: i64) -> Timestamp {
    moment.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}

/// A moment that many seconds before another, or the first moment there is.
#[must_use]
pub(super) fn before(moment: Timestamp, seconds: i64) -> Timestamp {
    moment.checked_sub(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_moment_is_reached_when_it_comes_and_the_earliest_ahead_is_remembered() {
        let mut clock = Clock::new(at(100));
        assert!(clock.reached(at(99)));
        assert!(clock.reached(at(100)), "the moment itself counts");
        assert_eq!(clock.valid_until(), None, "what is past is no deadline");
        assert!(!clock.reached(at(300)));
        assert!(!clock.reached(at(200)));
        assert!(!clock.reached(at(400)));
        assert_eq!(clock.valid_until(), Some(at(200)));
    }

    #[test]
    fn a_stamp_expires_at_once() {
        let mut clock = Clock::new(at(100));
        assert!(!clock.reached(at(200)));
        assert_eq!(clock.stamp(), at(100));
        assert_eq!(clock.valid_until(), Some(at(100)));
    }

    #[test]
    fn arithmetic_stops_at_the_ends_of_time() {
        assert_eq!(after(at(1), i64::MAX), Timestamp::MAX);
        assert_eq!(before(at(1), i64::MAX), Timestamp::MIN);
        assert_eq!(after(at(1), 2), at(3));
        assert_eq!(before(at(3), 2), at(1));
    }
}
