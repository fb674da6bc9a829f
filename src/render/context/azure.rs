//! The Azure part of what templates get.

use serde_json::{Value, json};

use crate::diag::{Code, Diagnostic, Diagnostics, Place};
use crate::model::Fleet;
use crate::model::paths::FLEET_FILE;

/// What templates get of it for the cluster `name`; null and a finding where there is none.
pub(super) fn azure(
    fleet: &Fleet,
    credentials: Option<&str>,
    name: &str,
    problems: &mut Diagnostics,
) -> Value {
    let Some(found) = fleet.azure(credentials) else {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_that_are_not_there_are_a_finding() {
        let mut problems = Diagnostics::default();
        assert_eq!(azure(&Fleet::default(), Some("c"), "x", &mut problems), Value::Null);
        assert_eq!(problems.iter().next().unwrap().code, Code::UnknownCredentials);
    }
}
