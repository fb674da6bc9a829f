//! The whole loop against a real API server: a fleet, what carp renders of it, what Flux applies of that,
//! what Cluster API makes of it, what the agent reports, and what carp then says.
//!
//! Flux and the controllers of Cluster API are played by the test; everything else is real.

use std::cell::Cell;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::support::flux::{Flux, push_report};
use crate::support::keys::SshKey;
use crate::support::observed::{Worker, condition};
use crate::support::people::{Person, printed};
use crate::support::small::{self, cluster};
use crate::support::{git, git_may_fail, skip};

/// The CRDs of what a cluster's folder holds besides what the agent looks at.
const CRDS: [&str; 5] = [
    "azureclusteridentities.infrastructure.cluster.x-k8s.io",
    "azuremachinetemplates.infrastructure.cluster.x-k8s.io",
    "kubeadmconfigtemplates.bootstrap.cluster.x-k8s.io",
    "machinehealthchecks.cluster.x-k8s.io",
    "gitrepositories.source.toolkit.fluxcd.io",
];

const WORKER: &str = "w-weu";

/// A fleet of one worker and one cluster, `alpha`, whose reports must be signed.
struct Story {
    worker: Worker,
    flux: Flux,
    person: Person,
    key: SshKey,
    now: Cell<Timestamp>,
}

impl Story {
    /// People have pushed the fleet, and nothing else has happened.
    fn begin() -> Option<Self> {
        let worker = Worker::called(WORKER, &[], &CRDS)?;
        let key = SshKey::new()?;
        let person = Person::cloning(&worker.remote.url());
        let signers = format!("  observed:\n    allowedSigners: [\"{}\"]\n", key.allowed(WORKER));
        let observed = small::worker(WORKER, "westeurope", 4) + "  observation: Agent\n";
        person.push(
            &[
                ("carp.yaml".to_owned(), format!("{}{signers}", small::FLEET)),
                ("fleet/workers/w-weu.yaml".to_owned(), observed),
                ("fleet/clusters/alpha.yaml".to_owned(), cluster("alpha", "westeurope")),
            ]
            .into(),
        );
        let now = Cell::new("2026-11-01T09:00:00Z".parse().unwrap());
        Some(Self { worker, flux: Flux::of(WORKER), person, key, now })
    }

    fn minutes_pass(&self, minutes: i64) {
        self.now.set(self.now.get() + SignedDuration::from_mins(minutes));
    }

    /// `carp reconcile --once`; returns what it said.
    #[track_caller]
    fn carp_reconciles(&self) -> String {
        self.minutes_pass(2);
        let now = self.now.get().to_string();
        let output = self.person.carp(&["reconcile", "--once", "--now", &now]);
        assert!(output.status.success(), "{}", printed(&output));
        printed(&output)
    }

    fn flux_applies(&self) {
        self.flux.sync(&self.worker);
    }

    /// `carp agent --once`, signed with the worker's key.
    #[track_caller]
    fn agent_reports(&self) {
        self.minutes_pass(2);
        let (now, key) = (self.now.get().to_string(), self.key.file());
        let args = ["--signing-key", key.to_str().unwrap(), "--now", &now];
        let output = self.worker.report(&args);
        assert!(output.status.success(), "{}", printed(&output));
    }

    /// Flux applies, the agent reports, carp reconciles.
    #[track_caller]
    fn goes_round(&self) -> String {
        self.flux_applies();
        self.agent_reports();
        self.carp_reconciles()
    }

    /// Writes a status, as a controller of Cluster API does.
    fn status(&self, api_version: &str, kind: &str, name: &str, status: Value) {
        let metadata = json!({"name": name, "namespace": name});
        self.worker.status(&json!({
            "apiVersion": api_version, "kind": kind, "metadata": metadata, "status": status,
        }));
    }

    fn cluster_api_begins(&self, name: &str) {
        let why = "no replies from Azure yet";
        let conditions = [
            condition("Available", "False", "NotAvailable", "* InfrastructureReady: not yet"),
            condition("InfrastructureReady", "False", "NotReady", why),
        ];
        let status = json!({"conditions": conditions});
        self.status("cluster.x-k8s.io/v1beta2", "Cluster", name, status);
    }

    fn cluster_api_is_done(&self, name: &str) {
        let endpoint = r#"{"spec": {"controlPlaneEndpoint": {"host": "10.1.0.4", "port": 6443}}}"#;
        let kind = "clusters.v1beta2.cluster.x-k8s.io";
        let patch = ["patch", kind, name, "-n", name, "--type=merge", "-p", endpoint];
        self.worker.server.kubectl(&patch);
        let status = json!({
            "conditions": [condition("Available", "True", "Available", "")],
            "initialization": {"infrastructureProvisioned": true, "controlPlaneInitialized": true},
            "workers": {"desiredReplicas": 2, "readyReplicas": 2},
        });
        self.status("cluster.x-k8s.io/v1beta2", "Cluster", name, status);
        let group = "controlplane.cluster.x-k8s.io/v1alpha2";
        let status =
            json!({"version": "1.34.2", "ready": true, "externalManagedControlPlane": true});
        self.status(group, "KamajiControlPlane", name, status);
    }

    /// A document of the status branch as it is written.
    #[track_caller]
    fn text(&self, path: &str) -> String {
        git(&self.worker.remote.path(), &["show", &format!("refs/heads/carp/status:{path}")])
    }

    /// The status of the cluster.
    #[track_caller]
    fn alpha(&self) -> Value {
        serde_saphyr::from_str::<Value>(&self.text(ALPHA)).unwrap()["status"].take()
    }

    #[track_caller]
    fn worker_status(&self) -> Value {
        let text = self.text(&format!("workers/{WORKER}.yaml"));
        serde_saphyr::from_str::<Value>(&text).unwrap()["status"].take()
    }

    /// Puts a report onto the worker's ref in the place of the agent's.
    fn somebody_reports(&self, text: &str, key: PathBuf) {
        push_report(&self.worker.remote.url(), WORKER, text, Some(&key));
    }

    /// Somebody's report is said to be of no use, and nothing that was known changes.
    #[track_caller]
    fn changes_nothing(&self, what: &str, text: &str, key: PathBuf, why: &str) {
        let known = || (self.text(ALPHA), self.text(&format!("observed/{WORKER}.yaml")));
        let before = known();
        self.somebody_reports(text, key);
        let said = self.carp_reconciles();
        assert!(said.contains(why), "{what}: {said}");
        assert_eq!(known(), before, "{what}");
    }
}

/// The cluster's document: in the folder of the first two digits of its name's hash.
const ALPHA: &str = "clusters/8e/alpha.yaml";

/// A condition of a status.
fn of<'a>(status: &'a Value, kind: &str) -> &'a Value {
    let all = status["conditions"].as_array().unwrap();
    all.iter().find(|c| c["type"] == kind).unwrap_or_else(|| panic!("no {kind}: {status:#}"))
}

#[test]
fn what_people_write_runs_and_is_known_to_run() {
    let test = "what_people_write_runs_and_is_known_to_run";
    let Some(story) = Story::begin() else {
        return skip(test, "no ssh-keygen, or KUBEBUILDER_ASSETS or CARP_CRDS is unset");
    };
    story.carp_reconciles();
    assert_eq!(story.alpha()["phase"], "Pending", "nobody has heard of the worker");
    assert_eq!(story.worker_status()["phase"], "Pending");

    story.goes_round();
    assert_eq!(story.worker_status()["phase"], "Running");
    assert_eq!(story.alpha()["phase"], "Scheduled");
    assert_eq!(story.alpha()["assignedWorker"], WORKER);

    story.goes_round();
    assert_eq!(story.alpha()["phase"], "Provisioning", "its objects are there");
    story.cluster_api_begins("alpha");
    story.agent_reports();
    story.carp_reconciles();
    assert_eq!(story.alpha()["phase"], "Provisioning");
    let late = story.worker.report_text().unwrap();

    story.cluster_api_is_done("alpha");
    story.agent_reports();
    story.carp_reconciles();
    let alpha = story.alpha();
    assert_eq!(alpha["phase"], "Running", "{alpha:#}");
    assert_eq!(of(&alpha, "Ready")["status"], "True");
    assert_eq!(alpha["version"], "v1.34.2");
    assert_eq!(alpha["endpoint"], "https://10.1.0.4:6443");
    assert_eq!(alpha["nodes"], json!({"desired": 2, "ready": 2}));
    let get = ["get", "managedclusters.carp.dev", "alpha", "-n", "alpha", "--no-headers"];
    let printed = story.worker.server.kubectl(&get);
    assert!(printed.starts_with("alpha") && printed.contains("Running"), "{printed}");
    the_digest_is_that_of_the_folder(&story);

    // Once more, and nothing has changed: no commit on any branch.
    let tips = || git(&story.worker.remote.path(), &["for-each-ref", "refs/heads/carp/[rs]*"]);
    story.goes_round();
    let before = tips();
    story.goes_round();
    assert_eq!(tips(), before);
    what_does_not_count_changes_nothing(&story, &late);
    silence_is_not_broken_by_what_is_old(&story, &late);
}

/// What the agent saw applied is what carp rendered.
fn the_digest_is_that_of_the_folder(story: &Story) {
    let file = format!("refs/heads/carp/rendered:workers/{WORKER}/clusters/alpha/cluster.yaml");
    let rendered = git(&story.worker.remote.path(), &["show", &file]);
    let report = story.worker.reported().unwrap();
    let digest = report["clusters"][0]["digest"].as_str().unwrap();
    assert!(rendered.contains(&format!("carp.dev/digest: sha256:{digest}")), "{rendered}");
}

/// Each of these reports is like the last good one but for one thing.
fn what_does_not_count_changes_nothing(story: &Story, late: &str) {
    let own = || story.key.file();
    let good = story.worker.report_text().unwrap();
    let time = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("time: ")).unwrap().to_owned();
        text.replace(&line, &format!("time: \"{}\"", story.now.get()))
    };
    let broken = time(&good).replace("phase: Running", "phase: Degraded");
    assert_ne!(broken, time(&good));
    let (uid, _) = broken.split_once("workerUID: ").unwrap().1.split_once('\n').unwrap();
    let mallory = SshKey::new().unwrap();
    let row = broken.split_once("clusters:\n").unwrap().1.to_owned();
    for (what, text, key, why) in [
        ("late", late.to_owned(), own(), "before a change"),
        ("signed by another", broken.clone(), mallory.file(), "key is that of no allowed signer"),
        ("of another cluster", broken.replace(uid, "another"), own(), "it is from the cluster"),
        ("of another worker", broken.replace(WORKER, "w-eus"), own(), "it says that it is of"),
        ("with two answers", format!("{broken}{row}"), own(), "names the cluster `alpha` twice"),
        ("not readable", broken.replace("healthy: true", "healthy: ["), own(), "cannot be used"),
    ] {
        story.changes_nothing(what, &text, key, why);
    }
    // One that could not see everything says nothing of what it does not name.
    let partial = time(&good).replace("complete: true", "complete: false\nunlisted:\n- Cluster");
    let (head, _) = partial.split_once("clusters:\n").unwrap();
    story.somebody_reports(head, own());
    let before = story.text(ALPHA);
    story.carp_reconciles();
    assert_eq!(story.text(ALPHA), before, "incomplete");
}

fn silence_is_not_broken_by_what_is_old(story: &Story, late: &str) {
    story.minutes_pass(3 * 60);
    story.carp_reconciles();
    assert_eq!(story.worker_status()["phase"], "Unknown");
    assert_eq!(story.alpha()["phase"], "Unknown");
    story.somebody_reports(late, story.key.file());
    story.carp_reconciles();
    assert_eq!(story.alpha()["phase"], "Unknown", "an old report is no sign of life");
    story.agent_reports();
    story.carp_reconciles();
    assert_eq!(
        (&story.alpha()["phase"], &story.worker_status()["phase"]),
        (&json!("Running"), &json!("Running"))
    );
    let output = git_may_fail(&story.worker.remote.path(), &["fsck", "--strict", "--no-dangling"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
