//! A cluster on a real API server that an agent observes: the CRDs, the objects that Flux would apply, and
//! their status as the Cluster API controllers would write it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::apiserver::ApiServer;
use super::objects::Objects;
use super::people::carp;
use super::{Remote, definitions, git_may_fail};

/// The CRDs that the agent looks at, by the names of their files.
const CRDS: [&str; 15] = [
    "clusters.cluster.x-k8s.io",
    "machinedeployments.cluster.x-k8s.io",
    "machinepools.cluster.x-k8s.io",
    "kubeadmcontrolplanes.controlplane.cluster.x-k8s.io",
    "kamajicontrolplanes.controlplane.cluster.x-k8s.io",
    "azureclusters.infrastructure.cluster.x-k8s.io",
    "azuremachines.infrastructure.cluster.x-k8s.io",
    "helmchartproxies.addons.cluster.x-k8s.io",
    "kustomizations.kustomize.toolkit.fluxcd.io",
    "coreproviders.operator.cluster.x-k8s.io",
    "bootstrapproviders.operator.cluster.x-k8s.io",
    "controlplaneproviders.operator.cluster.x-k8s.io",
    "infrastructureproviders.operator.cluster.x-k8s.io",
    "addonproviders.operator.cluster.x-k8s.io",
    "helmreleases.helm.toolkit.fluxcd.io",
];

/// The CRDs of what carp has applied besides what the agent looks at.
const APPLIED: [&str; 7] = [
    "azureclusteridentities.infrastructure.cluster.x-k8s.io",
    "azuremachinetemplates.infrastructure.cluster.x-k8s.io",
    "kubeadmconfigtemplates.bootstrap.cluster.x-k8s.io",
    "machinehealthchecks.cluster.x-k8s.io",
    "gitrepositories.source.toolkit.fluxcd.io",
    "ocirepositories.source.toolkit.fluxcd.io",
    "clusterresourcesets.addons.cluster.x-k8s.io",
];

/// A worker, or the control-plane cluster, and the remote that it reports to.
pub(crate) struct Worker {
    pub(crate) server: ApiServer,
    pub(crate) remote: Remote,
    name: String,
    crds: PathBuf,
    dir: TempDir,
}

impl Worker {
    /// The worker `we-1` with every CRD but some; `None` where the environment has no server or no CRDs.
    pub(crate) fn without(missing: &[&str]) -> Option<Self> {
        Self::called("we-1", missing)
    }

    /// A cluster with a name, without some CRDs.
    #[expect(clippy::disallowed_methods, reason = "tests read their environment")]
    pub(crate) fn called(name: &str, missing: &[&str]) -> Option<Self> {
        let crds = std::env::var_os("CARP_CRDS").map(PathBuf::from)?;
        let dir = tempfile::tempdir().unwrap();
        let own = carp(dir.path(), &["crds"]).output().unwrap();
        fs::write(dir.path().join("own.yaml"), own.stdout).unwrap();
        let mut files: Vec<PathBuf> =
            CRDS.iter().chain(&APPLIED).map(|name| crds.join(format!("{name}.yaml"))).collect();
        files.push(dir.path().join("own.yaml"));
        let server = definitions::serving("worker", &files)?;
        let worker = Self { server, remote: Remote::new(), name: name.to_owned(), crds, dir };
        if !missing.is_empty() {
            worker.server.kubectl(&[&["delete", "crd"], missing].concat());
        }
        worker.server.kubectl(&["create", "namespace", "flux-system"]);
        worker.server.kubectl(&["create", "namespace", "carp-system"]);
        Some(worker)
    }

    /// Installs CRDs.
    pub(crate) fn install(&self, names: &[&str]) {
        let files = names.iter().map(|name| self.crds.join(format!("{name}.yaml")));
        definitions::learn(&self.server, &files.collect::<Vec<_>>());
    }

    /// A worker with everything.
    pub(crate) fn start() -> Option<Self> {
        Self::without(&[])
    }

    /// Creates objects in their order.
    pub(crate) fn apply(&self, objects: &[Value]) {
        for object in objects {
            self.create(object);
        }
    }

    /// Creates an object, and writes its status where it has one.
    pub(crate) fn create(&self, object: &Value) {
        self.objects().create(object);
        if object.get("status").is_some() {
            self.status(object);
        }
    }

    /// Writes the status of an object.
    pub(crate) fn status(&self, object: &Value) {
        self.objects().status(object);
    }

    /// Writes the status of an object that was just read.
    pub(crate) fn replace_status(&self, object: &Value) {
        self.objects().replace_status(object);
    }

    /// A connection of its own, for a server that is stopped ends all that it has.
    pub(crate) fn objects(&self) -> Objects {
        Objects::by(&self.server.kubeconfig())
    }

    /// `carp agent --worker NAME ARGS`, to its end.
    pub(crate) fn report(&self, args: &[&str]) -> Output {
        self.agent(&[&["--once"], args].concat()).output().unwrap()
    }

    /// `carp agent`, left running.
    pub(crate) fn watch(&self) -> Agent {
        self.watch_by(&self.server.kubeconfig())
    }

    /// The same by another way to the API server.
    pub(crate) fn watch_by(&self, kubeconfig: &Path) -> Agent {
        let scratch = self.path().join("scratch");
        fs::create_dir_all(&scratch).unwrap();
        let pace = ["--interval", "1s", "--heartbeat", "2s"];
        let (kubeconfig, folder) = (kubeconfig.to_str().unwrap(), scratch.to_str().unwrap());
        let places = ["--kubeconfig", kubeconfig, "--scratch", folder];
        let mut command = self.agent(&[pace, places].concat());
        let log = self.path().join("agent.log");
        let child = command.stdout(Stdio::null()).stderr(fs::File::create(&log).unwrap()).spawn();
        Agent { child: child.unwrap(), log, scratch }
    }

    fn agent(&self, args: &[&str]) -> Command {
        let kubeconfig = self.server.kubeconfig();
        let mut command = carp(self.dir.path(), &["agent", "--worker", &self.name]);
        command.arg("--repository").arg(self.remote.url()).args(args);
        if !args.contains(&"--kubeconfig") {
            command.arg("--kubeconfig").arg(kubeconfig);
        }
        command
    }

    /// The report on the worker's ref; `None` before the first.
    pub(crate) fn reported(&self) -> Option<Value> {
        self.report_text().map(|text| serde_saphyr::from_str(&text).unwrap())
    }

    /// The same as it is written.
    pub(crate) fn report_text(&self) -> Option<String> {
        let file = format!("refs/heads/carp/observed/{}:report.yaml", self.name);
        let output = git_may_fail(&self.remote.path(), &["show", &file]);
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    }

    /// Waits until the report is as it should be; two minutes at most.
    #[track_caller]
    pub(crate) fn wait_for(&self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..600 {
            if let Some(report) = self.reported().filter(&is_so) {
                return report;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        panic!("never {what}: {:#?}", self.reported());
    }

    /// The folder for files of a test.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().to_owned()
    }
}

/// A running agent. It is killed when this is dropped.
pub(crate) struct Agent {
    child: Child,
    log: PathBuf,
    scratch: PathBuf,
}

impl Agent {
    /// What it has logged.
    pub(crate) fn logged(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// The most memory that it ever took, in KiB; `None` where the system does not say.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    }

    /// SIGTERM: it ends well, and nothing is left of what was in the making.
    #[track_caller]
    pub(crate) fn ends_when_told(mut self) {
        let mut kill = Command::new("kill");
        assert!(
            kill.args(["-s", "TERM", &self.child.id().to_string()]).status().unwrap().success()
        );
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{}", self.logged());
        assert_eq!(fs::read_dir(&self.scratch).unwrap().count(), 0);
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An object as it is applied, without status.
pub(crate) fn object(
    api_version: &str,
    kind: &str,
    namespace: &str,
    name: &str,
    spec: Value,
) -> Value {
    json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    })
}

/// A condition as controllers write it.
pub(crate) fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({
        "type": kind, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": "2026-11-01T08:00:00Z",
    })
}

/// The digest of the folder that the objects were applied from.
pub(crate) const DIGEST: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

/// The objects of a hosted cluster as Flux applies them.
pub(crate) fn applied(name: &str) -> Vec<Value> {
    let mut managed = object(
        "carp.dev/v1alpha1",
        "ManagedCluster",
        name,
        name,
        json!({"version": "v1.34.2", "location": "westeurope"}),
    );
    managed["metadata"]["annotations"] = json!({"carp.dev/digest": format!("sha256:{DIGEST}")});
    let reference =
        |group: &str, kind: &str| json!({"apiGroup": group, "kind": kind, "name": name});
    vec![
        json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "labels": {"carp.dev/cluster": name}},
        }),
        managed,
        object(
            "cluster.x-k8s.io/v1beta2",
            "Cluster",
            name,
            name,
            json!({
                "controlPlaneEndpoint": {"host": "10.1.0.4", "port": 6443},
                "controlPlaneRef": reference("controlplane.cluster.x-k8s.io", "KamajiControlPlane"),
                "infrastructureRef": reference("infrastructure.cluster.x-k8s.io", "AzureCluster"),
            }),
        ),
    ]
}

/// The `Cluster` with a status.
pub(crate) fn cluster(name: &str, available: &str, initialized: bool, more: Vec<Value>) -> Value {
    let mut conditions = vec![condition("Available", available, "x", "")];
    conditions.extend(more);
    let mut cluster = applied(name).remove(2);
    cluster["status"] = json!({
        "conditions": conditions,
        "initialization": {
            "infrastructureProvisioned": initialized, "controlPlaneInitialized": initialized,
        },
        "workers": {"desiredReplicas": 3, "readyReplicas": if available == "True" { 3 } else { 1 }},
    });
    cluster
}
