//! The agent's watches against a real API server: they end, fall behind, fail, and find what is installed
//! later, and no report says what is not known.

use serde_json::json;

use crate::support::observed::{Worker, applied, cluster, condition, object};
use crate::support::proxy::{Fault, Proxy};
use crate::support::skip;

#[test]
fn a_watch_that_ends_goes_on_and_one_that_fell_behind_begins_anew() {
    let test = "a_watch_that_ends_goes_on_and_one_that_fell_behind_begins_anew";
    let Some(worker) = Worker::start() else {
        return skip(test, "KUBEBUILDER_ASSETS or CARP_CRDS is unset");
    };
    let proxy = Proxy::start(&worker.server);
    worker.apply(&applied("a"));
    let agent = worker.watch_by(&proxy.kubeconfig());
    worker.wait_for("pending", |r| r["clusters"][0]["phase"] == "Pending");
    assert_eq!(proxy.asked("clusters", "list"), 1);

    // An API server ends every watch after some minutes; then it goes on where it was.
    let watches = proxy.asked("clusters", "watch");
    proxy.cut("clusters");
    worker.status(&cluster("a", "True", true, vec![]));
    worker.wait_for("running", |r| r["clusters"][0]["phase"] == "Running");
    assert!(proxy.asked("clusters", "watch") > watches);
    assert_eq!(proxy.asked("clusters", "list"), 1, "nothing is listed again");

    // What happened in between is not there any more: the kind is listed anew.
    proxy.fail("clusters", Fault::Gone);
    proxy.cut("clusters");
    worker.status(&cluster("a", "False", true, vec![]));
    worker.wait_for("degraded", |r| r["clusters"][0]["phase"] == "Degraded");
    assert_eq!(proxy.asked("clusters", "list"), 2);
    assert_eq!(proxy.asked("namespaces", "list"), 1, "the others are not");
    assert!(agent.logged().contains("too old resource version"), "{}", agent.logged());

    // One kind that stays broken is named, and the rest goes on.
    proxy.fail("kustomizations", Fault::Broken);
    proxy.cut("kustomizations");
    worker.status(&cluster("a", "True", true, vec![]));
    let named = |r: &serde_json::Value| r["unlisted"] == json!(["Kustomization"]);
    let report = worker.wait_for("incomplete", named);
    assert_eq!(report["complete"], false);
    assert_eq!(report["clusters"][0]["phase"], "Running");
    let told = agent.logged();
    let incomplete = told.lines().filter(|line| line.contains("incomplete")).collect::<Vec<_>>();
    let others: Vec<_> = incomplete.iter().filter(|l| !l.contains("Kustomization")).collect();
    assert!(others.is_empty(), "what came back at once was no gap: {others:?}");
    proxy.mend("kustomizations");
    worker.wait_for("whole", |r| r["complete"] == true);
    drop(agent);
}

#[test]
fn what_is_installed_later_is_found() {
    let missing = ["clusters.cluster.x-k8s.io", "azuremachines.infrastructure.cluster.x-k8s.io"];
    let Some(worker) = Worker::without(&missing) else {
        return skip(
            "what_is_installed_later_is_found",
            "KUBEBUILDER_ASSETS or CARP_CRDS is unset",
        );
    };
    worker.apply(&applied("a")[..2]);
    let agent = worker.watch();
    let report = worker.wait_for("without the core", |r| r["complete"] == false);
    assert_eq!(report["unlisted"], json!(["Cluster"]), "a provider that is not there is no gap");
    assert_eq!(report["clusters"][0]["phase"], "Pending");

    worker.install(&missing);
    worker.create(&applied("a")[2]);
    worker.status(&cluster("a", "False", false, vec![]));
    let mut machine = object(
        "infrastructure.cluster.x-k8s.io/v1beta1",
        "AzureMachine",
        "a",
        "a-1",
        json!({"vmSize": "Standard_D4s_v5", "osDisk": {"osType": "Linux"}}),
    );
    let refused = condition("VMRunning", "False", "VMProvisionFailed", "QuotaExceeded: D4s");
    machine["status"] = json!({"conditions": [refused]});
    worker.create(&machine);
    let found = |r: &serde_json::Value| {
        r["complete"] == true && r["clusters"][0]["errors"][0]["code"] == "QuotaExceeded"
    };
    let report = worker.wait_for("both found", found);
    assert_eq!(report["clusters"][0]["phase"], "Provisioning");
    agent.ends_when_told();
}
