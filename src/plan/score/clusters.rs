//! Number of clusters on the worker. Fewer is better.

use crate::plan::candidate::Candidate;
use crate::plan::depends_on::DependsOn;

pub(super) const READS: &[DependsOn] = &[DependsOn::Clusters];

pub(super) fn there(candidate: &Candidate<'_>) -> u64 {
    candidate.plan.clusters
}

#[cfg(test)]
mod tests {
    use crate::plan::world::check;

    #[test]
    fn of_two_equally_used_workers_the_one_with_fewer_clusters_is_taken() {
        // Both are used to 3/4 after the pick: w1 with two clusters, w2 with one.
        check(
            "worker w1 2/4; worker w2 0/4; cluster x on=w2 needs=2; cluster a",
            "a -> w2; x on w2",
        );
    }
}
