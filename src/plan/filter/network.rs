//! Network: where the cluster's flavor needs it, none of its pods and services has an address that one of
//! the worker's could have. No flavor that carp ships needs it; one that routes between the two says so in
//! its manifest (`networks: Apart`).

use crate::model::{Cidr, Reason};
use crate::plan::candidate::{Candidate, Request};
use crate::plan::depends_on::DependsOn;

pub(super) const READS: &[DependsOn] = &[DependsOn::Network, DependsOn::Networks];

pub(super) fn refuse(request: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    let Some(worker) = candidate.worker.filter(|_| request.networks_apart) else { return };
    let Some(taken) = worker.ranges() else {
        reasons.push(Reason::NetworkUnknown);
        return;
    };
    for own in request.cluster.ranges() {
        let overlaps = |other: &&&str| {
            let both = Cidr::parse(own).zip(Cidr::parse(other));
            both.is_some_and(|(own, other)| own.overlaps(other))
        };
        reasons.extend(
            taken
                .iter()
                .filter(overlaps)
                .map(|other| Reason::Network { range: own.into(), of_worker: (*other).into() }),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::world::{check, refusals};

    const APART: &str = "apart kamaji-capz;";

    #[test]
    fn what_no_flavor_asks_for_is_not_looked_at() {
        check("worker w1 net=10.244.0.0/16,10.96.0.0/16; cluster a", "a -> w1");
        check("worker w1; apart kind; cluster a", "a -> w1");
    }

    #[test]
    fn a_range_of_the_cluster_is_none_of_the_worker() {
        let worker = "worker w1 net=10.0.0.0/16,10.1.0.0/16;";
        for (own, decided) in [
            ("10.2.0.0/16,10.3.0.0/16", "a -> w1"),
            ("10.1.0.0/16,10.3.0.0/16", "a waits Network"),
            ("10.2.0.0/16,10.0.128.0/20", "a waits Network"),
            ("0.0.0.0/0,10.3.0.0/16", "a waits Network"),
            ("fd00::/64,fd01::/108", "a -> w1"),
        ] {
            check(&format!("{APART} {worker} cluster a net={own}"), decided);
        }
    }

    #[test]
    fn both_ranges_are_told() {
        let world = format!(
            "{APART} worker w1 net=10.0.0.0/16,10.1.0.0/16; cluster a net=10.0.0.0/8,10.1.2.0/24"
        );
        assert_eq!(
            refusals(&world, "a", "w1"),
            [
                "10.0.0.0/8 overlaps 10.0.0.0/16 of the worker",
                "10.0.0.0/8 overlaps 10.1.0.0/16 of the worker",
                "10.1.2.0/24 overlaps 10.1.0.0/16 of the worker",
            ]
        );
    }

    #[test]
    fn what_a_document_does_not_say_is_what_it_gets() {
        assert_eq!(
            refusals(&format!("{APART} worker w1; cluster a"), "a", "w1"),
            ["10.96.0.0/16 overlaps 10.96.0.0/12 of the worker"]
        );
        check(&format!("{APART} worker w1; cluster a net=10.244.0.0/16,10.112.0.0/16"), "a -> w1");
    }

    #[test]
    fn a_worker_that_carp_did_not_make_must_say_its_ranges() {
        let a = "cluster a net=10.2.0.0/16,10.3.0.0/16";
        let attached = format!("{APART} worker w1 flavor=attached");
        check(&format!("{attached}; {a}"), "a waits NetworkUnknown");
        assert_eq!(
            refusals(&format!("{attached}; {a}"), "a", "w1"),
            ["its networks are not known, and the cluster's must be others"]
        );
        check(&format!("{attached} net=10.0.0.0/16,10.1.0.0/16; {a}"), "a -> w1");
    }

    #[test]
    fn another_worker_may_have_other_ranges_and_what_is_placed_stays() {
        check(
            &format!(
                "{APART} worker w1 0/99; worker w2 net=172.16.0.0/16,172.17.0.0/16; cluster a;
                 cluster b on=w1"
            ),
            "a -> w2; b on w1",
        );
    }
}
