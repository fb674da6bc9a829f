//! Flux's part in a test: what the output branch holds for a worker is applied with its field manager, what
//! left the branch is pruned, and every Kustomization says so in its status.
//!
//! The rules are those of kustomize-controller: server-side apply, pruning by inventory, and
//! `kustomize.toolkit.fluxcd.io/prune: disabled` on the object that is there keeps it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::git;
use super::observed::Worker;

/// The version and the kind, the namespace, and the name.
type Reference = ([String; 2], Option<String>, String);

/// The Kustomization of a worker's whole folder.
const ROOT: &str = "carp-worker";

/// The Flux of one worker, or of the control-plane cluster.
pub(crate) struct Flux {
    /// The path of the output branch that it begins with.
    first: String,
    /// What each Kustomization applied last.
    inventory: RefCell<BTreeMap<String, BTreeSet<Reference>>>,
}

impl Flux {
    pub(crate) fn of(worker: &str) -> Self {
        let first = format!("control-plane/{worker}/bootstrap");
        Self { first, inventory: RefCell::default() }
    }

    pub(crate) fn of_the_control_plane() -> Self {
        Self { first: "control-plane".to_owned(), inventory: RefCell::default() }
    }

    /// Brings the cluster to the tip of the output branch. The layers' own content is left out: their
    /// charts and providers have nobody here who would install them.
    pub(crate) fn sync(&self, on: &Worker) {
        let dir = output(on);
        let output = dir.path().join("output");
        let commit = git(&output, &["rev-parse", "HEAD"]);
        self.apply(on, "the first", &output.join(&self.first));
        let mut done = BTreeSet::new();
        while self.pass(on, &output, &commit, &mut done) {}
    }

    /// Brings to the commit what is not done, in its order, until something was applied, which may have
    /// changed what there is; false when all is done.
    fn pass(&self, on: &Worker, output: &Path, commit: &str, done: &mut BTreeSet<String>) -> bool {
        for mut next in kustomizations(on) {
            let name = name(&next);
            if !done.insert(name.clone()) {
                continue;
            }
            next["status"] = json!({
                "observedGeneration": 1,
                "lastAppliedRevision": format!("carp/rendered@sha1:{commit}"),
                "conditions": [super::observed::condition("Ready", "True", "Succeeded", "")],
            });
            if name == ROOT || name.starts_with("cluster-") {
                self.apply(on, &name, &output.join(next["spec"]["path"].as_str().unwrap()));
                on.status(&next);
                return true;
            }
            on.replace_status(&next);
        }
        false
    }

    /// Applies one path of the output branch, as a Kustomization of that path does.
    pub(crate) fn apply_path(&self, on: &Worker, path: &str) {
        self.apply(on, path, &output(on).path().join("output").join(path));
    }

    fn apply(&self, on: &Worker, by: &str, folder: &Path) {
        let folder = folder.to_str().unwrap();
        let text = on.server.kubectl(&["kustomize", folder]);
        // The oldest servers know the disruption budget by its older version only, with fewer fields.
        let text = text.replace("apiVersion: policy/v1\n", "apiVersion: policy/v1beta1\n");
        let text = text.replace("  unhealthyPodEvictionPolicy: AlwaysAllow\n", "");
        let objects: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
        let wanted: BTreeSet<Reference> = objects.iter().map(reference).collect();
        let server = on.objects();
        for object in &objects {
            server.apply(object, "kustomize-controller");
        }
        let before = self.inventory.borrow_mut().insert(by.to_owned(), wanted.clone());
        self.prune(on, before.unwrap_or_default().difference(&wanted));
    }

    fn prune<'a>(&self, on: &Worker, gone: impl Iterator<Item = &'a Reference>) {
        let server = on.objects();
        for ([version, kind], namespace, name) in gone {
            let metadata = json!({"name": name, "namespace": namespace});
            let gone = json!({"apiVersion": version, "kind": kind, "metadata": metadata});
            let keeps = "/metadata/annotations/kustomize.toolkit.fluxcd.io~1prune";
            let is_kept = |there: Value| there.pointer(keeps) == Some(&json!("disabled"));
            if server.find(&gone).is_none_or(is_kept) {
                continue;
            }
            server.begin_deletion(&gone);
            if kind == "Kustomization" {
                // Its finalizer prunes what it applied.
                let own = self.inventory.borrow_mut().remove(name).unwrap_or_default();
                self.prune(on, own.iter());
            }
        }
    }
}

/// The tip of the output branch, as files in the folder `output`.
fn output(on: &Worker) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let clone = ["clone", "--quiet", "--depth=1", "--branch=carp/rendered"];
    let url = format!("file://{}", on.remote.url());
    git(dir.path(), &[&clone[..], &[&url, "output"]].concat());
    dir
}

/// The Kustomizations of Flux's own namespace that act on this cluster.
fn kustomizations(on: &Worker) -> Vec<Value> {
    let all = on.objects().list("Kustomization.kustomize.toolkit.fluxcd.io", "flux-system");
    all.into_iter().filter(|k| k["spec"].get("kubeConfig").is_none()).collect()
}

fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap().to_owned()
}

fn reference(object: &Value) -> Reference {
    let kind = ["apiVersion", "kind"].map(|field| object[field].as_str().unwrap().to_owned());
    let namespace = object["metadata"]["namespace"].as_str().map(str::to_owned);
    (kind, namespace, name(object))
}

/// Pushes a report as an agent does, one commit without a parent, in whatever words.
pub(crate) fn push_report(url: &str, worker: &str, text: &str, key: Option<&Path>) {
    let folder = tempfile::tempdir().unwrap();
    let at = |args: &[&str]| git(folder.path(), args);
    at(&["init", "--quiet", "-b", "report"]);
    std::fs::write(folder.path().join("report.yaml"), text).unwrap();
    at(&["add", "report.yaml"]);
    let key = key.map(|key| format!("user.signingKey={}", key.display()));
    let sign = if key.is_some() { "--gpg-sign" } else { "--no-gpg-sign" };
    let key = key.unwrap_or_else(|| "user.signingKey=".to_owned());
    at(&["-c", "gpg.format=ssh", "-c", &key, "commit", "--quiet", sign, "-m", "report"]);
    at(&["push", "--quiet", "--force", url, &format!("HEAD:refs/heads/carp/observed/{worker}")]);
}
