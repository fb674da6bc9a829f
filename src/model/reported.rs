//! What the workers say, as one digest: what is news from others, and what follows carp itself.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Digest, FoldedReport, Freshness, Name, Observed};

#[derive(Serialize)]
struct DigestedWorker<'a> {
    worker: &'a Name,
    freshness: Freshness,
    healthy: bool,
    complete: bool,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    foreign_namespaces: &'a BTreeSet<Name>,
    clusters: Vec<DigestedCluster<'a>>,
}

#[derive(Serialize)]
struct DigestedCluster<'a> {
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
        self.workers.values().map(FoldedReport::digest).fold(Digest::NONE, Digest::with)
    }
}

impl FoldedReport {
    /// The digest of what one worker says, as [`Observed::digest`] has it among those of all.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of_value(&DigestedWorker {
            worker: &self.worker,
            freshness: self.freshness,
            healthy: self.healthy,
            complete: self.complete,
            foreign_namespaces: &self.foreign_namespaces,
            clusters: self
                .clusters
                .iter()
                .map(|(name, cluster)| DigestedCluster {
                    name,
                    uid: cluster.uid.as_deref(),
                    phase: &cluster.phase,
                    control_plane_version: cluster.control_plane_version.as_deref(),
                    pool_version: cluster.pool_version.as_deref(),
                })
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn the_digest_of_all_is_made_of_those_of_each() {
        let mut all = observed("Running", "aaa");
        let one = all.workers.values().next().unwrap().clone();
        let other = FoldedReport { worker: Name::parse("w2").unwrap(), ..one.clone() };
        all.workers.insert(other.worker.clone(), other.clone());
        assert_eq!(all.digest(), other.digest().with(one.digest()));
        assert_eq!(all.digest().with(other.digest()), one.digest(), "one is taken out again");
        assert_ne!(one.digest(), other.digest());
    }
}
