//! When the status branch gets its next commit, and what of the inputs is foreign.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::model::{Digest, Freshness, Id, Name, Observed};

/// When something may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Now.
    Now,
    /// Then, and not before.
    At(Timestamp),
}

/// When the status branch may get its next commit: `pause` seconds after the last one. That one's time
/// is its committer time, so the answer follows from the branch and the time of the run alone. A clock
/// that went back must not silence the branch: a last commit from the future makes no one wait.
pub(super) fn due(last: Option<Timestamp>, now: Timestamp, pause: u32) -> Due {
    let Some(last) = last.filter(|last| *last <= now) else { return Due::Now };
    match last.checked_add(SignedDuration::from_secs(i64::from(pause))) {
        Ok(due) if now < due => Due::At(due),
        _ => Due::Now,
    }
}

/// The digest of what others decide: the input commit, and what the workers say. How far they have
/// followed carp (the revision and digests that they applied) is left out, because that moves with every
/// commit of carp's own; so are times.
pub(super) fn inputs(input: Id, observed: &Observed) -> Digest {
    #[derive(Serialize)]
    struct Foreign<'a> {
        input: Id,
        workers: Vec<Said<'a>>,
    }
    #[derive(Serialize)]
    struct Said<'a> {
        worker: &'a Name,
        freshness: Freshness,
        healthy: bool,
        complete: bool,
        clusters: Vec<SaidOf<'a>>,
    }
    #[derive(Serialize)]
    struct SaidOf<'a> {
        name: &'a Name,
        uid: Option<&'a str>,
        phase: &'a str,
        // Versions follow carp, too, but they only go forward: each is news once.
        control_plane_version: Option<&'a str>,
        pool_version: Option<&'a str>,
    }
    let workers = observed.workers.values().map(|report| Said {
        worker: &report.worker,
        freshness: report.freshness,
        healthy: report.healthy,
        complete: report.complete,
        clusters: report
            .clusters
            .iter()
            .map(|(name, cluster)| SaidOf {
                name,
                uid: cluster.uid.as_deref(),
                phase: &cluster.phase,
                control_plane_version: cluster.control_plane_version.as_deref(),
                pool_version: cluster.pool_version.as_deref(),
            })
            .collect(),
    });
    Digest::of_value(&Foreign { input, workers: workers.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_status_commit_waits_for_the_pause_after_the_last_one() {
        let last = Some(at("2026-11-01T00:00:00Z"));
        let next = at("2026-11-01T00:01:00Z");
        assert_eq!(due(last, at("2026-11-01T00:00:59Z"), 60), Due::At(next));
        assert_eq!(due(last, next, 60), Due::Now);
        assert_eq!(due(None, next, 60), Due::Now, "the first one");
        assert_eq!(due(last, at("2026-11-01T00:00:00Z"), 0), Due::Now, "a run of its own");
    }

    #[test]
    fn a_clock_that_went_back_makes_nobody_wait() {
        let tomorrow = Some(at("2026-11-02T00:00:00Z"));
        assert_eq!(due(tomorrow, at("2026-11-01T00:00:00Z"), 60), Due::Now);
    }

    fn report(phase: &str, revision: &str) -> Observed {
        let text = format!(
            "schemaVersion: 1\nworker: w1\nworkerUID: u\nfreshness: Fresh\n\
             freshnessSince: 2026-11-01T00:00:00Z\nhealthy: true\nhealthySince: 2026-11-01T00:00:00Z\n\
             complete: true\nappliedRevision: {revision}\nclusters:\n  a:\n    phase: {phase}\n    \
             since: 2026-11-01T00:00:00Z\n"
        );
        let report: crate::model::FoldedReport = crate::load::read_yaml(text.as_bytes()).unwrap();
        Observed { workers: [(report.worker.clone(), report)].into(), ..Observed::default() }
    }

    #[test]
    fn what_carp_caused_itself_is_not_foreign() {
        let (one, two) = (Id::from_bytes([1; 20]), Id::from_bytes([2; 20]));
        let running = report("Running", "aaa");
        assert_eq!(inputs(one, &running), inputs(one, &report("Running", "bbb")));
        assert_ne!(inputs(one, &running), inputs(one, &report("Degraded", "aaa")));
        assert_ne!(inputs(one, &running), inputs(two, &running));
    }
}
