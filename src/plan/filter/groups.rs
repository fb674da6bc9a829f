//! Ordered groups: a worker is in one of the groups of the policy's affinity that may be used. Which of
//! them is the first term of the order ([`group`](crate::plan::score)), so each group is used alone: a
//! worker of a later one is taken only where no worker of the earlier ones passes all filters.

use crate::model::Reason;
use crate::plan::candidate::{Candidate, Request};
use crate::plan::depends_on::DependsOn;
use crate::plan::term;

pub(super) const READS: &[DependsOn] = term::GROUP_READS;

pub(super) fn refuse(request: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    let Some(worker) = candidate.worker else { return };
    if request.has_groups() && term::group(request, worker).is_none() {
        reasons.push(Reason::AffinityGroup);
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::world::{check, refusals};

    const TIERS: &str = "policy p group:near:only=w1 group:far:only=w2,w3;";

    #[test]
    fn the_groups_are_tried_in_turn_and_each_alone() {
        let at = |w1: &str| format!("worker w1 {w1}; worker w2 7/9; worker w3; {TIERS} cluster a");
        // By all other terms w3 is the best.
        check(&at("8/9"), "a -> w1 in near");
        check(&at("9/9"), "a -> w3 in far");
        check(&at("cordoned"), "a -> w3 in far");
        check(&at("agent"), "a -> w3 in far");
    }

    #[test]
    fn a_worker_in_no_group_takes_nothing() {
        let world = format!("worker w4; {TIERS} cluster a");
        check(&world, "a waits AffinityGroup");
        assert_eq!(refusals(&world, "a", "w4"), ["in no group of the affinity that may be used"]);
    }

    #[test]
    fn a_worker_in_several_groups_counts_in_the_first() {
        check(
            "worker w1; worker w2; policy p group:one:only=w2 group:two:only=w1,w2; cluster a",
            "a -> w2 in one",
        );
    }

    #[test]
    fn a_last_group_without_terms_is_every_worker() {
        let world = "policy p group:near:only=w1 group:any; cluster a";
        check(&format!("worker w1 7/9; worker w2; {world}"), "a -> w1 in near");
        check(&format!("worker w1 9/9; worker w2; {world}"), "a -> w2 in any");
    }

    #[test]
    fn required_terms_hold_in_every_group() {
        let world = "worker w1; worker w2; policy p not=w1 group:near:only=w1 group:any; cluster a";
        check(world, "a -> w2 in any");
        let own = "worker w1; worker w2; policy p group:near:only=w1 group:any; cluster a not=w1";
        check(own, "a -> w2 in any");
    }

    #[test]
    fn a_group_weighs_more_than_all_that_is_preferred() {
        check(
            "worker w1 8/9 at=eastus taint:k=v:PreferNoSchedule; worker w2 label:zone=1;
             policy p group:near:only=w1 group:any prefer:100:zone=1; cluster a",
            "a -> w1 in near",
        );
    }

    #[test]
    fn a_policy_without_groups_asks_for_none() {
        check("worker w1; policy p; cluster a", "a -> w1");
        check("worker w1; cluster a", "a -> w1");
    }

    #[test]
    fn a_placed_cluster_stays_when_an_earlier_group_has_room_again() {
        let world = format!("worker w1; worker w2; {TIERS} cluster a on=w2 group=far");
        check(&world, "a on w2");
    }

    #[test]
    fn one_that_is_placed_anew_begins_where_it_was() {
        let begins = |policy: &str, group: &str| {
            let world = format!("worker w1; worker w2; {policy} cluster a on=w2 group={group}");
            refusals(&world, "a", "w1")
        };
        let past = ["in no group of the affinity that may be used"];
        assert_eq!(begins(TIERS, "far"), past, "it does not go back");
        assert_eq!(begins(TIERS, "near"), [""; 0]);
        assert_eq!(begins(&TIERS.replace(';', " failback;"), "far"), [""; 0], "it may");
        assert_eq!(begins(TIERS, "gone"), [""; 0], "that group is no more");
    }
}
