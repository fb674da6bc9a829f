//! Random histories of a fleet.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;

/// A statement's subject (`worker w1`) and the rest of it; `None` where it is gone.
type Edit = (String, Option<String>);

fn word(choices: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    select(choices)
}

fn worker() -> impl Strategy<Value = Edit> {
    let details = (
        word(&["0/1", "0/2", "0/3", "0/4", "0/5", "0/7", "0/9", "0/9", "0/0", "?"]),
        word(&["", "cap:mem=9", "cap:mem=20", "cap:mem=20"]),
        word(&["at=westeurope", "at=northeurope", "at=eastus"]),
        word(&[
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "cordoned",
            "taint:k=v:NoExecute",
            "taint:k=v:NoExecute since=-100",
            "taint:k=v:NoSchedule",
            "taint:k=v:PreferNoSchedule",
        ]),
        word(&[
            "",
            "",
            "",
            "",
            "",
            "agent",
            "agent:healthy",
            "agent:healthy",
            "agent:healthy",
            "agent:healthy ns=c01,c02,c03,c04,c05,c06",
            "agent:silent",
            "agent:unhealthy",
        ]),
        word(&[
            "",
            "label:zone=1",
            "label:zone=1",
            "label:zone=2",
            "label:zone=2",
            "pool=blue",
            "reserved=1",
            "zones=1,2",
            "flavor=kind",
            "flavor=attached",
            "net=10.0.0.0/16,10.1.0.0/16",
            "ceiling=4",
            "ceiling=6 ceiling:mem=12",
            "runs:kamaji=26.2.0-edge",
            "store:gold=tier:high",
        ]),
    );
    (0..7_u8, prop::option::weighted(0.9, details)).prop_map(|(number, details)| {
        let text = details.map(|(a, b, c, d, e, f)| [a, b, c, d, e, f].join(" "));
        (format!("worker w{number}"), text)
    })
}

fn cluster() -> impl Strategy<Value = Edit> {
    let details = (
        word(&["", "", "", "needs=2", "needs=3"]),
        word(&["", "", "", "", "needs:mem=2", "needs:mem=5"]),
        word(&["at=westeurope", "at=northeurope", "at=eastus"]),
        word(&[
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "only=w1,w2",
            "not=w1",
            "with:zone=1",
            "only-at=eastus",
            "prefer:9:zone=2",
            "zones=2",
            "field:provider:NotIn=docker",
            "pools=blue",
            "store=gold",
            "stored=tier:high",
            "version=v1.36.0",
            "version=v1.33.0",
            "version=v1.33.0",
        ]),
        word(&["", "", "priority=1", "priority=-1", "tenant=t"]),
        word(&["", "label:env=prod", "policy=Delete", "policy=Delete", "policy=Delete"]),
        word(&[
            "",
            "label:app=s",
            "label:app=s",
            "label:app=s",
            "label:dr=x",
            "label:dr=x",
            "label:dr=y",
        ]),
        word(&["", "", "", "", "", "tenant=t apart:location=@", "spread:worker=1@env=prod"]),
        word(&["", "rebuild", "rebuild"]),
    );
    (0..12_u8, prop::option::weighted(0.7, details)).prop_map(|(number, details)| {
        let text = details.map(|(a, b, c, d, e, f, g, h, i)| [a, b, c, d, e, f, g, h, i].join(" "));
        (format!("cluster c{number:02}"), text)
    })
}

fn other() -> impl Strategy<Value = Edit> {
    select(vec![
        ("workerpool a", Some("max=2 agent cap=3 at=westeurope,eastus")),
        ("workerpool a", Some("min=1 cap=2 label:zone=1")),
        ("workerpool a", Some("max=3 pending=1 agent cap=4 cap:mem=9")),
        ("policy p", Some("tolerate:k=v")),
        ("policy p", Some("tolerate:k=v:NoExecute seconds=50")),
        ("policy p", Some("failover=60 rate=2 violations=move only=w1,w2,w3")),
        ("now 100", Some("")),
        ("now 100", None),
        ("policy p", Some("for:env=prod not=w2")),
        ("policy p", Some("for:env=prod packs group:near:only=w1 group:far:only=w2")),
        ("policy p", Some("for:env=prod group:near:only=w0")),
        ("policy p", Some("for:env=prod pools=blue providers=azure,docker")),
        ("policy p", None),
        ("apart kamaji-capz", Some("")),
        ("apart kamaji-capz", None),
        ("apart kamaji-capz", None),
        ("offers v1.34", Some("")),
        ("offers v1.33", Some("over")),
        ("offers v1.33", Some("over")),
        ("offers v1.34", None),
        ("offers v1.33", None),
        ("offers v1.33", None),
        ("policy q", Some("for:env=prod prefer:50:zone=1 priority=1")),
        ("policy q", None),
        ("tenant t", Some("pools=blue")),
        ("tenant default", Some("folder")),
        ("tenant t", None),
        ("tenant default", None),
        ("unloaded ManagedCluster c03", Some("")),
        ("unloaded ManagedCluster c03", None),
        ("unloaded Worker w1", None),
        ("kept worker w3", Some("")),
        ("kept worker w3", None),
        ("found a-1", Some("overdue")),
        ("found a-1", Some("spare")),
        ("found a-1", None),
        ("unloaded WorkerOverlay w2", Some("")),
        ("unloaded WorkerOverlay w2", None),
        ("unloaded PlacementPolicy ?", Some("blocking")),
        ("unloaded PlacementPolicy ?", None),
        ("unloaded PlacementPolicy ?", None),
    ])
    .prop_map(|(subject, text)| (subject.to_owned(), text.map(str::to_owned)))
}

/// Rules on what is placed.
fn rule() -> impl Strategy<Value = Edit> {
    select(vec![
        ("policy s", Some("for:app=s spread:location=1")),
        ("policy s", Some("for:app=s spread:location=1")),
        ("policy s", Some("for:app=s spread:zone=1 soft-spread:worker=1")),
        ("policy s", Some("for:app=s spread:location=2 apart:worker=@app=s#env")),
        ("policy d", Some("priority=2 for:dr=x apart:worker=@#dr")),
        ("policy d", Some("priority=2 for:dr=x apart:location=@#dr")),
        ("policy d", Some("priority=2 for:dr=x soft-apart:location=@#dr apart:zone=@dr=y")),
        ("policy d", None),
        ("policy s", Some("for:app=s spread:location=1~* apart:worker=@app=s~t")),
        ("tenant t", Some("quota=1")),
        ("tenant t", Some("quota@eastus=1 quota:mem=4")),
        ("tenant default", Some("folder quota=5")),
        ("tenant default", Some("quota=3 quota:mem=9")),
        ("tenant default", Some("quota@westeurope=3")),
        ("tenant default", Some("")),
        ("tenant t", None),
    ])
    .prop_map(|(subject, text)| (subject.to_owned(), text.map(str::to_owned)))
}

/// Drains come and go without anything else about a worker.
fn drains() -> impl Strategy<Value = Edit> {
    (0..7_u8, prop::option::weighted(0.7, Just(String::new())))
        .prop_map(|(number, text)| (format!("drains w{number}"), text))
}

fn edits(most: usize) -> impl Strategy<Value = Vec<Edit>> {
    let edit =
        prop_oneof![6 => worker(), 12 => cluster(), 4 => other(), 5 => rule(), 4 => drains()];
    prop::collection::vec(edit, 1..most)
}

/// A worker with room, which some are to leave.
fn roomy() -> impl Strategy<Value = Edit> {
    let trouble = word(&[
        "",
        "",
        "agent:healthy",
        "agent:healthy",
        "taint:k=v:NoExecute",
        "agent:silent",
        "drain=2",
    ]);
    let details = (
        word(&["0/3", "0/5", "0/7", "0/9"]),
        word(&["at=westeurope", "at=northeurope", "at=eastus"]),
        word(&["label:zone=1", "label:zone=2"]),
        trouble,
    );
    (0..7_u8, details).prop_map(|(number, (a, b, c, d))| {
        (format!("worker w{number}"), Some(["cap:mem=20", a, b, c, d].join(" ")))
    })
}

/// A cluster that may be made anew elsewhere.
fn movable() -> impl Strategy<Value = Edit> {
    let details = (
        word(&["at=westeurope", "at=northeurope", "at=eastus"]),
        word(&["", "", "needs:mem=2"]),
        word(&["", "label:env=prod", "label:app=s", "label:app=s", "label:dr=x"]),
        word(&["rebuild", "rebuild", "rebuild", "flavor=capz", ""]),
        word(&["", "policy=Delete"]),
    );
    (0..12_u8, prop::option::weighted(0.9, details)).prop_map(|(number, details)| {
        let text = details.map(|(a, b, c, d, e)| [a, b, c, d, e].join(" "));
        (format!("cluster c{number:02}"), text)
    })
}

/// What lets clusters leave a worker that is lost, and what takes them.
fn losses() -> impl Strategy<Value = Edit> {
    select(vec![
        ("policy p", Some("failover=60 rate=2")),
        ("policy p", Some("violations=move only=w1,w2,w3,w4")),
        ("policy p", None),
        ("now 100", Some("")),
        ("now 100", None),
        ("workerpool a", Some("max=2 agent cap=2 at=westeurope")),
        ("found a-1", Some("overdue")),
        ("rebalance 2:5", Some("")),
        ("rebalance 2:5", None),
    ])
    .prop_map(|(subject, text)| (subject.to_owned(), text.map(str::to_owned)))
}

/// The fleets of a history, one after the other, as statements. Some try every rule, and in the others
/// there is room and much is to leave its worker.
pub(super) fn history() -> impl Strategy<Value = Vec<Vec<String>>> {
    let every_rule = (
        prop::collection::vec(worker(), 2..9),
        prop::collection::vec(cluster(), 4..20),
        prop::collection::vec(rule(), 2..7),
    );
    let leaving = (
        prop::collection::vec(roomy(), 5..12),
        prop::collection::vec(movable(), 8..24),
        prop::collection::vec(prop_oneof![2 => losses(), 1 => rule()], 1..5),
    );
    let troubles =
        prop_oneof![3 => roomy(), 3 => movable(), 2 => losses(), 8 => drains(), 1 => rule()];
    let troubles = prop::collection::vec(troubles, 1..6);
    prop_oneof![
        3 => (every_rule, prop::collection::vec(edits(8).boxed(), 1..5)),
        4 => (leaving, prop::collection::vec(troubles.boxed(), 2..6)),
    ]
    .prop_map(|((workers, clusters, rules), steps)| {
        fleets(workers.into_iter().chain(clusters).chain(rules).collect(), steps)
    })
}

fn fleets(first: Vec<Edit>, steps: Vec<Vec<Edit>>) -> Vec<Vec<String>> {
    let mut fleet = BTreeMap::new();
    let mut fleets = Vec::new();
    for step in std::iter::once(first).chain(steps) {
        for (subject, text) in step {
            match text {
                Some(text) => fleet.insert(subject, text),
                None => fleet.remove(&subject),
            };
        }
        let mut statements: Vec<_> =
            fleet.iter().map(|(subject, text)| format!("{subject} {text}")).collect();
        statements.push("transfers capz".to_owned());
        fleets.push(statements);
    }
    fleets
}
