//! `labels` and `annotations`: entries of a map of the object's own metadata. Some are taken out, where they are there,
//! and then others set.

use serde_json::{Map, Value, json};

use crate::model::api::EntriesChange;

/// Changes the labels of an object, and not those of its pods.
pub(super) fn labels(object: &mut Value, change: &EntriesChange) {
    apply(object, "labels", change);
}

/// Changes the annotations of an object, and not those of its pods.
pub(super) fn annotations(object: &mut Value, change: &EntriesChange) {
    apply(object, "annotations", change);
}

/// Changes a map of an object's metadata. A map without entries is left out.
fn apply(object: &mut Value, map: &str, change: &EntriesChange) {
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

#[cfg(test)]
mod tests {
    use super::*;

    type Apply = fn(&mut Value, &EntriesChange);

    /// Both maps, and what changes each of them.
    const BOTH: [(&str, Apply); 2] = [("labels", labels), ("annotations", annotations)];

    /// Metadata with this in a map, and in the other what nobody changes.
    fn object(map: &str, entries: &Value) -> Value {
        let mut object = json!({"metadata": {"labels": {"own": "1"}, "annotations": {"own": "1"}}});
        object["metadata"][map] = entries.clone();
        object
    }

    fn changed((map, apply): (&str, Apply), before: &Value, change: &Value) -> Value {
        let mut object = object(map, before);
        apply(&mut object, &serde_json::from_value(change.clone()).unwrap());
        let after = object["metadata"][map].take();
        let other = if map == "labels" { "annotations" } else { "labels" };
        assert_eq!(object["metadata"][other], json!({"own": "1"}), "{map} are not {other}");
        after
    }

    #[test]
    fn entries_are_taken_out_and_set() {
        let before = json!({"a": "1", "b": "2"});
        let change = json!({"remove": ["a", "absent"], "set": {"b": "3", "example.com/c": "4"}});
        let after = json!({"b": "3", "example.com/c": "4"});
        for both in BOTH {
            assert_eq!(changed(both, &before, &change), after, "{}", both.0);
            assert_eq!(changed(both, &after, &change), after, "{}: once more", both.0);
        }
    }

    #[test]
    fn a_map_without_entries_is_left_out_and_one_that_is_not_there_is_made() {
        for (map, apply) in BOTH {
            let mut last = object(map, &json!({"a": "1"}));
            apply(&mut last, &serde_json::from_value(json!({"remove": ["a"]})).unwrap());
            assert_eq!(last["metadata"].get(map), None, "{map}");
            let mut none =
                json!({"metadata": {"name": "a"}, "spec": {"template": {"metadata": {}}}});
            apply(&mut none, &serde_json::from_value(json!({"set": {"a": "1"}})).unwrap());
            let mut after =
                json!({"metadata": {"name": "a"}, "spec": {"template": {"metadata": {}}}});
            after["metadata"][map] = json!({"a": "1"});
            assert_eq!(none, after, "{map}: those of its pods are others");
        }
    }
}
