//! Where a story happens: a repository, the time, people, and agents that do as they are told.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use carp::git::Repository;
use carp::model::{Id, Store};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tempfile::TempDir;

use super::text::Step;
use super::{commits, documents, reports};
use crate::support::git;
use crate::support::golden::without_ids;
use crate::support::people::{carp, printed};
use crate::support::reconciled::Ran;
use crate::support::replayed::replays;

/// The day on which every story begins, at nine.
const DAY: &str = "2026-11-01";

pub(super) struct Stage {
    dir: TempDir,
    now: Timestamp,
    has_remote: bool,
    /// Whether somebody edited something that is not committed.
    edited: bool,
    /// Whether carp ran at all.
    ran: bool,
    /// The workers whose agents say nothing.
    silent: BTreeSet<String>,
    /// The clusters that their workers said to run.
    running: BTreeSet<(String, String)>,
}

impl Stage {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "--quiet", "--template=", "-b", "main", "fleet"]);
        let stage = Self {
            dir,
            now: time(&format!("{DAY}T09:00:00Z")),
            has_remote: false,
            edited: true,
            ran: false,
            silent: BTreeSet::new(),
            running: BTreeSet::new(),
        };
        fs::create_dir(stage.dir.path().join("bin")).unwrap();
        let bin = stage.dir.path().join("bin/carp");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_carp"), bin).unwrap();
        documents::write(&stage.path(), ("fleet", ""), &[], "");
        stage
    }

    /// The top of the person's work tree.
    fn path(&self) -> PathBuf {
        self.dir.path().join("fleet")
    }

    /// Does a step, and returns what it says.
    pub(super) fn does(&mut self, step: &Step) -> String {
        if let Some(command) = step.head.strip_prefix("$ ") {
            return self.shows(command);
        }
        let words: Vec<&str> = step.head.split_whitespace().collect();
        match words.as_slice() {
            ["remote"] => self.gets_a_remote(),
            ["remove", kind, name] => self.edits(|stage| {
                fs::remove_file(stage.path().join(documents::path(kind, name))).unwrap();
            }),
            ["file", path] => self.edits(|stage| stage.writes(path, &step.body)),
            ["at", at] => self.now = time(&format!("{DAY}T{at}:00Z")),
            ["at", day, at] => self.now = time(&format!("{day}T{at}:00Z")),
            ["later", span] => self.now += span.parse::<SignedDuration>().unwrap(),
            ["do", ..] => {
                self.edited = true;
                self.shell(step.head.trim_start_matches("do "), &self.path());
            }
            ["by", "hand", ..] => self.by_hand(step.head.trim_start_matches("by hand ")),
            ["report", worker, words @ ..] => {
                let report = self.applied(worker);
                self.hears(worker, &reports::corrected(report, words, &step.body));
            }
            ["silent", workers @ ..] => {
                self.silent.extend(workers.iter().map(|worker| (*worker).to_owned()));
            }
            ["back", workers @ ..] => self.silent.retain(|worker| !workers.contains(&&**worker)),
            ["run"] => {
                self.runs(&[0, 3]);
            }
            ["minutes", count] => return self.minutes(count.parse().unwrap()),
            ["fleet", words @ ..] => {
                self.edits(|stage| {
                    documents::write(&stage.path(), ("fleet", ""), words, &step.body);
                });
            }
            [kind, names, words @ ..] if documents::is_kind(kind) => self.edits(|stage| {
                for name in names.split(',') {
                    documents::write(&stage.path(), (kind, name), words, &step.body);
                }
            }),
            _ => panic!("no such step: {}", step.head),
        }
        String::new()
    }

    fn edits(&mut self, edit: impl FnOnce(&Self)) {
        self.edited = true;
        edit(self);
    }

    fn writes(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn gets_a_remote(&mut self) {
        self.has_remote = true;
        let top = self.dir.path();
        git(top, &["init", "--quiet", "--template=", "--bare", "-b", "main", "remote.git"]);
        git(&self.path(), &["remote", "add", "origin", "../remote.git"]);
    }

    /// The repository that carp writes to.
    fn shared(&self) -> PathBuf {
        if self.has_remote { self.dir.path().join("remote.git") } else { self.path() }
    }

    /// Commits, and where there is a remote pushes, what people edited.
    fn commits(&mut self) {
        if !std::mem::take(&mut self.edited) {
            return;
        }
        self.shell(
            "git add --all; git diff --cached --quiet || git commit -qm 'an edit'",
            &self.path(),
        );
        if self.has_remote {
            self.shell("git push --quiet origin main", &self.path());
        }
    }

    /// What people know of the remote.
    fn fetches(&self) {
        if self.has_remote {
            self.shell("git fetch --quiet origin", &self.path());
        }
    }

    /// A commit by a person on the output branch, made by a shell command.
    fn by_hand(&mut self, command: &str) {
        self.commits();
        let tree = self.dir.path().join("by-hand");
        let branch = if self.has_remote { "origin/carp/rendered" } else { "carp/rendered" };
        let add = format!("git worktree add --quiet --force -B by-hand ../by-hand {branch}");
        self.shell(&add, &self.path());
        self.shell(command, &tree);
        let to = if self.has_remote { "origin" } else { "." };
        let push = format!(
            "git add --all && git commit -qm 'by hand' && git push -q {to} HEAD:carp/rendered"
        );
        self.shell(&push, &tree);
        self.shell("git worktree remove --force ../by-hand", &self.path());
        self.fetches();
    }

    /// A shell command that goes well and says nothing to the story.
    #[track_caller]
    fn shell(&self, command: &str, folder: &std::path::Path) {
        let ran = self.command(command, folder).output().unwrap();
        assert!(ran.status.success(), "{command}: {}", printed(&ran));
    }

    fn command(&self, command: &str, folder: &std::path::Path) -> Command {
        // The settings of the machine stay out, as they do where carp is run itself.
        let like = carp(folder, &[]);
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).current_dir(folder).stdin(Stdio::null());
        for (name, value) in like.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let path = std::env::var("PATH").unwrap_or_default();
        shell.env("PATH", format!("{}:{path}", self.dir.path().join("bin").display()));
        shell.env("LC_ALL", "C");
        for who in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{who}_NAME"), "person");
            shell.env(format!("GIT_{who}_EMAIL"), "person@example.com");
            shell.env(format!("GIT_{who}_DATE"), self.now.to_string());
        }
        shell
    }

    /// Runs a command of the story: what it prints, how it ends, what it commits.
    fn shows(&mut self, command: &str) -> String {
        self.commits();
        let before = self.output();
        // A past run has its own time.
        let timed = match command.strip_prefix("carp ").filter(|args| !args.contains("--at ")) {
            Some(args) => format!("exec 2>&1; carp --now {} {args}", self.now),
            None => format!("exec 2>&1; {command}"),
        };
        let ran = Ran::of(self.command(&timed, &self.path()));
        let mut said = self.without_places(&ran.out);
        if ran.exit != 0 {
            let _ = writeln!(said, "exit {}", ran.exit);
        }
        self.edited = true;
        self.fetches();
        if let Some(told) = self.committed(before, |store, message, was, is| {
            without_ids(&commits::told(store, message, was, is))
        }) {
            said.push_str(&told);
        }
        said
    }

    fn without_places(&self, text: &str) -> String {
        let place = self.dir.path().to_str().unwrap();
        without_ids(text).replace(place, "")
    }

    /// The commit at the output's tip.
    fn output(&self) -> Option<Id> {
        let repository = Repository::open(&self.shared()).unwrap();
        repository.resolve("refs/heads/carp/rendered").unwrap()
    }

    /// What was committed since, if anything was.
    fn committed<T>(
        &mut self,
        before: Option<Id>,
        tell: impl FnOnce(&dyn Store, &str, Option<Id>, Id) -> T,
    ) -> Option<T> {
        let repository = Repository::open(&self.shared()).unwrap();
        let after = repository.resolve("refs/heads/carp/rendered").unwrap();
        let after = after.filter(|_| after != before)?;
        self.ran = true;
        let tree = |commit: Id| repository.commit_tree(commit).unwrap();
        let message = repository.message(after).unwrap();
        Some(tell(&repository.store().unwrap(), &message, before.map(tree), tree(after)))
    }

    /// A run that is not shown, and ends in one of these ways; whether something is held.
    fn runs(&mut self, ends: &[i32]) -> bool {
        self.commits();
        self.ran = true;
        let now = self.now.to_string();
        let ran = Ran::of(carp(&self.path(), &["--now", &now, "reconcile", "--once"]));
        assert!(ends.contains(&ran.exit), "{}{}", ran.out, ran.err);
        self.fetches();
        ran.exit == 3
    }

    /// Minutes pass. In each of them the agents that are not silent report what they applied, and carp runs.
    fn minutes(&mut self, count: u32) -> String {
        let mut told = String::new();
        for _ in 0..count {
            self.now += SignedDuration::from_mins(1);
            for worker in self.agents() {
                let mut report = self.applied(&worker);
                reports::come_up(&mut report, &mut self.running);
                self.hears(&worker, &report);
            }
            let before = self.output();
            let held = self.runs(&[0, 3]);
            let said = self.committed(before, |_, message, _, _| commits::said(message));
            let at = self.now.strftime("%H:%M").to_string();
            let said = said.unwrap_or_default();
            for (i, line) in said.lines().enumerate() {
                let at = if i == 0 { &at } else { "     " };
                let _ = writeln!(told, "{at} {line}");
            }
            if held {
                let _ = writeln!(told, "{at} exit 3");
            }
        }
        if told.is_empty() { "nothing is committed\n".to_owned() } else { told }
    }

    /// The workers that have an agent which is not silent.
    fn agents(&self) -> Vec<String> {
        let folder = self.path().join("fleet/workers");
        let mut found: Vec<String> = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let document = documents::yaml(&fs::read_to_string(entry.unwrap().path()).unwrap());
            let name = document["metadata"]["name"].as_str().unwrap().to_owned();
            let observed = document["spec"]["observation"] == "Agent";
            found.extend(Some(name).filter(|name| observed && !self.silent.contains(name)));
        }
        found.sort();
        found
    }

    fn applied(&mut self, worker: &str) -> Value {
        self.commits();
        let repository = Repository::open(&self.shared()).unwrap();
        let tree = self.output().map(|commit| repository.commit_tree(commit).unwrap());
        reports::applied(&repository.store().unwrap(), tree, worker, &self.now.to_string())
    }

    /// A worker's report takes the place of its last one.
    fn hears(&self, worker: &str, report: &Value) {
        let mut import = Command::new("git");
        import.arg("-C").arg(self.shared()).args(["fast-import", "--quiet", "--force"]);
        let mut import = import.stdin(Stdio::piped()).spawn().unwrap();
        let text = reports::import(worker, report, self.now.as_second());
        import.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(import.wait().unwrap().success());
        self.fetches();
    }

    /// At the end: another run commits nothing, and each commit follows from what it names.
    pub(super) fn settles(&mut self) {
        if !self.ran {
            return;
        }
        let mut tip = self.output();
        self.runs(&[0, 1, 3]);
        if self.output() != tip {
            tip = self.output();
            self.runs(&[0, 1, 3]);
        }
        assert_eq!(self.output(), tip, "a run without news commits nothing");
        replays(&self.path());
    }
}

#[track_caller]
fn time(text: &str) -> Timestamp {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}
