//! When to report: soon after a change, not too often, and as a rare heartbeat.
//!
//! Time comes in as values (how long the agent has run), so that the tests let days pass.

use std::time::Duration;

use crate::service::{Jitter, doubled};

/// How often the agent reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportPace {
    /// The least time between two reports: what happens meanwhile is told together.
    pub least: Duration,
    /// How long a first change waits for those that come with it, at least; twice that at most. Never
    /// longer than `least`.
    pub settle: Duration,
    /// The most time between two reports. A worker counts as silent after its `heartbeatTimeout`, which
    /// must be longer: three times this is a good choice.
    pub heartbeat: Duration,
    /// The first pause after a report that did not arrive; it doubles up to `heartbeat`.
    pub retry: Duration,
    /// How long a watch that broke may take to come back before a report says of its kind that it is
    /// not known.
    pub patience: Duration,
}

impl Default for ReportPace {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            least: seconds(10),
            settle: seconds(1),
            heartbeat: seconds(20 * 60),
            retry: seconds(10),
            patience: seconds(10),
        }
    }
}

/// When the next report is due. Every moment is the time since the agent began.
#[derive(Debug)]
pub(super) struct Schedule {
    pace: ReportPace,
    jitter: Jitter,
    /// What is taken off the heartbeat, or added to the wait for what comes with a change, of a thousand:
    /// agents that were started together do not push all at once.
    share: u32,
    tried: Option<Duration>,
    sent: Option<Duration>,
    news: Option<Duration>,
    again: Option<Duration>,
    failures: u32,
}

impl Schedule {
    /// Nothing was reported yet. The seed makes two agents differ.
    pub(super) fn new(pace: ReportPace, seed: u64) -> Self {
        let (tried, sent, news, again) = (None, None, None, None);
        let mut jitter = Jitter::new(seed);
        let share = jitter.per_mille();
        Self { pace, jitter, share, tried, sent, news, again, failures: 0 }
    }

    /// When to report, or to look whether there is anything to report.
    pub(super) fn due(&self) -> Duration {
        let Some(tried) = self.tried else { return Duration::ZERO };
        if self.failures > 0 {
            let full = doubled(self.pace.retry, self.pace.heartbeat, self.failures);
            return tried + full / 2 + self.of(full / 2);
        }
        let heartbeat = self.again.unwrap_or(Duration::MAX).min(self.heartbeat());
        let Some(news) = self.news else { return heartbeat };
        let settle = self.pace.settle.min(self.pace.least);
        (tried + self.pace.least).max(news + settle + self.of(settle)).min(heartbeat)
    }

    /// Whether it is time for a sign of life, whatever there is to tell.
    pub(super) fn is_heartbeat_due(&self, now: Duration) -> bool {
        self.sent.is_none() || now >= self.heartbeat()
    }

    /// Something was heard that may be news.
    pub(super) fn heard(&mut self, now: Duration) {
        self.news.get_or_insert(now);
    }

    /// There was nothing to tell. That puts no heartbeat off.
    pub(super) fn looked(&mut self, now: Duration) {
        (self.tried, self.news, self.again, self.failures) = (Some(now), None, None, 0);
    }

    /// Something beside the report is to be tried again then. That puts no report off.
    pub(super) fn requeue_at(&mut self, then: Duration) {
        self.again = Some(then);
    }

    /// A report arrived.
    pub(super) fn sent(&mut self, now: Duration) {
        self.looked(now);
        self.sent = Some(now);
        self.share = self.jitter.per_mille();
    }

    /// A report did not arrive. What was to be told still is.
    pub(super) fn failed(&mut self, now: Duration) {
        self.tried = Some(now);
        self.failures += 1;
        self.share = self.jitter.per_mille();
    }

    fn heartbeat(&self) -> Duration {
        let since = self.sent.or(self.tried).unwrap_or_default();
        since + self.pace.heartbeat.saturating_sub(self.of(self.pace.heartbeat / 10))
    }

    /// A part of a duration, the same until the next report.
    fn of(&self, most: Duration) -> Duration {
        most * self.share / 1000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    fn pace() -> ReportPace {
        ReportPace::default()
    }

    /// An agent that reports whenever that is due and there is a reason, for a time. `heard` says at
    /// which seconds something is heard, and `news` whether it is anything to tell. Returns when
    /// reports went out, and how often it was looked.
    fn reports(
        seed: u64,
        long: Duration,
        heard: impl Fn(u64) -> bool,
        news: impl Fn(u64) -> bool,
    ) -> (Vec<Duration>, usize) {
        let mut schedule = Schedule::new(pace(), seed);
        let (mut sent, mut looks, mut untold) = (Vec::new(), 0, false);
        for second in 0..long.as_secs() {
            let now = SECOND * u32::try_from(second).unwrap();
            if heard(second) {
                schedule.heard(now);
                untold |= news(second);
            }
            if now < schedule.due() {
                continue;
            }
            looks += 1;
            if untold || schedule.is_heartbeat_due(now) {
                schedule.sent(now);
                sent.push(now);
                untold = false;
            } else {
                schedule.looked(now);
            }
        }
        (sent, looks)
    }

    #[test]
    fn the_first_report_comes_at_once_and_then_only_heartbeats() {
        let (sent, looks) = reports(1, DAY, |_| false, |_| false);
        assert_eq!(sent[0], Duration::ZERO);
        assert!((72..=81).contains(&sent.len()), "every 18 to 20 minutes: {}", sent.len());
        assert_eq!(looks, sent.len(), "it sleeps in between");
    }

    #[test]
    fn what_is_no_news_puts_no_heartbeat_off_and_makes_no_report() {
        let (quiet, _) = reports(1, DAY, |_| false, |_| false);
        let (busy, looks) = reports(1, DAY, |second| second % 3 == 0, |_| false);
        assert!(busy.len().abs_diff(quiet.len()) <= 1, "{} {}", busy.len(), quiet.len());
        assert!(looks > 1000, "it was looked");
        for pair in busy.windows(2) {
            assert!(pair[1] <= pair[0] + pace().heartbeat, "{pair:?}");
        }
    }

    #[test]
    fn a_change_is_told_soon_and_together_with_those_that_come_with_it() {
        let burst = |second| (1000..1003).contains(&second);
        let (sent, _) = reports(1, SECOND * 1100, burst, burst);
        let at: Vec<_> = sent.iter().map(Duration::as_secs).filter(|s| *s >= 1000).collect();
        assert!((1..=2).contains(&at.len()) && at[0] <= 1002, "{at:?}");
        assert!(at.iter().all(|s| *s <= 1000 + 12), "{at:?}");
    }

    #[test]
    fn in_constant_change_reports_are_the_least_time_apart() {
        let (sent, _) = reports(1, SECOND * 1000, |_| true, |_| true);
        assert!((95..=100).contains(&sent.len()), "{}", sent.len());
        for pair in sent.windows(2) {
            assert!(pair[1] >= pair[0] + pace().least, "{pair:?}");
        }
    }

    #[test]
    fn agents_that_begin_together_do_not_go_on_together() {
        let second = |seed| reports(seed, pace().heartbeat + SECOND, |_| false, |_| false).0[1];
        let all: std::collections::BTreeSet<_> = (0..50).map(second).collect();
        assert!(all.len() > 25, "{all:?}");
    }

    #[test]
    fn what_is_tried_again_beside_the_report_puts_none_off() {
        let mut schedule = Schedule::new(pace(), 1);
        schedule.sent(SECOND);
        schedule.requeue_at(SECOND * 61);
        assert_eq!(schedule.due(), SECOND * 61);
        assert!(!schedule.is_heartbeat_due(SECOND * 61), "it is no heartbeat");
        schedule.heard(SECOND * 20);
        assert!(schedule.due() <= SECOND * 22, "news are told as ever");
        schedule.looked(SECOND * 22);
        assert!(schedule.due() > SECOND * 600);
    }

    #[test]
    fn a_report_that_did_not_arrive_is_tried_again_ever_more_rarely() {
        let mut schedule = Schedule::new(pace(), 1);
        let mut now = Duration::ZERO;
        for most in [10, 20, 40, 80, 160, 320, 640, 1200, 1200] {
            schedule.failed(now);
            let pause = schedule.due().saturating_sub(now);
            assert!(pause >= SECOND * most / 2 && pause <= SECOND * most, "{most}: {pause:?}");
            schedule.heard(now);
            assert_eq!(schedule.due(), now + pause, "news do not hurry it");
            now = schedule.due();
        }
        schedule.sent(now);
        schedule.heard(now + DAY);
        assert!(schedule.due() < now + DAY, "and all is forgotten when one arrives");
    }
}
