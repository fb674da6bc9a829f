//! Which objects a policy changes.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::api::ObjectSelector;

/// Whether a selector selects an object.
pub(super) fn selects(selector: &ObjectSelector, object: &Value) -> bool {
    let text = |at: &str| object.pointer(at).and_then(Value::as_str).unwrap_or_default();
    let labels = object.pointer("/metadata/labels");
    text("/apiVersion") == selector.api_version
        && text("/kind") == selector.kind
        && selector.name.as_deref().is_none_or(|name| is_like(name, text("/metadata/name")))
        && has_all(&selector.labels, labels)
}

fn has_all(wanted: &BTreeMap<String, String>, labels: Option<&Value>) -> bool {
    let value = |key: &str| labels.and_then(|labels| labels.get(key)).and_then(Value::as_str);
    wanted.iter().all(|(key, wanted)| value(key) == Some(wanted))
}

/// Whether a name is of a form, in which `*` stands for any text.
fn is_like(form: &str, name: &str) -> bool {
    let mut parts = form.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<_> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (form, name, is) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("a-*", "a-b", true),
            ("a-*", "b-a-b", false),
            ("*-np0-*", "pay-np0-1a2b", true),
            ("*-np0-*", "pay-np1-1a2b", false),
            ("*-plane", "pay-control-plane", true),
            ("a*a", "a", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
        ] {
            assert_eq!(is_like(form, name), is, "{form} {name}");
        }
    }

    #[test]
    fn every_part_of_a_selector_holds() {
        let object = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "pay-a", "labels": {"app": "a"}},
        });
        let of = |more: Value| {
            let mut selector = json!({"apiVersion": "apps/v1", "kind": "Deployment"});
            selector.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            selects(&serde_json::from_value(selector).unwrap(), &object)
        };
        assert!(of(json!({})) && of(json!({"name": "*-a", "labels": {"app": "a"}})));
        for other in [
            json!({"apiVersion": "apps/v2"}),
            json!({"kind": "DaemonSet"}),
            json!({"name": "a"}),
            json!({"labels": {"app": "b"}}),
            json!({"labels": {"tier": "a"}}),
        ] {
            assert!(!of(other.clone()), "{other}");
        }
    }
}
