//! Taints: every `NoSchedule` and `NoExecute` taint of the worker is tolerated by the cluster's policy.
//! A `PreferNoSchedule` taint refuses nobody; it is a soft violation in the order of the workers.

use crate::model::Reason;
use crate::model::api::TaintEffect;
use crate::plan::candidate::{Candidate, Request};
use crate::plan::depends_on::DependsOn;
use crate::plan::toleration;

pub(super) const READS: &[DependsOn] = &[DependsOn::Taints, DependsOn::Policies];

pub(super) fn refuse(request: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    let Some(worker) = candidate.worker else { return };
    let untolerated = toleration::untolerated(&worker.spec.taints, request.tolerations());
    let refusing = untolerated.filter(|t| t.effect != TaintEffect::PreferNoSchedule);
    reasons.extend(refusing.cloned().map(Reason::Taint));
}

#[cfg(test)]
mod tests {
    use crate::plan::world::{check, refusals};

    #[test]
    fn an_untolerated_taint_refuses() {
        check("worker w1 taint:k=v:NoSchedule; cluster a", "a waits Taint");
        check("worker w1 taint:k=v:NoExecute; cluster a", "a waits Taint");
        check("worker w1 taint:k=v:PreferNoSchedule; cluster a", "a -> w1");
    }

    #[test]
    fn a_tolerated_taint_does_not() {
        let tainted = "worker w1 taint:k=v:NoSchedule; cluster a;";
        for tolerated in ["k=v:NoSchedule", "k=v", "k:NoSchedule", "k", "*", "*:NoSchedule"] {
            check(&format!("{tainted} policy p tolerate:{tolerated}"), "a -> w1");
        }
        for other in ["k=x:NoSchedule", "k=v:NoExecute", "j=v", "*:NoExecute", "=v"] {
            check(&format!("{tainted} policy p tolerate:{other}"), "a waits Taint");
        }
    }

    #[test]
    fn all_untolerated_taints_are_named() {
        let world = "worker w1 taint:k=v:NoSchedule taint:j=:NoExecute taint:l=x:PreferNoSchedule;
            policy p tolerate:other; cluster a";
        assert_eq!(
            refusals(world, "a", "w1"),
            ["untolerated taint {j:NoExecute}", "untolerated taint {k=v:NoSchedule}"]
        );
    }

    #[test]
    fn a_taint_evicts_nobody() {
        check("worker w1 taint:k=v:NoExecute; worker w2; cluster a on=w1", "a on w1");
    }
}
