//! What a report may change: the clusters of which it says something else than is known, and whether the worker is to
//! decisions what it was.

use std::collections::BTreeSet;

use super::folded_cluster;
use crate::model::{FoldedReport, Name, Report};

/// The clusters of which a report says something else than is known, or of which it says nothing any more. Folding
/// it changes no other cluster; one that flaps stays as it is even so.
#[must_use]
pub fn clusters_said_otherwise(known: &FoldedReport, report: &Report) -> BTreeSet<Name> {
    let said: BTreeSet<&Name> = report.clusters.iter().map(|cluster| &cluster.name).collect();
    let gone = known.clusters.keys().filter(|name| report.complete && !said.contains(name));
    let other = report.clusters.iter().filter(|cluster| {
        let before = known.clusters.get(&cluster.name);
        before.is_none_or(|before| folded_cluster(cluster, before.since) != *before)
    });
    other.map(|cluster| &cluster.name).chain(gone).cloned().collect()
}

/// Whether a worker is to all decisions what it was, apart from what it says of single clusters. How far it
/// followed carp, the versions of its components and its own words are told, and decide nothing.
#[must_use]
pub fn is_same_host(before: &FoldedReport, after: &FoldedReport) -> bool {
    let host = |report: &FoldedReport| {
        let FoldedReport { worker_uid, freshness, freshness_since, healthy, healthy_since, .. } =
            report;
        let since = (*freshness_since, *healthy_since);
        (worker_uid.clone(), *freshness, *healthy, since, report.reason.clone(), report.complete)
    };
    let same_namespaces = before.foreign_namespaces == after.foreign_namespaces;
    host(before) == host(after)
        && same_namespaces
        && before.ahead.is_none()
        && after.ahead.is_none()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cluster, known, report, w1};
    use super::super::*;
    use super::*;

    fn names(known: &FoldedReport, report: &Report) -> Vec<String> {
        clusters_said_otherwise(known, report).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn only_clusters_of_which_something_else_is_said_are_named() {
        let last = &known(0)["w1"];
        let same = report(600);
        assert_eq!(names(last, &same), [""; 0]);
        let other = |clusters| Report { clusters, ..report(600) };
        let both = vec![cluster("a", "Degraded"), cluster("b", "Running")];
        assert_eq!(names(last, &other(both)), ["a", "b"]);
        assert_eq!(names(last, &other(Vec::new())), ["a"], "it is gone");
        let part = Report { complete: false, ..other(Vec::new()) };
        assert_eq!(names(last, &part), [""; 0], "nothing is said of it");
    }

    #[test]
    fn folding_changes_no_other_cluster() {
        let last = known(0);
        let clusters = vec![cluster("a", "Running"), cluster("b", "Running")];
        let report = Report { clusters, ..report(600) };
        let fold = super::super::tests::fold_one(&last, Some(&report), 660);
        let changed = |(name, cluster): &(&Name, &FoldedCluster)| {
            last["w1"].clusters.get(*name) != Some(*cluster)
        };
        let changed: Vec<_> =
            w1(&fold).clusters.iter().filter(changed).map(|(name, _)| name.to_string()).collect();
        assert_eq!(changed, names(&last["w1"], &report));
        assert!(is_same_host(&last["w1"], w1(&fold)));
    }

    #[test]
    fn a_worker_that_decisions_see_otherwise_is_another_host() {
        let last = &known(0)["w1"];
        let same = |change: fn(&mut FoldedReport)| {
            let mut next = last.clone();
            change(&mut next);
            is_same_host(last, &next)
        };
        assert!(same(|r| r.applied_revision = Some("abc".to_owned())));
        assert!(same(|r| r.message = Some("words".to_owned())));
        assert!(same(|r| drop(r.components.insert("flux".to_owned(), "v2".to_owned()))));
        assert!(!same(|r| r.healthy = false));
        assert!(!same(|r| r.freshness = Freshness::Silent));
        assert!(!same(|r| r.complete = !r.complete));
        assert!(!same(|r| r.foreign_namespaces = [r.worker.clone()].into()));
        assert!(!same(|r| r.reason = Some("Sick".to_owned())));
    }
}
