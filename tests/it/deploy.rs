//! `deploy/` and the `Containerfile`: that they build, that a real API server takes them, that they
//! name what is there, and that they ask for no more than carp needs.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

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
        assert_eq!(rule["resources"], json!(["leases"]));
        let is_named = rule["resourceNames"] == json!(["carp"]);
        assert!(is_named || rule["verbs"] == json!(["create"]), "{rule}");
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

/// The folders and files of `deploy/` that say which image it is.
const PINNED: [&str; 3] =
    ["deploy/kustomization.yaml", "deploy/agent/kustomization.yaml", "deploy/flux/carp.yaml"];

fn is_pinned(image: &str) -> bool {
    let digest = image.split_once("@sha256:").map(|(_, digest)| digest);
    digest.is_some_and(|d| d.len() == 64 && d.chars().all(|c| c.is_ascii_hexdigit()))
}

/// The images of all containers.
fn images(objects: &[Value]) -> Vec<String> {
    let pods = objects.iter().filter_map(|o| o.pointer("/spec/template/spec"));
    let kinds = pods.flat_map(|pod| [&pod["containers"], &pod["initContainers"]]);
    let all = kinds.filter_map(Value::as_array).flatten();
    all.map(|container| container["image"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn no_image_is_named_by_a_tag_that_may_move() {
    for folder in ["deploy", "deploy/agent"] {
        let built = manifests::built(&root().join(folder));
        let Some(text) = built else { return skip("deploy images", "there is no kubectl") };
        let images = images(&objects(&text));
        assert_eq!(images.len(), 1, "{folder}");
        assert!(images.iter().all(|image| is_pinned(image)), "{folder}: {images:?}");
    }
    // What is not built: Flux's own transformer, and whatever comes later.
    for folder in ["deploy", "deploy/agent", "deploy/flux", "deploy/kind"] {
        for file in root().join(folder).read_dir().unwrap().map(|f| f.unwrap().path()) {
            if file.is_file() {
                let text = std::fs::read_to_string(&file).unwrap();
                assert!(!text.contains("newTag:"), "{}", file.display());
                let name = file.strip_prefix(root()).unwrap().to_str().unwrap();
                let says = text.contains("\n    digest: sha256:")
                    || text.contains("\n      digest: sha256:");
                assert_eq!(says, PINNED.contains(&name), "{name}");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn a_release_writes_which_image_it_is() {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["deploy", "deploy/agent", "deploy/flux"] {
        std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        for file in root().join(folder).read_dir().unwrap().map(|f| f.unwrap().path()) {
            if file.is_file() {
                let to = dir.path().join(file.strip_prefix(root()).unwrap());
                std::fs::copy(&file, to).unwrap();
            }
        }
    }
    let pin = |digest: &str| {
        let script = dir.path().join("deploy/image");
        let args = ["pin", "r.example.com/team/carp", digest];
        Command::new("sh").arg(script).args(args).output().unwrap()
    };
    let (capital, other) = ("5A".repeat(32), "zz".repeat(32));
    let two = format!("sha256:{}\nsha256:{0}", "5a".repeat(32));
    for wrong in ["sha256:12", &format!("sha256:{capital}"), &format!("sha256:{other}"), &two] {
        let refused = pin(wrong);
        assert!(!refused.status.success(), "{wrong}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains(&format!("and not {wrong}")));
    }
    let digest = format!("sha256:{}", "5a".repeat(32));
    let output = pin(&digest);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let wanted = format!("r.example.com/team/carp@{digest}");
    for folder in ["deploy", "deploy/agent"] {
        let Some(text) = manifests::built(&dir.path().join(folder)) else {
            return skip("deploy/image", "there is no kubectl");
        };
        assert_eq!(images(&objects(&text)), [wanted.as_str()], "{folder}");
    }
    let flux = std::fs::read_to_string(dir.path().join("deploy/flux/carp.yaml")).unwrap();
    let kustomization = objects(&flux).pop().unwrap();
    let image = &kustomization["spec"]["images"][0];
    assert_eq!(
        (&image["newName"], &image["digest"]),
        (&"r.example.com/team/carp".into(), &digest.into())
    );
}

/// The TCP ports that a policy lets out.
fn ports_out(policy: &Value) -> BTreeSet<u64> {
    let rules = policy["spec"]["egress"].as_array().unwrap().iter();
    let ports = rules.flat_map(|rule| rule["ports"].as_array().expect("no rule without ports"));
    let tcp = ports.filter(|port| port["protocol"] == "TCP");
    tcp.map(|port| port["port"].as_u64().unwrap()).collect()
}

#[test]
fn it_reaches_names_git_and_the_api_server_and_nothing_else() {
    let Some(text) = built() else { return skip("deploy network", "there is no kubectl") };
    let objects = objects(&text);
    let policy = of_kind(&objects, "NetworkPolicy");
    let pod = &of_kind(&objects, "Deployment")["spec"]["template"]["metadata"]["labels"];
    assert_eq!(&policy["spec"]["podSelector"]["matchLabels"], pod);
    assert_eq!(policy["spec"]["policyTypes"], json!(["Ingress", "Egress"]));
    assert_eq!(ports_out(policy), [22, 53, 443, 6443].into());
    for rule in policy["spec"]["egress"].as_array().unwrap() {
        let names = rule["ports"].as_array().unwrap().iter().any(|port| port["port"] == 53);
        assert_eq!(names, rule.get("to").is_some(), "names are asked of the cluster: {rule}");
    }
    let agent = manifests::built(&root().join("deploy/agent")).unwrap();
    let agent: Vec<Value> = serde_saphyr::from_multiple(&agent).unwrap();
    let policy = of_kind(&agent, "NetworkPolicy");
    assert_eq!(ports_out(policy), [53, 443, 6443].into());
    assert!(policy["spec"].get("ingress").is_none(), "nobody calls it");
}

/// What is applied for one does not undo what was applied for another.
#[test]
fn the_parts_share_no_object_but_the_namespace_and_that_is_the_same() {
    let mut known = std::collections::BTreeMap::<String, Value>::new();
    for folder in ["deploy", "deploy/agent", "deploy/kind"] {
        let Some(text) = manifests::built(&root().join(folder)) else {
            return skip("deploy parts", "there is no kubectl");
        };
        for object in objects(&text) {
            let (kind, at) = (&object["kind"], &object["metadata"]);
            if kind == "Namespace" {
                let level = &at["labels"]["pod-security.kubernetes.io/enforce"];
                assert_eq!(level, "restricted", "{folder}");
            }
            let name = format!("{kind} {} {}", at["namespace"], at["name"]);
            if let Some(other) = known.insert(name, object.clone()) {
                assert_eq!(other, object, "{folder}");
            }
        }
    }
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
    let objects = server.objects();
    for (verb, group, resource, name, allowed) in [
        ("get", "coordination.k8s.io", "leases", "carp", true),
        ("update", "coordination.k8s.io", "leases", "carp", true),
        ("create", "coordination.k8s.io", "leases", "", true),
        ("get", "coordination.k8s.io", "leases", "other", false),
        ("delete", "coordination.k8s.io", "leases", "carp", false),
        ("get", "", "secrets", "", false),
        ("list", "", "pods", "", false),
    ] {
        let what = json!({
            "namespace": "carp-system", "verb": verb, "group": group, "resource": resource, "name": name,
        });
        assert_eq!(objects.may(user, what), allowed, "{verb} {resource} {name}");
    }
}
