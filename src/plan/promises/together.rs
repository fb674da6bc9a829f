//! The promises about what is placed together: spread, anti-affinity, tenants and their quotas.

use super::play;

#[test]
fn spread() {
    play(&[
        (
            "one domain alone is never ahead of itself",
            "worker w1 label:z=1; policy p spread:z=1; cluster a; cluster b; cluster c",
            "a -> w1; b -> w1; c -> w1",
        ),
        (
            "a tainted worker takes no domain out (nodeTaintsPolicy: Ignore)",
            "worker w1 label:z=1; worker w2 label:z=2 taint:k=v:NoSchedule; policy p spread:z=1;
             cluster x on=w1; cluster a",
            "a waits Taint Spread; x on w1",
        ),
        (
            "a worker that the affinity rules out is no domain (nodeAffinityPolicy: Honor)",
            "worker w1 label:z=1; worker w2 label:z=2; policy p spread:z=1; cluster x on=w1;
             cluster a not=w2",
            "a -> w1; x on w1",
        ),
        (
            "all constraints hold together",
            "worker w1 label:z=1; worker w2 label:z=1; worker w3 label:z=2;
             policy p spread:z=1 spread:worker=1; cluster a; cluster b; cluster c",
            "a -> w1; b -> w3; c -> w2",
        ),
        (
            "a worker without one of the keys is not eligible, and counts in no domain",
            "worker w1 label:z=1; worker w2; policy p spread:z=1; cluster x on=w2; cluster a; cluster b",
            "a -> w1; b -> w1; x on w2",
        ),
        (
            "a cluster without a label of matchLabelKeys is not bound",
            "worker w1 label:z=1; worker w2 label:z=2 cordoned; policy p spread:z=1#app;
             cluster x on=w1 label:app=s; cluster a label:app=s; cluster b",
            "a waits Cordoned Spread; b -> w1; x on w1",
        ),
        (
            "an attached worker's provider is the one that it says",
            "worker w1 flavor=attached provider=gcp; worker w2; policy p spread:provider=1;
             cluster a; cluster b",
            "a -> w1; b -> w2",
        ),
        (
            "and one that says none is in no such domain",
            "worker w1 flavor=attached; worker w2; policy p spread:provider=1; cluster a; cluster b",
            "a -> w2; b -> w2",
        ),
        (
            "a place that is kept for a move counts too",
            "worker w1 drain label:z=1; worker w2 label:z=2; worker w3 label:z=3;
             policy p for:app=s spread:z=1;
             cluster x on=w1 rebuild moving=w2 step=D1 label:app=s; cluster a label:app=s",
            "a -> w3; x w1 => w2 D1 Drain",
        ),
        (
            "with ScheduleAnyway nothing is refused",
            "worker w1 label:z=1; worker w2 cordoned label:z=2; policy p soft-spread:z=1;
             cluster x on=w1; cluster a",
            "a -> w1; x on w1",
        ),
    ]);
}

#[test]
fn anti_affinity() {
    play(&[
        (
            "a worker that is in no domain shares none",
            "worker w1; policy p apart:zone=#dr; cluster x on=w1 label:dr=1; cluster a label:dr=1",
            "a -> w1; x on w1",
        ),
        (
            "where it is not known in which domain the other is, the newcomer waits",
            "worker w1 label:zone=1; worker w2 broken; policy p apart:zone=#dr;
             cluster x on=w2 label:dr=1; cluster a label:dr=1",
            "a waits NotLoaded AntiAffinity; x on w2; worker w2 NotLoaded",
        ),
        (
            "a worker is a domain for itself, whatever its document says",
            "worker w1; worker w2 broken; policy p apart:worker=#dr;
             cluster x on=w2 label:dr=1; cluster a label:dr=1",
            "a -> w1; x on w2; worker w2 NotLoaded",
        ),
        (
            "it keeps a newcomer away from both ends of a move",
            "worker w1 drain; worker w2; worker w3 at=eastus; policy p apart:worker=#dr;
             cluster x on=w1 rebuild moving=w2 step=D1 label:dr=1; cluster a label:dr=1",
            "a -> w3; x w1 => w2 D1 Drain",
        ),
        (
            "a rule of a cluster is about its own tenant",
            "worker w1; cluster x on=w1 tenant=u label:app=s apart:worker=@app=s;
             cluster a tenant=t label:app=s",
            "a -> w1; x on w1",
        ),
        (
            "a rule keeps a cluster out of its own move's way, and not from where it is",
            "worker w1 drain; worker w2; policy p apart:worker=#dr; cluster x on=w1 rebuild label:dr=1",
            "x w1 => w2 D1 Drain",
        ),
        (
            "as a wish it only lowers the score",
            "worker w1; policy p soft-apart:worker=#dr; cluster x on=w1 label:dr=1;
             cluster a label:dr=1",
            "a -> w1; x on w1",
        ),
    ]);
}

#[test]
fn versions_tenants_and_quotas() {
    play(&[
        (
            "a version that the fleet does not offer is refused to what is new, and what runs goes on",
            "worker w1; offers v1.35; cluster a version=v1.34.2; cluster x on=w1 version=v1.34.2",
            "a waits VersionNotOffered; x on w1",
        ),
        (
            "an entry for a patch counts before that of its minor version",
            "worker w1; offers v1.34 over until=2020-01-01T00:00:00Z; offers v1.34.2;
             cluster a version=v1.34.2; cluster b version=v1.34.1",
            "a -> w1; b waits VersionExpired",
        ),
        (
            "a tenant with pools uses workers of those and no others",
            "worker w1; worker w2 pool=red; tenant t pools=red; cluster a tenant=t",
            "a -> w2",
        ),
        (
            "one that is not in the list uses none",
            "worker w1; tenant t; cluster a tenant=u",
            "a waits Pool",
        ),
        (
            "policy, cluster and tenant bound the pools together",
            "worker w1 pool=red; worker w2 pool=blue; worker w3 pool=green; tenant t pools=red,blue;
             policy p pools=blue,green; cluster a tenant=t; cluster b tenant=t pools=green",
            "a -> w2; b waits Pool PoolNotUsed",
        ),
        (
            "a quota bounds what all clusters take together",
            "worker w1; tenant t quota=1; cluster a tenant=t; cluster b tenant=t",
            "a -> w1; b waits Quota",
        ),
        (
            "the location of a quota is that of the cluster's nodes, not of its worker",
            "worker w1 at=eastus; tenant t quota@eastus=0 quota@westeurope=1; cluster a tenant=t;
             cluster b tenant=t",
            "a -> w1; b waits Quota",
        ),
        (
            "a quota below what is used takes nothing away",
            "worker w1; tenant t quota=1; cluster a on=w1 tenant=t; cluster b on=w1 tenant=t;
             cluster c tenant=t",
            "a on w1; b on w1; c waits Quota",
        ),
        (
            "what is being deleted is used",
            "worker w1; tenant t quota=1; cluster x on=w1 tenant=t gone deleting policy=Delete;
             cluster a tenant=t",
            "a waits Quota; x deletes w1",
        ),
        (
            "a cluster that moves takes its share once",
            "worker w1 drain; worker w2; tenant t quota=1; cluster a on=w1 tenant=t rebuild",
            "a w1 => w2 D1 Drain",
        ),
    ]);
}
