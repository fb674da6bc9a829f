//! A fleet below `examples/` whose templates are a flavor: what of it is held by each one's tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use carp::model::Proposal;
use carp::render::Files;
use serde_json::Value;

use super::{empty_report, files_of, hear, report_of, root, step};
use crate::support::crd::Crds;
use crate::support::people::{carp, printed};
use crate::support::prepared::Prepared;
use crate::support::world::{World, after_nine, record};
use crate::support::{documents, skip, write};

/// One example.
pub(super) struct Example {
    /// Its folder below `examples/`.
    pub(super) name: &'static str,
    /// Its title in `docs/flavors.md`, whose commands are run.
    pub(super) title: &'static str,
    /// The workers that it declares.
    pub(super) workers: &'static [&'static str],
    /// Kinds whose definitions are not among those that the tests have: people held them against the provider's source,
    /// and no test does.
    pub(super) without_definitions: &'static [&'static str],
}

impl Example {
    fn folder(&self) -> PathBuf {
        root().join("examples").join(self.name)
    }

    pub(super) fn fleet(&self) -> BTreeMap<String, String> {
        files_of(&self.folder())
    }

    /// The fleet after its first run, which finds nothing.
    pub(super) fn world(&self) -> World {
        static FIRST: Prepared<&str, World> = Prepared::new();
        FIRST.of(self.name, |_| {
            let mut world = World::new(self.fleet());
            let first = world.run();
            assert!(first.diagnostics.is_empty(), "{:#?}", first.diagnostics);
            assert!(!world.run().has_changes());
            world
        })
    }

    /// A cluster whose document says these parameters, and a chart, has that chart and no other add-on.
    pub(super) fn add_ons_are_the_fleets(&self, cluster: &str, add_ons: &str) {
        let mut fleet = self.fleet();
        let text = fleet.get_mut(&format!("fleet/clusters/{cluster}.yaml")).unwrap();
        let said = format!(
            "\nspec:\n  parameters:\n    {add_ons}helmCharts: [{{name: cilium, repoURL: 'https://helm.cilium.io', chartName: \
             cilium, version: 1.18.2, namespace: kube-system}}]\n"
        );
        *text =
            text.replace("  parameters:\n    etcd: {sizeGB: 32}\n", "").replace("\nspec:\n", &said);
        let mut world = World::new(fleet);
        let first = world.run();
        assert!(first.diagnostics.is_empty(), "{:#?}", first.diagnostics);
        let worker = world.worker_of(cluster).unwrap();
        let folder = format!("workers/{worker}/clusters/{cluster}/");
        let charts = objects(&world, &folder, "HelmChartProxy");
        assert_eq!(charts.len(), 1, "{charts:#?}");
        let selected = &charts[0]["spec"]["clusterSelector"]["matchLabels"]["carp.dev/cluster"];
        assert_eq!((&charts[0]["metadata"]["name"], selected), (&"cilium".into(), &cluster.into()));
    }

    /// Flux installs a chart of a cluster by its kubeconfig where the fleet says so, as a step of its own, and nowhere else.
    pub(super) fn charts_may_be_fluxs(&self, cluster: &str) {
        let mut fleet = self.fleet();
        let text = fleet.get_mut(&format!("fleet/clusters/{cluster}.yaml")).unwrap();
        let said = "\nspec:\n  parameters:\n    helmReleases: [{name: ingress, repoURL: 'https://charts.example.com', chartName: \
                    ingress-nginx, version: 4.13.3, namespace: ingress}]\n";
        *text =
            text.replace("  parameters:\n    etcd: {sizeGB: 32}\n", "").replace("\nspec:\n", said);
        let told = World::new(fleet.clone()).run().diagnostics;
        assert!(told.iter().any(|d| d.message.contains("wants `fluxReleases: true`")), "{told:#?}");
        let settings = fleet.get_mut("carp.yaml").unwrap();
        *settings = settings.replacen("spec:\n", "spec:\n  fluxReleases: true\n", 1);
        let mut world = World::new(fleet);
        let first = world.run();
        assert!(first.diagnostics.is_empty(), "{:#?}", first.diagnostics);
        let folder = format!("workers/{}/clusters/{cluster}/", world.worker_of(cluster).unwrap());
        let release = &objects(&world, &folder, "HelmRelease")[0]["spec"];
        assert_eq!(release["kubeConfig"]["secretRef"]["name"], format!("{cluster}-kubeconfig"));
        let source = &objects(&world, &folder, "HelmRepository")[0];
        assert_eq!(source["metadata"]["name"], release["chart"]["spec"]["sourceRef"]["name"]);
    }

    /// Every object that it makes is one that the definitions accept, those of `without_definitions` apart: of each of
    /// these there is one at least, so that none is passed over that is not there.
    pub(super) fn every_object_is_accepted(&self, at_least: usize) {
        let Some(crds) = Crds::given() else {
            return skip(self.name, "CARP_CRDS is unset");
        };
        let (mut checked, mut found) = (0, Vec::new());
        let mut unheld = BTreeSet::new();
        for (path, object) in rendered(&self.world()) {
            let is_manifest = path.starts_with("workers/") || path.starts_with("control-plane/");
            if !is_manifest || path.ends_with(".lock") {
                continue;
            }
            let findings = crds.findings(&object);
            let kind = object["kind"].as_str().unwrap_or_default();
            let is_unheld = self.without_definitions.contains(&kind);
            if is_unheld && findings.iter().any(|f| f.ends_with("is not served by any CRD")) {
                unheld.insert(kind.to_owned());
                continue;
            }
            checked += 1;
            let name = format!("{path}: {kind} {}", object["metadata"]["name"]);
            found.extend(findings.into_iter().map(|f| format!("{name}: {f}")));
        }
        assert!(checked >= at_least, "only {checked} objects");
        assert!(found.is_empty(), "{}", found.join("\n"));
        let wanted = self.without_definitions.iter().map(|kind| (*kind).to_owned());
        assert_eq!(unheld, wanted.collect(), "the kinds without a definition");
    }

    /// Nothing is missing of what brings its workers and their clusters up.
    pub(super) fn comes_up(&self, steps: &[&str]) {
        let dir = tempfile::tempdir().unwrap();
        let files = self.fleet().into_iter().map(|(path, text)| (path, text.into_bytes()));
        write(&files.collect(), dir.path());
        let mut all = String::new();
        for worker in self.workers {
            let of = format!("worker/{worker}");
            let shown = carp(dir.path(), &["explain", &of, "--bootstrap"]).output().unwrap();
            let said = printed(&shown);
            assert!(shown.status.success(), "{said}");
            all.push_str(&said);
        }
        let lost: Vec<_> = steps.iter().filter(|step| !all.contains(**step)).collect();
        assert!(lost.is_empty(), "{lost:?} in {all}");
    }

    /// A cluster whose document is removed goes in three steps, and while an object of one of `left` is reported it is
    /// not gone.
    pub(super) fn goes_in_three_steps(&self, cluster: &str, worker: &str, left: &[&str]) {
        let mut world = self.observed();
        let file = world.files.iter().find(|(_, text)| is_of(text, cluster)).unwrap().0.clone();
        world.run();
        let all = [&["Cluster", "ManagedCluster", "Namespace"][..], left].concat();
        later(&mut world, 1, (worker, cluster), &all);
        let text = world.files[&file].clone();
        let others: Vec<_> = text.split("---\n").filter(|text| !is_of(text, cluster)).collect();
        if others.iter().any(|text| text.contains("kind: ")) {
            world.write(&file, &others.join("---\n"));
        } else {
            world.remove(&file);
        }
        world.now = after_nine(2);
        world.run();
        assert_eq!(step(&world, cluster).as_deref(), Some("D1"));
        let stays = |kind: &&str| ["ManagedCluster", "Namespace"].contains(kind);
        for (minute, kind) in (3..).zip(left) {
            let some: Vec<_> = all.iter().filter(|k| stays(k) || k == &kind).copied().collect();
            later(&mut world, minute, (worker, cluster), &some);
            assert_eq!(step(&world, cluster).as_deref(), Some("D1"), "{kind} is there");
        }
        later(&mut world, 20, (worker, cluster), &["ManagedCluster", "Namespace"]);
        assert_eq!(step(&world, cluster).as_deref(), Some("D2"));
        later(&mut world, 21, (worker, cluster), &["ManagedCluster", "Namespace"]);
        assert_eq!(world.output_text(&record(cluster)), None);
    }

    /// The fleet with workers that agents observe, each of which has reported that it has nothing.
    pub(super) fn observed(&self) -> World {
        let mut files = self.fleet();
        for text in files.values_mut().filter(|text| text.contains("kind: Worker\n")) {
            let observed = text.replace("\nspec:\n", "\nspec:\n  observation: Agent\n");
            *text = observed;
        }
        let carp = files.get_mut("carp.yaml").unwrap();
        if !carp.contains("\n  images:") {
            carp.push_str("  images: {carp: registry.example.com/platform/carp}\n");
        }
        let mut world = World::new(files);
        for worker in self.workers {
            let report = empty_report(&world, worker);
            hear(&mut world, worker, report);
        }
        world
    }

    /// The steps of the page are commands that are run in a copy of the fleet, and what they print; and the page speaks
    /// of each file of the templates.
    #[expect(clippy::disallowed_methods, reason = "tests read their environment")]
    pub(super) fn the_page_tells_the_steps(&self) {
        let path = root().join("docs/flavors.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let title = format!("## {}\n", self.title);
        let begin = page.find(&title).unwrap_or_else(|| panic!("no {title}"));
        let body = begin + title.len();
        let end = body + page[body..].find("\n## ").unwrap();
        let dir = tempfile::tempdir().unwrap();
        let files = self.fleet().into_iter().map(|(path, text)| (path, text.into_bytes()));
        write(&files.collect(), dir.path());
        let played = played(&page[begin..end], dir.path());
        if std::env::var_os("UPDATE").is_some() {
            let page = format!("{}{}\n{}", &page[..begin], played.trim_end(), &page[end..]);
            std::fs::write(&path, page).unwrap();
        } else {
            assert_eq!(played.trim_end(), page[begin..end].trim_end(), "`UPDATE=1` writes it anew");
        }
        for file in files_of(&self.folder().join("templates")).keys() {
            assert!(page[begin..end].contains(&format!("`templates/{file}`")), "{file}");
        }
    }
}

/// Whether a document is that of a cluster.
fn is_of(text: &str, cluster: &str) -> bool {
    text.contains("kind: ManagedCluster\n") && text.contains(&format!("  name: {cluster}\n"))
}

/// A minute later the worker reports that these are there of a cluster, and carp runs.
fn later(world: &mut World, minute: i64, of: (&str, &str), present: &[&str]) -> Proposal {
    let (worker, cluster) = of;
    world.now = after_nine(minute);
    let report = report_of(world, worker, cluster, present);
    hear(world, worker, report);
    world.run()
}

pub(super) fn rendered(world: &World) -> Vec<(String, Value)> {
    let tree: Files = world.output_files().into_iter().collect();
    documents(&tree)
}

/// The objects of a kind in a folder of the output.
pub(super) fn objects(world: &World, folder: &str, kind: &str) -> Vec<Value> {
    let all = rendered(world).into_iter();
    let found = all.filter(|(path, o)| path.starts_with(folder) && o["kind"] == kind);
    found.map(|(_, object)| object).collect()
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
