//! One cluster against all workers.

use std::collections::BTreeSet;

use super::candidate::Request;
use super::roster::Roster;
use super::{filter, score};
use crate::model::{Rank, ReasonCode, Term};

/// The best worker for a cluster, and how it won.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pick {
    /// Where the best worker stands.
    pub(super) best: Rank,
    /// Where the second one stands, and the term that told them apart.
    pub(super) second: Option<(Rank, Term)>,
}

/// Picks the best of the workers that can take a cluster, with what it meets; none can for these
/// reasons.
pub(super) fn choose(
    request: &Request<'_>,
    roster: &Roster<'_>,
) -> Result<Pick, BTreeSet<ReasonCode>> {
    let mut ranks = Ranks::default();
    let mut codes = BTreeSet::new();
    let mut reasons = Vec::new();
    let mut workers = 0_usize;
    for candidate in roster.considered() {
        workers += 1;
        reasons.clear();
        filter::refuse(request, candidate, &mut reasons);
        match candidate.worker {
            Some(worker) if reasons.is_empty() => {
                ranks.add(score::rank(request, candidate, worker));
            }
            _ => codes.extend(reasons.iter().map(crate::model::Reason::code)),
        }
    }
    if workers == 0 {
        codes.insert(ReasonCode::NoWorkers);
    }
    ranks.into_pick().ok_or(codes)
}

/// The two best of the ranks that were added.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    best: Option<Rank>,
    second: Option<Rank>,
}

impl Ranks {
    /// Adds one.
    pub(super) fn add(&mut self, rank: Rank) {
        let better =
            |than: &Option<Rank>| than.as_ref().is_none_or(|other| rank.compare(other).0.is_lt());
        if better(&self.best) {
            self.second = self.best.replace(rank);
        } else if better(&self.second) {
            self.second = Some(rank);
        }
    }

    /// The best one; `None` where none was added.
    pub(super) fn into_pick(self) -> Option<Pick> {
        let best = self.best?;
        let second = self.second.map(|second| {
            let term = best.compare(&second).1;
            (second, term)
        });
        Some(Pick { best, second })
    }
}
