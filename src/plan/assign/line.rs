//! The clusters that were refused, in the order of the queue, and which of them a rule of spread refuses:
//! after each binding it is those alone that may have been let in.
//!
//! Those that are alike are refused together: what is so of one of them is so of all, and where one is let in it is the first.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{QueueingHint, Refused};
use crate::model::ReasonCode;
use crate::plan::queue::Waiting;
use crate::plan::signature::AlikeNumber;

/// Refused clusters, by their place in the queue.
#[derive(Debug, Default)]
pub(super) struct Line<'a> {
    /// Those that are alike, by number; `None` once there is none of them any more.
    all: Vec<Option<Box<RefusedAlike<'a>>>>,
    /// Their numbers, by the place of the first of each.
    first: BTreeMap<usize, usize>,
    /// Their numbers here, by that of those that are alike.
    numbers: Vec<Option<usize>>,
    spread: RefusedBySpread,
    added: usize,
}

/// Those that a rule of spread refuses, by number.
#[derive(Debug, Default)]
struct RefusedBySpread {
    /// Those that any binding may let in.
    by_any: BTreeSet<usize>,
    /// Those that wait for the fewest to rise.
    by_rise: BTreeSet<usize>,
}

impl RefusedBySpread {
    fn note(&mut self, number: usize, one: &Refused<'_>) {
        self.remove(number);
        if !one.reasons.contains(&ReasonCode::Spread) {
            return;
        }
        match one.hint {
            QueueingHint::Since(_) => self.by_rise.insert(number),
            QueueingHint::Any | QueueingHint::Floors(_) => self.by_any.insert(number),
        };
    }

    fn remove(&mut self, number: usize) {
        self.by_any.remove(&number);
        self.by_rise.remove(&number);
    }
}

/// Refused clusters that are alike.
#[derive(Debug)]
struct RefusedAlike<'a> {
    /// The place of the first in the queue.
    first: usize,
    /// The first, and what is said of each of them.
    said: Refused<'a>,
    /// The others, each with its place in the queue.
    others: VecDeque<(usize, Waiting<'a>)>,
}

impl<'a> Line<'a> {
    /// Adds one behind the others.
    pub(super) fn add(&mut self, one: Refused<'a>) {
        let (at, number) = (self.added, self.all.len());
        self.added += 1;
        self.spread.note(number, &one);
        if let Some(alike) = one.alike() {
            if self.numbers.len() <= alike.number() {
                self.numbers.resize(alike.number() + 1, None);
            }
            self.numbers[alike.number()] = Some(number);
        }
        self.first.insert(at, number);
        let alike = RefusedAlike { first: at, said: one, others: VecDeque::new() };
        self.all.push(Some(Box::new(alike)));
    }

    /// Adds one behind the others where some were refused that are like it.
    pub(super) fn join(&mut self, waiting: Waiting<'a>, alike: AlikeNumber) -> bool {
        let number = self.numbers.get(alike.number()).copied().flatten();
        let Some(found) = number.and_then(|number| self.all[number].as_mut()) else { return false };
        found.others.push_back((self.added, waiting));
        self.added += 1;
        true
    }

    /// Takes the first out of those that have a number.
    pub(super) fn remove_first(&mut self, number: usize) -> Waiting<'a> {
        let found = self.all[number].as_mut().expect("they stand in the line");
        let waiting = found.said.waiting;
        self.first.remove(&found.first);
        if let Some((next, other)) = found.others.pop_front() {
            (found.first, found.said.waiting) = (next, other);
            self.first.insert(next, number);
        } else {
            self.all[number] = None;
            self.spread.remove(number);
        }
        waiting
    }

    /// Changes what is said of those that have a number; their reasons may be others then.
    pub(super) fn change<R>(
        &mut self,
        number: usize,
        change: impl FnOnce(&mut Refused<'a>) -> R,
    ) -> Option<R> {
        let found = self.all[number].as_mut()?;
        let out = change(&mut found.said);
        self.spread.note(number, &found.said);
        Some(out)
    }

    /// The first for which there is something, those before it being changed on the way.
    pub(super) fn first<R>(
        &mut self,
        mut change: impl FnMut(&mut Refused<'a>) -> Option<R>,
    ) -> Option<(usize, R)> {
        let (all, spread) = (&mut self.all, &mut self.spread);
        self.first.values().find_map(|number| {
            let said = &mut all[*number].as_mut()?.said;
            let found = change(said);
            spread.note(*number, said);
            Some((*number, found?))
        })
    }

    /// Whether no rule of spread refuses any.
    pub(super) fn has_no_spread(&self) -> bool {
        self.spread.by_any.is_empty() && self.spread.by_rise.is_empty()
    }

    /// Of those that a rule of spread refuses the ones of which that is so, in the order of the first of each. Those that wait for
    /// the fewest to rise are asked where some may have.
    pub(super) fn of_spread(
        &mut self,
        is_raised: bool,
        mut is_so: impl FnMut(&mut Refused<'a>) -> bool,
    ) -> Vec<usize> {
        let all = &mut self.all;
        let so = |number: &usize| {
            let found = all[*number].as_mut()?;
            is_so(&mut found.said).then_some((found.first, *number))
        };
        let by_rise = is_raised.then_some(&self.spread.by_rise).into_iter().flatten();
        let mut so: Vec<_> = self.spread.by_any.iter().chain(by_rise).filter_map(so).collect();
        so.sort_unstable();
        so.into_iter().map(|(_, number)| number).collect()
    }

    /// All of them, in their order.
    pub(super) fn into_vec(self) -> Vec<Refused<'a>> {
        let mut all: Vec<(usize, Refused<'a>)> = Vec::with_capacity(self.added);
        for alike in self.all.into_iter().flatten() {
            let RefusedAlike { first, said, others } = *alike;
            let one = |(at, waiting)| (at, Refused { waiting, ..said.clone() });
            all.extend(others.into_iter().map(one));
            all.push((first, said));
        }
        all.sort_unstable_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, one)| one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::queue::sort_queue;
    use crate::plan::world::World;

    /// The names in a line, in their order.
    fn names(line: Line<'_>) -> Vec<String> {
        line.into_vec().iter().map(|one| one.waiting.cluster.name.to_string()).collect()
    }

    #[test]
    fn those_that_are_alike_stand_where_they_came() {
        let world = World::read("cluster a; cluster b; cluster c; cluster d; cluster e");
        let input = world.input();
        let queue = sort_queue(&input, &[].into());
        let [a, b, c, d, last] = [0, 1, 2, 3, 4].map(|at: usize| queue[at]);
        let mut line = Line::default();
        let alike = |number: usize| AlikeNumber::new(3, number);
        assert!(!line.join(a, alike(0)), "there are none yet");
        line.add(Refused::before(Waiting { alike: Some(alike(0)), ..a }, None));
        line.add(Refused::before(b, None));
        assert!(line.join(c, alike(0)) && !line.join(d, alike(1)));
        line.add(Refused::before(Waiting { alike: Some(alike(1)), ..d }, None));
        assert!(line.join(last, alike(0)));
        let first = |line: &mut Line<'_>, but: &str| {
            let found = line.first(|one| (one.waiting.cluster.name.as_str() != but).then_some(()));
            found.map(|(number, ())| number)
        };
        assert_eq!((first(&mut line, ""), first(&mut line, "a")), (Some(0), Some(1)));
        assert_eq!(line.remove_first(0).cluster.name, a.cluster.name);
        // The next of those that are like it stands behind `b`.
        assert_eq!((first(&mut line, ""), first(&mut line, "b")), (Some(1), Some(0)));
        assert_eq!(line.remove_first(0).cluster.name, c.cluster.name);
        assert_eq!(line.remove_first(0).cluster.name, last.cluster.name);
        assert!(!line.join(last, alike(0)), "none of them is there any more");
        assert_eq!(line.change(0, |_| ()), None);
        assert_eq!(names(line), ["b", "d"]);
    }
}
