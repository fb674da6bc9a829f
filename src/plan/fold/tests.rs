//! Tests of the fold: reports, silence, replays, clocks.

use proptest::prelude::*;

use super::ahead::CLOCK_SKEW;
use super::*;
pub(super) use crate::model::fixture::{self, reported as cluster};

pub(super) const HOUR: i64 = 3600;

pub(super) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

/// A report of `w1`, healthy and complete, with one running cluster.
pub(super) fn report(second: i64) -> Report {
    Report {
        worker_uid: "uid-1".to_owned(),
        clusters: vec![cluster("a", "Running")],
        ..fixture::report("w1", at(second))
    }
}

pub(super) fn desired() -> BTreeMap<Name, Worker> {
    let worker = Worker {
        name: name("w1"),
        labels: crate::model::SharedMap::new(),
        facts: crate::model::Digest::of(b""),
        file: String::new(),
        document: 0,
        spec: crate::model::api::WorkerSpec::default().into(),
        heartbeat_timeout_seconds: HOUR,
        made_by: None,
        catalogue: crate::model::Catalogue::default(),
    };
    [(name("w1"), worker)].into()
}

pub(super) type Last = BTreeMap<Name, FoldedReport>;

/// Folds one report of `w1`, or its absence.
pub(super) fn fold_one(last: &Last, report: Option<&Report>, second: i64) -> Fold {
    let reports = report.map(|r| (name("w1"), r.clone())).into_iter().collect();
    let workers = desired();
    fold(&FoldInput {
        last,
        reports: Some(&reports),
        unusable: &BTreeSet::new(),
        workers: &workers,
        control_plane: None,
        now: at(second),
    })
}

/// What is known after one report at that second, read a minute later.
pub(super) fn known(second: i64) -> Last {
    fold_one(&Last::new(), Some(&report(second)), second + 60).observed.workers
}

pub(super) fn w1(fold: &Fold) -> &FoldedReport {
    &fold.observed.workers["w1"]
}

pub(super) fn refusals(fold: &Fold) -> Vec<&str> {
    fold.diagnostics.iter().map(|d| d.message.as_str()).collect()
}

#[test]
fn the_first_report_pins_the_worker_and_dates_everything() {
    let fold = fold_one(&Last::new(), Some(&report(0)), 60);
    let w1 = w1(&fold);
    assert_eq!((w1.freshness, w1.freshness_since), (Freshness::Fresh, at(0)));
    assert_eq!((w1.healthy, w1.healthy_since), (true, at(0)));
    assert_eq!(w1.worker_uid, "uid-1");
    assert_eq!(w1.clusters["a"].since, at(0));
    assert_eq!(fold.valid_until, Some(at(HOUR)));
    assert!(fold.diagnostics.is_empty());
}

#[test]
fn a_heartbeat_changes_nothing_but_the_deadline() {
    let fold = fold_one(&known(0), Some(&report(600)), 660);
    assert_eq!(fold.observed.workers, known(0));
    assert_eq!(fold.valid_until, Some(at(600 + HOUR)));
}

#[test]
fn a_transition_is_dated_by_the_first_report_that_said_so() {
    let sick = Report {
        healthy: false,
        reason: Some("Sick".to_owned()),
        clusters: vec![cluster("a", "Degraded"), cluster("b", "Provisioning")],
        ..report(600)
    };
    let fold = fold_one(&known(0), Some(&sick), 660);
    let now = w1(&fold);
    assert_eq!((now.healthy, now.healthy_since), (false, at(600)));
    assert_eq!(now.reason.as_deref(), Some("Sick"));
    assert_eq!(now.freshness_since, at(0));
    assert_eq!((now.clusters["a"].since, now.clusters["b"].since), (at(600), at(600)));
    let later = Report { time: at(900), ..sick };
    let again = fold_one(&fold.observed.workers, Some(&later), 960);
    assert_eq!(again.observed, fold.observed);
}

#[test]
fn a_report_that_cannot_be_read_did_not_vanish_and_is_no_heartbeat() {
    let of = |second| {
        fold(&FoldInput {
            last: &known(0),
            reports: Some(&BTreeMap::new()),
            unusable: &[name("w1")].into(),
            workers: &desired(),
            control_plane: None,
            now: at(second),
        })
    };
    let soon = of(600);
    assert_eq!(soon.observed.workers, known(0), "nothing new is known");
    assert_eq!(soon.valid_until, Some(at(HOUR)));
    assert_eq!(w1(&of(HOUR)).freshness, Freshness::Silent);
}

#[test]
fn a_worker_is_silent_from_the_very_moment_the_timeout_runs_out() {
    let before = fold_one(&known(0), Some(&report(0)), HOUR - 1);
    assert_eq!(w1(&before).freshness, Freshness::Fresh);
    for second in [HOUR, HOUR + 1, 5 * HOUR] {
        let fold = fold_one(&known(0), Some(&report(0)), second);
        let w1 = w1(&fold);
        assert_eq!((w1.freshness, w1.freshness_since), (Freshness::Silent, at(HOUR)));
        assert_eq!(fold.valid_until, None);
        assert!(fold.diagnostics.is_empty());
        assert_eq!(w1.clusters, known(0)["w1"].clusters, "what was known stays known");
    }
}

#[test]
fn a_report_that_is_old_when_it_is_first_seen_is_silent_from_the_start() {
    let fold = fold_one(&Last::new(), Some(&report(0)), 3 * HOUR);
    let w1 = w1(&fold);
    assert_eq!((w1.freshness, w1.freshness_since), (Freshness::Silent, at(HOUR)));
    assert_eq!(w1.healthy_since, at(0));
}

#[test]
fn only_a_report_made_since_breaks_the_silence() {
    let silent = fold_one(&known(0), Some(&report(0)), 2 * HOUR).observed.workers;
    let old = fold_one(&silent, Some(&report(0)), 3 * HOUR);
    assert_eq!(old.observed.workers, silent);
    assert!(old.diagnostics.is_empty(), "that it still lies there is no news");
    let new = fold_one(&silent, Some(&report(3 * HOUR)), 3 * HOUR + 60);
    let w1 = w1(&new);
    assert_eq!((w1.freshness, w1.freshness_since), (Freshness::Fresh, at(3 * HOUR)));
    assert_eq!(w1.healthy_since, at(0), "it was well before and is well again");
}

#[test]
fn a_report_from_another_cluster_is_refused_and_changes_nothing() {
    let other = Report { worker_uid: "uid-2".to_owned(), healthy: false, ..report(600) };
    let fold = fold_one(&known(0), Some(&other), 660);
    assert_eq!(fold.observed.workers, known(0));
    assert_eq!(
        refusals(&fold),
        [
            "the report of worker w1 is not used: it is from the cluster uid-2, and the worker is the \
          cluster uid-1"
        ]
    );
}

#[test]
fn a_worker_of_which_only_refused_reports_come_falls_silent() {
    let other = Report { worker_uid: "uid-2".to_owned(), ..report(2 * HOUR) };
    let fold = fold_one(&known(0), Some(&other), 2 * HOUR + 60);
    let w1 = w1(&fold);
    assert_eq!((w1.freshness, w1.freshness_since), (Freshness::Silent, at(2 * HOUR + 60)));
    assert_eq!(w1.worker_uid, "uid-1");
}

#[test]
fn a_replayed_report_is_ignored() {
    let sick = Report { healthy: false, ..report(600) };
    let known = fold_one(&known(0), Some(&sick), 660).observed.workers;
    let fold = fold_one(&known, Some(&report(300)), 720);
    assert_eq!(fold.observed.workers, known);
    assert_eq!(refusals(&fold).len(), 1);
    let older = fold_one(&self::known(600), Some(&report(0)), 720);
    assert_eq!(older.observed.workers, self::known(600));
    assert_eq!(refusals(&older).len(), 1);
}

#[test]
fn a_report_from_the_future_counts_from_when_it_was_first_seen() {
    let sick = Report { healthy: false, ..report(10 * HOUR) };
    let fold = fold_one(&known(0), Some(&sick), 600);
    assert_eq!(w1(&fold).healthy_since, at(600));
    assert_eq!(fold.valid_until, Some(at(600)), "a later run would date it later");
    assert!(refusals(&fold)[0].contains("which is still to come; it counts from"), "{fold:?}");
    let ahead = Report { healthy: false, ..report(600 + CLOCK_SKEW) };
    let fold = fold_one(&known(0), Some(&ahead), 600);
    assert_eq!(w1(&fold).healthy_since, at(600 + CLOCK_SKEW), "clocks differ a little");
}

#[test]
fn a_dead_workers_report_from_the_future_keeps_it_fresh_no_longer_than_another() {
    let dead = report(600_000 * HOUR);
    let seen = fold_one(&known(0), Some(&dead), 600).observed.workers;
    let fresh = fold_one(&seen, Some(&dead), 599 + HOUR);
    assert_eq!(fresh.observed.workers, seen);
    let silent = fold_one(&seen, Some(&dead), 600 + HOUR);
    assert_eq!(
        (w1(&silent).freshness, w1(&silent).freshness_since),
        (Freshness::Silent, at(600 + HOUR))
    );
    let for_ever = fold_one(&silent.observed.workers, Some(&dead), 9 * HOUR);
    assert_eq!(for_ever.observed.workers, silent.observed.workers);
    // One that goes on reporting with a wrong clock is alive.
    let alive = report(600_001 * HOUR);
    let fold = fold_one(&silent.observed.workers, Some(&alive), 9 * HOUR);
    assert_eq!((w1(&fold).freshness, w1(&fold).freshness_since), (Freshness::Fresh, at(9 * HOUR)));
}

#[test]
fn a_report_from_the_future_is_not_late_for_a_change_that_was_a_little_ahead() {
    let ahead = fold_one(&Last::new(), Some(&report(CLOCK_SKEW)), 0).observed.workers;
    let far_ahead = Some(report(10 * HOUR));
    let fold = fold_one(&ahead, far_ahead.as_ref(), 30);
    assert!(fold.observed.refused.is_empty(), "{fold:?}");
    let known = FoldedReport { ahead: None, ..w1(&fold).clone() };
    assert_eq!(known, ahead["w1"]);
    let sick = far_ahead.map(|report| Report { healthy: false, ..report });
    assert_eq!(w1(&fold_one(&ahead, sick.as_ref(), 30)).healthy_since, at(CLOCK_SKEW));
}

#[test]
fn a_report_that_vanished_makes_its_worker_silent_at_once() {
    let fold = fold_one(&known(0), None, 120);
    let w1 = w1(&fold);
    assert_eq!((w1.freshness, w1.freshness_since), (Freshness::Silent, at(120)));
    let again = fold_one(&fold.observed.workers, None, 999);
    assert_eq!(again.observed, fold.observed);
    assert_eq!(again.valid_until, None);
}

#[test]
fn where_no_reports_were_looked_for_everything_stays() {
    let last = known(0);
    let workers = desired();
    let fold = fold(&FoldInput {
        last: &last,
        reports: None,
        unusable: &BTreeSet::new(),
        workers: &workers,
        control_plane: None,
        now: at(9 * HOUR),
    });
    assert_eq!(fold.observed.workers, last);
    assert_eq!(fold.valid_until, None);
}

#[test]
fn a_worker_that_is_not_desired_is_kept_if_known_and_refused_if_not() {
    let reports = [(name("w1"), report(600))].into();
    let nobody = BTreeMap::new();
    let fold_with = |last: &Last| {
        fold(&FoldInput {
            last,
            reports: Some(&reports),
            unusable: &BTreeSet::new(),
            workers: &nobody,
            control_plane: None,
            now: at(660),
        })
    };
    assert_eq!(fold_with(&known(0)).observed.workers, known(0));
    let unknown = fold_with(&Last::new());
    assert!(unknown.observed.workers.is_empty());
    assert_eq!(refusals(&unknown).len(), 1);
}

#[test]
fn the_control_plane_is_known_without_being_a_worker() {
    let hub = Report { worker: name("hub"), ..report(0) };
    let fold_as = |control_plane: Option<&str>, last: &Last, second| {
        fold(&FoldInput {
            last,
            reports: Some(&[(name("hub"), hub.clone())].into()),
            unusable: &BTreeSet::new(),
            workers: &desired(),
            control_plane,
            now: at(second),
        })
    };
    let first = fold_as(Some("hub"), &Last::new(), 60);
    assert_eq!(first.observed.workers["hub"].clusters["a"].phase, "Running");
    assert!(first.diagnostics.is_empty());
    let silent = fold_as(Some("hub"), &first.observed.workers, HOUR);
    assert_eq!(silent.observed.workers["hub"].freshness, Freshness::Silent);
    assert_eq!(refusals(&fold_as(Some("other"), &Last::new(), 60)).len(), 1);
}

#[test]
fn a_report_under_another_workers_name_is_refused() {
    let other = Report { worker: name("w2"), healthy: false, ..report(0) };
    let fold = fold_one(&Last::new(), Some(&other), 60);
    assert!(fold.observed.workers.is_empty());
    assert_eq!(refusals(&fold), ["the report of worker w1 is not used: it names the worker w2"]);
    let fold = fold_one(&known(0), Some(&Report { time: at(600), ..other }), 660);
    assert_eq!(fold.observed.workers, known(0));
    assert_eq!(refusals(&fold).len(), 1);
}

#[test]
fn only_a_complete_report_says_what_is_not_there() {
    let empty = Report { clusters: Vec::new(), ..report(600) };
    let partial = Report { complete: false, ..empty.clone() };
    let kept = fold_one(&known(0), Some(&partial), 660);
    assert_eq!(w1(&kept).clusters, known(0)["w1"].clusters);
    assert!(!w1(&kept).complete);
    let gone = fold_one(&known(0), Some(&empty), 660);
    assert!(w1(&gone).clusters.is_empty());
}

/// One of many reports: time, identity, health, phase, completeness, since when.
fn any_report() -> impl Strategy<Value = Option<Report>> {
    let phase = prop::sample::select(vec!["Running", "Degraded", "Updating", "Provisioning"]);
    let since = prop::option::of(-5..300_i64);
    let parts =
        (0..6 * HOUR, prop::bool::weighted(0.9), any::<bool>(), phase, any::<bool>(), since);
    prop::option::weighted(
        0.9,
        parts.prop_map(|(second, same, healthy, phase, complete, ago)| {
            let since = ago.map(|ago| at(second - ago));
            Report {
                worker_uid: if same { "uid-1" } else { "uid-2" }.to_owned(),
                healthy,
                healthy_since: since,
                complete,
                clusters: vec![ReportedCluster { since, ..cluster("a", phase) }],
                ..report(second)
            }
        }),
    )
}

/// What is known after some reports, each read at a later time.
fn any_history() -> impl Strategy<Value = (Last, i64)> {
    prop::collection::vec((any_report(), 0..2 * HOUR), 0..4).prop_map(|reports| {
        reports.into_iter().fold((Last::new(), 0), |(last, now), (report, passed)| {
            let now = now + passed;
            (fold_one(&last, report.as_ref(), now).observed.workers, now)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn folding_again_changes_nothing((last, now) in any_history(), report in any_report(), passed in 0..2 * HOUR) {
        let now = now + passed;
        let once = fold_one(&last, report.as_ref(), now);
        let twice = fold_one(&once.observed.workers, report.as_ref(), now);
        prop_assert_eq!(&twice.observed, &once.observed);
    }

    #[test]
    fn for_every_time_before_the_deadline_the_fold_is_the_same(
        (last, now) in any_history(),
        report in any_report(),
        passed in 0..2 * HOUR,
        later in 0..8 * HOUR,
    ) {
        let now = now + passed;
        let fold = fold_one(&last, report.as_ref(), now);
        let then = match fold.valid_until {
            // As close to the deadline as it goes, or anywhere before it.
            Some(until) if until <= at(now) => now,
            Some(until) => (now + later).min(now + (until.duration_since(at(now)).as_secs()) - 1),
            None => now + later,
        };
        let later = fold_one(&last, report.as_ref(), then);
        prop_assert_eq!(&later.observed, &fold.observed);
        prop_assert_eq!(&later.diagnostics, &fold.diagnostics);
    }

    #[test]
    fn the_fold_changes_when_the_deadline_of_a_heartbeat_comes(second in 0..HOUR) {
        let fold = fold_one(&known(0), Some(&report(second)), second + 1);
        let until = fold.valid_until.expect("a fresh report runs out").as_second() - at(0).as_second();
        let then = fold_one(&known(0), Some(&report(second)), until);
        prop_assert_eq!(w1(&fold).freshness, Freshness::Fresh);
        prop_assert_eq!(w1(&then).freshness, Freshness::Silent);
    }
}
