//! The agent that carp installs: that it is the one of `deploy/agent/`, that a real API server takes it,
//! that what it names is there, and that it comes and goes with `observation`.

use std::fs;
use std::path::Path;
use std::process::Command;

use carp::model::Fleet;
use carp::render::{self, Files, SecretWanted};
use serde_json::{Value, json};

use crate::support::apiserver::ApiServer;
use crate::support::manifests::{arguments, built, mounts};
use crate::support::small;
use crate::support::world::World;
use crate::support::{self, documents, fleet, skip};

/// The objects of the agent's layer on the worker of the fleet.
fn layer(fleet: &Fleet) -> Vec<Value> {
    let tree = fleet::tree(fleet, "");
    let below = |(path, _): &(String, Value)| path.starts_with("workers/wk-weu-1/agent/");
    let all = documents(&tree).into_iter().filter(below).map(|(_, value)| value);
    all.filter(|value| value["apiVersion"] != "kustomize.config.k8s.io/v1beta1").collect()
}

fn by_hand() -> Option<Vec<Value>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/agent");
    built(&folder).map(|text| serde_saphyr::from_multiple(&text).unwrap())
}

fn deployment(objects: &[Value]) -> Value {
    objects.iter().find(|o| o["kind"] == "Deployment").unwrap().clone()
}

fn container(objects: &[Value]) -> Value {
    deployment(objects).pointer("/spec/template/spec/containers/0").unwrap().clone()
}

#[test]
fn it_is_the_one_that_people_install_by_hand() {
    let Some(by_hand) = by_hand() else { return skip("deploy/agent", "there is no kubectl") };
    let mut fleet = fleet::full();
    // What people begin with: git over https, and reports that need no signature.
    fleet.spec.observed = None;
    fleet.spec.delivery.as_mut().unwrap().url = "https://git.example.com/fleet.git".to_owned();
    let same = |objects: Vec<Value>| {
        let mut kept: Vec<_> = objects.into_iter().filter(|o| o["kind"] != "ConfigMap").collect();
        for object in &mut kept {
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.remove("annotations");
            }
            if let Some(container) = object.pointer_mut("/spec/template/spec/containers/0") {
                let container = container.as_object_mut().unwrap();
                // Which worker, which repository and which image is what they differ by.
                container.retain(|key, _| !matches!(key.as_str(), "args" | "env" | "image"));
            }
        }
        kept.sort_by_key(|o| format!("{} {}", o["kind"], o["metadata"]["namespace"]));
        // kustomize writes 0440 as YAML 1.1 reads it.
        json!(kept).to_string().replace("\"defaultMode\":440", "\"defaultMode\":288")
    };
    let names = |objects: &[Value]| -> Vec<String> {
        let args = container(objects)["args"].as_array().unwrap().clone();
        let name = |arg: &Value| arg.as_str().unwrap().split('=').next().unwrap().to_owned();
        args.iter().map(name).collect()
    };
    let carps = layer(&fleet);
    assert_eq!(names(&carps), names(&by_hand));
    assert_eq!(same(carps), same(by_hand));
}

#[test]
fn it_runs_as_nobody_with_arguments_that_carp_has_and_files_that_are_mounted() {
    let full = layer(&fleet::full());
    let container = container(&full);
    let (mut args, mounts) = (arguments(&container), mounts(&container));
    let files = args.iter().filter_map(|a| a.split_once('=')).map(|(_, value)| value);
    for file in files.filter(|value| value.starts_with('/')) {
        assert!(mounts.iter().any(|mount| file.starts_with(mount)), "{file} in {mounts:?}");
    }
    let command = carp::cli::command();
    let agent = command.find_subcommand("agent").unwrap();
    let signs = agent.get_arguments().any(|arg| arg.get_long() == Some("signing-key"));
    args.retain(|arg| signs || !arg.starts_with("--signing-key"));
    let parsed = command.try_get_matches_from([&["carp"], args.as_slice()].concat());
    assert!(parsed.is_ok(), "{:?}", parsed.err());

    let pod = deployment(&full).pointer("/spec/template/spec").unwrap().clone();
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
    assert_eq!(container["securityContext"]["allowPrivilegeEscalation"], false);
    assert_eq!(container["securityContext"]["capabilities"]["drop"], json!(["ALL"]));
    assert!(full.iter().all(|o| o["kind"] != "Secret"), "Git holds no secret");
}

#[test]
fn a_real_api_server_takes_it_and_the_commands_of_its_secrets_work() {
    let name = "a_real_api_server_takes_it_and_the_commands_of_its_secrets_work";
    let Some(server) = ApiServer::start() else {
        return skip(name, "KUBEBUILDER_ASSETS is unset");
    };
    let fleet = fleet::full();
    let dir = tempfile::tempdir().unwrap();
    support::write(&agents_folder(&fleet), dir.path());
    let by_hand = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/agent");
    server.kubectl(&["create", "namespace", "flux-system"]);
    for folder in [dir.path().to_str().unwrap(), by_hand] {
        let apply = ["apply", "--server-side", "--force-conflicts", "--validate=strict", "-k"];
        server.kubectl(&[&apply[..], &[folder]].concat());
    }

    server.kubectl(&["create", "namespace", "wk-weu-1"]);
    for file in ["KEY_FILE", "KNOWN_HOSTS_FILE"] {
        fs::write(dir.path().join(file), file).unwrap();
    }
    let run = |wanted: &SecretWanted| {
        let mut command = Command::new("sh");
        command.args(["-ec", &wanted.command]).current_dir(dir.path());
        command.env("KUBECONFIG", server.kubeconfig()).env("HOME", dir.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let get = ["get", "secret", &wanted.name, "-n", &wanted.namespace, "-o", "json"];
        serde_json::from_str::<Value>(&server.kubectl(&get)).unwrap()
    };
    let is_agents = |s: &SecretWanted| s.name.starts_with("carp-agent-");
    let direct = render::control_plane_secrets_wanted(&fleet);
    let direct: Vec<_> = direct.iter().filter(|s| is_agents(s)).map(&run).collect();
    assert_eq!(direct.len(), 2);
    mounted(&fleet, &direct);

    let worker = fleet.workers.values().next().unwrap();
    let copied = render::secrets_wanted(&fleet, worker);
    let copied = copied.iter().filter(|s| is_agents(s)).map(|wanted| {
        let outer = run(wanted);
        assert_eq!(outer["type"], "addons.cluster.x-k8s.io/resource-set");
        let inner = server.kubectl(&[
            "get",
            "secret",
            &wanted.name,
            "-n",
            "wk-weu-1",
            "-o",
            r"go-template={{index .data `secret.json` | base64decode}}",
        ]);
        serde_json::from_str::<Value>(&inner).unwrap()
    });
    let copied: Vec<_> = copied.collect();
    assert_eq!(copied.len(), 2);
    mounted(&fleet, &copied);
}

/// The agent's folder on the worker, as Flux builds it.
fn agents_folder(fleet: &Fleet) -> Files {
    let tree = fleet::tree(fleet, "").into_iter();
    tree.filter_map(|(path, bytes)| {
        Some((path.strip_prefix("workers/wk-weu-1/agent/")?.to_owned(), bytes))
    })
    .collect()
}

/// The Secrets are those that the pod mounts, with the files that it is told of.
fn mounted(fleet: &Fleet, secrets: &[Value]) {
    let objects = layer(fleet);
    let told = container(&objects).to_string();
    let volumes = deployment(&objects).pointer("/spec/template/spec/volumes").unwrap().clone();
    for volume in volumes.as_array().unwrap().iter().filter(|v| v.get("secret").is_some()) {
        let name = &volume["secret"]["secretName"];
        let secret = secrets.iter().find(|s| s["metadata"]["name"] == *name);
        let secret = secret.unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(secret["metadata"]["namespace"], "carp-system");
        for file in secret["data"].as_object().unwrap().keys() {
            assert!(told.contains(&format!("/{file}")), "nothing reads {file}: {told}");
        }
    }
}

#[test]
fn it_comes_and_goes_with_observation() {
    let mut world = World::new(small::files());
    let layer = "workers/w-eus/agent/agent.yaml";
    let observed = "spec:\n  observation: Agent\n";
    world.edit("fleet/workers/w-eus.yaml", "spec:\n", observed);
    world.run();
    assert_eq!(world.output_text(layer), None, "nothing says where carp's image is");

    world.edit("carp.yaml", "  delivery:\n", "  images: {carp: r.example.com/carp}\n  delivery:\n");
    let installed = world.run();
    assert!(installed.diagnostics.is_empty(), "{:?}", installed.diagnostics);
    assert!(world.output_text(layer).unwrap().contains("--worker=w-eus"));
    let layers = |world: &World| world.output_text("workers/w-eus/layers.yaml").unwrap();
    assert!(layers(&world).contains("name: component-agent\n"));
    let there = |world: &World| {
        let files = world.output_files().into_keys();
        files.filter(|path| path.contains("/agent/")).collect::<Vec<_>>()
    };
    assert!(there(&world).iter().all(|path| path.starts_with("workers/w-eus/")), "one worker's");
    assert!(!world.propose().has_changes());

    world.edit("fleet/workers/w-eus.yaml", observed, "spec:\n");
    world.run();
    assert_eq!(there(&world), Vec::<String>::new());
    assert!(!layers(&world).contains("component-agent"));
}
