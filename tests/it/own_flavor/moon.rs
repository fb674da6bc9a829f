//! An invented provider with three kinds, in a fleet's `templates/` alone.

use carp::diag::Code;
use carp::model::{Progress, Proposal};

use super::{empty_report, files_of, hear, report_of, root, step};
use crate::support::small;
use crate::support::world::{World, after_nine, cluster_status, record};

pub(super) const WORKER: &str = "w-weu";
pub(super) const FOLDER: &str = "workers/w-weu/clusters/base";
pub(super) const DOCUMENT: &str = "fleet/clusters/base.yaml";
const FLAVOR: &str = "templates/moon-base/flavor.yaml";

/// The small fleet, with the flavor and a cluster of it.
pub(super) fn world() -> World {
    let mut files = small::files();
    files.retain(|path, _| !path.starts_with("fleet/clusters/"));
    files.remove("fleet/workers/w-eus.yaml");
    let own = files_of(&root().join("tests/flavors/moon/templates"));
    files.extend(own.into_iter().map(|(path, text)| (format!("templates/{path}"), text)));
    let carp = files.get_mut("carp.yaml").unwrap();
    carp.push_str(
        "    - name: moon\n      provider: moon\n      values: {crater: tycho}\n  images: {carp: \
         r.example.com/carp}\n",
    );
    files.get_mut("fleet/workers/w-weu.yaml").unwrap().push_str("  observation: Agent\n");
    let base = small::cluster("base", "tranquility").replace(
        "  replicas: 2\n",
        "  flavor: moon-base\n  nodePools: [{name: np0, replicas: 2, vmSize: rover.small, zones: [a]}]\n",
    );
    files.insert(DOCUMENT.to_owned(), base);
    let mut world = World::new(files);
    // A worker that an agent observes takes clusters once it has reported.
    let report = empty_report(&world, WORKER);
    hear(&mut world, WORKER, report);
    world
}

fn found(world: &mut World) -> Vec<(String, String)> {
    let all = world.propose().diagnostics;
    all.iter().map(|d| (d.code.name().to_owned(), d.message.clone())).collect()
}

#[test]
fn its_mistakes_are_told_where_they_stand() {
    let mut world = world();
    assert_eq!(found(&mut world), []);
    for (right, wrong, code) in [
        ("rover.small", "rover.smal", "suspicious-vm-size"),
        ("tranquility", "tranquilty", "unknown-location"),
        ("tranquility", "westeurope", "unknown-location"),
        ("zones: [a]", "zones: [c]", "zones-unavailable"),
    ] {
        world.edit(DOCUMENT, right, wrong);
        let told = found(&mut world);
        assert_eq!(told[0].0, code, "{told:?}");
        world.edit(DOCUMENT, wrong, right);
    }
    world.edit("carp.yaml", "crater: tycho", "creater: tycho");
    let told = found(&mut world);
    assert!(told.iter().any(|(_, message)| message.contains("no `crater`")), "{told:?}");
    world.edit("carp.yaml", "creater: tycho", "crater: tycho");
    world.edit(FLAVOR, "objects:", "object:");
    let all = world.propose().diagnostics;
    let broken = all.iter().find(|d| d.message.contains("unknown field `object`")).unwrap();
    let place = broken.place.clone().unwrap();
    let at = place.position.map(|position| (position.line, position.column));
    assert_eq!((&*place.file, at), (FLAVOR, Some((11, 1))));
    assert!(broken.message.starts_with("the flavor's manifest"), "{}", broken.message);
}

#[test]
fn its_worker_gets_what_it_needs() {
    let mut world = world();
    let first = world.run();
    assert!(first.diagnostics.is_empty(), "{:#?}", first.diagnostics);
    assert_eq!(world.worker_of("base").as_deref(), Some(WORKER));
    let cluster = world.output_text(&format!("{FOLDER}/cluster.yaml")).unwrap();
    for line in [
        "  crater: \"tycho\"\n",
        "  dust: \"v1.2.3\"\n",
        "    size: \"rover.small\"\n",
        "  replicas: 3\n",
        "100.64.0.0/16",
    ] {
        assert!(cluster.contains(line), "{line} not in {cluster}");
    }
    let text = |path: &str| world.output_text(&format!("workers/w-weu/{path}")).unwrap();
    let providers = text("providers/providers.yaml");
    assert!(providers.contains("name: \"capm-system\"\n"), "{providers}");
    assert!(providers.contains("  configSecret:\n    name: \"capm-variables\"\n"), "{providers}");
    assert!(text("platform/platform.yaml").contains("infrastructure.moon.example.com"));
    let agent = text("agent/agent.yaml");
    assert!(agent.contains("--observe="), "{agent}");
    let rule = "- apiGroups: [\"infrastructure.moon.example.com\"]\n  resources: \
                [\"moonbases\",\"mooncontrolplanes\",\"moonrovers\"]\n  verbs: [list, watch]\n";
    assert!(agent.contains(rule), "{agent}");
    assert!(!world.run().has_changes());
}

#[test]
fn a_field_that_stays_is_told_before_the_commit() {
    let mut world = world();
    world.run();
    let before = world.output_text(&format!("{FOLDER}/cluster.yaml"));
    world.edit("carp.yaml", "crater: tycho", "crater: kepler");
    let proposal = world.run();
    let told = proposal.diagnostics.iter().find(|d| d.code == Code::ImmutableField).unwrap();
    assert!(told.message.contains("spec.crater of MoonBase base"), "{}", told.message);
    assert_eq!(
        world.output_text(&format!("{FOLDER}/cluster.yaml")),
        before,
        "its last good folder"
    );
}

/// A minute later the worker reports that these are there, and carp runs.
fn later(world: &mut World, minute: i64, present: &[&str]) -> Proposal {
    world.now = after_nine(minute);
    let report = report_of(world, WORKER, "base", present);
    hear(world, WORKER, report);
    world.run()
}

#[test]
fn it_lives_and_goes_in_three_steps() {
    let mut world = world();
    world.run();
    let kinds = ["Cluster", "ManagedCluster", "MoonBase", "MoonControlPlane", "Namespace"];
    let proposal = later(&mut world, 1, &kinds);
    assert!(proposal.diagnostics.is_empty(), "{:#?}", proposal.diagnostics);
    let status = world.status_text(&cluster_status("base")).unwrap();
    assert!(status.contains("phase: Running\n") && status.contains("v1.34.2"), "{status}");

    world.remove(DOCUMENT);
    world.now = after_nine(2);
    let proposal = world.run();
    let begun = proposal.plan.deletions().iter().any(|(_, d)| d.progress == Progress::Begins);
    assert!(begun, "{:#?}", proposal.plan.deletions());
    assert_eq!(step(&world, "base").as_deref(), Some("D1"));
    let text = world.output_text(&format!("{FOLDER}/cluster.yaml")).unwrap();
    for gone in ["kind: Cluster\n", "kind: MoonBase\n", "kind: MoonControlPlane\n"] {
        assert!(!text.contains(gone), "{gone} in {text}");
    }
    // What is left of it holds the next step back.
    later(&mut world, 3, &["ManagedCluster", "MoonBase", "Namespace"]);
    assert_eq!(step(&world, "base").as_deref(), Some("D1"));
    later(&mut world, 4, &["ManagedCluster", "Namespace"]);
    assert_eq!(step(&world, "base").as_deref(), Some("D2"));
    later(&mut world, 5, &["ManagedCluster", "Namespace"]);
    assert_eq!((step(&world, "base"), world.output_text(&record("base"))), (None, None));
}

#[test]
fn the_page_shows_these_files() {
    let page = std::fs::read_to_string(root().join("docs/flavors.md")).unwrap();
    for (path, text) in files_of(&root().join("tests/flavors/moon/templates")) {
        if path.ends_with("cluster.yaml") {
            continue;
        }
        let said = text.lines().take_while(|line| *line != "readiness:");
        let said: Vec<_> = said.filter(|line| !line.starts_with('#')).collect();
        let block = format!("`templates/{path}`:\n\n```yaml\n{}\n```\n", said.join("\n"));
        assert!(page.contains(&block), "{path} is shown otherwise");
    }
}
