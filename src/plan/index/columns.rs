//! Columns: what one rule says of every worker, worked out once for each key that it can tell apart. What is the same
//! for two keys is one column.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::keys::{Depends, Mask, RequestKey, depends};
use crate::model::{Reason, ReasonCode};
use crate::plan::candidate::Request;
use crate::plan::filter::{FILTERS, Filter};
use crate::plan::score::STILL;
use crate::plan::worker_states::WorkerStates;

/// What a filter says of every worker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FilterVerdicts {
    /// By place: whether the worker passes.
    pub(super) passes: Vec<bool>,
    /// Why those do not that do not.
    pub(super) codes: BTreeSet<ReasonCode>,
}

/// The numbers of columns: those of the filters and then those of the terms, each in their order.
pub(super) type ColumnNumbers = Vec<usize>;

/// The columns of one rule.
#[derive(Clone, Debug)]
struct RuleColumns<T> {
    /// The parts of a key that the rule reads.
    mask: Mask,
    /// By those parts, the number of what it says.
    numbers: BTreeMap<RequestKey, usize>,
    /// By what it says.
    known: BTreeMap<Rc<T>, usize>,
    list: Vec<Rc<T>>,
}

impl<T: Ord> RuleColumns<T> {
    fn new(mask: Mask) -> Self {
        Self { mask, numbers: BTreeMap::new(), known: BTreeMap::new(), list: Vec::new() }
    }

    fn number(&mut self, key: RequestKey, new: impl FnOnce() -> T) -> usize {
        let key = key.only(self.mask);
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let (column, next) = (Rc::new(new()), self.list.len());
        let number = *self.known.entry(Rc::clone(&column)).or_insert(next);
        if number == next {
            self.list.push(column);
        }
        self.numbers.insert(key, number);
        number
    }
}

/// The columns of the rules that stay as they are while clusters are placed.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    filters: Vec<(&'static Filter, RuleColumns<FilterVerdicts>)>,
    terms: Vec<RuleColumns<Vec<u64>>>,
}

impl Columns {
    /// No columns yet; `None` where a term moves that is not one of the moving terms.
    pub(super) fn new() -> Option<Self> {
        let filters = FILTERS.iter().filter_map(|filter| match depends(filter.reads) {
            Depends::Still(mask) => Some((filter, RuleColumns::new(mask))),
            Depends::Moving => None,
        });
        let terms = STILL.iter().map(|term| match depends(term.reads) {
            Depends::Still(mask) => Some(RuleColumns::new(mask)),
            Depends::Moving => None,
        });
        Some(Self { filters: filters.collect(), terms: terms.collect::<Option<_>>()? })
    }

    /// The numbers of what the rules say of requests with this key: where two have the same, no rule that stays tells them apart.
    pub(super) fn numbers(
        &mut self,
        key: RequestKey,
        request: &Request<'_>,
        states: &WorkerStates<'_>,
    ) -> ColumnNumbers {
        let filters = self.filters.iter_mut();
        let filters = filters.map(|(filter, of)| of.number(key, || judge(filter, request, states)));
        let terms = self.terms.iter_mut().zip(&STILL).map(|(of, term)| {
            let value = |place| states.at(place).worker.map_or(u64::MAX, |w| (term.of)(request, w));
            of.number(key, || (0..states.len()).map(value).collect())
        });
        filters.chain(terms).collect()
    }

    /// What the filters say, in their order.
    pub(super) fn verdicts(&self, numbers: &ColumnNumbers) -> Vec<&FilterVerdicts> {
        self.filters.iter().zip(numbers).map(|((_, of), number)| &*of.list[*number]).collect()
    }

    /// The terms of every worker, in their order.
    pub(super) fn terms(&self, numbers: &ColumnNumbers) -> [&[u64]; STILL.len()] {
        let numbers = &numbers[self.filters.len()..];
        std::array::from_fn(|at| self.terms[at].list[numbers[at]].as_slice())
    }

    /// The parts of a key on which these filters depend.
    pub(super) fn mask(&self, names: &[&str]) -> Mask {
        let these = self.filters.iter().filter(|(filter, _)| names.contains(&filter.name));
        these.fold(Mask::default(), |all, (_, of)| all.and(of.mask))
    }

    /// Which workers a cluster may use at all, by place: what those filters say that are called so.
    pub(super) fn membership(
        &mut self,
        names: &[&str],
        key: RequestKey,
        request: &Request<'_>,
        states: &WorkerStates<'_>,
    ) -> Vec<bool> {
        let mut passes = vec![true; states.len()];
        for (filter, of) in self.filters.iter_mut().filter(|(f, _)| names.contains(&f.name)) {
            let number = of.number(key, || judge(filter, request, states));
            passes.iter_mut().zip(&of.list[number].passes).for_each(|(all, one)| *all &= *one);
        }
        passes
    }
}

fn judge(filter: &Filter, request: &Request<'_>, states: &WorkerStates<'_>) -> FilterVerdicts {
    let mut passes = vec![false; states.len()];
    let mut codes = BTreeSet::new();
    let mut reasons = Vec::new();
    for (place, candidate) in states.places() {
        reasons.clear();
        (filter.refuse)(request, candidate, &mut reasons);
        passes[place] = reasons.is_empty() && candidate.worker.is_some();
        codes.extend(reasons.iter().map(Reason::code));
    }
    FilterVerdicts { passes, codes }
}
