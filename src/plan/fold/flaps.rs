//! What flaps, report by report.

use proptest::prelude::*;

use super::damping::{BETTER, WORSE};
use super::tests::{Last, at, cluster, fold_one, known, report, w1};
use super::*;

/// A report of `w1` and its one cluster, both in that state since a second.
fn since(second: i64, well: bool, since: i64) -> Report {
    let phase = if well { "Running" } else { "Degraded" };
    let since = Some(at(since));
    let clusters = vec![ReportedCluster { since, ..cluster("a", phase) }];
    Report { healthy: well, healthy_since: since, clusters, ..report(second) }
}

/// Whether the worker counts as well, and its cluster; they are told alike here.
#[track_caller]
fn is_well(fold: &Fold) -> bool {
    let w1 = w1(fold);
    assert_eq!(w1.clusters["a"].phase == "Running", w1.healthy);
    w1.healthy
}

#[test]
fn what_gets_worse_counts_when_it_has_held_and_not_a_second_before() {
    let sick = since(600, false, 600);
    let soon = fold_one(&known(0), Some(&sick), 601);
    assert!(is_well(&soon));
    assert_eq!(soon.observed.workers, known(0), "nothing is written");
    assert_eq!(soon.valid_until, Some(at(600 + WORSE)), "and that is when it is looked at again");
    assert!(is_well(&fold_one(&known(0), Some(&sick), 600 + WORSE - 1)));
    let held = fold_one(&known(0), Some(&sick), 600 + WORSE);
    assert!(!is_well(&held));
    assert_eq!(w1(&held).healthy_since, at(600), "dated by the report that says so");
}

#[test]
fn a_recovery_must_hold_for_longer() {
    let sick = fold_one(&known(0), Some(&since(600, false, 500)), 601).observed.workers;
    let well = since(700, true, 700);
    assert!(!is_well(&fold_one(&sick, Some(&well), 700 + BETTER - 1)));
    assert!(is_well(&fold_one(&sick, Some(&well), 700 + BETTER)));
}

#[test]
fn a_report_that_does_not_say_since_when_counts_at_once() {
    let mut sick = since(600, false, 600);
    sick.healthy_since = None;
    sick.clusters[0].since = None;
    assert!(!is_well(&fold_one(&known(0), Some(&sick), 601)));
}

#[test]
fn a_time_after_the_report_itself_is_no_time() {
    let sick = since(600, false, 9999);
    assert!(!is_well(&fold_one(&known(0), Some(&sick), 600 + WORSE)));
}

#[test]
fn after_a_silence_the_first_report_counts_as_it_is() {
    let silent = fold_one(&known(0), Some(&report(0)), 9000).observed.workers;
    let sick = fold_one(&silent, Some(&since(9100, false, 9100)), 9101);
    assert!(!w1(&sick).healthy);
}

#[test]
fn what_goes_one_way_is_not_held_back() {
    let phase = |phase: &str, second: i64| {
        let since = Some(at(second));
        Report {
            clusters: vec![ReportedCluster { since, ..cluster("a", phase) }],
            ..report(second)
        }
    };
    let making = fold_one(&Last::new(), Some(&phase("Provisioning", 0)), 1).observed.workers;
    let made = fold_one(&making, Some(&phase("Running", 60)), 61);
    assert_eq!(w1(&made).clusters["a"].phase, "Running");
    let going = fold_one(&made.observed.workers, Some(&phase("Deleting", 70)), 71);
    assert_eq!(w1(&going).clusters["a"].phase, "Deleting");
}

#[test]
fn what_is_held_back_is_how_well_it_is_and_not_what_was_applied() {
    let digest = Some(crate::model::Digest::of(b"folder"));
    let mut sick = since(600, false, 600);
    sick.applied_revision = Some("new".to_owned());
    sick.clusters[0] = ReportedCluster {
        digest,
        pool_version: Some("v1.34.2".to_owned()),
        errors: vec![crate::model::ReportedError {
            code: "QuotaExceeded".to_owned(),
            message: "none left".to_owned(),
            user_error: true,
        }],
        ..sick.clusters[0].clone()
    };
    let fold = fold_one(&known(0), Some(&sick), 601);
    let w1 = w1(&fold);
    let a = &w1.clusters["a"];
    assert_eq!((a.phase.as_str(), a.errors.len()), ("Running", 0));
    assert_eq!((a.digest, a.pool_version.as_deref()), (digest, Some("v1.34.2")));
    assert_eq!(w1.applied_revision.as_deref(), Some("new"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    /// A report each few seconds, each time the other way round: whatever state it began in, it is never
    /// left.
    #[test]
    fn what_flaps_within_the_hold_writes_nothing(
        gaps in prop::collection::vec(1..WORSE, 1..40),
        well_first in any::<bool>(),
    ) {
        let begin = since(0, well_first, -600);
        let first = fold_one(&Last::new(), Some(&begin), 1).observed.workers;
        let (mut last, mut second, mut well) = (first.clone(), 600, well_first);
        for gap in gaps {
            well = !well;
            let flapped = since(second, well, second);
            second += gap;
            // Read as late as it goes: the next report replaces it then.
            last = fold_one(&last, Some(&flapped), second - 1).observed.workers;
            prop_assert_eq!(&last, &first);
        }
    }

    /// However it got there, a state that holds counts in the end, and is never lost.
    #[test]
    fn what_holds_counts_in_the_end(
        gaps in prop::collection::vec(1..200_i64, 0..20),
        last_well in any::<bool>(),
    ) {
        let (mut last, mut second, mut well) = (known(0), 600, true);
        for gap in gaps {
            well = !well;
            last = fold_one(&last, Some(&since(second, well, second)), second + gap - 1).observed.workers;
            second += gap;
        }
        let settled = fold_one(&last, Some(&since(second, last_well, second)), second + BETTER);
        prop_assert_eq!(is_well(&settled), last_well);
    }
}
