//! `deploy/` and the `Containerfile`: that they build, that a real API server takes them, that they
//! name what is there, and that they ask for no more than carp needs.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::apiserver::ApiServer;
use crate::support::{manifests, skip};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// What `kubectl kustomize deploy/` prints; `None` where there is no kubectl.
fn built() -> Option<String> {
    manifests::built(&root().join("deploy"))
}

fn objects(text: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(text).unwrap()
}

fn of_kind<'a>(objects: &'a [Value], kind: &str) -> &'a Value {
    objects.iter().find(|o| o["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"))
}

#[test]
fn it_runs_as_nobody_with_one_lease_and_nothing_else() {
    let Some(text) = built() else { return skip("deploy", "there is no kubectl") };
    let objects = objects(&text);
    let kinds: BTreeSet<&str> = objects.iter().map(|o| o["kind"].as_str().unwrap()).collect();
    let wanted = [
        "ConfigMap",
        "Deployment",
        "Namespace",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "Role",
        "RoleBinding",
        "Service",
        "ServiceAccount",
    ];
    assert_eq!(kinds, wanted.into(), "no ClusterRole, no Secret");
    for object in objects.iter().filter(|o| o["kind"] != "Namespace") {
        assert_eq!(object["metadata"]["namespace"], "carp-system", "{object}");
    }
    for rule in of_kind(&objects, "Role")["rules"].as_array().unwrap() {
        assert_eq!(rule["resources"], serde_json::json!(["leases"]));
        let is_named = rule["resourceNames"] == serde_json::json!(["carp"]);
        assert!(is_named || rule["verbs"] == serde_json::json!(["create"]), "{rule}");
    }
    let pod = &of_kind(&objects, "Deployment")["spec"]["template"]["spec"];
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    let container = &pod["containers"][0];
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
    assert_eq!(container["securityContext"]["capabilities"]["drop"][0], "ALL");
}

#[test]
fn its_arguments_are_carps_and_what_they_name_is_mounted() {
    let Some(text) = built() else { return skip("deploy arguments", "there is no kubectl") };
    let objects = objects(&text);
    let container = &of_kind(&objects, "Deployment")["spec"]["template"]["spec"]["containers"][0];
    let args = manifests::arguments(container);
    let parsed = carp::cli::command().try_get_matches_from([&["carp"], args.as_slice()].concat());
    assert!(parsed.is_ok(), "{:?}", parsed.err());
    let mounts = manifests::mounts(container);
    let secret = args.iter().find_map(|a| a.strip_prefix("--webhook-secret-file=")).unwrap();
    assert!(mounts.iter().any(|mount| secret.starts_with(mount)), "{secret} in {mounts:?}");
    // The image writes to its home and to /tmp, and finds git's credentials where they are mounted.
    let image = read("Containerfile");
    for path in ["/home/carp", "/tmp", "/etc/carp/git"] {
        assert!(mounts.contains(&path) && image.contains(path), "{path}");
    }
    let user = container["securityContext"]["runAsUser"].as_u64().unwrap_or(65532);
    assert!(image.contains(&format!("USER {user}:")));
}

/// Everything that the build reads is there, and everything that the sources embed is copied.
#[test]
fn the_image_is_built_from_what_is_there() {
    let image = read("Containerfile");
    let build = image.split("FROM ").nth(1).unwrap();
    let copied: Vec<&str> = build
        .lines()
        .filter_map(|line| line.strip_prefix("COPY "))
        .flat_map(|line| line.split(' ').rev().skip(1))
        .collect();
    for path in &copied {
        assert!(root().join(path).exists(), "{path}");
    }
    for folder in ["src", "templates", "policies", "deploy", "fleet-repo-example", "Cargo.lock"] {
        assert!(copied.contains(&folder), "{folder} is not copied");
    }
    let manifest = read("Cargo.toml");
    let rust = manifest.lines().find_map(|l| l.strip_prefix("rust-version = \"1.")).unwrap();
    let rust: u32 = rust.trim_end_matches('"').parse().unwrap();
    let used = image.split("rust:1.").nth(1).and_then(|r| r.split('-').next()).unwrap();
    assert!(used.parse::<u32>().unwrap() >= rust);
}

#[test]
fn a_real_api_server_takes_it() {
    let name = "a_real_api_server_takes_it";
    let Some(text) = built() else { return skip(name, "there is no kubectl") };
    let Some(server) = ApiServer::start() else {
        return skip(name, "KUBEBUILDER_ASSETS is unset");
    };
    server.kubectl(&["create", "namespace", "carp-system"]);
    // The oldest servers know the disruption budget by its older version only.
    let text = text.replace("policy/v1\n", "policy/v1beta1\n");
    let text = text.replace("  unhealthyPodEvictionPolicy: AlwaysAllow\n", "");
    let mut kubectl = Command::new("kubectl");
    kubectl.env("KUBECONFIG", server.kubeconfig());
    kubectl.args(["apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-"]);
    let mut child = kubectl
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    assert_eq!(out.lines().count(), objects(&text).len(), "{out}{err}");
    may_do_no_more(&server);
}

/// The election's role, applied for real, lets the service account do what the election does.
fn may_do_no_more(server: &ApiServer) {
    let rbac = root().join("deploy/rbac.yaml");
    server.kubectl(&["apply", "-n", "carp-system", "-f", rbac.to_str().unwrap()]);
    server.wait_for_rights();
    let user = "system:serviceaccount:carp-system:carp";
    for (verb, what, allowed) in [
        ("get", "leases/carp", true),
        ("update", "leases/carp", true),
        ("create", "leases", true),
        ("get", "leases/other", false),
        ("delete", "leases/carp", false),
        ("get", "secrets", false),
        ("list", "pods", false),
    ] {
        assert_eq!(server.may(user, verb, what, "carp-system"), allowed, "{verb} {what}");
    }
}
