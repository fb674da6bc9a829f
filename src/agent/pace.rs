//! When to report: on change, not too often, and as a rare heartbeat.

use std::time::Duration;

/// How often the agent reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The least time between two reports: what happens meanwhile is told together.
    pub least: Duration,
    /// The most time between two reports. A worker counts as silent after its `heartbeatTimeout`, which
    /// must be longer: three times this is a good choice.
    pub heartbeat: Duration,
    /// The first pause after a report that did not arrive; it doubles up to `heartbeat`.
    pub retry: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { least: seconds(10), heartbeat: seconds(20 * 60), retry: seconds(10) }
    }
}

impl Pace {
    /// How long to wait for the next report, this long after the last try: at most until the heartbeat
    /// where nothing is new, at most the least time where something is, and the backoff after failures.
    pub(super) fn wait(&self, since_last: Option<Duration>, news: bool, failures: u32) -> Duration {
        let Some(since) = since_last else { return Duration::ZERO };
        let due = match (failures, news) {
            (0, true) => self.least,
            (0, false) => self.heartbeat,
            _ => self.retry.saturating_mul(1 << (failures - 1).min(10)).min(self.heartbeat),
        };
        due.saturating_sub(since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(since: Option<u64>, news: bool, failures: u32) -> u64 {
        Pace::default().wait(since.map(Duration::from_secs), news, failures).as_secs()
    }

    #[test]
    fn news_are_told_soon_and_silence_rarely() {
        assert_eq!(wait(None, false, 0), 0, "the first report at once");
        assert_eq!(wait(Some(3), true, 0), 7);
        assert_eq!(wait(Some(30), true, 0), 0);
        assert_eq!(wait(Some(30), false, 0), 20 * 60 - 30);
    }

    #[test]
    fn a_report_that_did_not_arrive_is_tried_again_ever_more_rarely() {
        let waits: Vec<_> = (1..=4).map(|failures| wait(Some(0), true, failures)).collect();
        assert_eq!(waits, [10, 20, 40, 80]);
        assert_eq!(wait(Some(0), true, 40), 20 * 60);
    }
}
