//! How many clusters of a part of a group are in each domain, followed from binding to binding instead of
//! counted anew for each cluster.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::keys::RequestKey;
use crate::model::topology;
use crate::plan::counts::{PartCounts, PartNumber};
use crate::plan::group::{Group, Values};
use crate::plan::worker_states::WorkerStates;

/// What one tally counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct What<'a> {
    /// Who may use which workers: the key of a request as far as that depends on it.
    pub(super) members: RequestKey,
    /// What makes workers one domain.
    pub(super) topology: &'a str,
    /// The keys that a worker must have.
    pub(super) needed: Vec<&'a str>,
    /// Whom it counts.
    pub(super) group: Group<'a>,
    /// Of these the part with these values.
    pub(super) values: Values<'a>,
}

/// The domains that a key makes of the workers.
#[derive(Debug)]
pub(super) struct NumberedDomains<'a> {
    /// By number.
    pub(super) names: Vec<&'a str>,
    /// The number of the domain, by the place of the worker; `None` where it is in none.
    pub(super) of: Vec<Option<usize>>,
}

impl<'a> NumberedDomains<'a> {
    fn new(key: &str, states: &WorkerStates<'a>) -> Self {
        let mut numbers = BTreeMap::new();
        let mut names = Vec::new();
        let mut of = Vec::with_capacity(states.len());
        for (_, candidate) in states.places() {
            let domain = candidate.worker.and_then(|worker| topology::domain(key, worker));
            of.push(domain.map(|domain| {
                *numbers.entry(domain).or_insert_with(|| {
                    names.push(domain);
                    names.len() - 1
                })
            }));
        }
        Self { names, of }
    }
}

/// The clusters of a part of a group, by domain.
#[derive(Clone, Debug)]
pub(super) struct Tally<'a> {
    /// By the number of the domain; `None` where no worker is in it that may be used.
    pub(super) counts: Vec<Option<u64>>,
    domains: Rc<NumberedDomains<'a>>,
    /// By place: whether the worker may be used.
    eligible: Rc<[bool]>,
    /// The place of the group among those that are counted.
    group: Option<usize>,
    values: Values<'a>,
    /// The number of the part, once there is one.
    part: PartNumber,
    /// How many arrivals are counted.
    arrivals: usize,
    /// The fewest in a domain.
    pub(super) min: u64,
    /// How many bindings there had been when it was seen that these are more than before.
    pub(super) min_raised: u64,
}

impl<'a> Tally<'a> {
    fn new(
        what: &What<'a>,
        domains: Rc<NumberedDomains<'a>>,
        eligible: Rc<[bool]>,
        states: &WorkerStates<'a>,
    ) -> Self {
        let group = states.counts.place(&what.group);
        let values = what.values.clone();
        let number = group.and_then(|group| states.counts.part_number(group, values.clone()));
        let part = number.map(|number| states.counts.numbered_part(number).1);
        let mut counts = vec![None; domains.names.len()];
        for place in (0..states.len()).filter(|place| eligible[*place]) {
            let Some(domain) = domains.of[place] else { continue };
            *counts[domain].get_or_insert(0) += part.map_or(0, |part| part.on(place) as u64);
        }
        let arrivals = part.map_or(0, PartCounts::arrivals);
        let (min, min_raised) = (fewest(&counts), states.counts.now());
        Self { counts, domains, eligible, group, values, part: number, arrivals, min, min_raised }
    }

    /// Counts those that came since.
    fn renew(&mut self, states: &WorkerStates<'a>) {
        if self.part.is_none() {
            let group = self.group;
            self.part =
                group.and_then(|group| states.counts.part_number(group, self.values.clone()));
        }
        let Some(number) = self.part else { return };
        let (_, part) = states.counts.numbered_part(number);
        if part.arrivals() == self.arrivals {
            return;
        }
        for place in part.arrivals_after(self.arrivals) {
            if let Some(domain) = self.domains.of[place].filter(|_| self.eligible[place]) {
                *self.counts[domain].get_or_insert(0) += 1;
            }
        }
        self.arrivals = part.arrivals();
        let min = fewest(&self.counts);
        if min > self.min {
            (self.min, self.min_raised) = (min, states.counts.now());
        }
    }

    /// The counts by domain. Every domain of a worker that may be used is there.
    pub(super) fn by_domain(&self) -> BTreeMap<&'a str, u64> {
        let named = self.domains.names.iter().zip(&self.counts);
        named.filter_map(|(name, count)| Some((*name, (*count)?))).collect()
    }
}

fn fewest(counts: &[Option<u64>]) -> u64 {
    counts.iter().flatten().copied().min().unwrap_or(0)
}

/// The tallies of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Tallies<'a> {
    list: Vec<Tally<'a>>,
    numbers: BTreeMap<What<'a>, usize>,
    members: BTreeMap<RequestKey, Rc<[bool]>>,
    /// By the members and the keys that are needed.
    eligible: BTreeMap<(RequestKey, Vec<&'a str>), Rc<[bool]>>,
    domains: BTreeMap<&'a str, Rc<NumberedDomains<'a>>>,
    /// How many domains are counted.
    pub(super) kept: usize,
}

impl<'a> Tallies<'a> {
    /// Begins anew.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Which workers clusters with this key may use, by place.
    pub(super) fn members(
        &mut self,
        key: RequestKey,
        new: impl FnOnce() -> Vec<bool>,
    ) -> Rc<[bool]> {
        Rc::clone(self.members.entry(key).or_insert_with(|| new().into()))
    }

    /// The domains that a key makes of the workers.
    pub(super) fn domains(
        &mut self,
        key: &'a str,
        states: &WorkerStates<'a>,
    ) -> Rc<NumberedDomains<'a>> {
        let new = || Rc::new(NumberedDomains::new(key, states));
        Rc::clone(self.domains.entry(key).or_insert_with(new))
    }

    /// The number of a tally.
    pub(super) fn number(&mut self, what: What<'a>, states: &WorkerStates<'a>) -> usize {
        if let Some(known) = self.numbers.get(&what) {
            return *known;
        }
        let domains = self.domains(what.topology, states);
        let eligible = self.eligible(&what, states);
        self.kept += domains.names.len();
        self.list.push(Tally::new(&what, domains, eligible, states));
        let next = self.list.len() - 1;
        self.numbers.insert(what, next);
        next
    }

    /// The tally with a number, as it is now.
    pub(super) fn now(&mut self, number: usize, states: &WorkerStates<'a>) -> &Tally<'a> {
        let tally = &mut self.list[number];
        tally.renew(states);
        tally
    }

    fn eligible(&mut self, what: &What<'a>, states: &WorkerStates<'a>) -> Rc<[bool]> {
        let id = (what.members, what.needed.clone());
        if let Some(known) = self.eligible.get(&id) {
            return Rc::clone(known);
        }
        let members = self.members.get(&what.members).map(Rc::clone).unwrap_or_default();
        let needed: Vec<_> = what.needed.iter().map(|key| self.domains(key, states)).collect();
        let is_eligible = |(place, is_member): (usize, &bool)| {
            *is_member && needed.iter().all(|domains| domains.of[place].is_some())
        };
        let eligible: Rc<[bool]> = members.iter().enumerate().map(is_eligible).collect();
        self.eligible.insert(id, Rc::clone(&eligible));
        eligible
    }
}
