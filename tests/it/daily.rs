//! The commands of every day, as the program itself, on the example fleet.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Lines, PipeReader, pipe};
use std::path::Path;
use std::process::{Child, Stdio};

use crate::support::reconciled::{Ran, Reconciled};
use crate::support::{git, people};

/// The example fleet, reconciled.
pub(crate) fn example() -> Reconciled {
    let mut files = BTreeMap::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fleet-repo-example");
    collect(&root, &root, &mut files);
    Reconciled::of(&files)
}

fn collect(root: &Path, folder: &Path, into: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, into);
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            into.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}

fn narrow(fleet: &Reconciled, args: &[&str]) -> Ran {
    let mut command = people::carp(&fleet.path(), args);
    command.env("COLUMNS", "80");
    Ran::of(command)
}

#[test]
fn status_fits_a_terminal_and_sums_up() {
    let fleet = example();
    let ran = narrow(&fleet, &["status"]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    let widest = ran.out.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 80, "{widest}:\n{}", ran.out);
    insta::assert_snapshot!("status_at_80_columns", ran.out);
    let whole = fleet.carp(&["status"]);
    assert!(whole.out.contains("READY") && !whole.out.contains("not shown"), "{}", whole.out);
    let wide = narrow(&fleet, &["status", "-o", "wide"]);
    assert!(wide.out.contains("ENDPOINT"), "{}", wide.out);
    let one = narrow(&fleet, &["status", "cluster", "ledger-archive"]);
    assert!(one.out.lines().all(|line| line.chars().count() <= 80), "{}", one.out);
}

#[test]
fn status_is_asked_as_kubectl_is() {
    let fleet = example();
    let names = |args: &[&str]| {
        let ran = fleet.carp(&[&["get", "-o", "name"], args].concat());
        assert_eq!(ran.exit, 0, "{args:?}: {}", ran.err);
        ran.out.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = names(&[]);
    let workers = names(&["workers"]);
    assert_eq!(workers.len(), 6, "{workers:?}");
    assert!(workers.iter().all(|name| name.starts_with("worker/")), "{workers:?}");
    let pools = names(&["pools"]);
    assert_eq!(names(&["clusters"]).len() + workers.len() + pools.len(), all.len());
    assert_eq!(names(&["cluster", "ledger-archive"]), ["cluster/ledger-archive"]);
    assert_eq!(names(&["cluster/ledger-archive"]), ["cluster/ledger-archive"]);
    assert_eq!(names(&["clusters", "--phase", "pending"]), ["cluster/ledger-archive"]);

    let of_payments = names(&["--tenant", "payments"]);
    let others = names(&["clusters", "--tenant", "shop"]);
    assert_eq!(of_payments.len() + others.len(), names(&["clusters"]).len());
    let selected = names(&["clusters", "-l", "env in (production)"]);
    let rest = names(&["clusters", "-l", "env notin (production)"]);
    assert!(!selected.is_empty() && !rest.is_empty(), "{selected:?} {rest:?}");
    assert_eq!(selected.len() + rest.len(), names(&["clusters"]).len());
    let on_worker = names(&["--worker", "we-1"]);
    assert_eq!(on_worker.first().map(String::as_str), Some("worker/we-1"));
    assert!(on_worker.len() > 1, "{on_worker:?}");
}

#[test]
fn an_object_as_yaml_is_what_an_api_server_would_give() {
    let fleet = example();
    let ran = fleet.carp(&["get", "cluster", "ledger-archive", "-o", "yaml"]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    let object: serde_yaml::Value = serde_yaml::from_str(&ran.out).unwrap();
    assert_eq!(object["apiVersion"], "carp.dev/v1alpha1");
    assert_eq!(object["kind"], "ManagedCluster");
    assert_eq!(object["metadata"]["namespace"], "payments");
    assert!(object["spec"]["flavor"].is_string(), "defaults are filled in: {}", ran.out);
    assert_eq!(object["status"]["phase"], "Pending");
    let all = fleet.carp(&["get", "-o", "yaml"]);
    assert_eq!(all.out.matches("apiVersion: carp.dev/v1alpha1\n").count(), 19, "{}", all.out);
}

#[test]
fn what_is_asked_wrongly_is_told_with_what_was_meant() {
    let fleet = example();
    for (args, exit, told) in [
        (&["status", "clutser/pay"][..], 64, "did you mean `cluster`?"),
        (&["status", "worker", "we1"], 1, "did you mean `we-1`?"),
        (&["status", "--tenant", "paiments"], 1, "did you mean `payments`?"),
        (&["status", "--worker", "we1"], 1, "did you mean `we-1`?"),
        (&["status", "--phase", "Runing"], 64, "did you mean `Running`?"),
        (&["status", "-l", "env in (a"], 64, "a `(` is not closed"),
        (&["status", "policy/default"], 64, "`carp explain policy/default` says where it applies"),
        (&["explain", "worker", "we1"], 1, "did you mean `we-1`?"),
        (&["explain", "pool", "us-mor"], 1, "did you mean `us-more`?"),
        (&["explain", "us-mor"], 1, "did you mean `us-more`?"),
        (&["explain", "unknwon-field"], 1, "did you mean the code `unknown-field`?"),
        (&["explain", "cluster/a.b"], 64, "`a.b` is no name"),
        (&["explain", "XyzNoSuchWord"], 64, "there is no code `XyzNoSuchWord`"),
        (&["get", "clutsers"], 1, "did you mean `clusters`?"),
        (&["cordon", "worker/we1"], 1, "did you mean `we-1`?"),
        (&["cordon", "cluster", "we-1"], 64, "cluster/we-1 is no worker"),
    ] {
        let ran = fleet.carp(args);
        assert_eq!((ran.exit, ran.out.as_str()), (exit, ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(told), "{args:?}: {}", ran.err);
    }
}

#[test]
fn the_fleet_can_be_named_once_for_all() {
    let fleet = example();
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = people::carp(elsewhere.path(), &["get", "workers", "-o", "name"]);
    command.env("CARP_FLEET", fleet.path());
    let ran = Ran::of(command);
    assert_eq!((ran.exit, ran.out.lines().count()), (0, 6), "{}", ran.err);
}

#[test]
fn a_fleet_elsewhere_is_read_at_any_revision() {
    let fleet = example();
    let dir = fleet.beside("elsewhere");
    fs::create_dir(&dir).unwrap();
    git(&dir, &["clone", "--quiet", "--bare", fleet.path().to_str().unwrap(), "remote.git"]);
    git(&fleet.path(), &["checkout", "--quiet", "-b", "feature/fewer"]);
    fs::remove_file(fleet.path().join("fleet/workers/us-more.yaml")).unwrap();
    git(&fleet.path(), &["commit", "--quiet", "-am", "no pool"]);
    git(&fleet.path(), &["push", "--quiet", "../elsewhere/remote.git", "feature/fewer"]);
    let bare = dir.join("remote.git");
    let bare = bare.to_str().unwrap();
    let pools = |named: &str| {
        let args =
            ["get", "pools", "-o", "name", "--fleet", named, "--now", "2026-11-01T09:00:00Z"];
        let mut command = people::carp(&dir, &args);
        command.env("XDG_CACHE_HOME", dir.join("cache"));
        let ran = Ran::of(command);
        assert_eq!(ran.exit, 0, "{named}: {}", ran.err);
        ran.out
    };
    for all in [
        bare,
        "remote.git",
        &format!("file://{bare}"),
        &format!("file://{bare}@main"),
        "remote.git@main",
    ] {
        assert_eq!(pools(all), "pool/us-more\n", "{all}");
    }
    for fewer in [&format!("file://{bare}@feature/fewer"), "remote.git@feature/fewer"] {
        assert_eq!(pools(fewer), "", "{fewer}");
    }
}

#[test]
fn a_watch_shows_what_changes() {
    let fleet = example();
    let args = ["get", "worker", "we-1", "--watch", "--interval", "1s"];
    let mut command = people::carp(&fleet.path(), &args);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first = lines.find(|line| line.starts_with("we-1")).unwrap();
    assert!(!first.contains("SchedulingDisabled"), "{first}");
    assert_eq!(fleet.carp(&["cordon", "we-1"]).exit, 0);
    let next = lines.find(|line| line.starts_with("we-1")).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(next.contains("SchedulingDisabled"), "{next}");
}

/// A document of a cluster that is placed at once.
const NEW_ONE: &str = "apiVersion: carp.dev/v1alpha1
kind: ManagedCluster
metadata:
  name: new-one
  namespace: shop
spec:
  version: v1.34.2
  location: westeurope
  class: small
  deletionPolicy: Delete
";

/// What a program says that goes on, its notes included, until one of these is to be heard.
struct Heard(Lines<BufReader<PipeReader>>);

impl Heard {
    fn until(&mut self, is_it: impl Fn(&str) -> bool) -> String {
        loop {
            let line = self.0.next().expect("the program goes on").unwrap();
            assert!(!line.starts_with("note: "), "a look failed: {line} {:?}", self.0.next());
            if is_it(&line) {
                return line;
            }
        }
    }
}

/// `carp render --watch` into a folder below the fleet's own: what carp writes is no save of a person's.
fn watched(fleet: &Reconciled) -> (Child, Heard) {
    let mut command = people::carp(&fleet.path(), &["render", "--out", "out", "--watch"]);
    let (reader, writer) = pipe().unwrap();
    command.stdout(writer.try_clone().unwrap()).stderr(writer);
    (command.spawn().unwrap(), Heard(BufReader::new(reader).lines()))
}

#[test]
fn a_render_is_made_again_on_every_save() {
    let fleet = example();
    let (mut child, mut told) = watched(&fleet);
    let first = told.until(|line| line.starts_with("tree "));
    let (new, carp_yaml) =
        (fleet.path().join("fleet/shop/new.yaml"), fleet.path().join("carp.yaml"));
    fs::write(&new, NEW_ONE).unwrap();
    let saved = told.until(|line| line.starts_with("wrote "));
    let written = told.until(|line| line.ends_with("/clusters/new-one/cluster.yaml"));
    let made = fleet.path().join("out").join(written.trim_start_matches("  ~ "));
    assert!(fs::read_to_string(&made).unwrap().contains("new-one"), "{saved}");
    // What does not load takes nothing away.
    let whole = fs::read_to_string(&carp_yaml).unwrap();
    fs::write(&carp_yaml, format!("{whole}  nope: 1\n")).unwrap();
    told.until(|line| line == "nothing is written until that is mended");
    assert!(made.exists());
    fs::write(&carp_yaml, whole).unwrap();
    fs::remove_file(&new).unwrap();
    let back = told.until(|line| line.ends_with(&first));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!made.exists(), "{back}");
}

#[test]
fn what_was_rendered_before_is_not_read_while_it_is_written() {
    let fleet = example();
    let (mut child, mut told) = watched(&fleet);
    let first = told.until(|line| line.starts_with("tree "));
    // They have a file of the same bytes as all others, which go first: whoever read it from one of them would find it gone.
    let new = fleet.path().join("fleet/shop/new.yaml");
    let named = |number| NEW_ONE.replace("name: new-one", &format!("name: a-{number}"));
    let many: Vec<String> = (0..40).map(named).collect();
    fs::write(&new, many.join("---\n")).unwrap();
    told.until(|line| line.starts_with("wrote "));
    fs::remove_file(&new).unwrap();
    told.until(|line| line.ends_with(&first));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn only_files_that_people_edit_are_watched() {
    let fleet = example();
    for named in [".@main", &format!("file://{}", fleet.path().display())] {
        let ran = fleet.carp(&["render", "--out", "out", "--watch", "--fleet", named]);
        assert_eq!(ran.exit, 64, "{named}: {}", ran.err);
        assert!(ran.err.contains("only a folder can be watched"), "{}", ran.err);
    }
}

#[test]
fn a_drain_says_at_once_what_stays() {
    let fleet = example();
    let ran = fleet.carp(&["drain", "worker", "we-1"]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    insta::assert_snapshot!("drain", ran.out);
    let overlay = fs::read_to_string(fleet.path().join("fleet/overlays/we-1.yaml")).unwrap();
    assert!(overlay.ends_with("drain: true\n"), "{overlay}");
}
