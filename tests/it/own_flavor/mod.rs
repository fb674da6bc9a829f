//! Flavors of a fleet's own templates alone: an invented one, and those of `examples/`, from the first look at their documents to
//! the end of their clusters, without a line of Rust. And carp's own are named in its code in one place.

mod aws;
mod dev;
mod example;
mod k0smotron;
mod moon;
mod named;
mod observed;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carp::model::Name;

use crate::support::world::{World, record};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The files of a folder, by path from it.
fn files_of(folder: &Path) -> BTreeMap<String, String> {
    let mut open = vec![folder.to_owned()];
    let mut files = BTreeMap::new();
    while let Some(dir) = open.pop() {
        for path in dir.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                files.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}

/// A report of a worker without clusters.
fn empty_report(world: &World, worker: &str) -> String {
    format!(
        "schemaVersion: 1\nworker: {worker}\nworkerUID: u-1\ntime: \"{}\"\ncomplete: true\nhealthy: true\n",
        world.now
    )
}

/// The worker reports.
fn hear(world: &mut World, worker: &str, report: String) {
    let reports = world.reports.get_or_insert_default();
    reports.insert(Name::parse(worker).unwrap(), report.into_bytes());
}

/// A report that names the kinds that are there of a cluster, with the digest of its folder.
fn report_of(world: &World, worker: &str, cluster: &str, present: &[&str]) -> String {
    let folder = format!("workers/{worker}/clusters/{cluster}/cluster.yaml");
    let text = world.output_text(&folder).unwrap();
    let digest = text.lines().find_map(|l| l.trim().strip_prefix("carp.dev/digest: sha256:"));
    let runs = present.contains(&"Cluster");
    let (phase, uid) = if runs { ("Running", "  uid: c-1\n") } else { ("Deleting", "") };
    format!(
        "{}clusters:\n- name: {cluster}\n  phase: {phase}\n{uid}  version: v1.34.2\n  digest: \"{}\"\n  \
         present:\n  - {}\n",
        empty_report(world, worker),
        digest.unwrap(),
        present.join("\n  - ")
    )
}

/// The step of a cluster's deletion, as its record has it.
fn step(world: &World, cluster: &str) -> Option<String> {
    let text = world.output_text(&record(cluster))?;
    text.lines().find_map(|line| line.trim().strip_prefix("step: ")).map(str::to_owned)
}
