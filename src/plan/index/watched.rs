//! The tallies on which refused clusters wait: a domain that is full opens by a rise of the fewest alone, so nobody need be looked at
//! again where these are as few as before.

use std::collections::BTreeSet;

use super::tallies::Tallies;
use crate::plan::lookup::LookupMap;
use crate::plan::worker_states::WorkerStates;

/// The tallies on which refused clusters wait.
#[derive(Clone, Debug, Default)]
pub(super) struct WatchedTallies {
    /// Their numbers, by that of the part of a group that they count.
    by_part: LookupMap<usize, BTreeSet<usize>>,
    /// How many bindings there had been when they were looked at last.
    looked: u64,
    /// How often one was seen to rise.
    rises: u64,
}

impl WatchedTallies {
    /// Begins anew. Those that waited may have missed something.
    pub(super) fn clear(&mut self) {
        self.by_part.clear();
        self.rises += 1;
    }

    /// Adds a tally, which counts the clusters of the part with this number.
    pub(super) fn add(&mut self, part: usize, tally: usize) {
        self.by_part.entry(part).or_default().insert(tally);
    }

    /// A number that is another than before where the fewest of one of them have risen since. After each binding those are looked at
    /// that count what has come.
    pub(super) fn rises<'a>(
        &mut self,
        tallies: &mut Tallies<'a>,
        states: &WorkerStates<'a>,
    ) -> u64 {
        let (now, looked) = (states.counts.now(), self.looked);
        let mut count = 0;
        let mut look = |watched: &BTreeSet<usize>| {
            let risen = watched.iter().filter(|at| tallies.now(**at, states).min_raised > looked);
            count += risen.count() as u64;
        };
        if looked + 1 == now {
            let parts = states.counts.last_parts().iter();
            parts.filter_map(|part| self.by_part.get(part)).for_each(&mut look);
        } else {
            self.by_part.values().for_each(&mut look);
        }
        self.looked = now;
        self.rises += count;
        self.rises
    }
}
