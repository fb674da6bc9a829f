//! `deploy/kind/`: the definition is what carp prints, and the rights are what the controller needs.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::kind::Machine;
use crate::support::objects::Objects;

const USER: &str = "system:serviceaccount:carp-kind:carp-kind";

fn file(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/kind").join(name)
}

#[test]
fn the_definition_is_the_one_that_carp_prints() {
    let (_, crd) = carp::model::api::kind_crd();
    let written = std::fs::read_to_string(file("crd.yaml")).unwrap();
    assert_eq!(serde_saphyr::from_str::<Value>(&written).unwrap(), crd);
}

#[test]
fn cluster_api_may_work_with_the_kind() {
    let text = std::fs::read_to_string(file("rbac.yaml")).unwrap();
    let objects: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
    let label = "cluster.x-k8s.io/aggregate-to-manager";
    let role = objects.iter().find(|o| o["metadata"]["labels"][label] == "true").unwrap();
    assert_eq!(role["kind"], "ClusterRole");
    let first = &role["rules"][0];
    assert_eq!(first["apiGroups"], json!([carp::model::api::KIND_CLUSTER_GROUP]));
    assert_eq!(first["verbs"].as_array().unwrap().len(), 7);
}

/// A kubeconfig of the account that the manifests are for.
fn as_the_account(machine: &Machine) -> String {
    let kubeconfig = std::fs::read_to_string(machine.server.kubeconfig()).unwrap();
    let limited = kubeconfig.replace("{token: ", &format!("{{as: '{USER}', token: "));
    assert_ne!(kubeconfig, limited);
    let file = machine.path().join("account.kubeconfig");
    std::fs::write(&file, limited).unwrap();
    file.to_str().unwrap().to_owned()
}

/// An object with a Cluster as its owner, which is looked at for being paused.
fn owned(machine: &Machine, name: &str) {
    let owner = json!([{
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": name, "uid": "u",
    }]);
    let more = json!({"ownerReferences": owner});
    let file = machine.object_file(name, json!({"clusterName": name}), more);
    machine.server.kubectl(&["create", "--validate=false", "-f", file.to_str().unwrap()]);
}

/// The account has the Secrets of one namespace, and lists none.
fn sees_the_secrets_of_its_objects(objects: &Objects) {
    for (namespace, allowed) in [("default", true), ("kube-system", false), ("carp-kind", false)] {
        let may = |verb: &str| {
            let what = json!({"namespace": namespace, "verb": verb, "resource": "secrets"});
            objects.may(USER, what)
        };
        for verb in ["get", "create", "patch", "delete"] {
            assert_eq!(may(verb), allowed, "{verb} secrets in {namespace}");
        }
        assert!(!may("list"), "{namespace}");
    }
}

#[test]
fn the_rights_are_enough_and_none_is_left_over() {
    let test = "the_rights_are_enough_and_none_is_left_over";
    let Some(machine) = Machine::with_the_kind(test) else { return };
    machine.server.kubectl(&["apply", "-f", file("namespace.yaml").to_str().unwrap()]);
    machine.server.kubectl(&["apply", "-f", file("rbac.yaml").to_str().unwrap()]);
    let secrets = file("secrets.yaml");
    machine.server.kubectl(&["apply", "-n", "default", "-f", secrets.to_str().unwrap()]);
    machine.server.wait_for_rights();
    sees_the_secrets_of_its_objects(&machine.server.objects());
    let account = as_the_account(&machine);
    let args = [
        "--kubeconfig",
        &account,
        "--leader-election",
        "--leader-election-namespace",
        "carp-kind",
        "--lease-duration",
        "15s",
        "--host",
        "box",
    ];
    let controller = machine.controller(&args);
    owned(&machine, "whole");
    machine.wait_ready("whole");
    machine.server.kubectl(&["delete", "kindcluster", "whole", "--wait=false"]);
    machine.wait_gone("whole");
    assert_eq!(machine.secret("whole-config", "config"), None);
    let logged = controller.logged();
    assert!(!logged.contains("forbidden"), "{logged}");
    drop(controller);

    // Without any of the rules something is missed.
    let count = |role: &str| {
        let role = machine.server.kubectl(&["get", "clusterrole", role, "-o", "json"]);
        serde_json::from_str::<Value>(&role).unwrap()["rules"].as_array().unwrap().len()
    };
    let all = ["carp-kind", "carp-kind-secrets"].map(|role| (role, count(role)));
    let rules = all.iter().flat_map(|(role, count)| (0..*count).map(move |at| (*role, at)));
    for (nth, (role, at)) in rules.enumerate() {
        let less = format!(r#"[{{"op": "remove", "path": "/rules/{at}"}}]"#);
        machine.server.kubectl(&["patch", "clusterrole", role, "--type=json", "-p", &less]);
        machine.server.wait_for_rights();
        let controller = machine.controller(&["--kubeconfig", &account]);
        let name = format!("less-{nth}");
        owned(&machine, &name);
        let said = controller_or_object(&machine, &controller, &name);
        assert!(said.contains("forbidden"), "{role}, rule {at}: {said}");
        drop(controller);
        machine.server.kubectl(&["apply", "-f", file("rbac.yaml").to_str().unwrap()]);
    }
    machine.server.kubectl(&["delete", "role", "carp-kind", "-n", "carp-kind"]);
    machine.server.wait_for_rights();
    let controller = machine.controller(&args);
    controller.wait_for("forbidden");
}

/// What the log, or the object, says of what is forbidden.
fn controller_or_object(
    machine: &Machine,
    controller: &crate::support::kind::Controller,
    name: &str,
) -> String {
    machine.until("something is forbidden", || {
        let object = machine.object(name).map(|o| o["status"].to_string()).unwrap_or_default();
        [controller.logged(), object].into_iter().find(|text| text.contains("forbidden"))
    })
}
