//! `annotations`: those of the object itself. Some are taken out, where they are there, and then others set.

use serde_json::Value;

use super::entries;
use crate::model::api::EntriesChange;

/// Changes an object.
pub(super) fn apply(object: &mut Value, change: &EntriesChange) {
    entries::apply(object, "annotations", change);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changed(before: &Value, change: &Value) -> Value {
        let mut object = json!({"metadata": {"name": "a", "annotations": before}});
        apply(&mut object, &serde_json::from_value(change.clone()).unwrap());
        object["metadata"]["annotations"].clone()
    }

    #[test]
    fn annotations_are_taken_out_and_set() {
        let before = json!({"a": "1", "b": "2"});
        let change = json!({"remove": ["a", "absent"], "set": {"b": "3", "example.com/c": "4"}});
        let after = json!({"b": "3", "example.com/c": "4"});
        assert_eq!(changed(&before, &change), after);
        assert_eq!(changed(&after, &change), after, "once more makes no difference");
        assert_eq!(changed(&json!({"a": "1"}), &json!({"remove": ["a"]})), Value::Null);
    }

    #[test]
    fn an_object_without_annotations_gets_some() {
        let mut object = json!({"metadata": {"name": "a"}, "spec": {"template": {"metadata": {}}}});
        apply(&mut object, &serde_json::from_value(json!({"set": {"a": "1"}})).unwrap());
        let after = json!({"metadata": {"name": "a", "annotations": {"a": "1"}}, "spec": {"template": {"metadata": {}}}});
        assert_eq!(object, after, "those of its pods are others");
    }
}
