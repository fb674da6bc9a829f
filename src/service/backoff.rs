//! Pauses after failures, and what makes them differ, so that processes that were started together do not ask
//! one host all at once.

use std::time::Duration;

/// The pause after that many failures in a row (from 1): it doubles from `first` to `most`.
#[must_use]
pub fn doubled(first: Duration, most: Duration, failures: u32) -> Duration {
    first.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(most)
}

/// Random parts of durations; the seed makes two processes differ.
#[derive(Clone, Debug)]
pub struct Jitter(u64);

impl Jitter {
    /// The same seed gives the same parts.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Somewhere in the upper half of a pause.
    pub fn upper_half(&mut self, whole: Duration) -> Duration {
        whole / 2 + self.up_to(whole / 2)
    }

    /// A duration below `most`.
    pub fn up_to(&mut self, most: Duration) -> Duration {
        let most = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(self.next() % most.max(1))
    }

    /// A number below 1000.
    pub fn per_mille(&mut self) -> u32 {
        u32::try_from(self.next() % 1000).unwrap_or(0)
    }

    /// The next random number: splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
    /// generators").
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_pause_doubles_up_to_the_most_however_many_failures_there_were() {
        let pause = |failures| doubled(SECOND * 2, SECOND * 300, failures).as_secs();
        let pauses: Vec<_> = [0, 1, 2, 3, 8, 9, u32::MAX].map(pause).into();
        assert_eq!(pauses, [2, 2, 4, 8, 256, 300, 300]);
    }

    #[test]
    fn parts_are_within_their_bounds_and_differ_by_seed() {
        let of = |seed| {
            let mut jitter = Jitter::new(seed);
            [jitter.upper_half(SECOND), jitter.upper_half(SECOND)]
        };
        for seed in 0..100 {
            assert!(of(seed).iter().all(|part| (SECOND / 2..SECOND).contains(part)));
        }
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert_ne!(of(1)[0], of(1)[1]);
        assert_eq!(Jitter::new(1).up_to(Duration::ZERO), Duration::ZERO);
        assert!((0..1000).all(|seed| Jitter::new(seed).per_mille() < 1000));
    }
}
