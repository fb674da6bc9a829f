//! Damping: what flaps is no news. A worker that becomes unwell or a cluster that stops being available
//! counts once that has held for [`WORSE`] seconds, and its recovery once that has held for [`BETTER`]
//! seconds. Until then the fold keeps what it had, so that neither a placement nor a commit on the status
//! branch follows from a blip, and something that goes up and down for ever is down.
//!
//! Since when a state holds is in the report (the times of the conditions on the worker), so nothing has
//! to be remembered of reports that did not count. A report that does not say it counts at once.
//!
//! The numbers are those of neighbours: a turn comes every 30 s and a status commit every 60 s, Kubernetes
//! takes a node for gone after 50 s (kube-controller-manager, `--node-monitor-grace-period`); a recovery
//! waits twice as long as a failure, so that each outage is one event. See `docs/adr/0020`.

use jiff::Timestamp;

use crate::model::{FoldedCluster, FoldedReport, Freshness, Report, ReportedCluster};
use crate::plan::Clock;
use crate::plan::clock::after;

/// How long it must hold that something is not as well as before, in seconds. Also how long an update
/// must go on, and its end.
pub(super) const WORSE: i64 = 60;
/// How long a recovery must hold, in seconds.
pub(super) const BETTER: i64 = 120;

/// The phases that flap. What is made for the first time, or deleted, goes one way.
const FLAPPING: [&str; 3] = ["Running", "Updating", "Degraded"];

/// Whether what a report says of its worker's health does not count yet. After a silence nothing is
/// known that a report could be held against.
pub(super) fn holds_worker(
    clock: &mut Clock,
    last: &FoldedReport,
    report: &Report,
    time: Timestamp,
) -> bool {
    let other = report.healthy != last.healthy;
    let hold = if report.healthy { BETTER } else { WORSE };
    let heard = last.freshness == Freshness::Fresh;
    other && heard && !has_held(clock, report.healthy_since, time, hold)
}

/// Whether what a report says of a cluster's phase does not count yet.
pub(super) fn holds_cluster(
    clock: &mut Clock,
    last: &FoldedCluster,
    report: &ReportedCluster,
    time: Timestamp,
) -> bool {
    let flaps = |phase: &str| FLAPPING.contains(&phase);
    let other = report.phase != last.phase && report.uid == last.uid;
    let hold = if last.phase == "Degraded" { BETTER } else { WORSE };
    other
        && flaps(&report.phase)
        && flaps(&last.phase)
        && !has_held(clock, report.since, time, hold)
}

/// What is known of a cluster whose phase does not count yet: how well it is stays as it was, and what
/// was applied and what runs is as reported.
pub(super) fn held(last: &FoldedCluster, next: FoldedCluster) -> FoldedCluster {
    FoldedCluster {
        phase: last.phase.clone(),
        since: last.since,
        nodes: last.nodes,
        conditions: last.conditions.clone(),
        errors: last.errors.clone(),
        ..next
    }
}

/// Whether something has held for that many seconds. A state that a worker dates after its own report
/// began with that.
fn has_held(clock: &mut Clock, since: Option<Timestamp>, report: Timestamp, seconds: i64) -> bool {
    since.is_none_or(|since| clock.reached(after(since.min(report), seconds)))
}
