//! Rendered variations on a real API server: every object is accepted, and what is applied once more changes nothing. An
//! object that the server fills in where carp says nothing, and that carp says anew, would be another at every turn of
//! Flux, and its controllers would not come to rest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use carp::render::Files;
use serde_json::Value;

use crate::support::crd::OWN;
use crate::support::objects::Objects;
use crate::support::{breadth, definitions, documents, skip};
use crate::variations;

/// Kinds of Kubernetes that the server of the tests, of 1.20, does not serve.
const NEWER: &[(&str, &str)] = &[("policy/v1", "PodDisruptionBudget")];

/// An object's kind, namespace and name.
type Identity = (String, String, String);

fn text(object: &Value, pointer: &str) -> String {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn identity(object: &Value) -> Identity {
    let name = |field| text(object, &format!("/metadata/{field}"));
    (text(object, "/kind"), name("namespace"), name("name"))
}

/// What Flux applies of clusters and of the clusters that workers are, namespaces first.
pub(crate) fn objects(tree: &Files) -> Vec<Value> {
    let of_clusters =
        |path: &str| path.contains("/clusters/") || path.starts_with("control-plane/wk-");
    let files = documents(tree).into_iter();
    // What clusters name of their worker.
    let named = |object: &Value| object["kind"] == "DataStore";
    let files = files.filter(|(path, object)| {
        (of_clusters(path) || named(object))
            && !text(object, "/apiVersion").starts_with("kustomize.config.k8s.io/")
    });
    let mut all: Vec<_> = files.map(|(_, object)| object).collect();
    all.sort_by_key(|object| object["kind"] != "Namespace");
    all
}

/// The files with the definitions of these objects; those of carp's own kinds are made.
fn files_of(objects: &[Value], crds: &Path, own: &Path) -> Vec<PathBuf> {
    let mut names = BTreeSet::new();
    for object in objects {
        let api_version = text(object, "/apiVersion");
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        names.insert(format!("{}.{group}.yaml", carp::model::plural(&text(object, "/kind"))));
    }
    for (file, crd) in carp::model::api::all_crds() {
        std::fs::write(own.join(&file), serde_json::to_string(&crd).unwrap()).unwrap();
    }
    let there = |name: &String| {
        let folders = [own, crds, Path::new(OWN)];
        folders.into_iter().map(|folder| folder.join(name)).find(|file| file.is_file())
    };
    names.iter().filter_map(there).collect()
}

/// Applies objects as Flux does, and returns the generation of each.
fn apply(server: &Objects, objects: &[Value]) -> BTreeMap<Identity, u64> {
    let applied = objects.iter().map(|object| server.apply(object, "kustomize-controller"));
    let generation = |object: &Value| object["metadata"]["generation"].as_u64().unwrap_or_default();
    applied.map(|object| (identity(&object), generation(&object))).collect()
}

/// Applies trees one after the other, each twice, and says of how many objects. `None`: it is skipped.
/// The server is one that has learned the definitions of `kept`, which are the same whenever it is asked for.
#[expect(clippy::disallowed_methods, reason = "tests read their environment")]
pub(crate) fn applied(test: &str, kept: &str, trees: &[Vec<Value>]) -> Option<usize> {
    let Some(crds) = std::env::var_os("CARP_CRDS").map(PathBuf::from) else {
        skip(test, "CARP_CRDS is unset");
        return None;
    };
    let own = tempfile::tempdir().unwrap();
    let files = files_of(&trees.concat(), &crds, own.path());
    let Some(server) = definitions::serving(kept, &files) else {
        skip(test, "KUBEBUILDER_ASSETS is unset");
        return None;
    };
    // Of what a worker applies itself, its source and root are there.
    server.kubectl(&["create", "namespace", "flux-system"]);
    let connection = Objects::by(&server.kubeconfig());
    let mut newer = BTreeSet::new();
    // What two variations have in common was applied with the first.
    let mut last = BTreeMap::<Identity, Value>::new();
    let mut applied = 0;
    for objects in trees {
        let is_newer = |object: &Value| {
            NEWER.iter().find(|(v, k)| object["apiVersion"] == **v && object["kind"] == **k)
        };
        let (mut fresh, mut before) = (Vec::new(), Vec::new());
        for object in objects {
            if let Some(kind) = is_newer(object) {
                newer.insert(*kind);
            } else if last.get(&identity(object)) != Some(object) {
                let other = last.insert(identity(object), object.clone());
                before.extend(other.filter(|_| object["kind"] != "Namespace"));
                fresh.push(object.clone());
            }
        }
        if fresh.is_empty() {
            continue;
        }
        // Another variation is another cluster and no change of the one before.
        for object in &before {
            connection.delete(object);
        }
        let first = apply(&connection, &fresh);
        assert_eq!(first.len(), fresh.len());
        assert_eq!(apply(&connection, &fresh), first, "another generation");
        applied += fresh.len();
    }
    assert_eq!(
        newer,
        NEWER.iter().copied().collect(),
        "the kinds that nobody asked the server about"
    );
    Some(applied)
}

#[test]
fn what_is_applied_once_more_changes_nothing() {
    let test = "what_is_applied_once_more_changes_nothing";
    let flavors = variations::flavors();
    let most = breadth(0, 70);
    let trees: Vec<Vec<Value>> =
        flavors.iter().flat_map(|flavor| flavor.trees(most)).map(|tree| objects(&tree)).collect();
    assert!(trees.len() >= breadth(35, 250), "{} variations", trees.len());
    let Some(applied) = applied(test, "rendered", &trees) else { return };
    assert!(applied > 300, "only {applied} objects");
}
