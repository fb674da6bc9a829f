//! Classes of requests of which the rules say the same, and the tiers of workers that are alike to them.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::columns::FilterVerdicts;
use super::domain_sets::DomainSets;
use super::worker_sets::SetsOfTier;
use crate::model::{ReasonCode, topology};
use crate::plan::depends_on::DependsOn;
use crate::plan::filter::Filter;
use crate::plan::pre_filter_state::PreFilterState;
use crate::plan::score::STILL;
use crate::plan::worker_states::WorkerStates;

/// The terms of a worker that do not move, in their order; smaller is better.
pub(super) type Terms = [u64; STILL.len()];

/// Workers of one class with equal terms, in the same domains.
#[derive(Clone, Debug)]
pub(super) struct Tier {
    pub(super) terms: Terms,
    /// In which domains its workers are, by number.
    pub(super) domains: usize,
    pub(super) places: Rc<[usize]>,
    /// The sets of which it is made.
    pub(super) sets: SetsOfTier,
}

/// Requests of which the rules that do not move say the same of every worker.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// The workers that pass the filters which do not move, the best first.
    pub(super) tiers: Vec<Tier>,
    /// Why the others do not.
    pub(super) codes: BTreeSet<ReasonCode>,
    /// The sets of domains that are told apart.
    pub(super) domains: Rc<DomainSets>,
}

impl Class {
    pub(super) fn new(
        verdicts: &[&FilterVerdicts],
        terms: &[&[u64]; STILL.len()],
        domains: Rc<DomainSets>,
        states: &WorkerStates<'_>,
    ) -> Self {
        let mut tiers: BTreeMap<(Terms, usize), Vec<usize>> = BTreeMap::new();
        let passing = passing(verdicts, states);
        let passing = passing.iter().zip(&domains.of).enumerate();
        // None passes that has no document, and so is in no domains.
        let passing =
            passing.filter_map(|(place, (passes, of))| Some((place, of.filter(|_| *passes)?)));
        for (place, domains) in passing {
            let terms = std::array::from_fn(|at| terms[at][place]);
            tiers.entry((terms, domains)).or_default().push(place);
        }
        let tier = |((terms, domains), places): ((Terms, usize), Vec<usize>)| Tier {
            terms,
            domains,
            places: places.into(),
            sets: SetsOfTier::default(),
        };
        let mut codes: BTreeSet<ReasonCode> =
            verdicts.iter().flat_map(|verdict| verdict.codes.iter().copied()).collect();
        if states.places().next().is_none() {
            codes.insert(ReasonCode::NoWorkers);
        }
        let tiers: Vec<_> = tiers.into_iter().map(tier).collect();
        Self { tiers, codes, domains }
    }

    /// How many places of workers it has.
    pub(super) fn places(&self) -> usize {
        self.tiers.iter().map(|tier| tier.places.len()).sum()
    }
}

/// By place, whether a worker passes all of these filters.
fn passing(verdicts: &[&FilterVerdicts], states: &WorkerStates<'_>) -> Vec<bool> {
    let Some((first, others)) = verdicts.split_first() else {
        return states.places().map(|(_, candidate)| candidate.worker.is_some()).collect();
    };
    // None passes a filter that has no document.
    let mut passing = first.passes.clone();
    for verdict in others {
        passing.iter_mut().zip(&verdict.passes).for_each(|(all, one)| *all &= *one);
    }
    passing
}

/// Whether a filter depends on what is placed, and of a worker reads no more than what makes domains: it
/// tells workers in the same domains the same.
pub(super) fn is_by_domain(filter: &Filter) -> bool {
    let of_domains = |read: &DependsOn| {
        matches!(
            read,
            DependsOn::Cluster
                | DependsOn::Policies
                | DependsOn::Tenants
                | DependsOn::Placed
                | DependsOn::Name
                | DependsOn::Labels
                | DependsOn::Location
                | DependsOn::Flavor
                | DependsOn::Pool
        )
    };
    filter.reads.contains(&DependsOn::Placed) && filter.reads.iter().all(of_domains)
}

/// How a cluster's pre-filter state tells workers apart.
#[derive(Clone, Debug)]
pub(super) struct Meeting<'s> {
    /// By these domains, of several workers each.
    pub(super) domains: Vec<&'s str>,
    /// By the worker itself as well: a rule has it for its domain.
    pub(super) by_worker: bool,
    quota: bool,
}

impl<'s> Meeting<'s> {
    /// Of this pre-filter state; `None` where it orders workers one by one.
    pub(super) fn of(pre_filter: &PreFilterState<'s>) -> Option<Self> {
        let spread = pre_filter.spread.iter().map(|scene| (scene.key, scene.refuses));
        let apart = pre_filter.apart.iter().map(|scene| (scene.key, scene.refuses));
        let (mut domains, mut by_worker) = (BTreeSet::new(), false);
        for (key, refuses) in spread.chain(apart) {
            if key != topology::WORKER {
                domains.insert(key);
            } else if refuses {
                by_worker = true;
            } else {
                return None;
            }
        }
        let domains = domains.into_iter().collect();
        Some(Self { domains, by_worker, quota: !pre_filter.quota.is_empty() })
    }

    /// Whether the cluster meets anything.
    pub(super) fn is_anything(&self) -> bool {
        self.quota || self.by_worker || !self.domains.is_empty()
    }

    /// The workers that are told something else than others in the same domains; `None` where that may be any.
    pub(super) fn told_apart(
        &self,
        pre_filter: &PreFilterState<'_>,
        states: &WorkerStates<'_>,
    ) -> Option<Vec<usize>> {
        if !self.by_worker {
            return Some(Vec::new());
        }
        let spread = pre_filter.spread.iter().any(|scene| scene.key == topology::WORKER);
        let apart = pre_filter.apart.iter().filter(|scene| scene.key == topology::WORKER);
        if spread || apart.clone().any(|scene| scene.anywhere.is_some()) {
            return None;
        }
        let taken = apart.flat_map(|scene| scene.taken.keys());
        Some(taken.filter_map(|worker| states.place(worker)).collect())
    }

    /// The pre-filter state without what tells single workers apart.
    pub(super) fn told_by_domain<'a>(
        &self,
        pre_filter: &'a PreFilterState<'a>,
    ) -> std::borrow::Cow<'a, PreFilterState<'a>> {
        if !self.by_worker {
            return std::borrow::Cow::Borrowed(pre_filter);
        }
        let mut pre_filter = pre_filter.clone();
        pre_filter.spread.retain(|scene| scene.key != topology::WORKER);
        pre_filter.apart.retain(|scene| scene.key != topology::WORKER);
        std::borrow::Cow::Owned(pre_filter)
    }
}
