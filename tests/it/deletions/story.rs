//! A small fleet whose nearest worker reports, and the reports as a test wants them.

use std::fmt::Write as _;
use std::sync::OnceLock;

use carp::model::{Deletion, HoldKind, Name, Proposal};

use crate::support::small;
use crate::support::world::{World, after_nine};

pub(super) const WORKER: &str = "w-weu";

/// What a worker reports.
#[derive(Clone)]
pub(super) struct Report {
    pub(super) uid: &'static str,
    /// Minutes after nine.
    pub(super) minute: i64,
    pub(super) complete: bool,
    /// One for each cluster.
    pub(super) rows: Vec<Row>,
}

/// What a report says of a cluster.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) digest: String,
    pub(super) uid: Option<&'static str>,
    pub(super) phase: &'static str,
    pub(super) present: Vec<&'static str>,
}

impl Row {
    pub(super) fn new(name: &'static str, digest: &str, present: &[&'static str]) -> Self {
        let uid = present.contains(&"Cluster").then_some("c-1");
        let phase = if uid.is_some() { "Running" } else { "Deleting" };
        Self { name, digest: digest.to_owned(), uid, phase, present: present.to_owned() }
    }
}

impl Report {
    fn text(&self, worker: &str) -> String {
        let time = after_nine(self.minute);
        let mut text = format!(
            "schemaVersion: 1\nworker: {worker}\nworkerUID: {}\ntime: \"{time}\"\ncomplete: {}\n\
             healthy: true\n",
            self.uid, self.complete
        );
        if !self.complete {
            text.push_str("unlisted:\n- AzureMachine\n");
        }
        if !self.rows.is_empty() {
            text.push_str("clusters:\n");
        }
        for Row { name, digest, uid, phase, present } in &self.rows {
            let _ = writeln!(text, "- name: {name}\n  phase: {phase}\n  digest: \"{digest}\"");
            if let Some(uid) = uid {
                let _ = writeln!(text, "  uid: {uid}");
            }
            text.push_str("  present:\n");
            for kind in present {
                let _ = writeln!(text, "  - {kind}");
            }
        }
        text
    }
}

/// The fleet as it goes on.
#[derive(Clone)]
pub(super) struct Story {
    pub(super) world: World,
    pub(super) minute: i64,
}

impl Story {
    /// The small fleet, all placed. Its worker in West Europe has an agent. One serves all tests of the
    /// process; each gets a copy of its own.
    pub(super) fn new() -> Self {
        static PLACED: OnceLock<Story> = OnceLock::new();
        PLACED.get_or_init(|| Self::of(small::files())).clone()
    }

    pub(super) fn of(mut files: std::collections::BTreeMap<String, String>) -> Self {
        let worker = files.get_mut("fleet/workers/w-weu.yaml").unwrap();
        worker.push_str("  observation: Agent\n");
        let mut story = Self { world: World::new(files), minute: 0 };
        let first = story.hear(Vec::new());
        assert_eq!(story.world.worker_of("alpha").as_deref(), Some(WORKER), "{:?}", first.plan);
        story
    }

    /// A minute later the worker reports these clusters, and carp runs.
    pub(super) fn hear(&mut self, rows: Vec<Row>) -> Proposal {
        self.minute += 1;
        let report = Report { uid: "u-1", minute: self.minute, complete: true, rows };
        self.say(WORKER, &report);
        self.run()
    }

    /// What lies there of a worker.
    pub(super) fn say(&mut self, worker: &str, report: &Report) {
        let text = report.text(worker).into_bytes();
        let reports = self.world.reports.get_or_insert_default();
        reports.insert(Name::parse(worker).unwrap(), text);
    }

    /// Runs, and shows that it settles.
    pub(super) fn run(&mut self) -> Proposal {
        self.world.settle_at(self.minute)
    }

    /// What is proposed for other reports, without committing it.
    pub(super) fn if_it_said(&mut self, worker: &str, report: &Report, minute: i64) -> Proposal {
        let kept = (self.world.reports.clone(), self.world.now);
        self.say(worker, report);
        self.world.now = after_nine(minute);
        let proposal = self.world.propose();
        (self.world.reports, self.world.now) = kept;
        proposal
    }

    /// Shows that nothing moves on any twin of a report that would move it.
    pub(super) fn nothing_moves_on_twins(&mut self, worker: &str, rows: &[Row], stale: &str) {
        let minute = self.minute + 1;
        let good = Report { uid: "u-1", minute, complete: true, rows: rows.to_vec() };
        let with = |change: &dyn Fn(&mut Row)| {
            let mut report = good.clone();
            change(&mut report.rows[0]);
            report
        };
        let twins = [
            ("late", Report { minute: -30, ..good.clone() }, minute),
            ("of long ago", good.clone(), minute + 61),
            ("of another cluster", Report { uid: "u-2", ..good.clone() }, minute),
            ("incomplete", Report { complete: false, ..good.clone() }, minute),
            ("stale", with(&|row| stale.clone_into(&mut row.digest)), minute),
            ("not gone", with(&|row| row.present.push("Cluster")), minute),
            ("still on machines", with(&|row| row.present.push("AzureMachine")), minute),
            ("contradictory", with(&|row| row.uid = Some("c-1")), minute),
            ("silent about it", Report { rows: Vec::new(), ..good.clone() }, minute),
        ];
        for (which, twin, minute) in twins {
            let proposal = self.if_it_said(worker, &twin, minute);
            assert!(!proposal.has_changes(), "a report that is {which} moves nothing");
        }
        let moves = self.if_it_said(worker, &good, minute);
        assert!(moves.has_changes(), "and the good one does");
    }

    /// The digest that a folder of the output carries.
    pub(super) fn digest(&self, folder: &str) -> String {
        let text = self.world.output_text(&format!("{folder}/cluster.yaml")).unwrap();
        let line = text.lines().find_map(|l| l.trim().strip_prefix("carp.dev/digest: sha256:"));
        line.unwrap().to_owned()
    }

    pub(super) fn file(&self, path: &str) -> String {
        self.world.output_text(path).unwrap_or_else(|| panic!("there is no {path}"))
    }

    pub(super) fn status(&self, cluster: &str) -> Option<String> {
        self.world.cluster_status(cluster)
    }

    /// The condition of a status document: its status, its reason, its message and since when.
    pub(super) fn condition(document: &str, kind: &str) -> [String; 4] {
        let start = document.find(&format!("type: {kind}\n"));
        let start = start.unwrap_or_else(|| panic!("no {kind} in {document}"));
        let rest = &document[start..];
        let rest = &rest[..rest.find("\n  - type").unwrap_or(rest.len())];
        ["status", "reason", "message", "lastTransitionTime"].map(|field| {
            let line = rest.lines().find_map(|l| l.trim().strip_prefix(&format!("{field}: ")));
            line.unwrap_or_default().trim_matches('"').to_owned()
        })
    }
}

pub(super) fn folder(cluster: &str) -> String {
    format!("workers/{WORKER}/clusters/{cluster}")
}

pub(super) fn deletion<'a>(proposal: &'a Proposal, name: &str) -> &'a Deletion {
    let plan = &proposal.plan;
    plan.deletion(name)
        .or_else(|| plan.retirements.get(name))
        .unwrap_or_else(|| panic!("{name} is not being deleted"))
}

pub(super) fn held(proposal: &Proposal) -> Vec<HoldKind> {
    proposal.plan.holds.iter().map(|hold| hold.kind).collect()
}

/// The kinds that a worker reports of a cluster, while it runs and as it goes.
pub(super) const RUNNING: &[&str] =
    &["Cluster", "HelmChartProxy", "KamajiControlPlane", "ManagedCluster", "Namespace"];
pub(super) const GONE: &[&str] = &["HelmChartProxy", "ManagedCluster", "Namespace"];
pub(super) const EMPTY: &[&str] = &["ManagedCluster", "Namespace"];
