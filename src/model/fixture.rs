//! Reports for tests: of a worker that is well, of clusters of which nothing more is known than a phase.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{
    FOLDED_SCHEMA, FoldedCluster, FoldedReport, Freshness, Name, REPORT_SCHEMA, Report,
    ReportedCluster,
};

/// A complete report of a healthy worker without clusters.
pub fn report(worker: &str, time: Timestamp) -> Report {
    Report {
        schema_version: REPORT_SCHEMA,
        worker: Name::parse(worker).unwrap(),
        worker_uid: "uid".to_owned(),
        time,
        complete: true,
        unlisted: Vec::new(),
        healthy: true,
        healthy_since: None,
        reason: None,
        message: None,
        applied_revision: None,
        applied_digest: None,
        components: BTreeMap::new(),
        foreign_namespaces: Vec::new(),
        clusters: Vec::new(),
    }
}

/// A cluster as a report lists it.
pub fn reported(name: &str, phase: &str) -> ReportedCluster {
    ReportedCluster {
        name: Name::parse(name).unwrap(),
        uid: None,
        digest: None,
        phase: phase.to_owned(),
        since: None,
        version: None,
        control_plane_version: None,
        pool_version: None,
        endpoint: None,
        nodes: None,
        machines: None,
        suspended: false,
        conditions: Vec::new(),
        errors: Vec::new(),
        present: Vec::new(),
    }
}

/// What is kept of fresh reports of a healthy worker without clusters, since a time.
pub fn folded_report(worker: &str, since: Timestamp) -> FoldedReport {
    FoldedReport {
        schema_version: FOLDED_SCHEMA,
        worker: Name::parse(worker).unwrap(),
        worker_uid: "uid".to_owned(),
        freshness: Freshness::Fresh,
        freshness_since: since,
        healthy: true,
        healthy_since: since,
        reason: None,
        message: None,
        complete: true,
        applied_revision: None,
        applied_digest: None,
        ahead: None,
        foreign_namespaces: BTreeSet::new(),
        components: BTreeMap::new(),
        clusters: BTreeMap::new(),
    }
}

/// What is kept of a cluster, since a time.
pub fn folded(phase: &str, since: Timestamp) -> FoldedCluster {
    FoldedCluster {
        uid: None,
        digest: None,
        phase: phase.to_owned(),
        since,
        version: None,
        control_plane_version: None,
        pool_version: None,
        endpoint: None,
        nodes: None,
        machines: None,
        suspended: false,
        conditions: Vec::new(),
        errors: Vec::new(),
        present: Vec::new(),
    }
}
