//! The agent on the control-plane cluster, against a real API server: what becomes of the clusters that the
//! workers are is known before the workers can say it themselves.

use std::cell::Cell;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::support::flux::{Flux, push_report};
use crate::support::keys::SshKey;
use crate::support::observed::{Worker, condition, object};
use crate::support::people::{Person, printed};
use crate::support::small;
use crate::support::{git, skip};

/// The control-plane cluster of a fleet with one worker and no clusters.
struct Story {
    hub: Worker,
    person: Person,
    keys: [SshKey; 2],
    now: Cell<Timestamp>,
}

impl Story {
    fn begin() -> Option<Self> {
        let hub = Worker::called("hub", &[])?;
        let keys = [SshKey::new()?, SshKey::new()?];
        let person = Person::cloning(&hub.remote.url());
        let signers = [keys[0].allowed("hub"), keys[1].allowed("w-weu")];
        let signers = format!("  observed:\n    allowedSigners: {signers:?}\n");
        let worker = small::worker("w-weu", "westeurope", 4) + "  observation: Agent\n";
        person.push(
            &[
                ("carp.yaml".to_owned(), format!("{}{signers}", small::FLEET)),
                ("fleet/w-weu.yaml".to_owned(), worker),
            ]
            .into(),
        );
        let now = Cell::new("2026-11-01T09:00:00Z".parse().unwrap());
        Some(Self { hub, person, keys, now })
    }

    fn time(&self) -> String {
        self.now.set(self.now.get() + SignedDuration::from_mins(2));
        self.now.get().to_string()
    }

    #[track_caller]
    fn carp_reconciles(&self) -> String {
        let output = self.person.carp(&["reconcile", "--once", "--now", &self.time()]);
        assert!(output.status.success(), "{}", printed(&output));
        printed(&output)
    }

    /// The agent reports and carp reconciles; returns the worker's status.
    #[track_caller]
    fn goes_round(&self) -> Value {
        let (now, key) = (self.time(), self.keys[0].file());
        let args = ["--now", &now, "--signing-key", key.to_str().unwrap()];
        let output = self.hub.report(&args);
        assert!(output.status.success(), "{}", printed(&output));
        let said = self.carp_reconciles();
        assert!(!said.contains("cannot be used"), "{said}");
        assert!(!said.contains("reports the cluster"), "the workers are no strangers: {said}");
        self.worker()
    }

    #[track_caller]
    fn worker(&self) -> Value {
        let show = ["show", "refs/heads/carp/status:workers/w-weu.yaml"];
        let text = git(&self.hub.remote.path(), &show);
        serde_saphyr::from_str::<Value>(&text).unwrap()["status"].take()
    }

    fn status(&self, api_version: &str, kind: &str, name: &str, status: Value) {
        let metadata = json!({"name": name, "namespace": "w-weu"});
        self.hub.status(&json!({
            "apiVersion": api_version, "kind": kind, "metadata": metadata, "status": status,
        }));
    }
}

fn cluster_ready(worker: &Value) -> (String, String) {
    let all = worker["conditions"].as_array().unwrap();
    let found = all.iter().find(|c| c["type"] == "ClusterReady");
    let text = |c: &Value, key: &str| c[key].as_str().unwrap_or_default().to_owned();
    found.map(|c| (text(c, "reason"), text(c, "message"))).unwrap_or_default()
}

#[test]
fn a_worker_in_the_making_is_known_from_the_control_plane() {
    let test = "a_worker_in_the_making_is_known_from_the_control_plane";
    let Some(story) = Story::begin() else {
        return skip(test, "no ssh-keygen, or KUBEBUILDER_ASSETS or CARP_CRDS is unset");
    };
    story.carp_reconciles();
    assert_eq!(story.worker()["phase"], "Pending");
    Flux::of("w-weu").apply_path(&story.hub, "control-plane/w-weu");
    let worker = story.goes_round();
    assert_eq!(worker["phase"], "Provisioning", "{worker:#}");
    assert_eq!(cluster_ready(&worker).0, "Pending");
    the_row_says_what_is_there(&story);

    let capi = "cluster.x-k8s.io/v1beta2";
    let waits = condition("InfrastructureReady", "False", "NotReady", "creating the network");
    let unavailable = condition("Available", "False", "NotAvailable", "");
    story.status(capi, "Cluster", "w-weu", json!({"conditions": [unavailable, waits]}));
    let worker = story.goes_round();
    assert_eq!(worker["phase"], "Provisioning");
    let why = "InfrastructureReady: creating the network";
    assert_eq!(cluster_ready(&worker), ("Provisioning".to_owned(), why.to_owned()));
    the_cloud_refuses_a_machine(&story);

    let available = condition("Available", "True", "Available", "");
    let initialization =
        json!({"infrastructureProvisioned": true, "controlPlaneInitialized": true});
    let made = json!({"conditions": [available], "initialization": initialization});
    story.status(capi, "Cluster", "w-weu", made);
    let versions = json!({"versions": [{"version": "v1.34.2", "replicas": 3}]});
    let group = "controlplane.cluster.x-k8s.io/v1beta2";
    story.status(group, "KubeadmControlPlane", "w-weu-control-plane", versions);
    let worker = story.goes_round();
    assert_eq!(worker["phase"], "Provisioning", "its own agent was not heard of");
    assert_eq!(cluster_ready(&worker).0, "Running");
    assert_eq!(story.hub.reported().unwrap()["clusters"][0]["version"], "v1.34.2");
    let get = ["get", "workers.carp.dev", "w-weu", "-n", "w-weu", "--no-headers"];
    let printed = story.hub.server.kubectl(&get);
    assert!(printed.contains("Running") && printed.contains("westeurope"), "{printed}");
    only_those_who_may_are_heard(&story);
}

fn the_row_says_what_is_there(story: &Story) {
    let report = story.hub.reported().unwrap();
    let row = &report["clusters"][0];
    assert_eq!(row["name"], "w-weu");
    let there = json!([
        "AzureCluster",
        "Cluster",
        "HelmChartProxy",
        "KubeadmControlPlane",
        "MachineDeployment",
        "Namespace",
        "Worker"
    ]);
    assert_eq!(row["present"], there);
    let file = "refs/heads/carp/rendered:control-plane/w-weu/cluster.yaml";
    let rendered = git(&story.hub.remote.path(), &["show", file]);
    let digest = row["digest"].as_str().unwrap();
    assert!(rendered.contains(&format!("carp.dev/digest: sha256:{digest}")), "{rendered}");
    let uid = ["get", "clusters.v1beta2.cluster.x-k8s.io", "w-weu", "-n", "w-weu"];
    let uid = story.hub.server.kubectl(&[&uid[..], &["-o", "jsonpath={.metadata.uid}"]].concat());
    assert_eq!(row["uid"], uid);
}

fn the_cloud_refuses_a_machine(story: &Story) {
    let spec = json!({"vmSize": "Standard_D4s_v5", "osDisk": {"osType": "Linux"}});
    let version = "infrastructure.cluster.x-k8s.io/v1beta1";
    let mut machine = object(version, "AzureMachine", "w-weu", "w-weu-1", spec);
    let why = "QuotaExceeded: 0 cores are left in westeurope";
    let refused = condition("VMRunning", "False", "VMProvisionFailed", why);
    machine["status"] = json!({"conditions": [refused]});
    story.hub.create(&machine);
    let worker = story.goes_round();
    assert_eq!(worker["errors"][0]["code"], "QuotaExceeded");
    assert_eq!(worker["errors"][0]["userError"], true);
    assert!(cluster_ready(&worker).1.ends_with(why), "{worker:#}");
    let kind = "azuremachines.v1beta1.infrastructure.cluster.x-k8s.io";
    story.hub.server.kubectl(&["delete", kind, "w-weu-1", "-n", "w-weu"]);
}

/// A report counts with the key of who it is of; the worker's own counts more than the control plane's.
fn only_those_who_may_are_heard(story: &Story) {
    let before = story.worker();
    let good = story.hub.report_text().unwrap();
    let broken = good.replace("phase: Running", "phase: Degraded");
    assert_ne!(broken, good);
    let push = |worker: &str, text: &str, key: &SshKey| {
        push_report(&story.hub.remote.url(), worker, text, Some(&key.file()));
        story.carp_reconciles()
    };
    let said = push("hub", &broken, &story.keys[1]);
    assert!(said.contains("the report of `hub` cannot be used"), "{said}");
    assert_eq!(story.worker(), before, "signed with the key of another");
    let own = |time: &str| {
        format!(
            "schemaVersion: 1\nworker: w-weu\nworkerUID: 5d0c0f1e-0001-4000-8000-000000000001\n\
             time: \"{time}\"\ncomplete: true\nhealthy: true\n"
        )
    };
    let nobody = own(&story.time()).replace("w-weu", "nobody");
    push_report(&story.hub.remote.url(), "nobody", &nobody, Some(&story.keys[0].file()));
    push("w-weu", &own(&story.time()), &story.keys[1]);
    let worker = story.worker();
    assert_eq!(worker["phase"], "Running", "{worker:#}");
    let folded = git(&story.hub.remote.path(), &["ls-tree", "--name-only", "carp/status:observed"]);
    assert_eq!(folded, "hub.yaml\nw-weu.yaml", "nobody is no worker");
}
