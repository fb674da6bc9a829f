//! The clusters of one part of a group, by the worker on which they are.

use crate::model::Name;
use crate::plan::lookup::LookupMap;

/// The clusters of one part of a group.
#[derive(Clone, Debug, Default)]
pub(in crate::plan) struct PartCounts<'a> {
    /// At which binding it changed last.
    pub(super) changed: u64,
    /// In no order.
    there: Vec<ClustersThere<'a>>,
    /// Where the workers are in it, by place, once these are too many to be looked through.
    index: Option<Box<LookupMap<usize, usize>>>,
    /// The places of the workers of those that came, in that order.
    arrivals: Few<usize>,
}

/// The most workers of a part that are looked through.
const FEW: usize = if cfg!(test) { 2 } else { 8 };

/// The clusters of a part on one worker.
#[derive(Clone, Debug)]
struct ClustersThere<'a> {
    place: usize,
    /// In no order, at least one.
    names: Few<&'a Name>,
}

/// A list of which the first stands where the list does: most parts are of one cluster, and there may be as many as clusters.
#[derive(Clone, Debug)]
struct Few<T> {
    first: Option<T>,
    others: Vec<T>,
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self { first: None, others: Vec::new() }
    }
}

impl<T: Copy> Few<T> {
    fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }

    fn iter(&self) -> impl Iterator<Item = T> {
        self.first.iter().chain(&self.others).copied()
    }

    /// Those behind so many.
    fn behind(&self, count: usize) -> impl Iterator<Item = T> {
        let first = self.first.iter().skip(count);
        first.chain(self.others.iter().skip(count.saturating_sub(1))).copied()
    }

    fn push(&mut self, one: T) {
        if self.first.is_none() {
            self.first = Some(one);
        } else {
            self.others.push(one);
        }
    }

    fn remove(&mut self, is_it: impl Fn(T) -> bool) {
        self.others.retain(|other| !is_it(*other));
        if self.first.is_some_and(is_it) {
            self.first = self.others.pop();
        }
    }
}

impl<'a> PartCounts<'a> {
    /// How many are on the worker at a place.
    pub(in crate::plan) fn on(&self, place: usize) -> usize {
        self.find(place).map_or(0, |at| self.there[at].names.len())
    }

    /// The places of the workers that have some, in no order, each with how many.
    pub(in crate::plan) fn workers(&self) -> impl Iterator<Item = (usize, usize)> {
        self.there.iter().map(|there| (there.place, there.names.len()))
    }

    /// The same, each with who is there, in no order.
    pub(in crate::plan) fn clusters(
        &self,
    ) -> impl Iterator<Item = (usize, impl Iterator<Item = &'a Name>)> {
        self.there.iter().map(|there| (there.place, there.names.iter()))
    }

    /// How many came.
    pub(in crate::plan) fn arrivals(&self) -> usize {
        self.arrivals.len()
    }

    /// The places of the workers of those that came after so many, in that order.
    pub(in crate::plan) fn arrivals_after(&self, count: usize) -> impl Iterator<Item = usize> {
        self.arrivals.behind(count)
    }

    /// Whether there are none.
    pub(in crate::plan) fn is_empty(&self) -> bool {
        self.there.is_empty()
    }

    /// Adds those that were on a worker before anything was placed.
    pub(super) fn add(&mut self, place: usize, names: Vec<&'a Name>) {
        if let Some((first, others)) = names.split_first() {
            *self.names(place) = Few { first: Some(first), others: others.to_vec() };
        }
    }

    /// Adds one that comes to a worker at this binding, and may be there already where it is not new.
    pub(super) fn arrive(&mut self, place: usize, (name, is_new): (&'a Name, bool), now: u64) {
        self.changed = now;
        let names = self.names(place);
        let is_there = || names.iter().any(|there| there == name);
        debug_assert!(!is_new || !is_there(), "{name} waits and is placed");
        if !is_new && is_there() {
            return;
        }
        names.push(name);
        self.arrivals.push(place);
    }

    /// Takes one off a worker.
    pub(super) fn leave(&mut self, place: usize, name: &Name) {
        let Some(at) = self.find(place) else { return };
        let names = &mut self.there[at].names;
        names.remove(|there| there == name);
        if names.len() == 0 {
            self.there.swap_remove(at);
            self.index = None;
        }
    }

    fn names(&mut self, place: usize) -> &mut Few<&'a Name> {
        if self.there.is_empty() {
            self.there.reserve_exact(1);
        }
        let at = self.find(place).unwrap_or_else(|| {
            self.there.push(ClustersThere { place, names: Few::default() });
            self.note_last();
            self.there.len() - 1
        });
        &mut self.there[at].names
    }

    fn find(&self, place: usize) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(&place).copied(),
            None => self.there.iter().position(|there| there.place == place),
        }
    }

    /// Adds the last worker to the index, and all of them where there is none.
    fn note_last(&mut self) {
        if self.there.len() <= FEW {
            return;
        }
        let places = self.there.iter().map(|there| there.place).zip(0..);
        if let Some(index) = &mut self.index {
            index.extend(places.skip(index.len()));
        } else {
            self.index = Some(Box::new(places.collect()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    fn told(part: &PartCounts<'_>) -> String {
        let clusters = part.clusters().map(|(place, names)| {
            let names: Vec<&str> = names.map(Name::as_str).collect();
            format!("{place}: {}", names.join(" "))
        });
        clusters.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn those_that_come_and_leave_are_counted_where_they_are() {
        let (a, b, c) = (name("a"), name("b"), name("c"));
        let mut part = PartCounts::default();
        part.add(4, vec![&b]);
        part.add(6, Vec::new());
        part.arrive(7, (&c, true), 1);
        part.arrive(4, (&a, true), 2);
        assert_eq!(told(&part), "4: b a; 7: c");
        assert_eq!((part.on(4), part.on(5), part.changed), (2, 0, 2));
        assert_eq!(part.workers().collect::<Vec<_>>(), [(4, 2), (7, 1)]);
        let after = |count| part.arrivals_after(count).collect::<Vec<_>>();
        assert_eq!([after(0), after(1), after(2)], [vec![7, 4], vec![4], vec![]]);
        part.leave(4, &b);
        part.leave(5, &b);
        part.leave(7, &c);
        assert_eq!(told(&part), "4: a");
        part.leave(4, &a);
        assert!(part.is_empty());
    }

    #[test]
    fn a_part_on_more_workers_than_are_looked_through_finds_each() {
        let (a, b) = (name("a"), name("b"));
        let mut part = PartCounts::default();
        let places: Vec<usize> = (0..3 * FEW).map(|number| 7 * number % 11).collect();
        let on = |part: &PartCounts<'_>| places.iter().map(|at| part.on(*at)).collect::<Vec<_>>();
        for (before, place) in places.iter().enumerate() {
            assert_eq!(part.on(*place), 0);
            part.arrive(*place, (&a, true), 1);
            assert_eq!(on(&part).iter().sum::<usize>(), before + 1);
        }
        // Who leaves takes its worker out of the middle, and others come there again.
        part.leave(places[0], &a);
        assert_eq!((part.on(places[0]), part.workers().count()), (0, places.len() - 1));
        for place in &places {
            part.arrive(*place, (&b, true), 2);
        }
        let both = (0..places.len()).map(|number| if number == 0 { 1 } else { 2 });
        assert_eq!(on(&part), both.collect::<Vec<_>>());
        assert_eq!(part.workers().count(), places.len());
    }

    #[test]
    fn one_that_is_there_already_comes_once() {
        let a = name("a");
        let mut part = PartCounts::default();
        part.add(1, vec![&a]);
        part.arrive(1, (&a, false), 3);
        assert_eq!((part.on(1), part.arrivals(), part.changed), (1, 0, 3));
        part.arrive(2, (&a, false), 4);
        assert_eq!((told(&part), part.arrivals()), ("1: a; 2: a".to_owned(), 1));
    }
}
