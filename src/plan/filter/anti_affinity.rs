//! Anti-affinity: in the worker's domain is no cluster from which this one is kept apart, by a rule of its
//! own or by one of that cluster.

use crate::model::{Reason, topology};
use crate::plan::candidate::{Candidate, Request};
use crate::plan::depends_on::DependsOn;
use crate::plan::pre_filter_state;

pub(super) const READS: &[DependsOn] = pre_filter_state::READS;

pub(super) fn refuse(request: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    let Some(worker) = candidate.worker else { return };
    for scene in request.pre_filter.apart.iter().filter(|scene| scene.refuses) {
        // A worker that is in no domain shares none.
        let Some(domain) = topology::domain(scene.key, worker) else { continue };
        let here = scene.taken.get(domain).map(|cluster| (Some(domain.into()), *cluster));
        let Some((domain, cluster)) = here.or_else(|| Some((None, scene.anywhere?))) else {
            continue;
        };
        let (key, cluster) = (scene.key.into(), cluster.clone());
        reasons.push(Reason::AntiAffinity { key, domain, cluster });
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::world::{check, refusals};

    /// Two locations; w1 is by far the emptiest worker.
    const THREE: &str = "worker w1 0/99 at=westeurope; worker w2 at=westeurope;
        worker w3 at=northeurope;";
    const PAIR: &str = "cluster a label:dr=shop; cluster b label:dr=shop";

    #[test]
    fn two_with_the_same_label_are_never_in_one_domain() {
        let by = |key: &str| format!("{THREE} policy p apart:{key}=#dr; {PAIR}");
        check(&format!("{THREE} {PAIR}"), "a -> w1; b -> w1");
        check(&by("worker"), "a -> w1; b -> w2");
        check(&by("location"), "a -> w1; b -> w3");
        check(&by("geography"), "a -> w1; b waits AntiAffinity");
    }

    #[test]
    fn only_those_with_the_same_label_are_kept_apart() {
        let world = format!("{THREE} policy p apart:location=#dr;");
        check(
            &format!("{world} {PAIR}; cluster c label:dr=pay; cluster d; cluster e"),
            "a -> w1; b -> w3; c -> w1; d -> w1; e -> w1",
        );
    }

    #[test]
    fn the_reason_names_the_other_cluster() {
        let world = format!(
            "{THREE} policy p apart:location=#dr; cluster x on=w2 label:dr=shop;
             cluster a label:dr=shop"
        );
        check(&world, "a -> w3; x on w2");
        let refused = ["kept apart from cluster x, in location westeurope"];
        assert_eq!(refusals(&world, "a", "w1"), refused);
        assert_eq!(refusals(&world, "a", "w2"), refused);
        let more = format!("{world}; cluster v on=w1 label:dr=shop");
        let refused = ["kept apart from cluster v, in location westeurope"];
        assert_eq!(refusals(&more, "a", "w2"), refused, "the first by name");
    }

    #[test]
    fn it_holds_both_ways() {
        // Only one of the two has the rule, and it holds whoever is there first.
        let one = format!("{THREE} policy p for:app=jealous apart:worker=@app=quiet;");
        let (jealous, quiet) = ("label:app=jealous", "label:app=quiet");
        check(&format!("{one} cluster x on=w1 {quiet}; cluster a {jealous}"), "a -> w2; x on w1");
        check(&format!("{one} cluster x on=w1 {jealous}; cluster a {quiet}"), "a -> w2; x on w1");
        check(&format!("{one} cluster a {jealous}; cluster b {quiet}"), "a -> w1; b -> w2");
        check(&format!("{one} cluster a {quiet}; cluster b {jealous}"), "a -> w1; b -> w2");
        check(&format!("{one} cluster a {quiet}; cluster b {quiet}"), "a -> w1; b -> w1");
        check(&format!("{one} cluster a {jealous}; cluster b {jealous}"), "a -> w1; b -> w1");
    }

    #[test]
    fn without_a_selector_the_clusters_of_the_policy_keep_apart() {
        check(
            "worker w1 0/99; worker w2; policy p for:app=s apart:worker;
             cluster a label:app=s; cluster b label:app=s; cluster c label:app=s; cluster d",
            "a -> w1; b -> w2; c waits AntiAffinity; d -> w1",
        );
    }

    #[test]
    fn a_clusters_own_rule_is_about_its_own_tenant_both_ways() {
        let own = "tenant=t apart:worker=@";
        check(&format!("{THREE} cluster x on=w1 tenant=t; cluster a {own}"), "a -> w2; x on w1");
        check(&format!("{THREE} cluster x on=w1 {own}; cluster a tenant=t"), "a -> w2; x on w1");
        check(&format!("{THREE} cluster x on=w1; cluster a {own}"), "a -> w1; x on w1");
        check(&format!("{THREE} cluster x on=w1 {own}; cluster a"), "a -> w1; x on w1");
    }

    #[test]
    fn a_policy_that_says_so_keeps_apart_the_clusters_of_each_tenant_by_themselves() {
        let world = "worker w1 0/99; worker w2; policy p apart:worker=#KEY;
            cluster x on=w1 tenant=t label:dr=a; cluster a tenant=u label:dr=a; cluster b tenant=t label:dr=b";
        let by = |key: &str| world.replace("KEY", key);
        check(&by("carp.dev/tenant"), "a -> w1; b -> w2; x on w1");
        check(&by("dr"), "a -> w2; b -> w1; x on w1");
        check(&by("carp.dev/tenant,dr"), "a -> w1; b -> w1; x on w1");
    }

    #[test]
    fn where_tenants_have_folders_nobody_is_kept_away_by_another_tenant_unless_the_policy_says_so()
    {
        let world = |rule: &str, tenants: &str| {
            format!(
                "worker w1 0/99; worker w2; {tenants} policy p for:app=red apart:worker=@{rule};
                 cluster x on=w1 tenant=t label:app=red; cluster a tenant=u; cluster b tenant=t"
            )
        };
        let apart = "tenant t folder; tenant u folder;";
        check(&world("", ""), "a -> w2; b -> w2; x on w1");
        check(&world("", apart), "a -> w1; b -> w2; x on w1");
        check(&world("~*", apart), "a -> w2; b -> w2; x on w1");
        check(&world("~u", apart), "a -> w2; b -> w1; x on w1");
    }

    #[test]
    fn the_rule_of_a_cluster_that_is_gone_or_broken_holds_by_its_row() {
        let own = "cluster x on=w1 gone policy=Delete tenant=t apart:worker=@;";
        check(&format!("{THREE} {own} cluster a tenant=t"), "a -> w2; x deletes w1");
        check(
            &format!("{THREE} {own} cluster a tenant=t; unloaded ManagedCluster x"),
            "a -> w2; x on w1",
        );
    }

    #[test]
    fn where_the_other_is_may_not_be_known() {
        let world = "worker w1; worker w2 broken; policy p apart:KEY=#dr;
            cluster x on=w2 label:dr=shop; cluster a label:dr=shop";
        let by_location = world.replace("KEY", "location");
        check(&by_location, "a waits NotLoaded AntiAffinity; x on w2; worker w2 NotLoaded");
        assert_eq!(
            refusals(&by_location, "a", "w1"),
            ["kept apart from cluster x, whose location is not known"]
        );
        check(&world.replace("KEY", "worker"), "a -> w1; x on w2; worker w2 NotLoaded");
    }

    #[test]
    fn a_worker_in_no_domain_shares_none() {
        let world =
            "worker w1 0/99; worker w2; policy p apart:rack=#dr; cluster x on=w1 label:dr=shop;";
        check(&format!("{world} cluster a label:dr=shop"), "a -> w1; x on w1");
    }

    #[test]
    fn a_soft_rule_refuses_nobody_and_lowers_the_score() {
        let world = "worker w1 0/99; worker w2 8/9; policy p soft-apart:worker=#dr;";
        check(&format!("{world} {PAIR}; cluster c label:dr=shop"), "a -> w1; b -> w2; c -> w1");
        // It, too, holds both ways.
        let one = "worker w1 0/99; worker w2 8/9; policy p for:app=j soft-apart:worker=@app=q;
            cluster x on=w1 label:app=j; cluster a label:app=q";
        check(one, "a -> w2; x on w1");
    }

    #[test]
    fn a_placed_cluster_stays_beside_whom_it_is() {
        check(
            &format!(
                "{THREE} policy p apart:worker=#dr; cluster a on=w1 label:dr=x; cluster b on=w1 label:dr=x"
            ),
            "a on w1; b on w1",
        );
    }
}
