//! `carp kind apply`: the conformance of `carp kind run`, over Git and without any cluster. The API server
//! of the machine is here the made cluster only.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::support::kind::Machine;
use crate::support::people::{Person, printed};
use crate::support::{Remote, git, git_may_fail};

const FOLDER: &str = "workers/w1/clusters";

/// A machine, a remote with an output branch, and somebody who writes it.
struct Fleet {
    machine: Machine,
    remote: Remote,
    writer: Person,
}

impl Fleet {
    fn start(test: &str) -> Option<Self> {
        let machine = Machine::start(test)?;
        let remote = Remote::new();
        let writer = Person::cloning(&remote.url());
        let fleet = Self { machine, remote, writer };
        fleet.writer.write("workers/w1/kustomization.yaml", "resources: []\n");
        Some(fleet)
    }

    /// A file with a KINDCluster, to be pushed.
    fn write(&self, name: &str, spec: Value) {
        self.write_more(name, spec, json!({}));
    }

    fn write_more(&self, name: &str, spec: Value, annotations: Value) {
        let object = json!({
            "apiVersion": "infrastructure.cluster-k8s.io/v1alpha1", "kind": "KINDCluster",
            "metadata": {"name": name, "namespace": name, "annotations": annotations},
            "spec": spec,
        });
        let text = serde_saphyr::to_string(&object).unwrap();
        self.writer.write(&format!("{FOLDER}/{name}/cluster.yaml"), &text);
    }

    fn remove(&self, path: &str) {
        let path = self.writer.path().join(path);
        if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
            .unwrap();
    }

    /// Commits what was written and pushes it as the output branch.
    fn push(&self) {
        let at = self.writer.path();
        git(&at, &["add", "--all"]);
        git(&at, &["commit", "--quiet", "--allow-empty", "-m", "rendered"]);
        git(&at, &["push", "--quiet", "origin", "HEAD:refs/heads/carp/rendered"]);
    }

    fn command(&self) -> std::process::Command {
        let url = self.remote.url();
        self.machine.carp(&[
            "kind",
            "apply",
            "--worker",
            "w1",
            "--host",
            "box",
            "--repository",
            &url,
        ])
    }

    fn apply(&self) -> Output {
        self.command().output().unwrap()
    }

    #[track_caller]
    fn apply_fine(&self) -> String {
        let output = self.apply();
        assert!(output.status.success(), "{}", printed(&output));
        printed(&output)
    }

    #[track_caller]
    fn apply_failing(&self) -> String {
        let output = self.apply();
        assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
        printed(&output)
    }

    /// The status file of an object; `None` where there is none.
    fn status(&self, name: &str) -> Option<Value> {
        let show = format!("refs/heads/carp/kind/w1:{name}/{name}.yaml");
        let output = git_may_fail(&self.remote.path(), &["show", &show]);
        let text = String::from_utf8(output.stdout).unwrap();
        output.status.success().then(|| serde_saphyr::from_str::<Value>(&text).unwrap())
    }

    fn tip(&self) -> Option<String> {
        self.remote.at("refs/heads/carp/kind/w1").map(|id| id.to_string())
    }

    fn kubeconfig(&self, cluster: &str) -> std::path::PathBuf {
        self.machine.path().join("state/carp/kubeconfigs").join(cluster)
    }
}

#[test]
fn clusters_are_made_kept_and_deleted_with_git_alone() {
    let Some(fleet) = Fleet::start("clusters_are_made_kept_and_deleted_with_git_alone") else {
        return;
    };
    fleet.write("test1", json!({"clusterName": "test-1", "workerNodes": 1}));
    fleet.write("test2", json!({"clusterName": "test-2", "kubernetesVersion": "1.20"}));
    fleet.push();
    let said = fleet.apply_fine();
    assert_eq!(said.matches("Ready").count(), 2, "{said}");
    let nodes = ["test-1-control-plane", "test-1-worker", "test-2-control-plane"];
    assert_eq!(fleet.machine.nodes(), nodes);
    let record = fleet.status("test1").unwrap();
    assert_eq!((&record["schemaVersion"], &record["name"]), (&json!(1), &json!("test1")));
    let status = &record["status"];
    assert_eq!((&status["ready"], &status["nodes"]), (&json!(true), &json!(2)), "{status:#}");
    assert_eq!(status["providerID"], "kind://box/test-1");
    assert_eq!(status["initialization"]["controlPlaneInitialized"], true);

    // The kubeconfig works, is its owner's alone, and not in Git; nor was a person's touched.
    let file = fleet.kubeconfig("test-1");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let get = ["--kubeconfig", file.to_str().unwrap(), "get", "ns", "default", "-o", "name"];
    assert_eq!(fleet.machine.server.kubectl(&get), "namespace/default");
    let log = git(&fleet.remote.path(), &["log", "-p", "refs/heads/carp/kind/w1"]);
    assert!(!log.contains("throw-away"), "a credential is in Git:\n{log}");
    assert!(!fleet.machine.path().join("home/.kube").exists());

    // No news, no commit.
    let tip = fleet.tip();
    fleet.apply_fine();
    assert_eq!(fleet.tip(), tip);

    // A cluster that does not answer is told, and the exit code says it.
    fleet.machine.move_port("test-2-control-plane", 1);
    assert!(fleet.apply_failing().contains("NotReady"));
    fleet.machine.move_port("test-2-control-plane", fleet.machine.server.port());
    fleet.apply_fine();

    // A file that is gone is a cluster to be deleted, and its status goes last.
    fleet.remove(&format!("{FOLDER}/test1"));
    fleet.push();
    let said = fleet.apply_fine();
    assert!(said.contains("Deleted"), "{said}");
    assert_eq!(fleet.machine.nodes(), ["test-2-control-plane"]);
    assert_eq!((fleet.status("test1"), fleet.kubeconfig("test-1").exists()), (None, false));
    assert!(fleet.status("test2").is_some());
}

#[test]
fn what_cannot_be_read_deletes_nothing() {
    let Some(fleet) = Fleet::start("what_cannot_be_read_deletes_nothing") else { return };
    fleet.write("a", json!({"clusterName": "a"}));
    fleet.push();
    fleet.apply_fine();
    let nodes = ["a-control-plane"];
    let tip = fleet.tip();

    fleet.remove(&format!("{FOLDER}/a"));
    fleet.writer.write(&format!("{FOLDER}/b/cluster.yaml"), "kind: KINDCluster\nx: [\n");
    fleet.push();
    let said = fleet.apply_failing();
    assert!(said.contains("Held") && said.contains("clusters/b/cluster.yaml"), "{said}");
    assert_eq!(
        (fleet.machine.nodes(), fleet.tip()),
        (nodes.map(String::from).to_vec(), tip.clone())
    );

    fleet.remove("workers");
    fleet.push();
    let said = fleet.apply_failing();
    assert!(said.contains("workers/w1") && said.contains("nothing was done"), "{said}");
    git(&fleet.remote.path(), &["update-ref", "-d", "refs/heads/carp/rendered"]);
    let said = fleet.apply_failing();
    assert!(said.contains("carp/rendered"), "{said}");
    assert_eq!((fleet.machine.nodes(), fleet.tip()), (nodes.map(String::from).to_vec(), tip));
}

#[test]
fn samples_that_no_api_server_takes_are_told() {
    let Some(fleet) = Fleet::start("samples_that_no_api_server_takes_are_told") else { return };
    fleet.write("long", json!({"clusterName": "x".repeat(97)}));
    fleet.write("old", json!({"clusterName": "old", "kubernetesVersion": "1.13"}));
    fleet.write("fine", json!({"clusterName": "fine"}));
    fleet.push();
    let said = fleet.apply_failing();
    assert!(said.contains("InvalidConfig") && said.contains("1.13"), "{said}");
    assert!(said.contains("InvalidName"), "{said}");
    assert_eq!(fleet.machine.nodes(), ["fine-control-plane"], "one failure stops no other");
    fleet.write("nameless", json!({}));
    fleet.push();
    let said = fleet.apply_failing();
    assert!(said.contains("clusterName"), "{said}");
}

#[test]
fn failures_renames_and_other_peoples_clusters_are_told() {
    let Some(fleet) = Fleet::start("failures_renames_and_other_peoples_clusters_are_told") else {
        return;
    };
    fleet.write("a", json!({"clusterName": "a"}));
    fleet.push();
    fleet.machine.fault("run", "docker: Error response from daemon: boom");
    assert!(fleet.apply_failing().contains("KindFailed"));
    let status = fleet.status("a").unwrap()["status"].clone();
    assert!(status["failureMessage"].as_str().unwrap().contains("boom"), "{status:#}");
    fleet.machine.mend("run");
    fleet.apply_fine();
    assert_eq!(fleet.status("a").unwrap()["status"].get("failureMessage"), None);

    fleet.write("a", json!({"clusterName": "other"}));
    fleet.push();
    assert!(fleet.apply_failing().contains("Renamed"));
    assert_eq!(fleet.machine.nodes(), ["a-control-plane"]);
    fleet.remove(&format!("{FOLDER}/a"));
    fleet.push();
    fleet.apply_fine();
    assert_eq!(fleet.machine.nodes(), Vec::<String>::new(), "the one that it had is deleted");

    let made = fleet.machine.kind(&["create", "cluster", "--name", "mine"]);
    assert!(made.status.success(), "{}", printed(&made));
    fleet.write("b", json!({"clusterName": "mine"}));
    fleet.push();
    assert!(fleet.apply_failing().contains("AlreadyExists"));
    fleet.remove(&format!("{FOLDER}/b"));
    fleet.push();
    fleet.apply_fine();
    assert_eq!(fleet.machine.nodes(), ["mine-control-plane"], "what it did not own stays");
    let adopt = json!({"carp.dev/adopt": "true"});
    fleet.write_more("b", json!({"clusterName": "mine", "deletionPolicy": "Orphan"}), adopt);
    fleet.push();
    fleet.apply_fine();
    fleet.remove(&format!("{FOLDER}/b"));
    fleet.push();
    assert!(fleet.apply_fine().contains("Orphaned"));
    assert_eq!(fleet.machine.nodes(), ["mine-control-plane"]);
}

#[test]
fn an_interrupted_run_is_repaired_by_the_next() {
    let Some(fleet) = Fleet::start("an_interrupted_run_is_repaired_by_the_next") else { return };
    fleet.write("a", json!({"clusterName": "a"}));
    fleet.push();
    let half = || (fleet.machine.nodes() == ["a-control-plane"]).then_some(());
    let start = || fleet.command().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();

    // Killed: the intent is in Git, kind goes on and holds the name.
    fleet.machine.hang("kubeadm init");
    let mut child = start();
    fleet.machine.until("a node is there", half);
    child.kill().unwrap();
    child.wait().unwrap();
    let status = fleet.status("a").unwrap()["status"].clone();
    assert_eq!((&status["ready"], &status["providerID"]), (&json!(false), &json!("kind://box/a")));
    assert!(fleet.apply_failing().contains("Busy"));
    fleet.machine.go_on();
    let again = || fleet.apply().status.success().then_some(());
    fleet.machine.until("it is made anew", again);
    assert!(fleet.machine.calls("rm -f -v a-control-plane") >= 1, "the half-made one was removed");

    // Told to stop: what runs is ended with its nodes.
    fleet.remove(&format!("{FOLDER}/a"));
    fleet.push();
    fleet.apply_fine();
    fleet.write("b", json!({"clusterName": "b"}));
    fleet.push();
    fleet.machine.hang("kubeadm init");
    let mut child = start();
    let half = || (fleet.machine.nodes() == ["b-control-plane"]).then_some(());
    fleet.machine.until("a node is there", half);
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").arg(pid).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(fleet.machine.nodes(), Vec::<String>::new());
    assert_eq!(fleet.status("b").unwrap()["status"]["failureReason"], "Cancelled");
    fleet.machine.go_on();
    fleet.apply_fine();
}
