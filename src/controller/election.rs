//! Who acts: at most one of several controllers, as a Lease in the cluster says.
//!
//! An election saves work, no more: two that act at the same time, because one was paused or a clock
//! jumped, race on the branch, and there the compare-and-swap lets one win.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;
use tracing::{info, warn};

use super::turns::Shared;
use crate::observe::{ElectionStanding, LeaseCandidate};

/// Stands for election until told to stop, then gives the lead up.
pub(super) async fn campaign(
    mut candidate: LeaseCandidate,
    clock: fn() -> Timestamp,
    shared: Arc<Shared>,
    mut stop: watch::Receiver<bool>,
) {
    let every = candidate.duration() / 3;
    let mut seat = Seat { shared, leads: false, renewed: None };
    loop {
        let now = clock();
        // One that does not answer in time did not answer.
        match tokio::time::timeout(every, candidate.stand(now)).await {
            Ok(Ok(ElectionStanding::Leading)) => seat.won(now),
            Ok(Ok(ElectionStanding::Following { holder })) => seat.lost(&format!("{holder} leads")),
            Ok(Err(error)) => seat.unsure(&error.to_string(), now, candidate.duration()),
            Err(_) => seat.unsure("the API server did not answer", now, candidate.duration()),
        }
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => break,
            () = tokio::time::sleep(every) => {}
        }
    }
    if seat.leads {
        match tokio::time::timeout(every, candidate.release(clock())).await {
            Ok(Ok(())) => info!("gave the lead up"),
            Ok(Err(error)) => warn!("the lead was not given up and runs out by itself: {error}"),
            Err(_) => warn!("the lead was not given up and runs out by itself"),
        }
    }
}

/// Whether this one leads, and since when that is sure.
struct Seat {
    shared: Arc<Shared>,
    leads: bool,
    renewed: Option<Timestamp>,
}

impl Seat {
    fn won(&mut self, now: Timestamp) {
        self.renewed = Some(now);
        if !self.leads {
            info!("this one leads");
            self.sit(true);
        }
    }

    fn lost(&mut self, why: &str) {
        self.renewed = None;
        if self.leads {
            warn!("the lead was lost: {why}");
            self.sit(false);
        }
    }

    /// The Lease could not be renewed: the lead is kept for two thirds of its time, so that it is given
    /// up before another one may take it.
    fn unsure(&mut self, why: &str, now: Timestamp, duration: Duration) {
        let kept = self.renewed.is_some_and(|renewed| {
            let age = Duration::try_from(now.duration_since(renewed)).unwrap_or_default();
            age < duration * 2 / 3
        });
        if kept {
            warn!("the lead was not renewed: {why}");
        } else if self.leads {
            self.lost(why);
        } else {
            warn!("nobody can be elected: {why}");
        }
    }

    fn sit(&mut self, leads: bool) {
        self.leads = leads;
        self.shared.metrics.leads(leads);
        self.shared.health.standby(!leads);
        self.shared.wakeup.lead(leads);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DURATION: Duration = Duration::from_secs(15);

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn the_lead_is_given_up_before_another_one_may_take_it() {
        let shared = Arc::new(Shared::default());
        shared.wakeup.lead(false);
        let mut seat = Seat { shared: Arc::clone(&shared), leads: false, renewed: None };
        seat.won(at(0));
        assert!(shared.wakeup.leads());
        seat.unsure("no answer", at(5), DURATION);
        assert!(shared.wakeup.leads(), "one renewal that failed is no loss");
        seat.unsure("no answer", at(10), DURATION);
        assert!(!shared.wakeup.leads());
        assert_eq!(shared.health.readiness(), super::super::Readiness::Standby);
        seat.won(at(11));
        assert!(shared.wakeup.leads());
        seat.lost("another one leads");
        assert!(!shared.wakeup.leads());
    }
}
