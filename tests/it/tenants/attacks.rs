//! Documents in a tenant's folder that are none of its clusters, one by one.

use carp::diag::Code;

use super::{changes_nothing, class, cluster, errors, fleet, labelled};
use crate::support::small::worker;

/// A document of a kind, with a spec of one line.
fn document(kind: &str, name: &str, spec: &str) -> String {
    format!(
        "apiVersion: carp.dev/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n"
    )
}

fn acknowledgement(of: &str) -> String {
    let digest = "0".repeat(64);
    document("Acknowledgement", "yes", &format!("{{of: {of}, count: 1, digest: \"{digest}\"}}"))
}

#[test]
fn nothing_but_its_own_clusters_loads_from_a_tenants_folder() {
    let pool = "{max: 50, min: 50, template: {spec: {version: v1.34.2, location: westeurope}}}";
    for (what, text) in [
        ("a worker that attracts all", worker("magnet", "westeurope", 500)),
        ("a second document of a worker", worker("w-weu", "westeurope", 0)),
        ("a second document of a pool's worker", worker("eu-1", "northeurope", 9)),
        ("an overlay that drains", document("WorkerOverlay", "w-weu", "{drain: true}")),
        ("an overlay that cordons", document("WorkerOverlay", "w-eus", "{unschedulable: true}")),
        ("a pool of fifty", document("WorkerPool", "mine", pool)),
        ("a second document of a pool", document("WorkerPool", "eu", pool)),
        ("a second document of a class", class("small")),
        ("a class", class("free")),
        ("an acknowledgement of deletions", acknowledgement("deletions")),
        ("an acknowledgement of moves", acknowledgement("moves")),
        ("a policy", document("PlacementPolicy", "mine", "{priority: 1000}")),
        (
            "an override of everybody's objects",
            document(
                "OverridePolicy",
                "mine",
                "{objects: [{apiVersion: v1, kind: ConfigMap}], changes: [{labels: {set: {a: b}}}]}",
            ),
        ),
        (
            "an override of all workers",
            document(
                "OverridePolicy",
                "mine",
                "{target: Worker, objects: [{apiVersion: v1, kind: Namespace}], changes: [{labels: {set: {a: b}}}]}",
            ),
        ),
        ("a fleet", document("Fleet", "mine", "{}")),
        ("a kind that nobody knows", document("Deployment", "w-weu", "{}")),
        (
            "no kind at all",
            "apiVersion: carp.dev/v1alpha1\nmetadata: {name: b-2}\nspec: {}\n".into(),
        ),
    ] {
        changes_nothing(what, &[("fleet/red/x.yaml", &text)]);
    }
    let found = changes_nothing("a worker", &[("fleet/red/x.yaml", &worker("m", "eastus", 5))]);
    assert_eq!(errors(&found), [Code::NotForTenants]);
}

#[test]
fn what_cannot_be_read_in_a_tenants_folder_holds_nobody_else() {
    let huge = "#".repeat((1 << 20) + 1);
    let many = "---\na: 1\n".repeat(1001);
    let broken = |kind: &str, name: &str| {
        format!("apiVersion: carp.dev/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}\nspec: [\n")
    };
    for (what, text) in [
        ("a huge file", huge),
        ("a file of too many documents", many),
        ("an empty file", String::new()),
        ("no YAML", "{{{{ [\n".to_owned()),
        ("a pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n".to_owned()),
        ("a bomb", format!("a: &a [{}]\nb: [{}]\n", "x,".repeat(500), "*a,".repeat(500))),
        ("a broken policy", broken("PlacementPolicy", "p")),
        ("a broken override", broken("OverridePolicy", "p")),
        ("a broken class", broken("ManagedClusterClass", "small")),
        ("a broken worker", broken("Worker", "w-weu")),
        ("a broken overlay", broken("WorkerOverlay", "w-weu")),
        ("a broken overlay of nobody", broken("WorkerOverlay", "\"\"")),
        ("a broken pool", broken("WorkerPool", "eu")),
        ("a broken cluster of another", broken("ManagedCluster", "b-2")),
        ("a broken cluster of another that goes", broken("ManagedCluster", "b-1")),
        ("a broken cluster with the next worker's name", broken("ManagedCluster", "eu-2")),
        ("a broken cluster that waits", broken("ManagedCluster", "b-wait")),
        ("a word that steers placements", "PlacementPolicy ManagedClusterClass: [\n".to_owned()),
    ] {
        changes_nothing(what, &[("fleet/red/x.yaml", &text)]);
    }
}

#[test]
fn no_name_of_another_is_taken_from_a_tenants_folder() {
    for (what, name) in [
        ("another tenant's placed cluster", "b-2"),
        ("another tenant's cluster that goes", "b-1"),
        ("another tenant's cluster that waits", "b-wait"),
        ("a worker", "w-weu"),
        ("a worker that retires", "w-old"),
        ("a pool's worker", "eu-1"),
        ("the next worker of a pool", "eu-2"),
        ("a later worker of a pool", "eu-17"),
        ("the control plane", "hub"),
    ] {
        for location in ["westeurope", "eastus"] {
            let own = cluster(name, "red", location);
            changes_nothing(what, &[("fleet/red/x.yaml", &own)]);
            let forged = cluster(name, "blue", location);
            changes_nothing(what, &[("fleet/red/x.yaml", &forged)]);
            let twice = format!("{own}---\n{forged}---\n{own}");
            changes_nothing(what, &[("fleet/red/x.yaml", &twice)]);
        }
    }
}

#[test]
fn no_cluster_of_another_tenant_is_made_from_a_tenants_folder() {
    let forged = cluster("b-more", "blue", "westeurope");
    let found = changes_nothing("a cluster of blue", &[("fleet/red/x.yaml", &forged)]);
    assert_eq!(errors(&found), [Code::OutsideTenantPaths]);
    let nobodys = forged.replace("  namespace: blue\n", "");
    changes_nothing("a cluster of nobody", &[("fleet/red/x.yaml", &nobodys)]);
    let unknown = forged.replace("namespace: blue", "namespace: green");
    changes_nothing("a cluster of a tenant that is none", &[("fleet/red/x.yaml", &unknown)]);
}

/// A policy's rules are about one tenant's clusters at a time. Where it says that they are about everybody's, they are.
#[test]
fn no_tenant_keeps_another_out_of_a_worker_by_labels() {
    let blue_goes_to = |policy: &str| {
        let mut world = fleet();
        world.edit("fleet/workers/w-weu.yaml", "capacity: 3", "capacity: 9");
        world.edit(
            "policies/apart.yaml",
            "carp.dev/worker\n",
            &format!("carp.dev/worker\n{policy}"),
        );
        world.run();
        world.write("fleet/red/r-2.yaml", &labelled("r-2", "red"));
        world.run();
        assert_eq!(world.worker_of("r-2").as_deref(), Some("w-weu"));
        world.write("fleet/blue/b-new.yaml", &labelled("b-new", "blue"));
        let run = world.run();
        assert!(!run.diagnostics.has_errors(), "{:#?}", run.diagnostics);
        world.worker_of("b-new")
    };
    assert_eq!(blue_goes_to("").as_deref(), Some("w-weu"));
    assert_eq!(blue_goes_to("    tenantSelector: {}\n"), None);
}
