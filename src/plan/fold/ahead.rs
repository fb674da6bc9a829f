//! Reports that are dated ahead of the run: the clock of whoever made them is wrong.
//!
//! Such a report counts from the run that first saw it, which the fold remembers by the report's own date.
//! Taken for a report of now whenever it is read, one of a dead worker would keep it fresh for ever.

use jiff::Timestamp;

use super::super::clock::before;
use super::Folding;
use crate::diag::{Code, Diagnostic};
use crate::model::{Ahead, FoldedReport, Report};

/// How far ahead of the run's time a report may be before it is taken for a wrong clock, in seconds.
pub(super) const CLOCK_SKEW: i64 = 60;

/// From when on a report counts.
pub(super) struct Dated {
    pub(super) time: Timestamp,
    /// What is remembered of a date that is ahead.
    pub(super) ahead: Option<Ahead>,
    /// Whether this run is the first that saw such a date, and so the one that dates the report.
    pub(super) is_new: bool,
}

impl Folding<'_> {
    pub(super) fn date(&mut self, report: &Report, last: Option<&FoldedReport>) -> Dated {
        if self.clock.reached(before(report.time, CLOCK_SKEW)) {
            return Dated { time: report.time, ahead: None, is_new: false };
        }
        let known = last.and_then(|last| last.ahead).filter(|known| known.time == report.time);
        let seen = known.map_or(self.clock.now(), |known| known.seen);
        let message = format!(
            "the report of worker {} is dated {}, which is still to come; it counts from {seen} on, \
             when it was first seen",
            report.worker, report.time
        );
        let help = "set the clock of the machine on which the worker's agent runs";
        self.found.push(Diagnostic::new(Code::ReportAhead, message).help(help));
        let ahead = Some(Ahead { time: report.time, seen });
        Dated { time: seen, ahead, is_new: known.is_none() }
    }
}
