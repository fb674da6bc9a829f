//! The index: a cluster's worker without asking every worker.
//!
//! Clusters of which the rules read the same have one *key*, for which all rules that do not depend on
//! what is placed are asked once. Clusters of which these rules say the same of every worker are one
//! *class*. The workers that pass fall into *tiers*: of equal terms, and in the same domains as far as
//! rules of spread and anti-affinity tell domains apart. Within a tier workers differ only by what is on
//! them, and a lazy [`Heap`] has the best in front. So a decision looks at one worker of each tier at most,
//! and at a few more, however many there are.
//!
//! The law is that nobody can tell: the worker, the runner-up, the deciding term and the reasons are
//! those of the plain scan, in every fleet. `tests` holds it.

mod class;
mod columns;
mod heap;
mod keys;
mod tallies;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use self::class::{Class, Meeting, Terms, Tier};
use self::columns::{ColumnNumbers, Columns};
use self::heap::{Heap, HeapEntry};
use self::keys::{Depends, Keys, RequestKey, depends};
use self::tallies::{Tallies, What};
use super::candidate::Request;
use super::filter::{self, FILTERS, Filter, MEMBERSHIP};
use super::pick::{Pick, Ranks};
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
    classes: BTreeMap<RequestKey, usize>,
    /// The classes by what the rules say, and by what makes workers one domain.
    alike: BTreeMap<(ColumnNumbers, u32), usize>,
    list: Vec<Class>,
    heaps: Vec<Heap>,
    /// The heaps by the workers in them and by what the clusters take.
    shared: BTreeMap<(Rc<[usize]>, u32), usize>,
    lacks: BTreeMap<u32, Lack>,
    /// The filters that depend on what is placed: through the domain of a worker only, and the others,
    /// of which capacity is not one.
    by_domain: Vec<&'static Filter>,
    by_worker: Vec<&'static Filter>,
    epoch: u64,
    kept: usize,
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
            classes: BTreeMap::new(),
            alike: BTreeMap::new(),
            list: Vec::new(),
            heaps: Vec::new(),
            shared: BTreeMap::new(),
            lacks: BTreeMap::new(),
            by_domain,
            by_worker,
            epoch: 0,
            kept: 0,
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
                tallies.of(What { members, topology, needed, group, values }, states)
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
    ) -> Option<Result<Pick, BTreeSet<ReasonCode>>> {
        if !is_known(request, states) {
            return None;
        }
        self.renew(states);
        let meeting = Meeting::of(pre_filter)?;
        let key = self.keys.of(request);
        let key = self.keys.within(key, &meeting.domains);
        let class = self.class(key, request, &meeting, states);
        let request = &request.within(pre_filter);
        let found = self.best(class, key.demand(), request, &meeting, states);
        let mut two = Ranks::default();
        for entry in found {
            let candidate = states.at(entry.place);
            two.add(score::rank(request, candidate, candidate.worker?));
        }
        Some(two.into_pick().ok_or_else(|| self.refused(class, key, request, &meeting, states)))
    }

    /// Begins anew where a worker changed otherwise than by being given a cluster.
    fn renew(&mut self, states: &WorkerStates<'_>) {
        if self.epoch == states.epoch() && self.kept <= MOST {
            return;
        }
        self.tallies.clear();
        self.classes.clear();
        self.alike.clear();
        self.list.clear();
        self.heaps.clear();
        self.shared.clear();
        self.lacks.clear();
        self.epoch = states.epoch();
        self.kept = 0;
    }

    /// The class of a key, worked out where it is a new one.
    fn class(
        &mut self,
        key: RequestKey,
        request: &Request<'_>,
        meeting: &Meeting<'_>,
        states: &WorkerStates<'_>,
    ) -> usize {
        if let Some(known) = self.classes.get(&key) {
            return *known;
        }
        let numbers = self.columns.numbers(key, request, states);
        let (verdicts, terms) = (self.columns.verdicts(&numbers), self.columns.terms(&numbers));
        let (list, kept) = (&mut self.list, &mut self.kept);
        let new = || {
            let class = Class::new(&verdicts, &terms, &meeting.domains, states);
            *kept += class.places();
            list.push(class);
            list.len() - 1
        };
        let class = *self.alike.entry((numbers, key.domains())).or_insert_with(new);
        self.classes.insert(key, class);
        class
    }

    /// The two best workers of a class.
    fn best(
        &mut self,
        class: usize,
        demand: u32,
        request: &Request<'_>,
        meeting: &Meeting<'_>,
        states: &WorkerStates<'_>,
    ) -> Vec<HeapEntry> {
        let order = meeting.is_anything().then(|| self.order(class, request, meeting, states));
        let mut found = Vec::with_capacity(2);
        let (mut equal, mut two) = (Vec::new(), Vec::with_capacity(2));
        let mut at = 0;
        while let Some((terms, _)) = self.tier(class, order.as_deref(), at)
            && found.len() < 2
        {
            while let Some((same, tier)) = self.tier(class, order.as_deref(), at)
                && same == terms
            {
                let heap = self.heap(class, tier, demand, request, states);
                let (by_domain, by_worker) = (&self.by_domain, &self.by_worker);
                let accept = |place: usize| {
                    let domain = meeting.by_worker.then_some(by_domain).into_iter().flatten();
                    passes(by_worker.iter().chain(domain), request, states, place)
                };
                self.heaps[heap].best(&mut two, request, states, accept);
                equal.append(&mut two);
                at += 1;
            }
            equal.sort_by(|a: &HeapEntry, b| b.cmp(a));
            equal.truncate(2 - found.len());
            found.append(&mut equal);
        }
        found
    }

    /// The tier that comes there in an order, with its terms; without one in that of the class.
    fn tier(
        &self,
        class: usize,
        order: Option<&[(Terms, usize)]>,
        at: usize,
    ) -> Option<(Terms, usize)> {
        match order {
            Some(order) => order.get(at).copied(),
            None => self.list[class].tiers.get(at).map(|tier| (tier.terms, at)),
        }
    }

    /// The tiers that are open to a cluster which meets something, with their terms, the best first.
    fn order(
        &self,
        class: usize,
        request: &Request<'_>,
        meeting: &Meeting<'_>,
        states: &WorkerStates<'_>,
    ) -> Vec<(Terms, usize)> {
        let pre_filter = meeting.told_by_domain(request.pre_filter);
        let request = &request.within(&pre_filter);
        let open = |(at, tier): (usize, &Tier)| {
            let place = *tier.places.first()?;
            let worker = states.at(place).worker?;
            let open = passes(self.by_domain.iter(), request, states, place);
            open.then(|| (score::with_scenes(tier.terms, request, worker), at))
        };
        let tiers = self.list[class].tiers.iter().enumerate();
        let mut order: Vec<_> = tiers.filter_map(open).collect();
        order.sort_unstable();
        order
    }

    /// The heap of a tier. Classes share those of the same workers.
    fn heap(
        &mut self,
        class: usize,
        tier: usize,
        demand: u32,
        request: &Request<'_>,
        states: &WorkerStates<'_>,
    ) -> usize {
        let tier = &mut self.list[class].tiers[tier];
        if let Some(heap) = tier.heaps.get(&demand) {
            return *heap;
        }
        let id = (Rc::clone(&tier.places), demand);
        let (heaps, kept) = (&mut self.heaps, &mut self.kept);
        let heap = *self.shared.entry(id).or_insert_with(|| {
            let heap = Heap::new(&tier.places, request, states);
            *kept += heap.len();
            heaps.push(heap);
            heaps.len() - 1
        });
        tier.heaps.insert(demand, heap);
        heap
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
        let mut codes = self.list[class].codes.clone();
        codes.extend(self.lack(key.demand(), request.demand(), states));
        let mut reasons = Vec::new();
        let mut ask = |filter: &Filter, place: usize| {
            reasons.clear();
            (filter.refuse)(request, states.at(place), &mut reasons);
            codes.extend(reasons.iter().map(Reason::code));
        };
        let everywhere = || states.places().map(|(place, _)| place);
        self.by_worker.iter().for_each(|filter| everywhere().for_each(|at| ask(filter, at)));
        for filter in &self.by_domain {
            if meeting.by_worker {
                everywhere().for_each(|at| ask(filter, at));
            } else {
                self.list[class].samples.iter().for_each(|at| ask(filter, *at));
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
            let since = states.given()[lack.given..].iter();
            lack.codes.extend(since.flat_map(|at| filter::capacity_codes(demand, states.at(*at))));
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
