//! The clusters of one part of a group, by the worker on which they are.

use crate::model::Name;

/// The clusters of one part of a group.
#[derive(Clone, Debug, Default)]
pub(in crate::plan) struct PartCounts<'a> {
    /// At which binding it changed last.
    pub(super) changed: u64,
    /// In the order of the places.
    there: Vec<ClustersThere<'a>>,
    /// The places of the workers of those that came, in that order.
    pub(in crate::plan) arrivals: Vec<usize>,
}

/// The clusters of a part on one worker.
#[derive(Clone, Debug)]
struct ClustersThere<'a> {
    place: usize,
    /// In no order, at least one.
    names: Vec<&'a Name>,
}

impl<'a> PartCounts<'a> {
    /// Those on the worker at a place, in no order.
    pub(in crate::plan) fn on(&self, place: usize) -> &[&'a Name] {
        self.find(place).map_or(&[], |at| &self.there[at].names)
    }

    /// The places of the workers that have some, each with these in no order.
    pub(in crate::plan) fn workers(&self) -> impl Iterator<Item = (usize, &[&'a Name])> {
        self.there.iter().map(|there| (there.place, &*there.names))
    }

    /// Whether there are none.
    pub(in crate::plan) fn is_empty(&self) -> bool {
        self.there.is_empty()
    }

    /// Adds those that were on a worker before anything was placed.
    pub(super) fn add(&mut self, place: usize, names: Vec<&'a Name>) {
        if !names.is_empty() {
            *self.names(place) = names;
        }
    }

    /// Adds one that comes to a worker at this binding, and may be there already where it is not new.
    pub(super) fn arrive(&mut self, place: usize, (name, is_new): (&'a Name, bool), now: u64) {
        self.changed = now;
        let names = self.names(place);
        debug_assert!(!is_new || !names.contains(&name), "{name} waits and is placed");
        if !is_new && names.contains(&name) {
            return;
        }
        names.push(name);
        if self.arrivals.is_empty() {
            self.arrivals.reserve_exact(1);
        }
        self.arrivals.push(place);
    }

    /// Takes one off a worker.
    pub(super) fn leave(&mut self, place: usize, name: &Name) {
        let Ok(at) = self.find(place) else { return };
        let names = &mut self.there[at].names;
        names.retain(|there| *there != name);
        if names.is_empty() {
            self.there.remove(at);
        }
    }

    fn names(&mut self, place: usize) -> &mut Vec<&'a Name> {
        if self.there.is_empty() {
            // Most parts are small, and there may be as many as clusters.
            self.there.reserve_exact(1);
        }
        let at = self.find(place).unwrap_or_else(|at| {
            self.there.insert(at, ClustersThere { place, names: Vec::with_capacity(1) });
            at
        });
        &mut self.there[at].names
    }

    fn find(&self, place: usize) -> Result<usize, usize> {
        self.there.binary_search_by_key(&place, |there| there.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    fn told(part: &PartCounts<'_>) -> String {
        let worker = |(place, names): (usize, &[&Name])| {
            let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
            format!("{place}: {}", names.join(" "))
        };
        part.workers().map(worker).collect::<Vec<_>>().join("; ")
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
        assert_eq!((part.on(4).len(), part.on(5).len(), part.changed), (2, 0, 2));
        assert_eq!(part.arrivals, [7, 4]);
        part.leave(4, &b);
        part.leave(5, &b);
        part.leave(7, &c);
        assert_eq!(told(&part), "4: a");
        part.leave(4, &a);
        assert!(part.is_empty());
    }

    #[test]
    fn one_that_is_there_already_comes_once() {
        let a = name("a");
        let mut part = PartCounts::default();
        part.add(1, vec![&a]);
        part.arrive(1, (&a, false), 3);
        assert_eq!((part.on(1).len(), part.arrivals.len(), part.changed), (1, 0, 3));
        part.arrive(2, (&a, false), 4);
        assert_eq!((told(&part), &*part.arrivals), ("1: a; 2: a".to_owned(), &[2][..]));
    }
}
