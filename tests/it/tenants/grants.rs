//! What `carp.yaml` grants a tenant, and what it is told of its folders.

use carp::diag::{Code, Severity};
use carp::model::{HoldKind, WorkerState};

use super::{cluster, errors, fleet};
use crate::support::small::worker;

#[test]
fn a_tenant_sets_the_labels_that_it_is_granted() {
    let mut world = fleet();
    world.edit(
        "carp.yaml",
        "paths: [fleet/red]",
        "paths: [fleet/red]\n      labels: [team, red.example.com/]",
    );
    let labelled = |labels: &str| {
        let labels = format!("namespace: red\n  labels: {{{labels}}}");
        cluster("r-2", "red", "westeurope").replace("namespace: red", &labels)
    };
    for good in ["team: x", "red.example.com/stage: x", "team: x, red.example.com/a: z"] {
        world.write("fleet/red/r-2.yaml", &labelled(good));
        let run = world.propose();
        assert!(!run.diagnostics.has_errors(), "{good}: {:#?}", run.diagnostics);
    }
    for bad in ["tier: gold", "teams: x", "red.example.com: x", "example.com/team: x"] {
        world.write("fleet/red/r-2.yaml", &labelled(bad));
        assert_eq!(errors(&world.propose()), [Code::LabelNotGranted], "{bad}");
    }
}

#[test]
fn overlapping_folders_and_a_tenant_without_any_are_told() {
    let told = |from: &str, to: &str| {
        let mut world = fleet();
        world.edit("carp.yaml", from, to);
        let found = world.propose().diagnostics;
        let warnings: Vec<_> =
            found.iter().filter(|d| d.severity == Severity::Warning).map(|d| d.code).collect();
        assert!(!found.has_errors(), "{found:#?}");
        warnings
    };
    let both = told("[fleet/red]", "[fleet/red, fleet/blue]");
    assert_eq!(both, [Code::TenantsNotApart]);
    assert_eq!(told("[fleet/red]", "[fleet/red, fleet/blue/red]"), [Code::TenantsNotApart]);
    let without = told("paths: [fleet/red]", "maxPriority: 5");
    assert_eq!(without, [Code::TenantsNotApart]);
}

/// Whoever gives the platform's own folder to a tenant takes what stands there out of the fleet: nothing goes
/// because of that, nor beside it.
#[test]
fn a_commit_that_gives_a_folder_away_does_not_profit_from_it() {
    for broken in [false, true] {
        let mut world = fleet();
        world.edit("carp.yaml", "paths: [fleet/red]", "paths: [fleet/red, fleet/workers]");
        if broken {
            world.write("fleet/workers/w-eus.yaml", "kind: [");
        }
        world.remove("fleet/workers/w-old.yaml");
        world.remove("fleet/blue/b-1.yaml");
        for _ in 0..2 {
            let run = world.run();
            let held = run.plan.holds.iter().find(|hold| hold.kind == HoldKind::DeletionsHeld);
            let names = held.map(|hold| hold.names.clone()).unwrap_or_default();
            assert_eq!(names, ["b-1", "w-old"], "{:#?}", run.plan.holds);
            let retires = |state| state == WorkerState::Retiring;
            assert!(!run.plan.workers.values().any(|worker| retires(worker.state)));
        }
    }
}

/// What keeps tenants apart acts by the stricter of two; what they are granted acts at once, and is settled then.
#[test]
fn a_grant_acts_at_once_and_comes_to_rest() {
    let mut world = fleet();
    world.edit(
        "carp.yaml",
        "paths: [fleet/red]",
        "paths: [fleet/red]\n      quota: {total: {clusters: 1}}",
    );
    assert!(world.run().plan.holds.is_empty());
    world.write("fleet/red/r-2.yaml", &cluster("r-2", "red", "westeurope"));
    world.run();
    assert_eq!(world.worker_of("r-2"), None);
    world.edit("carp.yaml", "total: {clusters: 1}", "total: {clusters: 2}");
    world.run();
    assert_eq!(world.worker_of("r-2").as_deref(), Some("w-weu"));
    assert!(!world.run().has_changes());
}

/// A policy that a label chooses brings tolerations along: who may not set the label does not get them, by a document
/// of any form.
#[test]
fn no_label_that_a_tenant_was_not_granted_reaches_a_tainted_worker() {
    let gold = "apiVersion: carp.dev/v1alpha1
kind: PlacementPolicy
metadata: {name: gold}
spec:
  clusterSelector: {matchLabels: {tier: gold}}
  affinity: {required: [{names: [w-gold]}]}
  tolerations: [{key: gold, effect: NoSchedule}]
";
    let tainted = worker("w-gold", "francecentral", 9);
    let tainted = format!("{tainted}  taints: [{{key: gold, effect: NoSchedule}}]\n");
    let there = |granted: &str| {
        let mut world = fleet();
        let grant = format!("paths: [fleet/red]\n      labels: [{granted}]");
        world.edit("carp.yaml", "paths: [fleet/red]", &grant);
        world.write("policies/gold.yaml", gold);
        world.write("fleet/workers/w-gold.yaml", &tainted);
        let own = cluster("r-2", "red", "francecentral");
        let forms = [
            own.replace("namespace: red", "namespace: red\n  labels: {tier: gold}"),
            own.replace("r-2", "r-3")
                .replace("namespace: red", "namespace: red\n  labels: {\"tier\": \"g\\u006fld\"}"),
            own.replace("r-2", "r-4").replace("spec:\n", "spec:\n  tolerations: [{key: gold}]\n"),
            own.replace("r-2", "r-5").replace(
                "spec:\n",
                "spec:\n  placement: {affinity: {required: [{names: [w-gold]}]}}\n",
            ),
            own.replace("r-2", "r-6")
                .replace("spec:\n", "spec:\n  placement: {tolerations: [{operator: Exists}]}\n"),
        ];
        for (number, text) in forms.iter().enumerate() {
            world.write(&format!("fleet/red/x{number}.yaml"), text);
        }
        world.run();
        ["r-2", "r-3", "r-4", "r-5", "r-6"]
            .into_iter()
            .filter(|name| world.worker_of(name).as_deref() == Some("w-gold"))
            .collect::<Vec<_>>()
    };
    assert_eq!(there("team"), [""; 0]);
    assert_eq!(there("team, tier"), ["r-2", "r-3"], "who was granted it comes there");
}
