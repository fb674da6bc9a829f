//! What carp says where Git, a remote or the way it was called is what is wrong.
//!
//! Each story ends in `tests/bad-repository/<story>.txt`: the commands and what they print, word for
//! word, paths and ids apart. `UPDATE=1 cargo test bad_repository` writes them anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::support::golden::{differs, without_ids};
use crate::support::people::{self, Person};
use crate::support::reconciled::Ran;
use crate::support::small;
use crate::support::{Access, Remote, Server, git, skip};

/// A person in a folder, and what the programs that were run there printed.
struct Story {
    told: String,
    /// Paths and addresses of this machine, and what is told in their place.
    hidden: Vec<(String, &'static str)>,
}

impl Story {
    fn new() -> Self {
        Self { told: String::new(), hidden: Vec::new() }
    }

    fn hiding(mut self, path: &Path, shown: &'static str) -> Self {
        // The temporary folder may itself be a link.
        for path in [path.to_owned(), path.canonicalize().unwrap_or_default()] {
            self.hidden.push((path.display().to_string(), shown));
        }
        self
    }

    /// Runs `carp ARGS` in a folder and returns its exit code.
    fn carp(&mut self, folder: &Path, args: &str) -> i32 {
        let mut command = people::carp(folder, &args.split(' ').collect::<Vec<_>>());
        command.env("XDG_CACHE_HOME", folder.join(".cache")).env("LC_ALL", "C");
        let ran = Ran::of(command);
        let mut printed = without_ids(&format!("{}{}", ran.err, ran.out));
        for (path, shown) in &self.hidden {
            printed = printed.replace(path, shown);
        }
        let _ = write!(self.told, "$ carp {args}\n{printed}exits {}\n\n", ran.exit);
        ran.exit
    }

    fn ends_as(self, name: &str) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad-repository");
        let told = format!("{}\n", self.told.trim_end());
        if let Some(diff) = differs(&folder.join(format!("{name}.txt")), &told) {
            panic!("run with UPDATE=1 if this is meant:\n{diff}");
        }
    }
}

/// A remote with the small fleet on its branch `main`, and a person's clone of it.
fn fleet() -> (Remote, Person) {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    (remote, person)
}

fn story(remote: &Remote, person: &Person) -> Story {
    Story::new().hiding(&person.path(), "FLEET").hiding(&remote.path(), "REMOTE")
}

#[test]
fn outside_any_repository_commands_look_and_reconcile_refuses() {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in small::files() {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let mut story = Story::new().hiding(folder.path(), "FOLDER");
    assert_eq!(story.carp(folder.path(), "validate"), 0);
    assert_eq!(story.carp(folder.path(), "reconcile --once"), 1);
    story.ends_as("no-repository");
}

#[test]
fn where_no_fleet_is_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut story = Story::new().hiding(folder.path(), "FOLDER");
    assert_eq!(story.carp(folder.path(), "plan"), 1);
    assert_eq!(story.carp(folder.path(), "validate --fleet nowhere"), 1);
    fs::write(folder.path().join("carp.yml"), small::FLEET).unwrap();
    assert_eq!(story.carp(folder.path(), "validate"), 1);
    story.ends_as("no-fleet");
}

#[test]
fn a_folder_that_is_not_there_is_not_the_fleet_around_it() {
    let (remote, person) = fleet();
    let mut story = story(&remote, &person);
    assert_eq!(story.carp(&person.path(), "validate --fleet fleet/nowhere"), 1);
    assert_eq!(story.carp(&person.path(), "validate --fleet carp.yaml"), 1);
    story.ends_as("no-such-folder");
}

#[test]
fn a_branch_or_revision_that_is_not_there_is_named() {
    let (remote, person) = fleet();
    let mut story = story(&remote, &person);
    assert_eq!(story.carp(&person.path(), "plan --fleet .@v2"), 1);
    let other =
        small::FLEET.replace("  controlPlane:", "  branches:\n    input: release\n  controlPlane:");
    person.push_one("carp.yaml", &other);
    assert_eq!(story.carp(&person.path(), "reconcile --once"), 1);
    story.ends_as("missing-branch");
}

#[test]
fn a_repository_without_a_commit_is_said_to_be_empty() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet", "--template=", "-b", "main"]);
    fs::write(folder.path().join("carp.yaml"), small::FLEET).unwrap();
    let mut story = Story::new().hiding(folder.path(), "FOLDER");
    assert_eq!(story.carp(folder.path(), "plan"), 0);
    assert_eq!(story.carp(folder.path(), "reconcile --once"), 1);
    story.ends_as("no-commit");
}

#[test]
fn an_output_branch_that_is_lost_is_no_first_run() {
    let (remote, person) = fleet();
    let mut story = story(&remote, &person);
    assert_eq!(story.carp(&person.path(), "reconcile --once"), 0);
    git(&remote.path(), &["branch", "-D", "carp/rendered"]);
    assert_eq!(story.carp(&person.path(), "reconcile --once"), 3);
    git(&person.path(), &["fetch", "--quiet", "--prune", "origin"]);
    assert_eq!(story.carp(&person.path(), "plan"), 3);
    assert_eq!(story.carp(&person.path(), "plan --first-run"), 3);
    story.ends_as("lost-output-branch");
}

#[test]
fn a_rewound_input_branch_is_held() {
    let (remote, person) = fleet();
    person.push_one("fleet/clusters/golf.yaml", &small::cluster("golf", "eastus"));
    let mut story = story(&remote, &person);
    assert_eq!(story.carp(&person.path(), "reconcile --once"), 0);
    git(&person.path(), &["reset", "--quiet", "--hard", "HEAD~1"]);
    git(&person.path(), &["push", "--quiet", "--force", "origin", "main"]);
    let planned = person.carp(&["plan"]);
    let said = people::printed(&planned);
    assert_eq!(planned.status.code(), Some(3), "{said}");
    assert!(said.contains("HELD Rewind") && !said.contains("w-weu"), "{said}");
    assert_eq!(story.carp(&person.path(), "reconcile --once"), 3);
    story.ends_as("rewound-input-branch");
}

#[cfg(unix)]
#[test]
fn a_remote_that_refuses_is_told_with_its_words() {
    let (remote, person) = fleet();
    remote.hook("pre-receive", "#!/bin/sh\necho 'this branch wants a review' >&2\nexit 1\n");
    let mut story = story(&remote, &person);
    assert_eq!(story.carp(&person.path(), "reconcile --once"), 1);
    assert_eq!(remote.at("refs/heads/carp/rendered"), None);
    story.ends_as("remote-refuses");
}

#[cfg(unix)]
#[test]
fn a_status_that_is_refused_does_not_fail_the_run() {
    let (remote, person) = fleet();
    let hook =
        "#!/bin/sh\ncase $1 in refs/heads/carp/status) echo 'no status here' >&2; exit 1;; esac\n";
    remote.hook("update", hook);
    let mut story = story(&remote, &person);
    assert_eq!(story.carp(&person.path(), "reconcile --once"), 0);
    assert!(remote.at("refs/heads/carp/rendered").is_some());
    story.ends_as("status-refused");
}

#[test]
fn a_remote_that_is_gone_or_closed_is_told() {
    let (remote, person) = fleet();
    let mut story = story(&remote, &person);
    git(&person.path(), &["remote", "set-url", "origin", "/nowhere/fleet.git"]);
    assert_eq!(story.carp(&person.path(), "reconcile --once"), 1);
    story.ends_as("remote-gone");

    let (remote, person) = fleet();
    let Some(server) = Server::start(remote.root(), Access::Closed) else {
        return skip("a closed remote", "git http-backend is not installed");
    };
    let url = server.url("fleet.git", Some("me:hunter2"));
    git(&person.path(), &["remote", "set-url", "origin", &url]);
    let mut story = self::story(&remote, &person);
    story.hidden.push((server.url("fleet.git", None), "http://SERVER/fleet.git"));
    assert_eq!(story.carp(&person.path(), "reconcile --once"), 1);
    assert!(!story.told.contains("hunter2"), "{}", story.told);
    story.ends_as("remote-closed");
}

#[test]
fn reconcile_begins_at_the_fleets_root() {
    let (remote, person) = fleet();
    let mut story = story(&remote, &person);
    assert_eq!(story.carp(&person.path().join("fleet"), "reconcile --once"), 64);
    assert_eq!(story.carp(&person.path(), "reconcile --once --fleet .@HEAD"), 64);
    assert_eq!(story.carp(&person.path().join("fleet"), "validate"), 0);
    story.ends_as("not-the-root");
}

#[test]
fn edits_that_were_not_read_are_named() {
    let (remote, person) = fleet();
    person.write("fleet/clusters/alpha.yaml", "not: [yaml\n");
    person.write("fleet/clusters/golf.yaml", &small::cluster("golf", "eastus"));
    let mut story = story(&remote, &person);
    assert_eq!(story.carp(&person.path(), "reconcile --once"), 0);
    git(&person.path(), &["add", "--all"]);
    git(&person.path(), &["commit", "--quiet", "-m", "not pushed"]);
    assert_eq!(story.carp(&person.path(), "reconcile --once"), 0);
    story.ends_as("edits-not-read");
}

#[test]
fn an_example_stays_on_this_machine() {
    let (remote, person) = fleet();
    let example = format!("{}  example:\n    now: \"2026-11-01T09:00:00Z\"\n", small::FLEET);
    person.push_one("carp.yaml", &example);
    let Some(server) = Server::start(remote.root(), Access::Open) else {
        return skip("an example and a real remote", "git http-backend is not installed");
    };
    let url = server.url("fleet.git", None);
    git(&person.path(), &["remote", "set-url", "origin", &url]);
    let mut story = story(&remote, &person);
    story.hidden.push((url, "http://SERVER/fleet.git"));
    assert_eq!(story.carp(&person.path(), "reconcile --once"), 3);
    assert_eq!(remote.at("refs/heads/carp/rendered"), None);
    story.ends_as("example-to-a-real-remote");
}

#[test]
fn the_branch_that_is_checked_out_is_not_moved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    git(path, &["init", "--quiet", "--template=", "-b", "main"]);
    let files: BTreeMap<_, _> = small::files();
    for (file, text) in files {
        fs::create_dir_all(path.join(&file).parent().unwrap()).unwrap();
        fs::write(path.join(&file), text).unwrap();
    }
    git(path, &["add", "--all"]);
    git(path, &["commit", "--quiet", "-m", "the fleet"]);
    git(path, &["checkout", "--quiet", "-b", "carp/rendered"]);
    let mut story = Story::new().hiding(path, "FOLDER");
    assert_eq!(story.carp(path, "reconcile --once"), 1);
    story.ends_as("output-branch-checked-out");
}
