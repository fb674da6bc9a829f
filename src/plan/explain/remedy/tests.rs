//! Remedies: each reason has its own, and none is larger than it must be.

use super::*;
use crate::model::{ClusterPlan, WaitingAhead};
use crate::plan::laws::{Seen, todays_steps};
use crate::plan::scale;
use crate::plan::world::World;

fn remedies(world: &str) -> Vec<String> {
    let shown = World::read(world).remedies("a").list;
    let text = |r: Remedy| {
        let fixes: Vec<_> = r.fixes.iter().map(ToString::to_string).collect();
        let after = if r.after.is_empty() { "" } else { " after " };
        format!("{}: {}{after}{}", r.worker, fixes.join(", "), r.after.join(", "))
    };
    shown.into_iter().map(text).collect()
}

#[test]
fn what_goes_further_than_another_remedy_is_no_remedy_of_its_own() {
    // For w2 it takes a skew of 3 and no cordon; a skew of 2 opens w1 already.
    let world = "worker w0 at=eastus taint:k=v:NoSchedule; worker w1 at=westus; worker w2 cordoned;
        policy p spread:location=1; cluster a; cluster x1 on=w1; cluster x2 on=w2; cluster x3 on=w2";
    assert_eq!(
        remedies(world),
        ["w0: tolerate taint k=v:NoSchedule", "w1: raise maxSkew over location to 2"]
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn each_reason_has_its_remedy() {
    for (world, remedy) in [
        ("worker w1 agent; cluster a", "wait until w1 reports"),
        ("worker w1 agent:silent; cluster a", "wait until w1 reports"),
        ("worker w1 agent:unhealthy; cluster a", "mend w1: Sick"),
        ("worker w1 cordoned; cluster a", "uncordon w1"),
        ("worker w1 drain; cluster a", "stop draining w1"),
        ("worker w1 3/3; cluster a needs=2", "+2 clusters on w1"),
        ("worker w1 3/1; cluster a", "+3 clusters on w1"),
        ("worker w1 3/1 ceiling=2; cluster a", "raise the ceiling of w1 by 2 clusters"),
        ("worker w1 1/? reserved=1; cluster a needs=2", "declare at least 4 clusters on w1"),
        ("worker w1 at=eastus; cluster a only-at=westus", "allow location eastus"),
        (
            "apart kamaji-capz; worker w1; worker w2; cluster a",
            "give the cluster ranges of its own in spec.network",
        ),
        ("apart kamaji-capz; worker w1 flavor=attached; cluster a", "name the ranges of w1"),
        ("worker w1; policy p only=w9; cluster a only=w8", "allow worker w1"),
        ("worker w1; policy p not=w1; cluster a not=w1", "stop excluding worker w1"),
        ("worker w1; cluster a with:zone=2", "label w1 zone=2"),
        ("worker w1; cluster a in:zone=1,2 notin:zone=1", "label w1 zone=2"),
        ("worker w1 label:zone=1; cluster a notin:zone=1", "remove label zone from w1"),
        ("worker w1 taint:k=v:NoExecute; cluster a", "tolerate taint k=v:NoExecute"),
        (
            "worker w1 pool=blue; tenant t pools=red; cluster a tenant=t",
            "grant pool blue to tenant t",
        ),
        ("worker w1; tenant t pools=red; cluster a tenant=t", "put w1 into pool red"),
        ("worker w1 pool=blue; policy p pools=red; cluster a", "use pool blue"),
        (
            "worker w1; tenant t pools=red,blue; policy p pools=blue; cluster a tenant=t",
            "put w1 into pool blue",
        ),
        ("worker w1; cluster a providers=gcp", "allow provider azure"),
        ("worker w1; cluster a field:provider:NotIn=azure", "allow provider azure"),
        ("worker w1 at=eastus; cluster a field:location:In=westus", "allow location eastus"),
        ("worker w1 zones=2,1; cluster a zones=3", "allow zones 1, 2"),
        ("worker w1 zones=2,1; cluster a field:zone:NotIn=1,2", "allow zones 1, 2"),
        (
            "worker w1 runs:kamaji=26.2.0-edge; cluster a version=v1.36.0",
            "take a version such as v1.35.0",
        ),
        (
            "worker w1 runs:capi=v1.14.0; cluster a version=v1.30.0",
            "take a version such as v1.31.0",
        ),
        (
            "worker w1; cluster a version=v1.34.0; offers v1.33; offers v1.35.2",
            "take a version such as v1.35.2",
        ),
        ("worker w1; policy p group:near:only=w9; cluster a", "add a group with w1"),
        (
            "worker w1 label:zone=1; worker w2 label:zone=2; unloaded WorkerOverlay w2;
             policy p spread:zone=1; cluster x on=w1; cluster a",
            "raise maxSkew over label zone to 2",
        ),
        (
            "worker w1; worker w2 label:zone=2; unloaded WorkerOverlay w2;
             policy p spread:zone=1; cluster a",
            "label w1 zone=2",
        ),
        (
            "worker w1; tenant t quota=2; cluster x on=w1 tenant=t; cluster a tenant=t needs=2",
            "raise the quota of tenant t by 1 cluster",
        ),
        (
            "worker w1; tenant t quota@westeurope=0; cluster a tenant=t",
            "raise the quota of tenant t by 1 cluster in westeurope",
        ),
    ] {
        assert_eq!(remedies(world), [format!("w1: {remedy}")], "{world}");
    }
}

#[test]
fn what_no_change_mends_has_no_remedy() {
    for world in [
        "worker w1 broken; cluster a",
        "worker w1 gone; cluster x on=w1; cluster a",
        "worker w1; cluster a with:zone=1 in:zone=2",
        "worker w1; cluster a zones=1",
        "worker w1 flavor=attached; cluster a providers=azure",
        "worker w1; cluster a field:provider:DoesNotExist",
        "worker w1; tenant t pools=red; policy p pools=blue; cluster a tenant=t",
        "worker w1; policy p apart:worker; cluster x on=w1; cluster a",
        "worker w1; policy p spread:zone=1; cluster a",
        "workerpool eu cap=2 label:zone=1; worker eu-1 made:eu=1 1/2; cluster a with:zone=2",
        "worker w1 cordoned; cluster a; unloaded PlacementPolicy ? blocking",
        "cluster a",
    ] {
        assert_eq!(remedies(world), [""; 0], "{world}");
    }
}

#[test]
fn the_smallest_three_are_shown_fewest_changes_first_then_by_worker() {
    assert_eq!(
        remedies(
            "worker w1 1/1 cordoned; worker w2 cordoned; worker w3 1/1;
             worker w4 cordoned taint:k=v:NoSchedule; worker w5 2/2; cluster a"
        ),
        ["w2: uncordon w2", "w3: +1 cluster on w3", "w5: +1 cluster on w5"]
    );
}

#[test]
fn one_change_that_opens_several_workers_is_shown_once() {
    assert_eq!(
        remedies(
            "worker w1 taint:k=v:NoSchedule; worker w2 taint:k=v:NoSchedule;
             worker w3 cordoned 1/1; cluster a"
        ),
        ["w1: tolerate taint k=v:NoSchedule", "w3: uncordon w3, +1 cluster on w3"]
    );
}

#[test]
fn what_opens_another_worker_already_is_not_made_larger() {
    assert_eq!(
        remedies(
            "worker w1 taint:k=v:NoSchedule; worker w2 cordoned taint:k=v:NoSchedule;
             worker w3 cordoned 1/1; cluster a"
        ),
        ["w1: tolerate taint k=v:NoSchedule", "w3: uncordon w3, +1 cluster on w3"]
    );
}

#[test]
fn changes_of_the_policy_and_of_the_worker_go_together() {
    assert_eq!(
        remedies(
            "worker w1 at=eastus 2/2 taint:k=v:NoSchedule; policy p only-at=westus; cluster a"
        ),
        ["w1: +1 cluster on w1, allow location eastus, tolerate taint k=v:NoSchedule"]
    );
}

#[test]
fn a_growth_that_is_held_has_its_remedy() {
    assert_eq!(
        remedies("worker w1 1/3 cordoned; cluster a on=w1 was=1 needs=4"),
        ["w1: +2 clusters on w1"]
    );
    assert_eq!(remedies("worker w1 1/3 cordoned; cluster a on=w1"), [""; 0]);
}

#[test]
fn no_change_is_made_in_vain() {
    let world = World::read(
        "worker w1 1/1 at=eastus cordoned agent pool=blue label:tier=x
                   taint:k=v:NoSchedule taint:k=v:NoExecute;
         policy p not=w1 only=w9; tenant t pools=red;
         cluster a tenant=t needs:mem=1 only-at=westus with:zone=1 in:zone=1,2 notin:tier=x",
    );
    let told = world.remedies("a").list;
    let input = world.input();
    let run = crate::plan::cycle::begin(&input);
    let request = run.request(&world.fleet.clusters["a"]);
    let candidate = run.states.get(&told[0].worker).expect("it is desired");
    let scene = RemedyTrial::of(&request, candidate, &world.fleet).expect("its document is there");
    let fixes = &told[0].fixes;
    assert_eq!(fixes.len(), 12);
    assert_eq!(scene.with(fixes).reasons(), []);
    for without in fixes {
        let others = fixes.iter().filter(|fix| *fix != without);
        assert_ne!(scene.with(others).reasons(), [], "{without} is needed");
    }
}

#[test]
fn who_stands_before_it_in_the_queue_takes_what_opens_first() {
    let queue = "cluster a1 seen=1; cluster a2 seen=2; cluster a seen=3; cluster b seen=4";
    assert_eq!(
        remedies(&format!("worker w1 1/1; {queue}")),
        ["w1: +3 clusters on w1 after a1, a2"]
    );
    assert_eq!(
        remedies(&format!("worker w1 1/1; {}", queue.replace("a1 seen", "a1 needs=2 seen"))),
        ["w1: +4 clusters on w1 after a1, a2"]
    );
    assert_eq!(
        remedies(&format!("worker w1 1/1; {}", queue.replace("a1 seen", "a1 only=w9 seen"))),
        ["w1: +2 clusters on w1 after a2"],
        "what cannot use it takes nothing"
    );
    assert_eq!(
        remedies(&format!("worker w1 0/2 cordoned; {queue}")),
        ["w1: uncordon w1, +1 cluster on w1 after a1, a2"]
    );
    assert_eq!(
        remedies(&format!("worker w1 0/3 cordoned; {queue}")),
        ["w1: uncordon w1 after a1, a2"]
    );
    assert_eq!(
        remedies(&format!("worker w1 1/1 ceiling=2; {queue}")),
        ["w1: raise the ceiling of w1 by 2 clusters after a2"],
        "the first of them is placed already"
    );
    let tenant = "tenant t quota=1; cluster x on=w1 tenant=t; cluster a1 tenant=t seen=1";
    assert_eq!(
        remedies(&format!("worker w1; {tenant}; cluster a tenant=t seen=2")),
        ["w1: raise the quota of tenant t by 2 clusters after a1"]
    );
}

#[test]
fn a_capacity_is_not_raised_beyond_its_ceiling() {
    assert_eq!(
        remedies("worker w1 1/1 ceiling=1; cluster a"),
        ["w1: raise the ceiling of w1 by 1 cluster"]
    );
}

#[test]
fn what_a_cluster_may_use_then_is_spread_then() {
    // Zone 1 has x, and zone 2, where there is no room, has none.
    let world = "worker w1 at=eastus label:zone=1; worker w2 9/9 at=westus label:zone=2;
        policy p for:app=s only-at=westus spread:zone=1; cluster x on=w1 label:app=s;
        cluster a label:app=s";
    assert_eq!(
        remedies(world),
        ["w2: +1 cluster on w2", "w1: allow location eastus, raise maxSkew over label zone to 2"]
    );
}

#[test]
fn the_worker_that_is_named_is_the_one_that_takes_it() {
    // The taint is on both, and w1 is nearer.
    let world =
        "worker w0 at=eastus taint:k=v:NoSchedule; worker w1 taint:k=v:NoSchedule; cluster a";
    assert_eq!(remedies(world), ["w1: tolerate taint k=v:NoSchedule"]);
}

#[test]
fn what_carp_brings_along_is_not_edited_for_all() {
    // The toleration is for this cluster alone, so nobody comes before it.
    let world = "policy d built-in; worker w1 0/1 taint:k=v:NoSchedule; cluster a1 seen=1;
        cluster a seen=2";
    assert_eq!(remedies(world), ["w1: tolerate taint k=v:NoSchedule"]);
    let own = world.replace("policy d built-in", "policy d");
    assert_eq!(
        remedies(&own),
        ["w1: +1 cluster on w1, tolerate taint k=v:NoSchedule after a1"],
        "its own policy is that of both"
    );
}

#[test]
fn a_growth_that_a_quota_holds_has_its_remedy_too() {
    assert_eq!(
        remedies("worker w1; tenant t quota=1; cluster a on=w1 tenant=t was=1 needs=2"),
        ["w1: raise the quota of tenant t by 1 cluster"]
    );
}

#[test]
fn how_many_fleets_are_planned_is_bounded() {
    let proofs = |world: &str| World::read(world).remedies("a").proofs;
    assert_eq!(proofs("worker w1; cluster a"), 0, "it lacks nothing");
    assert_eq!(proofs("worker w1; cluster a on=w1"), 0);
    assert_eq!(proofs("worker w1 cordoned; cluster a"), 1);
    assert_eq!(proofs("worker w1 cordoned 1/1; cluster a"), 3, "and each half of it");
    let queue = "cluster a1 seen=1; cluster a2 seen=2; cluster a seen=3";
    assert_eq!(
        proofs(&format!("worker w1 1/1; {queue}")),
        3,
        "as it is, for all before it, as taken"
    );
    // Forty workers of which none can be opened without one more before it.
    let worker = |n: usize| format!("worker w{n} 1/1 cordoned taint:k=v{n}:NoSchedule;");
    let workers = (10..50).map(worker).collect::<Vec<_>>().concat();
    let all = World::read(&format!("{workers} policy p; {queue}")).remedies("a");
    assert!(all.proofs <= MOST_PROOFS, "{}", all.proofs);
    assert!(!all.list.is_empty());
}

#[test]
fn who_comes_to_another_worker_by_the_change_is_told_too() {
    for (world, worker) in [
        // `c` is spread over zones: zone 1 has two more than zone 3, until `w1` is in a zone of its own. Then `w2` takes it.
        (
            "worker w1 label:zone=1; worker w2 label:zone=1; worker w3 cordoned label:zone=3;
             policy p for:app=s spread:zone=1; cluster x label:app=s on=w1;
             cluster y label:app=s on=w1; cluster c label:app=s priority=1; cluster a with:zone=2",
            "w1",
        ),
        // `c` is kept apart from `x`, whose zone `w2` is in until then.
        (
            "worker w1 label:zone=1; worker w2 label:zone=1; policy p for:app=s apart:zone;
             cluster x label:app=s on=w1; cluster c label:app=s priority=1; cluster a with:zone=2",
            "w1",
        ),
        // Of the policy that is changed `c` is as well, and `w2` has more room for it.
        (
            "worker w1 1/4 at=westus; worker w2 0/4 at=westus; policy p for:app=s only-at=eastus;
             cluster c label:app=s priority=1; cluster a label:app=s",
            "w1",
        ),
    ] {
        let found = World::read(world).remedies("a").list;
        let first = found.iter().find(|remedy| remedy.worker.as_str() == worker);
        let after = first.map(|remedy| remedy.after.iter().map(Name::as_str).collect::<Vec<_>>());
        assert_eq!(after, Some(vec!["c"]), "{world}: {found:?}");
    }
}

#[test]
fn who_else_could_be_taken_by_the_changed_worker_alone_is_told_as_by_all_of_them() {
    let told = Seen::default();
    todays_steps(|world, planning| {
        let waits = |planned: &ClusterPlan| matches!(planned.decision, Decision::Wait { .. });
        let mut waiting = planning.plan.clusters.iter().filter(|(_, planned)| waits(planned));
        let Some((name, _)) = waiting.next_back() else { return Ok(()) };
        let input = PlanInput { settled: None, ..world.input() };
        let nobody = (&WaitingAhead::default(), 0);
        scale::settle(&input, |input, run, _| {
            if run.is_still() && !may_scale(input) {
                let found = remedies_after(input, nobody, &run, name, true);
                proptest::prop_assert_eq!(
                    &found,
                    &remedies_after(input, nobody, &run, name, false)
                );
                told.note(found.map_or(0, |found| found.list.len()));
            }
            Ok(())
        })
    });
    told.at_least_of(400);
}
