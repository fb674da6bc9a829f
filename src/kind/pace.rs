//! When a failure is tried again.

use std::time::Duration;

use super::reason::Retry;
use crate::service::{Jitter, doubled};

/// The first pause of those that grow.
const FIRST: Duration = Duration::from_secs(2);
/// The longest pause.
const MOST: Duration = Duration::from_secs(300);
/// The pause of what is tried again at once: never a busy loop.
const LEAST: Duration = Duration::from_millis(500);

/// The pause after that many failures in a row, from 1; `None` where only a change helps. The seed keeps
/// many objects that failed together from being tried together: a pause is somewhere in the upper half
/// of its length.
#[must_use]
pub fn pause(retry: Retry, failures: u32, seed: u64) -> Option<Duration> {
    let whole = match retry {
        Retry::Never => return None,
        // What fails at once again and again is no bad luck.
        Retry::Now if failures <= 3 => return Some(LEAST),
        Retry::Now | Retry::Backoff => doubled(FIRST, MOST, failures),
        Retry::Slow => MOST / 5,
    };
    Some(Jitter::new(seed ^ u64::from(failures)).upper_half(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_five_minutes_and_differ_between_objects() {
        for (failures, most) in [(1, 2), (2, 4), (3, 8), (8, 256), (9, 300), (1000, 300)] {
            let most = Duration::from_secs(most);
            for seed in 0..50 {
                let pause = pause(Retry::Backoff, failures, seed).unwrap();
                assert!(pause >= most / 2 && pause <= most, "{failures}: {pause:?}");
            }
        }
        let of = |seed| pause(Retry::Backoff, 5, seed);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn bad_luck_is_tried_at_once_but_not_for_ever() {
        assert_eq!(pause(Retry::Now, 1, 7), Some(LEAST));
        assert!(pause(Retry::Now, 9, 7).unwrap() > Duration::from_secs(100));
        assert_eq!(pause(Retry::Never, 1, 7), None);
        assert!(pause(Retry::Slow, 1, 7).unwrap() >= Duration::from_secs(30));
    }
}
