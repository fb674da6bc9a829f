//! What ends a pause: a hint, the lead, a stop.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::model::words::words;

words! {
    /// Who says that something may have changed. None of them is trusted: a turn looks for itself.
    pub Hint:
    /// A webhook was called.
    Hook = "hook",
    /// A ref in a folder changed.
    Folder = "folder",
}

/// Why a pause ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Its time was up.
    Time,
    /// Somebody said that something may have changed.
    Hinted(BTreeSet<Hint>),
    /// The lead was lost.
    LostLeadership,
    /// The controller is to stop.
    Stopped,
}

/// Wakes the loop. Rings while a turn runs are kept for the pause after it.
#[derive(Debug, Default)]
pub struct Wakeup {
    state: Mutex<WakeupState>,
    rung: Condvar,
}

#[derive(Debug, Default)]
struct WakeupState {
    hints: BTreeSet<Hint>,
    is_follower: bool,
    is_stopped: bool,
}

impl Wakeup {
    /// Something may have changed.
    pub fn ring(&self, hint: Hint) {
        self.state().hints.insert(hint);
        self.rung.notify_all();
    }

    /// Whether this controller acts. Without an election it always does.
    pub fn lead(&self, leads: bool) {
        self.state().is_follower = !leads;
        self.rung.notify_all();
    }

    /// The controller is to stop, after the turn that runs.
    pub fn stop(&self) {
        self.state().is_stopped = true;
        self.rung.notify_all();
    }

    /// Whether the controller is to stop.
    pub fn is_stopped(&self) -> bool {
        self.state().is_stopped
    }

    /// Whether this controller acts.
    pub fn leads(&self) -> bool {
        !self.state().is_follower
    }

    /// Waits for the lead. `false`: the controller is to stop.
    pub fn wait_for_lead(&self) -> bool {
        let waits = |state: &mut WakeupState| state.is_follower && !state.is_stopped;
        let state = self.rung.wait_while(self.state(), waits);
        !state.unwrap_or_else(PoisonError::into_inner).is_stopped
    }

    /// Waits at most so long.
    pub fn wait(&self, pause: Duration) -> Woken {
        let quiet = |s: &mut WakeupState| s.hints.is_empty() && !s.is_follower && !s.is_stopped;
        let waited = self.rung.wait_timeout_while(self.state(), pause, quiet);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.is_stopped {
            Woken::Stopped
        } else if state.is_follower {
            Woken::LostLeadership
        } else if state.hints.is_empty() {
            Woken::Time
        } else {
            Woken::Hinted(std::mem::take(&mut state.hints))
        }
    }

    /// Waits exactly so long, for more hints to come, unless the controller is to stop. What came is
    /// forgotten: the turn that follows sees it all.
    pub fn settle(&self, pause: Duration) {
        let goes_on = |state: &mut WakeupState| !state.is_stopped;
        let waited = self.rung.wait_timeout_while(self.state(), pause, goes_on);
        waited.unwrap_or_else(PoisonError::into_inner).0.hints.clear();
    }

    /// What is in there is whole at every moment, so a thread that panicked does no harm.
    fn state(&self) -> MutexGuard<'_, WakeupState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn a_ring_before_the_pause_counts_and_once_only() {
        let wakeup = Wakeup::default();
        wakeup.ring(Hint::Hook);
        wakeup.ring(Hint::Folder);
        assert_eq!(wakeup.wait(LONG), Woken::Hinted([Hint::Hook, Hint::Folder].into()));
        assert_eq!(wakeup.wait(Duration::ZERO), Woken::Time);
    }

    #[test]
    fn a_stop_ends_every_wait() {
        let wakeup = Arc::new(Wakeup::default());
        wakeup.lead(false);
        let waiting = Arc::clone(&wakeup);
        let waiting = std::thread::spawn(move || waiting.wait_for_lead());
        wakeup.stop();
        assert!(!waiting.join().unwrap());
        assert_eq!(wakeup.wait(LONG), Woken::Stopped);
        wakeup.settle(LONG);
    }

    #[test]
    fn losing_the_lead_ends_a_pause() {
        let wakeup = Wakeup::default();
        assert!(wakeup.wait_for_lead(), "without an election everybody leads");
        wakeup.lead(false);
        assert_eq!(wakeup.wait(LONG), Woken::LostLeadership);
        wakeup.lead(true);
        assert!(wakeup.wait_for_lead());
    }
}
