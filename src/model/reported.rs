//! What the workers say, as one digest: what is news from others, and what follows carp itself.

use serde::Serialize;

use super::{Digest, Freshness, Name, Observed};

#[derive(Serialize)]
struct ReportedWorker<'a> {
    worker: &'a Name,
    freshness: Freshness,
    healthy: bool,
    complete: bool,
    clusters: Vec<ReportedCluster<'a>>,
}

#[derive(Serialize)]
struct ReportedCluster<'a> {
    name: &'a Name,
    uid: Option<&'a str>,
    phase: &'a str,
    // Versions follow carp, too, but they only go forward: each is news once.
    control_plane_version: Option<&'a str>,
    pool_version: Option<&'a str>,
}

impl Observed {
    /// The digest of what the workers say. How far they have followed carp (the revision and digests that
    /// they applied) is left out, because that moves with every commit of carp's own; so are times.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let workers = self.workers.values().map(|report| ReportedWorker {
            worker: &report.worker,
            freshness: report.freshness,
            healthy: report.healthy,
            complete: report.complete,
            clusters: report
                .clusters
                .iter()
                .map(|(name, cluster)| ReportedCluster {
                    name,
                    uid: cluster.uid.as_deref(),
                    phase: &cluster.phase,
                    control_plane_version: cluster.control_plane_version.as_deref(),
                    pool_version: cluster.pool_version.as_deref(),
                })
                .collect(),
        });
        Digest::of_value(&workers.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::super::FoldedReport;
    use super::*;

    fn observed(phase: &str, revision: &str) -> Observed {
        let report: FoldedReport = serde_json::from_value(serde_json::json!({
            "schemaVersion": 1, "worker": "w1", "workerUID": "u",
            "freshness": "Fresh", "freshnessSince": "2026-11-01T00:00:00Z",
            "healthy": true, "healthySince": "2026-11-01T00:00:00Z", "complete": true,
            "appliedRevision": revision,
            "clusters": {"a": {"phase": phase, "since": "2026-11-01T00:00:00Z"}},
        }))
        .unwrap();
        Observed { workers: [(report.worker.clone(), report)].into(), ..Observed::default() }
    }

    #[test]
    fn what_carp_caused_itself_is_no_news() {
        let running = observed("Running", "aaa");
        assert_eq!(running.digest(), observed("Running", "bbb").digest());
        assert_ne!(running.digest(), observed("Degraded", "aaa").digest());
        assert_ne!(running.digest(), Observed::default().digest());
    }
}
