//! Empty values are left out: Cluster API's v1beta2 types refuse most of them, and a null in a selector
//! or an empty SSH key is worse (CAPZ's webhook makes a random key whenever the field is empty). Where an empty value
//! means something, its provider says so.

use serde_json::{Map, Value};

use super::super::job::Job;
use super::super::object::Object;
use crate::diag::{Code, Diagnostics, FieldPath};

/// Maps whose values may be empty: they say something by their keys.
const KEYED: &[&str] =
    &["labels", "annotations", "matchLabels", "nodeSelector", "addons", "values", "data"];

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    let ours = objects.iter().filter(|o| o.group().ends_with("cluster.x-k8s.io"));
    ours.filter(|o| !is_full(o))
        .flat_map(|o| {
            let mut found = Vec::new();
            empties(
                o.value.get("spec").unwrap_or(&Value::Null),
                &FieldPath::keys("spec"),
                &mut found,
            );
            let known = job.templates.catalogue().provided(o.group(), o.kind());
            let allowed: Vec<_> = known.flat_map(|kind| &kind.may_be_empty).collect();
            let as_path = |pointer: &str| pointer.trim_start_matches('/').replace('/', ".");
            found.retain(|path| allowed.iter().all(|pointer| as_path(pointer) != path.to_string()));
            found.into_iter().map(move |path| (o, path))
        })
        .map(|(o, path)| {
            let message = format!("{o} has an empty {path}");
            let help = "leave the field out where it has no value, with {% if … %}";
            job.finding(Code::RenderedInvalid, &o.file, &message, help)
        })
        .collect()
}

/// Whether an object has a `spec` in which nothing is empty.
fn is_full(object: &Object) -> bool {
    let look = || object.value.get("spec").is_some_and(|spec| !has_empty(spec));
    object.known.as_ref().map_or_else(look, |known| known.has_no_empty(look))
}

/// Whether anything is empty: most often nothing is, and no path is wanted.
fn has_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty() || items.iter().any(has_empty),
        Value::Object(map) => map.is_empty() || fields(map).any(|(_, value)| has_empty(value)),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The fields of a map that may not be empty.
fn fields(map: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    map.iter().filter(|(key, _)| !KEYED.contains(&key.as_str()))
}

fn empties(value: &Value, path: &FieldPath, found: &mut Vec<FieldPath>) {
    match value {
        Value::Null => found.push(path.clone()),
        Value::String(text) if text.is_empty() => found.push(path.clone()),
        Value::Array(items) if items.is_empty() => found.push(path.clone()),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| empties(item, &path.index(i), found));
        }
        Value::Object(map) if map.is_empty() => found.push(path.clone()),
        Value::Object(map) => {
            fields(map).for_each(|(key, value)| empties(value, &path.key(key), found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::messages;
    use super::*;

    #[test]
    fn a_field_without_a_value_is_left_out() {
        let head =
            "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: K\nmetadata: {name: a}\n";
        let found =
            |spec: &str| messages(check, &format!("{head}spec: {spec}\n"), Code::RenderedInvalid);
        assert_eq!(found("{sshPublicKey: ''}"), ["K a has an empty spec.sshPublicKey"]);
        assert_eq!(found("{a: [{b: null}]}"), ["K a has an empty spec.a[0].b"]);
        assert_eq!(found("{a: [], b: {}}").len(), 2);
        let pool = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: MachinePool\nmetadata: {name: a}\nspec:\n  \
                    template: {spec: {bootstrap: {dataSecretName: ''}}}\n";
        assert!(messages(check, pool, Code::RenderedInvalid).is_empty(), "a managed pool has none");
        assert!(found("{a: 0, labels: {x: ''}, addons: {coreDNS: {}}}").is_empty());
    }
}
