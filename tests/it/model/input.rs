//! What people do on the input branch. One person writes there, so nothing of theirs is ever rejected.

use std::fs;

use super::world::{INPUT, World};
use crate::support::small::{cluster, worker};
use crate::support::{git, git_may_fail};

const CLUSTERS: [&str; 10] =
    ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett"];
const WORKERS: [(&str, &str); 4] = [
    ("w-weu", "westeurope"),
    ("w-eus", "eastus"),
    ("w-neu", "northeurope"),
    ("w-jpe", "japaneast"),
];
const LOCATIONS: [&str; 3] = ["westeurope", "eastus", "japaneast"];

/// The marks of a document that does not load.
const BROKEN: [(&str, &str); 3] = [
    ("spec:\n", "spec:\n  replicaz: 3\n"),
    ("kind: ManagedCluster", "kind: [ManagedCluster"),
    ("spec:\n", "<<<<<<< HEAD\nspec:\n"),
];

impl World {
    /// The names of the files in a folder of the fleet.
    fn documents(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.author.path().join("fleet").join(folder));
        let entries = entries.into_iter().flatten().map(|e| e.unwrap().file_name());
        let mut names: Vec<_> =
            entries.filter_map(|n| Some(n.to_str()?.strip_suffix(".yaml")?.to_owned())).collect();
        names.sort();
        names
    }

    /// The clusters whose documents load, with their text.
    pub(super) fn good_clusters(&self) -> Vec<(String, String)> {
        let read = |name: String| {
            let path = self.author.path().join(format!("fleet/clusters/{name}.yaml"));
            let text = fs::read_to_string(path).unwrap();
            (name, text)
        };
        let all = self.documents("clusters").into_iter().map(read);
        all.filter(|(_, text)| !BROKEN.iter().any(|(_, mark)| text.contains(mark))).collect()
    }

    /// Commits what the author's work tree has, and pushes it. Nothing happens where nothing changed.
    fn publish(&mut self, what: &str) {
        let path = self.author.path();
        git(&path, &["add", "--all"]);
        if git_may_fail(&path, &["diff", "--cached", "--quiet"]).status.success() {
            return;
        }
        git(&path, &["commit", "--quiet", "-m", what]);
        git(&path, &["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
        let commit = git(&path, &["rev-parse", "HEAD"]);
        self.tell(format!("a person commits on the input branch: {what} ({})", &commit[..8]));
        self.keep(INPUT, commit);
    }

    pub(super) fn write_cluster(&mut self) {
        let name = CLUSTERS[self.random.below(CLUSTERS.len())];
        let location = LOCATIONS[self.random.below(LOCATIONS.len())];
        let replicas = self.random.below(5) + 1;
        let path = format!("fleet/clusters/{name}.yaml");
        let before = fs::read_to_string(self.author.path().join(&path)).unwrap_or_default();
        // Where a cluster is does not change once it exists.
        let there = LOCATIONS.iter().find(|l| before.contains(&format!("location: {l}\n")));
        let location = there.copied().unwrap_or(location);
        let text = cluster(name, location).replace("replicas: 2", &format!("replicas: {replicas}"));
        self.author.write(&path, &text);
        self.publish(&format!("{name} in {location} with {replicas} replicas"));
    }

    pub(super) fn break_cluster(&mut self) {
        let good = self.good_clusters();
        let Some((name, text)) = good.get(self.random.below(good.len().max(1))) else { return };
        let (from, to) = BROKEN[self.random.below(BROKEN.len())];
        self.author.write(&format!("fleet/clusters/{name}.yaml"), &text.replacen(from, to, 1));
        self.publish(&format!("{name} is broken"));
    }

    pub(super) fn remove_clusters(&mut self) {
        let names = self.documents("clusters");
        // Never the last one: an empty fleet is another story.
        let count = if self.random.below(4) == 0 { 4 } else { 1 };
        let names: Vec<_> = names.into_iter().skip(1 + self.random.below(4)).take(count).collect();
        for name in &names {
            fs::remove_file(self.author.path().join(format!("fleet/clusters/{name}.yaml")))
                .unwrap();
        }
        self.publish(&format!("without {}", names.join(", ")));
    }

    pub(super) fn write_worker(&mut self) {
        let (name, location) = WORKERS[self.random.below(WORKERS.len())];
        let capacity = u32::try_from(self.random.below(6)).unwrap() + 1;
        let observed = if self.random.below(2) == 0 { "  observation: Agent\n" } else { "" };
        let text = worker(name, location, capacity) + observed;
        self.author.write(&format!("fleet/workers/{name}.yaml"), &text);
        self.publish(&format!("{name} with room for {capacity}"));
    }

    pub(super) fn remove_worker(&mut self) {
        let names = self.documents("workers");
        if names.len() < 2 {
            return;
        }
        let name = &names[self.random.below(names.len())];
        fs::remove_file(self.author.path().join(format!("fleet/workers/{name}.yaml"))).unwrap();
        self.publish(&format!("without the worker {name}"));
    }

    /// A file that is none of carp's business, or a comment in one that is.
    pub(super) fn unrelated(&mut self) {
        let n = self.next();
        if self.random.below(2) == 0 {
            self.author.write("README.md", &format!("The fleet, edition {n}.\n"));
        } else {
            self.author.write(&format!("docs/note-{n}.md"), "A note.\n");
        }
        self.publish("a note");
    }

    pub(super) fn revert_input(&mut self) {
        let path = self.author.path();
        let length: usize = git(&path, &["rev-list", "--count", "HEAD"]).parse().unwrap();
        let back = self.random.below(3);
        if back + 1 >= length {
            return;
        }
        let commit = format!("HEAD~{back}");
        if !git_may_fail(&path, &["revert", "--no-commit", &commit]).status.success() {
            git(&path, &["reset", "--quiet", "--hard", "HEAD"]);
            return;
        }
        // In the middle of a revert git takes no plain commit.
        git_may_fail(&path, &["revert", "--quit"]);
        if self.documents("clusters").is_empty() || self.documents("workers").is_empty() {
            git(&path, &["reset", "--quiet", "--hard", "HEAD"]);
            return;
        }
        self.publish(&format!("revert of the commit {back} back"));
    }

    pub(super) fn rewind_input(&mut self) {
        let path = self.author.path();
        let length: usize = git(&path, &["rev-list", "--count", "HEAD"]).parse().unwrap();
        let back = self.random.below(2) + 1;
        if back >= length {
            return;
        }
        git(&path, &["reset", "--quiet", "--hard", &format!("HEAD~{back}")]);
        git(&path, &["push", "--quiet", "--force", "origin", "HEAD:refs/heads/main"]);
        self.tell(format!("a person sets the input branch back by {back}"));
        self.give_up(INPUT);
    }

    /// Types the command that carp last suggested.
    pub(super) fn acknowledge(&mut self) {
        let Some(command) = self.suggested.take() else { return };
        let words: Vec<_> = command.split_whitespace().skip(1).collect();
        let n = self.next();
        let name = format!("ack-{n}");
        let words: Vec<_> = words.into_iter().chain(["--name", &name]).collect();
        let output = self.author.carp(&words);
        if !output.status.success() {
            self.fail(&format!("`{command}` failed: {}", crate::support::people::printed(&output)));
        }
        self.publish(&command);
    }

    /// The agent of a worker reports: a commit without parents, in place of the last.
    pub(super) fn report(&mut self, worker: &str) {
        let healthy = self.random.below(4) > 0;
        let text = format!(
            "schemaVersion: 1\nworker: {worker}\nworkerUID: 5d0c0f1e-0001-4000-8000-000000000001\n\
             time: \"{}\"\ncomplete: true\nhealthy: {healthy}\nreason: Probe\nmessage: probed\n",
            self.now
        );
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "--quiet"]);
        fs::write(folder.path().join("report.yaml"), text).unwrap();
        git(folder.path(), &["add", "--all"]);
        git(folder.path(), &["commit", "--quiet", "-m", "report"]);
        let to = format!("+HEAD:refs/heads/carp/observed/{worker}");
        git(folder.path(), &["push", "--quiet", &self.remote.url(), &to]);
        self.tell(format!("{worker} reports, healthy: {healthy}"));
        self.changes += 1;
    }

    pub(super) fn report_of_some(&mut self) {
        let (worker, _) = WORKERS[self.random.below(WORKERS.len())];
        self.report(worker);
    }
}
