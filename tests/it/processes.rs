//! How many programs a run starts. Beside its own turn, a run without a remote starts none, and one with a remote
//! asks it once; what changed costs a push a branch.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use carp::model::{Build, Digest, TurnConstraints};
use carp::reconcile::{FleetPlace, Observing, Options, ReconcileResult, RunClock, once};
use tempfile::TempDir;

use crate::support::Remote;
use crate::support::nobody_is_told;
use crate::support::people::{self, Person, printed};
use crate::support::reconciled::Reconciled;
use crate::support::small::{self, cluster};

/// A `git` that writes down what it is asked, and asks the real one.
struct Watched {
    bin: TempDir,
}

impl Watched {
    fn new() -> Self {
        let watched = Self { bin: tempfile::tempdir().unwrap() };
        let path = std::env::var("PATH").unwrap();
        let real = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|git| git.exists());
        let (log, real) = (watched.log(), real.expect("there is a git"));
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> '{}'\nexec '{}' \"$@\"\n",
            log.display(),
            real.display()
        );
        let git = watched.bin.path().join("git");
        fs::write(&git, script).unwrap();
        fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
        watched
    }

    fn log(&self) -> std::path::PathBuf {
        self.bin.path().join("log")
    }

    /// Reconciles; returns what it printed, and what git was asked, by its subcommands.
    #[track_caller]
    fn reconcile(&self, folder: &Path) -> (String, Vec<String>) {
        let _ = fs::remove_file(self.log());
        let path = format!("{}:{}", self.bin.path().display(), std::env::var("PATH").unwrap());
        let output =
            people::carp(folder, &["reconcile", "--once", "--now", "2026-11-01T09:00:00Z"])
                .env("PATH", path)
                .output()
                .unwrap();
        let said = printed(&output);
        assert!(output.status.success(), "{said}");
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        (said, log.lines().map(asked).collect())
    }
}

/// The subcommand of a line of arguments.
fn asked(line: &str) -> String {
    const WORDS: [&str; 6] = ["--version", "ls-remote", "fetch", "push", "status", "remote"];
    let word = line.split(' ').find(|word| WORDS.contains(word));
    word.unwrap_or(line).to_owned()
}

fn paused(name: &str) -> String {
    format!("{}  paused: true\n", cluster(name, "westeurope"))
}

#[test]
fn a_run_without_a_remote_starts_no_program() {
    let (git, fleet) = (Watched::new(), Reconciled::of(&small::files()));
    git.reconcile(&fleet.path());
    let (said, asked) = git.reconcile(&fleet.path());
    assert!(said.contains("nothing to commit"), "{said}");
    assert!(asked.is_empty(), "{asked:?}");
    fleet.write("fleet/clusters/alpha.yaml", paused("alpha").as_bytes());
    fleet.commit("paused");
    let (said, asked) = git.reconcile(&fleet.path());
    assert!(said.contains("+0 -0 ~1 cluster"), "{said}");
    assert!(asked.is_empty(), "{asked:?}");
}

#[test]
fn a_run_with_a_remote_asks_it_once_and_pushes_what_changed() {
    let (git, remote) = (Watched::new(), Remote::new());
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    git.reconcile(&person.path());
    git.reconcile(&person.path());
    let (said, asked) = git.reconcile(&person.path());
    assert!(said.contains("nothing to commit"), "{said}");
    assert_eq!(asked, ["ls-remote"]);
    person.push_one("fleet/clusters/alpha.yaml", &paused("alpha"));
    let (said, asked) = git.reconcile(&person.path());
    assert!(said.contains("+0 -0 ~1 cluster"), "{said}");
    // The version before the first push, and the output and the status.
    assert_eq!(asked, ["ls-remote", "--version", "push", "push"]);
}

/// A small fleet that stands in a work tree with more than a thousand files, of which one was edited.
fn in_a_large_work_tree() -> Reconciled {
    let mut files = small::files();
    files.extend((0..1_001).map(|i| (format!("notes/{i}.md"), String::new())));
    let fleet = Reconciled::of(&files);
    let told = fleet.carp(&["reconcile", "--once"]);
    assert_eq!(told.exit, 0);
    fleet.write("fleet/clusters/alpha.yaml", b"not committed\n");
    fleet
}

#[test]
fn a_large_work_tree_is_looked_through_by_a_run_that_looks_at_everything() {
    let (git, fleet) = (Watched::new(), in_a_large_work_tree());
    let (said, asked) = git.reconcile(&fleet.path());
    assert!(!said.contains("uncommitted"), "{said}");
    assert!(asked.is_empty(), "{asked:?}");
    fs::remove_dir_all(fleet.path().join(".git/carp")).unwrap();
    let (said, asked) = git.reconcile(&fleet.path());
    assert!(said.contains("1 uncommitted edits were not read"), "{said}");
    assert_eq!(asked, ["status"]);
}

#[test]
fn a_large_work_tree_is_looked_through_where_somebody_watches() {
    let fleet = in_a_large_work_tree();
    let place =
        FleetPlace::find(&fleet.path().display().to_string(), fleet.path().as_path()).unwrap();
    let run = |watched| {
        let options = Options {
            describe: |_, _, _| String::new(),
            clock: RunClock { given: None, wall: "2026-11-01T09:00:00Z".parse().unwrap() },
            observing: Observing::default(),
            forge: nobody_is_told(),
            build: Build::of_version("test"),
            wait: |_| Duration::ZERO,
            orders: TurnConstraints::default(),
            program: Some(Digest::of(b"this")),
            watched,
        };
        match once(&place, &options).unwrap() {
            ReconcileResult::Settled(turn) => Some(turn.notes),
            ReconcileResult::Through(_) => None,
        }
    };
    assert_eq!(run(false), None, "another program looks at everything");
    assert_eq!(run(false), Some(Vec::new()));
    let told = run(true).expect("it stands");
    assert!(told[0].contains("1 uncommitted edits were not read"), "{told:?}");
}
