//! Ways to look at an object that every table of rules needs.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::model::{Cidr, is_label_key, is_label_value};
use crate::pattern::DocumentPart;

/// What stands at a path of an object, of which is kept in mind at what a rule looked, or of a value that it found there.
pub(super) fn at<'a>(object: impl Into<DocumentPart<'a>>, path: &str) -> Option<&'a Value> {
    object.into().below(path).map(DocumentPart::value)
}

/// The part at a path; nothing where there is none.
pub(super) fn below<'a>(object: impl Into<DocumentPart<'a>>, path: &str) -> DocumentPart<'a> {
    object.into().below(path).unwrap_or(DocumentPart::of(&Value::Null))
}

/// The text at a path; empty where there is none.
pub(super) fn text<'a>(object: impl Into<DocumentPart<'a>>, path: &str) -> &'a str {
    at(object, path).and_then(Value::as_str).unwrap_or_default()
}

/// The number at a path.
pub(super) fn number<'a>(object: impl Into<DocumentPart<'a>>, path: &str) -> Option<i64> {
    at(object, path).and_then(Value::as_i64)
}

/// The list at a path; empty where there is none.
pub(super) fn list<'a>(object: impl Into<DocumentPart<'a>>, path: &str) -> &'a [Value] {
    at(object, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whether something stands at a path.
pub(super) fn has<'a>(object: impl Into<DocumentPart<'a>>, path: &str) -> bool {
    object.into().below(path).is_some_and(|part| !part.is_null())
}

/// Whether the switch at a path is on.
pub(super) fn on<'a>(object: impl Into<DocumentPart<'a>>, path: &str) -> bool {
    at(object, path) == Some(&Value::Bool(true))
}

/// Whether a value stands at a path that is neither a number nor a percentage.
pub(super) fn no_share<'a>(object: impl Into<DocumentPart<'a>>, path: &str) -> bool {
    match at(object, path) {
        None | Some(Value::Null) => false,
        Some(Value::Number(n)) => n.as_i64().is_none(),
        Some(Value::String(text)) => {
            text.strip_suffix('%').is_none_or(|n| n.parse::<i32>().is_err())
        }
        Some(_) => true,
    }
}

/// Whether two of the texts are the same; empty ones do not count.
pub(super) fn repeats<'a>(texts: impl IntoIterator<Item = &'a str>) -> bool {
    let mut seen = BTreeSet::new();
    texts.into_iter().any(|text| !text.is_empty() && !seen.insert(text))
}

/// Whether a text of the list is no range of addresses.
pub(super) fn no_cidr(ranges: &[Value]) -> bool {
    ranges.iter().any(|range| range.as_str().and_then(Cidr::parse).is_none())
}

/// Whether a version is none that Cluster API reads (`util/version`, `KubeSemver`).
pub(super) fn no_version(version: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_digit())
            && (part.len() == 1 || !part.starts_with('0'))
    };
    let Some(rest) = version.strip_prefix('v') else { return true };
    let mut parts = rest.splitn(3, '.');
    let (major, minor, patch) = (parts.next(), parts.next(), parts.next());
    let patch = patch.unwrap_or_default();
    let digits = patch.len() - patch.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = patch.split_at(digits);
    let known = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    ![major.unwrap_or_default(), minor.unwrap_or_default(), number].into_iter().all(plain)
        || !rest.chars().all(known)
}

/// Whether labels or annotations of the metadata at a path are malformed (`ObjectMeta.Validate`).
pub(super) fn bad_metadata<'a>(object: impl Into<DocumentPart<'a>>, path: &str) -> bool {
    let metadata = at(object, path);
    let fields = |field: &str| metadata?.get(field)?.as_object();
    let bad_label = |(key, value): (&String, &Value)| {
        !is_label_key(key) || value.as_str().is_none_or(|value| !is_label_value(value))
    };
    fields("labels").is_some_and(|labels| labels.iter().any(bad_label))
        || fields("annotations").is_some_and(|all| all.keys().any(|key| !is_label_key(key)))
}

/// Whether a label selector selects nothing, or is malformed.
pub(super) fn bad_selector<'a>(object: impl Into<DocumentPart<'a>>, path: &str) -> bool {
    let selector = below(object, path);
    let expressions = list(selector, "/matchExpressions");
    let bad = |e: &Value| {
        let empty = list(e, "/values").is_empty();
        match text(e, "/operator") {
            "In" | "NotIn" => empty,
            "Exists" | "DoesNotExist" => !empty,
            _ => true,
        }
    };
    let has_labels = selector.below("/matchLabels").is_some_and(DocumentPart::has_fields);
    !has_labels && expressions.is_empty() || expressions.iter().any(bad)
}

/// Whether a text is no id of a resource in Azure, with or without what CAPZ puts before it.
pub(super) fn no_resource_id(id: &str) -> bool {
    let id = id.trim_start_matches("azure://").to_ascii_lowercase();
    let parts: Vec<_> = id.split('/').collect();
    let named = ["", "subscriptions", "*", "resourcegroups", "*", "providers", "*", "*", "*"];
    parts.len() < named.len()
        || parts.iter().zip(named).any(
            |(part, name)| {
                if name == "*" { part.is_empty() } else { *part != name }
            },
        )
}

/// Whether a tag of an image is malformed (Cluster API, `util/container`, `ImageTagIsValid`).
pub(super) fn bad_tag(tag: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    tag.len() > 128 || tag.starts_with(['.', '-']) || !tag.chars().all(known)
}

/// Whether a template for the names of machines does not keep them apart.
pub(super) fn bad_naming(object: DocumentPart<'_>) -> bool {
    let template = text(object, "/spec/machineNaming/template");
    !template.is_empty() && !template.contains("{{ .random }}")
}

/// Whether the taints at a path have a key that only the system sets, or one that is malformed
/// (`internal/util/taints/validation.go`).
pub(super) fn reserved_taint<'a>(object: impl Into<DocumentPart<'a>>, path: &str) -> bool {
    const KEYS: &[&str] = &[
        "node-role.kubernetes.io/master",
        "node.cluster.x-k8s.io/outdated-revision",
        "node.cluster.x-k8s.io/uninitialized",
    ];
    list(object, path).iter().map(|taint| text(taint, "/key")).any(|key| {
        KEYS.contains(&key)
            || key.starts_with("node.cloudprovider.kubernetes.io/")
            || key.starts_with("node.kubernetes.io/") && key != "node.kubernetes.io/out-of-service"
    })
}

/// Whether the taints at a path have a malformed key.
pub(super) fn bad_taint<'a>(object: impl Into<DocumentPart<'a>>, path: &str) -> bool {
    list(object, path).iter().any(|taint| !is_label_key(text(taint, "/key")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_leads_where_a_pointer_does() {
        let value = json!({"a": {"b": [1, {"c": null}]}, "": {"0": 2}});
        for path in
            ["", "/", "/a", "/a/b/1/c", "/a/b/0", "/a/b/2", "/a/b/x", "//0", "/a/b/0/c", "/z"]
        {
            assert_eq!(at(&value, path), value.pointer(path), "{path}");
        }
    }

    #[test]
    fn versions_are_those_of_cluster_api() {
        for good in ["v1.34.2", "v0.0.0", "v1.34.2-rc.1", "v1.34.2+k0s.0"] {
            assert!(!no_version(good), "{good}");
        }
        for bad in ["", "1.34.2", "v1.34", "v1.34.", "v01.34.2", "v1.34.2 x", "v1.x.2"] {
            assert!(no_version(bad), "{bad}");
        }
    }

    #[test]
    fn a_share_is_a_number_or_a_percentage() {
        let value = json!({"a": 1, "b": "40%", "c": "1", "d": "x%", "e": true, "f": 1.5});
        let found: Vec<_> = "abcdefg".chars().map(|c| no_share(&value, &format!("/{c}"))).collect();
        assert_eq!(found, [false, false, true, true, true, true, false]);
    }

    #[test]
    fn a_resource_has_an_id() {
        let id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.X/things/t";
        assert!(!no_resource_id(id) && !no_resource_id(&format!("azure://{id}")));
        for bad in ["", "x", "/subscriptions/s", "/subscriptions//resourceGroups/g/providers/x/y/z"]
        {
            assert!(no_resource_id(bad), "{bad}");
        }
    }

    #[test]
    fn a_selector_selects_something() {
        let selector = |text: &str| bad_selector(&serde_json::from_str(text).unwrap(), "/s");
        assert!(selector("{}") && selector(r#"{"s": {"matchLabels": {}}}"#));
        assert!(!selector(r#"{"s": {"matchLabels": {"a": "b"}}}"#));
        assert!(!selector(r#"{"s": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}"#));
        assert!(selector(r#"{"s": {"matchExpressions": [{"key": "a", "operator": "In"}]}}"#));
    }
}
