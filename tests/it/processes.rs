//! How many programs a run starts. Beside its own turn, which it takes where there may be news, a run without a remote starts
//! none, and one with a remote asks it once; what changed costs a push a branch.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carp::cli::{self, Exit, Io};
use carp::model::{Build, Digest, TurnConstraints};
use carp::reconcile::{
    FleetPlace, Observing, Options, ReconcileResult, RunClock, once, without_news,
};
use tempfile::TempDir;

use crate::support::people::{self, Person, printed};
use crate::support::reconciled::Reconciled;
use crate::support::small::{self, cluster};
use crate::support::{Remote, git, nobody_is_told};

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

/// A program that is taken for carp by its length and its time, and whose turns are held.
fn stand_in(folder: &Path) -> PathBuf {
    let carp = fs::metadata(env!("CARGO_BIN_EXE_carp")).unwrap();
    let path = folder.join("carp");
    fs::write(&path, "#!/bin/sh\nexit 3\n").unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len(carp.len()).unwrap();
    file.set_permissions(fs::Permissions::from_mode(0o755)).unwrap();
    file.set_modified(carp.modified().unwrap()).unwrap();
    path
}

/// Reconciles in this process, which starts `program` for a turn.
fn supervised(fleet: &Path, program: &Path, more: &[&str]) -> (Exit, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut io = Io {
        out: &mut out,
        err: &mut err,
        out_is_terminal: false,
        err_is_terminal: false,
        clock: &|| "2026-11-01T09:00:00Z".parse().unwrap(),
        env: BTreeMap::new(),
        folder: fleet.to_owned(),
        program: Some(program.to_owned()),
        threads: NonZeroUsize::MIN,
    };
    let fleet = fleet.display().to_string();
    let command = ["carp", "reconcile", "--once", "--fleet", &fleet];
    let exit = cli::run(command.iter().chain(more), &mut io);
    (exit, String::from_utf8([out, err].concat()).unwrap())
}

/// What makes a run take a turn, in words and as it happens, with what the command line says besides.
type Reason<'a> = (&'a str, &'a dyn Fn(&Reconciled), &'a [&'a str]);

#[test]
fn a_run_without_news_and_without_a_remote_starts_no_turn() {
    let reasons: [Reason<'_>; 8] = [
        ("an edit", &edited, &[]),
        ("reports of a folder", &|_| {}, &["--observed", "nowhere"]),
        ("another forge", &|_| {}, FORGE),
        ("a forge that is not told yet", &told_to_nobody, FORGE),
        ("another time", &|_| {}, &["--now", "2026-10-01T09:00:00Z"]),
        (
            "a read that hung",
            &|fleet| fs::write(carp_dir(fleet, "unreadable"), "x 1").unwrap(),
            &[],
        ),
        ("no stamp", &|fleet| fs::remove_file(carp_dir(fleet, "stamp.json")).unwrap(), &[]),
        (
            "a remote",
            &|fleet| drop(git(&fleet.path(), &["remote", "add", "origin", "/nowhere"])),
            &[],
        ),
    ];
    for (what, happens, args) in reasons {
        let fleet = Reconciled::of(&small::files());
        assert_eq!(fleet.carp(&["reconcile", "--once"]).exit, 0);
        let folder = tempfile::tempdir().unwrap();
        let program = stand_in(folder.path());
        let nothing = (Exit::Fine, "nothing to commit; 0 waiting\n".to_owned());
        assert_eq!(supervised(&fleet.path(), &program, &[]), nothing, "{what}");
        let (exit, json) = supervised(&fleet.path(), &program, &["--output", "json"]);
        assert!(exit == Exit::Fine && json.contains("\"outcome\": \"unchanged\""), "{json}");
        happens(&fleet);
        assert_eq!(supervised(&fleet.path(), &program, args).0, Exit::Held, "{what}");
    }
}

/// A forge that nobody can reach.
const FORGE: &[&str] = &["--forge", "github", "--forge-url", "https://127.0.0.1:9/o/r"];

fn told_to_nobody(fleet: &Reconciled) {
    let ran = fleet.carp(&[&["reconcile", "--once"], FORGE].concat());
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
}

fn edited(fleet: &Reconciled) {
    fleet.write("fleet/clusters/alpha.yaml", paused("alpha").as_bytes());
    fleet.commit("paused");
}

fn carp_dir(fleet: &Reconciled, file: &str) -> PathBuf {
    fleet.path().join(".git/carp").join(file)
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
    let options = |watched| Options {
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
    let run = |watched| match once(&place, &options(watched)).unwrap() {
        ReconcileResult::Settled(turn) => Some(turn.notes),
        ReconcileResult::Through(_) => None,
    };
    assert_eq!(run(false), None, "another program looks at everything");
    assert_eq!(run(false), Some(Vec::new()));
    let told = run(true).expect("it stands");
    assert!(told[0].contains("1 uncommitted edits were not read"), "{told:?}");
    let folder = fleet.path().display().to_string();
    let looked = |watched| without_news(&folder, &options(watched));
    assert!(looked(false).is_some());
    assert!(looked(true).is_none(), "a turn is started for it");
}
