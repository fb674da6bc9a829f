//! What tenants delete, each by itself.

use super::*;
use crate::change::guards::groups::tests::tenants;
use crate::model::{GuardCounts, GuardedRun};

/// A fleet of these tenants, each with a folder of its own.
fn fleet(names: &[&str]) -> (Fleet, FleetLock) {
    let tenants = tenants(names);
    let mut fleet = Fleet::default();
    fleet.spec.tenants.clone_from(&tenants);
    (fleet, FleetLock { tenants, ..fleet_lock() })
}

/// Whose clusters stay of those that tenants delete, in a fleet of 40, and what the next run's lock holds.
fn deleted(
    fleet: &Fleet,
    lock: FleetLock,
    deletions: &[(&str, usize)],
) -> (Vec<String>, FleetLock) {
    let count = deletions.iter().map(|(_, count)| count).sum();
    let mut previous = Previous { fleet: Some(lock.clone()), ..placed(40) };
    let rows = &mut previous.workers.values_mut().next().unwrap().clusters;
    let mut numbers = 0..;
    for (tenant, count) in deletions {
        for number in numbers.by_ref().take(*count) {
            let row = rows.get_mut(format!("c{number}").as_str()).unwrap();
            (*tenant).clone_into(&mut row.row.tenant);
        }
    }
    let mut plan = deleting(count);
    let good = Acknowledged::new(fleet, previous.fleet.as_ref(), &Vouching::default());
    let input = GuardInput { fleet, previous: &previous, now: now() };
    let guarded = guard(&mut plan, input, &good);
    let rows = &previous.workers["w1"].clusters;
    let stays = plan.clusters.iter().filter(|(_, p)| matches!(p.decision, Decision::Keep { .. }));
    let stays = stays.map(|(name, _)| rows[name].row.tenant.clone()).collect();
    (stays, FleetLock { held: good.held(&plan.holds, &guarded.lasting), ..lock })
}

fn held(fleet: &Fleet, lock: FleetLock, deletions: &[(&str, usize)]) -> Vec<String> {
    deleted(fleet, lock, deletions).0
}

#[test]
fn what_one_tenant_deletes_holds_no_other() {
    let (fleet, lock) = fleet(&["red", "blue"]);
    let held = |deletions: &[(&str, usize)]| held(&fleet, lock.clone(), deletions);
    assert_eq!(held(&[("red", 3), ("blue", 1)]), [""; 0], "each has its own three");
    assert_eq!(held(&[("red", 4), ("blue", 1)]), ["red"; 4]);
    assert_eq!(held(&[("red", 3), ("blue", 3)]), [""; 0]);
}

#[test]
fn what_is_nobodys_folder_is_the_platforms_and_counts_together() {
    let (some, lock) = fleet(&["red"]);
    let held = |deletions: &[(&str, usize)]| held(&some, lock.clone(), deletions);
    assert_eq!(held(&[("a", 2), ("b", 2), ("red", 1)]), ["a", "a", "b", "b"]);
    assert_eq!(held(&[("a", 2), ("b", 1), ("red", 3)]), [""; 0]);
}

#[test]
fn one_commit_over_the_folders_of_many_tenants_is_held() {
    let names = ["a", "b", "c", "d", "e"];
    let (fleet, lock) = fleet(&names);
    let held = |each: usize, of: &[&'static str]| {
        let all: Vec<_> = of.iter().map(|name| (*name, each)).collect();
        held(&fleet, lock.clone(), &all).len()
    };
    assert_eq!((held(3, &names[..4]), held(3, &names)), (0, 15));
    assert_eq!(held(1, &names), 0);
}

#[test]
fn a_commit_that_sets_tenants_apart_does_not_profit_from_it() {
    let (fleet, lock) = fleet(&["red", "blue"]);
    let before = FleetLock { tenants: Vec::new(), ..lock };
    assert_eq!(held(&fleet, before, &[("red", 2), ("blue", 2)]).len(), 4);
}

#[test]
fn what_was_held_stays_held_when_it_is_less() {
    let names = ["a", "b", "c", "d", "e"];
    let (fleet, lock) = fleet(&names);
    let each = |count: usize| names.map(|name| (name, count));
    let (all, after) = deleted(&fleet, lock.clone(), &each(3));
    assert_eq!((all.len(), after.held.len()), (15, 5));
    assert_eq!(held(&fleet, after, &each(2)).len(), 10, "what was held for its sum stays held");
    let (_, after) = deleted(&fleet, lock, &[("a", 4), ("b", 3)]);
    assert_eq!(
        held(&fleet, after, &[("a", 2), ("b", 3)]),
        ["a"; 2],
        "what was too much stays held"
    );
}

/// Whatever one of them does, and whoever is acknowledged, the others' sets are what they were.
#[test]
fn tenants_that_delete_too_much_together_are_each_held_by_a_set_of_their_own() {
    let names = ["a", "b", "c", "d", "red"];
    let (fleet, lock) = fleet(&names);
    let deletions = |of_red| names.map(|name| (name, if name == "red" { of_red } else { 3 }));
    let (stays, all) = deleted(&fleet, lock.clone(), &deletions(3));
    let (_, fewer) = deleted(&fleet, lock, &deletions(2));
    assert_eq!((stays.len(), all.held.len(), fewer.held.len()), (15, 5, 5));
    let others = |lock: &FleetLock| {
        let sets = lock.held.iter().map(|set| set.digest.to_string());
        sets.collect::<BTreeSet<_>>()
    };
    let (all_sets, fewer_sets) = (others(&all), others(&fewer));
    assert_eq!(all_sets.intersection(&fewer_sets).count(), 4, "red's set alone is another");

    // What is acknowledged for one of them goes, and nobody else's.
    let a: Vec<String> = ["c0", "c1", "c2"].map(str::to_owned).into();
    let set = Hold { kind: HoldKind::MassDeletion, names: a, allowed: None };
    let meant = acknowledging(&set).acknowledgements;
    let fleet = Fleet { acknowledgements: meant, ..fleet };
    let (stays, after) = deleted(&fleet, fewer, &deletions(3));
    assert!(!stays.contains(&"a".to_owned()));
    assert_eq!((stays.len(), after.held.len()), (12, 4));

    // What has begun for one of them is no more than before, and no reason that the others go.
    let others = names.map(|name| (name, if name == "a" { 0 } else { 3 }));
    assert_eq!(held(&fleet, after, &others).len(), 12);
}

#[test]
fn what_is_the_platforms_is_held_as_one() {
    let (fleet, lock) = fleet(&["red"]);
    let (first, after) = deleted(&fleet, lock, &[("a", 2), ("b", 2)]);
    assert_eq!(first.len(), 4);
    assert_eq!(held(&fleet, after, &[("b", 1), ("red", 3)]), ["b"], "no part of it goes by itself");
}

#[test]
fn an_hour_is_each_tenants_and_the_platforms() {
    let (fleet, lock) = fleet(&["red", "blue"]);
    let deletions = [("red".to_owned(), 3), ("a".to_owned(), 3)].into();
    let did = GuardCounts { deletions, ..GuardCounts::default() };
    let lock = FleetLock { recent: vec![GuardedRun { at: now(), did }], ..lock };
    let deletions = [("red", 1), ("blue", 3), ("b", 1), ("", 1)];
    let (waits, after) = deleted(&fleet, lock, &deletions);
    assert_eq!(waits, ["red", "b", ""]);
    assert!(after.held[0].tenants.is_empty(), "it goes on by itself");
}

#[test]
fn a_hold_names_the_number_that_it_is_for() {
    let (fleet, lock) = fleet(&["red", "blue"]);
    let deletions = TenantLimit { run: 3, lately: [("red".to_owned(), 1)].into() };
    let limits = GuardLimits::new(Guards::default(), &fleet.spec.tenants, Some(&lock), 40, now());
    let limits = GuardLimits { deletions, ..limits };
    let allowed = |starting: &[(&str, usize)], before: &[&str]| {
        let names = |(of, many): &(&str, usize)| {
            ((*of).to_owned(), (0..*many).map(|number| format!("{of}{number}")).collect())
        };
        let before = before.iter().map(|&of| of.to_owned()).collect();
        let over = Starting(starting.iter().map(names).collect()).over(&limits, &before);
        over.into_iter().map(|(hold, _)| (hold.names.len(), hold.allowed)).collect::<Vec<_>>()
    };
    assert_eq!(allowed(&[("blue", 4)], &[]), [(4, Some(3))], "more than a run may");
    assert_eq!(allowed(&[("red", 2)], &[]), [(2, Some(1))], "what is left of the hour");
    assert_eq!(allowed(&[("blue", 2)], &["blue"]), [(2, None)], "a set that shrank");
}

/// What is held for somebody can be acknowledged, whatever others do in the same commit.
#[test]
fn what_one_tenant_deletes_changes_no_set_that_another_is_held_for() {
    let (fleet, lock) = fleet(&["red", "blue"]);
    let (_, both) = deleted(&fleet, lock.clone(), &[("red", 4), ("blue", 4)]);
    let (_, more) = deleted(&fleet, lock.clone(), &[("red", 4), ("blue", 5)]);
    let (_, alone) = deleted(&fleet, lock, &[("red", 4)]);
    let of = |lock: &FleetLock, tenant: &str| {
        let mut sets = lock.held.iter().filter(|set| set.tenants.contains(tenant));
        (sets.next().cloned(), sets.count())
    };
    assert_eq!((both.held.len(), alone.held.len()), (2, 1));
    for lock in [&both, &more] {
        assert_eq!(of(lock, "red"), of(&alone, "red"));
    }
    assert_ne!(of(&both, "blue"), of(&more, "blue"));

    // The acknowledgement of red's four lets these go, while blue's five stay.
    let red = of(&alone, "red").0.unwrap();
    let digest = red.digest.to_string();
    let value = AcknowledgementSpec { of: red.of, count: 4, digest, rebalance: None };
    let sourced = Sourced { file: "fleet/ack.yaml".into(), document: 0, value };
    let fleet = Fleet { acknowledgements: [(name("yes"), sourced)].into(), ..fleet };
    let (stays, after) = deleted(&fleet, more, &[("red", 4), ("blue", 5)]);
    assert_eq!(stays, ["blue"; 5]);
    assert_eq!(after.held.len(), 1);
}
