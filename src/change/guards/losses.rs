//! What a run leaves out or replaces, counted over clusters, workers and layers, and whether it is held.
//!
//! The count is known only when everything is rendered, and what is held decides what is written. So a run
//! begins with what is likely, and where the count says otherwise it is worked out once more.
//!
//! What owners' own documents ask for is counted for each tenant by itself: no tenant holds another's up.

use std::collections::{BTreeMap, BTreeSet};

use super::limits::{Limit, LossLimit};
use crate::model::api::AcknowledgementKind;
use crate::model::{Hold, HoldKind};

/// Whose something is that is no tenant's.
pub const PLATFORM: &str = "";

/// What is held of the losses of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldLosses {
    /// What no owner's document asks for.
    pub others: bool,
    /// What the documents of these tenants ask for.
    pub tenants: BTreeSet<String>,
    /// What any document asks for.
    pub everyone: bool,
}

impl HeldLosses {
    /// Everything.
    #[must_use]
    pub const fn all() -> Self {
        Self { others: true, tenants: BTreeSet::new(), everyone: true }
    }

    /// Whether nothing is held.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    fn asked(&self, tenant: &str) -> bool {
        self.everyone || self.tenants.contains(tenant)
    }
}

/// One thing that is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// What it is, as the hold names it.
    pub name: String,
    /// How much it counts: an object is one, machines are as many as they are.
    pub amount: u64,
    /// Whether the owner's own document asks for it.
    pub asked: bool,
}

/// What of the losses goes through and counts for the runs to come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LetThrough {
    /// Objects or machines.
    pub amount: u64,
    /// The clusters whose own documents asked, by tenant.
    pub owners: BTreeMap<String, u64>,
}

/// The cluster, worker or layer that loses something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossOwner<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whose it is; [`PLATFORM`] for what is no tenant's.
    pub tenant: &'a str,
}

/// Counts the losses of one kind in a run.
#[derive(Clone, Debug)]
pub struct LossGuard {
    kind: HoldKind,
    limit: LossLimit,
    /// Whose losses were held in the last run for being too many.
    held_before: BTreeSet<String>,
    /// What the run holds as it goes.
    held: HeldLosses,
    others: Side,
    asked: BTreeMap<String, Side>,
}

/// What is lost on one side.
#[derive(Clone, Debug, Default)]
struct Side {
    names: BTreeSet<String>,
    /// How much each owner loses.
    owners: BTreeMap<String, u64>,
}

impl Side {
    fn add(&mut self, owner: &str, lost: &Lost) {
        let counted = self.owners.entry(owner.to_owned()).or_default();
        if self.names.insert(lost.name.clone()) {
            *counted += lost.amount;
        }
    }

    fn amount(&self) -> u64 {
        self.owners.values().sum()
    }

    /// What the owners lose whose folders do not stay for another reason.
    fn amount_without(&self, kept: &BTreeSet<&str>) -> u64 {
        let going = self.owners.iter().filter(|(owner, _)| !kept.contains(owner.as_str()));
        going.map(|(_, amount)| amount).sum()
    }
}

impl LossGuard {
    /// None yet. Where nothing at all may go it is held from the start, and otherwise let through.
    #[must_use]
    pub fn new(kind: HoldKind, limit: LossLimit, held_before: BTreeSet<String>) -> Self {
        let everyone = limit.together.is_some_and(|limit| limit.left == 0);
        let none = limit.apart.as_ref().is_some_and(|apart| apart.others.left == 0);
        let others = everyone || none || held_before.contains(PLATFORM);
        let held = HeldLosses { others, tenants: held_before.clone(), everyone };
        Self { kind, limit, held_before, held, others: Side::default(), asked: BTreeMap::new() }
    }

    /// The same, with what is held said beforehand.
    #[must_use]
    pub fn holding(self, held: HeldLosses) -> Self {
        Self { held, ..self }
    }

    /// Counts what an owner loses; returns whether that is held.
    pub fn count(&mut self, owner: LossOwner<'_>, lost: &[Lost]) -> bool {
        let mut held = false;
        for lost in lost {
            if lost.asked {
                self.asked.entry(owner.tenant.to_owned()).or_default().add(owner.name, lost);
                held |= self.held.asked(owner.tenant);
            } else {
                self.others.add(owner.name, lost);
                held |= self.held.others;
            }
        }
        held
    }

    /// Whether nothing is lost.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.others.names.is_empty() && self.asked.is_empty()
    }

    /// What must be held of what was counted, where nobody acknowledges it.
    #[must_use]
    pub fn verdict(&self) -> HeldLosses {
        let mut held = self.exceeding(Limit::is_exceeded);
        held.others |= self.held_before.contains(PLATFORM);
        held.tenants.extend(self.held_before.iter().cloned());
        self.of_what_is_lost(&held)
    }

    /// Whether so much being held makes the same run as what is held now.
    #[must_use]
    pub fn is_held_so(&self, held: &HeldLosses) -> bool {
        self.of_what_is_lost(&self.held) == self.of_what_is_lost(held)
    }

    fn of_what_is_lost(&self, held: &HeldLosses) -> HeldLosses {
        let tenants = self.asked.keys().filter(|tenant| held.asked(tenant)).cloned().collect();
        HeldLosses {
            others: held.others && !self.others.names.is_empty(),
            tenants,
            everyone: false,
        }
    }

    fn exceeding(&self, exceeds: fn(Limit, u64) -> bool) -> HeldLosses {
        let others = self.others.amount();
        let asked: u64 = self.asked.values().map(Side::amount).sum();
        let all = self.limit.together.is_some_and(|limit| exceeds(limit, others + asked));
        let mut held = HeldLosses { others: all, tenants: BTreeSet::new(), everyone: all };
        if let Some(apart) = &self.limit.apart {
            held.others |= exceeds(apart.others, others);
            let over = |(tenant, side): &(&String, &Side)| {
                exceeds(apart.owners.of(tenant), side.owners.len() as u64)
            };
            held.tenants.extend(self.asked.iter().filter(over).map(|(tenant, _)| tenant.clone()));
        }
        held
    }

    /// What is held of it is more than a run may do at any time, or was so before it became less: that stays
    /// held. What is held for what other runs did goes on by itself when its time has come.
    #[must_use]
    pub fn stays_held(&self) -> Option<(AcknowledgementKind, BTreeSet<String>)> {
        let mut lasting = self.exceeding(Limit::is_never_met);
        lasting.others |= self.held_before.contains(PLATFORM);
        lasting.tenants.extend(self.held_before.iter().cloned());
        let (now, lasting) = (self.of_what_is_lost(&self.held), self.of_what_is_lost(&lasting));
        let mut tenants: BTreeSet<_> =
            now.tenants.intersection(&lasting.tenants).cloned().collect();
        if now.others && lasting.others {
            tenants.insert(PLATFORM.to_owned());
        }
        Some((self.kind.acknowledged_by().filter(|_| !tenants.is_empty())?, tenants))
    }

    /// What is held, if anything is.
    #[must_use]
    pub fn holds(&self) -> Option<Hold> {
        self.hold(&self.held)
    }

    /// What is lost of that, as a hold; `None` where nothing is.
    #[must_use]
    pub fn hold(&self, held: &HeldLosses) -> Option<Hold> {
        let mut names = BTreeSet::new();
        if held.others {
            names.extend(self.others.names.iter().cloned());
        }
        for (_, side) in self.asked.iter().filter(|(tenant, _)| held.asked(tenant)) {
            names.extend(side.names.iter().cloned());
        }
        let allowed = self.allowed(held).and_then(|left| u32::try_from(left).ok());
        let allowed = allowed.filter(|left| *left > 0);
        let names: Vec<_> = names.into_iter().collect();
        (!names.is_empty()).then_some(Hold { kind: self.kind, names, allowed })
    }

    /// How much of what is held there might have been.
    fn allowed(&self, held: &HeldLosses) -> Option<u64> {
        let LossLimit { together, apart } = &self.limit;
        match (together, apart) {
            (Some(limit), None) => Some(limit.left),
            (Some(limit), _) if held.everyone => Some(limit.left),
            (_, Some(apart)) if held.others => Some(apart.others.left),
            (_, Some(apart)) => {
                let tenants = self.asked.keys().filter(|tenant| held.asked(tenant));
                tenants.map(|tenant| apart.owners.of(tenant).left).min()
            }
            (None, None) => None,
        }
    }

    /// What goes through and counts for the runs to come: what nobody asked for, all of it where the fleet counts it
    /// together, and who asked. Of an owner in `kept` nothing goes through: its folder stays for another reason.
    #[must_use]
    pub fn let_through(&self, kept: &BTreeSet<&str>) -> LetThrough {
        let mut through = LetThrough::default();
        if !self.held.others {
            through.amount = self.others.amount_without(kept);
        }
        for (tenant, side) in self.asked.iter().filter(|(tenant, _)| !self.held.asked(tenant)) {
            if self.limit.together.is_some() {
                through.amount += side.amount_without(kept);
            }
            let owners = side.owners.keys().filter(|owner| !kept.contains(owner.as_str())).count();
            if owners > 0 {
                through.owners.insert(tenant.clone(), owners as u64);
            }
        }
        through
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::{ApartLimit, TenantLimit};
    use super::*;

    const fn limit(left: u64) -> Limit {
        Limit { run: left, left }
    }

    fn apart(others: u64, owners: u64) -> LossLimit {
        let owners = TenantLimit { run: owners, ..TenantLimit::default() };
        let apart = Some(ApartLimit { others: limit(others), owners });
        LossLimit { together: None, apart }
    }

    fn together(most: u64) -> LossLimit {
        LossLimit { together: Some(limit(most)), apart: None }
    }

    fn amount(losses: &LossGuard) -> u64 {
        losses.let_through(&BTreeSet::new()).amount
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

    #[test]
    fn where_nothing_may_go_it_is_held_from_the_start() {
        let mut losses = losses(apart(0, 3), &[], &[]);
        let owner = |name| LossOwner { name, tenant: "t" };
        assert!(losses.count(owner("a"), &[lost("x", 1, false)]));
        assert!(!losses.count(owner("b"), &[lost("y", 1, true)]));
        assert_eq!(losses.verdict(), held(true, &[]));
        assert_eq!(losses.hold(&losses.verdict()).unwrap().names, ["x"]);
    }

    #[test]
    fn machines_are_counted_and_owners_are() {
        let two = |asked| [("t", "a", lost("x", 5, asked)), ("t", "b", lost("y", 6, asked))];
        assert_eq!(losses(apart(10, 9), &[], &two(false)).verdict(), held(true, &[]));
        let fits = losses(apart(11, 9), &[], &two(false));
        assert_eq!((fits.verdict(), amount(&fits)), (held(false, &[]), 11));
        assert_eq!(fits.let_through(&["b"].into()).amount, 5, "its folder stays as it is");
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
        assert_eq!(losses.hold(&losses.verdict()).unwrap().names, ["x", "y"]);
    }

    #[test]
    fn a_number_of_the_fleet_counts_all_of_it() {
        let both = [("t", "a", lost("x", 5, true)), ("", "b", lost("y", 6, false))];
        assert_eq!(losses(together(10), &[], &both).verdict(), held(true, &["t"]));
        let fits = losses(together(11), &[], &both);
        assert_eq!((fits.verdict(), amount(&fits)), (held(false, &[]), 11));
    }

    #[test]
    fn what_was_held_stays_held_however_little_is_left_of_it() {
        let none = losses(apart(10, 9), &["", "t"], &[]);
        assert!(none.is_empty() && none.stays_held().is_none());
        let left = [("", "a", lost("x", 1, false)), ("t", "b", lost("y", 1, true))];
        let losses = losses(apart(10, 9), &["", "t"], &left);
        assert_eq!(losses.verdict(), held(true, &["t"]));
        let (_, tenants) = losses.stays_held().unwrap();
        assert_eq!(tenants.into_iter().collect::<Vec<_>>(), ["", "t"]);
    }

    #[test]
    fn what_waits_for_an_hour_to_pass_goes_on_by_itself() {
        let mut full = apart(10, 9);
        full.apart.as_mut().unwrap().others.left = 0;
        let losses = losses(full, &[], &[("", "a", lost("x", 4, false))]);
        assert!(losses.verdict().others && losses.stays_held().is_none());
    }

    #[test]
    fn where_one_of_two_has_a_number_both_hold() {
        let both = LossLimit { apart: apart(10, 1).apart, ..together(6) };
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
        assert_eq!(through.let_through(&BTreeSet::new()), LetThrough { amount: 0, owners });
        let over = of(&[asked("red", "a"), asked("red", "d"), asked("blue", "b")]);
        assert_eq!(over.verdict(), held(false, &["red"]), "blue's are no matter of red's");
        assert_eq!(over.hold(&over.verdict()).unwrap().allowed, Some(1));
        let verdict = over.verdict();
        assert!(over.holding(verdict).stays_held().is_none(), "it goes on by itself");
    }
}
