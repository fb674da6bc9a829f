//! The loop: a turn, a pause, the next turn.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tracing::{debug, error, info, warn};

use super::breaker::Breaker;
use super::health::Health;
use super::metrics::Metrics;
use super::pace::Pace;
use super::wakeup::{Wakeup, Woken};
use crate::model::{
    Attempt, FailureKind, HeldBack, Turn, TurnConstraints, TurnForge, TurnOutcome, TurnStatus,
};

/// How long to wait after a hint for others: a push often moves several refs.
const SETTLE: Duration = Duration::from_millis(300);
/// A commit that was refused for good is tried again that late, even if nothing changed: rules of a Git
/// host change without leaving a trace.
const SLOW_POLL: SignedDuration = SignedDuration::from_hours(1);
/// How many seconds lie between two status commits that can wait.
const STATUS_PAUSE: u32 = 60;

/// What others see of the controller, and what wakes it. All of it is shared between threads.
#[derive(Debug, Default)]
pub struct Shared {
    /// What ends a pause.
    pub wakeup: Wakeup,
    /// What `/healthz` and `/readyz` say.
    pub health: Health,
    /// What `/metrics` says.
    pub metrics: Metrics,
}

/// The controller.
pub struct Turns<'a> {
    shared: Arc<Shared>,
    clock: &'a dyn Fn() -> Timestamp,
    pace: Pace,
    breaker: Breaker,
    refused: Option<(Attempt, Timestamp)>,
    failures: u32,
    budget: Option<u32>,
    notes: Vec<String>,
    untold: Option<String>,
}

impl<'a> Turns<'a> {
    /// A controller whose turns are about `interval` apart; the seed makes two of them differ.
    pub fn new(
        shared: Arc<Shared>,
        clock: &'a dyn Fn() -> Timestamp,
        interval: Duration,
        seed: u64,
    ) -> Self {
        Self {
            shared,
            clock,
            pace: Pace::new(interval, seed),
            breaker: Breaker::default(),
            refused: None,
            failures: 0,
            budget: None,
            notes: Vec::new(),
            untold: None,
        }
    }

    /// Makes turns until the controller is told to stop. `turn` makes one, here or in a process of its
    /// own; its failures are part of what it returns.
    ///
    /// # Errors
    /// As `turn`: the controller cannot go on at all.
    pub fn run<E>(
        mut self,
        mut turn: impl FnMut(&TurnConstraints) -> Result<Turn, E>,
    ) -> Result<(), E> {
        while self.shared.wakeup.wait_for_lead() {
            self.shared.health.began((self.clock)());
            let taken = turn(&self.orders())?;
            let least = self.spaced(&taken);
            let pause = self.took(&taken).max(least);
            let ended = (self.clock)();
            debug!(seconds = pause.as_secs_f64(), "the next turn comes after a pause");
            match self.shared.wakeup.wait(pause) {
                Woken::Stopped => break,
                Woken::Time | Woken::LostLeadership => {}
                Woken::Hinted(hints) => {
                    for hint in hints {
                        debug!(hint = hint.name(), "woken");
                        self.shared.metrics.woken(hint);
                    }
                    let gone = Duration::try_from((self.clock)().duration_since(ended));
                    let left = least.saturating_sub(gone.unwrap_or_default());
                    self.shared.wakeup.settle(SETTLE.max(left));
                }
            }
        }
        info!("stopped");
        Ok(())
    }

    fn orders(&self) -> TurnConstraints {
        let now = (self.clock)();
        let is_recent = |at: &Timestamp| *at <= now && now.duration_since(*at) < SLOW_POLL;
        let refused = self.refused.as_ref().filter(|(_, at)| is_recent(at));
        TurnConstraints {
            refused: refused.map(|(attempt, _)| attempt.clone()),
            breaker: self.breaker.still(),
            status_pause: STATUS_PAUSE,
        }
    }

    /// How long the remote is left alone after a turn: `git.pushBudget`. Of a turn that failed nobody knows
    /// how often it pushed; the last budget that was read holds for one push.
    fn spaced(&mut self, turn: &Turn) -> Duration {
        let failed = turn.outcome == TurnOutcome::Failed;
        if !failed {
            self.budget = turn.push_budget;
        }
        Pace::after_pushes(if failed { 1 } else { turn.pushes }, self.budget)
    }

    /// Takes note of a turn, and says how long to pause after it.
    fn took(&mut self, turn: &Turn) -> Duration {
        let was_open = self.breaker.still().is_some();
        self.breaker.note(turn);
        let is_open = self.breaker.still().is_some();
        if is_open && !was_open {
            error!(
                "too many commits came from the same inputs, so carp stops committing until they change"
            );
        }
        self.failures = match turn.outcome {
            TurnOutcome::Failed => self.failures.saturating_add(1),
            _ => 0,
        };
        // The turn's own time may be pinned.
        let now = (self.clock)();
        self.remember_refusal(turn, now);
        self.shared.health.ended(turn, self.failures);
        self.shared.metrics.ended(turn, now, self.failures, is_open);
        self.tell(turn);
        match (turn.outcome, &turn.failure) {
            // What is refused is not pushed again, so the rest may go on as ever.
            (TurnOutcome::Failed, Some(f)) if f.kind != FailureKind::Refused => {
                self.pace.after_failure(self.failures)
            }
            _ => self.pace.after_success(turn.valid_until, turn.now),
        }
    }

    fn remember_refusal(&mut self, turn: &Turn, now: Timestamp) {
        match (turn.outcome, &turn.failure) {
            (TurnOutcome::Failed, Some(failure)) if failure.kind == FailureKind::Refused => {
                self.refused = turn.attempt.clone().map(|attempt| (attempt, now));
            }
            (TurnOutcome::Committed | TurnOutcome::Unchanged, _) => self.refused = None,
            _ => {}
        }
    }

    /// A forge that is down for a day is told of once.
    fn tell_of_forge(&mut self, forge: &TurnForge) {
        let untold = match forge {
            TurnForge::Failed { message } => Some(message.clone()),
            TurnForge::Told { .. } => None,
        };
        if let Some(message) = untold.as_ref().filter(|_| untold != self.untold) {
            warn!("the forge was not told and is tried again: {message}");
        }
        self.untold = untold;
    }

    /// One line for people, and fields for programs. What was told is not told again.
    fn tell(&mut self, turn: &Turn) {
        let Turn { outcome, milliseconds, races, summary, .. } = turn;
        let outcome = outcome.name();
        let commit = turn.written.as_ref().map(|w| w.commit.to_string()).unwrap_or_default();
        match turn.outcome {
            TurnOutcome::Failed => {
                let kind = turn.failure.as_ref().map_or("", |failure| failure.kind.name());
                let in_a_row = self.failures;
                error!(outcome, kind, in_a_row, milliseconds, races, "{summary}");
            }
            TurnOutcome::Held if turn.held == Some(HeldBack::Refused) => {
                debug!(outcome, milliseconds, "{summary}");
            }
            TurnOutcome::Held | TurnOutcome::Stopped => {
                warn!(outcome, milliseconds, races, "{summary}");
            }
            TurnOutcome::Committed => info!(outcome, commit, milliseconds, races, "{summary}"),
            TurnOutcome::Unchanged => info!(outcome, milliseconds, races, "{summary}"),
        }
        if let Some(TurnStatus::Failed { message }) = &turn.status {
            warn!("the status branch was not written and is tried again: {message}");
        }
        if let Some(forge) = &turn.forge {
            self.tell_of_forge(forge);
        }
        if turn.outcome != TurnOutcome::Failed && self.notes != turn.notes {
            turn.notes.iter().filter(|n| !self.notes.contains(n)).for_each(|n| warn!("{n}"));
            self.notes.clone_from(&turn.notes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;
    use crate::model::{Digest, Id};

    fn ended(outcome: TurnOutcome, now: Timestamp) -> Turn {
        let inputs = Some(Digest::of(b"the same"));
        Turn { outcome, inputs, failure: None, ..Turn::failed(FailureKind::Races, "", now) }
    }

    fn attempt() -> Attempt {
        Attempt { input: Id::from_bytes([1; 20]), output: None, tree: Id::from_bytes([2; 20]) }
    }

    /// Runs a controller over a world that answers each turn; no pause is waited for, because the wakeup
    /// rings all the time, and the clock goes on by `step` seconds with each turn.
    fn orders_of(
        turns: usize,
        step: i64,
        world: impl Fn(&TurnConstraints, Timestamp) -> Turn,
    ) -> Vec<TurnConstraints> {
        let second = Cell::new(0);
        let clock = || Timestamp::from_second(second.get()).unwrap();
        let shared = Arc::new(Shared::default());
        let seen = RefCell::new(Vec::new());
        let controller = Turns::new(Arc::clone(&shared), &clock, Duration::from_millis(1), 1);
        let ran = controller.run(|orders| -> Result<Turn, ()> {
            seen.borrow_mut().push(orders.clone());
            second.set(second.get() + step);
            if seen.borrow().len() == turns {
                shared.wakeup.stop();
            }
            shared.wakeup.ring(super::super::Hint::Hook);
            Ok(world(orders, clock()))
        });
        assert_eq!(ran, Ok(()));
        seen.into_inner()
    }

    #[test]
    fn what_was_refused_for_good_is_not_tried_again_until_late() {
        let world = |orders: &TurnConstraints, now| match &orders.refused {
            Some(_) => ended(TurnOutcome::Held, now),
            None => Turn {
                attempt: Some(attempt()),
                ..Turn::failed(FailureKind::Refused, "a rule", now)
            },
        };
        let orders = orders_of(6, 1000, world);
        let held: Vec<bool> = orders.iter().map(|o| o.refused.is_some()).collect();
        assert_eq!(held, [false, true, true, true, true, false], "an hour later it is tried again");
        assert_eq!(orders[1].refused, Some(attempt()));
    }

    #[test]
    fn commits_that_feed_themselves_are_stopped() {
        let world = |orders: &TurnConstraints, now| match orders.breaker {
            Some(_) => ended(TurnOutcome::Held, now),
            None => ended(TurnOutcome::Committed, now),
        };
        let orders = orders_of(14, 1, world);
        let still = orders.iter().filter(|o| o.breaker.is_some()).count();
        assert_eq!(still, 3, "eleven commits, and no more");
    }

    #[test]
    fn a_turn_that_cannot_go_on_ends_the_controller() {
        let shared = Arc::new(Shared::default());
        let clock = || Timestamp::UNIX_EPOCH;
        let controller = Turns::new(shared, &clock, Duration::from_secs(600), 1);
        assert_eq!(controller.run(|_| Err("usage")), Err("usage"));
    }
}
