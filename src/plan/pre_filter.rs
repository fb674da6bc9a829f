//! What a cluster meets that depends on what is placed: worked out once for a cluster, before the workers
//! are looked at one by one.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::{Candidate, DependsOn, Request};
use super::counts::{Counts, PartCounts};
use super::filter;
use super::group::{self, Group, Keeping, Values};
use super::quota;
use super::worker_states::WorkerStates;
use crate::model::reason::{LocationName, ResourceName};
use crate::model::{Name, Reason, Worker, topology};

/// What a rule reads that depends on what is placed.
pub(super) const READS: &[DependsOn] = &[
    DependsOn::Cluster,
    DependsOn::Policies,
    DependsOn::Placed,
    DependsOn::Name,
    DependsOn::Labels,
    DependsOn::Location,
    DependsOn::Flavor,
    DependsOn::Pool,
];

/// What a cluster meets.
#[derive(Clone, Debug, Default)]
pub(super) struct PreFilterState<'a> {
    /// Of each of its spread constraints.
    pub(super) spread: Vec<SpreadState<'a>>,
    /// Of each rule of anti-affinity, its own ones and those of clusters that are placed.
    pub(super) apart: Vec<AntiAffinityState<'a>>,
    /// What its tenant's quota does not leave: the same for every worker.
    pub(super) quota: Vec<Reason>,
}

/// A [`PreFilterState`] in which nobody is placed and nothing is asked for.
pub(super) static NOTHING: PreFilterState<'static> =
    PreFilterState { spread: Vec::new(), apart: Vec::new(), quota: Vec::new() };

/// How the clusters that a spread constraint counts are spread.
#[derive(Clone, Debug)]
pub(super) struct SpreadState<'a> {
    /// What makes workers one domain.
    pub(super) key: &'a str,
    /// Whether it refuses workers.
    pub(super) refuses: bool,
    /// By how many a domain may be ahead.
    pub(super) max_skew: u32,
    /// Whom it counts.
    group: Group<'a>,
    values: Values<'a>,
    /// 1 where the cluster itself is counted once it is placed, else 0.
    itself: u64,
    /// By domain. Every domain of a worker that the cluster may use at all is there.
    counts: BTreeMap<&'a str, u64>,
    /// What may be in any domain, or be one; only where it refuses workers.
    unknown: Option<Unknown<'a>>,
}

/// Clusters on workers whose domain is not known, because their documents did not load: a broken document
/// never lets anything go where it could not go before.
#[derive(Clone, Copy, Debug)]
struct Unknown<'a> {
    /// The first of the workers by name.
    worker: &'a Name,
    /// How many of the clusters are there in all.
    count: u64,
    /// How many are on the worker that has the fewest.
    min: u64,
}

/// Where the clusters are from which a cluster is kept apart.
#[derive(Clone, Debug)]
pub(super) struct AntiAffinityState<'a> {
    /// What makes workers one domain.
    pub(super) key: &'a str,
    /// Whether it refuses workers.
    pub(super) refuses: bool,
    /// The domains that have one, and the first of them by name.
    pub(super) taken: BTreeMap<&'a str, &'a Name>,
    /// One that is on a worker whose domain is not known, because its document is not there.
    pub(super) anywhere: Option<&'a Name>,
}

impl<'a> SpreadState<'a> {
    /// How many are where the fewest are, or may be.
    pub(super) fn min(&self) -> u64 {
        let known = self.counts.values().copied().min().unwrap_or(0);
        self.unknown.map_or(known, |unknown| known.min(unknown.min))
    }

    /// How many are in a domain, or may be; `None` for one whose workers the cluster may not use anyway.
    pub(super) fn count(&self, domain: &str) -> Option<u64> {
        let unknown = self.unknown.map_or(0, |unknown| unknown.count);
        self.counts.get(domain).map(|count| count + unknown)
    }

    /// A worker of which it is not known in which domain it is.
    pub(super) fn unknown(&self) -> Option<&'a Name> {
        self.unknown.map(|unknown| unknown.worker)
    }

    /// Whether a domain would be too far ahead: count + 1 − min > maxSkew, as kube-scheduler has it
    /// (pkg/scheduler/framework/plugins/podtopologyspread/filtering.go). The domain that has the fewest
    /// is always open, however far ahead the others are.
    pub(super) fn is_full(&self, domain: &str) -> bool {
        let skew = self.count(domain).map(|count| self.skew_after(count, self.min()));
        skew.is_some_and(|skew| skew > u64::from(self.max_skew))
    }

    /// By how many a domain would be ahead of the fewest after the pick.
    pub(super) fn skew_after(&self, count: u64, min: u64) -> u64 {
        (count + self.itself).saturating_sub(min)
    }

    /// The domain that has the fewest, the first by name; `None` where there is none, or where it is full
    /// for what is not known.
    pub(super) fn fewest(&self) -> Option<&'a str> {
        self.lowest().filter(|domain| !self.is_full(domain))
    }

    /// The domain that has the fewest, the first by name, full or not.
    pub(super) fn lowest(&self) -> Option<&'a str> {
        let lowest = self.counts.iter().min_by_key(|(domain, count)| (**count, **domain));
        lowest.map(|(domain, _)| *domain)
    }

    /// Takes in the workers whose documents did not load, and of which nobody knows where they belong. Only
    /// the domain that a worker is for itself is known.
    fn take_in_the_unknown(&mut self, part: Option<&PartCounts<'a>>, states: &WorkerStates<'a>) {
        for worker in states.unloaded().filter(|_| self.refuses) {
            let there = part.and_then(|part| part.there.get(worker));
            let there = there.map_or(0, |names| names.len() as u64);
            if self.key == topology::WORKER {
                self.counts.insert(worker.as_str(), there);
                continue;
            }
            let unknown = self.unknown.get_or_insert(Unknown { worker, count: 0, min: there });
            unknown.count += there;
            unknown.min = unknown.min.min(there);
        }
    }
}

impl<'a> PreFilterState<'a> {
    /// What a cluster meets among the workers and what was counted on them.
    pub(super) fn of(
        request: &Request<'a>,
        states: &WorkerStates<'a>,
        counts: &Counts<'a>,
    ) -> Self {
        Self {
            spread: spread(request, states, counts),
            apart: apart(request, states, counts),
            quota: quota::refusals(request, counts),
        }
    }

    /// What a cluster meets, by counts of domains that somebody keeps: of the clusters of a part of a group, on the
    /// workers that the cluster may use and that have all keys which are needed.
    pub(super) fn tallied(
        request: &Request<'a>,
        states: &WorkerStates<'a>,
        counts: &Counts<'a>,
        mut tally: impl FnMut(&[&'a str], &'a str, Group<'a>, &Values<'a>) -> BTreeMap<&'a str, u64>,
    ) -> Self {
        let mut spread = constraints(request);
        let needed = needed(&spread);
        for scene in &mut spread {
            scene.counts = tally(&needed, scene.key, scene.group, &scene.values);
            scene.take_in_the_unknown(counts.part(&scene.group, &scene.values), states);
        }
        Self {
            spread,
            apart: apart(request, states, counts),
            quota: quota::refusals(request, counts),
        }
    }

    /// What of this a refusal stands on.
    pub(super) fn grounds(&self) -> RefusalGrounds<'a> {
        let full = |scene: &SpreadState<'a>| {
            scene.counts.keys().copied().filter(|domain| scene.is_full(domain)).collect()
        };
        let taken = |scene: &AntiAffinityState<'a>| {
            (scene.key, scene.taken.keys().copied().collect(), scene.anywhere.is_some())
        };
        let quota = self.quota.iter().filter_map(|reason| match reason {
            Reason::Quota { location, resource, .. } => Some((location.clone(), resource.clone())),
            _ => None,
        });
        RefusalGrounds {
            full: self.spread.iter().filter(|s| s.refuses).map(full).collect(),
            taken: self.apart.iter().filter(|s| s.refuses).map(taken).collect(),
            quota: quota.collect(),
        }
    }

    /// What would have to change for a domain that is full to open: the domains that have the fewest all
    /// get one more.
    pub(super) fn floors(&self, counts: &Counts<'a>) -> Vec<Floor<'a>> {
        let floor = |scene: &SpreadState<'a>| {
            let min = scene.counts.values().copied().min().unwrap_or(0);
            let lowest = scene.counts.iter().filter(|(_, count)| **count == min);
            Floor {
                key: scene.key,
                group: counts.place(&scene.group),
                values: scene.values.clone(),
                domains: lowest.map(|(domain, _)| *domain).collect(),
            }
        };
        self.spread.iter().filter(|s| s.refuses).map(floor).collect()
    }
}

/// What of the placed clusters a refusal stands on. While it is the same, and what is free only shrinks,
/// a cluster that was refused is refused, for the same reasons and perhaps for lack of capacity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RefusalGrounds<'a> {
    /// The domains that are full, for each constraint that refuses.
    full: Vec<BTreeSet<&'a str>>,
    /// The domains from which it is kept, for each rule of anti-affinity that refuses.
    taken: Vec<(&'a str, BTreeSet<&'a str>, bool)>,
    /// What the quota does not leave: the location and the resource.
    quota: Vec<(Option<LocationName>, ResourceName)>,
}

/// The domains that have the fewest clusters of a group.
#[derive(Clone, Debug)]
pub(super) struct Floor<'a> {
    key: &'a str,
    /// The place of the group among those that are counted.
    group: Option<usize>,
    values: Values<'a>,
    domains: BTreeSet<&'a str>,
}

impl<'a> Floor<'a> {
    /// Takes note of the last binding.
    pub(super) fn note(&mut self, worker: &'a Worker, counts: &Counts<'a>) {
        if self.group.is_some_and(|group| counts.has_just_changed(group, &self.values))
            && let Some(domain) = topology::domain(self.key, worker)
        {
            self.domains.remove(domain);
        }
    }

    /// Whether the fewest may be more now.
    pub(super) fn has_risen(&self) -> bool {
        self.domains.is_empty()
    }
}

/// The constraints of a cluster, with nothing counted yet.
fn constraints<'a>(request: &Request<'a>) -> Vec<SpreadState<'a>> {
    let who = request.who();
    let scene = |(rule, group): (&'a crate::model::api::SpreadConstraint, Group<'a>)| {
        let values = group.values(&who)?;
        Some(SpreadState {
            key: &rule.topology_key,
            refuses: rule.when_unsatisfiable.refuses(),
            max_skew: rule.max_skew,
            itself: u64::from(group.part(&who).is_some()),
            group,
            values,
            counts: BTreeMap::new(),
            unknown: None,
        })
    };
    request.spread().filter_map(scene).collect()
}

/// The keys that a worker must have.
fn needed<'a>(pre_filter: &[SpreadState<'a>]) -> Vec<&'a str> {
    pre_filter.iter().filter(|s| s.refuses).map(|s| s.key).collect()
}

fn spread<'a>(
    request: &Request<'a>,
    states: &WorkerStates<'a>,
    counts: &Counts<'a>,
) -> Vec<SpreadState<'a>> {
    let mut pre_filter = constraints(request);
    if pre_filter.is_empty() {
        return pre_filter;
    }
    let needed = needed(&pre_filter);
    let parts: Vec<_> = pre_filter.iter().map(|s| counts.part(&s.group, &s.values)).collect();
    for candidate in states.considered() {
        let Some(worker) = candidate.worker.filter(|w| is_one_of(request, candidate, w, &needed))
        else {
            continue;
        };
        for (scene, part) in pre_filter.iter_mut().zip(&parts) {
            let Some(domain) = topology::domain(scene.key, worker) else { continue };
            let there = part.and_then(|part| part.there.get(candidate.name));
            let there = there.map_or(0, |names| names.len() as u64);
            *scene.counts.entry(domain).or_default() += there;
        }
    }
    for (scene, part) in pre_filter.iter_mut().zip(parts) {
        scene.take_in_the_unknown(part, states);
    }
    pre_filter
}

/// Whether a worker's domain counts: it has all the keys that are needed, and passes affinity and tenancy.
/// As in kube-scheduler (`podtopologyspread/common.go`), what is on other workers is not counted, and
/// readiness, capacity and taints take no domain out.
fn is_one_of(
    request: &Request<'_>,
    candidate: &Candidate<'_>,
    worker: &Worker,
    needed: &[&str],
) -> bool {
    needed.iter().all(|key| topology::domain(key, worker).is_some())
        && filter::may_use(request, candidate)
}

fn apart<'a>(
    request: &Request<'a>,
    states: &WorkerStates<'a>,
    counts: &Counts<'a>,
) -> Vec<AntiAffinityState<'a>> {
    let who = request.who();
    let mut found: BTreeMap<Keeping<'a>, Vec<&PartCounts<'a>>> = BTreeMap::new();
    for keeping in request.keeping() {
        let part = keeping.group.values(&who).and_then(|v| counts.part(&keeping.group, &v));
        found.entry(keeping).or_default().extend(part);
    }
    for (keeping, part) in counts.keepers_from(&who) {
        found.entry(keeping).or_default().push(part);
    }
    let scene = |(keeping, parts): (Keeping<'a>, Vec<&PartCounts<'a>>)| {
        let mut scene = AntiAffinityState {
            key: keeping.key,
            refuses: keeping.refuses,
            taken: BTreeMap::new(),
            anywhere: None,
        };
        for (worker, names) in parts.into_iter().flat_map(|part| &part.there) {
            let Some(&first) = names.iter().find(|name| **name != who.name) else { continue };
            scene.occupy(worker, first, states);
        }
        let says = !scene.taken.is_empty() || scene.anywhere.is_some();
        says.then_some(scene)
    };
    found.into_iter().filter_map(scene).collect()
}

impl<'a> AntiAffinityState<'a> {
    fn occupy(&mut self, worker: &'a Name, cluster: &'a Name, states: &WorkerStates<'a>) {
        let document = states.get(worker).and_then(|candidate| candidate.worker);
        let domain = match document {
            Some(worker) => topology::domain(self.key, worker),
            None if self.key == topology::WORKER => Some(worker.as_str()),
            None => {
                self.anywhere = Some(self.anywhere.map_or(cluster, |other| other.min(cluster)));
                None
            }
        };
        if let Some(domain) = domain {
            let first = self.taken.entry(domain).or_insert(cluster);
            *first = (*first).min(cluster);
        }
    }
}

impl<'a> Request<'a> {
    /// The spread constraints that hold for the cluster: the policy's, and those that it adds.
    pub(super) fn spread(
        &self,
    ) -> impl Iterator<Item = (&'a crate::model::api::SpreadConstraint, Group<'a>)> + use<'a> {
        let own = group::own_spread(self.cluster.spec.own_spread(), &self.cluster.tenant);
        self.policy.into_iter().flat_map(group::spread_of).chain(own)
    }

    /// The rules of anti-affinity that the cluster has: the policy's, and those that it adds.
    pub(super) fn keeping(&self) -> impl Iterator<Item = Keeping<'a>> + use<'a> {
        let own = self.cluster.spec.own_anti_affinity();
        let own = group::own_keeping(own, &self.cluster.tenant);
        self.policy.into_iter().flat_map(group::keeping_of).chain(own)
    }
}
