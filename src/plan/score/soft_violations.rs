//! Soft violations: one for each untolerated `PreferNoSchedule` taint, and for each rule of spread and
//! anti-affinity that is broken and does not refuse. Fewer is better.

use std::collections::BTreeMap;

use crate::model::api::TaintEffect;
use crate::model::{Name, Worker, topology};
use crate::plan::candidate::Request;
use crate::plan::depends_on::DependsOn;
use crate::plan::toleration;

/// What [`taints`] reads. What [`together`] reads was worked out before ([`pre_filter`](crate::plan::pre_filter)).
pub(super) const READS: &[DependsOn] = &[DependsOn::Taints, DependsOn::Policies];

pub(super) fn count(request: &Request<'_>, worker: &Worker) -> u32 {
    taints(request, worker).saturating_add(together(request, worker))
}

/// Those that no cluster which is placed changes: the taints.
pub(super) fn taints(request: &Request<'_>, worker: &Worker) -> u32 {
    let soft = toleration::untolerated(&worker.spec.taints, request.tolerations())
        .filter(|taint| taint.effect == TaintEffect::PreferNoSchedule)
        .count();
    u32::try_from(soft).unwrap_or(u32::MAX)
}

/// The others: the rules about what is placed.
pub(super) fn together(request: &Request<'_>, worker: &Worker) -> u32 {
    let domain = |key: &str| topology::domain(key, worker);
    let spread = request.pre_filter.spread.iter().filter(|scene| !scene.refuses);
    let spread = spread.filter(|scene| domain(scene.key).is_none_or(|d| scene.is_full(d))).count();
    let apart = request.pre_filter.apart.iter().filter(|scene| !scene.refuses);
    let shared = |key: &str, taken: &BTreeMap<&str, &Name>| {
        domain(key).is_some_and(|domain| taken.contains_key(domain))
    };
    let apart = apart.filter(|scene| shared(scene.key, &scene.taken)).count();
    u32::try_from(spread + apart).unwrap_or(u32::MAX)
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
