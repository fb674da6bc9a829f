//! Spread: in a domain of workers are at most `maxSkew` clusters more than in the one that has the fewest,
//! of those domains that the cluster may use at all. A worker without the key is not eligible.

use crate::model::{Reason, topology};
use crate::plan::candidate::{Candidate, Request};
use crate::plan::depends_on::DependsOn;
use crate::plan::pre_filter_state;

pub(super) const READS: &[DependsOn] = pre_filter_state::READS;

pub(super) fn refuse(request: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    let Some(worker) = candidate.worker else { return };
    for scene in request.pre_filter.spread.iter().filter(|scene| scene.refuses) {
        let key = || scene.key.into();
        let Some(domain) = topology::domain(scene.key, worker) else {
            reasons.push(Reason::SpreadKeyMissing { key: key() });
            continue;
        };
        if scene.is_full(domain) {
            reasons.push(Reason::Spread {
                key: key(),
                domain: domain.into(),
                count: scene.count(domain).unwrap_or(0),
                fewest: scene.lowest().map(Into::into),
                min: scene.min(),
                max_skew: scene.max_skew,
                unknown: scene.unknown().cloned(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::world::{check, refusals};

    /// Two zones, of which the first is far emptier.
    const ZONES: &str = "worker w1 0/99 label:zone=1; worker w2 0/9 label:zone=2;";
    const POLICY: &str = "policy p for:app=s spread:zone=1;";
    const FIVE: &str = "cluster a label:app=s; cluster b label:app=s; cluster c label:app=s;
        cluster d label:app=s; cluster e label:app=s";

    #[test]
    fn clusters_are_spread_evenly_over_the_domains() {
        check(&format!("{ZONES} {FIVE}"), "a -> w1; b -> w1; c -> w1; d -> w1; e -> w1");
        check(&format!("{ZONES} {POLICY} {FIVE}"), "a -> w1; b -> w2; c -> w1; d -> w2; e -> w1");
        let two = POLICY.replace("zone=1", "zone=2");
        check(&format!("{ZONES} {two} {FIVE}"), "a -> w1; b -> w1; c -> w2; d -> w1; e -> w2");
    }

    #[test]
    fn every_field_of_a_worker_can_be_the_domain() {
        let both = "worker w1 0/99 FIRST; worker w2 SECOND; policy p spread:KEY=1;
            cluster a; cluster b";
        for (key, first, second) in [
            ("worker", "", ""),
            ("location", "at=westeurope", "at=northeurope"),
            ("geography", "at=westeurope", "at=eastus"),
            ("flavor", "flavor=capz", "flavor=kind"),
            ("provider", "flavor=capz", "flavor=kind"),
            ("pool", "pool=a", "pool=b"),
            ("tier", "label:tier=x", "label:tier=y"),
        ] {
            let apart = both.replace("KEY", key).replace("FIRST", first).replace("SECOND", second);
            check(&apart, "a -> w1; b -> w2");
            let together =
                both.replace("KEY", key).replace("FIRST", first).replace("SECOND", first);
            let same = if key == "worker" { "a -> w1; b -> w2" } else { "a -> w1; b -> w1" };
            let together = if first.is_empty() { apart } else { together };
            check(&together, same);
        }
    }

    #[test]
    fn a_layout_that_is_skewed_already_takes_what_improves_it() {
        let there = "cluster x1 on=w1 label:app=s; cluster x2 on=w1 label:app=s;
            cluster x3 on=w1 label:app=s; cluster y on=w2 label:app=s;";
        let three = format!("{ZONES} worker w3 8/9 label:zone=3; {POLICY} {there}");
        check(
            &format!("{three} cluster a label:app=s"),
            "a -> w3; x1 on w1; x2 on w1; x3 on w1; y on w2",
        );
        let world = format!("{three} cluster a label:app=s");
        assert_eq!(
            refusals(&world, "a", "w1"),
            ["spread over label zone: 1 has 3, 3 has only 0, maxSkew is 1"]
        );
        assert_eq!(
            refusals(&world, "a", "w2"),
            ["spread over label zone: 2 has 1, 3 has only 0, maxSkew is 1"]
        );
    }

    #[test]
    fn a_domain_that_is_full_blocks_and_says_so() {
        let full = ZONES.replace("0/9 label", "8/9 label");
        check(
            &format!("{full} {POLICY} {FIVE}"),
            "a -> w1; b -> w2; c -> w1; d waits Capacity Spread; e waits Capacity Spread",
        );
    }

    #[test]
    fn what_closes_a_worker_for_now_takes_no_domain_out() {
        for closed in ["cordoned", "agent:silent", "taint:k=v:NoSchedule", "8/8", "?"] {
            let world = format!(
                "worker w1 label:zone=1; worker w2 {closed} label:zone=2; {POLICY}
                 cluster x on=w1 label:app=s; cluster a label:app=s"
            );
            let refused = refusals(&world, "a", "w1");
            assert_eq!(refused.len(), 1, "{closed}: {refused:?}");
            assert!(refused[0].starts_with("spread over label zone"), "{closed}: {refused:?}");
        }
    }

    #[test]
    fn a_worker_that_the_cluster_may_never_use_is_no_domain_and_nothing_there_counts() {
        let world = format!("{ZONES} {POLICY} cluster x on=w1 label:app=s;");
        check(&format!("{world} cluster a label:app=s only=w1"), "a -> w1; x on w1");
        let pools = world.replace("label:zone=1", "label:zone=1 pool=p");
        check(
            &format!("{pools} tenant t pools=p; cluster a label:app=s tenant=t"),
            "a -> w1; x on w1",
        );
        // On w3, in zone 1 too, are three that count only for those who may use it.
        let more = "worker w3 label:zone=1; cluster y1 on=w3 label:app=s;
            cluster y2 on=w3 label:app=s; cluster y3 on=w3 label:app=s; cluster z on=w2 label:app=s;";
        let rest = "x on w1; y1 on w3; y2 on w3; y3 on w3; z on w2";
        check(
            &format!("{world} {more} cluster a label:app=s not=w3,w2"),
            &format!("a -> w1; {rest}"),
        );
        check(&format!("{world} {more} cluster a label:app=s"), &format!("a -> w2; {rest}"));
    }

    #[test]
    fn a_worker_without_the_key_is_not_eligible() {
        let world =
            format!("worker w1; worker w2 8/9 label:zone=1; {POLICY} cluster a label:app=s");
        check(&world, "a -> w2");
        assert_eq!(refusals(&world, "a", "w1"), ["spread over label zone: it has none"]);
        check(&format!("worker w1; {POLICY} cluster a label:app=s"), "a waits SpreadKeyMissing");
    }

    #[test]
    fn all_constraints_hold_and_each_says_what_it_refuses() {
        let world = "worker w1 at=eastus label:zone=1; worker w2 at=westus label:zone=1;
            worker w3 at=westus cordoned label:zone=2; worker w4 at=northeurope;
            policy p for:app=s spread:zone=1 spread:location=1;
            cluster x on=w1 label:app=s; cluster a label:app=s";
        check(world, "a waits Cordoned Spread SpreadKeyMissing; x on w1");
        assert_eq!(
            refusals(world, "a", "w1"),
            [
                "spread over location: eastus has 1, westus has only 0, maxSkew is 1",
                "spread over label zone: 1 has 1, 2 has only 0, maxSkew is 1",
            ]
        );
        assert_eq!(refusals(world, "a", "w3"), ["cordoned"]);
        // w4 lacks a key that is needed, so its location is no domain either.
        assert_eq!(refusals(world, "a", "w4"), ["spread over label zone: it has none"]);
    }

    #[test]
    fn a_selector_says_who_counts_and_the_cluster_only_if_it_is_one_of_them() {
        let world = "worker w1 label:zone=1; worker w2 label:zone=2;
            policy p for:app=s spread:zone=1@app=t; cluster x on=w1 label:app=t;";
        check(
            &format!("{world} cluster a label:app=s; cluster b label:app=s"),
            "a -> w2; b -> w1; x on w1",
        );
        check(
            &format!(
                "{world} cluster y on=w1 label:app=t; cluster a label:app=s; cluster b label:app=s"
            ),
            "a -> w2; b -> w2; x on w1; y on w1",
        );
    }

    #[test]
    fn clusters_with_the_same_label_are_spread_among_themselves() {
        let world = format!("{ZONES} policy p spread:zone=1#app;");
        check(
            &format!(
                "{world} cluster a label:app=s; cluster b label:app=s; cluster c label:app=t;
                 cluster d label:app=t; cluster e; cluster f"
            ),
            "a -> w1; b -> w2; c -> w1; d -> w2; e -> w1; f -> w1",
        );
    }

    #[test]
    fn what_is_being_deleted_counts_as_long_as_it_holds_its_place() {
        let gone = "cluster x on=w1 label:app=s gone deleting policy=Delete;";
        check(&format!("{ZONES} {POLICY} {gone} cluster a label:app=s"), "a -> w2; x deletes w1");
    }

    #[test]
    fn a_clusters_own_constraint_is_added_and_counts_its_own_tenant() {
        let own = "cluster a label:app=s tenant=t spread:zone=1@app=s";
        let world = format!("{ZONES} policy p for:app=s spread:location=1; {own};");
        check(&format!("{world} cluster x on=w1 label:app=s"), "a -> w1; x on w1");
        check(&format!("{world} cluster x on=w1 label:app=s tenant=t"), "a -> w2; x on w1");
    }

    #[test]
    fn a_policy_that_says_so_counts_the_clusters_of_each_tenant_by_themselves() {
        let clusters = "cluster x on=w1 label:app=s tenant=t; cluster a label:app=s tenant=u";
        let world =
            |keys: &str| format!("{ZONES} policy p for:app=s spread:zone=1{keys}; {clusters}");
        check(&world(""), "a -> w2; x on w1");
        check(&world("#carp.dev/tenant"), "a -> w1; x on w1");
    }

    #[test]
    fn where_tenants_have_folders_a_policy_counts_one_tenant_at_a_time_unless_it_says_otherwise() {
        let clusters = "cluster x on=w1 label:app=s tenant=t; cluster a label:app=s tenant=u";
        let world = |rule: &str, tenants: &str| {
            format!("{ZONES} {tenants} policy p for:app=s spread:zone=1{rule}; {clusters}")
        };
        let apart = "tenant t folder; tenant u;";
        check(&world("", "tenant t; tenant u;"), "a -> w2; x on w1");
        check(&world("", apart), "a -> w1; x on w1");
        check(&world("~*", apart), "a -> w2; x on w1");
        check(&world("~t,u", apart), "a -> w2; x on w1");
        check(&world("~u", apart), "a -> w1; x on w1");
        check(&world("#carp.dev/tenant~*", apart), "a -> w1; x on w1");
    }

    #[test]
    fn a_soft_constraint_refuses_nobody_and_lowers_the_score() {
        let soft = "policy p for:app=s soft-spread:zone=1;";
        check(&format!("{ZONES} {soft} {FIVE}"), "a -> w1; b -> w2; c -> w1; d -> w2; e -> w1");
        let full = ZONES.replace("0/9 label", "8/9 label");
        check(&format!("{full} {soft} {FIVE}"), "a -> w1; b -> w2; c -> w1; d -> w1; e -> w1");
        check(
            &format!("worker w1; worker w2 8/9 label:zone=2; {soft} cluster a label:app=s"),
            "a -> w2",
        );
        check(&format!("worker w1; {soft} cluster a label:app=s"), "a -> w1");
    }

    #[test]
    fn a_placed_cluster_stays_whatever_the_spread_is() {
        check(
            &format!("{ZONES} {POLICY} cluster a on=w1 label:app=s; cluster b on=w1 label:app=s"),
            "a on w1; b on w1",
        );
    }

    #[test]
    fn a_worker_whose_document_is_removed_is_no_domain() {
        check(
            &format!(
                "worker w1 label:zone=1; worker w2 label:zone=2; worker w3 gone; {POLICY}
                 cluster x on=w1 label:app=s; cluster y on=w2 label:app=s;
                 cluster z on=w3 label:app=s; cluster a label:app=s"
            ),
            "a -> w1; x on w1; y on w2; z on w3; worker w3 RemovedInUse; hold WorkerInUse w3",
        );
    }

    #[test]
    fn a_worker_whose_document_did_not_load_may_be_in_any_domain() {
        // With its document w2 is zone 2, which has none: a waits, and goes on waiting while it is broken.
        let world = format!(
            "worker w1 label:zone=1; worker w2 8/8 label:zone=2; {POLICY}
             cluster x on=w1 label:app=s; cluster a label:app=s"
        );
        check(&world, "a waits Capacity Spread; x on w1");
        let broken = world.replace("w2 8/8 label:zone=2", "w2 broken");
        check(&broken, "a waits NotLoaded Spread; x on w1; worker w2 NotLoaded");
        assert_eq!(
            refusals(&broken, "a", "w1"),
            [
                "spread over label zone: 1 may have 1, and a domain may have only 0, for that of w2 is not known; \
              maxSkew is 1"
            ]
        );
        // What is on it may be in zone 1, so that this has two.
        let there = format!(
            "worker w1 label:zone=1; worker w2 broken; {POLICY}
             cluster x on=w1 label:app=s; cluster y on=w2 label:app=s; cluster a label:app=s"
        );
        check(&there, "a waits NotLoaded Spread; x on w1; y on w2; worker w2 NotLoaded");
        let wide = there.replace("spread:zone=1", "spread:zone=2");
        check(&wide, "a -> w1; x on w1; y on w2; worker w2 NotLoaded");
        // A worker is a domain for itself, whatever its document says.
        let apart = there.replace("spread:zone", "spread:worker");
        check(&apart, "a -> w1; x on w1; y on w2; worker w2 NotLoaded");
        let soft = there.replace("spread:zone", "soft-spread:zone");
        check(&soft, "a -> w1; x on w1; y on w2; worker w2 NotLoaded");
    }
}
