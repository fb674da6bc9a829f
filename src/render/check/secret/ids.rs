//! A Secret that holds none: some controllers read the IDs of an account, with which alone nobody can do anything, from a
//! Secret and from nothing else (Azure Service Operator, `docs/hugo/content/guide/authentication`, "Workload Identity").
//! A flavor declares such a Secret by its name, and what may be in it is in `policies/secrets.json`.

use serde_json::Value;

use super::super::super::job::{Job, Scope};
use super::super::super::object::Object;
use super::super::super::path::at;
use super::rules::RULES;

/// Whether a Secret is one that its flavor declares by name, and holds IDs and nothing else.
pub(super) fn only(object: &Object, job: &Job) -> bool {
    let Scope::Cluster { flavor, makes, .. } = &job.scope else { return false };
    let named = |name: &Option<String>| name.as_deref() == Some(object.name());
    let mut declared = job.templates.flavor(flavor).into_iter().flat_map(|f| f.objects_of(*makes));
    declared.any(|d| d.kind == object.kind() && d.api_version == "v1" && named(&d.name))
        && holds_ids(&object.value)
}

/// Whether there is nothing in it but IDs, in plain text, where a person who reviews sees them.
fn holds_ids(secret: &Value) -> bool {
    let entries = at(secret, "/stringData").and_then(Value::as_object);
    let is_id =
        |(key, value): (&String, &Value)| value.as_str().is_some_and(|v| RULES.is_id(key, v));
    at(secret, "/data").is_none() && entries.is_some_and(|all| all.iter().all(is_id))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_are_no_secret_and_whatever_else_is_with_them_is() {
        let id = "11111111-2222-4333-8444-555555555555";
        let secret = |data: Value| json!({"stringData": data});
        let good = json!({
            "AZURE_TENANT_ID": id, "AZURE_CLIENT_ID": id, "AZURE_SUBSCRIPTION_ID": id,
            "AUTH_MODE": "workloadidentity",
        });
        assert!(holds_ids(&secret(good.clone())));
        for (key, value) in [
            ("AZURE_CLIENT_SECRET", id),
            ("AZURE_CLIENT_ID", "hunter2"),
            ("AUTH_MODE", "hunter2"),
            ("password", "workloadidentity"),
        ] {
            let mut bad = good.clone();
            bad[key] = json!(value);
            assert!(!holds_ids(&secret(bad)), "{key}: {value}");
        }
        assert!(!holds_ids(&json!({"data": {"AZURE_TENANT_ID": "MTE="}})));
        assert!(!holds_ids(&json!({"stringData": good, "data": {}})), "nobody reads base64");
        assert!(!holds_ids(&json!({})));
    }
}
