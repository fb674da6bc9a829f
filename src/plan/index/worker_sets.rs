//! The workers in sets that no class tells apart, each with a heap for what clusters take.
//!
//! The tiers of many classes overlap: all workers of a location, those of one of its zones, those without a taint. With a heap for
//! each tier a worker stands in as many heaps as there are tiers that have it, and is put in order again in all of them for each
//! cluster that it is given. So a tier is made of sets, which are split where a new tier has a part of one, and the best of a tier
//! is the best of its sets. Where these are too many to be looked through the tier is a set of its own.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::heap::Heap;
use super::rooms::{NumberedDemand, Rooms};
use crate::plan::worker_states::WorkerStates;

/// The most sets of a tier that are looked through. To look at the first of a heap takes a tenth of what it takes to put a worker
/// in order. The fleets of the laws are small, and shall have both.
const MOST_SETS: usize = if cfg!(test) { 3 } else { 16 };

/// The workers by set.
#[derive(Clone, Debug, Default)]
pub(super) struct WorkerSets {
    /// The places of the workers of each set, those of sets that were split included.
    list: Vec<Rc<[usize]>>,
    /// By the place of a worker, the set that no class tells apart.
    of: Vec<usize>,
    /// The sets that were split, in that order.
    splits: Vec<Split>,
    /// The tiers that are sets of their own.
    whole: BTreeMap<Rc<[usize]>, usize>,
    /// By the number of what clusters take and that of the set.
    heaps: Vec<Vec<Option<Heap>>>,
    /// How many places of workers are kept, or what takes as much room.
    pub(super) kept: usize,
}

/// A set that was split, and the two that are there in its place.
#[derive(Clone, Copy, Debug)]
struct Split {
    set: usize,
    into: [usize; 2],
}

/// The sets of which a tier is made, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct SetsOfTier {
    numbers: Vec<usize>,
    /// How many splits there had been; `None` where the tier is a set of its own.
    splits: Option<usize>,
}

impl WorkerSets {
    /// The sets of a tier of workers at these places.
    pub(super) fn add(&mut self, places: &[usize], states: &WorkerStates<'_>) -> SetsOfTier {
        if self.list.is_empty() {
            self.of = vec![0; states.len()];
            self.push((0..states.len()).collect());
        }
        let mut inside: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for place in places {
            inside.entry(self.of[*place]).or_default().push(*place);
        }
        let numbers = inside.into_iter().map(|(set, inside)| self.part(set, &inside)).collect();
        SetsOfTier { numbers, splits: Some(self.splits.len()) }
    }

    /// The set of these workers, which are some of a set or all of it.
    fn part(&mut self, set: usize, inside: &[usize]) -> usize {
        if inside.len() == self.list[set].len() {
            return set;
        }
        let new = self.push(inside.into());
        for place in inside {
            self.of[*place] = new;
        }
        let others = self.list[set].iter().copied().filter(|place| self.of[*place] == set);
        let others = self.push(others.collect());
        for place in &*self.list[others] {
            self.of[*place] = others;
        }
        self.splits.push(Split { set, into: [new, others] });
        new
    }

    fn push(&mut self, places: Rc<[usize]>) -> usize {
        self.kept += places.len();
        self.list.push(places);
        self.list.len() - 1
    }

    /// The numbers of a tier's sets, as they are now.
    pub(super) fn now<'t>(
        &mut self,
        tier: &'t mut SetsOfTier,
        places: &Rc<[usize]>,
    ) -> &'t [usize] {
        let Some(splits) = tier.splits else { return &tier.numbers };
        for Split { set, into } in &self.splits[splits..] {
            if let Some(at) = tier.numbers.iter().position(|number| number == set) {
                tier.numbers[at] = into[0];
                tier.numbers.push(into[1]);
            }
        }
        tier.splits = Some(self.splits.len());
        if tier.numbers.len() > MOST_SETS {
            *tier = SetsOfTier { numbers: vec![self.whole(places)], splits: None };
        }
        &tier.numbers
    }

    /// The set of its own that a tier is.
    fn whole(&mut self, places: &Rc<[usize]>) -> usize {
        if let Some(known) = self.whole.get(places) {
            return *known;
        }
        let number = self.push(Rc::clone(places));
        self.whole.insert(Rc::clone(places), number);
        number
    }

    /// The heap of a set.
    pub(super) fn heap(
        &mut self,
        set: usize,
        demand: NumberedDemand<'_>,
        rooms: &mut Rooms,
        states: &WorkerStates<'_>,
    ) -> &mut Heap {
        let number = demand.number as usize;
        if self.heaps.len() <= number {
            self.heaps.resize_with(number + 1, Vec::new);
        }
        let heaps = &mut self.heaps[number];
        if heaps.len() <= set {
            self.kept += set + 1 - heaps.len();
            heaps.resize_with(set + 1, || None);
        }
        heaps[set].get_or_insert_with(|| {
            rooms.add(demand.number, demand.amounts, states);
            self.kept += self.list[set].len();
            Heap::new(&self.list[set], demand.number, rooms, states)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::cycle;
    use crate::plan::world::World;

    /// The places in the sets of each of these tiers, once all of them are there.
    fn sets(workers: usize, tiers: &[&[usize]]) -> Vec<Vec<Vec<usize>>> {
        let workers: Vec<_> = (0..workers).map(|number| format!("worker w{number:02}")).collect();
        let world = World::read(&workers.join("; "));
        let input = world.input();
        let run = cycle::begin(&input);
        let mut sets = WorkerSets::default();
        let add = |places: &&[usize]| (Rc::from(*places), sets.add(places, &run.states));
        let tiers: Vec<(Rc<[usize]>, SetsOfTier)> = tiers.iter().map(add).collect();
        let mut now = |(places, mut tier): (Rc<[usize]>, SetsOfTier)| {
            let numbers = sets.now(&mut tier, &places).to_vec();
            let mut of: Vec<_> = numbers.iter().map(|set| sets.list[*set].to_vec()).collect();
            of.sort_unstable();
            of
        };
        tiers.into_iter().map(&mut now).collect()
    }

    #[test]
    fn tiers_share_the_sets_of_which_they_are_made() {
        let all = [0, 1, 2, 3, 4, 5];
        assert_eq!(sets(6, &[&all]), [[all.to_vec()]]);
        let two: [&[usize]; 2] = [&[0, 1, 2, 3], &[2, 3, 4]];
        assert_eq!(sets(6, &two), [vec![vec![0, 1], vec![2, 3]], vec![vec![2, 3], vec![4]]]);
        let three: [&[usize]; 3] = [&all, &[1, 4], &[4]];
        let of_all = vec![vec![0, 2, 3, 5], vec![1], vec![4]];
        assert_eq!(sets(6, &three), [of_all, vec![vec![1], vec![4]], vec![vec![4]]]);
    }

    #[test]
    fn a_tier_of_too_many_sets_is_one_of_its_own() {
        let each: Vec<[usize; 1]> = (0..5).map(|place| [place]).collect();
        let (few, all): (Vec<usize>, Vec<usize>) = ((0..MOST_SETS).collect(), (0..5).collect());
        let of = |first: &[usize]| {
            let each = each.iter().map(|one| &one[..]);
            let tiers: Vec<&[usize]> = [first, &all].into_iter().chain(each).collect();
            let sets = sets(5, &tiers);
            [sets[0].len(), sets[1].len(), sets[2].len()]
        };
        assert_eq!(of(&few), [MOST_SETS, 1, 1]);
        assert_eq!(of(&all), [1, 1, 1]);
    }
}
