//! The `KINDCluster` objects below a folder of the output branch.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::api::{KIND_CLUSTER_API_VERSION, KINDClusterSpec};
use crate::model::{EntryKind, Id, Store, StoreError};

/// The largest file that is read, in bytes: rendered files are a few pages.
const MOST_BYTES: u64 = 4 << 20;
/// How many folders may be nested.
const MOST_DEPTH: usize = 16;

/// Namespace and name.
pub(super) type ObjectKey = (String, String);

/// One object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DesiredObject {
    pub(super) spec: KINDClusterSpec,
    /// Whether a cluster that is there may be taken over.
    pub(super) adopt: bool,
    /// Whether it is to be let alone.
    pub(super) paused: bool,
}

/// What is wanted, and what could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DesiredObjects {
    pub(super) wanted: BTreeMap<ObjectKey, DesiredObject>,
    pub(super) broken: Vec<String>,
}

/// Reads every object below a folder.
///
/// # Errors
/// An object of the repository cannot be read: that is no "nothing is wanted".
pub(super) fn read(store: &dyn Store, folder: Id) -> Result<DesiredObjects, StoreError> {
    let mut desired = DesiredObjects::default();
    walk(store, folder, "", 0, &mut desired)?;
    desired.broken.sort();
    Ok(desired)
}

fn walk(
    store: &dyn Store,
    folder: Id,
    path: &str,
    depth: usize,
    into: &mut DesiredObjects,
) -> Result<(), StoreError> {
    for (name, entry) in store.dir(folder)?.iter_bytes() {
        let name = String::from_utf8_lossy(name);
        let path = if path.is_empty() { name.into_owned() } else { format!("{path}/{name}") };
        match entry.kind {
            EntryKind::Dir if depth < MOST_DEPTH => walk(store, entry.id, &path, depth + 1, into)?,
            EntryKind::Dir => into.broken.push(format!("{path}: too many folders in folders")),
            EntryKind::File if is_yaml(&path) => file(store, entry.id, &path, into)?,
            _ => {}
        }
    }
    Ok(())
}

fn is_yaml(path: &str) -> bool {
    let extension = std::path::Path::new(path).extension();
    extension.is_some_and(|e| e == "yaml" || e == "yml")
}

fn file(
    store: &dyn Store,
    id: Id,
    path: &str,
    into: &mut DesiredObjects,
) -> Result<(), StoreError> {
    if store.blob_size(id)? > MOST_BYTES {
        into.broken.push(format!("{path}: the file is too large"));
        return Ok(());
    }
    let bytes = store.blob(id)?;
    let text = String::from_utf8_lossy(&bytes);
    // Most files are of other kinds, and their text need not be parsed to know that.
    if !text.contains("KINDCluster") {
        return Ok(());
    }
    match serde_saphyr::from_multiple::<Value>(&text) {
        Ok(documents) => {
            for document in documents {
                if let Err(why) = object(&document, into) {
                    into.broken.push(format!("{path}: {why}"));
                }
            }
        }
        Err(error) => {
            let why = error.to_string();
            into.broken.push(format!("{path}: {}", why.lines().next().unwrap_or_default()));
        }
    }
    Ok(())
}

fn object(document: &Value, into: &mut DesiredObjects) -> Result<(), String> {
    if document["apiVersion"] != KIND_CLUSTER_API_VERSION || document["kind"] != "KINDCluster" {
        return Ok(());
    }
    let meta = &document["metadata"];
    let name = meta["name"].as_str().ok_or("a KINDCluster without a name")?;
    let namespace = meta["namespace"].as_str().unwrap_or("default");
    for part in [namespace, name] {
        // Both become names of files.
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
        if !part.starts_with(|c: char| c.is_ascii_alphanumeric()) || !part.chars().all(plain) {
            return Err(format!("`{part}` is not a name"));
        }
    }
    let spec = serde_json::from_value(document["spec"].clone())
        .map_err(|e| format!("KINDCluster {namespace}/{name}: {e}"))?;
    let has = |annotation: &str| !meta["annotations"][annotation].is_null();
    let wanted = DesiredObject {
        spec,
        adopt: meta["annotations"]["carp.dev/adopt"] == "true",
        paused: has("cluster.x-k8s.io/paused") || has("cluster.x-k8s.io/managed-by"),
    };
    let key = (namespace.to_owned(), name.to_owned());
    if into.wanted.insert(key, wanted).is_some() {
        return Err(format!("KINDCluster {namespace}/{name} stands twice"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Dir, Entry};
    use crate::store::MemoryStore;

    fn folder(files: &[(&str, &str)]) -> (MemoryStore, Id) {
        let store = MemoryStore::new();
        let mut dir = Dir::default();
        for (name, text) in files {
            let id = store.put_blob(text.as_bytes()).unwrap();
            dir.insert(*name, Entry { kind: EntryKind::File, id });
        }
        let inner = store.put_dir(&dir).unwrap();
        let mut outer = Dir::default();
        outer.insert("a", Entry { kind: EntryKind::Dir, id: inner });
        let root = store.put_dir(&outer).unwrap();
        (store, root)
    }

    const GOOD: &str = "apiVersion: v1\nkind: ConfigMap\n---\napiVersion: \
        infrastructure.cluster-k8s.io/v1alpha1\nkind: KINDCluster\nmetadata: {name: a}\nspec: \
        {clusterName: seed}\n";

    #[test]
    fn objects_are_found_among_others_in_any_folder() {
        let (store, root) =
            folder(&[("x.yaml", GOOD), ("y.txt", "KINDCluster: ["), ("z.yaml", "a: [")]);
        let desired = read(&store, root).unwrap();
        assert_eq!(desired.broken, Vec::<String>::new(), "other kinds are others' matter");
        let key = ("default".to_owned(), "a".to_owned());
        assert_eq!(desired.wanted[&key].spec.cluster_name, "seed");
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let of = |rest: &str| {
            format!("apiVersion: {KIND_CLUSTER_API_VERSION}\nkind: KINDCluster\n{rest}")
        };
        let (nameless, twice) =
            (of("metadata: {}\n"), of("metadata: {name: a}\nspec: {clusterName: b}\n"));
        let (sly, no_name) =
            (of("metadata: {name: ../a}\n"), of("metadata: {name: b}\nspec: {}\n"));
        let files = [
            ("1", GOOD),
            ("2", "KINDCluster: ["),
            ("3", &nameless),
            ("4", &twice),
            ("5", &sly),
            ("6", &no_name),
        ];
        let named: Vec<(String, &str)> =
            files.iter().map(|(n, t)| (format!("{n}.yaml"), *t)).collect();
        let named: Vec<(&str, &str)> = named.iter().map(|(n, t)| (n.as_str(), *t)).collect();
        let (store, root) = folder(&named);
        let broken = read(&store, root).unwrap().broken;
        let told = |at: usize, said: &str| assert!(broken[at].contains(said), "{broken:#?}");
        told(0, "a/2.yaml: ");
        told(1, "without a name");
        told(2, "stands twice");
        told(3, "is not a name");
        told(4, "clusterName");
        assert_eq!(broken.len(), 5);
    }
}
