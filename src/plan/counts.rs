//! Who is placed where, counted as rules ask: by group for spread and anti-affinity, by tenant for quota.
//!
//! The counts are worked out from the locks once a run and follow each binding. What counts is what
//! holds a place: from the decision on, until a deletion is over. Of a cluster whose document is there
//! the document counts, of any other the row in its worker's lock.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::deletion::Deletions;
use super::finder::Finder;
use super::group::{self, Group, Keeping, Values, Who};
use super::moving;
use super::policy::Policies;
use super::taking::Taking;
use super::{PlanInput, amounts, roster};
use crate::model::api::AntiAffinity;
use crate::model::{Cluster, ClusterState, IndexRow, Name, Policy, Resources};

/// The clusters of one part of a group.
#[derive(Clone, Debug, Default)]
pub(super) struct Part<'a> {
    /// At which binding it changed last.
    changed: u64,
    /// By worker.
    pub(super) there: BTreeMap<&'a Name, BTreeSet<&'a Name>>,
    /// The workers of those that came, in that order.
    pub(super) arrivals: Vec<&'a Name>,
}

type Parts<'a> = BTreeMap<Values<'a>, Part<'a>>;

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
    /// How many clusters were placed.
    now: u64,
    /// Where the last of them was.
    last: Option<&'a Name>,
    /// The clusters that are in a group.
    groups: BTreeMap<Group<'a>, Parts<'a>>,
    /// The same groups, to find those of a cluster.
    finder: Finder<'a, Group<'a>>,
    /// The clusters that have a rule of anti-affinity, by the part of the group that they keep away from.
    keepers: BTreeMap<Keeping<'a>, Parts<'a>>,
    /// The tenants that have a quota.
    tenants: BTreeMap<&'a str, Usage<'a>>,
}

/// A cluster with a place.
#[derive(Clone, Copy)]
struct Member<'a> {
    who: Who<'a>,
    policy: Option<&'a Policy>,
    own: &'a [AntiAffinity],
}

impl<'a> Counts<'a> {
    /// The counts as the last run left them.
    pub(super) fn new(
        input: &PlanInput<'a>,
        policies: &Policies<'a>,
        deletions: &Deletions,
    ) -> Self {
        let mut counts = Self::of_nobody(input, policies);
        if counts.is_empty() {
            return counts;
        }
        // What of the quota the clusters that move take where they are, and what is kept for them.
        let (mut leaving, mut kept) = (BTreeMap::new(), Vec::new());
        let keepers = with_keeping(policies);
        let ongoing = moving::ongoing(input);
        for (worker, lock) in &input.previous.workers {
            for (name, row) in roster::there(input, worker, lock, deletions) {
                let desired = input.fleet.clusters.get(name);
                // One that moves is on its way to what its document says, on both workers alike.
                let stays = row.state == ClusterState::Bound || ongoing.contains_key(name);
                let desired = desired.filter(|_| stays);
                let (who, own) = match desired {
                    Some(cluster) => (Who::of(cluster), cluster.spec.own_anti_affinity()),
                    None => (recorded(name, &row.row), &*row.row.anti_affinity),
                };
                let selects =
                    |p: &(usize, &Policy)| p.1.spec.cluster_selector.selects(who.name, who.labels);
                let applying = keepers.may_select(who.labels).filter(selects);
                let policy = applying.min_by_key(|(at, _)| *at).map(|(_, policy)| policy);
                counts.come(Member { who, policy, own }, worker);
                if row.state == ClusterState::Reserved {
                    kept.push((who, &row.demand));
                    continue;
                }
                if ongoing.contains_key(name) {
                    leaving.insert(name, &row.demand);
                }
                counts.take(who, &row.demand);
            }
        }
        for (who, demand) in kept {
            let taking = Taking { there: demand, elsewhere: leaving.get(who.name).copied() };
            counts.take(who, &taking.of_quota());
        }
        counts.now = 0;
        counts
    }

    /// Every group that is asked for, still empty.
    fn of_nobody(input: &PlanInput<'a>, policies: &Policies<'a>) -> Self {
        let mut counts = Self::default();
        for policy in policies.all() {
            counts.ask_for(group::spread_of(policy).map(|(_, group)| group));
            counts.ask_for(group::keeping_of(policy).map(|keeping| keeping.group));
        }
        for cluster in input.fleet.clusters.values() {
            let own = group::own_spread(cluster.spec.own_spread(), &cluster.tenant);
            counts.ask_for(own.map(|(_, group)| group));
            let own = group::own_keeping(cluster.spec.own_anti_affinity(), &cluster.tenant);
            counts.ask_for(own.map(|keeping| keeping.group));
        }
        let pending = input.previous.pending.clusters.values().map(|row| &row.row);
        let placed = input.previous.workers.values().flat_map(|lock| lock.clusters.values());
        for row in pending.chain(placed.map(|row| &row.row)) {
            counts.ask_for(own_groups(row));
        }
        let limited = input.fleet.spec.tenants.iter().filter(|tenant| tenant.quota.is_some());
        counts.tenants = limited.map(|tenant| (&*tenant.name, Usage::default())).collect();
        counts
    }

    fn ask_for(&mut self, groups: impl Iterator<Item = Group<'a>>) {
        for group in groups {
            if self.groups.insert(group, Parts::new()).is_none() {
                self.finder.add(group.labels(), group);
            }
        }
    }

    /// Whether no rule of the fleet asks for any count.
    fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.tenants.is_empty()
    }

    /// A cluster comes to a worker, and takes that of what its tenant is granted.
    pub(super) fn bind(
        &mut self,
        cluster: &'a Cluster,
        policy: Option<&'a Policy>,
        worker: &'a Name,
        of_quota: &Resources,
    ) {
        let who = Who::of(cluster);
        self.now += 1;
        self.last = Some(worker);
        self.come(Member { who, policy, own: cluster.spec.own_anti_affinity() }, worker);
        self.take(who, of_quota);
    }

    /// A cluster is taken off a worker, to see what would be without it.
    pub(super) fn unbind(&mut self, cluster: &Cluster, worker: &Name, of_quota: &Resources) {
        let leave = |parts: &mut Parts<'a>| {
            for part in parts.values_mut() {
                if let Some(names) = part.there.get_mut(worker) {
                    names.remove(&cluster.name);
                }
                part.there.retain(|_, names| !names.is_empty());
            }
        };
        self.groups.values_mut().for_each(leave);
        self.keepers.values_mut().for_each(leave);
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

    fn come(&mut self, member: Member<'a>, worker: &'a Name) {
        let who = &member.who;
        for group in self.finder.may_select(who.labels) {
            if let (Some(values), Some(parts)) = (group.part(who), self.groups.get_mut(&group)) {
                arrive(parts, values, who.name, worker, self.now);
            }
        }
        let by_policy = member.policy.into_iter().flat_map(group::keeping_of);
        for keeping in by_policy.chain(group::own_keeping(member.own, who.tenant)) {
            if let Some(values) = keeping.group.values(who) {
                let parts = self.keepers.entry(keeping).or_default();
                arrive(parts, values, who.name, worker, self.now);
            }
        }
    }

    fn take(&mut self, who: Who<'a>, demand: &Resources) {
        let Some(usage) = self.tenants.get_mut(who.tenant) else { return };
        usage.changed = self.now;
        amounts::add(&mut usage.total, demand);
        amounts::add(usage.locations.entry(who.location).or_default(), demand);
    }

    /// The clusters of a part of a group.
    pub(super) fn part(&self, group: &Group<'a>, values: &Values<'a>) -> Option<&Part<'a>> {
        self.groups.get(group)?.get(values)
    }

    /// The placed clusters whose own rules are about a newcomer.
    pub(super) fn keepers_from(
        &self,
        who: &Who<'a>,
    ) -> impl Iterator<Item = (Keeping<'a>, &Part<'a>)> {
        self.keepers.iter().filter_map(|(keeping, parts)| {
            let values = keeping.group.part(who)?;
            Some((*keeping, parts.get(&values)?))
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

    /// The worker of the last binding.
    pub(super) fn last_worker(&self) -> Option<&'a Name> {
        self.last
    }

    /// At which binding a part of a group changed last.
    pub(super) fn changed(&self, group: &Group<'a>, values: &Values<'a>) -> u64 {
        self.part(group, values).map_or(0, |part| part.changed)
    }

    /// At which binding anything changed last that a cluster with these rules depends on.
    pub(super) fn changed_for(
        &self,
        who: &Who<'a>,
        groups: impl Iterator<Item = Group<'a>>,
    ) -> u64 {
        let of_groups = groups.filter_map(|group| Some(self.changed(&group, &group.values(who)?)));
        let of_keepers = self.keepers_from(who).map(|(_, part)| part.changed);
        let of_tenant = self.usage(who.tenant).map(|usage| usage.changed);
        of_groups.chain(of_keepers).chain(of_tenant).max().unwrap_or(0)
    }

    /// What decisions can depend on: the counts that the policies ask for, those that these rows ask for,
    /// what keeps newcomers away, and what the tenants take.
    pub(super) fn context<'s>(
        &'s self,
        policies: &Policies<'a>,
        rows: impl Iterator<Item = Group<'a>>,
    ) -> CountsContext<'s> {
        let of_policies = policies.all().flat_map(|policy| {
            let spread = group::spread_of(policy).map(|(_, group)| group);
            spread.chain(group::keeping_of(policy).map(|keeping| keeping.group))
        });
        let asked: BTreeSet<Group<'a>> = of_policies.chain(rows).collect();
        let parts = |group: &Group<'a>| self.groups.get_key_value(group);
        CountsContext {
            groups: asked.iter().filter_map(parts).flat_map(|(g, p)| rows_of(g, p)).collect(),
            keepers: self.keepers.iter().flat_map(|(k, p)| rows_of(k, p)).collect(),
            tenants: self.tenants.iter().map(|(t, u)| (*t, &u.total, &u.locations)).collect(),
        }
    }
}

/// A group or rule, the values of a part of it, and how many clusters there are by worker.
type CountRow<'s, K> = (&'s K, &'s [&'s str], Vec<(&'s Name, usize)>);

/// The counts as the context has them.
#[derive(Serialize)]
pub(super) struct CountsContext<'s> {
    groups: Vec<CountRow<'s, Group<'s>>>,
    keepers: Vec<CountRow<'s, Keeping<'s>>>,
    tenants: Vec<(&'s str, &'s Resources, &'s BTreeMap<&'s str, Resources>)>,
}

fn rows_of<'s, K>(of: &'s K, parts: &'s Parts<'_>) -> impl Iterator<Item = CountRow<'s, K>> {
    parts.iter().filter(|(_, part)| !part.there.is_empty()).map(move |(values, part)| {
        let by_worker = part.there.iter().map(|(worker, names)| (*worker, names.len()));
        (of, values.as_slice(), by_worker.collect())
    })
}

/// The policies, the strongest first, to find that of a placed cluster; none where no policy has a rule of
/// anti-affinity, which is all that they are asked for.
fn with_keeping<'a>(policies: &Policies<'a>) -> Finder<'a, (usize, &'a Policy)> {
    let mut finder = Finder::default();
    if policies.all().any(|policy| !policy.spec.anti_affinity.is_empty()) {
        for (at, policy) in policies.all().enumerate() {
            finder.add(Some(&policy.spec.cluster_selector.match_labels), (at, policy));
        }
    }
    finder
}

fn recorded<'a>(name: &'a Name, row: &'a IndexRow) -> Who<'a> {
    Who { name, labels: &row.labels, tenant: &row.tenant, location: &row.location }
}

/// The groups that a cluster's own rules ask for.
pub(super) fn own_groups(row: &IndexRow) -> impl Iterator<Item = Group<'_>> {
    let spread = group::own_spread(&row.spread, &row.tenant).map(|(_, group)| group);
    spread.chain(group::own_keeping(&row.anti_affinity, &row.tenant).map(|keeping| keeping.group))
}

fn arrive<'a>(
    parts: &mut Parts<'a>,
    values: Values<'a>,
    name: &'a Name,
    worker: &'a Name,
    now: u64,
) {
    let part = parts.entry(values).or_default();
    part.changed = now;
    if part.there.entry(worker).or_default().insert(name) {
        part.arrivals.push(worker);
    }
}
