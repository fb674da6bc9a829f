//! Labels and annotations: entries of a map of the metadata.

use serde_json::{Map, Value, json};

use crate::model::api::EntriesChange;

/// Takes entries out of a map of an object's metadata, and sets others. A map without any is left out.
pub(super) fn apply(object: &mut Value, map: &str, change: &EntriesChange) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let mut entries = match metadata.get(map) {
        Some(Value::Object(known)) => known.clone(),
        _ => Map::new(),
    };
    entries.retain(|key, _| !change.remove.contains(key));
    entries.extend(change.set.iter().map(|(key, value)| (key.clone(), json!(value))));
    if entries.is_empty() {
        metadata.remove(map);
    } else {
        metadata.insert(map.to_owned(), entries.into());
    }
}
