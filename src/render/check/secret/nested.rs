//! A Secret within another object: those of AKS hold objects of any kind in `spec.resources`, which Cluster API's provider
//! applies as they are.

use serde_json::Value;

use super::step;
use crate::render::object::Object;

/// Where in an object there is a Secret with content; `None` where there is none.
pub(super) fn secret_within(object: &Object) -> Option<String> {
    // An escape may hide the word.
    let may_be = object.text.contains("Secret") || object.text.contains('\\');
    (may_be && is_within(&object.value)).then(|| below(&object.value, String::new())).flatten()
}

/// Whether there is one somewhere below a value. Most that say the word only refer to a Secret, and have no use for a path.
fn is_within(value: &Value) -> bool {
    let is_or_has = |value: &Value| is_secret(value) || is_within(value);
    match value {
        Value::Object(fields) => fields.values().any(is_or_has),
        Value::Array(items) => items.iter().any(is_or_has),
        _ => false,
    }
}

fn below(value: &Value, at: String) -> Option<String> {
    let within = |path: String, value: &Value| {
        if is_secret(value) { Some(path) } else { below(value, path) }
    };
    match value {
        Value::Object(fields) => fields.iter().find_map(|(key, value)| {
            let mut path = at.clone();
            step(&mut path, key);
            within(path, value)
        }),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(n, item)| within(format!("{at}[{n}]"), item))
        }
        _ => None,
    }
}

/// Whether a value is a Secret with content, as [`super::is_secret`] says of an object.
fn is_secret(value: &Value) -> bool {
    let says = |field: &str, text: &str| value.get(field).is_some_and(|said| said == text);
    let has_content = || ["data", "stringData"].iter().any(|field| value.get(field).is_some());
    says("kind", "Secret") && says("apiVersion", "v1") && has_content()
}

#[cfg(test)]
mod tests {
    use crate::diag::Code;
    use crate::render::check::tests::messages;

    #[test]
    fn a_secret_within_another_object_is_one() {
        let found = |inner: &str| {
            let text = format!(
                "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: AzureASOManagedCluster\n\
                 metadata: {{name: x, namespace: a}}\nspec:\n  resources:\n  - {inner}\n"
            );
            messages(super::super::check, &text, Code::SecretInOutput)
        };
        let told = found("{apiVersion: v1, kind: Secret, stringData: {a: b}}");
        assert_eq!(told.len(), 1);
        assert!(told[0].contains("in `spec.resources[0]`"), "{told:?}");
        assert_eq!(found("{apiVersion: v1, kind: \"S\\x65cret\", data: {a: Yg==}}").len(), 1);
        assert_eq!(found("{apiVersion: v1, kind: Secret, type: Opaque}").len(), 0);
        assert_eq!(found("{apiVersion: x.example.com/v1, kind: Secret, data: {a: b}}").len(), 0);
    }
}
