//! The index: a cluster's worker without asking every worker.
//!
//! Clusters of which the rules read the same have one *key*, for which all rules that do not depend on
//! what is placed are asked once. Clusters of which these rules say the same of every worker are one
//! *class*. The workers that pass fall into *tiers*: of equal terms, and in the same domains as far as
//! rules of spread and anti-affinity tell domains apart. Within a tier workers differ only by what is on
//! them, and a lazy [`Heap`] has the best in front, or some of them for the [sets](worker_sets) of which it is made. So a
//! decision looks at a few workers of each tier, however many there are.
//!
//! What the rules are for clusters of one [signature](super::signature) is known once one of them was looked at. A decision about
//! another then asks no rule: which domains are closed to it follows from tallies, and its worker from the heaps ([`select`]). What is
//! left is told by the cluster's pre-filter state: why it is refused, and what `select` does not know.
//!
//! The law is that nobody can tell: the worker, the runner-up, the deciding term and the reasons are
//! those of the plain scan, in every fleet. `tests` holds it.

mod class;
mod classes;
mod cluster_rules;
mod columns;
mod domain_sets;
mod heap;
mod keys;
mod rooms;
mod select;
mod tallies;
mod watched;
mod worker_sets;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use self::class::{Class, Meeting};
use self::classes::Classes;
use self::cluster_rules::DomainsOfClass;
use self::columns::{ColumnNumbers, Columns};
use self::domain_sets::DomainSets;
use self::keys::{Depends, Keys, RequestKey, depends};
use self::rooms::NumberedDemand;
use self::select::KnownRules;
use self::tallies::{Tallies, What};
use self::watched::WatchedTallies;
use super::candidate::Request;
use super::filter::{self, FILTERS, Filter, MEMBERSHIP};
use super::pick::SelectedWorker;
use super::pre_filter_state::PreFilterState;
use super::score;
use super::worker_states::WorkerStates;
use crate::model::api::Strategy;
use crate::model::{Fleet, Reason, ReasonCode, Resources};

/// The most places of workers that are kept; with more the index begins anew. A fleet in which the rules say something
/// else of every cluster would need a list of all workers for each.
const MOST: usize = 8_000_000;

/// Why the capacity rule refuses what takes the same, over all workers.
#[derive(Clone, Debug)]
struct Lack {
    codes: BTreeSet<ReasonCode>,
    /// How many clusters had been given a worker then.
    given: usize,
}

/// The workers, found by what the clusters need. It stands for one run.
#[derive(Clone, Debug)]
pub(super) struct Index<'a> {
    keys: Keys<'a>,
    columns: Columns,
    tallies: Tallies<'a>,
    /// Those on which refused clusters wait.
    watched: WatchedTallies,
    classes: Classes,
    /// The classes by the keys.
    by_key: BTreeMap<RequestKey, usize>,
    /// The classes by what the rules say, and by what makes workers one domain.
    alike: BTreeMap<(ColumnNumbers, u32), usize>,
    /// By what makes workers one domain.
    domain_sets: BTreeMap<u32, Rc<DomainSets>>,
    lacks: BTreeMap<u32, Lack>,
    /// What the rules are, by signature.
    rules: Vec<KnownRules<'a>>,
    /// The domains by which rules count or tell, by class and key.
    domains: BTreeMap<(usize, &'a str), DomainsOfClass>,
    /// Kept for its room: what is open to the cluster that is looked at.
    open: Vec<Option<u32>>,
    /// The filters that depend on what is placed: through the domain of a worker only, and the others,
    /// of which capacity is not one.
    by_domain: Vec<&'static Filter>,
    by_worker: Vec<&'static Filter>,
    epoch: u64,
}

impl<'a> Index<'a> {
    /// An empty index; `None` where it does not know what the order of the workers depends on, or which of
    /// them a cluster may use at all.
    pub(super) fn new(fleet: &'a Fleet) -> Option<Self> {
        let is_member = |f: &&Filter| MEMBERSHIP.contains(&f.name);
        if FILTERS.iter().filter(is_member).any(|f| depends(f.reads) == Depends::Moving) {
            return None;
        }
        let moves = |f: &&Filter| depends(f.reads) == Depends::Moving && f.name != "capacity";
        let (by_domain, by_worker) =
            FILTERS.iter().filter(moves).partition(|f| class::is_by_domain(f));
        Some(Self {
            keys: Keys::new(fleet),
            columns: Columns::new()?,
            tallies: Tallies::default(),
            watched: WatchedTallies::default(),
            classes: Classes::default(),
            by_key: BTreeMap::new(),
            alike: BTreeMap::new(),
            domain_sets: BTreeMap::new(),
            lacks: BTreeMap::new(),
            rules: Vec::new(),
            domains: BTreeMap::new(),
            open: Vec::new(),
            by_domain,
            by_worker,
            epoch: 0,
        })
    }

    /// What a cluster meets that depends on what is placed.
    pub(super) fn pre_filter(
        &mut self,
        request: &Request<'a>,
        states: &WorkerStates<'a>,
    ) -> PreFilterState<'a> {
        self.renew(states);
        let key = self.keys.of(request);
        let members = key.only(self.columns.mask(&MEMBERSHIP));
        let (tallies, columns) = (&mut self.tallies, &mut self.columns);
        PreFilterState::tallied(
            request,
            states,
            &states.counts,
            |needed, topology, group, values| {
                tallies.members(members, || columns.membership(&MEMBERSHIP, key, request, states));
                let (needed, values) = (needed.to_vec(), values.clone());
                let what = What { members, topology, needed, group, values };
                let number = tallies.number(what, states);
                tallies.now(number, states).by_domain()
            },
        )
    }

    /// The best worker for a cluster with what it meets, or why there is none; `None` where the index
    /// cannot tell.
    pub(super) fn choose(
        &mut self,
        request: &Request<'a>,
        pre_filter: &PreFilterState<'a>,
        states: &WorkerStates<'a>,
    ) -> Option<Result<SelectedWorker, BTreeSet<ReasonCode>>> {
        if !is_known(request, states) {
            return None;
        }
        self.renew(states);
        let meeting = Meeting::of(pre_filter)?;
        let key = self.keys.of(request);
        let key = self.keys.within(key, &meeting.domains);
        let class = self.class(key, request, &meeting.domains, states);
        let request = &request.within(pre_filter);
        let open = meeting.is_anything().then(|| self.open(class, request, &meeting, states));
        let demand = NumberedDemand { number: key.demand(), amounts: request.demand() };
        let (by_domain, by_worker) = (&self.by_domain, &self.by_worker);
        let accept = |place: usize| {
            let domain = meeting.by_worker.then_some(by_domain).into_iter().flatten();
            passes(by_worker.iter().chain(domain), request, states, place)
        };
        let is_asked = meeting.by_worker || !by_worker.is_empty();
        let accept = is_asked.then_some(&accept as &dyn Fn(usize) -> bool);
        let found = self.classes.best(class, demand, open.as_deref(), accept, states);
        let selected = found.into_selected();
        Some(selected.ok_or_else(|| self.refused(class, key, request, &meeting, states)))
    }

    /// Begins anew where a worker changed otherwise than by being given a cluster.
    fn renew(&mut self, states: &WorkerStates<'_>) {
        let kept = self.classes.kept + self.classes.sets.kept + self.tallies.kept;
        if self.epoch == states.epoch() && kept <= MOST {
            return;
        }
        self.tallies.clear();
        self.watched.clear();
        self.by_key.clear();
        self.alike.clear();
        self.classes = Classes::default();
        self.domain_sets.clear();
        self.lacks.clear();
        self.rules.clear();
        self.domains.clear();
        self.epoch = states.epoch();
    }

    /// The class of a key, worked out where it is a new one.
    fn class(
        &mut self,
        key: RequestKey,
        request: &Request<'_>,
        domains: &[&str],
        states: &WorkerStates<'_>,
    ) -> usize {
        if let Some(known) = self.by_key.get(&key) {
            return *known;
        }
        let numbers = self.columns.numbers(key, request, states);
        let (verdicts, terms) = (self.columns.verdicts(&numbers), self.columns.terms(&numbers));
        let (classes, sets) = (&mut self.classes, &mut self.domain_sets);
        let new = || {
            let sets = sets.entry(key.domains());
            let sets = sets.or_insert_with(|| Rc::new(DomainSets::new(domains, states)));
            classes.add(Class::new(&verdicts, &terms, Rc::clone(sets), states), states)
        };
        let class = *self.alike.entry((numbers, key.domains())).or_insert_with(new);
        self.by_key.insert(key, class);
        class
    }

    /// By domains, the soft violations where they are open to a cluster which meets something.
    fn open(
        &self,
        class: usize,
        request: &Request<'_>,
        meeting: &Meeting<'_>,
        states: &WorkerStates<'_>,
    ) -> Vec<Option<u32>> {
        let pre_filter = meeting.told_by_domain(request.pre_filter);
        let request = &request.within(&pre_filter);
        let open = |place: &usize| {
            let worker = states.at(*place).worker?;
            let open = passes(self.by_domain.iter(), request, states, *place);
            open.then(|| score::together(request, worker))
        };
        self.classes.list[class].domains.samples.iter().map(open).collect()
    }

    /// Why no worker takes a cluster.
    fn refused(
        &mut self,
        class: usize,
        key: RequestKey,
        request: &Request<'_>,
        meeting: &Meeting<'_>,
        states: &WorkerStates<'_>,
    ) -> BTreeSet<ReasonCode> {
        let mut codes = self.classes.list[class].codes.clone();
        codes.extend(self.lack(key.demand(), request.demand(), states));
        let mut reasons = Vec::new();
        let mut ask = |filter: &Filter, place: usize| {
            reasons.clear();
            (filter.refuse)(request, states.at(place), &mut reasons);
            codes.extend(reasons.iter().map(Reason::code));
        };
        let everywhere = || states.places().map(|(place, _)| place);
        self.by_worker.iter().for_each(|filter| everywhere().for_each(|at| ask(filter, at)));
        let told_apart = meeting.told_apart(request.pre_filter, states);
        for filter in &self.by_domain {
            match &told_apart {
                None => everywhere().for_each(|at| ask(filter, at)),
                Some(others) => {
                    let samples = self.classes.list[class].domains.samples.iter();
                    samples.chain(others).for_each(|at| ask(filter, *at));
                }
            }
        }
        codes
    }

    /// What the capacity rule says over all workers. Room only shrinks, so only those are looked at
    /// again that were given a cluster since, and none where room lacks already.
    fn lack(
        &mut self,
        number: u32,
        demand: &Resources,
        states: &WorkerStates<'_>,
    ) -> impl Iterator<Item = ReasonCode> + use<'_, 'a> {
        let lack = self.lacks.entry(number).or_insert_with(|| {
            let all = states.considered().flat_map(|c| filter::capacity_codes(demand, c));
            Lack { codes: all.collect(), given: states.given().len() }
        });
        if !lack.codes.contains(&ReasonCode::Capacity) {
            let rooms = &mut self.classes.rooms;
            rooms.add(number, demand, states);
            let since = states.given()[lack.given..].iter();
            let lacking = since.filter(|at| !rooms.has(**at, number, states));
            let codes = lacking.flat_map(|at| filter::capacity_codes(demand, states.at(*at)));
            lack.codes.extend(codes);
        }
        lack.given = states.given().len();
        lack.codes.iter().copied()
    }
}

/// Whether the index knows the order of the workers for a request. A worker that is packed gets better
/// with every cluster, and a heap relies on its getting worse; which group counts depends on where the
/// cluster was before; and one that leaves a worker is refused by that one alone.
fn is_known(request: &Request<'_>, states: &WorkerStates<'_>) -> bool {
    let affinity = request.policy.and_then(|policy| policy.spec.affinity.as_ref());
    request.strategy() == Strategy::Spread
        && affinity.is_none_or(|affinity| affinity.groups.is_empty())
        && request.leaving.is_none()
        && !states.is_reserving()
}

fn passes<'f>(
    filters: impl Iterator<Item = &'f &'static Filter>,
    request: &Request<'_>,
    states: &WorkerStates<'_>,
    place: usize,
) -> bool {
    let mut reasons = Vec::new();
    let candidate = states.at(place);
    filters.for_each(|filter| (filter.refuse)(request, candidate, &mut reasons));
    reasons.is_empty()
}

#[cfg(test)]
mod tests;
