//! What there is: a remote, two people, three carps, and what must not get lost.

use std::collections::{BTreeMap, BTreeSet};

use tempfile::TempDir;

use super::moves::Counts;
use super::runner::{Runner, deadly_git};
use crate::support::generator::Random;
use crate::support::people::Person;
use crate::support::{Access, Remote, Server, git, git_may_fail, small};

pub(super) const INPUT: &str = "refs/heads/main";
pub(super) const OUTPUT: &str = "refs/heads/carp/rendered";
pub(super) const STATUS: &str = "refs/heads/carp/status";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    Path,
    Http,
}

pub(super) struct World {
    pub(super) seed: u64,
    pub(super) transport: Transport,
    pub(super) random: Random,
    pub(super) remote: Remote,
    /// Only has to live.
    _server: Option<Server>,
    pub(super) url: String,
    /// Writes the fleet.
    pub(super) author: Person,
    /// Meddles with the output branch.
    pub(super) meddler: Person,
    pub(super) carps: Vec<Runner>,
    pub(super) deadly: TempDir,
    pub(super) now: jiff::Timestamp,
    /// What happened, for whoever has to read it.
    pub(super) story: Vec<String>,
    /// Numbers what people make, so that each is new.
    pub(super) number: u64,
    /// By branch: the commits that must be in its history.
    pub(super) kept: BTreeMap<&'static str, BTreeSet<String>>,
    /// Files that people put on the output branch.
    pub(super) foreign: BTreeMap<String, String>,
    /// All paths that such files ever had.
    pub(super) foreign_paths: BTreeSet<String>,
    /// What carp last said how to let something through.
    pub(super) suggested: Option<String>,
    /// What people changed in this round.
    pub(super) changes: usize,
    pub(super) counts: Counts,
}

impl World {
    /// A small fleet, reconciled once. `None` where there is no HTTP server to be had.
    pub(super) fn new(transport: Transport, random: Random, seed: u64) -> Option<Self> {
        let remote = Remote::new();
        let (server, url) = match transport {
            Transport::Path => (None, remote.url()),
            Transport::Http => {
                let server = Server::start(remote.root(), Access::Open)?;
                let url = server.url("fleet.git", None);
                (Some(server), url)
            }
        };
        let author = Person::cloning(&url);
        let mut files = small::files();
        for (name, text) in &mut files {
            if name.starts_with("fleet/workers/") {
                text.push_str("  observation: Agent\n");
            }
        }
        files.insert("README.md".to_owned(), "The fleet.\n".to_owned());
        author.push(&files);
        let carps = (0..3).map(|_| Runner::new(&url)).collect();
        let meddler = Person::cloning(&url);
        let mut world = Self {
            seed,
            transport,
            random,
            remote,
            _server: server,
            url,
            author,
            meddler,
            carps,
            deadly: deadly_git(),
            now: "2026-11-01T09:00:00Z".parse().unwrap(),
            story: Vec::new(),
            number: 0,
            kept: BTreeMap::from([(INPUT, BTreeSet::new()), (OUTPUT, BTreeSet::new())]),
            foreign: BTreeMap::new(),
            foreign_paths: BTreeSet::new(),
            suggested: None,
            changes: 0,
            counts: Counts::default(),
        };
        world.report("w-weu");
        world.report("w-eus");
        let now = world.now.to_string();
        let first = world.carps[0].run(&now);
        assert_eq!(first.code, Some(0), "{}", first.text);
        Some(world)
    }

    pub(super) fn tell(&mut self, what: impl Into<String>) {
        self.story.push(format!("  {}", what.into()));
    }

    /// A number that was not there before.
    pub(super) fn next(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    /// Ends the test with the story of this world.
    #[track_caller]
    pub(super) fn fail(&self, why: &str) -> ! {
        panic!(
            "{why}\n\nCARP_MODEL_SEED={} over {:?}:\n{}\n",
            self.seed,
            self.transport,
            self.story.join("\n")
        )
    }

    /// Where a branch of the remote is.
    pub(super) fn at(&self, branch: &str) -> Option<String> {
        self.remote.at(branch).map(|id| id.to_string())
    }

    /// Asks git about the remote.
    pub(super) fn ask(&self, args: &[&str]) -> String {
        git(&self.remote.path(), args)
    }

    pub(super) fn contains(&self, branch: &str, commit: &str) -> bool {
        let args = ["merge-base", "--is-ancestor", commit, branch];
        git_may_fail(&self.remote.path(), &args).status.success()
    }

    /// The text of a file on a branch of the remote.
    pub(super) fn text(&self, branch: &str, path: &str) -> Option<String> {
        let output =
            git_may_fail(&self.remote.path(), &["cat-file", "blob", &format!("{branch}:{path}")]);
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// A person's commit is on a branch: it must stay there.
    pub(super) fn keep(&mut self, branch: &'static str, commit: String) {
        self.kept.get_mut(branch).unwrap().insert(commit);
        self.changes += 1;
        self.counts.people += 1;
    }

    /// A person has set a branch back: what is not in it any more is given up.
    pub(super) fn give_up(&mut self, branch: &'static str) {
        let mut kept = std::mem::take(self.kept.get_mut(branch).unwrap());
        kept.retain(|commit| self.contains(branch, commit));
        kept.insert(self.at(branch).unwrap());
        self.kept.insert(branch, kept);
        self.changes += 1;
        self.counts.people += 1;
    }
}
