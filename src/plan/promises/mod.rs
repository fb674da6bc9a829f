//! What `docs/placement.md` promises, and what users of kube-scheduler expect where carp says the same, as scenes:
//! written from the page and not from the code, each with the promise that it is of.

mod together;

use super::world::{World, check};

/// A promise, a world, and what becomes of it.
type Scene = (&'static str, &'static str, &'static str);

#[track_caller]
fn play(scenes: &[Scene]) {
    for (promise, world, expected) in scenes {
        let told = std::panic::catch_unwind(|| check(world, expected));
        assert!(told.is_ok(), "{promise}");
    }
}

#[test]
fn the_order_in_which_clusters_are_served() {
    play(&[
        (
            "first come those of the highest priority",
            "worker w1 0/1; cluster a seen=1; cluster b priority=5",
            "a waits Capacity; b -> w1",
        ),
        (
            "then who was seen first",
            "worker w1 0/1; cluster a seen=2; cluster b seen=1",
            "a waits Capacity; b -> w1",
        ),
        (
            "who is new comes after who was seen",
            "worker w1 0/1; cluster a; cluster b seen=7",
            "a waits Capacity; b -> w1",
        ),
        (
            "then the smaller name",
            "worker w1 0/1; cluster b; cluster a",
            "a -> w1; b waits Capacity",
        ),
        (
            "a cluster that fits nowhere keeps nobody up",
            "worker w1 0/2; cluster a needs=3; cluster b",
            "a waits Capacity; b -> w1",
        ),
        (
            "one that is placed may let in another that stands before it",
            "worker w1 0/9 label:z=1; worker w2 0/1 label:z=2; policy p for:app=s spread:z=1;
             cluster x on=w1 label:app=s; cluster a label:app=s needs=2 seen=1;
             cluster b label:app=s seen=2",
            "a -> w1; b -> w2; x on w1",
        ),
    ]);
}

#[test]
fn capacity_and_ceilings() {
    play(&[
        (
            "everything must fit",
            "worker w1 0/9 cap:mem=4; worker w2 0/9 cap:mem=8; cluster a needs:mem=6",
            "a -> w2",
        ),
        (
            "a resource that the worker does not name is unknown",
            "worker w1; cluster a needs:gpu=1",
            "a waits CapacityUnknown",
        ),
        (
            "free is capacity less what is reserved and taken",
            "worker w1 1/4 reserved=2; cluster a; cluster b",
            "a -> w1; b waits Capacity",
        ),
        (
            "what fits somewhere now is placed first, before any worker grows",
            "worker w1 1/1 ceiling=9; worker w2 0/1 at=eastus; cluster a",
            "a -> w2",
        ),
        (
            "nothing goes beyond a ceiling",
            "worker w1 1/1 ceiling=2; cluster a; cluster b",
            "a -> w1; b waits Capacity",
        ),
        (
            "a ceiling that is the capacity adds nothing",
            "worker w1 1/1 ceiling=1; cluster a",
            "a waits Capacity",
        ),
        (
            "a lower capacity evicts nobody and takes nothing new",
            "worker w1 5/3; cluster a on=w1; cluster b",
            "a on w1; b waits Capacity",
        ),
        (
            "a placed cluster grows below the ceiling, and not beyond",
            "worker w1 0/2 ceiling=3; cluster a on=w1 was=1 needs=2; cluster b on=w1 was=1 needs=2",
            "a on w1 takes 2; b on w1 blocked 2",
        ),
    ]);
}

#[test]
fn affinity() {
    play(&[
        (
            "the cluster narrows what its policy allows and never widens",
            "worker w1; worker w2; policy p only=w1; cluster a only=w1,w2; cluster b only=w2",
            "a -> w1; b waits AffinityName",
        ),
        (
            "a worker with several zones meets a term by any of them",
            "worker w1 zones=1,2; cluster a zones=2,3",
            "a -> w1",
        ),
        (
            "matchFields NotIn holds where none of the values is given",
            "worker w1 zones=1,2; worker w2; cluster a field:zone:NotIn=2",
            "a -> w2",
        ),
        ("preferred terms refuse nobody", "worker w1; cluster a prefer:100:zone=9", "a -> w1"),
        (
            "preferred comes before distance",
            "worker w1 at=eastus label:z=1; worker w2; cluster a prefer:1:z=1",
            "a -> w1",
        ),
        (
            "a soft violation comes before any weight",
            "worker w1 label:z=1 taint:k=v:PreferNoSchedule; worker w2; cluster a prefer:100:z=1",
            "a -> w2",
        ),
    ]);
}

#[test]
fn ordered_groups() {
    play(&[
        (
            "a group weighs more than all scores",
            "worker w1 8/9 at=eastus taint:k=v:PreferNoSchedule; worker w2;
             policy p group:first:only=w1 group:any; cluster a",
            "a -> w1 in first",
        ),
        (
            "only where none of a group can, the next one is used",
            "worker w1 1/1; worker w2 at=eastus; policy p group:near:only=w1 group:any; cluster a",
            "a -> w2 in any",
        ),
        (
            "required holds in every group",
            "worker w1; worker w2 label:t=x; policy p with:t=x group:near:only=w1 group:any; cluster a",
            "a -> w2 in any",
        ),
        (
            "a placed cluster stays where it is when an earlier group has room again",
            "worker w1; worker w2; policy p group:near:only=w1 group:any; cluster a on=w2 group=any",
            "a on w2",
        ),
        (
            "failback Never begins with the group that it was in",
            "worker w1; worker w2 drain; worker w3 at=eastus;
             policy p group:near:only=w1 group:far:only=w2,w3; cluster a on=w2 group=far rebuild",
            "a w2 => w3 D1 Drain",
        ),
        (
            "failback OnMove begins with the first",
            "worker w1; worker w2 drain; worker w3 at=eastus;
             policy p group:near:only=w1 group:far:only=w2,w3 failback; cluster a on=w2 group=far rebuild",
            "a w2 => w1 D1 Drain",
        ),
    ]);
}

#[test]
fn taints_and_tolerations() {
    play(&[
        (
            "an empty key with Exists tolerates everything",
            "worker w1 taint:k=v:NoSchedule taint:l=w:NoExecute; policy p tolerate:*; cluster a",
            "a -> w1",
        ),
        (
            "another effect is not tolerated",
            "worker w1 taint:k=v:NoSchedule; policy p tolerate:k=v:NoExecute; cluster a",
            "a waits Taint",
        ),
        (
            "no effect is every effect",
            "worker w1 taint:k=v:NoSchedule taint:k=v:NoExecute; policy p tolerate:k=v; cluster a",
            "a -> w1",
        ),
        (
            "another value is not tolerated",
            "worker w1 taint:k=v:NoSchedule; policy p tolerate:k=w; cluster a",
            "a waits Taint",
        ),
        (
            "NoSchedule moves nothing that is there",
            "worker w1 taint:k=v:NoSchedule; worker w2; cluster a on=w1 rebuild",
            "a on w1",
        ),
        (
            "a toleration for some seconds lets nothing new in",
            "worker w1 taint:k=v:NoExecute since=0; policy p tolerate:k=v:NoExecute seconds=300; cluster a",
            "a waits Taint",
        ),
        (
            "and lets what is there stay for so long",
            "worker w1 taint:k=v:NoExecute since=0; worker w2; now 100;
             policy p tolerate:k=v:NoExecute seconds=300; cluster a on=w1 rebuild",
            "a on w1",
        ),
        (
            "and no longer",
            "worker w1 taint:k=v:NoExecute since=0; worker w2; now 400;
             policy p tolerate:k=v:NoExecute seconds=300; cluster a on=w1 rebuild",
            "a w1 => w2 D1 NoExecute",
        ),
        (
            "PreferNoSchedule refuses nobody",
            "worker w1 taint:k=v:PreferNoSchedule; cluster a",
            "a -> w1",
        ),
    ]);
}

#[test]
fn how_the_workers_are_compared() {
    play(&[
        (
            "the paired location comes before the geography",
            "worker w1 at=francecentral; worker w2 at=northeurope; cluster a at=westeurope",
            "a -> w2",
        ),
        (
            "the largest share of a resource counts",
            "worker w1 1/4 cap:mem=100; worker w2 2/9 cap:mem=100; cluster a needs:mem=1",
            "a -> w2",
        ),
        ("shares are exact fractions", "worker w1 0/1000; worker w2 0/1001; cluster a", "a -> w2"),
        ("then the number of clusters", "worker w1 3/8; worker w2 1/4; cluster a", "a -> w2"),
        (
            "BinPack takes the fuller one",
            "worker w1 1/4; worker w2 2/4; policy p packs; cluster a",
            "a -> w2",
        ),
        (
            "and turns nothing else around",
            "worker w1 3/4 at=eastus; worker w2; policy p packs; cluster a",
            "a -> w2",
        ),
        ("the last tie is the name", "worker w2; worker w1; cluster a", "a -> w1"),
    ]);
}

#[test]
fn what_stays_and_what_moves() {
    play(&[
        (
            "the lowest priority leaves a drained worker first, one at a time",
            "worker w1 drain; worker w2; cluster a on=w1 rebuild priority=5; cluster b on=w1 rebuild",
            "a on w1 [Drain WaitsItsTurn]; b w1 => w2 D1 Drain",
        ),
        (
            "as many at a time as maxUnavailable says",
            "worker w1 drain=2; worker w2; cluster a on=w1 rebuild; cluster b on=w1 rebuild;
             cluster c on=w1 rebuild",
            "a w1 => w2 D1 Drain; b w1 => w2 D1 Drain; c on w1 [Drain WaitsItsTurn]",
        ),
        (
            "what is named and does not say Rebuild stays",
            "worker w1 drain; worker w2; cluster a on=w1",
            "a on w1 [Drain NotMovable]",
        ),
        (
            "where no other worker takes it a cluster stays",
            "worker w1 drain; worker w2 cordoned; cluster a on=w1 rebuild",
            "a on w1 [Drain NoWorkerFits]",
        ),
        (
            "a drained worker takes nothing new",
            "worker w1 drain; cluster a",
            "a waits Draining",
        ),
        (
            "cordons, room and readiness are no violation",
            "worker w1 5/3 cordoned agent:silent; worker w2; policy p violations=move;
             cluster a on=w1 rebuild",
            "a on w1",
        ),
        (
            "what its policy would not place there now moves only where the policy says so",
            "worker w1; worker w2; policy p only=w2; cluster a on=w1 rebuild",
            "a on w1",
        ),
        (
            "and then it does",
            "worker w1; worker w2; policy p only=w2 violations=move; cluster a on=w1 rebuild",
            "a w1 => w2 D1 Violation",
        ),
        (
            "nobody who is placed moves because of a spread or an anti-affinity",
            "worker w1 label:z=1; worker w2 label:z=2; policy p spread:z=1 apart:z=#dr violations=move;
             cluster a on=w1 rebuild label:dr=1; cluster b on=w1 rebuild label:dr=1",
            "a on w1; b on w1",
        ),
    ]);
}

#[test]
fn pools_grow_and_shrink() {
    play(&[
        (
            "a worker is made only for a cluster that passes every other filter there",
            "workerpool eu cap=2; cluster a only-at=eastus",
            "a waits NoWorkers",
        ),
        (
            "never while a worker that is there might take it and does not say what it has",
            "worker w1 ?; workerpool eu cap=2; cluster a",
            "a waits CapacityUnknown",
        ),
        (
            "a worker that was empty for the cool-down goes",
            "workerpool eu cap=2; worker eu-1 made:eu=1 spare",
            "worker eu-1 Retiring; eu gives up eu-1",
        ),
        (
            "not one to which something comes in the run",
            "workerpool eu cap=2; worker eu-1 made:eu=1 spare; cluster a",
            "a -> eu-1",
        ),
        ("not below the minimum", "workerpool eu min=1 max=3; worker eu-1 made:eu=1 spare", ""),
        (
            "not while a document that may be a worker's did not load",
            "workerpool eu cap=2; worker eu-1 made:eu=1 spare; unloaded WorkerOverlay x",
            "",
        ),
    ]);
}

#[test]
fn every_scene_has_its_reasons_for_every_worker() {
    // The summary counts workers: what one says twice is counted once.
    let world = World::read(
        "worker w1 1/1; worker w2 1/1 cordoned; worker w3 taint:k=v:NoSchedule; cluster a",
    );
    let told = world.explain("a");
    assert_eq!(
        told.summary.as_deref(),
        Some(
            "0/3 workers are available: 1 worker(s) had untolerated taint {k=v:NoSchedule}, \
             1 worker(s) were unschedulable, 2 worker(s) had insufficient clusters."
        )
    );
}
