//! Capacity: everything that the cluster takes fits into what is free (capacity − reserved −
//! allocated). A resource that the worker does not name is unknown: that is neither nothing nor
//! without limit, so what needs it does not fit.
//!
//! Once a cluster fits nowhere so, the ceiling of a worker that can grow stands in the place of its
//! capacity (Cluster API's own autoscaling: the worker's node pools grow when the pods of hosted
//! control planes wait).

use crate::model::{Quantity, Reason, ReasonCode, Resources};
use crate::plan::candidate::{Candidate, Request};
use crate::plan::depends_on::DependsOn;

pub(super) const READS: &[DependsOn] =
    &[DependsOn::Demand, DependsOn::Capacity, DependsOn::Ceiling, DependsOn::Allocated];

pub(super) fn refuse(request: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    reasons.extend(refusals(request.demand(), candidate));
}

/// Why a worker refuses what a cluster needs. One whose document is not there to say has reason enough
/// without.
pub(super) fn refusals(
    demand: &Resources,
    candidate: &Candidate<'_>,
) -> impl Iterator<Item = Reason> {
    lacking(demand, candidate).map(|(resource, needs, left)| {
        let below_ceiling = candidate.uses_ceiling && candidate.plan.ceiling.contains_key(resource);
        let resource = resource.into();
        match left {
            None => Reason::CapacityUnknown { resource },
            Some(left) if below_ceiling => Reason::Ceiling { resource, needs, left },
            Some(free) => Reason::Capacity { resource, needs, free },
        }
    })
}

/// The codes of the same reasons.
pub(super) fn codes(
    demand: &Resources,
    candidate: &Candidate<'_>,
) -> impl Iterator<Item = ReasonCode> {
    lacking(demand, candidate).map(|(_, _, free)| match free {
        None => ReasonCode::CapacityUnknown,
        Some(_) => ReasonCode::Capacity,
    })
}

/// The resources that do not suffice: what is needed, and what is free where that is known.
fn lacking<'d>(
    demand: &'d Resources,
    candidate: &Candidate<'_>,
) -> impl Iterator<Item = (&'d String, Quantity, Option<Quantity>)> {
    let needed = demand.iter().filter(|(_, needs)| **needs != Quantity::ZERO);
    let known = needed.filter(|_| candidate.worker.is_some());
    known.filter_map(|(resource, &needs)| {
        let left = candidate.left(resource);
        let enough = left.is_some_and(|left| needs <= left);
        (!enough).then_some((resource, needs, left))
    })
}

#[cfg(test)]
mod tests {
    use crate::plan::world::{check, refusals};

    #[test]
    fn what_fits_exactly_fits_and_one_more_does_not() {
        check("worker w1 2/3; cluster a", "a -> w1");
        check("worker w1 3/3; cluster a", "a waits Capacity");
        check("worker w1 1/3; cluster a needs=2", "a -> w1");
        check("worker w1 2/3; cluster a needs=2", "a waits Capacity");
    }

    #[test]
    fn the_reserve_stays_free() {
        check("worker w1 0/2 reserved=1; cluster a needs=2", "a waits Capacity");
        check("worker w1 0/2 reserved=1; cluster a", "a -> w1");
    }

    #[test]
    fn every_resource_must_fit_and_each_that_does_not_is_named() {
        check("worker w1 0/3 cap:mem=4; cluster a needs:mem=4", "a -> w1");
        check("worker w1 0/3 cap:mem=4; cluster a needs:mem=5", "a waits Capacity");
        assert_eq!(
            refusals("worker w1 3/3 cap:mem=4; cluster a needs:mem=5", "a", "w1"),
            ["needs 1 cluster, 0 free", "needs 5 mem, 4 free"]
        );
    }

    #[test]
    fn an_unknown_capacity_is_neither_nothing_nor_without_limit() {
        check("worker w1 0/3; cluster a needs:mem=1", "a waits CapacityUnknown");
        check("worker w1 ?; cluster a", "a waits CapacityUnknown");
        assert_eq!(
            refusals("worker w1 3/3; cluster a needs:mem=1", "a", "w1"),
            ["needs 1 cluster, 0 free", "capacity for mem is not known"]
        );
    }

    #[test]
    fn needing_nothing_of_a_resource_fits_everywhere() {
        check("worker w1 0/3; cluster a needs:mem=0", "a -> w1");
    }

    #[test]
    fn a_capacity_below_the_use_evicts_nobody_and_takes_nothing_new() {
        check("worker w1 2/1; cluster a on=w1; cluster b", "a on w1; b waits Capacity");
        assert_eq!(refusals("worker w1 8/5; cluster b", "b", "w1"), ["needs 1 cluster, -3 free"]);
    }

    #[test]
    fn what_fits_nowhere_now_goes_below_a_ceiling() {
        check("worker w1 1/1 ceiling=2; cluster a", "a -> w1");
        check("worker w1 2/1 ceiling=2; cluster a", "a waits Capacity");
        check("worker w1 0/1 ceiling=3 reserved=1; cluster a needs=3", "a waits Capacity");
        check("worker w1 0/1 ceiling=3 reserved=1; cluster a needs=2", "a -> w1");
        // Nobody waits for a worker to grow that fits somewhere now, whoever comes first.
        check(
            "worker w1 0/1 ceiling=9; worker w2 0/2; cluster a needs=2 priority=-1; cluster b needs=2",
            "a -> w1; b -> w2",
        );
        check(
            "worker w1 1/1 ceiling=9 at=westeurope; worker w2 0/1 at=eastus; cluster a",
            "a -> w2",
        );
        check("worker w1 1/1 ceiling=9; worker w2 0/1; cluster a; cluster b", "a -> w2; b -> w1");
    }

    #[test]
    fn a_resource_without_a_ceiling_has_its_capacity_as_one() {
        check("worker w1 1/1 ceiling=9 cap:mem=4; cluster a needs:mem=5", "a waits Capacity");
        check("worker w1 1/1 ceiling=9 cap:mem=4; cluster a needs:mem=4", "a -> w1");
        check("worker w1 1/1 ceiling:mem=9 cap:mem=4; cluster a needs:mem=5", "a waits Capacity");
        check("worker w1 1/1 ceiling=9; cluster a needs:mem=1", "a waits CapacityUnknown");
        check("worker w1 ? ceiling=9; cluster a", "a waits CapacityUnknown");
    }

    #[test]
    fn a_ceiling_never_lowers_what_there_is() {
        check("worker w1 1/2 ceiling=1; cluster a", "a -> w1");
    }

    #[test]
    fn what_is_full_to_its_ceiling_says_so() {
        assert_eq!(
            refusals("worker w1 2/1 ceiling=2 cap:mem=1; cluster b needs:mem=2", "b", "w1"),
            ["needs 2 mem, 1 free", "needs 1 cluster, 0 left below the ceiling"]
        );
    }

    #[test]
    fn two_that_do_not_both_fit_are_not_both_placed() {
        check("worker w1 0/1; cluster a; cluster b", "a -> w1; b waits Capacity");
        check("worker w1 0/3; cluster a needs=2; cluster b needs=2", "a -> w1; b waits Capacity");
    }
}
