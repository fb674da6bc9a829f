//! `mergePatch`: RFC 7396. Maps are merged, everything else is replaced, lists included, and `null` takes out.

use serde_json::{Map, Value};

use super::bounds;
use super::trouble::ChangeTrouble;
use crate::diag::FieldPath;

/// Changes a document.
pub(super) fn apply(document: &mut Value, patch: &Map<String, Value>) -> Result<(), ChangeTrouble> {
    json_patch::merge(document, &Value::Object(patch.clone()));
    bounds::size(document).map_err(|trouble| trouble.below(&FieldPath::keys("mergePatch")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn maps_are_merged_and_all_else_is_replaced() {
        let mut document = json!({"a": {"b": 1, "c": [1, 2]}, "d": "x"});
        let patch = json!({"a": {"b": null, "c": [3], "e": {"f": false}}, "g": {"h": null}});
        let patch = patch.as_object().unwrap();
        let after = json!({"a": {"c": [3], "e": {"f": false}}, "d": "x", "g": {}});
        apply(&mut document, patch).unwrap();
        assert_eq!(document, after);
        apply(&mut document, patch).unwrap();
        assert_eq!(document, after, "once more makes no difference");
    }

    #[test]
    fn what_comes_out_is_bounded() {
        let patch = json!({"a": "x".repeat(bounds::MOST_BYTES)});
        let trouble = apply(&mut json!({}), patch.as_object().unwrap()).unwrap_err();
        assert_eq!(trouble.at.to_string(), "mergePatch");
    }
}
