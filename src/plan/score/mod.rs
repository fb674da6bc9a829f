//! The scores: which of the workers that can take a cluster is the best. They are compared one after
//! the other ([`Rank::compare`]) and never added up; the name is the last.

mod clusters;
mod distance;
mod group;
mod preferred;
pub(super) mod share;
mod soft_violations;

use super::candidate::{Candidate, Request};
use super::depends_on::DependsOn;
use super::pre_filter_state;
use crate::model::{Rank, Term, Worker};

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
    /// What it is called.
    pub(super) term: Term,
    /// What it depends on.
    pub(super) reads: &'static [DependsOn],
    /// Its value for a worker: smaller is better.
    pub(super) of: fn(&Request<'_>, &Worker) -> u64,
}

/// The terms that stay as they are while clusters are placed; they come first in the order.
pub(super) const STILL: [Still; 3] = [
    Still {
        term: Term::SoftViolations,
        reads: soft_violations::READS,
        of: |r, w| u64::from(soft_violations::taints(r, w)),
    },
    Still {
        term: Term::PreferredAffinity,
        reads: preferred::READS,
        of: |r, w| u64::MAX - preferred::weight(r, w),
    },
    Still {
        term: Term::LocationDistance,
        reads: distance::READS,
        of: |r, w| u64::from(distance::between(r, w)),
    },
];

/// The terms that every cluster changes which is placed; they come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MovingTerms {
    /// The share used after the pick, in order: shares that differ do so here.
    share: [u64; 2],
    /// The clusters there.
    clusters: u64,
}

impl MovingTerms {
    /// Of the share used after the pick, numerator and denominator, and the clusters there.
    pub(super) fn new(share: (u64, u64), clusters: u64) -> Self {
        Self { share: share::in_order(share), clusters }
    }

    /// Whether this worker is better than another one that is equal in all earlier terms; where it is equal in these, too, its
    /// name says so.
    #[expect(
        clippy::needless_bitwise_bool,
        reason = "which is better is as good as random, and a processor that guesses it is wrong half of the time"
    )]
    pub(super) fn is_better(&self, other: &Self, has_smaller_name: bool) -> bool {
        let (share, others) = (self.share(), other.share());
        let (clusters, there) = (self.clusters, other.clusters);
        let decided = (share < others) | ((share == others) & (clusters < there));
        decided | ((share == others) & (clusters == there) & has_smaller_name)
    }

    /// By which term two workers differ that are equal in all earlier terms.
    pub(super) fn term(&self, other: &Self) -> Term {
        if self.share != other.share {
            Term::ShareUsed
        } else if self.clusters == other.clusters {
            Term::Name
        } else {
            Term::Clusters
        }
    }

    fn share(&self) -> u128 {
        let [high, low] = self.share.map(u128::from);
        high << 64 | low
    }
}

/// Where a worker stands for a cluster.
pub(super) fn rank(request: &Request<'_>, candidate: &Candidate<'_>, worker: &Worker) -> Rank {
    Rank {
        group: group::of(request, worker),
        soft_violations: soft_violations::count(request, worker),
        preferred: preferred::weight(request, worker),
        preferred_by_carp: preferred::by_carp(request, worker),
        distance: distance::between(request, worker),
        share: share::after(request, candidate),
        strategy: request.strategy(),
        clusters: clusters::there(candidate),
        worker: worker.name.clone(),
    }
}

/// The place of the soft violations among the terms that stay.
const SOFT: usize = 0;

/// The terms of a worker with so many soft violations of rules about what is placed.
pub(super) fn with_soft(mut terms: [u64; STILL.len()], soft: u32) -> [u64; STILL.len()] {
    terms[SOFT] += u64::from(soft);
    terms
}

/// The soft violations of rules about what is placed: the same for all workers that are in the same domains.
pub(super) fn together(request: &Request<'_>, worker: &Worker) -> u32 {
    soft_violations::together(request, worker)
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
