//! What must hold after each round, when everything is quiet.

use serde_json::Value;

use super::world::{INPUT, OUTPUT, STATUS, World};
use crate::support::git;
use crate::support::people::{Person, printed};

/// More commits than changes: the run that begins in the round before, and the one that ends in the next.
const SLACK: usize = 2;

impl World {
    pub(super) fn check(&mut self) {
        self.histories_are_linear();
        self.nothing_is_lost();
        self.foreign_files_are_as_they_were();
        self.it_is_the_plan();
        // From here on, what is there now must stay.
        let tip = self.at(OUTPUT).unwrap();
        self.kept.get_mut(OUTPUT).unwrap().insert(tip);
    }

    fn histories_are_linear(&self) {
        for branch in [OUTPUT, STATUS] {
            let merges = self.ask(&["rev-list", "--merges", "--count", branch]);
            if merges != "0" {
                self.fail(&format!("{branch} has {merges} merges"));
            }
        }
    }

    fn nothing_is_lost(&self) {
        for (branch, commits) in &self.kept {
            for commit in commits {
                if !self.contains(branch, commit) {
                    self.fail(&format!("{branch} has lost the commit {commit}"));
                }
            }
        }
        // On the input branch there is nothing but what people put there.
        let own = self.ask(&["rev-list", "--count", "--grep=^Carp-", INPUT]);
        if own != "0" {
            self.fail("carp wrote to the input branch");
        }
    }

    fn foreign_files_are_as_they_were(&self) {
        for (path, text) in &self.foreign {
            match self.text(OUTPUT, path) {
                Some(there) if there == *text => {}
                Some(there) => self.fail(&format!("{path} was {text:?} and is {there:?}")),
                None => self.fail(&format!("{path}, which is a person's, is gone")),
            }
        }
    }

    /// A clone that knows nothing plans nothing, and names the tree that is there.
    fn it_is_the_plan(&self) {
        let fresh = Person::cloning(&self.url);
        git(&fresh.path(), &["pull", "--quiet", "origin", "main"]);
        let now = self.now.to_string();
        let output = fresh.carp(&["plan", "--output", "json", "--now", &now]);
        let plan: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| self.fail(&format!("no plan: {e}: {}", printed(&output))));
        let tree = self.ask(&["rev-parse", &format!("{OUTPUT}^{{tree}}")]);
        // A rewound input branch is held by reconcile alone: a plan of a folder knows no last input.
        if self.is_held_back() {
            return;
        }
        if plan["hasChanges"] != false || plan["tree"] != tree.as_str() {
            self.fail(&format!(
                "the plan of the last inputs is another tree than {tree}: {plan:#}"
            ));
        }
        if plan["stopped"] == false {
            self.every_cluster_is_where_its_record_says(&plan);
        }
    }

    fn is_held_back(&self) -> bool {
        self.suggested.as_deref().is_some_and(|command| command.contains("ack rewind"))
    }

    /// Worked out from the documents alone: what loads has a record, and what is placed is rendered as
    /// its document says.
    fn every_cluster_is_where_its_record_says(&self, plan: &Value) {
        let kept: Vec<_> = plan["gates"].as_array().into_iter().flatten().collect();
        for (name, document) in self.good_clusters() {
            if kept.iter().any(|gate| gate["name"] == name.as_str()) {
                continue;
            }
            let path = carp::model::paths::decision(&carp::model::Name::parse(&name).unwrap());
            let rows = plan["clusters"].as_array().unwrap();
            let row = rows.iter().find(|row| row["name"] == name.as_str());
            let decision =
                row.map_or("", |row| row["decision"]["kind"].as_str().unwrap_or_default());
            if decision != "Keep" {
                continue;
            }
            let worker = row.unwrap()["decision"]["worker"].as_str().unwrap();
            match self.text(OUTPUT, &path) {
                Some(record) if record.contains(&format!("worker: {worker}\n")) => {}
                Some(record) => self.fail(&format!("{path} does not say {worker}:\n{record}")),
                None => self.fail(&format!("{path} is not there")),
            }
            let file = format!("workers/{worker}/clusters/{name}/cluster.yaml");
            let replicas = document.lines().find(|l| l.starts_with("  replicas: ")).unwrap();
            match self.text(OUTPUT, &file) {
                Some(text) if text.contains(replicas) => {}
                Some(text) => self.fail(&format!("{file} has not {replicas:?}:\n{text}")),
                None => self.fail(&format!("{file} is not there")),
            }
        }
    }

    /// No more commits than there were changes, and a few.
    pub(super) fn is_frugal(&self, made: usize) {
        if made > self.changes + SLACK {
            self.fail(&format!("{made} commits for {} changes", self.changes));
        }
    }
}
