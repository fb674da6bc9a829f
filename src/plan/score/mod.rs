//! The scores: which of the workers that can take a cluster is the best. They are compared one after
//! the other ([`Rank::compare`]) and never added up; the name is the last.

mod clusters;
mod distance;
mod group;
mod preferred;
pub(super) mod share;
mod soft_violations;

use std::cmp::Ordering;

use super::candidate::{Candidate, Request};
use super::depends_on::DependsOn;
use super::pre_filter_state;
use crate::model::{Rank, Worker};

/// What the terms of the order depend on, in that order.
#[cfg_attr(not(test), expect(dead_code, reason = "the test of the context reads it"))]
pub(super) const READS: [&[DependsOn]; 8] = [
    group::READS,
    soft_violations::READS,
    pre_filter_state::READS,
    preferred::READS,
    distance::READS,
    share::READS,
    clusters::READS,
    &[DependsOn::Name],
];

/// A term that stays as it is while clusters are placed.
pub(super) struct Still {
    /// What it depends on.
    pub(super) reads: &'static [DependsOn],
    /// Its value for a worker: smaller is better.
    pub(super) of: fn(&Request<'_>, &Worker) -> u64,
}

/// The terms that stay as they are while clusters are placed; they come first in the order.
pub(super) const STILL: [Still; 3] = [
    Still { reads: soft_violations::READS, of: |r, w| u64::from(soft_violations::taints(r, w)) },
    Still { reads: preferred::READS, of: |r, w| u64::MAX - preferred::weight(r, w) },
    Still { reads: distance::READS, of: |r, w| u64::from(distance::between(r, w)) },
];

/// The terms that every cluster changes which is placed; they come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MovingTerms {
    /// The share used after the pick.
    pub(super) share: (i128, i128),
    /// The clusters there.
    pub(super) clusters: u64,
}

impl MovingTerms {
    /// Which of two workers is better (`Less` is better) that are equal in all earlier terms.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let ((used, of), (other_used, other_of)) = (self.share, other.share);
        let share = used.saturating_mul(other_of).cmp(&other_used.saturating_mul(of));
        share.then(self.clusters.cmp(&other.clusters))
    }
}

/// Where a worker stands for a cluster.
pub(super) fn rank(request: &Request<'_>, candidate: &Candidate<'_>, worker: &Worker) -> Rank {
    let MovingTerms { share, clusters } = moving(request, candidate);
    Rank {
        group: group::of(request, worker),
        soft_violations: soft_violations::count(request, worker),
        preferred: preferred::weight(request, worker),
        preferred_by_carp: preferred::by_carp(request, worker),
        distance: distance::between(request, worker),
        share,
        strategy: request.strategy(),
        clusters,
        worker: worker.name.clone(),
    }
}

/// The moving terms of a worker for a cluster.
pub(super) fn moving(request: &Request<'_>, candidate: &Candidate<'_>) -> MovingTerms {
    MovingTerms { share: share::after(request, candidate), clusters: clusters::there(candidate) }
}

/// The place of the soft violations among the terms that stay.
const SOFT: usize = 0;

/// The terms of a worker with the soft violations of what the cluster meets there.
pub(super) fn with_scenes(
    mut terms: [u64; STILL.len()],
    request: &Request<'_>,
    worker: &Worker,
) -> [u64; STILL.len()] {
    terms[SOFT] += u64::from(soft_violations::together(request, worker));
    terms
}

#[cfg(test)]
mod tests {
    use crate::plan::world::check;

    #[test]
    fn the_last_tie_is_the_name() {
        check("worker w2; worker w1; worker w3; cluster a", "a -> w1");
    }

    #[test]
    fn an_earlier_term_outweighs_all_later_ones() {
        // w1 loses by one soft violation and wins by everything else.
        check(
            "worker w1 0/9 at=eastus taint:k=v:PreferNoSchedule label:zone=1;
             worker w2 8/9 at=westeurope;
             policy p prefer:100:zone=1; cluster a at=eastus",
            "a -> w2",
        );
    }
}
