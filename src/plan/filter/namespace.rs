//! Namespace: a cluster is made in the namespace of its name. Where one is on the worker that carp did not make, the
//! cluster would come into what is somebody else's, and its removal would take that along.
//!
//! What was not reported is not known, and refuses nobody: an older agent does not say it.

use crate::model::Reason;
use crate::plan::candidate::{Candidate, Request};
use crate::plan::depends_on::DependsOn;

pub(super) const READS: &[DependsOn] = &[DependsOn::Namespaces];

pub(super) fn refuse(request: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    let is_there = || candidate.foreign.is_some_and(|names| names.contains(&request.cluster.name));
    if request.is_name_taken && is_there() {
        reasons.push(Reason::NamespaceTaken);
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::world::{check, refusals};

    #[test]
    fn no_cluster_is_made_in_a_namespace_of_somebody_else() {
        let w1 = "worker w1 agent:healthy ns=billing,team-a";
        check(&format!("{w1}; cluster billing"), "billing waits NamespaceTaken");
        check(
            &format!("{w1}; worker w2 agent:healthy; cluster billing; cluster b"),
            "b -> w1; billing -> w2",
        );
        let told = ["a namespace of the cluster's name is there, and carp did not make it"];
        assert_eq!(refusals(&format!("{w1}; cluster billing"), "billing", "w1"), told);
    }

    #[test]
    fn who_is_placed_stays_and_who_is_not_named_is_not_kept_away() {
        check("worker w1 agent:healthy ns=a; cluster a on=w1; cluster b", "a on w1; b -> w1");
        check("worker w1 agent:healthy; cluster a", "a -> w1");
        check("worker w1 agent:healthy ns=a; cluster ab", "ab -> w1");
    }

    #[test]
    fn what_was_reported_counts_whoever_is_silent_now() {
        check(
            "worker w1 agent:healthy ns=a; cluster a; worker w2 agent:silent",
            "a waits Silent NamespaceTaken",
        );
        check("worker w1 report:silent ns=a; cluster a", "a waits NamespaceTaken");
    }
}
