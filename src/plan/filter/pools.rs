//! Pools: a worker is in one of the pools that the policy uses, and in one of those that the cluster
//! itself does. What the tenant is granted is a rule of its own ([`tenancy`](super::tenancy)).

use crate::model::Reason;
use crate::plan::candidate::{Candidate, Request};
use crate::plan::depends_on::DependsOn;

pub(super) const READS: &[DependsOn] = &[DependsOn::Wishes, DependsOn::Policies, DependsOn::Pool];

pub(super) fn refuse(request: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    let Some(worker) = candidate.worker else { return };
    let pool = worker.spec.pool.as_ref();
    if request.used_pools().any(|used| pool.is_none_or(|pool| !used.contains(pool))) {
        reasons.push(Reason::PoolNotUsed { pool: pool.map(Into::into) });
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::world::{check, refusals};

    const POOLS: &str = "worker w1 pool=blue; worker w2 pool=green; worker w3;";

    #[test]
    fn a_policy_uses_the_pools_that_it_names() {
        check(&format!("{POOLS} policy p pools=green; cluster a"), "a -> w2");
        check(&format!("{POOLS} policy p pools=red,green; cluster a"), "a -> w2");
        check(&format!("{POOLS} policy p pools=red; cluster a"), "a waits PoolNotUsed");
        check(&format!("{POOLS} policy p; cluster a"), "a -> w1");
    }

    #[test]
    fn a_cluster_narrows_and_never_widens() {
        check(&format!("{POOLS} policy p pools=blue,green; cluster a pools=green"), "a -> w2");
        check(&format!("{POOLS} cluster a pools=green"), "a -> w2");
        let wider = format!("{POOLS} policy p pools=green; cluster a pools=blue");
        check(&wider, "a waits PoolNotUsed");
    }

    #[test]
    fn what_a_tenant_is_granted_bounds_both() {
        let world = format!("{POOLS} tenant t pools=green; policy p pools=blue;");
        check(&format!("{world} cluster a tenant=t"), "a waits Pool PoolNotUsed");
        let world = format!("{POOLS} tenant t pools=green,red; policy p pools=blue,green;");
        check(&format!("{world} cluster a tenant=t"), "a -> w2");
    }

    #[test]
    fn the_reason_names_the_pool() {
        let world = format!("{POOLS} policy p pools=green; cluster a");
        assert_eq!(refusals(&world, "a", "w1"), ["pool blue is not one that the placement uses"]);
        assert_eq!(refusals(&world, "a", "w3"), ["in no pool that the placement uses"]);
    }

    #[test]
    fn a_policy_that_uses_other_pools_moves_nobody() {
        check(&format!("{POOLS} policy p pools=green; cluster a on=w1"), "a on w1");
    }
}
