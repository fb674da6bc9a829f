//! The workers by all their domains at once, as far as a rule tells domains apart: worked out once for each set of keys, for there
//! are many classes with the same.

use std::collections::BTreeMap;

use crate::model::topology;
use crate::plan::worker_states::WorkerStates;

/// The sets of domains that some keys make of the workers. They have numbers, in the order of the domains.
#[derive(Clone, Debug)]
pub(super) struct DomainSets {
    /// By the place of a worker, its set; `None` where it has no document.
    pub(super) of: Vec<Option<usize>>,
    /// The first worker of each set.
    pub(super) samples: Vec<usize>,
}

impl DomainSets {
    /// By these keys; without any all workers are in one.
    pub(super) fn new(keys: &[&str], states: &WorkerStates<'_>) -> Self {
        let mut sets: BTreeMap<Vec<Option<&str>>, Vec<usize>> = BTreeMap::new();
        for (place, candidate) in states.places() {
            let Some(worker) = candidate.worker else { continue };
            let domains = keys.iter().map(|key| topology::domain(key, worker)).collect();
            sets.entry(domains).or_default().push(place);
        }
        let mut of = vec![None; states.len()];
        for (set, places) in sets.values().enumerate() {
            for place in places {
                of[*place] = Some(set);
            }
        }
        Self { of, samples: sets.values().map(|places| places[0]).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::cycle;
    use crate::plan::world::World;

    #[test]
    fn workers_in_the_same_domains_are_in_one_set() {
        let world = World::read(
            "worker w1 at=westeurope label:zone=2; worker w2 at=eastus label:zone=1;
             worker w3 at=westeurope label:zone=1; worker w4 at=eastus label:zone=1; worker w5 at=eastus",
        );
        let input = world.input();
        let run = cycle::begin(&input);
        let of = |keys: &[&str]| {
            let DomainSets { of, samples } = DomainSets::new(keys, &run.states);
            (of.into_iter().flatten().collect::<Vec<_>>(), samples)
        };
        assert_eq!(of(&[]), (vec![0; 5], vec![0]));
        assert_eq!(of(&["zone"]), (vec![2, 1, 1, 1, 0], vec![4, 1, 0]));
        assert_eq!(of(&["carp.dev/location", "zone"]), (vec![3, 1, 2, 1, 0], vec![4, 1, 2, 0]));
    }
}
