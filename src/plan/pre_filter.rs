//! What a cluster meets that depends on what is placed: worked out once for a cluster, before the workers
//! are looked at one by one.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::{Candidate, Request};
use super::counts::{Counts, PartCounts};
use super::filter;
use super::group::{AntiAffinityTerm, Group, Values};
use super::pre_filter_state::{AntiAffinityState, PreFilterState, SpreadState, Unknown};
use super::quota;
use super::worker_states::WorkerStates;
use crate::model::{Name, Worker, topology};

impl<'a> SpreadState<'a> {
    /// Takes in the workers whose documents did not load, and of which nobody knows where they belong. Only
    /// the domain that a worker is for itself is known.
    fn take_in_the_unknown(&mut self, part: Option<&PartCounts<'a>>, states: &WorkerStates<'a>) {
        for worker in states.unloaded().filter(|_| self.refuses) {
            let there = part.zip(states.place(worker)).map_or(0, |(part, at)| part.on(at));
            let there = there as u64;
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

    /// What would have to change for a domain that is full to open: the domains that have the fewest all
    /// get one more.
    pub(super) fn floors(&self, counts: &Counts<'a>) -> Vec<Floor<'a>> {
        let floor = |scene: &SpreadState<'a>| {
            let min = scene.counts.values().copied().min().unwrap_or(0);
            let lowest = scene.counts.iter().filter(|(_, count)| **count == min);
            let domains = lowest.map(|(domain, _)| *domain).collect();
            Floor {
                key: scene.key,
                group: counts.place(&scene.group),
                values: scene.values.clone(),
                domains,
            }
        };
        self.spread.iter().filter(|s| s.refuses).map(floor).collect()
    }
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
    let info = request.info();
    let scene = |(rule, group): (&'a crate::model::api::SpreadConstraint, Group<'a>)| {
        let values = group.values(&info)?;
        Some(SpreadState {
            key: &rule.topology_key,
            refuses: rule.when_unsatisfiable.refuses(),
            max_skew: rule.max_skew,
            itself: u64::from(group.part(&info).is_some()),
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
    for (place, candidate) in states.places() {
        let Some(worker) = candidate.worker.filter(|w| is_one_of(request, candidate, w, &needed))
        else {
            continue;
        };
        for (scene, part) in pre_filter.iter_mut().zip(&parts) {
            let Some(domain) = topology::domain(scene.key, worker) else { continue };
            let there = part.map_or(0, |part| part.on(place) as u64);
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
    let info = request.info();
    let mut found: BTreeMap<AntiAffinityTerm<'a>, Vec<&PartCounts<'a>>> = BTreeMap::new();
    for term in request.anti_affinity() {
        let part = term.group.values(&info).and_then(|v| counts.part(&term.group, &v));
        found.entry(term).or_default().extend(part);
    }
    for (term, part) in counts.existing_anti_affinity(&info) {
        found.entry(term).or_default().push(part);
    }
    let scene = |(term, parts): (AntiAffinityTerm<'a>, Vec<&PartCounts<'a>>)| {
        let mut scene = AntiAffinityState {
            key: term.key,
            refuses: term.refuses,
            taken: BTreeMap::new(),
            anywhere: None,
        };
        for (place, names) in parts.into_iter().flat_map(PartCounts::clusters) {
            let others = names.filter(|name| *name != info.name);
            let Some(first) = others.min() else { continue };
            scene.occupy((place, counts.worker(place)), first, states);
        }
        let says = !scene.taken.is_empty() || scene.anywhere.is_some();
        says.then_some(scene)
    };
    found.into_iter().filter_map(scene).collect()
}

impl<'a> AntiAffinityState<'a> {
    fn occupy(
        &mut self,
        (place, worker): (usize, &'a Name),
        cluster: &'a Name,
        states: &WorkerStates<'a>,
    ) {
        let document = states.get_at(place).and_then(|candidate| candidate.worker);
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
