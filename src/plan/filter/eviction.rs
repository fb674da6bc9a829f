//! Eviction: a cluster that leaves a worker does not come back to it by the same move.

use crate::model::Reason;
use crate::plan::candidate::{Candidate, Request};
use crate::plan::depends_on::DependsOn;

pub(super) const READS: &[DependsOn] = &[DependsOn::Leaving, DependsOn::Name];

pub(super) fn refuse(request: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    if request.leaving.is_some_and(|leaving| leaving.worker == candidate.name) {
        reasons.push(Reason::Evicted);
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::world::{check, refusals};

    #[test]
    fn a_cluster_does_not_return_to_the_worker_that_it_leaves() {
        let world = "worker w1 taint:k=v:NoExecute; policy p tolerate:k=x; cluster a on=w1 rebuild";
        check(&format!("{world}; worker w2"), "a w1 => w2 D1 NoExecute");
        assert_eq!(
            refusals("worker w1 drain; worker w2; cluster a on=w1 rebuild moving=w2", "a", "w1"),
            ["draining", "the cluster is leaving this worker"]
        );
    }
}
