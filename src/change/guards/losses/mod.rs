//! What a run leaves out or replaces, counted over clusters, workers and layers, and whether it is held.
//!
//! The count is known only when everything is rendered, and what is held decides what is written. So a run
//! begins with what is likely, and where the count says otherwise it is worked out once more.
//!
//! What owners' own documents ask for is counted for each tenant by itself, also where the fleet has a number of its
//! own: no tenant holds another's up. The platform, with what nobody's document asks for, is one of them then.

use std::collections::{BTreeMap, BTreeSet};

use super::groups::{Groups, PLATFORM};
use super::limits::{Limit, LossLimit, TenantLimit};
use crate::change::Lasting;
use crate::model::{Hold, HoldKind};

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

    /// These verdicts without what is held of those that are counted together there.
    #[must_use]
    pub fn without(mut self, groups: &Groups, group: &str) -> Self {
        self.others &= group != PLATFORM;
        self.tenants.retain(|tenant| groups.of(tenant) != group);
        self
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
    /// Objects or machines that no owner's document asks for.
    pub others: u64,
    /// Objects or machines that own documents ask for, by tenant, where the fleet has a number for it.
    pub asked: BTreeMap<String, u64>,
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
        let is_full = |each: &TenantLimit| each.of(PLATFORM).left == 0;
        let full = limit.each.as_ref().is_some_and(is_full);
        let none = limit.apart.as_ref().is_some_and(|apart| apart.others.left == 0);
        let others = full || none || held_before.contains(PLATFORM);
        let everyone = limit.each.as_ref().is_some_and(|each| each.run == 0);
        let held = HeldLosses { others, tenants: held_before.clone(), everyone };
        Self { kind, limit, held_before, held, others: Side::default(), asked: BTreeMap::new() }
    }

    /// This guard with what is held said beforehand.
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
        let LossLimit { each, apart, groups } = &self.limit;
        let mut held = HeldLosses::default();
        if let Some(each) = each {
            let amounts = self.amounts();
            let over =
                |group: &str| amounts.get(group).is_some_and(|by| exceeds(each.of(group), *by));
            held.others = over(PLATFORM);
            let tenants = self.asked.keys().filter(|tenant| over(groups.of(tenant)));
            held.tenants.extend(tenants.cloned());
        }
        if let Some(apart) = apart {
            held.others |= exceeds(apart.others, self.others.amount());
            let over = |(tenant, side): &(&String, &Side)| {
                exceeds(apart.owners.of(tenant), side.owners.len() as u64)
            };
            held.tenants.extend(self.asked.iter().filter(over).map(|(tenant, _)| tenant.clone()));
        }
        held
    }

    /// How much is lost, by who is counted by itself. What nobody asked for is the platform's.
    fn amounts(&self) -> BTreeMap<&str, u64> {
        let mut amounts = BTreeMap::from([(PLATFORM, self.others.amount())]);
        for (tenant, side) in &self.asked {
            *amounts.entry(self.limit.groups.of(tenant)).or_default() += side.amount();
        }
        amounts
    }

    /// What is held of it is more than a run may do at any time, or was so before it became less: that stays
    /// held, each group's by itself. What is held for what other runs did goes on by itself when its time has come.
    #[must_use]
    pub fn stays_held(&self) -> Lasting {
        let mut lasting = self.exceeding(Limit::is_never_met);
        lasting.others |= self.held_before.contains(PLATFORM);
        lasting.tenants.extend(self.held_before.iter().cloned());
        let (now, lasting) = (self.of_what_is_lost(&self.held), self.of_what_is_lost(&lasting));
        let groups = &self.limit.groups;
        let stays = self.holds().into_iter().filter_map(|(group, hold)| {
            let in_group = |tenant: &&String| groups.of(tenant) == group;
            let both = now.tenants.intersection(&lasting.tenants).filter(in_group);
            let mut tenants: BTreeSet<_> = both.cloned().collect();
            if group == PLATFORM && now.others && lasting.others {
                tenants.insert(PLATFORM.to_owned());
            }
            let of = hold.kind.acknowledged_by().filter(|_| !tenants.is_empty())?;
            Some(((of, hold.digest()), tenants))
        });
        stays.collect()
    }

    /// What is held, each group's by itself.
    #[must_use]
    pub fn holds(&self) -> Vec<(&str, Hold)> {
        self.sets(&self.held)
    }

    /// What is lost of that, as a hold for each group, so that nobody's loss makes another set of somebody else's.
    #[must_use]
    pub fn sets(&self, held: &HeldLosses) -> Vec<(&str, Hold)> {
        let mut by_group = BTreeMap::<&str, BTreeSet<&String>>::new();
        if held.others {
            by_group.entry(PLATFORM).or_default().extend(&self.others.names);
        }
        for (tenant, side) in self.asked.iter().filter(|(tenant, _)| held.asked(tenant)) {
            by_group.entry(self.limit.groups.of(tenant)).or_default().extend(&side.names);
        }
        let sets = by_group.into_iter().filter(|(_, names)| !names.is_empty());
        sets.map(|(group, names)| {
            let allowed = self.allowed(held, group).and_then(|left| u32::try_from(left).ok());
            let allowed = allowed.filter(|left| *left > 0);
            let names = names.into_iter().cloned().collect();
            (group, Hold { kind: self.kind, names, allowed })
        })
        .collect()
    }

    /// Who is counted by itself.
    #[must_use]
    pub fn groups(&self) -> &Groups {
        &self.limit.groups
    }

    /// How much of what is held of a group there might have been.
    fn allowed(&self, held: &HeldLosses, group: &str) -> Option<u64> {
        let LossLimit { each, apart, groups } = &self.limit;
        let in_group = |tenant: &&String| held.asked(tenant) && groups.of(tenant) == group;
        let mut tenants = self.asked.keys().filter(in_group);
        match (each, apart) {
            (Some(each), None) => Some(each.of(group).left),
            (_, Some(apart)) if held.others && group == PLATFORM => Some(apart.others.left),
            (_, Some(apart)) => tenants.by_ref().map(|t| apart.owners.of(t).left).min(),
            (None, None) => None,
        }
    }

    /// What goes through and counts for the runs to come: what nobody asked for, who asked, and where the fleet has a
    /// number for it how much. Of an owner in `kept` nothing goes through: its folder stays for another reason.
    #[must_use]
    pub fn let_through(&self, kept: &BTreeSet<&str>) -> LetThrough {
        let mut through = LetThrough::default();
        if !self.held.others {
            through.others = self.others.amount_without(kept);
        }
        for (tenant, side) in self.asked.iter().filter(|(tenant, _)| !self.held.asked(tenant)) {
            let amount = side.amount_without(kept);
            if self.limit.each.is_some() && amount > 0 {
                through.asked.insert(tenant.clone(), amount);
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
mod tests;
