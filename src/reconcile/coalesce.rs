//! When the status branch gets its next commit, and what of the inputs is foreign.

use jiff::{SignedDuration, Timestamp};

use crate::model::{Digest, Id};

/// When something may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Now.
    Now,
    /// Then, and not before.
    At(Timestamp),
}

/// When the status branch may get its next commit: `pause` seconds after the last one. That one's time
/// is its committer time, so the answer follows from the branch and the time of the run alone. A clock
/// that went back must not silence the branch: a last commit from the future makes no one wait.
pub(super) fn due(last: Option<Timestamp>, now: Timestamp, pause: u32) -> Due {
    let Some(last) = last.filter(|last| *last <= now) else { return Due::Now };
    match last.checked_add(SignedDuration::from_secs(i64::from(pause))) {
        Ok(due) if now < due => Due::At(due),
        _ => Due::Now,
    }
}

/// The digest of what others decide: the input commit, and what the workers say.
pub(super) fn inputs(input: Id, reported: Digest) -> Digest {
    Digest::of_value(&(input, reported))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_status_commit_waits_for_the_pause_after_the_last_one() {
        let last = Some(at("2026-11-01T00:00:00Z"));
        let next = at("2026-11-01T00:01:00Z");
        assert_eq!(due(last, at("2026-11-01T00:00:59Z"), 60), Due::At(next));
        assert_eq!(due(last, next, 60), Due::Now);
        assert_eq!(due(None, next, 60), Due::Now, "the first one");
        assert_eq!(due(last, at("2026-11-01T00:00:00Z"), 0), Due::Now, "a run of its own");
    }

    #[test]
    fn a_clock_that_went_back_makes_nobody_wait() {
        let tomorrow = Some(at("2026-11-02T00:00:00Z"));
        assert_eq!(due(tomorrow, at("2026-11-01T00:00:00Z"), 60), Due::Now);
    }

    #[test]
    fn another_input_or_another_word_of_a_worker_is_news() {
        let (one, two) = (Id::from_bytes([1; 20]), Id::from_bytes([2; 20]));
        let (running, degraded) = (Digest::of(b"running"), Digest::of(b"degraded"));
        assert_eq!(inputs(one, running), inputs(one, running));
        assert_ne!(inputs(one, running), inputs(one, degraded));
        assert_ne!(inputs(one, running), inputs(two, running));
    }
}
