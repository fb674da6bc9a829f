//! A fleet and a cluster on which its output is applied, as the stories tell of them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::support::flux::{Flux, push_report};
use crate::support::git;
use crate::support::keys::SshKey;
use crate::support::observed::{Worker, condition};
use crate::support::people::{Person, printed};
use crate::support::small::{self, cluster};

pub(super) const WORKER: &str = "w-weu";

/// A fleet, and one of its clusters whose agent reports, signed.
pub(super) struct Story {
    /// The cluster: a worker, or the control plane's.
    pub(super) worker: Worker,
    /// Its name.
    pub(super) reporter: &'static str,
    pub(super) key: SshKey,
    flux: Flux,
    person: Person,
    now: Cell<Timestamp>,
}

impl Story {
    /// People have pushed a fleet of one worker and one cluster, `alpha`, and nothing else has happened.
    pub(super) fn begin() -> Option<Self> {
        Self::with_room_for(4)
    }

    /// The same with a capacity.
    pub(super) fn with_room_for(clusters: u32) -> Option<Self> {
        let observed = small::worker(WORKER, "westeurope", clusters) + "  observation: Agent\n";
        let files = [
            ("fleet/workers/w-weu.yaml".to_owned(), observed),
            ("fleet/clusters/alpha.yaml".to_owned(), cluster("alpha", "westeurope")),
        ];
        Self::of(WORKER, Flux::of(WORKER), files.into())
    }

    /// The control-plane cluster of a fleet that has a worker which it makes, and no clusters.
    pub(super) fn of_the_control_plane() -> Option<Self> {
        let files = [
            ("fleet/workers/w-weu.yaml".to_owned(), small::worker(WORKER, "westeurope", 4)),
            (
                "fleet/workers/w-eus.yaml".to_owned(),
                small::worker("w-eus", "eastus", 4).replace("replicas: 3", "flavor: attached"),
            ),
        ];
        Self::of("hub", Flux::of_the_control_plane(), files.into())
    }

    fn of(reporter: &'static str, flux: Flux, mut files: BTreeMap<String, String>) -> Option<Self> {
        let worker = Worker::called(reporter, &[])?;
        let key = SshKey::new()?;
        let signers = format!("  observed:\n    allowedSigners: [\"{}\"]\n", key.allowed(reporter));
        files.insert("carp.yaml".to_owned(), format!("{}{signers}", small::FLEET));
        let person = Person::cloning(&worker.remote.url());
        person.push(&files);
        let now = Cell::new("2026-11-01T09:00:00Z".parse().unwrap());
        Some(Self { worker, reporter, key, flux, person, now })
    }

    /// A document of the fleet is removed.
    pub(super) fn people_remove(&self, path: &str) {
        std::fs::remove_file(self.person.path().join(path)).unwrap();
        self.person.push(&BTreeMap::new());
    }

    /// A document is added.
    pub(super) fn people_write(&self, path: &str, text: &str) {
        self.person.push_one(path, text);
    }

    pub(super) fn now(&self) -> Timestamp {
        self.now.get()
    }

    pub(super) fn minutes_pass(&self, minutes: i64) {
        self.now.set(self.now.get() + SignedDuration::from_mins(minutes));
    }

    /// `carp reconcile --once`; returns what it said.
    #[track_caller]
    pub(super) fn carp_reconciles(&self) -> String {
        self.minutes_pass(2);
        let now = self.now.get().to_string();
        let output = self.person.carp(&["reconcile", "--once", "--now", &now]);
        assert!(output.status.success(), "{}", printed(&output));
        printed(&output)
    }

    pub(super) fn flux_applies(&self) {
        self.flux.sync(&self.worker);
    }

    /// `carp agent --once`, signed with the worker's key.
    #[track_caller]
    pub(super) fn agent_reports(&self) {
        self.minutes_pass(2);
        let (now, key) = (self.now.get().to_string(), self.key.file());
        let args = ["--signing-key", key.to_str().unwrap(), "--now", &now];
        let output = self.worker.report(&args);
        assert!(output.status.success(), "{}", printed(&output));
    }

    /// Flux applies, the agent reports, carp reconciles.
    #[track_caller]
    pub(super) fn goes_round(&self) -> String {
        self.flux_applies();
        self.agent_reports();
        self.carp_reconciles()
    }

    /// Writes a status, as a controller of Cluster API does.
    pub(super) fn status(&self, api_version: &str, kind: &str, name: &str, status: Value) {
        let metadata = json!({"name": name, "namespace": name});
        self.worker.status(&json!({
            "apiVersion": api_version, "kind": kind, "metadata": metadata, "status": status,
        }));
    }

    pub(super) fn cluster_api_begins(&self, name: &str) {
        let why = "no replies from Azure yet";
        let conditions = [
            condition("Available", "False", "NotAvailable", "* InfrastructureReady: not yet"),
            condition("InfrastructureReady", "False", "NotReady", why),
        ];
        let status = json!({"conditions": conditions});
        self.status("cluster.x-k8s.io/v1beta2", "Cluster", name, status);
    }

    pub(super) fn cluster_api_is_done(&self, name: &str) {
        let cluster = json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
            "metadata": {"name": name, "namespace": name},
        });
        let endpoint = json!({"host": "10.1.0.4", "port": 6443});
        self.worker.objects().merge(&cluster, json!({"spec": {"controlPlaneEndpoint": endpoint}}));
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
    pub(super) fn text(&self, path: &str) -> String {
        git(&self.worker.remote.path(), &["show", &format!("refs/heads/carp/status:{path}")])
    }

    /// The status of the cluster.
    #[track_caller]
    pub(super) fn alpha(&self) -> Value {
        serde_saphyr::from_str::<Value>(&self.text(ALPHA)).unwrap()["status"].take()
    }

    #[track_caller]
    pub(super) fn worker_status(&self) -> Value {
        let text = self.text(&format!("workers/{WORKER}.yaml"));
        serde_saphyr::from_str::<Value>(&text).unwrap()["status"].take()
    }

    /// Puts a report onto the worker's ref in the place of the agent's.
    pub(super) fn somebody_reports(&self, text: &str, key: PathBuf) {
        push_report(&self.worker.remote.url(), self.reporter, text, Some(&key));
    }

    /// Somebody's report is said to be of no use, and nothing that was known changes.
    #[track_caller]
    pub(super) fn changes_nothing(&self, what: &str, text: &str, key: PathBuf, why: &str) {
        let known = || (self.text(ALPHA), self.text(&format!("observed/{WORKER}.yaml")));
        let before = known();
        self.somebody_reports(text, key);
        let said = self.carp_reconciles();
        assert!(said.contains(why), "{what}: {said}");
        assert_eq!(known(), before, "{what}");
    }
}

/// The cluster's document: in the folder of the first two digits of its name's hash.
pub(super) const ALPHA: &str = "clusters/8e/alpha.yaml";

/// A condition of a status.
pub(super) fn of<'a>(status: &'a Value, kind: &str) -> &'a Value {
    let all = status["conditions"].as_array().unwrap();
    all.iter().find(|c| c["type"] == kind).unwrap_or_else(|| panic!("no {kind}: {status:#}"))
}
