//! Affinity: a worker meets every required term, the policy's and those that the cluster adds. What a
//! term excludes is out, whatever any other term says.

use crate::model::Reason;
use crate::plan::candidate::{Candidate, Request};
use crate::plan::depends_on::DependsOn;
use crate::plan::term;

pub(super) const READS: &[DependsOn] = term::READS;

pub(super) fn refuse(request: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    let Some(worker) = candidate.worker else { return };
    for required in request.required() {
        term::failures(required, worker, reasons);
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::world::{check, refusals};

    #[test]
    fn a_term_allows_names_locations_and_labels() {
        let two = "worker w1 at=eastus label:zone=1; worker w2 at=westus label:zone=2;";
        for (term, worker) in [
            ("only=w2", "w2"),
            ("not=w1", "w2"),
            ("only-at=westus", "w2"),
            ("with:zone=2", "w2"),
            ("in:zone=2,3", "w2"),
            ("notin:zone=1", "w2"),
            ("only=w1,w2", "w1"),
        ] {
            check(&format!("{two} cluster a at=eastus {term}"), &format!("a -> {worker}"));
            check(
                &format!("{two} policy p {term}; cluster a at=eastus"),
                &format!("a -> {worker}"),
            );
        }
    }

    #[test]
    fn each_failing_part_has_its_own_reason() {
        check("worker w1; cluster a only=w9", "a waits AffinityName");
        check("worker w1; cluster a not=w1", "a waits AffinityExcluded");
        check("worker w1 at=eastus; cluster a only-at=westus", "a waits AffinityLocation");
        check("worker w1; cluster a with:zone=2", "a waits AffinityLabels");
        assert_eq!(
            refusals(
                "worker w1 at=eastus; cluster a only=w9 not=w1 only-at=westus with:zone=2 in:tier=x",
                "a",
                "w1"
            ),
            [
                "not among the workers that the affinity names",
                "excluded by the affinity",
                "location eastus is not one that the affinity allows (westus)",
                "label tier does not meet the affinity",
                "label zone does not meet the affinity",
            ]
        );
    }

    #[test]
    fn each_part_that_fails_says_what_it_asks_for() {
        let world = "worker w1 at=eastus; policy p only-at=westus; cluster a only-at=westus2";
        assert_eq!(
            refusals(world, "a", "w1"),
            [
                "location eastus is not one that the affinity allows (westus)",
                "location eastus is not one that the affinity allows (westus2)",
            ]
        );
    }

    #[test]
    fn the_cluster_narrows_what_its_policy_allows() {
        let world = "worker w1; worker w2; worker w3; policy p only=w1,w2;";
        check(&format!("{world} cluster a only=w2,w3"), "a -> w2");
        check(&format!("{world} cluster a only=w3"), "a waits AffinityName");
    }

    #[test]
    fn exclude_always_wins() {
        check("worker w1; cluster a only=w1 not=w1", "a waits AffinityExcluded");
        check("worker w1; policy p not=w1; cluster a only=w1", "a waits AffinityExcluded");
        check("worker w1; policy p only=w1; cluster a not=w1", "a waits AffinityExcluded");
    }

    #[test]
    fn a_term_allows_providers_and_zones() {
        let two = "worker w1 zones=1,2; worker w2 flavor=attached provider=gcp zones=3;";
        for (term, worker) in [
            ("providers=gcp", "w2"),
            ("providers=gcp,azure", "w1"),
            ("zones=3", "w2"),
            ("zones=2,4", "w1"),
            ("field:provider:NotIn=azure", "w2"),
            ("field:zone:NotIn=1", "w2"),
            ("field:zone:In=3", "w2"),
            ("field:location:In=westeurope", "w1"),
        ] {
            check(&format!("{two} cluster a {term}"), &format!("a -> {worker}"));
            check(&format!("{two} policy p {term}; cluster a"), &format!("a -> {worker}"));
        }
    }

    #[test]
    fn a_field_without_a_value_is_in_nothing_and_not_in_all() {
        let none = "worker w1 flavor=attached;";
        check(&format!("{none} cluster a providers=azure"), "a waits AffinityProvider");
        check(&format!("{none} cluster a field:provider:NotIn=azure"), "a -> w1");
        check(&format!("{none} cluster a field:provider:Exists"), "a waits AffinityProvider");
        check(&format!("{none} cluster a field:provider:DoesNotExist"), "a -> w1");
        check(&format!("{none} cluster a zones=1"), "a waits AffinityZone");
        check(&format!("{none} cluster a field:zone:DoesNotExist"), "a -> w1");
        check("worker w1 zones=1; cluster a field:zone:DoesNotExist", "a waits AffinityZone");
    }

    #[test]
    fn each_field_that_fails_has_its_own_reason() {
        let world = "worker w1 zones=1,2; worker w2 flavor=attached;
             cluster a providers=gcp zones=3 field:location:NotIn=westeurope";
        assert_eq!(
            refusals(world, "a", "w1"),
            [
                "location westeurope is not one that the affinity allows",
                "provider azure is not one that the affinity allows (gcp)",
                "zones 1, 2 do not meet the affinity (3)",
            ]
        );
        assert_eq!(
            refusals(world, "a", "w2")[1..],
            [
                "its provider is not known, and the affinity asks for one (gcp)",
                "its node pools name no zone, and the affinity asks for one (3)",
            ]
        );
    }

    #[test]
    fn not_in_holds_where_the_label_is_absent() {
        check("worker w1; cluster a notin:zone=1", "a -> w1");
        check("worker w1 label:zone=1; cluster a notin:zone=1", "a waits AffinityLabels");
        check("worker w1; cluster a in:zone=1", "a waits AffinityLabels");
    }
}
