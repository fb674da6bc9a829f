//! What of the losses of a run is held, in words.

use super::super::groups::tests::groups;
use super::super::limits::ApartLimit;
use super::*;

const fn limit(left: u64) -> Limit {
    Limit { run: left, left }
}

fn apart(others: u64, owners: u64) -> LossLimit {
    let owners = TenantLimit { run: owners, ..TenantLimit::default() };
    let apart = Some(ApartLimit { others: limit(others), owners });
    LossLimit { apart, ..LossLimit::default() }
}

/// So much for red, for blue and for the platform, and what is left of it.
fn each(run: u64, lately: &[(&str, u64)]) -> LossLimit {
    let each = Some(TenantLimit { run, lately: counts(lately) });
    LossLimit { each, apart: None, groups: groups(&["red", "blue"]) }
}

fn counts(of: &[(&str, u64)]) -> BTreeMap<String, u64> {
    of.iter().map(|(tenant, count)| ((*tenant).to_owned(), *count)).collect()
}

fn others(losses: &LossGuard) -> u64 {
    losses.let_through(&BTreeSet::new()).others
}

fn lost(name: &str, amount: u64, asked: bool) -> Lost {
    Lost { name: name.to_owned(), amount, asked }
}

fn losses(limit: LossLimit, before: &[&str], lost: &[(&str, &str, Lost)]) -> LossGuard {
    let before = before.iter().map(ToString::to_string).collect();
    let mut guard = LossGuard::new(HoldKind::MachinesReplaced, limit, before);
    for (tenant, name, lost) in lost {
        guard.count(LossOwner { name, tenant }, std::slice::from_ref(lost));
    }
    guard
}

fn held(others: bool, tenants: &[&str]) -> HeldLosses {
    let tenants = tenants.iter().map(ToString::to_string).collect();
    HeldLosses { others, tenants, everyone: false }
}

/// What must be held, where it is of one group.
fn only(guard: &LossGuard) -> Hold {
    let mut sets = guard.sets(&guard.verdict());
    assert_eq!(sets.len(), 1);
    sets.remove(0).1
}

#[test]
fn where_nothing_may_go_it_is_held_from_the_start() {
    let mut losses = losses(apart(0, 3), &[], &[]);
    let owner = |name| LossOwner { name, tenant: "t" };
    assert!(losses.count(owner("a"), &[lost("x", 1, false)]));
    assert!(!losses.count(owner("b"), &[lost("y", 1, true)]));
    assert_eq!(losses.verdict(), held(true, &[]));
    assert_eq!(only(&losses).names, ["x"]);
}

#[test]
fn machines_are_counted_and_owners_are() {
    let two = |asked| [("t", "a", lost("x", 5, asked)), ("t", "b", lost("y", 6, asked))];
    assert_eq!(losses(apart(10, 9), &[], &two(false)).verdict(), held(true, &[]));
    let fits = losses(apart(11, 9), &[], &two(false));
    assert_eq!((fits.verdict(), others(&fits)), (held(false, &[]), 11));
    assert_eq!(fits.let_through(&["b"].into()).others, 5, "its folder stays as it is");
    assert_eq!(losses(apart(0, 2), &[], &two(true)).verdict(), held(false, &[]));
    assert_eq!(losses(apart(0, 1), &[], &two(true)).verdict(), held(false, &["t"]));
}

#[test]
fn no_tenant_holds_another_up() {
    let asked = [
        ("red", "a", lost("x", 1, true)),
        ("red", "b", lost("y", 1, true)),
        ("blue", "c", lost("z", 1, true)),
    ];
    let losses = losses(apart(0, 1), &[], &asked);
    assert_eq!(only(&losses).names, ["x", "y"]);
}

#[test]
fn a_number_of_the_fleet_counts_for_each_tenant_and_for_the_platform() {
    let all = [
        ("red", "a", lost("x", 11, true)),
        ("blue", "b", lost("y", 10, true)),
        ("", "w", lost("z", 5, true)),
        ("blue", "b", lost("u", 5, false)),
    ];
    let one = losses(each(10, &[]), &[], &all);
    assert_eq!(one.verdict(), held(false, &["red"]), "red holds nobody else up");
    let through = one.holding(held(false, &["red"])).let_through(&BTreeSet::new());
    assert_eq!((through.others, through.asked), (5, counts(&[("", 5), ("blue", 10)])));
    assert_eq!(losses(each(9, &[]), &[], &all[2..]).verdict(), held(true, &[""]));
    let lately = losses(each(10, &[("blue", 9)]), &[], &all[1..]);
    assert_eq!(lately.verdict(), held(false, &["blue"]));
    assert_eq!(only(&lately).allowed, Some(9));
    assert!(lately.holding(held(false, &["blue"])).stays_held().is_empty(), "it goes on by itself");
}

#[test]
fn what_is_held_is_a_set_for_each_who_has_a_folder_and_one_for_the_platform() {
    let all = [
        ("red", "a", lost("x", 11, true)),
        ("blue", "b", lost("y", 12, true)),
        ("t", "w", lost("z", 13, true)),
        ("blue", "b", lost("u", 14, false)),
    ];
    let guard = losses(each(10, &[]), &["red"], &all);
    let verdict = guard.verdict();
    let sets = guard.sets(&verdict);
    let names: Vec<_> = sets.iter().map(|(group, hold)| (*group, hold.names.join(" "))).collect();
    let wanted = [("", "u z"), ("blue", "y"), ("red", "x")];
    assert_eq!(names, wanted.map(|(group, names)| (group, names.to_owned())));
    let alone = losses(each(10, &[]), &["red"], &all[..1]);
    assert_eq!(only(&alone), sets[2].1, "what others lose changes nothing of it");
    let without = verdict.without(guard.groups(), "blue");
    assert_eq!(without, held(true, &["red", "t"]));
    assert_eq!(without.without(guard.groups(), ""), held(false, &["red"]));
}

#[test]
fn who_has_no_folder_counts_with_the_platform() {
    let asked = [("a", "x", lost("x", 6, true)), ("b", "y", lost("y", 5, true))];
    assert_eq!(losses(each(10, &[]), &[], &asked).verdict(), held(false, &["a", "b"]));
    assert_eq!(losses(each(11, &[]), &[], &asked).verdict(), held(false, &[]));
    let other = [asked[0].clone(), ("red", "z", lost("z", 5, false))];
    assert_eq!(losses(each(10, &[]), &[], &other).verdict(), held(true, &["a"]));
    let lately = losses(each(11, &[("", 10)]), &[], &asked);
    assert_eq!(lately.verdict(), held(false, &["a", "b"]), "an hour is the group's, too");
}

#[test]
fn what_was_held_stays_held_however_little_is_left_of_it() {
    let none = losses(apart(10, 9), &["", "t"], &[]);
    assert!(none.is_empty() && none.stays_held().is_empty());
    let left = [("", "a", lost("x", 1, false)), ("t", "b", lost("y", 1, true))];
    let losses = losses(apart(10, 9), &["", "t"], &left);
    assert_eq!(losses.verdict(), held(true, &["t"]));
    let verdict = losses.verdict();
    let stays = losses.holding(verdict).stays_held();
    let tenants: Vec<_> = stays.into_values().flatten().collect();
    assert_eq!(tenants, ["", "t"], "nobody has a folder, so it is one set");
}

#[test]
fn what_waits_for_an_hour_to_pass_goes_on_by_itself() {
    let mut full = apart(10, 9);
    full.apart.as_mut().unwrap().others.left = 0;
    let losses = losses(full, &[], &[("", "a", lost("x", 4, false))]);
    assert!(losses.verdict().others && losses.stays_held().is_empty());
}

#[test]
fn where_one_of_two_has_a_number_both_hold() {
    let both = LossLimit { apart: apart(10, 1).apart, ..each(6, &[]) };
    let asked = |owner, amount| ("t", owner, lost(owner, amount, true));
    let other = |amount| ("", "b", lost("b", amount, false));
    let verdict = |all: &[(&str, &str, Lost)]| losses(both.clone(), &[], all).verdict();
    assert_eq!(verdict(&[asked("x", 3), other(3)]), held(false, &[]));
    assert_eq!(verdict(&[asked("x", 3), other(4)]), held(true, &["t"]), "seven of six");
    assert_eq!(verdict(&[asked("x", 1), asked("y", 1)]), held(false, &["t"]), "two of one");
}

#[test]
fn what_a_tenant_asked_for_lately_is_taken_off() {
    let mut lately = apart(10, 2);
    lately.apart.as_mut().unwrap().owners.lately.insert("red".to_owned(), 1);
    let asked = |tenant, owner| (tenant, owner, lost(owner, 9, true));
    let of = |all: &[(&str, &str, Lost)]| losses(lately.clone(), &[], all);
    let through = of(&[asked("red", "a"), asked("blue", "b"), asked("blue", "c")]);
    assert_eq!(through.verdict(), held(false, &[]));
    let owners = [("blue".to_owned(), 2), ("red".to_owned(), 1)].into();
    assert_eq!(
        through.let_through(&BTreeSet::new()),
        LetThrough { owners, ..LetThrough::default() }
    );
    let over = of(&[asked("red", "a"), asked("red", "d"), asked("blue", "b")]);
    assert_eq!(over.verdict(), held(false, &["red"]), "blue's are no matter of red's");
    assert_eq!(only(&over).allowed, Some(1));
    let verdict = over.verdict();
    assert!(over.holding(verdict).stays_held().is_empty(), "it goes on by itself");
}
