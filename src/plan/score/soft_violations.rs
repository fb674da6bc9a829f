//! Soft violations: one for each untolerated `PreferNoSchedule` taint. Fewer is better.

use crate::model::Worker;
use crate::model::api::TaintEffect;
use crate::plan::candidate::{Reads, Request};
use crate::plan::toleration;

pub(super) const READS: &[Reads] = &[Reads::Taints, Reads::Policies];

pub(super) fn count(request: &Request<'_>, worker: &Worker) -> u32 {
    let soft = toleration::untolerated(&worker.spec.taints, request.tolerations())
        .filter(|taint| taint.effect == TaintEffect::PreferNoSchedule)
        .count();
    u32::try_from(soft).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use crate::plan::world::check;

    #[test]
    fn a_soft_taint_is_avoided_while_another_worker_fits() {
        let soft = "worker w1 taint:k=v:PreferNoSchedule;";
        check(&format!("{soft} worker w2; cluster a"), "a -> w2");
        check(&format!("{soft} worker w2 cordoned; cluster a"), "a -> w1");
        check(
            &format!(
                "{soft} worker w2 taint:k=v:PreferNoSchedule taint:j=v:PreferNoSchedule; cluster a"
            ),
            "a -> w1",
        );
    }

    #[test]
    fn a_soft_taint_that_is_tolerated_does_not_count() {
        check(
            "worker w1 taint:k=v:PreferNoSchedule; worker w2; policy p tolerate:k=v; cluster a",
            "a -> w1",
        );
    }
}
