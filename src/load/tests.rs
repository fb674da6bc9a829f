//! What the room's tests share, and the tests of the room as a whole.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::json;

use super::{Loaded, load, load_beside, locate};
use crate::diag::{Code, Diagnostic};
use crate::model::{
    Digest, Dir, Entry, EntryKind, FLEET_LOCK_SCHEMA, Fleet, Id, Input, LongWork, Memo, Previous,
    Store, StoreError, Vouching, blob_id,
};

pub(super) const CARP: &str = "\
apiVersion: carp.dev/v1alpha1
kind: Fleet
metadata:
  name: test
spec:
  credentials:
  - name: main
    azure:
      tenantID: 11111111-1111-1111-1111-111111111111
      subscriptionID: 11111111-1111-1111-1111-111111111111
      clientID: 11111111-1111-1111-1111-111111111111
      nodeIdentity: /subscriptions/6a4e8c1d-3b7f-4c2a-9e1d-1f5b7d3c9a8e/resourceGroups/fleet/providers/Microsoft.ManagedIdentity/userAssignedIdentities/nodes
";

pub(super) const TWO_CREDENTIALS: &str = "\
apiVersion: carp.dev/v1alpha1
kind: Fleet
metadata:
  name: test
spec:
  credentials:
  - name: main
    azure: &azure
      tenantID: 11111111-1111-1111-1111-111111111111
      subscriptionID: 11111111-1111-1111-1111-111111111111
      clientID: 11111111-1111-1111-1111-111111111111
      nodeIdentity: /subscriptions/6a4e8c1d-3b7f-4c2a-9e1d-1f5b7d3c9a8e/resourceGroups/fleet/providers/Microsoft.ManagedIdentity/userAssignedIdentities/nodes
  - name: other
    azure: *azure
";

pub(super) const POLICY: &str = "\
apiVersion: carp.dev/v1alpha1
kind: PlacementPolicy
metadata:
  name: all
spec:
  affinity:
    required:
    - locations: [westeurope]
";

/// An override policy `o` of one change of every Deployment.
pub(super) fn override_policy(change: &str) -> String {
    format!(
        "apiVersion: carp.dev/v1alpha1\nkind: OverridePolicy\nmetadata:\n  name: o\nspec:\n  objects:\n  - apiVersion: \
         apps/v1\n    kind: Deployment\n  changes:\n  - {change}\n"
    )
}

/// A `ManagedCluster` `pay-eu` of the tenant `shop`; `extra` stands in its spec and ends with a newline
/// and two spaces.
pub(super) fn cluster(extra: &str) -> String {
    format!(
        "apiVersion: carp.dev/v1alpha1\nkind: ManagedCluster\nmetadata:\n  name: pay-eu\n  \
         namespace: shop\n  labels:\n    tier: gold\nspec:\n  {extra}version: v1.34.2\n  location: \
         westeurope\n"
    )
}

/// A Worker `w1`.
pub(super) fn worker(extra: &str) -> String {
    format!(
        "apiVersion: carp.dev/v1alpha1\nkind: Worker\nmetadata:\n  name: w1\nspec:\n  \
         {extra}version: v1.34.2\n  location: westeurope\n"
    )
}

/// A `ManagedClusterClass`.
pub(super) fn class(name: &str, extra: &str) -> String {
    let spec =
        if extra.is_empty() { " {}".to_owned() } else { format!("\n  {}", extra.trim_end()) };
    format!(
        "apiVersion: carp.dev/v1alpha1\nkind: ManagedClusterClass\nmetadata:\n  name: {name}\n\
         spec:{spec}\n"
    )
}

/// A `WorkerOverlay`; `spec` is one line that ends with a newline.
pub(super) fn overlay(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: carp.dev/v1alpha1\nkind: WorkerOverlay\nmetadata:\n  name: {name}\nspec:\n  {spec}"
    )
}

/// A store in memory.
#[derive(Default)]
pub(super) struct Memory {
    blobs: Mutex<BTreeMap<Id, Arc<[u8]>>>,
    dirs: Mutex<BTreeMap<Id, Arc<Dir>>>,
}

impl Memory {
    /// The tree with these files.
    pub(super) fn tree(&self, files: &[(&str, Entry)]) -> Id {
        let mut dir = Dir::default();
        let mut below: BTreeMap<&str, Vec<(&str, Entry)>> = BTreeMap::new();
        for (path, entry) in files {
            match path.split_once('/') {
                None => dir.insert(path, *entry),
                Some((folder, rest)) => below.entry(folder).or_default().push((rest, *entry)),
            }
        }
        for (folder, files) in below {
            dir.insert(folder, Entry { kind: EntryKind::Dir, id: self.tree(&files) });
        }
        self.put_dir(&dir).unwrap()
    }

    fn text(&self, text: &[u8]) -> Entry {
        Entry { kind: EntryKind::File, id: self.put_blob(text).unwrap() }
    }
}

impl Store for Memory {
    fn dir(&self, id: Id) -> Result<Arc<Dir>, StoreError> {
        let absent = || StoreError::Absent { id, store: "memory".to_owned() };
        self.dirs.lock().unwrap().get(&id).cloned().ok_or_else(absent)
    }

    fn blob(&self, id: Id) -> Result<Arc<[u8]>, StoreError> {
        let absent = || StoreError::Absent { id, store: "memory".to_owned() };
        self.blobs.lock().unwrap().get(&id).cloned().ok_or_else(absent)
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Id, StoreError> {
        let id = blob_id(bytes);
        self.blobs.lock().unwrap().insert(id, Arc::from(bytes));
        Ok(id)
    }

    fn put_dir(&self, dir: &Dir) -> Result<Id, StoreError> {
        let id = dir.id();
        self.dirs.lock().unwrap().insert(id, Arc::new(dir.clone()));
        Ok(id)
    }
}

fn input(tree: Id) -> Input {
    Input {
        tree,
        prefix: String::new(),
        commit: None,
        rewound_from: None,
        vouching: Vouching::default(),
    }
}

/// Loads exactly these files.
pub(super) fn load_files(files: &[(&str, &str)]) -> Loaded {
    let store = Memory::default();
    let files: Vec<_> = files.iter().map(|(p, t)| (*p, store.text(t.as_bytes()))).collect();
    load(&input(store.tree(&files)), &store, &mut Memo::default()).unwrap()
}

/// Loads these files beside a lock that knows `eu-1`, which the pool `eu` made.
pub(super) fn load_with_eu_1(files: &[(&str, &str)]) -> Loaded {
    let store = Memory::default();
    let files: Vec<_> = files.iter().map(|(p, t)| (*p, store.text(t.as_bytes()))).collect();
    let eu_1 = json!({"ordinal": 1, "location": "northeurope"});
    let lock = json!({
        "schemaVersion": FLEET_LOCK_SCHEMA,
        "renderKey": Digest::of(b"r"),
        "pools": {"eu": {"last": 1, "workers": {"eu-1": eu_1}}},
    });
    let fleet = Some(serde_json::from_value(lock).unwrap());
    let previous = Previous { fleet, ..Previous::default() };
    let (input, work) = (input(store.tree(&files)), LongWork::default());
    load_beside(&input, &store, &mut Memo::default(), &previous, &work).unwrap()
}

/// Loads these files, with a `carp.yaml` where there is none.
pub(super) fn load_fleet(files: &[(&str, &str)]) -> Loaded {
    let mut all = vec![("carp.yaml", CARP)];
    all.retain(|_| files.iter().all(|(path, _)| *path != "carp.yaml"));
    all.extend(files);
    load_files(&all)
}

/// Loads these entries, with a `carp.yaml` where there is none.
pub(super) fn load_tree(store: &Memory, entries: &[(&str, Entry)]) -> Loaded {
    let mut all = entries.to_vec();
    if entries.iter().all(|(path, _)| *path != "carp.yaml") {
        all.push(("carp.yaml", store.text(CARP.as_bytes())));
    }
    load(&input(store.tree(&all)), store, &mut Memo::default()).unwrap()
}

/// The fleet of one file below `fleet/`, which must load without an error.
pub(super) fn loads(text: impl AsRef<str>) -> Fleet {
    let loaded = load_fleet(&[("fleet/x.yaml", text.as_ref())]);
    assert!(!loaded.diagnostics.has_errors(), "{:?}", loaded.diagnostics);
    loaded.fleet
}

/// The finding of that code and field path in one file below `fleet/`.
pub(super) fn finds(text: impl AsRef<str>, code: Code, path: &str) -> Diagnostic {
    files_find(&[("fleet/x.yaml", text.as_ref())], code, path)
}

/// The finding of that code and field path in these files. Every finding is well put and can be located.
pub(super) fn files_find(files: &[(&str, &str)], code: Code, path: &str) -> Diagnostic {
    let loaded = load_fleet(files);
    for found in &loaded.diagnostics {
        assert!(!found.message.ends_with('.') && !found.message.contains('\n'), "{found:?}");
        assert!(found.help.as_deref().is_some_and(|h| !h.is_empty()), "{found:?}");
        let Some(place) = &found.place else { continue };
        let text = files.iter().find(|(file, _)| *file == place.file).map_or(CARP, |(_, t)| *t);
        assert!(locate(text, place).is_some(), "{found:?}");
    }
    let at = |d: &&Diagnostic| {
        let field = d.place.as_ref().and_then(|p| p.field.as_ref());
        d.code == code && field.map(ToString::to_string).unwrap_or_default() == path
    };
    let found = loaded.diagnostics.iter().find(at).cloned();
    found.unwrap_or_else(|| panic!("no {code} at {path:?}; found {:#?}", loaded.diagnostics))
}

/// Asserts that one file below `fleet/` loads without any finding.
pub(super) fn finds_nothing(text: impl AsRef<str>) {
    let loaded = load_fleet(&[("fleet/x.yaml", text.as_ref())]);
    assert!(loaded.diagnostics.is_empty(), "{:#?}", loaded.diagnostics);
    assert!(loaded.fleet.unloaded.is_empty());
}

#[test]
fn a_fleet_below_a_folder_is_loaded_with_paths_from_its_root() {
    let store = Memory::default();
    let tree = store.tree(&[
        ("teams/a/carp.yaml", store.text(CARP.as_bytes())),
        ("teams/a/fleet/x.yaml", store.text(cluster("").as_bytes())),
    ]);
    let input = Input { prefix: "teams/a".to_owned(), ..input(tree) };
    let loaded = load(&input, &store, &mut Memo::default()).unwrap();
    assert_eq!(loaded.fleet.clusters["pay-eu"].file, "fleet/x.yaml");
    let nowhere = Input { prefix: "teams/b".to_owned(), ..input };
    assert!(load(&nowhere, &store, &mut Memo::default()).unwrap().fleet_broken);
}

#[test]
fn a_read_that_fails_is_no_absent_file() {
    let store = Memory::default();
    let lost = Entry { kind: EntryKind::File, id: blob_id(b"lost") };
    let tree = store.tree(&[("carp.yaml", store.text(CARP.as_bytes())), ("fleet/x.yaml", lost)]);
    assert!(load(&input(tree), &store, &mut Memo::default()).is_err());
}

#[test]
fn what_the_memo_has_is_not_read() {
    let store = Memory::default();
    let good = store.text(cluster("").as_bytes());
    let odd = store.text(cluster("nope: 1\n  ").replace("pay-eu", "odd").as_bytes());
    let carp = store.text(CARP.as_bytes());
    let tree = store.tree(&[("carp.yaml", carp), ("fleet/a.yaml", good), ("fleet/b.yaml", odd)]);
    let mut memo = Memo::default();
    let first = load(&input(tree), &store, &mut memo).unwrap();
    assert_eq!(first.parsed, 2);
    assert_eq!(
        memo.files.keys().collect::<Vec<_>>(),
        [&good.id],
        "a file with findings is not kept"
    );
    store.blobs.lock().unwrap().remove(&good.id);
    let second = load(&input(tree), &store, &mut memo).unwrap();
    assert_eq!(second.parsed, 1);
    assert_eq!(seen(&second), seen(&first));
    let without = store.tree(&[("carp.yaml", carp)]);
    load(&input(without), &store, &mut memo).unwrap();
    assert!(memo.files.is_empty(), "what is not used is dropped");
}

#[test]
fn a_memo_does_not_let_a_document_into_the_wrong_root() {
    let store = Memory::default();
    let (carp, text) = (store.text(CARP.as_bytes()), store.text(cluster("").as_bytes()));
    let mut memo = Memo::default();
    let right = store.tree(&[("carp.yaml", carp), ("fleet/a.yaml", text)]);
    load(&input(right), &store, &mut memo).unwrap();
    let wrong = store.tree(&[("carp.yaml", carp), ("policies/a.yaml", text)]);
    let loaded = load(&input(wrong), &store, &mut memo).unwrap();
    assert_eq!(loaded.diagnostics.iter().next().unwrap().code, Code::UnknownKind);
}

/// Everything that a load gives, as text; how much it parsed apart.
fn seen(loaded: &Loaded) -> String {
    format!("{:#?}", Loaded { parsed: 0, ..loaded.clone() })
}

/// Files as people might have them, good and bad.
fn contents() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec!["a", "b", "w1", "w2", "Bad"]);
    let documents = (0..12_usize, names).prop_map(|(which, name)| {
        let called = |text: String| {
            text.replace("pay-eu", name).replace("name: w1", &format!("name: {name}"))
        };
        called(match which {
            0 => cluster(""),
            1 => cluster("replicas: 3\n  "),
            2 => cluster("class: small\n  "),
            3 => cluster("class: small\n  controlPlane: {}\n  "),
            4 => cluster("placement: {affinity: {preferred: [{weight: 1, term: {}}]}}\n  "),
            5 => cluster("nope: 1\n  "),
            6 => cluster("").replace("spec:", "spec: ["),
            7 => worker("capacity: 50\n  "),
            8 => overlay("w1", "unschedulable: true\n"),
            9 => class("small", "demand: {memory: 1.5Gi}\n  "),
            10 => cluster("").replace("carp.dev/v1alpha1", crate::model::api::OLD_API_VERSION),
            _ => "# nothing\n".to_owned(),
        })
    });
    prop::collection::vec(documents, 0..4).prop_map(|all| all.join("---\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_memo_makes_no_difference(
        history in prop::collection::vec(
            prop::collection::btree_map(
                prop::sample::select(vec!["fleet/a.yaml", "fleet/b.yaml", "fleet/c/d.yml", "policies/a.yaml"]),
                contents(),
                0..4,
            ),
            1..5,
        )
    ) {
        let store = Memory::default();
        let mut memo = Memo::default();
        for files in history {
            let mut entries = vec![("carp.yaml", store.text(CARP.as_bytes()))];
            entries.extend(files.iter().map(|(p, t)| (*p, store.text(t.as_bytes()))));
            let input = input(store.tree(&entries));
            let with = load(&input, &store, &mut memo).unwrap();
            let mut empty = Memo::default();
            let without = load(&input, &store, &mut empty).unwrap();
            prop_assert_eq!(seen(&with), seen(&without));
            prop_assert_eq!(&memo.files, &empty.files);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let store = Memory::default();
        load_tree(&store, &[("fleet/x.yaml", store.text(&bytes)), ("carp.yaml", store.text(&bytes))]);
    }

    #[test]
    fn no_edit_makes_it_panic(
        at in 0..400_usize,
        with in prop::sample::select(vec!["[", "{", "\t", "\n", "- ", ": ", "&a ", "*a", "\"", "'", "|", "---\n", "\u{feff}", "é", ".*"]),
        cut in 0..20_usize,
    ) {
        let text = format!("{}---\n{}", cluster("replicas: 3\n  "), worker("capacity: 5\n  "));
        let at = at.min(text.len());
        let end = (at + cut).min(text.len());
        let edited = format!("{}{with}{}", &text[..at], &text[end..]);
        let loaded = load_fleet(&[("fleet/x.yaml", &edited)]);
        for found in &loaded.diagnostics {
            if let Some(place) = found.place.as_ref().filter(|p| p.file == "fleet/x.yaml") {
                let located = locate(&edited, place);
                prop_assert!(located.is_some_and(|l| l.length > 0), "{:?}", found);
            }
        }
    }
}
