//! Whether the controller lives and whether it does its work: what `/healthz` and `/readyz` say.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::model::{Turn, TurnOutcome};

/// After how many failures in a row the controller counts as degraded: one is mostly the network.
const DEGRADED_AFTER: u32 = 3;
/// How long one turn may take before the process counts as stuck. Git itself is given up after half an
/// hour of a transfer.
const STUCK_AFTER: SignedDuration = SignedDuration::from_hours(1);

/// What `/readyz` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// No turn ended yet.
    Starting,
    /// The last turn went well.
    Ready,
    /// Another one leads; this one waits for its turn.
    Standby,
    /// The controller runs, and does not do its work.
    Degraded {
        /// Why.
        reason: String,
    },
    /// The controller was told to stop.
    Stopping,
}

impl Readiness {
    /// Whether that counts as ready.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        matches!(self, Self::Ready | Self::Standby)
    }
}

impl fmt::Display for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Starting => f.write_str("starting: no turn ended yet"),
            Self::Ready => f.write_str("ready"),
            Self::Standby => f.write_str("standby: another one leads"),
            Self::Degraded { reason } => write!(f, "degraded: {reason}"),
            Self::Stopping => f.write_str("stopping"),
        }
    }
}

/// What is known of the controller's health.
#[derive(Debug, Default)]
pub struct Health {
    state: Mutex<HealthState>,
}

#[derive(Debug, Default)]
struct HealthState {
    is_standby: bool,
    is_stopping: bool,
    running_since: Option<Timestamp>,
    has_ended: bool,
    failures: u32,
    trouble: Option<String>,
}

impl Health {
    /// Another one leads, or this one does again.
    pub fn standby(&self, is_standby: bool) {
        self.state().is_standby = is_standby;
    }

    /// The controller was told to stop.
    pub fn stopping(&self) {
        self.state().is_stopping = true;
    }

    /// A turn begins.
    pub fn began(&self, now: Timestamp) {
        self.state().running_since = Some(now);
    }

    /// A turn ended, the n-th failure in a row where it failed.
    pub fn ended(&self, turn: &Turn, failures: u32) {
        let mut state = self.state();
        state.running_since = None;
        state.has_ended = true;
        state.failures = failures;
        state.trouble = match turn.outcome {
            TurnOutcome::Committed | TurnOutcome::Unchanged => None,
            TurnOutcome::Stopped | TurnOutcome::Held => Some(turn.summary.clone()),
            TurnOutcome::Failed => turn.failure.as_ref().map(|f| f.message.clone()),
        };
    }

    /// What `/readyz` says.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        let state = self.state();
        // A first turn that fails never was ready; later, one failure is forgiven.
        let counts = state.failures == 0 || state.failures >= DEGRADED_AFTER;
        match &state.trouble {
            _ if state.is_stopping => Readiness::Stopping,
            _ if state.is_standby => Readiness::Standby,
            _ if !state.has_ended => Readiness::Starting,
            Some(reason) if counts => Readiness::Degraded { reason: reason.clone() },
            _ => Readiness::Ready,
        }
    }

    /// What `/healthz` says: `None` where all is well, else why the process should be started anew.
    #[must_use]
    pub fn stuck(&self, now: Timestamp) -> Option<String> {
        let since = self.state().running_since?;
        (now.duration_since(since) > STUCK_AFTER)
            .then(|| format!("the turn that began at {since} has not ended"))
    }

    fn state(&self) -> MutexGuard<'_, HealthState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FailureKind;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn failed() -> Turn {
        Turn::failed(FailureKind::Remote, "no route", at(0))
    }

    fn ended(outcome: TurnOutcome) -> Turn {
        Turn { outcome, failure: None, summary: "in a word".to_owned(), ..failed() }
    }

    #[test]
    fn it_is_ready_after_a_turn_that_went_well() {
        let health = Health::default();
        assert_eq!(health.readiness(), Readiness::Starting);
        health.ended(&ended(TurnOutcome::Unchanged), 0);
        assert_eq!(health.readiness(), Readiness::Ready);
        health.standby(true);
        assert_eq!(health.readiness(), Readiness::Standby);
        health.stopping();
        assert_eq!(health.readiness(), Readiness::Stopping);
    }

    #[test]
    fn a_host_that_is_down_degrades_and_does_not_kill() {
        let health = Health::default();
        health.ended(&ended(TurnOutcome::Committed), 0);
        health.ended(&failed(), 1);
        assert_eq!(health.readiness(), Readiness::Ready, "one failure is mostly the network");
        health.ended(&failed(), 3);
        assert_eq!(health.readiness().to_string(), "degraded: no route");
        assert_eq!(health.stuck(at(999_999)), None);
        health.ended(&ended(TurnOutcome::Unchanged), 0);
        assert_eq!(health.readiness(), Readiness::Ready);
    }

    #[test]
    fn what_is_held_back_or_stopped_degrades_at_once() {
        let health = Health::default();
        for outcome in [TurnOutcome::Held, TurnOutcome::Stopped] {
            health.ended(&ended(outcome), 0);
            assert_eq!(health.readiness().to_string(), "degraded: in a word");
        }
    }

    #[test]
    fn a_turn_that_does_not_end_is_stuck() {
        let health = Health::default();
        health.began(at(0));
        assert_eq!(health.stuck(at(3600)), None);
        assert!(health.stuck(at(3601)).unwrap().contains("has not ended"));
        health.ended(&ended(TurnOutcome::Unchanged), 0);
        assert_eq!(health.stuck(at(99_999)), None);
    }
}
