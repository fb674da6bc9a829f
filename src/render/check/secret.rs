//! Nothing secret reaches Git: no Secret with content, no key, no password of a cloud, no token.

use serde_json::Value;

use super::super::job::Job;
use super::super::object::Object;
use crate::diag::{Code, Diagnostics};

const SECRET_FIELDS: &[&str] = &["clientSecret", "aadClientSecret", "client-secret"];

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    objects
        .iter()
        .filter_map(|o| leak(o).map(|what| (o, what)))
        .map(|(o, what)| {
            let message = format!("{o} holds {what}");
            let help = "let the object name a Secret that is made on the cluster itself; \
                    `carp explain worker/NAME` lists those that are wanted";
            job.finding(Code::SecretInOutput, &o.file, &message, help)
        })
        .collect()
}

/// What of an object looks like a secret; never the secret itself.
fn leak(object: &Object) -> Option<&'static str> {
    if is_secret(object) { Some("the content of a Secret") } else { in_value(&object.value) }
}

/// Whether an object is a Secret with content.
pub(super) fn is_secret(object: &Object) -> bool {
    let content = ["/data", "/stringData"].iter().any(|p| object.value.pointer(p).is_some());
    object.kind() == "Secret" && object.group().is_empty() && content
}

fn in_value(value: &Value) -> Option<&'static str> {
    match value {
        Value::String(text) => in_text(text),
        Value::Array(items) => items.iter().find_map(in_value),
        Value::Object(map) => map.iter().find_map(|(key, value)| {
            let named = SECRET_FIELDS.contains(&key.as_str()) && value.is_string();
            if named { Some("a client secret") } else { in_value(value) }
        }),
        _ => None,
    }
}

fn in_text(text: &str) -> Option<&'static str> {
    if text.contains("-----BEGIN") && text.contains("PRIVATE KEY-----") {
        return Some("a private key");
    }
    // Text may itself be YAML or JSON: the values of a chart, a file of a node.
    let written = |field: &str| {
        text.split(field).skip(1).any(|rest| {
            let rest = rest.trim_start_matches(['"', '\'']).trim_start();
            let value = rest.strip_prefix([':', '=']).map(str::trim_start);
            value.is_some_and(|v| !v.is_empty() && !v.starts_with(['{', '\n', '$']))
        })
    };
    if SECRET_FIELDS.iter().any(|f| written(f)) {
        return Some("a client secret");
    }
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)))
        .any(is_token)
        .then_some("a token")
}

/// A JSON Web Token: three parts of base64, of which the first two are JSON objects.
fn is_token(word: &str) -> bool {
    let parts: Vec<_> = word.split('.').collect();
    parts.len() == 3 && parts[..2].iter().all(|p| p.starts_with("eyJ")) && parts[2].len() >= 16
}

#[cfg(test)]
mod tests {
    use super::super::tests::messages;
    use super::*;

    fn found(body: &str) -> Vec<String> {
        let text =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x, namespace: a}}\n{body}");
        messages(check, &text, Code::SecretInOutput)
    }

    #[test]
    fn a_secret_with_content_is_refused_and_one_without_is_not() {
        let secret = |body: &str| {
            let text = format!(
                "apiVersion: v1\nkind: Secret\nmetadata: {{name: x, namespace: a}}\n{body}"
            );
            messages(check, &text, Code::SecretInOutput).len()
        };
        assert_eq!(secret("data: {a: Yg==}\n"), 1);
        assert_eq!(secret("stringData: {a: b}\n"), 1);
        assert_eq!(secret("type: Opaque\n"), 0);
    }

    #[test]
    fn keys_passwords_and_tokens_are_found_wherever_they_stand() {
        for body in [
            "data:\n  key: |\n    -----BEGIN RSA PRIVATE KEY-----\n    AA\n",
            "spec: {clientSecret: hunter2}\n",
            "data:\n  azure.json: '{\"aadClientSecret\": \"hunter2\"}'\n",
            "data: {t: 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N'}\n",
        ] {
            let messages = found(body);
            assert_eq!(messages.len(), 1, "{body}");
            assert!(!messages[0].contains("hunter2"), "the secret itself is never shown");
        }
    }

    #[test]
    fn a_reference_to_a_secret_is_none() {
        assert!(found("spec: {clientSecret: {name: x, namespace: y}}\n").is_empty());
        assert!(found("data: {a: 'set clientSecret out of band', b: v1.2.3}\n").is_empty());
    }
}
