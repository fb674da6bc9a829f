//! Version: the Kubernetes version of the cluster is one that the worker's components support (Cluster API,
//! Kamaji); their ranges are in the table in `policies/`. The worker's own version is no matter: a worker
//! hosts control planes that are newer or older than itself (Cluster API, `reference/versions.md`). And it is
//! one that the fleet offers to what is new.

use crate::model::{KubeVersion, NotOffered, Reason};
use crate::plan::candidate::{Candidate, Request};
use crate::plan::depends_on::DependsOn;

pub(super) const READS: &[DependsOn] =
    &[DependsOn::Version, DependsOn::Components, DependsOn::Versions];

pub(super) fn refuse(request: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    let version = request.cluster.spec.version.parse::<KubeVersion>();
    let (Some(worker), Ok(version)) = (candidate.worker, version) else { return };
    let unsupported = worker.unsupported(request.cluster.flavor(), version);
    reasons.extend(unsupported.into_iter().map(|by| Reason::Version { version, by }));
    reasons.extend(request.offer.refuses(version).map(|why| match why {
        NotOffered::NotListed => Reason::VersionNotOffered { version },
        NotOffered::Expired(entry) => {
            let since = entry.expires.as_deref().unwrap_or_default().into();
            Reason::VersionExpired { version, since }
        }
    }));
}

#[cfg(test)]
mod tests {
    use crate::plan::world::{check, refusals};

    #[test]
    fn a_version_lies_in_the_ranges_of_the_workers_components() {
        check("worker w1 runs:kamaji=26.2.0-edge; cluster a version=v1.35.0", "a -> w1");
        check("worker w1 runs:kamaji=26.2.0-edge; cluster a version=v1.36.0", "a waits Version");
        check("worker w1 runs:capi=v1.14.0; cluster a version=v1.30.9", "a waits Version");
        check("worker w1 runs:capi=v1.13.5; cluster a version=v1.30.9", "a -> w1");
        check("worker w1 runs:capi=v1.13.0; cluster a version=v1.36.0", "a waits Version");
        check("worker w1; cluster a version=v1.36.7", "a -> w1");
    }

    #[test]
    fn another_worker_may_support_it() {
        check(
            "worker w1 runs:kamaji=26.2.0-edge; worker w2; cluster a version=v1.36.0; cluster b",
            "a -> w2; b -> w1",
        );
    }

    #[test]
    fn both_versions_and_the_rule_are_told_for_each_component() {
        assert_eq!(
            refusals(
                "worker w1 runs:kamaji=26.2.0-edge runs:capi=v1.13.0; cluster a version=v1.36.1",
                "a",
                "w1"
            ),
            [
                "version v1.36.1 is not supported: capi v1.13.0 supports v1.30 to v1.35",
                "version v1.36.1 is not supported: kamaji 26.2.0-edge supports up to v1.35",
            ]
        );
    }

    #[test]
    fn a_list_of_versions_is_all_that_is_offered() {
        let offers = "worker w1; offers v1.34.2; offers v1.33 until=2027-01-01T00:00:00Z";
        check(&format!("{offers}; cluster a version=v1.34.2"), "a -> w1");
        check(&format!("{offers}; cluster a version=v1.34.3"), "a waits VersionNotOffered");
        check(&format!("{offers}; cluster a version=v1.33.9"), "a -> w1");
        let over = format!("{offers} over; cluster a version=v1.33.9");
        check(&over, "a waits VersionExpired");
        let told = ["version v1.33.9 has expired on 2027-01-01T00:00:00Z"];
        assert_eq!(refusals(&over, "a", "w1"), told);
    }

    #[test]
    fn a_version_that_expires_moves_nobody_and_stops_nothing_else() {
        let offers = "worker w1; offers v1.33 over; offers v1.34;";
        check(&format!("{offers} cluster a on=w1 version=v1.33.9; cluster b"), "a on w1; b -> w1");
    }

    #[test]
    fn the_workers_own_version_is_no_matter() {
        check("worker w1 version=v1.32.0; cluster a version=v1.36.0", "a -> w1");
        check("worker w1 version=v1.36.0; cluster a version=v1.30.0", "a -> w1");
    }

    #[test]
    fn clusters_of_kind_need_neither() {
        check(
            "worker w1 runs:kamaji=26.2.0-edge; cluster a flavor=kind version=v1.36.0",
            "a -> w1",
        );
    }

    #[test]
    fn a_worker_that_supports_less_keeps_what_it_has() {
        check("worker w1 runs:kamaji=26.2.0-edge; cluster a on=w1 version=v1.36.0", "a on w1");
    }
}
