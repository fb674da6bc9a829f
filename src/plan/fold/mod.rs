//! Folding: what carp already knew of the workers, and what their reports say now, become one set of
//! observed facts. Only transitions are kept, never a heartbeat, so folding the same reports again
//! changes nothing and a commit of the outcome is an event.
//!
//! - The first report of a worker pins the identity of its cluster; a report of another is refused until
//!   a person names it in the worker's document (`spec.workerUID`), and then everything begins anew.
//! - A report older than a transition that is already known is ignored: it is a replay.
//! - A worker is silent from the moment at which its last report is `heartbeatTimeout` old, and only a
//!   report made since then breaks the silence.
//! - A report that is dated ahead of the run counts from when it was first seen ([`ahead`]).
//! - Only a complete report says what is not there.
//! - What flaps is damped ([`damping`]); what reports say against the records is told
//!   ([`contradictions`]) and changes nothing.

mod ahead;
mod changes;
mod contradiction;
mod damping;
#[cfg(test)]
mod flaps;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod twins;

pub use changes::{clusters_said_otherwise, is_same_host};
pub use contradiction::contradictions;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use self::ahead::Dated;
use super::Clock;
use super::clock::after;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::model::{
    FOLDED_SCHEMA, FoldedCluster, FoldedReport, Freshness, MAX_FOREIGN_NAMESPACES, Name, Observed,
    Refusal, Report, ReportedCluster, Worker,
};

/// The `heartbeatTimeout` of a worker whose document is gone or did not load, in seconds: the default.
const DEFAULT_TIMEOUT: i64 = 60 * 60;

/// What [`fold`] reads.
#[derive(Clone, Copy, Debug)]
pub struct FoldInput<'a> {
    /// The folded reports of the last run.
    pub last: &'a BTreeMap<Name, FoldedReport>,
    /// The reports as they stand. `None` where none were looked for: the fold stays as it is.
    pub reports: Option<&'a BTreeMap<Name, Report>>,
    /// The workers whose report is there and cannot be used. Theirs did not vanish.
    pub unusable: &'a BTreeSet<Name>,
    /// The desired workers.
    pub workers: &'a BTreeMap<Name, Worker>,
    /// The name of the control-plane cluster, whose agent reports the workers' own clusters. Nobody
    /// declares it as a worker.
    pub control_plane: Option<&'a str>,
    /// The time of the run.
    pub now: Timestamp,
}

/// What [`fold`] gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fold {
    /// What is known now.
    pub observed: Observed,
    /// The reports that could not be used, and why.
    pub diagnostics: Diagnostics,
    /// Until when the same inputs give the same fold; `None`: for ever. It is the time of the run
    /// itself where a transition had to be dated with that.
    pub valid_until: Option<Timestamp>,
}

/// Folds the reports into what was known.
#[must_use]
pub fn fold(input: &FoldInput<'_>) -> Fold {
    let Some(reports) = input.reports else {
        let observed = Observed { workers: input.last.clone(), ..Observed::default() };
        return Fold { observed, ..Fold::default() };
    };
    let mut folding = Folding {
        clock: Clock::new(input.now),
        found: Diagnostics::default(),
        refused: BTreeMap::new(),
        control_plane: input.control_plane,
    };
    let mut workers = BTreeMap::new();
    let names: BTreeSet<&Name> =
        input.last.keys().chain(reports.keys()).chain(input.unusable).collect();
    for name in names {
        let desired = input.workers.get(name);
        let timeout = desired.map_or(DEFAULT_TIMEOUT, |w| w.heartbeat_timeout_seconds);
        let report = reports.get(name);
        if report.is_none() && input.unusable.contains(name) {
            folding.refused.insert(name.clone(), Refusal::Unreadable);
        }
        let last = input.last.get(name).filter(|last| !begins_anew(last, report, desired));
        let folded = match (last, report) {
            (Some(last), Some(report)) => Some(folding.next(last, report, desired, timeout)),
            (Some(last), None) if input.unusable.contains(name) => {
                Some(folding.unheard(last, timeout))
            }
            (Some(last), None) => Some(folding.vanished(last)),
            (None, Some(report)) => folding.first(name, report, desired, timeout),
            (None, None) => None,
        };
        workers.extend(folded.map(|folded| (name.clone(), folded)));
    }
    Fold {
        observed: Observed { workers, refused: folding.refused, ..Observed::default() },
        diagnostics: folding.found,
        valid_until: folding.clock.valid_until(),
    }
}

/// The identity that the worker's document names.
fn declared(desired: Option<&Worker>) -> Option<&str> {
    desired.and_then(|worker| worker.spec.worker_uid.as_deref())
}

/// Whether a person has accepted that the worker is another cluster than before, and that one reports.
/// Nothing that was known of the old one is true of it.
fn begins_anew(last: &FoldedReport, report: Option<&Report>, desired: Option<&Worker>) -> bool {
    let accepted = declared(desired).filter(|uid| *uid != last.worker_uid);
    let other = report.filter(|report| report.worker == last.worker);
    accepted.zip(other).is_some_and(|(uid, report)| report.worker_uid == uid)
}

struct Folding<'a> {
    clock: Clock,
    found: Diagnostics,
    refused: BTreeMap<Name, Refusal>,
    control_plane: Option<&'a str>,
}

impl Folding<'_> {
    fn first(
        &mut self,
        name: &Name,
        report: &Report,
        desired: Option<&Worker>,
        timeout: i64,
    ) -> Option<FoldedReport> {
        if desired.is_none() && self.control_plane != Some(name.as_str()) {
            self.tell(
                name,
                "no such worker is desired, and none was known",
                "declare the worker, or stop the agent that reports under this name",
            );
            return None;
        }
        let is_the_one = self.names_its_worker(name, report)
            && declared(desired).is_none_or(|uid| self.is_the_cluster(name, report, uid));
        if !is_the_one {
            return None;
        }
        let Dated { time, ahead, is_new } = self.date(report, None);
        if is_new {
            self.clock.stamp();
        }
        let silent = after(time, timeout);
        let (freshness, freshness_since) = if self.clock.reached(silent) {
            (Freshness::Silent, silent)
        } else {
            (Freshness::Fresh, time)
        };
        Some(FoldedReport {
            schema_version: FOLDED_SCHEMA,
            worker: name.clone(),
            worker_uid: report.worker_uid.clone(),
            freshness,
            freshness_since,
            healthy: report.healthy,
            healthy_since: time,
            ahead,
            clusters: self.clusters(None, report, time),
            ..said(report, name)
        })
    }

    fn next(
        &mut self,
        last: &FoldedReport,
        report: &Report,
        desired: Option<&Worker>,
        timeout: i64,
    ) -> FoldedReport {
        let pinned = declared(desired).unwrap_or(&last.worker_uid);
        let is_the_one = self.names_its_worker(&last.worker, report)
            && self.is_the_cluster(&last.worker, report, pinned);
        if !is_the_one {
            return self.unheard(last, timeout);
        }
        let Dated { time, ahead, is_new } = self.date(report, Some(last));
        // One that counts from when it was seen is no older than what is known, which may itself have
        // been a little ahead then.
        let time = if ahead.is_some() { time.max(latest(last)) } else { time };
        if last.freshness == Freshness::Silent && time < last.freshness_since {
            // The report that ran out of time usually still lies there; it is no news.
            return last.clone();
        }
        if last.freshness == Freshness::Fresh && time < latest(last) {
            let next = self.unheard(last, timeout);
            // Once that made the worker silent, the old report is no news any more.
            if next.freshness == Freshness::Fresh {
                let known = latest(last);
                let why =
                    format!("it was made at {time}, before a change at {known} that is known");
                let help =
                    "nothing, if it was pushed late; otherwise someone put an old report back";
                self.refuse(&last.worker, Refusal::Late, &why, help);
            }
            return next;
        }
        let next = FoldedReport { ahead, ..self.heard(last, report, time, timeout) };
        if is_new && next != *last {
            self.clock.stamp();
        }
        next
    }

    /// What is known after a report that counts.
    fn heard(
        &mut self,
        last: &FoldedReport,
        report: &Report,
        time: Timestamp,
        timeout: i64,
    ) -> FoldedReport {
        let silent = after(time, timeout);
        let (freshness, began) = if self.clock.reached(silent) {
            (Freshness::Silent, silent)
        } else {
            (Freshness::Fresh, time)
        };
        let kept = |same: bool, since, began| if same { since } else { began };
        let next = FoldedReport {
            freshness,
            freshness_since: kept(freshness == last.freshness, last.freshness_since, began),
            healthy_since: kept(report.healthy == last.healthy, last.healthy_since, time),
            clusters: self.clusters(Some(last), report, time),
            ..said(report, &last.worker)
        };
        let next = FoldedReport { foreign_namespaces: foreign(last, report, &next), ..next };
        if damping::holds_worker(&mut self.clock, last, report, time) {
            let FoldedReport { healthy, healthy_since, .. } = *last;
            let (reason, message) = (last.reason.clone(), last.message.clone());
            return FoldedReport { healthy, healthy_since, reason, message, ..next };
        }
        next
    }

    /// The clusters of a report, each dated by the first report with its phase.
    fn clusters(
        &mut self,
        last: Option<&FoldedReport>,
        report: &Report,
        time: Timestamp,
    ) -> BTreeMap<Name, FoldedCluster> {
        let known = last.map(|last| &last.clusters);
        let mut all = known.filter(|_| !report.complete).cloned().unwrap_or_default();
        for cluster in &report.clusters {
            let before = known.and_then(|known| known.get(&cluster.name));
            let same = before.filter(|before| before.phase == cluster.phase);
            let next = folded_cluster(cluster, same.map_or(time, |before| before.since));
            let heard = last.filter(|last| last.freshness == Freshness::Fresh).and(before);
            let next = match heard {
                Some(before) if damping::holds_cluster(&mut self.clock, before, cluster, time) => {
                    damping::held(before, next)
                }
                _ => next,
            };
            self.found.extend(before.and_then(|b| contradiction::replaced(cluster, b, report)));
            all.insert(cluster.name.clone(), next);
        }
        all
    }

    /// The report branch is gone. Nothing dates that but the run that sees it.
    fn vanished(&mut self, last: &FoldedReport) -> FoldedReport {
        match last.freshness {
            Freshness::Silent => last.clone(),
            Freshness::Fresh => self.silent_now(last),
        }
    }

    /// A report came that does not count. The worker was last heard of at the latest transition that is
    /// known; once that is too long ago it is silent.
    fn unheard(&mut self, last: &FoldedReport, timeout: i64) -> FoldedReport {
        if last.freshness == Freshness::Fresh && self.clock.reached(after(latest(last), timeout)) {
            return self.silent_now(last);
        }
        last.clone()
    }

    fn silent_now(&mut self, last: &FoldedReport) -> FoldedReport {
        FoldedReport {
            freshness: Freshness::Silent,
            freshness_since: self.clock.stamp(),
            ..last.clone()
        }
    }

    fn names_its_worker(&mut self, name: &Name, report: &Report) -> bool {
        if report.worker != *name {
            let message = format!("it names the worker {}", report.worker);
            let help = "let the agent report under its own worker's name";
            self.refuse(name, Refusal::OtherWorker, &message, help);
        }
        report.worker == *name
    }

    fn is_the_cluster(&mut self, name: &Name, report: &Report, pinned: &str) -> bool {
        let found = &report.worker_uid;
        if found != pinned {
            let message =
                format!("it is from the cluster {found}, and the worker is the cluster {pinned}");
            let help = format!(
                "find out who reports under this name; if the worker was built anew and what was on the \
                 old cluster is given up, set `spec.workerUID: {found}` in its document"
            );
            self.refuse(name, Refusal::OtherCluster, &message, &help);
        }
        found == pinned
    }

    fn refuse(&mut self, worker: &Name, refusal: Refusal, why: &str, help: &str) {
        self.refused.insert(worker.clone(), refusal);
        self.tell(worker, why, help);
    }

    fn tell(&mut self, worker: &Name, why: &str, help: &str) {
        let message = format!("the report of worker {worker} is not used: {why}");
        self.found.push(Diagnostic::new(Code::ReportRefused, message).help(help));
    }
}

/// The latest moment at which the worker is known to have reported.
fn latest(last: &FoldedReport) -> Timestamp {
    let clusters = last.clusters.values().map(|c| c.since).max();
    let worker = last.freshness_since.max(last.healthy_since);
    clusters.map_or(worker, |since| since.max(worker))
}

/// The namespaces of others: only a complete report says which are not there any more.
fn foreign(last: &FoldedReport, report: &Report, next: &FoldedReport) -> BTreeSet<Name> {
    let known = last.foreign_namespaces.iter().filter(|_| !report.complete);
    next.foreign_namespaces.iter().chain(known).cloned().collect()
}

/// What is taken from a report as it stands; the transitions are the caller's.
fn said(report: &Report, worker: &Name) -> FoldedReport {
    let foreign = report.foreign_namespaces.iter().take(MAX_FOREIGN_NAMESPACES).cloned();
    FoldedReport {
        schema_version: FOLDED_SCHEMA,
        worker: worker.clone(),
        worker_uid: report.worker_uid.clone(),
        freshness: Freshness::Fresh,
        freshness_since: report.time,
        healthy: report.healthy,
        healthy_since: report.time,
        reason: report.reason.clone(),
        message: report.message.clone(),
        complete: report.complete,
        applied_revision: report.applied_revision.clone(),
        applied_digest: report.applied_digest,
        ahead: None,
        components: report.components.clone(),
        foreign_namespaces: foreign.collect(),
        clusters: BTreeMap::new(),
    }
}

fn folded_cluster(cluster: &ReportedCluster, since: Timestamp) -> FoldedCluster {
    FoldedCluster {
        uid: cluster.uid.clone(),
        digest: cluster.digest,
        phase: cluster.phase.clone(),
        since,
        version: cluster.version.clone(),
        control_plane_version: cluster.control_plane_version.clone(),
        pool_version: cluster.pool_version.clone(),
        endpoint: cluster.endpoint.clone(),
        nodes: cluster.nodes,
        machines: cluster.machines,
        suspended: cluster.suspended,
        conditions: cluster.conditions.clone(),
        errors: cluster.errors.clone(),
        present: cluster.present.clone(),
    }
}
