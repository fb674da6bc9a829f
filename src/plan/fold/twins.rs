//! Reports that must move nothing, each beside its twin that does: the same report, made by the right
//! cluster, in time, about what it may speak of.

use super::tests::{HOUR, Last, at, cluster, desired, fold_one, known, name, refusals, report, w1};
use super::*;

/// A worker whose document names its cluster.
fn declared(uid: &str) -> BTreeMap<Name, Worker> {
    let mut workers = desired();
    let worker = workers.get_mut("w1").unwrap();
    worker.spec.worker_uid = Some(uid.to_owned());
    workers
}

fn fold_with(last: &Last, report: &Report, workers: &BTreeMap<Name, Worker>, second: i64) -> Fold {
    fold(&FoldInput {
        last,
        reports: Some(&[(name("w1"), report.clone())].into()),
        unusable: &BTreeSet::new(),
        control_plane: None,
        workers,
        now: at(second),
    })
}

/// What a report says that would be news if it counted.
fn news(second: i64) -> Report {
    let clusters = vec![cluster("a", "Degraded"), cluster("b", "Running")];
    Report { healthy: false, clusters, ..report(second) }
}

/// The news count, or they move nothing and the refusal has its word.
#[track_caller]
fn counts(report: &Report, refusal: Option<Refusal>) {
    let fold = fold_one(&known(300), Some(report), 660);
    let moved = fold.observed.workers != known(300);
    assert_eq!(moved, refusal.is_none(), "{:?}", w1(&fold));
    assert_eq!(fold.observed.refused.get("w1").copied(), refusal);
    assert_eq!(refusals(&fold).len(), usize::from(refusal.is_some()));
}

#[test]
fn a_report_counts_and_its_foreign_and_late_twins_move_nothing() {
    counts(&news(600), None);
    counts(&Report { worker_uid: "uid-2".to_owned(), ..news(600) }, Some(Refusal::OtherCluster));
    counts(&Report { worker: name("w2"), ..news(600) }, Some(Refusal::OtherWorker));
    counts(&news(299), Some(Refusal::Late));
}

#[test]
fn a_report_that_cannot_be_read_has_its_word_and_one_of_nobody_has_none() {
    let unusable = [name("w1"), name("w9")].into();
    let fold = fold(&FoldInput {
        last: &known(0),
        reports: Some(&BTreeMap::new()),
        unusable: &unusable,
        control_plane: None,
        workers: &desired(),
        now: at(60),
    });
    assert_eq!(fold.observed.workers, known(0));
    assert_eq!(fold.observed.refused["w1"], Refusal::Unreadable);
}

#[test]
fn a_worker_that_was_built_anew_counts_once_a_person_says_so() {
    let anew = Report { worker_uid: "uid-2".to_owned(), ..news(2 * HOUR) };
    let now = 2 * HOUR + 60;
    let refused = fold_with(&known(0), &anew, &desired(), now);
    assert_eq!(w1(&refused).worker_uid, "uid-1");
    assert_eq!(refused.observed.refused["w1"], Refusal::OtherCluster);
    let help = refused.diagnostics.iter().next().unwrap().help.clone().unwrap();
    assert!(help.contains("set `spec.workerUID: uid-2`"), "{help}");

    let accepted = fold_with(&known(0), &anew, &declared("uid-2"), now);
    let w1 = w1(&accepted);
    assert_eq!((w1.worker_uid.as_str(), w1.healthy), ("uid-2", false));
    assert_eq!((w1.freshness_since, w1.clusters["a"].since), (at(2 * HOUR), at(2 * HOUR)));
    assert!(accepted.observed.refused.is_empty() && accepted.diagnostics.is_empty());
    let again = fold_with(&accepted.observed.workers, &anew, &declared("uid-2"), now);
    assert_eq!(again.observed, accepted.observed);
    let undeclared = fold_with(&accepted.observed.workers, &anew, &desired(), now);
    assert_eq!(undeclared.observed, accepted.observed, "it is pinned now");
}

#[test]
fn the_cluster_that_was_given_up_does_not_count_any_more() {
    let old = Report { healthy: false, ..report(600) };
    let fold = fold_with(&known(0), &old, &declared("uid-2"), 660);
    assert_eq!(fold.observed.workers, known(0), "what was known stays until the new one reports");
    assert_eq!(fold.observed.refused["w1"], Refusal::OtherCluster);
    let first = fold_with(&Last::new(), &old, &declared("uid-2"), 660);
    assert!(first.observed.workers.is_empty(), "nor is it pinned where nothing was known");
}

#[test]
fn what_a_worker_that_was_built_anew_does_not_report_is_not_known_of_it() {
    let anew = Report {
        worker_uid: "uid-2".to_owned(),
        complete: false,
        clusters: Vec::new(),
        ..report(600)
    };
    let fold = fold_with(&known(0), &anew, &declared("uid-2"), 660);
    assert!(w1(&fold).clusters.is_empty(), "an incomplete report keeps what the same worker had");
}

#[test]
fn a_cluster_that_is_another_object_than_before_is_told_and_not_damped() {
    let with = |uid: &str, phase: &str, second| {
        let uid = Some(uid.to_owned());
        let since = Some(at(second));
        let clusters = vec![ReportedCluster { uid, since, ..cluster("a", phase) }];
        Report { clusters, ..report(second) }
    };
    let known = fold_one(&Last::new(), Some(&with("one", "Running", 0)), 60).observed.workers;
    let same = fold_one(&known, Some(&with("one", "Degraded", 600)), 601);
    assert_eq!((w1(&same).clusters["a"].phase.as_str(), refusals(&same).len()), ("Running", 0));
    let other = fold_one(&known, Some(&with("two", "Degraded", 600)), 601);
    assert_eq!(w1(&other).clusters["a"].phase, "Degraded");
    assert_eq!(
        refusals(&other),
        ["the cluster a on the worker w1 is another object than before: one, now two"]
    );
}
