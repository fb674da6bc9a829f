//! How much stands below the desired roots, by whose it is. What a tenant has beyond its limits costs that tenant
//! alone: nothing of its folders is read, so its clusters stay as they are. All or nothing, so that it does not
//! depend on the names of files which of them count.
//!
//! What is counted is known before it is used: files in the walk, bytes from the objects' headers, documents and
//! rules file by file. So what is too much is never in memory as a whole.
//!
//! Where the fleet as a whole has too much the tenant that has most is left out. Who that is shows only at the end, so
//! what such a tenant has is counted on, and where it was another all is read once more.

mod findings;

use std::collections::{BTreeMap, BTreeSet};

use super::amounts::{Amounts, FLEET, TENANT};
use super::folders::Folders;
use super::read::MAX_FILE;
use crate::model::DocumentGrowth;
use crate::model::api::FleetSpec;

/// Of how many bytes more it is known whether they are too many.
const SPARE: u64 = DocumentGrowth::MOST.bytes;

/// Whose something is: the tenants of a folder, or none for what is the platform's.
type Owner<'a> = Vec<&'a str>;

/// Why nothing of an owner is read.
#[derive(Clone, Copy, Debug)]
struct Over {
    /// Which of the amounts.
    which: usize,
    /// The most that it may be.
    most: u64,
    /// Whether it is the whole fleet that has too much, of which this owner has most.
    whole: bool,
    /// Whether what the owner has is counted on.
    counts: bool,
}

/// What was counted so far.
#[derive(Clone, Debug)]
pub(super) struct Meter<'a> {
    folders: Folders<'a>,
    limits: BTreeMap<&'a str, Amounts>,
    /// What all may have together.
    most: Amounts,
    used: BTreeMap<Owner<'a>, Amounts>,
    /// What all have of whom anything is read.
    total: Amounts,
    /// Files and folders of everybody.
    entries: u64,
    over: BTreeMap<Owner<'a>, Over>,
    /// Whether it was counted before who has most.
    settled: bool,
    /// Who has files whose bytes were not counted.
    unmeasured: BTreeSet<Owner<'a>>,
}

impl Default for Meter<'_> {
    fn default() -> Self {
        Self {
            folders: Folders::default(),
            limits: BTreeMap::new(),
            most: FLEET,
            used: BTreeMap::new(),
            total: Amounts::default(),
            entries: 0,
            over: BTreeMap::new(),
            settled: false,
            unmeasured: BTreeSet::new(),
        }
    }
}

impl<'a> Meter<'a> {
    pub(super) fn of(spec: Option<&'a FleetSpec>) -> Self {
        let tenants = spec.iter().flat_map(|spec| &spec.tenants);
        let limits = tenants.map(|t| (t.name.as_str(), Amounts::of_tenant(t.limits.as_ref())));
        Self { folders: Folders::of(spec), limits: limits.collect(), ..Self::default() }
    }

    /// This meter where all may have no more documents than that together.
    #[cfg(test)]
    pub(super) fn with_documents(self, documents: u64) -> Self {
        Self { most: Amounts { documents, ..FLEET }, ..self }
    }

    /// Whether what stands at a path is read.
    pub(super) fn may(&self, path: &str) -> bool {
        self.over.is_empty() || !self.over.contains_key(self.folders.tenants_of(path))
    }

    /// Whether what stands at a path is counted, read or not.
    pub(super) fn counts(&self, path: &str) -> bool {
        self.over.is_empty()
            || self.over.get(self.folders.tenants_of(path)).is_none_or(|over| over.counts)
    }

    /// Whether the bytes of whoever has this path could be too many, now or with a little more. Else no header need be
    /// read.
    pub(super) fn wants_bytes(&mut self, path: &str) -> bool {
        let owner = self.folders.tenants_of(path);
        let most = |entries: u64| entries.saturating_mul(MAX_FILE).saturating_add(SPARE);
        let used = self.used.get(owner).copied().unwrap_or_default();
        let wants =
            most(used.entries) > self.limit(owner).bytes || most(self.entries) > self.most.bytes;
        if !wants && !self.unmeasured.contains(owner) {
            self.unmeasured.insert(owner.to_vec());
        }
        wants
    }

    /// Counts what stands at a path, and says whether it is counted on.
    pub(super) fn add(&mut self, path: &str, amounts: Amounts) -> bool {
        let owner = self.folders.tenants_of(path);
        if !self.counts(path) {
            return false;
        }
        let (limit, open) = (self.limit(owner), !self.over.contains_key(owner));
        if !self.used.contains_key(owner) {
            self.used.insert(owner.to_vec(), Amounts::default());
        }
        let Some(used) = self.used.get_mut(owner) else { return false };
        *used = used.plus(amounts);
        let (used, owner) = (*used, owner.to_vec());
        self.entries += amounts.entries;
        if open {
            self.total = self.total.plus(amounts);
        }
        if let Some(which) = used.beyond(limit) {
            let over = Over { which, most: limit.each()[which], whole: false, counts: false };
            self.give_up(owner, over);
        } else if used.beyond(self.most).is_some()
            && let Some(over) = self.over.get_mut(&owner)
        {
            // Whoever has more than all may have is left out in any case.
            over.counts = false;
        }
        self.fit();
        self.counts(path)
    }

    /// Gives up whoever has most, until the rest is not too much.
    fn fit(&mut self) {
        while let Some(which) = self.total.beyond(self.most) {
            let Some(largest) = self.largest(which) else { break };
            let over = Over { which, most: self.most.each()[which], whole: true, counts: true };
            self.give_up(largest, over);
        }
    }

    /// The meter of another reading, where others were given up than those who turned out to have most. It gives up
    /// these from the start.
    pub(super) fn again(&self) -> Option<Self> {
        let mut exact = self.clone();
        exact.over.retain(|_, over| !over.whole);
        let open = self.used.iter().filter(|(owner, _)| !exact.over.contains_key(*owner));
        exact.total = open.fold(Amounts::default(), |all, (_, used)| all.plus(*used));
        exact.fit();
        if self.settled || exact.over.keys().eq(self.over.keys()) {
            return None;
        }
        exact.over.values_mut().for_each(|over| over.counts = false);
        let (used, total) = (BTreeMap::new(), Amounts::default());
        let unmeasured = BTreeSet::new();
        Some(Self { used, total, entries: 0, settled: true, unmeasured, ..exact })
    }

    /// How many were given up.
    pub(super) fn given_up(&self) -> usize {
        self.over.len()
    }

    /// The tenant that has most; the platform only where no tenant has any.
    fn largest(&self, which: usize) -> Option<Owner<'a>> {
        let open = self.used.iter().filter(|(owner, _)| !self.over.contains_key(*owner));
        let of = open.map(|(owner, used)| (!owner.is_empty(), used.each()[which], owner));
        let of = of.filter(|(is_tenant, has, _)| *has > 0 || !is_tenant);
        of.max_by_key(|(is_tenant, has, _)| (*is_tenant, *has)).map(|(_, _, owner)| owner.clone())
    }

    fn give_up(&mut self, owner: Owner<'a>, over: Over) {
        let used = self.used.get(&owner).copied().unwrap_or_default();
        if self.over.insert(owner, over).is_none() {
            self.total = self.total.minus(used);
        }
    }

    /// What the owner of a folder may have; the platform as much as the whole fleet. Where a folder is of several
    /// tenants it is what one of them may have, of each the most.
    fn limit(&self, owner: &[&str]) -> Amounts {
        let each = owner.iter().map(|tenant| self.limits.get(tenant).copied().unwrap_or(TENANT));
        each.reduce(|a, b| Amounts {
            entries: a.entries.max(b.entries),
            documents: a.documents.max(b.documents),
            bytes: a.bytes.max(b.bytes),
            rules: a.rules.max(b.rules),
        })
        .unwrap_or(self.most)
    }

    /// How much more would not be too much, whoever has it. Rules of placement may not become more: whose there are more is
    /// counted.
    pub(super) fn room(&self) -> DocumentGrowth {
        let tenants = self.limits.keys().map(|tenant| (vec![*tenant], Amounts::default()));
        let owners =
            self.used.iter().map(|(owner, used)| (owner.clone(), self.at_most(owner, *used)));
        let all = owners.clone().fold(Amounts::default(), |all, (_, used)| all.plus(used));
        let left = |used: Amounts, limit: Amounts| DocumentGrowth {
            entries: limit.entries.saturating_sub(used.entries),
            documents: limit.documents.saturating_sub(used.documents),
            bytes: limit.bytes.saturating_sub(used.bytes),
        };
        let each = tenants.chain(owners).map(|(owner, used)| left(used, self.limit(&owner)));
        each.fold(left(all, self.most), |least, room| DocumentGrowth {
            entries: least.entries.min(room.entries),
            documents: least.documents.min(room.documents),
            bytes: least.bytes.min(room.bytes),
        })
    }

    /// What an owner has, with the most that the files may be of which no header was read.
    fn at_most(&self, owner: &[&'a str], used: Amounts) -> Amounts {
        let unread = if self.unmeasured.contains(owner) { used.entries } else { 0 };
        Amounts { bytes: unread.saturating_mul(MAX_FILE), ..Amounts::default() }.plus(used)
    }

    /// Whether nothing was too much.
    pub(super) fn is_fine(&self) -> bool {
        self.over.is_empty()
    }
}

#[cfg(test)]
mod tests;
