//! People remove a cluster, and it goes in three commits, each by what the agent reports of the real
//! objects after the one before.

use serde_json::{Value, json};

use super::story::{ALPHA, Story, WORKER, of};
use crate::support::observed::object;
use crate::support::small::cluster;
use crate::support::{git, git_may_fail, skip};

/// What is being deleted.
pub(super) struct Going {
    pub(super) name: &'static str,
    /// Its folder on the output branch.
    pub(super) folder: &'static str,
    /// Its status on the status branch.
    pub(super) status: &'static str,
    /// What Cluster API takes down when the `Cluster` is deleted, in its order: KIND.GROUP.
    pub(super) machinery: &'static [&'static str],
}

const CLUSTER: Going = Going {
    name: "alpha",
    folder: "workers/w-weu/clusters/alpha",
    status: ALPHA,
    machinery: &[
        "MachineDeployment.cluster.x-k8s.io",
        "AzureMachine.infrastructure.cluster.x-k8s.io",
        "KamajiControlPlane.controlplane.cluster.x-k8s.io",
        "AzureCluster.infrastructure.cluster.x-k8s.io",
        "Cluster.cluster.x-k8s.io",
    ],
};

const ADD_ON: &str = "HelmChartProxy.addons.cluster.x-k8s.io";

impl Going {
    fn add_ons_and_machinery(&self) -> impl Iterator<Item = &'static str> {
        self.machinery.iter().copied().chain([ADD_ON])
    }
}

impl Story {
    /// The tip of the output branch.
    #[track_caller]
    pub(super) fn output(&self) -> String {
        git(&self.worker.remote.path(), &["rev-parse", "refs/heads/carp/rendered"])
    }

    /// A file of the output branch.
    #[track_caller]
    pub(super) fn rendered(&self, path: &str) -> String {
        git(&self.worker.remote.path(), &["show", &format!("refs/heads/carp/rendered:{path}")])
    }

    /// The paths of the output branch that have something of a name.
    #[track_caller]
    pub(super) fn paths_of(&self, name: &str) -> Vec<String> {
        let tree = ["ls-tree", "-r", "--name-only", "refs/heads/carp/rendered"];
        let all = git(&self.worker.remote.path(), &tree);
        all.lines().filter(|path| path.contains(name)).map(str::to_owned).collect()
    }

    /// The digest of the folder as it is committed.
    #[track_caller]
    pub(super) fn digest(&self, going: &Going) -> String {
        let text = self.rendered(&format!("{}/cluster.yaml", going.folder));
        let line = text.lines().find_map(|l| l.trim().strip_prefix("carp.dev/digest: sha256:"));
        line.unwrap().to_owned()
    }

    /// The condition that is not true yet: its name, its reason, its message.
    #[track_caller]
    pub(super) fn waits_for(&self, going: &Going) -> (String, String, String) {
        let status: Value = serde_saphyr::from_str(&self.text(going.status)).unwrap();
        let steps = ["Empty", "ClusterGone", "AddOnsGone"];
        let all = status["status"]["conditions"].as_array().unwrap();
        let waits =
            |c: &&Value| steps.iter().any(|step| c["type"] == *step) && c["status"] == "False";
        let found =
            all.iter().find(waits).unwrap_or_else(|| panic!("waits for nothing: {status:#}"));
        let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
        (text("type"), text("reason"), text("message"))
    }

    /// The agent reports and carp reconciles: nothing moves, for this reason.
    #[track_caller]
    pub(super) fn waits(&self, going: &Going, condition: &str, reason: &str, what: &str) {
        let before = self.output();
        self.agent_reports();
        let said = self.carp_reconciles();
        assert_eq!(self.output(), before, "{said}");
        let (waits, why, message) = self.waits_for(going);
        assert_eq!((waits.as_str(), why.as_str()), (condition, reason), "{message}");
        assert!(message.contains(what), "{what} is not in {message}");
    }

    /// carp reconciles, with exactly one commit; returns its message.
    #[track_caller]
    pub(super) fn one_commit(&self) -> String {
        let before = self.output();
        let said = self.carp_reconciles();
        let made = format!("{before}..refs/heads/carp/rendered");
        let at = |args: &[&str]| git(&self.worker.remote.path(), args);
        assert_eq!(at(&["rev-list", "--count", &made]), "1", "{said}");
        at(&["log", "-1", "--format=%B", "refs/heads/carp/rendered"])
    }

    /// Every controller has put its finalizer on its objects, and a machine runs.
    pub(super) fn controllers_hold(&self, going: &Going) {
        let version = "infrastructure.cluster.x-k8s.io/v1beta1";
        let spec = json!({"vmSize": "Standard_D4s_v5", "osDisk": {"osType": "Linux"}});
        let machine = format!("{}-1", going.name);
        self.worker.create(&object(version, "AzureMachine", going.name, &machine, spec));
        for kind in going.add_ons_and_machinery() {
            assert_ne!(self.finalizers(going, kind, &["test.carp.dev/held"]), 0, "{kind}");
        }
    }

    /// Puts finalizers onto all objects of a kind; returns how many there are.
    fn finalizers(&self, going: &Going, kind: &str, finalizers: &[&str]) -> usize {
        let all = self.objects(going, kind);
        for object in &all {
            self.worker.objects().merge(object, json!({"metadata": {"finalizers": finalizers}}));
        }
        all.len()
    }

    /// Every object of a kind in its namespace.
    pub(super) fn objects(&self, going: &Going, kind: &str) -> Vec<Value> {
        self.worker.objects().list(kind, going.name)
    }

    /// A controller deletes its objects if nobody has, and ends what it held them for.
    fn controller_takes_down(&self, going: &Going, kind: &str) {
        for object in self.objects(going, kind) {
            self.worker.objects().begin_deletion(&object);
        }
        self.finalizers(going, kind, &[]);
        assert_eq!(self.objects(going, kind), [Value::Null; 0], "{kind}");
    }

    /// Deletes what is left in the namespace, as Kubernetes does, and ends the namespace.
    fn kubernetes_ends_the_namespace(&self, going: &Going) {
        let server = self.worker.objects();
        let path = format!("/api/v1/namespaces/{}", going.name);
        let mut namespace = server.get(&path).unwrap();
        assert_eq!(namespace["status"]["phase"], "Terminating", "Flux has pruned it");
        let identity = "AzureClusterIdentity.infrastructure.cluster.x-k8s.io";
        assert_eq!(
            self.objects(going, identity),
            [Value::Null; 0],
            "Flux has pruned what was marked"
        );
        let left = [
            "AzureMachineTemplate.infrastructure.cluster.x-k8s.io",
            "KubeadmConfigTemplate.bootstrap.cluster.x-k8s.io",
            "MachineHealthCheck.cluster.x-k8s.io",
        ];
        for kind in left {
            self.controller_takes_down(going, kind);
        }
        namespace["spec"]["finalizers"] = json!([]);
        server.replace(&format!("{path}/finalize"), &namespace);
        assert_eq!(server.get(&path), None);
    }
}

/// From the removal of its document, which is committed, to the commit that takes the add-ons out.
fn the_cluster_goes(story: &Story, going: &Going, before: &str) -> String {
    let message = story.one_commit();
    assert!(message.contains("begin the deletion of"), "{message}");
    let first = story.digest(going);
    let text = story.rendered(&format!("{}/cluster.yaml", going.folder));
    assert!(!text.contains("kind: Cluster\n") && text.contains("kind: HelmChartProxy\n"));
    story.waits(going, "ClusterGone", "NotApplied", "does not show this step applied");
    story.flux_applies();
    for kind in going.machinery {
        let kind_name = kind.split_once('.').unwrap().0;
        story.waits(going, "ClusterGone", "StillThere", kind_name);
        story.controller_takes_down(going, kind);
    }
    story.agent_reports();
    story.nothing_moves_on_twins(going, before);
    story.agent_reports();
    let message = story.one_commit();
    assert!(message.contains("is reported gone on"), "{message}");
    first
}

/// From there to where the agent would next report that the add-ons are gone.
fn the_add_ons_go(story: &Story, going: &Going, first: &str) {
    assert_ne!(story.digest(going), first);
    let text = story.rendered(&format!("{}/cluster.yaml", going.folder));
    assert!(text.contains("kind: Namespace\n") && !text.contains("kind: HelmChartProxy\n"));
    story.waits(going, "AddOnsGone", "NotApplied", "does not show this step applied");
    story.flux_applies();
    story.waits(going, "AddOnsGone", "StillThere", "HelmChartProxy");
    story.controller_takes_down(going, ADD_ON);
    story.agent_reports();
    story.nothing_moves_on_twins(going, first);
}

/// The last commit, which takes everything out.
fn it_is_over(story: &Story, going: &Going) {
    story.agent_reports();
    let message = story.one_commit();
    assert!(message.contains("is complete"), "{message}");
    assert_eq!(story.paths_of(going.name), [""; 0], "folder, Kustomization and record are gone");
}

/// From there to where nothing is left on the cluster either.
fn nothing_is_left(story: &Story, going: &Going) {
    story.flux_applies();
    story.agent_reports();
    let report = story.worker.reported().unwrap();
    let row = row_of(&report, going.name).unwrap();
    assert_eq!(row["present"], json!(["Namespace"]), "it is going still");
    let said = story.carp_reconciles();
    assert!(!said.contains(going.name), "nobody need care: {said}");
    story.kubernetes_ends_the_namespace(going);
    story.agent_reports();
    assert_eq!(row_of(&story.worker.reported().unwrap(), going.name), None);
    story.carp_reconciles();
    let at = format!("refs/heads/carp/status:observed/{}.yaml", story.reporter);
    let known = git(&story.worker.remote.path(), &["show", &at]);
    assert!(!known.contains(going.name), "{known}");
    let gone = git_may_fail(
        &story.worker.remote.path(),
        &["cat-file", "-e", &format!("refs/heads/carp/status:{}", going.status)],
    );
    assert!(!gone.status.success(), "its status is gone");
    let fsck = git_may_fail(&story.worker.remote.path(), &["fsck", "--strict", "--no-dangling"]);
    assert!(fsck.status.success(), "{}", String::from_utf8_lossy(&fsck.stderr));
}

/// The whole way, from when it is removed.
pub(super) fn goes(story: &Story, going: &Going, document: &str) {
    story.controllers_hold(going);
    story.agent_reports();
    story.carp_reconciles();
    let before = story.digest(going);
    story.people_remove(document);
    let first = the_cluster_goes(story, going, &before);
    the_add_ons_go(story, going, &first);
    it_is_over(story, going);
    nothing_is_left(story, going);
}

fn row_of<'a>(report: &'a Value, name: &str) -> Option<&'a Value> {
    report["clusters"].as_array()?.iter().find(|row| row["name"] == name)
}

#[test]
fn what_people_remove_goes_by_what_is_seen_of_it() {
    let test = "what_people_remove_goes_by_what_is_seen_of_it";
    let Some(story) = Story::with_room_for(1) else {
        return skip(test, "no ssh-keygen, or KUBEBUILDER_ASSETS or CARP_CRDS is unset");
    };
    story.carp_reconciles();
    story.goes_round();
    story.flux_applies();
    story.cluster_api_is_done("alpha");
    story.agent_reports();
    story.carp_reconciles();
    assert_eq!(story.alpha()["phase"], "Running");
    goes_with_room(&story);
    story.goes_round();
    story.goes_round();
    let report = story.worker.reported().unwrap();
    assert!(row_of(&report, "bravo").is_some(), "{report:#}");
}

/// alpha goes, and bravo takes its room in the very commit that takes alpha's record out.
fn goes_with_room(story: &Story) {
    story.controllers_hold(&CLUSTER);
    story.agent_reports();
    story.carp_reconciles();
    let before = story.digest(&CLUSTER);
    story.people_remove("fleet/clusters/alpha.yaml");
    let first = the_cluster_goes(story, &CLUSTER, &before);
    assert_eq!(story.alpha()["phase"], "Deleting");
    assert_eq!(of(&story.alpha(), "ClusterGone")["status"], "True");
    the_add_ons_go(story, &CLUSTER, &first);
    story.people_write("fleet/clusters/bravo.yaml", &cluster("bravo", "westeurope"));
    story.carp_reconciles();
    let record = story.rendered("decisions/f1/bravo.yaml");
    assert!(record.contains("- Capacity"), "there is room for one: {record}");
    it_is_over(story, &CLUSTER);
    let index = story.rendered(&format!("workers/{WORKER}/clusters.yaml"));
    assert!(index.contains("name: cluster-bravo\n") && !index.contains("cluster-alpha"), "{index}");
    nothing_is_left(story, &CLUSTER);
}
