//! `carp crds pull`, from a server with the files of releases to what is held by them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use carp::model::tables;
use carp::schemas::published_definitions;

use crate::support::Remote;
use crate::support::people::{Person, printed};
use crate::support::releases::{Release, Releases};
use crate::support::{skip, small};

/// A definition whose spec has these properties, and may have others.
fn definition(plural: &str, group: &str, kind: &str, properties: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: {plural}.{group}\nspec:\n  \
         group: {group}\n  names: {{kind: {kind}, plural: {plural}}}\n  scope: Namespaced\n  versions:\n  - name: v1beta2\n    \
         served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        description: For \
         people.\n        properties:\n          spec: {{type: object, x-kubernetes-preserve-unknown-fields: true, properties: \
         {properties}}}\n"
    )
}

/// What the releases publish: the core's file has the kind `Cluster`, every other one a kind of its own.
fn published(path: &str) -> Release {
    let namespace = "kind: Namespace\napiVersion: v1\nmetadata: {name: a}\n---\n";
    let colour = "{colour: {type: boolean}}";
    let file = path.rsplit('/').next().unwrap();
    let text = match file {
        "core-components.yaml" => definition("clusters", "cluster.x-k8s.io", "Cluster", colour),
        _ if file.starts_with("azureserviceoperator") => {
            definition("resourcegroups", "resources.azure.com", "ResourceGroup", "{}")
        }
        _ => {
            // One for each repository: versions of it have the same.
            let of = path.split('/').nth(3).unwrap();
            let stem = format!("{of}{}", file.trim_end_matches(".yaml"));
            let plural: String = stem.chars().filter(char::is_ascii_lowercase).collect();
            definition(&plural, "x.io", "Other", "{}")
        }
    };
    Release::File(format!("{namespace}{text}"))
}

struct Fleet {
    person: Person,
    _remote: Remote,
    server: Releases,
}

impl Fleet {
    fn new() -> Self {
        let remote = Remote::new();
        let person = Person::cloning(&remote.url());
        person.push(&small::files());
        Self { person, _remote: remote, server: Releases::start(published) }
    }

    fn run(&self, args: &[&str]) -> (i32, String) {
        let output = self.person.carp(args);
        (output.status.code().unwrap(), printed(&output))
    }

    fn pull(&self, more: &[&str]) -> (i32, String) {
        let url = self.server.url();
        let args = ["crds", "pull", "--from", &url].into_iter().chain(more.iter().copied());
        self.run(&args.collect::<Vec<_>>())
    }

    fn check(&self) -> (i32, String) {
        self.run(&["crds", "pull", "--check"])
    }

    fn file(&self, path: &str) -> PathBuf {
        self.person.path().join("crds").join(path)
    }

    /// The files below `crds/`, with their texts.
    fn files(&self) -> BTreeMap<String, String> {
        fn walk(root: &Path, folder: &Path, into: &mut BTreeMap<String, String>) {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(root, &path, into);
                } else {
                    let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                    into.insert(name, fs::read_to_string(&path).unwrap());
                }
            }
        }
        let (root, mut all) = (self.person.path().join("crds"), BTreeMap::new());
        walk(&root, &root, &mut all);
        all
    }
}

const CLUSTERS: &str = "pulled/capi/clusters.cluster.x-k8s.io.yaml";

#[test]
fn what_is_pulled_holds_what_no_server_takes() {
    let fleet = Fleet::new();
    let (code, said) = fleet.check();
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("capi v1.13.5 is not pulled"), "{said}");
    assert!(fleet.files().is_empty(), "nothing is written, and nobody was asked");

    let (code, said) = fleet.pull(&[]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("capi v1.13.5 core-components.yaml: 1 definition\n"), "{said}");
    let asked = fleet.server.asked();
    let file =
        "/github.com/kubernetes-sigs/cluster-api/releases/download/v1.13.5/core-components.yaml";
    assert!(asked.iter().any(|path| path == file), "{asked:?}");
    let files = fleet.files();
    assert!(!files[CLUSTERS].contains("For people"), "{}", files[CLUSTERS]);
    assert_eq!(files.len(), asked.len() + 1, "a definition of each file, and the lock: {files:?}");

    let (code, said) = fleet.check();
    assert_eq!(code, 0, "{said}");
    let (code, said) = fleet.pull(&[]);
    assert!(code == 0 && said.contains("crds/pulled was left as it is"), "{said}");
    assert!(fleet.server.asked().is_empty(), "what stands is not asked for again");
    let (code, said) = fleet.pull(&["--again"]);
    assert!(code == 0 && said.contains("crds/pulled was left as it is"), "{said}");
    assert_eq!(fleet.files(), files, "the same bytes");

    let (code, said) = fleet.run(&["validate"]);
    assert_eq!(code, 0, "{said}");
    fleet.person.write(
        "policies/colour.yaml",
        "apiVersion: carp.dev/v1alpha1\nkind: OverridePolicy\nmetadata:\n  name: colour\nspec:\n  clusterSelector: {names: \
         [alpha]}\n  objects:\n  - {apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster}\n  changes:\n  - mergePatch: {spec: \
         {colour: 'yes'}}\n",
    );
    let (code, said) = fleet.run(&["plan"]);
    assert_ne!(code, 0, "{said}");
    assert!(said.contains("schema-refused") && said.contains("policies/colour.yaml"), "{said}");
    assert!(said.contains("`spec.colour`: \"yes\" is not of type \"boolean\""), "{said}");
}

/// Gives every worker a version of Cluster API.
fn pin(fleet: &Fleet, versions: [&str; 2]) {
    for (worker, version) in ["w-weu", "w-eus"].into_iter().zip(versions) {
        let path = format!("fleet/workers/{worker}.yaml");
        let text = small::files()[&path].clone();
        let pinned = format!("\nspec:\n  components: {{capi: {version}}}\n");
        fleet.person.write(&path, &text.replace("\nspec:\n", &pinned));
    }
    let hub = format!("    name: hub\n    components: {{capi: {}}}\n", versions[0]);
    fleet.person.write("carp.yaml", &small::FLEET.replace("    name: hub\n", &hub));
}

#[test]
fn another_version_is_found_without_asking_anybody_and_pulled() {
    let fleet = Fleet::new();
    assert_eq!(fleet.pull(&[]).0, 0);
    let before = fleet.files();
    fleet.server.asked();
    pin(&fleet, ["v1.14.0", "v1.14.0"]);
    let (code, said) = fleet.check();
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("capi v1.14.0 is not pulled; v1.13.5 is\n"), "{said}");
    assert!(!said.contains("flux") && fleet.server.asked().is_empty(), "{said}");
    let (code, said) = fleet.pull(&[]);
    assert_eq!(code, 0, "{said}");
    let asked = fleet.server.asked();
    assert!(
        asked.iter().all(|path| path.contains("/cluster-api/releases/download/v1.14.0/")),
        "{asked:?}"
    );
    let after = fleet.files();
    assert_eq!(after[CLUSTERS], before[CLUSTERS], "the same definition is the same file");
    assert_ne!(after["pulled/pulled.lock"], before["pulled/pulled.lock"]);
    assert_eq!(fleet.check().0, 0);

    // What the newest takes is not refused because somebody has an older one.
    pin(&fleet, ["v1.14.0", "v1.13.9"]);
    let (code, said) = fleet.check();
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains(
            "there is an older capi v1.13.9 (worker/w-eus): the definitions are those of v1.14.0"
        ),
        "{said}"
    );
}

#[test]
fn what_fails_leaves_what_was_pulled_before() {
    let fleet = Fleet::new();
    assert_eq!(fleet.pull(&[]).0, 0);
    let before = fleet.files();
    pin(&fleet, ["v1.14.0", "v1.14.0"]);
    fleet.server.answer(|path| match path.rsplit('/').next().unwrap() {
        "core-components.yaml" => Release::Says("404 Not Found", "Not Found"),
        "bootstrap-components.yaml" => Release::Says("200 OK", "<!DOCTYPE html><html></html>"),
        "control-plane-components.yaml" => Release::Says("403 Forbidden", "no"),
        _ => published(path),
    });
    let (code, said) = fleet.pull(&[]);
    assert_eq!(code, 1, "{said}");
    for told in [
        "capi v1.14.0 core-components.yaml: failed: http://127.0.0.1:",
        "there is no such file (404)",
        "it is a page for people, and no YAML",
        "it was refused (403)",
        "what was pulled of it before stays",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    assert_eq!(fleet.files(), before, "nothing of it is half written");
    let (code, said) = fleet.check();
    assert!(code == 1 && said.contains("capi v1.14.0 is not pulled"), "{said}");
    // One file of three: a release is there as a whole or not at all.
    fleet.server.answer(|path| match path.rsplit('/').next().unwrap() {
        "core-components.yaml" => Release::Says("404 Not Found", "Not Found"),
        _ => published(path),
    });
    let (code, said) = fleet.pull(&[]);
    let other = "capi v1.14.0 bootstrap-components.yaml: failed: not written, for another file";
    assert!(code == 1 && said.contains(other), "{said}");
    assert_eq!(fleet.files(), before);
    fleet.server.answer(published);
    assert_eq!(fleet.pull(&[]).0, 0);
    assert_eq!(fleet.check().0, 0);
}

#[test]
fn a_host_that_nobody_reaches_is_asked_for_one_file_and_told_once() {
    let fleet = Fleet::new();
    fleet.server.answer(|_| Release::HangsUp);
    let (code, said) = fleet.pull(&[]);
    assert_eq!(code, 1, "{said}");
    let asked = fleet.server.asked();
    assert!(asked.len() == 3 && asked[1..].iter().all(|path| *path == asked[0]), "{asked:?}");
    assert_eq!(said.matches("asked directly").count(), 1, "the cause: {said}");
    let again = ": failed: 127.0.0.1:";
    assert!(said.matches(again).count() > 3, "{said}");
    assert!(said.contains("cannot be reached, as is told above; it was not asked again"), "{said}");
    assert!(fleet.files().is_empty());
}

#[test]
fn a_lock_that_is_damaged_costs_nothing_that_was_pulled() {
    let fleet = Fleet::new();
    assert_eq!(fleet.pull(&[]).0, 0);
    let lock = fleet.files()["pulled/pulled.lock"].clone();
    fs::write(fleet.file("pulled/pulled.lock"), format!("<<<<<<< HEAD\n{lock}")).unwrap();
    let before = fleet.files();
    let (code, said) = fleet.check();
    let only = "crds/pulled/pulled.lock cannot be read: it has the marks of a merge";
    assert!(code == 1 && said.contains(only), "{said}");
    assert!(!said.contains("is not pulled") && !said.contains("was not pulled"), "{said}");
    fleet.server.answer(|path| match path.rsplit('/').next().unwrap() {
        "core-components.yaml" => Release::Says("404 Not Found", "Not Found"),
        _ => published(path),
    });
    let (code, said) = fleet.pull(&[]);
    assert!(code == 1 && said.contains("pulled.lock cannot be read"), "{said}");
    assert_eq!(fleet.files(), before);
    fleet.server.answer(published);
    assert_eq!(fleet.pull(&[]).0, 0);
    assert_eq!(fleet.files()["pulled/pulled.lock"], lock);
    fs::write(fleet.file("pulled/pulled.lock"), [0xff, 0xfe, b'{']).unwrap();
    let (code, said) = fleet.check();
    assert!(code == 1 && said.contains("crds/pulled is not what the fleet has"), "{said}");
    assert!(said.contains("crds/pulled/pulled.lock cannot be read: "), "{said}");
    assert_eq!(fleet.pull(&[]).0, 0);
    assert_eq!(fleet.files()["pulled/pulled.lock"], lock);
}

#[test]
fn a_pull_that_was_killed_between_two_renames_loses_nothing() {
    let fleet = Fleet::new();
    assert_eq!(fleet.pull(&[]).0, 0);
    let files = fleet.files();
    fs::rename(fleet.file("pulled"), fleet.file(".pulled.old")).unwrap();
    let (code, said) = fleet.check();
    assert!(code == 1 && said.contains("a pull was killed before it ended"), "{said}");
    assert!(said.contains("crds/.pulled.old") && !said.contains("is not pulled"), "{said}");
    fleet.server.answer(|_| Release::HangsUp);
    let (code, said) = fleet.pull(&[]);
    assert!(code == 0 && said.contains("was left as it is"), "{said}");
    assert_eq!(fleet.files(), files);
}

#[test]
fn a_definition_that_two_components_publish_is_written_once() {
    let fleet = Fleet::new();
    let other = "/core-components.yaml";
    fleet.server.answer(move |path| match (published(path), published(other)) {
        (Release::File(own), Release::File(more)) if path.contains("/cert-manager/") => {
            Release::File(format!("{own}---\n{more}"))
        }
        (own, _) => own,
    });
    let (code, said) = fleet.pull(&[]);
    assert_eq!(code, 0, "{said}");
    let left = "left out clusters.cluster.x-k8s.io of cert-manager, which capi has too\n";
    assert!(said.contains(left), "{said}");
    let files = fleet.files();
    let of_clusters = files.keys().filter(|path| path.ends_with("/clusters.cluster.x-k8s.io.yaml"));
    assert_eq!(of_clusters.collect::<Vec<_>>(), [CLUSTERS]);
    assert_eq!(fleet.check().0, 0);
    // The one that left it is read again with whatever else is.
    fs::remove_file(fleet.file(CLUSTERS)).unwrap();
    fleet.server.asked();
    let (code, said) = fleet.pull(&[]);
    assert_eq!(code, 0, "{said}");
    assert!(fleet.server.asked().iter().any(|path| path.contains("/cert-manager/")), "{said}");
    assert_eq!(fleet.files(), files);
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_definitions_is_told_by_runs_too() {
    let fleet = Fleet::new();
    assert_eq!(fleet.pull(&[]).0, 0);
    fs::rename(fleet.file("pulled"), fleet.person.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", fleet.file("pulled")).unwrap();
    let (code, said) = fleet.run(&["validate"]);
    assert_ne!(code, 0, "{said}");
    assert!(said.contains("crd-not-read") && said.contains("crds/pulled"), "{said}");
    fs::remove_dir_all(fleet.person.path().join("crds")).unwrap();
    std::os::unix::fs::symlink("elsewhere", fleet.person.path().join("crds")).unwrap();
    let (code, said) = fleet.run(&["validate"]);
    assert_ne!(code, 0, "{said}");
    let told = "error[crd-not-read]: the definitions are not read: it is a symbolic link";
    assert!(said.contains(told), "{said}");
}

#[test]
fn what_leads_elsewhere_is_refused_before_anything_is_asked() {
    let fleet = Fleet::new();
    let (code, said) = fleet.run(&["crds", "pull", "--from", "http://me:pass@127.0.0.1:1/?t=1"]);
    assert!(code == 1 && said.contains("more than a host and a path"), "{said}");
    assert!(!said.contains("pass"), "{said}");
    let empty = fleet.person.path().join("none");
    fs::create_dir(&empty).unwrap();
    let (code, said) = fleet.run(&["validate", "--crds", empty.to_str().unwrap()]);
    assert!(code != 0 && said.contains("has no definition"), "{said}");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&empty, fleet.person.path().join("crds")).unwrap();
    #[cfg(unix)]
    for args in [&["crds", "pull"][..], &["crds", "pull", "--check"]] {
        let (code, said) = fleet.run(args);
        assert!(code == 1 && said.contains("is a link, which no run follows"), "{said}");
    }
    assert!(fleet.server.asked().is_empty());
}

#[test]
fn a_release_that_changes_after_it_was_pulled_is_not_taken_unseen() {
    let fleet = Fleet::new();
    assert_eq!(fleet.pull(&[]).0, 0);
    let before = fleet.files();
    fs::write(fleet.file(CLUSTERS), "a: b\n").unwrap();
    let (code, said) = fleet.check();
    assert!(code == 1 && said.contains("is not as it was pulled: capi/clusters."), "{said}");
    assert_eq!(fleet.pull(&[]).0, 0);
    assert_eq!(fleet.files(), before, "an edit by hand is set back");

    fs::remove_file(fleet.file(CLUSTERS)).unwrap();
    fleet.server.answer(|path| match published(path) {
        Release::File(text) => Release::File(text.replace("type: boolean", "type: string")),
        other => other,
    });
    let (code, said) = fleet.pull(&[]);
    assert!(code == 1 && said.contains("it is another file than was pulled"), "{said}");
    let (code, said) = fleet.pull(&["--again"]);
    assert_eq!(code, 0, "{said}");
    assert!(fleet.files()[CLUSTERS].contains("type: string"));
}

#[test]
fn what_is_the_fleets_own_is_left_alone() {
    let fleet = Fleet::new();
    let own = definition("clusters", "cluster.x-k8s.io", "Cluster", "{}");
    fleet.person.write("crds/ours/clusters.cluster.x-k8s.io.yaml", &own);
    fleet.person.write("crds/README.md", "# Ours\n");
    let (code, said) = fleet.pull(&[]);
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("left out clusters.cluster.x-k8s.io, of which the fleet has its own"),
        "{said}"
    );
    let files = fleet.files();
    assert!(!files.contains_key(CLUSTERS) && files["README.md"] == "# Ours\n");
    assert_eq!(files["ours/clusters.cluster.x-k8s.io.yaml"], own);
    assert_eq!(fleet.check().0, 0);
    fs::remove_dir_all(fleet.file("ours")).unwrap();
    assert_eq!(fleet.check().0, 1, "nobody has it now");
    assert_eq!(fleet.pull(&[]).0, 0);
    assert!(fleet.files().contains_key(CLUSTERS));
}

#[test]
fn a_folder_takes_the_place_of_the_publishers() {
    let fleet = Fleet::new();
    let folder = tempfile::tempdir().unwrap();
    let (code, said) = fleet.run(&["crds", "pull", "--from", folder.path().to_str().unwrap()]);
    assert!(code == 1 && said.contains("core-components.yaml"), "{said}");
    assert_eq!(fleet.pull(&[]).0, 0);
    let asked = fleet.server.asked();
    let files = fleet.files();
    fs::remove_dir_all(fleet.file("pulled")).unwrap();
    for path in asked {
        let Release::File(text) = published(&path) else { panic!() };
        let path = folder.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let (code, said) = fleet.run(&["crds", "pull", "--from", folder.path().to_str().unwrap()]);
    assert_eq!(code, 0, "{said}");
    assert!(fleet.server.asked().is_empty());
    assert_eq!(fleet.files(), files, "wherever they are from, the bytes are the same");
}

#[test]
fn a_flavor_of_ones_own_says_where_its_definitions_are() {
    let fleet = Fleet::new();
    fleet.person.write(
        "templates/definitions/external-secrets.yaml",
        &format!(
            "version: v0.20.1\naddresses: ['{}/own/crds/{{version}}.yaml']\n",
            fleet.server.url()
        ),
    );
    let (code, said) = fleet.pull(&[]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("external-secrets v0.20.1 v0.20.1.yaml: 1 definition\n"), "{said}");
    let (code, said) = fleet.run(&["validate"]);
    assert!(code == 0 && !said.contains("unused-template"), "{said}");
    // Of a component that is gone nothing stays.
    fs::remove_file(fleet.person.path().join("templates/definitions/external-secrets.yaml"))
        .unwrap();
    let (code, said) = fleet.check();
    assert!(
        code == 1 && said.contains("external-secrets v0.20.1 is pulled, and not installed"),
        "{said}"
    );
    let (code, said) = fleet.pull(&[]);
    assert!(code == 0 && said.contains("removed 1 definition"), "{said}");
    assert!(fleet.files().keys().all(|path| !path.contains("external-secrets")));
    fleet.person.write("templates/definitions/moon.yaml", "addresses: ['moon.example.com']\n");
    let (code, said) = fleet.run(&["validate"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("templates/definitions/moon.yaml:1"), "{said}");
}

#[test]
fn other_definitions_are_tried_and_no_commit_is_made_by_them() {
    let fleet = Fleet::new();
    let folder = tempfile::tempdir().unwrap();
    let clusters = folder.path().join("clusters.cluster.x-k8s.io.yaml");
    let strict =
        definition("clusters", "cluster.x-k8s.io", "Cluster", "{controlPlaneRef: {type: string}}");
    fs::write(&clusters, &strict).unwrap();
    let with = folder.path().to_str().unwrap();
    let (_, before) = fleet.run(&["plan"]);
    for command in ["validate", "plan"] {
        let (code, said) = fleet.run(&[command, "--crds", with]);
        assert_ne!(code, 0, "{said}");
        assert!(
            said.contains("schema-refused") && said.contains("`spec.controlPlaneRef`"),
            "{said}"
        );
        assert!(said.contains("as if `") && said.contains("a run has its own"), "{said}");
        assert_eq!(fleet.run(&[command]).0, 0, "without them all is well");
    }
    assert_eq!(fleet.run(&["plan"]).1, before);
    // They are in the place of the fleet's own.
    fleet.person.write("crds/clusters.cluster.x-k8s.io.yaml", &strict);
    assert_ne!(fleet.run(&["validate"]).0, 0);
    let any = definition("clusters", "cluster.x-k8s.io", "Cluster", "{}");
    fs::write(&clusters, any).unwrap();
    let (code, said) = fleet.run(&["validate", "--crds", with]);
    assert_eq!(code, 0, "{said}");
    for args in
        [&["render", "--out", "o", "--crds", with][..], &["reconcile", "--once", "--crds", with]]
    {
        assert_eq!(fleet.run(args).0, 64, "{args:?}");
    }
    let (code, said) = fleet.run(&["plan", "--crds", "nowhere"]);
    assert!(code == 1 && said.contains("there is no folder `nowhere`"), "{said}");
}

#[test]
fn tests_of_templates_are_held_by_them() {
    let fleet = Fleet::new();
    let test = "cluster: {version: v1.34.2, location: westeurope, nodePools: [{name: np0, replicas: 1}]}\nexpect: [{kind: \
                Cluster}]\n";
    fleet.person.write("templates/kamaji-capz/tests/one.yaml", test);
    let (code, said) = fleet.run(&["templates", "test"]);
    assert_eq!(code, 0, "{said}");
    let properties = "{controlPlaneRef: {type: string}}";
    let strict = definition("clusters", "cluster.x-k8s.io", "Cluster", properties);
    fleet.person.write("crds/clusters.cluster.x-k8s.io.yaml", &strict);
    let (code, said) = fleet.run(&["templates", "test"]);
    assert!(code == 1 && said.contains("`spec.controlPlaneRef`"), "{said}");
}

/// Every definition that the tests know is kept so that it says the same, and those that are built in are published under
/// names that releases have.
#[test]
#[expect(clippy::disallowed_methods, reason = "tests read their environment")]
fn the_definitions_of_real_releases_are_kept() {
    let Some(folder) = std::env::var_os("CARP_CRDS").map(PathBuf::from) else {
        return skip("the definitions of real releases", "CARP_CRDS is unset");
    };
    let (mut before, mut after, mut number) = (0, 0, 0);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let kept = published_definitions(&text, &[]).unwrap();
        assert_eq!(kept.len(), 1, "{}", path.display());
        assert_eq!(format!("{}.yaml", kept[0].name), path.file_name().unwrap().to_str().unwrap());
        assert_eq!(published_definitions(&kept[0].text, &[]).unwrap(), kept);
        (before, after, number) = (before + text.len(), after + kept[0].text.len(), number + 1);
    }
    eprintln!("{number} definitions: {before} bytes published, {after} kept");
    assert!(number > 50 && after < before / 2, "{number}: {after} of {before}");
    assert!(tables::components().contains_key("aso"));
}
