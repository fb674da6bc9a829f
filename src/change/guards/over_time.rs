//! What guards remember from run to run, in words.

use super::tests::{acknowledging, deleting, fleet_lock, kept, now, placed};
use super::*;
use crate::model::{GuardCounts, Vouching};

#[test]
fn a_set_that_shrinks_stays_held_until_it_is_acknowledged_or_gone() {
    let guarded = |count, previous: &Previous, fleet: &Fleet| {
        let mut plan = deleting(count);
        let acknowledged = Acknowledged::new(fleet, previous.fleet.as_ref(), &Vouching::default());
        let guarded = guard(&mut plan, GuardInput { fleet, previous, now: now() }, &acknowledged);
        let held = acknowledged.held(&plan.holds, &guarded.lasting);
        (held, plan, guarded)
    };
    let (first, _, all) = guarded(4, &placed(10), &Fleet::default());
    assert_eq!((first.len(), all.deletions.len()), (1, 0));
    let after = |held| Previous { fleet: Some(FleetLock { held, ..fleet_lock() }), ..placed(10) };
    let (less, plan, _) = guarded(2, &after(first), &Fleet::default());
    assert_eq!((kept(&plan), less.len()), (2, 1), "two alone would go through");
    let (gone, plan, _) = guarded(0, &after(less.clone()), &Fleet::default());
    assert!(plan.holds.is_empty() && gone.is_empty());
    let (_, plan, _) = guarded(2, &after(gone), &Fleet::default());
    assert_eq!(kept(&plan), 0, "it is another set");
    let meant = acknowledging(&Hold {
        kind: HoldKind::MassDeletion,
        names: vec!["c0".to_owned(), "c1".to_owned()],
        allowed: None,
    });
    let (_, plan, through) = guarded(2, &after(less), &meant);
    assert_eq!((kept(&plan), through.spent.len()), (0, 1));
    assert!(through.deletions.is_empty(), "what is acknowledged is not counted");
}

#[test]
fn four_commits_of_three_do_not_delete_twelve() {
    let mut lock = fleet_lock();
    let mut deleted = 0;
    for minutes in [0, 10, 20, 30] {
        let at = now() + jiff::SignedDuration::from_mins(minutes);
        let previous = Previous { fleet: Some(lock.clone()), ..placed(40) };
        let mut plan = deleting(3);
        let fleet = Fleet::default();
        let input = GuardInput { fleet: &fleet, previous: &previous, now: at };
        let guarded = guard(&mut plan, input, &Acknowledged::default());
        deleted += 3 - kept(&plan);
        assert!(guarded.lasting.is_empty(), "it goes on by itself once the hour is over");
        if kept(&plan) > 0 {
            assert_eq!(plan.valid_until, Some(now() + jiff::SignedDuration::from_hours(2)));
        }
        let count = |(tenant, names): (String, Vec<String>)| (tenant, names.len() as u64);
        let deletions = guarded.deletions.into_iter().map(count).collect();
        let did = GuardCounts { deletions, ..GuardCounts::default() };
        lock.recent = remember_run(&lock.recent, &did, at);
    }
    assert_eq!(deleted, 3);
}
