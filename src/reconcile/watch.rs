//! The controller: one run after the other. What is here says how long to wait between them.

use std::time::Duration;

use jiff::Timestamp;

/// The longest pause after runs that failed.
const MOST_BACKOFF: Duration = Duration::from_secs(300);

/// The pause after a run that went well: the interval, or less, for a plan is good until `valid_until`
/// and no longer. Never a busy loop.
#[must_use]
pub fn pause(valid_until: Option<Timestamp>, now: Timestamp, interval: Duration) -> Duration {
    let left = valid_until.and_then(|d| Duration::try_from(d.duration_since(now)).ok());
    left.map_or(interval, |left| left.min(interval)).max(Duration::from_secs(1))
}

/// The pause after that many failures in a row: it doubles, up to five minutes.
#[must_use]
pub fn backoff(interval: Duration, failures: u32) -> Duration {
    interval.saturating_mul(1 << failures.min(10)).min(MOST_BACKOFF.max(interval))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_when_the_plan_does() {
        let now: Timestamp = "2026-11-01T00:00:00Z".parse().unwrap();
        let minute = Duration::from_secs(60);
        assert_eq!(pause(None, now, minute), minute);
        let soon = now.checked_add(jiff::SignedDuration::from_secs(10)).unwrap();
        assert_eq!(pause(Some(soon), now, minute), Duration::from_secs(10));
        assert_eq!(pause(Some(now), now, minute), Duration::from_secs(1), "never a busy loop");
    }

    #[test]
    fn failures_back_off_up_to_five_minutes() {
        let interval = Duration::from_secs(30);
        assert_eq!(backoff(interval, 1), Duration::from_secs(60));
        assert_eq!(backoff(interval, 20), Duration::from_secs(300));
    }
}
