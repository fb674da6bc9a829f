//! The Azure part of what templates get.

use serde_json::{Value, json};

use crate::diag::{Code, Diagnostic, Diagnostics, Place};
use crate::model::Fleet;
use crate::model::api::AzureCredentials;
use crate::model::paths::FLEET_FILE;

/// The Azure credentials of that name, or the only ones where no name is given.
pub(in crate::render) fn find<'a>(
    fleet: &'a Fleet,
    name: Option<&str>,
) -> Option<&'a AzureCredentials> {
    let mut all = fleet.spec.credentials.iter();
    let entry = match name {
        Some(name) => all.find(|c| c.name == name),
        None => all.next().filter(|_| fleet.spec.credentials.len() == 1),
    };
    entry?.azure.as_ref()
}

/// What templates get of it for the cluster `name`; null and a finding where there is none.
pub(super) fn azure(
    fleet: &Fleet,
    credentials: Option<&str>,
    name: &str,
    problems: &mut Diagnostics,
) -> Value {
    let Some(found) = find(fleet, credentials) else {
        let which = credentials.unwrap_or("(none named)");
        let message =
            format!("{name}: there are no Azure credentials {which}, which the flavor needs");
        let help = "add them to `credentials` in carp.yaml: IDs only, no secret";
        problems.push(
            Diagnostic::new(Code::UnknownCredentials, message)
                .at(Place::file(FLEET_FILE))
                .help(help),
        );
        return Value::Null;
    };
    let prefix = found.resource_group_prefix.as_deref().unwrap_or_default();
    json!({
        "tenantID": found.tenant_id,
        "subscriptionID": found.subscription_id,
        "clientID": found.client_id,
        "nodeIdentity": found.node_identity.as_deref().map(provider_id),
        "resourceGroup": format!("{prefix}{name}"),
        "environment": found.environment,
    })
}

/// The form that CAPZ wants of a resource id.
fn provider_id(resource: &str) -> String {
    if resource.starts_with("azure://") {
        resource.to_owned()
    } else {
        format!("azure://{resource}")
    }
}

/// The issuer of the service accounts' tokens of one worker.
pub(in crate::render) fn issuer(credentials: &AzureCredentials, worker: &str) -> Option<String> {
    let prefix = credentials.oidc_issuer_prefix.as_deref()?;
    Some(format!("{}/{worker}", prefix.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::Credentials;

    #[test]
    fn the_only_credentials_need_no_name() {
        let entry = |name: &str| Credentials {
            name: name.into(),
            azure: Some(AzureCredentials { client_id: name.into(), ..AzureCredentials::default() }),
            ..Credentials::default()
        };
        let mut fleet = Fleet::default();
        fleet.spec.credentials.push(entry("a"));
        assert_eq!(find(&fleet, None).unwrap().client_id, "a");
        fleet.spec.credentials.push(entry("b"));
        assert!(find(&fleet, None).is_none());
        assert_eq!(find(&fleet, Some("b")).unwrap().client_id, "b");
        let mut problems = Diagnostics::default();
        assert_eq!(azure(&fleet, Some("c"), "x", &mut problems), Value::Null);
        assert_eq!(problems.iter().next().unwrap().code, Code::UnknownCredentials);
    }

    #[test]
    fn an_issuer_has_no_double_slash() {
        let credentials = |prefix: &str| AzureCredentials {
            oidc_issuer_prefix: Some(prefix.into()),
            ..AzureCredentials::default()
        };
        for prefix in ["https://oidc.example.com", "https://oidc.example.com/"] {
            let issuer = issuer(&credentials(prefix), "w");
            assert_eq!(issuer.as_deref(), Some("https://oidc.example.com/w"));
        }
    }
}
