//! What people write in a story: documents of the fleet, as `worker w-weu westeurope capacity=2`.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::support::small;

/// The word for a kind, the kind, and where its documents lie.
const KINDS: [(&str, &str, &str); 8] = [
    ("fleet", "Fleet", ""),
    ("worker", "Worker", "fleet/workers"),
    ("cluster", "ManagedCluster", "fleet/clusters"),
    ("policy", "PlacementPolicy", "policies"),
    ("override", "OverridePolicy", "policies/overrides"),
    ("pool", "WorkerPool", "fleet/pools"),
    ("overlay", "WorkerOverlay", "fleet/overlays"),
    ("class", "ManagedClusterClass", "fleet/classes"),
];

/// Whether a story has that word for a kind.
pub(super) fn is_kind(word: &str) -> bool {
    KINDS.iter().any(|(known, ..)| *known == word)
}

/// The file of a document.
pub(super) fn path(word: &str, name: &str) -> String {
    let found = KINDS.iter().find(|(known, ..)| *known == word);
    let (_, _, folder) = found.unwrap_or_else(|| panic!("no such kind: {word}"));
    if folder.is_empty() { "carp.yaml".to_owned() } else { format!("{folder}/{name}.yaml") }
}

/// Makes a document below `root`, or changes the one that is there: `words` are its location and fields of its
/// `spec` as `field=value`; `body` is more of them as YAML. A field that is `null` goes.
pub(super) fn write(root: &Path, (word, name): (&str, &str), words: &[&str], body: &str) {
    let path = root.join(path(word, name));
    let mut document = match fs::read_to_string(&path) {
        Ok(text) => yaml(&text),
        Err(_) => new(word, name),
    };
    for given in words {
        let (field, value) = given.split_once('=').unwrap_or(("location", given));
        set(&mut document, field, yaml(value));
    }
    if let Value::Object(fields) = yaml(body) {
        fields.into_iter().for_each(|(field, value)| set(&mut document, &field, value));
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, serde_saphyr::to_string(&document).unwrap()).unwrap();
}

/// What a document says of itself before anybody does.
fn new(word: &str, name: &str) -> Value {
    match word {
        "fleet" => yaml(small::FLEET),
        "worker" => yaml(&small::worker(name, "westeurope", 4)),
        "cluster" => yaml(&small::cluster(name, "westeurope")),
        _ => {
            let (_, kind, _) = KINDS.iter().find(|(known, ..)| *known == word).unwrap();
            json!({
                "apiVersion": "carp.dev/v1alpha1",
                "kind": kind,
                "metadata": {"name": name},
                "spec": {},
            })
        }
    }
}

fn set(document: &mut Value, field: &str, value: Value) {
    match field {
        "tenant" => document["metadata"]["namespace"] = value,
        "labels" => document["metadata"]["labels"] = value,
        _ if value.is_null() => drop(spec(document).remove(field)),
        _ => drop(spec(document).insert(field.to_owned(), value)),
    }
}

fn spec(document: &mut Value) -> &mut Map<String, Value> {
    document["spec"].as_object_mut().expect("every kind has a spec")
}

/// One value of YAML; nothing is `null`.
#[track_caller]
pub(super) fn yaml(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Null;
    }
    serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
