//! How many clusters of a part of a group are in each domain, followed from binding to binding instead of
//! counted anew for each cluster.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::keys::RequestKey;
use crate::model::{Worker, topology};
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

#[derive(Clone, Debug)]
struct Tally<'a> {
    by_domain: BTreeMap<&'a str, u64>,
    /// How many arrivals are counted.
    arrivals: usize,
}

/// The tallies of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Tallies<'a> {
    tallies: BTreeMap<What<'a>, Tally<'a>>,
    members: BTreeMap<RequestKey, Rc<[bool]>>,
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

    /// The counts by domain. Every domain of a worker that may be used is there.
    pub(super) fn of(
        &mut self,
        what: What<'a>,
        states: &WorkerStates<'a>,
    ) -> BTreeMap<&'a str, u64> {
        let members = self.members.get(&what.members).map(Rc::clone).unwrap_or_default();
        let part = states.counts.part(&what.group, &what.values);
        let arrivals = part.map_or(&[][..], |part| &part.arrivals);
        let domain = |worker: &'a Worker| {
            let eligible = what.needed.iter().all(|key| topology::domain(key, worker).is_some());
            eligible.then(|| topology::domain(what.topology, worker)).flatten()
        };
        if let Some(tally) = self.tallies.get_mut(&what) {
            for name in &arrivals[tally.arrivals..] {
                let place = states.place(name).filter(|place| members[*place]);
                let worker = place.and_then(|place| states.at(place).worker);
                if let Some(domain) = worker.and_then(domain) {
                    *tally.by_domain.entry(domain).or_default() += 1;
                }
            }
            tally.arrivals = arrivals.len();
            return tally.by_domain.clone();
        }
        let mut by_domain = BTreeMap::new();
        for (place, candidate) in states.places().filter(|(place, _)| members[*place]) {
            let Some(domain) = states.at(place).worker.and_then(domain) else { continue };
            let there = part.and_then(|part| part.there.get(candidate.name));
            *by_domain.entry(domain).or_default() += there.map_or(0, |names| names.len() as u64);
        }
        let tally = Tally { by_domain: by_domain.clone(), arrivals: arrivals.len() };
        self.tallies.insert(what, tally);
        by_domain
    }
}
