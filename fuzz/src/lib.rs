//! What the fuzz targets share: a small fleet in memory, and what must hold of whatever came out of it.

use std::collections::BTreeMap;

use carp::change::TreeEdit;
use carp::load::{self, Loaded};
use carp::model::{Build, EntryKind, Id, Input, Memo, Name, Snapshot, Store, Vouching};
use carp::store::MemoryStore;
use serde_json::Value;

/// A `carp.yaml` that loads.
pub const FLEET: &str = "\
apiVersion: carp.dev/v1alpha1
kind: Fleet
metadata:
  name: fuzzed
spec:
  delivery:
    url: https://git.example.com/fleet.git
  controlPlane:
    name: hub
  credentials:
    - name: azure
      azure:
        tenantID: 5f3f9d0e-2f5e-4a8e-8f5c-0d6a3c1b2e4f
        subscriptionID: 6a4e8c1d-3b7f-4c2a-9e1d-1f5b7d3c9a8e
        clientID: 7b5d9e2c-4c8a-4d3b-8f2e-2a6c8e4d0b9f
        nodeIdentity: /subscriptions/6a4e8c1d-3b7f-4c2a-9e1d-1f5b7d3c9a8e/resourceGroups/fleet/providers/Microsoft.ManagedIdentity/userAssignedIdentities/nodes
";

/// A worker that loads.
pub const WORKER: &str = "\
apiVersion: carp.dev/v1alpha1
kind: Worker
metadata:
  name: w-weu
spec:
  version: v1.34.2
  location: westeurope
  replicas: 3
  capacity: 20
  observation: Agent
";

/// Files in memory, as one tree.
pub fn tree(store: &MemoryStore, files: &[(&str, &[u8])]) -> Id {
    let mut edit = TreeEdit::default();
    for (path, bytes) in files {
        edit.file(path, store.put_blob(bytes).expect("memory takes every file"));
    }
    edit.apply(store, None).expect("memory takes every tree")
}

/// The fleet of a tree, as people's input.
pub fn input(tree: Id) -> Input {
    Input {
        tree,
        prefix: String::new(),
        commit: None,
        rewound_from: None,
        vouching: Vouching::default(),
    }
}

/// One run's view of it.
pub fn snapshot(tree: Id, previous: Option<Id>, status: Option<Id>) -> Snapshot {
    Snapshot {
        input: input(tree),
        previous,
        status,
        reports: None,
        now: "2026-11-01T09:00:00Z".parse().expect("a time"),
        build: Build::of_version("fuzz"),
    }
}

/// Loads a fleet twice, the second time with what the first one remembered: both say the same. Every
/// finding has a place that can be looked up, and words.
pub fn load_checked(store: &MemoryStore, tree: Id, texts: &[(&str, &[u8])]) -> Loaded {
    let mut memo = Memo::default();
    let first = load::load(&input(tree), store, &mut memo).expect("memory can be read");
    let again = load::load(&input(tree), store, &mut memo).expect("memory can be read");
    assert_eq!(
        format!("{:?}{:?}", first.fleet, first.diagnostics),
        format!("{:?}{:?}", again.fleet, again.diagnostics),
        "the memo changes what is loaded"
    );
    for finding in first.diagnostics.iter() {
        assert!(!finding.message.is_empty());
        let Some(place) = &finding.place else { continue };
        let text = texts.iter().find(|(path, _)| *path == place.file);
        if let Some(text) = text.and_then(|(_, bytes)| std::str::from_utf8(bytes).ok()) {
            let _ = load::locate(text, place);
        }
    }
    first
}

/// What carp writes as YAML: text with LF and one final newline, and two independent readers agree
/// what it says.
pub fn is_good_yaml(path: &str, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap_or_else(|e| panic!("{path}: {e}"));
    assert!(!text.contains('\r'), "{path}: CR\n{text}");
    assert!(text.is_empty() || text.ends_with('\n'), "{path}: no final newline\n{text}");
    let ours: Vec<Value> =
        serde_saphyr::from_multiple(text).unwrap_or_else(|e| panic!("{path}: {e}\n{text}"));
    let theirs: Vec<Value> = serde_yaml::Deserializer::from_str(text)
        .map(<Value as serde::Deserialize>::deserialize)
        .collect::<Result<_, _>>()
        .unwrap_or_else(|e| panic!("{path}: {e}\n{text}"));
    let some = |all: Vec<Value>| all.into_iter().filter(|v| !v.is_null()).collect::<Vec<_>>();
    assert_eq!(some(ours), some(theirs), "{path}: two readers differ\n{text}");
}

/// Every file below a tree.
pub fn files(store: &dyn Store, root: Id) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    below(store, root, "", &mut found);
    found
}

fn below(store: &dyn Store, root: Id, path: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for (name, entry) in store.dir(root).expect("a folder that was put").iter() {
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        match entry.kind {
            EntryKind::Dir => below(store, entry.id, &path, found),
            _ => {
                let bytes = store.blob(entry.id).expect("a file that was put").to_vec();
                found.insert(path, bytes);
            }
        }
    }
}

/// A name.
pub fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}
