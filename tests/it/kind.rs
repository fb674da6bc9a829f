//! `carp kind run` with the real kind and a real API server, over a docker that only pretends.

use serde_json::{Value, json};

use crate::support::kind::Machine;
use crate::support::people::printed;
use crate::support::skip;

fn condition<'a>(status: &'a Value, kind: &str) -> &'a Value {
    let all = status["conditions"].as_array().unwrap();
    all.iter().find(|c| c["type"] == kind).unwrap_or_else(|| panic!("no {kind}: {status:#}"))
}

fn history(status: &Value) -> Vec<&str> {
    let rows = status["history"].as_array().into_iter().flatten();
    rows.map(|row| row["message"].as_str().unwrap()).collect()
}

fn failed_with(reason: &'static str) -> impl Fn(&Value) -> bool {
    move |status| status["failureReason"] == reason
}

/// The first provider's five samples, in what they say: two are taken, three are refused.
#[test]
fn the_first_providers_samples_are_taken_and_refused_as_ever() {
    let test = "the_first_providers_samples_are_taken_and_refused_as_ever";
    let Some(machine) = Machine::with_the_kind(test) else { return };
    machine.create("test1", json!({"clusterName": "test-1"}));
    machine.create("test2", json!({"clusterName": "test-2", "kubernetesVersion": "1.20"}));
    let spec = machine.object("test1").unwrap()["spec"].clone();
    assert_eq!(spec["kubernetesVersion"], "1.37", "the newest, and no longer 1.21");
    for (name, spec, said) in [
        ("invalid-test-1", json!({}), "clusterName"),
        ("invalid-test-2", json!({"clusterName": "x".repeat(97)}), "64"),
        (
            "invalid-test-3",
            json!({"clusterName": "test-3", "kubernetesVersion": "1.13"}),
            "kubernetesVersion",
        ),
    ] {
        let file = machine.object_file(name, spec, json!({}));
        let mut kubectl = std::process::Command::new("kubectl");
        kubectl.env("KUBECONFIG", machine.server.kubeconfig()).env("HOME", machine.path());
        let output = kubectl.args(["create", "--validate=false", "-f"]).arg(file).output().unwrap();
        assert!(!output.status.success(), "{name} was taken");
        assert!(printed(&output).contains(said), "{name}: {}", printed(&output));
    }
    let table = machine.server.kubectl(&["get", "kc"]);
    let head: Vec<_> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(head, ["NAME", "KUBERNETESVERSION", "CLUSTERNAME", "READY"]);

    let _controller = machine.controller(&[]);
    machine.wait_ready("test1");
    machine.wait_ready("test2");
    assert_eq!(machine.nodes(), ["test-1-control-plane", "test-2-control-plane"]);
    assert_eq!(machine.calls("run --name test-2-control-plane"), 1);
    let image = machine.calls("kindest/node:v1.20.7");
    assert!(image > 0, "the image of the version");
    let events = machine.server.kubectl(&["get", "events", "-o", "jsonpath={.items[*].reason}"]);
    assert!(events.contains("UntestedVersion") && events.contains("Created"), "{events}");
}

#[test]
fn a_cluster_lives_from_its_object_to_its_deletion() {
    let test = "a_cluster_lives_from_its_object_to_its_deletion";
    let Some(machine) = Machine::with_the_kind(test) else { return };
    machine.create("a", json!({"clusterName": "seed", "workerNodes": 2}));
    let controller = machine.controller(&["--listen", "127.0.0.1:0"]);
    let status = machine.wait_ready("a");
    for path in ["/healthz", "/readyz"] {
        assert!(controller.get(path).starts_with("HTTP/1.1 200 "), "{path}");
    }
    let nodes = ["seed-control-plane", "seed-worker", "seed-worker2"];
    assert_eq!(machine.nodes(), nodes);

    // The contract of Cluster API.
    let done = json!({"provisioned": true, "controlPlaneInitialized": true});
    assert_eq!(status["initialization"], done);
    assert_eq!(status["externalManagedControlPlane"], true);
    assert_eq!((&status["nodes"], &status["clusterName"]), (&json!(3), &json!("seed")));
    assert!(status["version"].as_str().unwrap().starts_with("v1."), "{status:#}");
    assert!(status["providerID"].as_str().unwrap().ends_with("/seed"), "{status:#}");
    for kind in ["Ready", "ClusterCreated", "Available", "KubeconfigReady", "UpToDate"] {
        assert_eq!(condition(&status, kind)["status"], "True", "{kind}: {status:#}");
    }
    assert_eq!(
        history(&status),
        ["Cluster is being created", "Cluster was successfully created", "Cluster is ready"]
    );
    let object = machine.object("a").unwrap();
    let endpoint = json!({"host": "127.0.0.1", "port": machine.server.port()});
    assert_eq!(object["spec"]["controlPlaneEndpoint"], endpoint);
    let finalizer = "kindclusters.infrastructure.cluster-k8s.io/cluster-finalizer";
    assert_eq!(object["metadata"]["finalizers"], json!([finalizer]));

    its_kubeconfig_works_and_comes_back(&machine);

    // It cannot be renamed, and its old name is what is deleted in the end.
    let patch = |spec: &str| {
        let patch = format!("{{\"spec\": {spec}}}");
        machine.server.kubectl(&["patch", "kindcluster", "a", "--type=merge", "-p", &patch]);
    };
    patch(r#"{"clusterName": "other"}"#);
    let status = machine.wait("a", "refused", failed_with("Renamed"));
    assert!(status["failureMessage"].as_str().unwrap().contains("seed"), "{status:#}");
    assert_eq!(machine.nodes(), nodes, "nothing is made, nothing is lost");
    patch(r#"{"clusterName": "seed"}"#);
    let status = machine.wait_ready("a");
    assert_eq!(status.get("failureMessage"), None);

    // What kind cannot change is told, and the cluster stays.
    patch(r#"{"workerNodes": 0}"#);
    machine.wait("a", "out of date", |s| condition(s, "UpToDate")["reason"] == "SpecChanged");
    assert_eq!(machine.nodes(), nodes);

    // A cluster that stops answering is not ready, until it answers again.
    machine.move_port("seed-control-plane", 1);
    let status = machine.wait("a", "unready", failed_with("NotReady"));
    assert_eq!(status["initialization"], done, "what was, was");
    machine.move_port("seed-control-plane", machine.server.port());
    machine.wait_ready("a");

    patch(r#"{"clusterName": "other"}"#);
    machine.server.kubectl(&["delete", "kindcluster", "a", "--wait=false"]);
    machine.wait_gone("a");
    assert_eq!(machine.nodes(), Vec::<String>::new());
    assert_eq!(machine.secret("seed-config", "config"), None);
    assert_eq!(machine.secret("seed-kubeconfig", "value"), None);
    assert!(controller.stop(), "a stop is no failure");
}

/// Both secrets; with what is in one, the cluster answers.
fn its_kubeconfig_works_and_comes_back(machine: &Machine) {
    let config = machine.secret("seed-config", "config").unwrap();
    assert_eq!(machine.secret("seed-kubeconfig", "value").as_ref(), Some(&config));
    let get = ["get", "secret", "seed-kubeconfig", "-o", "jsonpath={.type} {.metadata.labels}"];
    let said = machine.server.kubectl(&get);
    assert_eq!(said, r#"cluster.x-k8s.io/secret {"cluster.x-k8s.io/cluster-name":"seed"}"#);
    let file = machine.path().join("seed.kubeconfig");
    std::fs::write(&file, &config).unwrap();
    let get = ["--kubeconfig", file.to_str().unwrap(), "get", "ns", "default", "-o", "name"];
    assert_eq!(machine.server.kubectl(&get), "namespace/default");

    // A secret that somebody deletes comes back.
    machine.server.kubectl(&["delete", "secret", "seed-config"]);
    machine.until("the secret is back", || machine.secret("seed-config", "config"));
    // No person's kubeconfig was touched, and no name from the environment was taken.
    assert!(!machine.path().join("home/.kube").exists());
}

#[test]
fn a_failure_is_told_and_gone_when_it_is_mended() {
    let test = "a_failure_is_told_and_gone_when_it_is_mended";
    let Some(machine) = Machine::with_the_kind(test) else { return };
    machine.fault("info", "Cannot connect to the Docker daemon at unix:///var/run/docker.sock.");
    machine.create("a", json!({"clusterName": "a"}));
    let invalid = json!({"clusterName": "b", "config": {"nodes": [{"role": "worker"}]}});
    machine.create("b", invalid);
    let _controller = machine.controller(&[]);
    let status = machine.wait("a", "told", failed_with("DockerUnavailable"));
    assert_eq!(status["ready"], false);
    let said = status["failureMessage"].as_str().unwrap();
    assert!(said.starts_with("Cluster cannot be created: "), "{said}");
    assert!(said.contains("Cannot connect to the Docker daemon"), "{said}");

    // What only a change can mend is not tried again.
    machine.wait("b", "refused", failed_with("InvalidConfig"));
    machine.mend("info");
    machine.fault("exec", "kubeadm init");
    machine.wait("a", "told", failed_with("KubeadmFailed"));
    machine.mend("exec");
    let status = machine.wait_ready("a");
    assert_eq!(status.get("failureReason"), None, "{status:#}");
    assert_eq!(status.get("failureMessage"), None);
    let rows = history(&status);
    assert!(rows.contains(&"Cluster cannot be created"), "{rows:?}");
    assert_eq!(rows.last(), Some(&"Cluster is ready"));
    assert_eq!(machine.nodes(), ["a-control-plane"]);
    let mended = r#"{"spec": {"config": null}}"#;
    machine.server.kubectl(&["patch", "kindcluster", "b", "--type=merge", "-p", mended]);
    machine.wait_ready("b");
    let events = machine.server.kubectl(&["get", "events", "-o", "jsonpath={.items[*].reason}"]);
    assert!(events.contains("KubeadmFailed") && events.contains("Ready"), "{events}");
}

#[test]
fn an_interrupted_creation_is_repaired() {
    let test = "an_interrupted_creation_is_repaired";
    let Some(machine) = Machine::with_the_kind(test) else { return };
    machine.create("a", json!({"clusterName": "a"}));
    machine.hang("kubeadm init");
    let half = || machine.calls("kubeadm init").checked_sub(1).map(|_| ());
    let hangs = || (machine.nodes() == ["a-control-plane"]).then_some(());

    // The controller is killed: kind goes on, and holds the name until it ends.
    let controller = machine.controller(&[]);
    machine.until("a node is there", hangs);
    machine.wait("a", "recorded", |s| s["providerID"].is_string());
    controller.kill();
    let controller = machine.controller(&["--grace", "1s"]);
    machine.wait("a", "waiting for the other kind", failed_with("Busy"));
    machine.go_on();
    machine.until("the first kind ended", half);
    let status = machine.wait_ready("a");
    assert!(machine.calls("rm -f -v a-control-plane") >= 1, "the half-made one was removed");
    assert_eq!(history(&status).last(), Some(&"Cluster is ready"));
    assert_eq!(machine.nodes(), ["a-control-plane"]);

    // A stop in the middle of a creation: it is ended with its nodes, and made anew at the next start.
    machine.hang("kubeadm init");
    machine.create("b", json!({"clusterName": "b"}));
    let both = ["a-control-plane", "b-control-plane"];
    machine.until("another node is there", || (machine.nodes() == both).then_some(()));
    assert!(controller.stop());
    assert_eq!(machine.nodes(), ["a-control-plane"]);
    let status = machine.object("b").unwrap()["status"].clone();
    assert_eq!(status["failureReason"], "Cancelled", "{status:#}");
    machine.go_on();
    let controller = machine.controller(&[]);
    machine.wait_ready("b");

    // An object that is deleted while its cluster is made ends the creation.
    machine.hang("kubeadm init");
    machine.create("c", json!({"clusterName": "c"}));
    machine.until("a third node is there", || machine.nodes().get(2).map(drop));
    machine.server.kubectl(&["delete", "kindcluster", "c", "--wait=false"]);
    machine.wait_gone("c");
    assert_eq!(machine.nodes(), both);
    machine.go_on();

    // A cluster that somebody deleted is made again.
    assert!(machine.kind(&["delete", "cluster", "--name", "a"]).status.success());
    machine.until("it is made again", || (machine.nodes() == both).then_some(()));
    machine.wait("a", "ready again", |status| {
        let again = status["history"].as_array().unwrap().iter();
        status["ready"] == true && again.filter(|r| r["message"] == "Cluster is ready").count() == 2
    });
    drop(controller);
}

#[test]
fn a_cluster_of_somebody_else_is_taken_over_only_when_asked_for() {
    let test = "a_cluster_of_somebody_else_is_taken_over_only_when_asked_for";
    let Some(machine) = Machine::with_the_kind(test) else { return };
    let made = machine.kind(&["create", "cluster", "--name", "mine"]);
    assert!(made.status.success(), "{}", printed(&made));
    machine.create("a", json!({"clusterName": "mine"}));
    let _controller = machine.controller(&[]);
    let status = machine.wait("a", "refused", failed_with("AlreadyExists"));
    assert_eq!(status.get("providerID"), None, "it owns nothing: {status:#}");
    machine.server.kubectl(&["delete", "kindcluster", "a", "--wait=false"]);
    machine.wait_gone("a");
    assert_eq!(machine.nodes(), ["mine-control-plane"], "what it did not own stays");

    machine.create("a", json!({"clusterName": "mine"}));
    machine.wait("a", "refused", failed_with("AlreadyExists"));
    machine.server.kubectl(&["annotate", "kindcluster", "a", "carp.dev/adopt=true"]);
    let status = machine.wait_ready("a");
    assert_eq!(condition(&status, "ClusterCreated")["reason"], "Adopted");

    // A second object of the same name gets nothing, and its deletion takes nothing.
    machine.create("b", json!({"clusterName": "mine"}));
    machine.wait("b", "refused", failed_with("AlreadyExists"));
    machine.server.kubectl(&["delete", "kindcluster", "b", "--wait=false"]);
    machine.wait_gone("b");
    assert_eq!(machine.nodes(), ["mine-control-plane"]);
    assert!(machine.secret("mine-config", "config").is_some());

    // Orphaned, the cluster stays and its secrets go.
    let orphan = r#"{"spec": {"deletionPolicy": "Orphan"}}"#;
    machine.server.kubectl(&["patch", "kindcluster", "a", "--type=merge", "-p", orphan]);
    machine.server.kubectl(&["delete", "kindcluster", "a", "--wait=false"]);
    machine.wait_gone("a");
    assert_eq!(machine.nodes(), ["mine-control-plane"]);
    assert_eq!(machine.secret("mine-config", "config"), None);
}

#[test]
fn what_is_paused_or_somebody_elses_is_let_alone() {
    let test = "what_is_paused_or_somebody_elses_is_let_alone";
    let Some(machine) = Machine::with_the_kind(test) else { return };
    let of = |annotation: &str| json!({"annotations": {annotation: "x"}});
    for (name, more) in [
        ("paused", of("cluster.x-k8s.io/paused")),
        ("managed", of("cluster.x-k8s.io/managed-by")),
        ("waits", json!({"labels": {"cluster.x-k8s.io/cluster-name": "c"}})),
    ] {
        let file = machine.object_file(name, json!({"clusterName": name}), more);
        machine.server.kubectl(&["create", "--validate=false", "-f", file.to_str().unwrap()]);
    }
    let _controller = machine.controller(&[]);
    machine.create("free", json!({"clusterName": "free"}));
    machine.wait_ready("free");
    let status = machine.wait("paused", "told", |s| s["conditions"].is_array());
    assert_eq!(condition(&status, "Paused")["status"], "True");
    for name in ["managed", "waits"] {
        let object = machine.object(name).unwrap();
        assert_eq!((object.get("status"), object["metadata"].get("finalizers")), (None, None));
    }
    assert_eq!(machine.nodes(), ["free-control-plane"]);
    let resume = ["annotate", "kindcluster", "paused", "cluster.x-k8s.io/paused-"];
    machine.server.kubectl(&resume);
    let status = machine.wait_ready("paused");
    assert_eq!(condition(&status, "Paused")["status"], "False");
}

#[test]
fn a_paused_cluster_pauses_what_it_owns() {
    let test = "a_paused_cluster_pauses_what_it_owns";
    let Some(machine) = Machine::with_the_kind(test) else { return };
    if !machine.install("clusters.cluster.x-k8s.io") {
        return skip(test, "CARP_CRDS is unset");
    }
    let reference = json!({
        "apiGroup": "infrastructure.cluster-k8s.io", "kind": "KINDCluster", "name": "a",
    });
    let cluster = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
        "metadata": {"name": "owner", "namespace": "default"},
        "spec": {"paused": true, "infrastructureRef": reference, "controlPlaneRef": reference},
    });
    let file = machine.path().join("cluster.json");
    std::fs::write(&file, cluster.to_string()).unwrap();
    machine.server.kubectl(&["create", "--validate=false", "-f", file.to_str().unwrap()]);
    let owner = json!([{
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "owner", "uid": "u",
    }]);
    let more = json!({
        "ownerReferences": owner, "labels": {"cluster.x-k8s.io/cluster-name": "owner"},
    });
    let file = machine.object_file("a", json!({"clusterName": "seed"}), more);
    machine.server.kubectl(&["create", "--validate=false", "-f", file.to_str().unwrap()]);
    let _controller = machine.controller(&[]);
    let status = machine.wait("a", "paused", |s| s["conditions"].is_array());
    assert_eq!(condition(&status, "Paused")["status"], "True");
    assert_eq!(machine.nodes(), Vec::<String>::new());
    let go_on = r#"{"spec": {"paused": false}}"#;
    machine.server.kubectl(&["patch", "cluster", "owner", "--type=merge", "-p", go_on]);
    machine.wait_ready("a");
    // Cluster API looks for the secret by the Cluster's name, the first provider's users by the seed's.
    assert!(machine.secret("owner-kubeconfig", "value").is_some());
    assert!(machine.secret("seed-config", "config").is_some());
}

#[test]
fn of_two_controllers_one_leads_and_the_other_takes_over() {
    let test = "of_two_controllers_one_leads_and_the_other_takes_over";
    let Some(machine) = Machine::with_the_kind(test) else { return };
    let election = ["--leader-election", "--lease-duration", "6s", "--host", "box"];
    let first = machine.controller(&election);
    first.wait_for("this one leads");
    let second = machine.controller(&election);
    machine.create("a", json!({"clusterName": "a"}));
    machine.wait_ready("a");
    assert!(!second.logged().contains("leads"), "{}", second.logged());
    let lease = ["get", "lease", "carp-kind-box", "-o", "jsonpath={.spec.holderIdentity}"];
    assert!(machine.server.kubectl(&lease).starts_with("box_"));
    assert!(first.stop());
    second.wait_for("this one leads");
    machine.create("b", json!({"clusterName": "b"}));
    machine.wait_ready("b");
}

#[test]
fn a_cluster_without_the_kind_is_told_what_it_lacks() {
    let Some(machine) = Machine::start("a_cluster_without_the_kind_is_told_what_it_lacks") else {
        return;
    };
    let kubeconfig = machine.server.kubeconfig();
    let args = ["kind", "run", "--kubeconfig", kubeconfig.to_str().unwrap()];
    let output = machine.carp(&args).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
    assert!(printed(&output).contains("carp crds | kubectl apply"), "{}", printed(&output));
}
