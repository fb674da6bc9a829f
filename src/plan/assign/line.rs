//! The clusters that were refused, in the order of the queue, and which of them a rule of spread refuses:
//! after each binding it is those alone that may have been let in.

use std::collections::{BTreeMap, BTreeSet};

use super::Refused;
use crate::model::ReasonCode;

/// Refused clusters, by their place in the queue.
#[derive(Debug, Default)]
pub(super) struct Line<'a> {
    all: BTreeMap<usize, Refused<'a>>,
    spread: BTreeSet<usize>,
    added: usize,
}

impl<'a> Line<'a> {
    /// Adds one behind the others.
    pub(super) fn add(&mut self, one: Refused<'a>) {
        let at = self.added;
        self.added += 1;
        note(&mut self.spread, at, &one);
        self.all.insert(at, one);
    }

    /// Takes one out.
    pub(super) fn remove(&mut self, at: usize) -> Refused<'a> {
        self.spread.remove(&at);
        self.all.remove(&at).expect("it stands in the line")
    }

    /// Changes one; its reasons may be others then.
    pub(super) fn change<R>(&mut self, at: usize, change: impl FnOnce(&mut Refused<'a>) -> R) -> R {
        let one = self.all.get_mut(&at).expect("it stands in the line");
        let out = change(one);
        note(&mut self.spread, at, one);
        out
    }

    /// The first for which there is something, those before it being changed on the way.
    pub(super) fn first<R>(
        &mut self,
        mut change: impl FnMut(&mut Refused<'a>) -> Option<R>,
    ) -> Option<(usize, R)> {
        let spread = &mut self.spread;
        self.all.iter_mut().find_map(|(at, one)| {
            let found = change(one);
            note(spread, *at, one);
            Some((*at, found?))
        })
    }

    /// Whether no rule of spread refuses any.
    pub(super) fn has_no_spread(&self) -> bool {
        self.spread.is_empty()
    }

    /// Of those that a rule of spread refuses the ones of which that is so, in their order.
    pub(super) fn of_spread(&mut self, is_so: impl Fn(&mut Refused<'a>) -> bool) -> Vec<usize> {
        let all = &mut self.all;
        let mut so = |at: &usize| all.get_mut(at).is_some_and(&is_so);
        self.spread.iter().copied().filter(|at| so(at)).collect()
    }

    /// All of them, in their order.
    pub(super) fn into_vec(self) -> Vec<Refused<'a>> {
        self.all.into_values().collect()
    }
}

fn note(spread: &mut BTreeSet<usize>, at: usize, one: &Refused<'_>) {
    if one.reasons.contains(&ReasonCode::Spread) {
        spread.insert(at);
    } else {
        spread.remove(&at);
    }
}
