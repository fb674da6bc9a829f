//! The agent, against a real API server: what is there comes back as a report, and on the worker itself.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::observed::{DIGEST, Worker, applied, cluster, condition, object};
use crate::support::people::printed;
use crate::support::{git, skip};

/// A worker; `None`, told aloud, where there is no API server.
fn worker(test: &str) -> Option<Worker> {
    let worker = Worker::start();
    if worker.is_none() {
        skip(test, "KUBEBUILDER_ASSETS or CARP_CRDS is unset");
    }
    worker
}

fn of<'a>(report: &'a Value, name: &str) -> &'a Value {
    let all = report["clusters"].as_array().unwrap();
    all.iter().find(|c| c["name"] == name).unwrap_or_else(|| panic!("no {name}: {report:#}"))
}

fn status_of(worker: &Worker, name: &str, path: &str) -> String {
    let path = format!("jsonpath={{.status.{path}}}");
    worker.server.kubectl(&["get", "managedclusters.carp.dev", name, "-n", name, "-o", &path])
}

#[test]
fn clusters_in_every_phase_are_reported_and_told_on_the_worker() {
    let Some(worker) = worker("clusters_in_every_phase_are_reported_and_told_on_the_worker") else {
        return;
    };
    for name in ["new", "making", "runs", "rolls", "rests"] {
        worker.apply(&applied(name));
    }
    let mut going = applied("goes");
    going[2]["metadata"]["finalizers"] = json!(["cluster.cluster.x-k8s.io"]);
    worker.apply(&going);
    let delete = ["delete", "clusters.v1beta2.cluster.x-k8s.io", "goes", "-n", "goes"];
    worker.server.kubectl(&[&delete[..], &["--wait=false"]].concat());
    worker.status(&cluster("rests", "True", true, vec![condition("Paused", "True", "Paused", "")]));
    worker.status(&cluster("making", "False", false, vec![]));
    worker.status(&cluster("runs", "True", true, vec![]));
    worker.status(&cluster("rolls", "True", true, vec![condition("RollingOut", "True", "x", "")]));
    let refused = condition("NetworkInfrastructureReady", "False", "Failed", "SkuNotAvailable: D4");
    let mut azure = object(
        "infrastructure.cluster.x-k8s.io/v1beta1",
        "AzureCluster",
        "making",
        "making",
        json!({"location": "westeurope"}),
    );
    azure["status"] = json!({"conditions": [refused]});
    worker.create(&azure);

    let output = worker.report(&[]);
    assert!(output.status.success(), "{}", printed(&output));
    let report = worker.reported().unwrap();
    assert_eq!(report["complete"], true, "{report:#}");
    assert_eq!(report["worker"], "we-1");
    let system = ["get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}"];
    assert_eq!(report["workerUID"], worker.server.kubectl(&system));
    for (name, phase) in [
        ("new", "Pending"),
        ("making", "Provisioning"),
        ("runs", "Running"),
        ("rolls", "Updating"),
        ("rests", "Running"),
        ("goes", "Deleting"),
    ] {
        assert_eq!(of(&report, name)["phase"], phase, "{name}");
        assert_eq!(of(&report, name)["digest"], DIGEST);
        assert_eq!(status_of(&worker, name, "phase"), phase, "{name} on the worker");
    }
    let paused = |name: &str| of(&report, name)["conditions"].to_string().contains("Paused");
    assert!(paused("rests") && !paused("runs"), "what is paused says so");
    let runs = of(&report, "runs");
    assert_eq!(runs["nodes"], json!({"desired": 3, "ready": 3}));
    assert_eq!(runs["endpoint"], "https://10.1.0.4:6443");
    assert_eq!(runs["present"], json!(["Cluster", "ManagedCluster", "Namespace"]));
    let error = &of(&report, "making")["errors"][0];
    assert_eq!((&error["code"], &error["userError"]), (&json!("SizeNotAvailable"), &json!(true)));
    assert_eq!(status_of(&worker, "making", "errors[0].code"), "SizeNotAvailable");

    as_kubectl_prints_it(&worker);

    // What was available and is not any more is degraded, for the worker itself remembers.
    worker.status(&cluster("runs", "False", true, vec![]));
    assert!(worker.report(&[]).status.success());
    assert_eq!(of(&worker.reported().unwrap(), "runs")["phase"], "Degraded");
    let parents = ["rev-list", "--parents", "--all", "--", "."];
    let all = git(&worker.remote.path(), &parents);
    assert_eq!(all.split_whitespace().count(), 1, "one commit, and no history: {all}");
}

/// `kubectl get managedclusters -A` on the worker tells what the agent saw.
fn as_kubectl_prints_it(worker: &Worker) {
    let table = worker.server.kubectl(&["get", "managedclusters", "-A"]);
    let rows: Vec<Vec<&str>> = table.lines().map(|l| l.split_whitespace().collect()).collect();
    let column = |title: &str| rows[0].iter().position(|t| *t == title).unwrap();
    let cell = |name: &str, title: &str| {
        rows.iter().find(|row| row[1] == name).map(|row| row[column(title)].to_owned()).unwrap()
    };
    assert_eq!((cell("runs", "PHASE"), cell("runs", "READY")), ("Running".into(), "True".into()));
    assert_eq!(cell("goes", "PHASE"), "Deleting", "{table}");
    assert_eq!(cell("making", "READY"), "False", "{table}");
    assert_eq!(cell("runs", "WORKER"), "we-1", "{table}");
}

/// What cannot be seen is not reported; what was seen before may still be on its way. The heartbeat of
/// the agent here is two seconds.
fn falls_silent(worker: &Worker) {
    let mut last = worker.reported().unwrap();
    for _ in 0..10 {
        std::thread::sleep(Duration::from_secs(4));
        let now = worker.reported().unwrap();
        if now["time"] == last["time"] {
            return;
        }
        last = now;
    }
    panic!("it goes on to report what it cannot see: {last:#}");
}

#[test]
fn a_running_agent_tells_every_change_and_survives_an_outage() {
    let test = "a_running_agent_tells_every_change_and_survives_an_outage";
    let Some(mut worker) = worker(test) else { return };
    worker.apply(&applied("a"));
    let agent = worker.watch();
    worker.wait_for("pending", |r| r["clusters"][0]["phase"] == "Pending");
    worker.status(&cluster("a", "True", true, vec![]));
    worker.wait_for("running", |r| r["clusters"][0]["phase"] == "Running");

    worker.server.stop();
    falls_silent(&worker);
    worker.server.start_again();
    worker.status(&cluster("a", "False", true, vec![]));
    let whole = |r: &Value| r["complete"] == true && r["clusters"][0]["phase"] == "Degraded";
    worker.wait_for("degraded, and seen as a whole", whole);

    let delete = ["delete", "clusters.v1beta2.cluster.x-k8s.io", "a", "-n", "a"];
    worker.server.kubectl(&delete);
    let gone = |r: &Value| r["clusters"][0]["present"] == json!(["ManagedCluster", "Namespace"]);
    let report = worker.wait_for("gone", gone);
    assert_eq!(report["clusters"][0].get("uid"), None);
    agent.ends_when_told();
}

#[test]
fn a_provider_that_is_not_installed_is_no_gap_and_a_missing_core_is() {
    let missing = ["azuremachines.infrastructure.cluster.x-k8s.io"];
    let Some(worker) = Worker::without(&missing) else {
        let test = "a_provider_that_is_not_installed_is_no_gap_and_a_missing_core_is";
        return skip(test, "KUBEBUILDER_ASSETS or CARP_CRDS is unset");
    };
    assert!(worker.report(&[]).status.success());
    assert_eq!(worker.reported().unwrap()["complete"], true);
    worker.server.kubectl(&["delete", "crd", "clusters.cluster.x-k8s.io"]);
    assert!(worker.report(&[]).status.success());
    let report = worker.reported().unwrap();
    assert_eq!((&report["complete"], &report["unlisted"]), (&json!(false), &json!(["Cluster"])));
}

#[test]
fn what_the_agent_may_not_see_is_said_and_nothing_is_taken_for_gone() {
    let test = "what_the_agent_may_not_see_is_said_and_nothing_is_taken_for_gone";
    let Some(worker) = worker(test) else { return };
    worker.apply(&applied("a"));
    let kubeconfig = std::fs::read_to_string(worker.server.kubeconfig()).unwrap();
    let as_agent = kubeconfig.replace("{token: ", "{as: agent, token: ");
    assert_ne!(kubeconfig, as_agent);
    let file = worker.path().join("agent.kubeconfig");
    std::fs::write(&file, as_agent).unwrap();
    let kubeconfig = ["--kubeconfig", file.to_str().unwrap()];

    let output = worker.report(&kubeconfig);
    assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
    assert!(printed(&output).contains("cannot be watched"), "{}", printed(&output));
    assert_eq!(worker.reported(), None);

    // The rights that are documented are enough, and none of them is left over.
    let rights = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/agent/rbac.yaml");
    worker.server.kubectl(&["apply", "-f", rights]);
    let bind = ["create", "clusterrolebinding", "test", "--clusterrole=carp-agent", "--user=agent"];
    worker.server.kubectl(&bind);
    let bind =
        ["create", "rolebinding", "test", "-n", "flux-system", "--role=carp-agent", "--user=agent"];
    worker.server.kubectl(&bind);
    worker.server.wait_for_rights();
    let output = worker.report(&kubeconfig);
    assert!(output.status.success(), "{}", printed(&output));
    let report = worker.reported().unwrap();
    assert_eq!(report["complete"], true, "{report:#}");
    assert_eq!(status_of(&worker, "a", "phase"), "Pending");

    let less = r#"[{"op": "remove", "path": "/rules/1"}]"#;
    worker.server.kubectl(&["patch", "clusterrole", "carp-agent", "--type=json", "-p", less]);
    worker.server.wait_for_rights();
    let output = worker.report(&kubeconfig);
    assert!(output.status.success(), "{}", printed(&output));
    let report = worker.reported().unwrap();
    assert_eq!(report["complete"], false, "{report:#}");
    assert_eq!(
        report["unlisted"],
        json!([
            "AzureASOManagedCluster",
            "AzureCluster",
            "AzureASOManagedMachinePool",
            "AzureMachine",
            "AzureASOManagedControlPlane"
        ])
    );
    assert_eq!(report["clusters"][0]["name"], "a");
}
