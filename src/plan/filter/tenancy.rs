//! Tenancy: a tenant that `carp.yaml` grants pools uses workers of those pools only.

use crate::model::{Name, Reason};
use crate::plan::candidate::{Candidate, Pools, Request};
use crate::plan::depends_on::DependsOn;

pub(super) const READS: &[DependsOn] = &[DependsOn::Tenants, DependsOn::Pool];

pub(super) fn refuse(request: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    let (Some(worker), Pools::Only(granted)) = (candidate.worker, request.pools) else { return };
    let pool = worker.spec.pool.as_ref();
    if pool.is_none_or(|pool| !granted.contains(pool)) {
        reasons.push(Reason::Pool { pool: pool.and_then(|p| Name::parse(p).ok()) });
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::world::{check, refusals};

    const POOLS: &str = "worker w1 pool=blue; worker w2 pool=green; worker w3;";

    #[test]
    fn a_tenant_uses_the_pools_that_it_is_granted() {
        check(&format!("{POOLS} tenant t pools=green; cluster a tenant=t"), "a -> w2");
        check(&format!("{POOLS} tenant t pools=red; cluster a tenant=t"), "a waits Pool");
    }

    #[test]
    fn a_tenant_without_pools_uses_every_worker() {
        check(&format!("{POOLS} tenant t; cluster a tenant=t"), "a -> w1");
        check(&format!("{POOLS} cluster a tenant=t"), "a -> w1");
    }

    #[test]
    fn a_tenant_with_an_empty_list_of_pools_uses_no_worker() {
        check(&format!("{POOLS} tenant t pools=; cluster a tenant=t"), "a waits Pool");
    }

    #[test]
    fn a_tenant_that_is_not_listed_uses_none() {
        check(&format!("{POOLS} tenant t; cluster a tenant=other"), "a waits Pool");
    }

    #[test]
    fn the_reason_names_the_pool() {
        let world = format!("{POOLS} tenant t pools=green; cluster a tenant=t");
        assert_eq!(refusals(&world, "a", "w1"), ["pool blue is not granted to the tenant"]);
        assert_eq!(refusals(&world, "a", "w3"), ["in no pool that is granted to the tenant"]);
    }

    #[test]
    fn a_grant_that_is_taken_back_moves_nobody() {
        check(&format!("{POOLS} tenant t pools=green; cluster a tenant=t on=w1"), "a on w1");
    }
}
