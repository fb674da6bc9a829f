//! The scores: which of the workers that can take a cluster is the best. They are compared one after
//! the other ([`Rank::compare`]) and never added up; the name is the last.

mod clusters;
mod distance;
mod group;
mod preferred;
mod share;
mod soft_violations;

use super::candidate::{Candidate, Reads, Request};
use crate::model::{Rank, Worker};

/// What the terms of the order depend on, in that order.
#[cfg_attr(not(test), expect(dead_code, reason = "the test of the context reads it"))]
pub(super) const READS: [&[Reads]; 7] = [
    group::READS,
    soft_violations::READS,
    preferred::READS,
    distance::READS,
    share::READS,
    clusters::READS,
    &[Reads::Name],
];

/// Where a worker stands for a cluster.
pub(super) fn rank(request: &Request<'_>, candidate: &Candidate<'_>, worker: &Worker) -> Rank {
    Rank {
        group: group::of(request, worker),
        soft_violations: soft_violations::count(request, worker),
        preferred: preferred::weight(request, worker),
        distance: distance::between(request, worker),
        share: share::after(request, candidate),
        strategy: request.strategy(),
        clusters: clusters::there(candidate),
        worker: worker.name.clone(),
    }
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
