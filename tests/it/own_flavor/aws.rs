//! AWS by files alone: `examples/aws`, a fleet whose templates make clusters of Cluster API's provider for AWS. The steps
//! of `docs/flavors.md` are commands that are run here, and what they print.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use carp::diag::Code;
use carp::render::Files;
use serde_json::{Value, json};

use super::{empty_report, files_of, hear, report_of, root, step};
use crate::support::crd::Crds;
use crate::support::people::{carp, printed};
use crate::support::world::{World, after_nine, record};
use crate::support::{documents, skip, write};

const WORKER: &str = "w-fra";
/// Where the steps begin and end in the page.
const STEPS: (&str, &str) = ("## AWS, by files alone\n", "\n## What a folder cannot say yet\n");

fn fleet() -> BTreeMap<String, String> {
    files_of(&root().join("examples/aws"))
}

/// The fleet after its first run, which finds nothing.
fn world() -> World {
    let mut world = World::new(fleet());
    let first = world.run();
    assert!(first.diagnostics.is_empty(), "{:#?}", first.diagnostics);
    assert!(!world.run().has_changes());
    world
}

fn rendered(world: &World) -> Vec<(String, Value)> {
    let tree: Files = world.output_files().into_iter().collect();
    documents(&tree)
}

/// The objects of a kind in a folder of the output.
fn objects(world: &World, folder: &str, kind: &str) -> Vec<Value> {
    let all = rendered(world).into_iter();
    let found = all.filter(|(path, o)| path.starts_with(folder) && o["kind"] == kind);
    found.map(|(_, object)| object).collect()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "tests read their environment")]
fn every_object_is_one_that_the_crds_accept() {
    let Some(folder) = std::env::var_os("CARP_CRDS").map(PathBuf::from) else {
        return skip("every_object_is_one_that_the_crds_accept", "CARP_CRDS is unset");
    };
    let has_aws = folder.join("awsclusters.infrastructure.cluster.x-k8s.io.yaml").is_file();
    let mut crds = Crds::read(&folder);
    let mut checked = 0;
    let mut found = Vec::new();
    for (path, object) in rendered(&world()) {
        let kind = object["kind"].as_str().unwrap_or_default();
        let is_manifest = path.starts_with("workers/") || path.starts_with("control-plane/");
        if !is_manifest || path.ends_with(".lock") || kind.starts_with("AWS") && !has_aws {
            continue;
        }
        checked += 1;
        let name = format!("{path}: {kind} {}", object["metadata"]["name"]);
        found.extend(crds.findings(&object).into_iter().map(|f| format!("{name}: {f}")));
    }
    assert!(checked > 60, "only {checked} objects");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn what_it_makes_is_of_aws_and_of_nothing_else() {
    let world = world();
    for cluster in ["shop", "till"] {
        assert_eq!(world.worker_of(cluster).as_deref(), Some(WORKER), "{cluster}");
    }
    for (path, text) in world.output_files() {
        let text = String::from_utf8(text).unwrap().to_lowercase();
        // The rights of what applies clusters, and the agent's, are for all flavors that there are.
        let rights = ["platform/platform.yaml", "agent/rbac.yaml", "/crds/"];
        if !rights.iter().any(|end| path.contains(end)) {
            assert!(!text.contains("azure") && !text.contains("kamaji"), "{path}");
        }
    }
    let shop = "workers/w-fra/clusters/shop/";
    let zones: Vec<_> = objects(&world, shop, "MachineDeployment")
        .iter()
        .map(|o| o["spec"]["template"]["spec"]["failureDomain"].clone())
        .collect();
    assert_eq!(zones, [json!("eu-west-1a"), json!("eu-west-1b"), Value::Null]);
    let till = objects(&world, "workers/w-fra/clusters/till/", "AWSManagedMachinePool");
    assert_eq!(till[0]["spec"]["availabilityZones"], json!(["eu-central-1a"]));
    let own = objects(&world, "control-plane/w-fra/", "KubeadmControlPlane");
    assert_eq!((own.len(), &own[0]["spec"]["replicas"]), (1, &json!(3)));
    let providers = objects(&world, "workers/w-fra/providers/", "InfrastructureProvider");
    assert_eq!(providers.len(), 1);
    assert_eq!(providers[0]["spec"]["configSecret"]["name"], "capa-variables");
}

#[test]
fn machines_rotate_and_what_stays_is_told() {
    let mut world = world();
    let names = |world: &World| -> Vec<Value> {
        let all = objects(world, "workers/w-fra/clusters/shop/", "AWSMachineTemplate");
        all.iter().map(|o| o["metadata"]["name"].clone()).collect()
    };
    let before = names(&world);
    world.edit("fleet/clusters/shop.yaml", "c6i.2xlarge", "c6i.xlarge");
    let proposal = world.run();
    assert!(proposal.diagnostics.is_empty(), "{:#?}", proposal.diagnostics);
    let differ = names(&world).iter().zip(&before).filter(|(a, b)| a != b).count();
    assert_eq!((differ, before.len()), (1, 3), "another template, and no object that changed");
    // A node group stays what it is: EKS has no other disk for it.
    let pool = "{name: np0, replicas: 3, vmSize: m6i.xlarge, ";
    world.edit("fleet/clusters/till.yaml", pool, &format!("{pool}osDisk: {{sizeGB: 200}}, "));
    let proposal = world.run();
    let told = proposal.diagnostics.iter().find(|d| d.code == Code::ImmutableField).unwrap();
    assert!(told.message.contains("spec.diskSize of AWSManagedMachinePool"), "{}", told.message);
    world.edit("fleet/clusters/till.yaml", "osDisk: {sizeGB: 200}, ", "");
    world.edit("fleet/clusters/till.yaml", "location: eu-central-1", "location: eu-central-9");
    let told = world.propose().diagnostics;
    assert!(told.iter().any(|d| d.code == Code::UnknownLocation), "{told:#?}");
}

/// A minute later the worker reports that these are there of a cluster, and carp runs.
fn later(world: &mut World, minute: i64, cluster: &str, present: &[&str]) {
    world.now = after_nine(minute);
    let report = report_of(world, WORKER, cluster, present);
    hear(world, WORKER, report);
    world.run();
}

#[test]
fn its_clusters_go_in_three_steps() {
    for (cluster, infrastructure) in [("shop", "AWSMachine"), ("till", "AWSManagedControlPlane")] {
        let mut files = fleet();
        files.retain(|path, _| !path.starts_with("fleet/clusters/") || path.contains(cluster));
        let worker = files.get_mut("fleet/workers/w-fra.yaml").unwrap();
        worker.push_str("  observation: Agent\n");
        let mut world = World::new(files);
        let report = empty_report(&world, WORKER);
        hear(&mut world, WORKER, report);
        world.run();
        later(&mut world, 1, cluster, &["Cluster", infrastructure, "ManagedCluster", "Namespace"]);
        world.remove(&format!("fleet/clusters/{cluster}.yaml"));
        world.now = after_nine(2);
        world.run();
        assert_eq!(step(&world, cluster).as_deref(), Some("D1"));
        later(&mut world, 3, cluster, &[infrastructure, "ManagedCluster", "Namespace"]);
        assert_eq!(step(&world, cluster).as_deref(), Some("D1"), "{infrastructure} is there");
        later(&mut world, 4, cluster, &["ManagedCluster", "Namespace"]);
        assert_eq!(step(&world, cluster).as_deref(), Some("D2"));
        later(&mut world, 5, cluster, &["ManagedCluster", "Namespace"]);
        assert_eq!(world.output_text(&record(cluster)), None);
    }
}

/// The page's steps with what their commands print now, in a copy of the fleet.
fn played(steps: &str, folder: &Path) -> String {
    let mut page = String::new();
    let mut lines = steps.lines().peekable();
    while let Some(line) = lines.next() {
        let _ = writeln!(page, "{line}");
        if line != "```console" {
            continue;
        }
        while let Some(line) = lines.next_if(|line| *line != "```") {
            let Some(command) = line.strip_prefix("$ carp ") else { continue };
            let args: Vec<_> = command.split_whitespace().collect();
            let output = printed(&carp(folder, &args).output().unwrap());
            // What carp's own templates come to is no part of the steps.
            let changing = |line: &&str| line.starts_with("tree ") || line.starts_with("work ");
            let said: Vec<_> = output.trim_end().lines().filter(|l| !changing(l)).collect();
            let _ = writeln!(page, "{line}\n{}", said.join("\n"));
        }
    }
    page
}

#[test]
#[expect(clippy::disallowed_methods, reason = "tests read their environment")]
fn the_page_tells_the_steps() {
    let path = root().join("docs/flavors.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let begin = page.find(STEPS.0).unwrap();
    let end = begin + page[begin..].find(STEPS.1).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let files = fleet().into_iter().map(|(path, text)| (path, text.into_bytes()));
    write(&files.collect(), dir.path());
    let played = played(&page[begin..end], dir.path());
    if std::env::var_os("UPDATE").is_some() {
        let page = format!("{}{}\n{}", &page[..begin], played.trim_end(), &page[end..]);
        std::fs::write(&path, page).unwrap();
    } else {
        assert_eq!(played.trim_end(), page[begin..end].trim_end(), "`UPDATE=1` writes it anew");
    }
    // Each file of the templates is spoken of.
    for file in files_of(&root().join("examples/aws/templates")).keys() {
        assert!(page.contains(&format!("`templates/{file}`")), "{file}");
    }
}
