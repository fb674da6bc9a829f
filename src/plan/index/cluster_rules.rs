//! What the rules are for the clusters of one signature, worked out once, so that a decision about one of them asks no rule:
//! which domains are closed to it, and how many soft violations there are in the others.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::tallies::{NumberedDomains, Tallies, Tally, What};
use crate::plan::counts::{PartCounts, RuleOwnerPlace};
use crate::plan::lookup::LookupMap;
use crate::plan::worker_states::WorkerStates;

/// By the number of a class's domains that of the domain by which a rule counts or tells; `None` where a worker there is in none.
pub(super) type DomainsOfClass = Rc<[Option<usize>]>;

/// What the rules are for the clusters of one signature.
#[derive(Clone, Debug)]
pub(super) struct ClusterRules<'a> {
    /// What they take, by number.
    pub(super) demand: u32,
    /// Their class.
    pub(super) class: usize,
    /// Their spread constraints.
    pub(super) spread: Vec<SpreadRule<'a>>,
    /// The rules of anti-affinity that are about them.
    pub(super) apart: Vec<ApartRule<'a>>,
}

/// A spread constraint.
#[derive(Clone, Debug)]
pub(super) struct SpreadRule<'a> {
    /// Whether it refuses workers.
    pub(super) refuses: bool,
    /// By how many a domain may be ahead.
    pub(super) max_skew: u64,
    /// 1 where the clusters themselves are counted once they are placed, else 0.
    pub(super) itself: u64,
    /// What it counts, but for the part of the group.
    pub(super) what: What<'a>,
    /// The numbers of the tallies, by that of the part of the group.
    pub(super) tallies: LookupMap<usize, usize>,
    /// By which domains.
    pub(super) domains: DomainsOfClass,
}

/// A rule of anti-affinity.
#[derive(Clone, Debug)]
pub(super) struct ApartRule<'a> {
    /// Whether it refuses workers.
    pub(super) refuses: bool,
    /// Who has it.
    pub(super) owner: RuleOwnerPlace,
    /// By which domains: those of the class, and those of all workers; `None` where each worker is one.
    pub(super) domains: Option<(DomainsOfClass, Rc<NumberedDomains<'a>>)>,
}

impl ClusterRules<'_> {
    /// Whether no rule tells domains of several workers apart.
    pub(super) fn is_plain(&self) -> bool {
        self.spread.is_empty() && self.apart.iter().all(|rule| rule.domains.is_none())
    }
}

impl<'a> SpreadRule<'a> {
    /// Closes the domains that are full for clusters that are counted with a part, as
    /// [`SpreadState::is_full`](crate::plan::pre_filter_state::SpreadState::is_full) has it, or adds a soft violation there.
    pub(super) fn close(
        &mut self,
        open: &mut [Option<u32>],
        part: usize,
        tallies: &mut Tallies<'a>,
        states: &WorkerStates<'a>,
    ) {
        let tally = self.tally(part, tallies, states);
        let Tally { counts, min, .. } = tallies.now(tally, states);
        for (open, domain) in open.iter_mut().zip(&*self.domains) {
            let is_broken = domain.is_none_or(|domain| {
                let skew = counts[domain].map(|count| (count + self.itself).saturating_sub(*min));
                skew.is_some_and(|skew| skew > self.max_skew)
            });
            if is_broken {
                violate(open, self.refuses);
            }
        }
    }

    /// After how many bindings the fewest were last seen to be more than before, of clusters that are counted with a part: a domain
    /// opens by that alone.
    pub(super) fn min_raised(
        &mut self,
        part: usize,
        tallies: &mut Tallies<'a>,
        states: &WorkerStates<'a>,
    ) -> u64 {
        let tally = self.tally(part, tallies, states);
        tallies.now(tally, states).min_raised
    }

    /// The number of the tally for a part of the group.
    pub(super) fn tally(
        &mut self,
        part: usize,
        tallies: &mut Tallies<'a>,
        states: &WorkerStates<'a>,
    ) -> usize {
        if let Some(known) = self.tallies.get(&part) {
            return *known;
        }
        let (values, _) = states.counts.numbered_part(part);
        let what = What { values: values.clone(), ..self.what.clone() };
        let number = tallies.number(what, states);
        self.tallies.insert(part, number);
        number
    }
}

impl ApartRule<'_> {
    /// Closes the domains that have one of these, or adds a soft violation there; `false` where each worker is a domain.
    pub(super) fn close(&self, open: &mut [Option<u32>], part: &PartCounts<'_>) -> bool {
        let Some((own, all)) = &self.domains else { return false };
        let taken = part.workers().filter_map(|(place, _)| all.of.get(place).copied().flatten());
        let taken: BTreeSet<usize> = taken.collect();
        for (open, domain) in open.iter_mut().zip(&**own) {
            if domain.is_some_and(|domain| taken.contains(&domain)) {
                violate(open, self.refuses);
            }
        }
        true
    }
}

fn violate(open: &mut Option<u32>, refuses: bool) {
    *open = open.filter(|_| !refuses).map(|soft| soft.saturating_add(1));
}
