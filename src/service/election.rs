//! Who acts: at most one of several processes, as a Lease in a cluster says.
//!
//! An election saves work, no more: two that act at the same time, because one was paused or a clock
//! jumped, race on the branch, and there the compare-and-swap lets one win.

use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;
use tracing::{info, warn};

use super::{ElectionStanding, LeaseCandidate};

/// Stands for election until told to stop, then gives the lead up. `tell` hears whether this one leads, each time
/// that this changes.
pub async fn campaign(
    mut candidate: LeaseCandidate,
    clock: fn() -> Timestamp,
    mut stop: watch::Receiver<bool>,
    tell: impl FnMut(bool),
) {
    let every = candidate.duration() / 3;
    let mut lead = Lead { tell, leads: false, renewed: None };
    loop {
        let now = clock();
        // One that does not answer in time did not answer.
        match tokio::time::timeout(every, candidate.stand(now)).await {
            Ok(Ok(ElectionStanding::Leading)) => lead.won(now),
            Ok(Ok(ElectionStanding::Following { holder })) => lead.lost(&format!("{holder} leads")),
            Ok(Err(error)) => lead.unsure(&error.to_string(), now, candidate.duration()),
            Err(_) => lead.unsure("the API server did not answer", now, candidate.duration()),
        }
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => break,
            () = tokio::time::sleep(every) => {}
        }
    }
    if lead.leads {
        match tokio::time::timeout(every, candidate.release(clock())).await {
            Ok(Ok(())) => info!("gave the lead up"),
            Ok(Err(error)) => warn!("the lead was not given up and runs out by itself: {error}"),
            Err(_) => warn!("the lead was not given up and runs out by itself"),
        }
    }
}

/// Whether this one leads, and since when that is sure.
struct Lead<T> {
    tell: T,
    leads: bool,
    renewed: Option<Timestamp>,
}

impl<T: FnMut(bool)> Lead<T> {
    fn won(&mut self, now: Timestamp) {
        self.renewed = Some(now);
        if !self.leads {
            info!("this one leads");
            self.change(true);
        }
    }

    fn lost(&mut self, why: &str) {
        self.renewed = None;
        if self.leads {
            warn!("the lead was lost: {why}");
            self.change(false);
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

    fn change(&mut self, leads: bool) {
        self.leads = leads;
        (self.tell)(leads);
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
        let mut heard = Vec::new();
        let mut lead = Lead { tell: |leads| heard.push(leads), leads: false, renewed: None };
        lead.unsure("no answer", at(0), DURATION);
        lead.won(at(0));
        lead.won(at(4));
        // One renewal that failed is no loss.
        lead.unsure("no answer", at(9), DURATION);
        assert!(lead.leads);
        lead.unsure("no answer", at(14), DURATION);
        assert!(!lead.leads);
        lead.won(at(15));
        lead.lost("another one leads");
        lead.lost("another one leads");
        assert_eq!(heard, [true, false, true, false], "what stays the same is not told");
    }
}
