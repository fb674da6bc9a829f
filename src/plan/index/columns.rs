//! Columns: what one rule says of every worker, worked out once for each key that it can tell apart.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::keys::{Depends, Mask, RequestKey, depends};
use crate::model::{Reason, ReasonCode};
use crate::plan::candidate::Request;
use crate::plan::filter::{FILTERS, Filter};
use crate::plan::score::STILL;
use crate::plan::worker_states::WorkerStates;

/// What a filter says of every worker.
#[derive(Debug)]
pub(super) struct FilterVerdicts {
    /// By place: whether the worker passes.
    pub(super) passes: Vec<bool>,
    /// Why those do not that do not.
    pub(super) codes: BTreeSet<ReasonCode>,
}

/// Columns of one rule, by the parts of a key that it reads.
type ByKey<T> = BTreeMap<RequestKey, Rc<T>>;

/// The columns of the rules that stay as they are while clusters are placed.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    filters: Vec<(&'static Filter, Mask, ByKey<FilterVerdicts>)>,
    terms: Vec<(Mask, ByKey<Vec<u64>>)>,
}

impl Columns {
    /// No columns yet; `None` where a term moves that is not one of the moving terms.
    pub(super) fn new() -> Option<Self> {
        let filters = FILTERS.iter().filter_map(|filter| match depends(filter.reads) {
            Depends::Still(mask) => Some((filter, mask, BTreeMap::new())),
            Depends::Moving => None,
        });
        let terms = STILL.iter().map(|term| match depends(term.reads) {
            Depends::Still(mask) => Some((mask, BTreeMap::new())),
            Depends::Moving => None,
        });
        Some(Self { filters: filters.collect(), terms: terms.collect::<Option<_>>()? })
    }

    /// What the filters say, in their order.
    pub(super) fn verdicts(
        &mut self,
        key: RequestKey,
        request: &Request<'_>,
        states: &WorkerStates<'_>,
    ) -> Vec<Rc<FilterVerdicts>> {
        let column =
            |(filter, mask, columns): &mut (&'static Filter, Mask, ByKey<FilterVerdicts>)| {
                let new = || Rc::new(judge(filter, request, states));
                Rc::clone(columns.entry(key.only(*mask)).or_insert_with(new))
            };
        self.filters.iter_mut().map(column).collect()
    }

    /// The parts of a key on which these filters depend.
    pub(super) fn mask(&self, names: &[&str]) -> Mask {
        let these = self.filters.iter().filter(|(filter, ..)| names.contains(&filter.name));
        these.fold(Mask::default(), |all, (_, mask, _)| all.and(*mask))
    }

    /// Which workers a cluster may use at all, by place: what those filters say that are called so.
    pub(super) fn membership(
        &mut self,
        names: &[&str],
        key: RequestKey,
        request: &Request<'_>,
        states: &WorkerStates<'_>,
    ) -> Vec<bool> {
        let asked: Vec<_> = self.filters.iter().map(|(f, ..)| names.contains(&f.name)).collect();
        let verdicts = self.verdicts(key, request, states);
        let of: Vec<_> = verdicts.iter().zip(asked).filter_map(|(v, a)| a.then_some(v)).collect();
        (0..states.len()).map(|place| of.iter().all(|v| v.passes[place])).collect()
    }

    /// The terms of every worker, in their order.
    pub(super) fn terms(
        &mut self,
        key: RequestKey,
        request: &Request<'_>,
        states: &WorkerStates<'_>,
    ) -> [Rc<Vec<u64>>; STILL.len()] {
        std::array::from_fn(|at| {
            let (mask, columns) = &mut self.terms[at];
            let of = STILL[at].of;
            let value = |place| states.at(place).worker.map_or(u64::MAX, |w| of(request, w));
            let new = || Rc::new((0..states.len()).map(value).collect());
            Rc::clone(columns.entry(key.only(*mask)).or_insert_with(new))
        })
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
