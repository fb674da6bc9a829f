//! Who is placed where, counted as rules ask: by group for spread and anti-affinity, by tenant for quota.
//!
//! The counts are worked out from the locks once a run and follow each binding. What counts is what
//! holds a place: from the decision on, until a deletion is over. Of a cluster whose document is there
//! the document counts, of any other the row in its worker's lock.
//!
//! Where all of a lock counts as the lock says, its counts are a function of the lock and of the rules. The
//! memo keeps them ([`Counted`]), and they are only put together: what is looked at row by row are the
//! workers that something happened to.

mod asked;
mod here;
mod locks;
mod numbers;
mod part;
mod standing;
mod told;

pub(super) use numbers::{NumberedParts, PartNumber, RuleOwnerPlace};
pub(super) use part::PartCounts;
pub use standing::{are_even, counts_nothing, is_counted_by, stand_with, stand_without, standing};
pub(super) use told::CountsContext;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use asked::RuleGroups;
use here::Here;
use locks::Locks;

use super::deletion::Deletions;
use super::group::{self, AntiAffinityTerm, ClusterInfo, Group, Values};
use super::lookup::LookupMap;
use super::policy::Policies;
use super::{PlanInput, amounts};
use crate::model::api::AntiAffinity;
use crate::model::{Cluster, Counted, IndexRow, Name, Policy, Resources};

/// A part of a group, or those from whom a rule keeps away: the place of the group or the rule, and the values.
type GroupPart<'a> = (usize, Values<'a>);

/// The clusters by part, in the order in which the parts were met. Nothing is read in that order.
type Parts<'a> = LookupMap<GroupPart<'a>, PartCounts<'a>>;

/// What the clusters of one tenant take.
#[derive(Clone, Debug, Default)]
pub(super) struct Usage<'a> {
    changed: u64,
    /// Over all locations.
    pub(super) total: Resources,
    /// By the location of the clusters' nodes.
    pub(super) locations: BTreeMap<&'a str, Resources>,
}

/// Who is placed where at a point of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts<'a> {
    /// What is counted.
    asked: Rc<RuleGroups<'a>>,
    /// How many clusters were placed.
    now: u64,
    /// The place of the worker of the last of them.
    last: Option<usize>,
    /// The parts of groups that it came to, by their places among all.
    last_parts: Vec<usize>,
    /// The clusters that are in a group.
    groups: Parts<'a>,
    /// The clusters that have a rule of anti-affinity, by the part of its group that they keep away from.
    keepers: Parts<'a>,
    /// How many parts of these there were when all clusters of the queue had been numbered.
    numbered_keepers: usize,
    /// The workers by place: those of the run, in the order of their names, and then others on which something stands.
    workers: Vec<&'a Name>,
    /// How many of them are of the run.
    of_run: usize,
    /// The tenants that have a quota.
    tenants: LookupMap<&'a str, Usage<'a>>,
    /// What the next run need not count.
    counted: Arc<Counted>,
    /// How many of the locks were counted row by row.
    anew: u64,
}

/// The places of the groups in which clusters of one signature are, as far as they have their labels, and those of their rules of
/// anti-affinity.
#[derive(Clone, Debug, Default)]
pub(super) struct Membership<'a> {
    groups: Vec<usize>,
    rules: Vec<usize>,
    /// The labels by which the rules that are about them tell parts of groups apart.
    keys: Vec<&'a str>,
    /// The places of the groups that their spread constraints count.
    spread: Vec<usize>,
    /// Who has the rules of anti-affinity that are about them.
    apart: Vec<RuleOwnerPlace>,
    /// The number of their tenant among those that have a quota.
    tenant: Option<usize>,
}

/// A cluster with a place.
#[derive(Clone, Copy, Debug)]
struct Member<'a> {
    info: ClusterInfo<'a>,
    policy: Option<&'a Policy>,
    own: &'a [AntiAffinity],
}

impl<'a> Counts<'a> {
    /// The counts as the last run left them, of workers in the order of their names.
    pub(super) fn new(
        input: &PlanInput<'a>,
        policies: &Policies<'a>,
        deletions: &Deletions,
        workers: Vec<&'a Name>,
    ) -> Self {
        let asked = RuleGroups::of(input, policies);
        let limited = input.fleet.spec.tenants.iter().filter(|tenant| tenant.quota.is_some());
        let mut counts = Self {
            of_run: workers.len(),
            workers,
            tenants: limited.map(|tenant| (&*tenant.name, Usage::default())).collect(),
            asked: Rc::new(asked),
            ..Self::default()
        };
        if !counts.asked.is_nothing() {
            counts.count(input, deletions);
        }
        counts
    }

    /// Counts the clusters of all locks, as far as they are not remembered.
    fn count(&mut self, input: &PlanInput<'a>, deletions: &Deletions) {
        if let Some(standing) = &input.previous.standing {
            for (worker, clusters) in &standing.workers {
                self.add(worker, Here::standing(clusters));
            }
            return;
        }
        let asked = Rc::clone(&self.asked);
        let known = input.counted.filter(|counted| counted.asked == asked.digest());
        let mut counted = Counted { asked: asked.digest(), ..Counted::default() };
        let mut locks = Locks::new(input, deletions, &asked);
        for (worker, lock) in &input.previous.workers {
            let id = input.previous.ids.get(worker);
            let remembered = known.zip(id).and_then(|(known, id)| known.locks.get(id));
            let as_it_says = locks.is_as_it_says(worker, lock);
            let recalled = remembered.filter(|_| as_it_says);
            let recalled = recalled.and_then(|counts| Some((Here::recall(counts, lock)?, counts)));
            let (here, counts) = if let Some((here, counts)) = recalled {
                (here, Some(Arc::clone(counts)))
            } else {
                self.anew += 1;
                let here = locks.count(worker, lock);
                // Of a lock that is not as it says nothing is learned.
                let learned = id.filter(|_| as_it_says).map(|_| Arc::new(here.remember(lock)));
                (here, learned.or_else(|| remembered.cloned()))
            };
            counted.locks.extend(id.copied().zip(counts));
            self.add(worker, here);
        }
        for (info, of_quota) in locks.kept() {
            let tenant = self.tenants.get_index_of(info.tenant);
            self.grant(tenant, info.location, &of_quota);
        }
        self.counted = Arc::new(counted);
    }

    /// Adds the clusters of one worker, to which none were added yet.
    fn add(&mut self, worker: &'a Name, here: Here<'a>) {
        let place = self.workers[..self.of_run].binary_search(&worker).unwrap_or_else(|_| {
            self.workers.push(worker);
            self.workers.len() - 1
        });
        let come = |all: &mut Parts<'a>, rules: usize, parts: here::PartsHere<'a>| {
            for (part, names) in parts.into_iter().filter(|((rule, _), _)| *rule < rules) {
                all.entry(part).or_default().add(place, names);
            }
        };
        come(&mut self.groups, self.asked.groups().len(), here.groups);
        come(&mut self.keepers, self.asked.anti_affinity().len(), here.keepers);
        for ((tenant, location), takes) in here.tenants {
            self.grant(self.tenants.get_index_of(tenant), location, &takes);
        }
    }

    /// What the next run need not count, and how many of the locks were counted row by row in this one.
    pub(super) fn counted(&self) -> (Arc<Counted>, u64) {
        (Arc::clone(&self.counted), self.anew)
    }

    /// A cluster is taken off a worker, to see what would be without it.
    pub(super) fn unbind(&mut self, cluster: &Cluster, worker: &Name, of_quota: &Resources) {
        if let Some(place) = self.workers.iter().position(|other| *other == worker) {
            let parts = self.groups.values_mut().chain(self.keepers.values_mut());
            parts.for_each(|part| part.leave(place, &cluster.name));
        }
        let nothing = Resources::new();
        self.resize(&cluster.tenant, &cluster.spec.location, of_quota, &nothing);
    }

    /// A cluster takes another amount than before.
    pub(super) fn resize(
        &mut self,
        tenant: &str,
        location: &str,
        from: &Resources,
        to: &Resources,
    ) {
        let Some(usage) = self.tenants.get_mut(tenant) else { return };
        let there = usage.locations.get_mut(location);
        for sum in there.into_iter().chain([&mut usage.total]) {
            amounts::take(sum, from);
            amounts::add(sum, to);
        }
    }

    /// What the clusters of the tenant with a number take is more by that.
    fn grant(&mut self, tenant: Option<usize>, location: &'a str, of_quota: &Resources) {
        let usage = tenant.and_then(|number| self.tenants.get_index_mut(number));
        let Some((_, usage)) = usage else { return };
        usage.changed = self.now;
        amounts::add(&mut usage.total, of_quota);
        amounts::add(usage.locations.entry(location).or_default(), of_quota);
    }

    /// The clusters of a part of a group; `None` where nobody is in it.
    pub(super) fn part(&self, group: &Group<'a>, values: &Values<'a>) -> Option<&PartCounts<'a>> {
        let number = self.part_number(self.asked.place(group)?, values.clone())?;
        Some(&self.groups[number]).filter(|part| !part.is_empty())
    }

    /// The rules of anti-affinity of which the group has a cluster, each with its place.
    pub(super) fn anti_affinity_with(
        &self,
        info: &ClusterInfo<'a>,
    ) -> impl Iterator<Item = (usize, AntiAffinityTerm<'a>)> {
        let rules = self.asked.anti_affinity().iter().copied().enumerate();
        rules.filter(|(_, term)| term.group.has(info))
    }

    /// The groups that are counted.
    pub(super) fn groups(&self) -> &[Group<'a>] {
        self.asked.groups()
    }

    /// The placed clusters whose own rules are about a newcomer.
    pub(super) fn existing_anti_affinity(
        &self,
        info: &ClusterInfo<'a>,
    ) -> impl Iterator<Item = (AntiAffinityTerm<'a>, &PartCounts<'a>)> {
        let rules = self.asked.anti_affinity().iter().enumerate();
        let rules = rules.filter(|_| !self.keepers.is_empty());
        rules.filter_map(|(rule, term)| {
            let part = self.keepers.get(&(rule, term.group.part(info)?))?;
            (!part.is_empty()).then_some((*term, part))
        })
    }

    /// What the clusters of a tenant take; `None` where it has no quota.
    pub(super) fn usage(&self, tenant: &str) -> Option<&Usage<'a>> {
        self.tenants.get(tenant)
    }

    /// How many bindings there were.
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// The place of the worker of the last binding.
    pub(super) fn last_worker(&self) -> Option<usize> {
        self.last
    }

    /// The worker at a place.
    pub(super) fn worker(&self, place: usize) -> &'a Name {
        self.workers[place]
    }

    /// The place of a group among those that are counted.
    pub(super) fn place(&self, group: &Group<'a>) -> Option<usize> {
        self.asked.place(group)
    }

    /// Whether the last binding changed a part of the group at a place.
    pub(super) fn has_just_changed(&self, place: usize, values: &Values<'a>) -> bool {
        let parts = self.last_parts.iter().filter_map(|at| self.groups.get_index(*at));
        parts.into_iter().any(|((group, part), _)| *group == place && part == values)
    }

    /// Whether any cluster, desired or recorded, has rules of its own about what is placed.
    pub(super) fn has_own_rules(&self) -> bool {
        self.asked.has_own()
    }

    /// The numbers of the parts of groups that the last binding changed.
    pub(super) fn last_parts(&self) -> &[usize] {
        &self.last_parts
    }

    /// At which binding a part of a group changed last.
    fn changed(&self, group: &Group<'a>, values: &Values<'a>) -> u64 {
        let number = self.asked.place(group).and_then(|at| self.part_number(at, values.clone()));
        number.map_or(0, |number| self.groups[number].changed)
    }

    /// At which binding anything changed last that a cluster with these rules depends on.
    pub(super) fn changed_for(
        &self,
        info: &ClusterInfo<'a>,
        groups: impl Iterator<Item = Group<'a>>,
    ) -> u64 {
        let of_groups = groups.filter_map(|group| Some(self.changed(&group, &group.values(info)?)));
        let of_keepers = self.existing_anti_affinity(info).map(|(_, part)| part.changed);
        let of_tenant = self.changed_of_tenant(info.tenant);
        of_groups.chain(of_keepers).max().unwrap_or(0).max(of_tenant)
    }

    /// At which binding changed last what the clusters of a tenant take.
    pub(super) fn changed_of_tenant(&self, tenant: &str) -> u64 {
        self.usage(tenant).map_or(0, |usage| usage.changed)
    }
}

/// The groups that the own rules of a cluster ask for.
pub(super) fn own_groups_of(cluster: &Cluster) -> impl Iterator<Item = Group<'_>> {
    let (spec, tenant) = (&cluster.spec, &cluster.tenant);
    let spread = group::own_spread(spec.own_spread(), tenant).map(|(_, group)| group);
    let apart = group::own_anti_affinity(spec.own_anti_affinity(), tenant);
    spread.chain(apart.map(|term| term.group))
}

/// The groups that the own rules of a recorded cluster ask for.
pub(super) fn own_groups(row: &IndexRow) -> impl Iterator<Item = Group<'_>> {
    let spread = group::own_spread(&row.spread, &row.tenant).map(|(_, group)| group);
    spread.chain(group::own_anti_affinity(&row.anti_affinity, &row.tenant).map(|term| term.group))
}

#[cfg(test)]
mod tests;
