//! Quota: what a tenant's clusters take together stays within what `carp.yaml` grants, over all and in the
//! location of the cluster's nodes. It says the same of every worker.

use crate::model::Reason;
use crate::plan::candidate::{Candidate, Request};
use crate::plan::depends_on::DependsOn;

pub(super) const READS: &[DependsOn] = &[DependsOn::Cluster, DependsOn::Tenants, DependsOn::Placed];

pub(super) fn refuse(request: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    if candidate.worker.is_some() {
        reasons.extend(request.pre_filter.quota.iter().cloned());
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::world::{check, refusals};

    const TWO: &str = "cluster a tenant=t; cluster b tenant=t";

    #[test]
    fn a_tenant_takes_what_it_is_granted_and_no_more() {
        check(&format!("worker w1; tenant t quota=2; {TWO}"), "a -> w1; b -> w1");
        check(&format!("worker w1; tenant t quota=1; {TWO}"), "a -> w1; b waits Quota");
        check(&format!("worker w1; tenant t quota=0; {TWO}"), "a waits Quota; b waits Quota");
        check(
            &format!("worker w1; tenant t quota=1; tenant u; {TWO}; cluster c tenant=u"),
            "a -> w1; b waits Quota; c -> w1",
        );
    }

    #[test]
    fn every_resource_that_is_named_is_counted() {
        check(
            "worker w1 cap:mem=99; tenant t quota:mem=5; cluster a tenant=t needs:mem=3;
             cluster b tenant=t needs:mem=3; cluster c tenant=t needs:mem=2; cluster d tenant=t",
            "a -> w1; b waits Quota; c -> w1; d -> w1",
        );
    }

    #[test]
    fn the_location_is_that_of_the_clusters_nodes() {
        check(
            "worker w1 at=eastus; tenant t quota@westeurope=1; cluster a tenant=t at=westeurope;
             cluster b tenant=t at=westeurope; cluster c tenant=t at=eastus; cluster d tenant=t at=eastus",
            "a -> w1; b waits Quota; c -> w1; d -> w1",
        );
    }

    #[test]
    fn the_reason_has_the_quota_and_what_is_used() {
        let world = "worker w1 cap:mem=99; tenant t quota=9 quota:mem=4 quota@westeurope=1;
            cluster x tenant=t on=w1 needs:mem=3; cluster a tenant=t needs:mem=2";
        assert_eq!(
            refusals(world, "a", "w1"),
            [
                "quota: needs 2 mem, 3 of 4 used",
                "quota: needs 1 cluster, 1 of 1 used in westeurope",
            ]
        );
    }

    #[test]
    fn a_quota_below_the_use_evicts_nobody_and_takes_nothing_new() {
        check(
            "worker w1; tenant t quota=1; cluster x on=w1 tenant=t; cluster y on=w1 tenant=t;
             cluster a tenant=t",
            "a waits Quota; x on w1; y on w1",
        );
    }

    #[test]
    fn what_is_being_deleted_is_used_until_it_is_gone() {
        check(
            "worker w1; tenant t quota=1; cluster x on=w1 tenant=t gone policy=Delete;
             cluster a tenant=t",
            "a waits Quota; x deletes w1",
        );
    }

    #[test]
    fn a_raise_of_what_is_there_must_fit_too() {
        let there = "cluster a tenant=t on=w1 was=1 needs=3";
        check(&format!("worker w1; tenant t quota=3; {there}"), "a on w1 takes 3");
        check(&format!("worker w1; tenant t quota=2; {there}"), "a on w1 blocked 3");
        check(&format!("worker w1; tenant t quota@westeurope=2; {there}"), "a on w1 blocked 3");
        check(
            "worker w1 cap:mem=9; tenant t quota=1 quota:mem=9;
             cluster a tenant=t on=w1 was=2 needs=2 was:mem=1 needs:mem=5",
            "a on w1 takes 2 mem=5",
        );
    }

    #[test]
    fn what_moves_takes_its_share_once() {
        // Who has all that is granted can leave a worker, and nobody else waits for it meanwhile.
        let drain = "worker w1 drain; worker w2; tenant t quota=";
        let moves = "cluster a tenant=t on=w1 rebuild";
        let begins = "a w1 => w2 D1 Drain";
        check(&format!("{drain}1; {moves}"), begins);
        check(&format!("{drain}2; {moves}; cluster b tenant=t"), &format!("{begins}; b -> w2"));
        let under_way = format!("{moves} moving=w2 step=D1");
        check(&format!("{drain}1; {under_way}"), begins);
        let one_more = format!("{under_way}; cluster b tenant=t");
        check(&format!("{drain}2; {one_more}"), &format!("{begins}; b -> w2"));
        check(&format!("{drain}1; {one_more}"), &format!("{begins}; b waits Quota Draining"));
    }

    #[test]
    fn what_moves_and_will_take_more_needs_that_granted_first() {
        let drain = "worker w1 drain; worker w2; tenant t quota=";
        let raised = "cluster a tenant=t on=w1 rebuild was=1 needs=3";
        check(&format!("{drain}2; {raised}"), "a on w1 blocked 3 [Drain NoWorkerFits]");
        let another = "cluster b tenant=t";
        let begins = "a w1 => w2 D1 Drain";
        check(
            &format!("{drain}3; {raised}; {another}"),
            &format!("{begins}; b waits Quota Draining"),
        );
        check(&format!("{drain}4; {raised}; {another}"), &format!("{begins}; b -> w2"));
    }

    #[test]
    fn what_one_lowers_another_may_raise() {
        check(
            "worker w1; tenant t quota=4; cluster a tenant=t on=w1 was=1 needs=3;
             cluster b tenant=t on=w1 was=3 needs=1",
            "a on w1 takes 3; b on w1 takes 1",
        );
    }
}
