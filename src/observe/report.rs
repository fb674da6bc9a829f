//! From a listing to a report.

use jiff::Timestamp;

use super::ObservedKind;
use super::cluster;
use super::listing::Listing;
use super::worker;
use crate::model::{Digest, Name, REPORT_SCHEMA, Report};

/// Who reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reporter {
    /// The worker.
    pub worker: Name,
    /// The UID of the `kube-system` namespace of its cluster.
    pub worker_uid: String,
    /// The digest on the sentinel that Flux applied; `None` where there is no sentinel yet.
    pub applied_digest: Option<Digest>,
}

/// The report of a worker whose objects were listed at a time.
#[must_use]
pub fn report(reporter: &Reporter, listing: &Listing, time: Timestamp) -> Report {
    let unlisted = listing.unlisted();
    let unhealthy = worker::unhealthy(listing);
    Report {
        schema_version: REPORT_SCHEMA,
        worker: reporter.worker.clone(),
        worker_uid: reporter.worker_uid.clone(),
        time,
        complete: unlisted.is_empty(),
        unlisted: unlisted.into_iter().map(|kind: ObservedKind| kind.name().to_owned()).collect(),
        healthy: unhealthy.is_none(),
        healthy_since: match &unhealthy {
            Some(unhealthy) => unhealthy.since,
            None => worker::healthy_since(listing),
        },
        reason: unhealthy.as_ref().map(|u| u.reason.to_owned()),
        message: unhealthy.map(|u| u.message),
        applied_revision: worker::applied_revision(listing),
        applied_digest: reporter.applied_digest,
        components: worker::components(listing),
        foreign_namespaces: listing.foreign_namespaces(),
        clusters: listing.clusters().iter().map(|name| cluster::reported(listing, name)).collect(),
    }
}

/// Whether two reports say the same but for their time: then the newer one is a heartbeat.
#[must_use]
pub fn says_the_same(one: &Report, other: &Report) -> bool {
    Report { time: other.time, ..one.clone() } == *other
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reporter() -> Reporter {
        Reporter {
            worker: Name::parse("we-1").unwrap(),
            worker_uid: "u".to_owned(),
            applied_digest: None,
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_report_names_what_could_not_be_listed() {
        let mut listing = Listing::default();
        for kind in ObservedKind::built_in()
            .into_iter()
            .filter(|k| *k != ObservedKind::named("AzureMachine"))
        {
            listing.add(kind, []);
        }
        let incomplete = report(&reporter(), &listing, at(0));
        assert!(!incomplete.complete);
        assert_eq!(incomplete.unlisted, ["AzureMachine"]);
        listing.add(ObservedKind::named("AzureMachine"), []);
        let complete = report(&reporter(), &listing, at(0));
        assert!(complete.complete && complete.unlisted.is_empty() && complete.clusters.is_empty());
    }

    #[test]
    fn a_heartbeat_differs_in_its_time_only() {
        let mut listing = Listing::default();
        let (one, later) =
            (report(&reporter(), &listing, at(0)), report(&reporter(), &listing, at(60)));
        assert!(says_the_same(&one, &later) && one != later);
        let namespace = json!({"metadata": {"name": "a", "labels": {"carp.dev/cluster": "a"}}});
        listing.add(ObservedKind::Namespace, [namespace]);
        assert!(!says_the_same(&one, &report(&reporter(), &listing, at(60))));
    }
}
