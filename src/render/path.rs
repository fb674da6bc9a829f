//! What stands at a path of a value.

use serde_json::Value;

use crate::pattern::DocumentPart;

/// What stands at a path: `serde_json`'s `Value::pointer` for keys without a `~`, which few have. Rules ask it for every object, and
/// it unescapes nothing.
pub(super) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    DocumentPart::of(value).below(path).map(DocumentPart::value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_leads_where_the_pointer_does() {
        let value = json!({"a": [{"b": 1}, {"b.c/d": 2}], "": 3});
        for path in ["", "/", "/a", "/a/0/b", "/a/1/b", "/a/2", "/a/x", "/b", "/a/0/b/c"] {
            assert_eq!(at(&value, path), value.pointer(path), "{path}");
        }
    }
}
