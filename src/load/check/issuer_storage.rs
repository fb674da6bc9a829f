//! `invalid-value` on `identity` and `oidcIssuerStorage` of Azure credentials: the first is the resource id of a managed
//! identity, the second has an address to be read at (`oidcIssuerPrefix`), a remote with a path, and a Secret as Kubernetes names it.

use super::node_identity::{EXAMPLE, FORM};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::model::api::{AzureCredentials, FleetSpec};
use crate::model::is_dns_label;

pub(super) fn check(spec: &FleetSpec, out: &mut Findings) {
    for (index, entry) in spec.credentials.iter().enumerate() {
        let path = FieldPath::keys("spec.credentials").index(index).key("azure");
        if let Some(azure) = &entry.azure {
            identity(azure, &path, out);
            storage(azure, &path, out);
        }
    }
}

fn identity(azure: &AzureCredentials, path: &FieldPath, out: &mut Findings) {
    let Some(id) = azure.identity.as_deref() else { return };
    // `azure://` is a form of Cluster API's, which Azure Service Operator does not know.
    if !FORM.is_match(id) || id.starts_with("azure:") {
        let message = format!("`{id}` is not the resource id of a managed identity");
        let help = format!("write the one that `clientID` is of: {EXAMPLE}");
        out.add(Code::InvalidValue, path.key("identity"), message, help);
    }
}

fn storage(azure: &AzureCredentials, path: &FieldPath, out: &mut Findings) {
    if let Some(prefix) = azure.oidc_issuer_prefix.as_deref().filter(|prefix| !is_address(prefix)) {
        let message = format!("`{prefix}` is no address that Azure reads documents of issuers at");
        let help = "write it as `https://HOST/PATH`, of letters, digits and `-._~/:`";
        out.add(Code::InvalidValue, path.key("oidcIssuerPrefix"), message, help);
    }
    let Some(storage) = &azure.oidc_issuer_storage else { return };
    let path = path.key("oidcIssuerStorage");
    if azure.oidc_issuer_prefix.is_none() {
        let message = "nothing says where the documents of issuers are read".to_owned();
        let help = "add `oidcIssuerPrefix`, below which Azure finds what is written there";
        out.add(Code::InvalidValue, path.clone(), message, help);
    }
    let to = &storage.to;
    let is_remote = to.rsplit_once(':').is_some_and(|(remote, _)| !remote.trim().is_empty());
    // An option to rclone, and what Kubernetes puts in for a variable (`core/v1`, `EnvVar.value`).
    let is_other = to.starts_with('-') || to.contains("$(") || to.contains("$$");
    if !is_remote || is_other || to.ends_with('/') || to.chars().any(char::is_control) {
        let message = format!("`{to}` is not a remote of rclone's with a path");
        let help = "write it as `REMOTE:PATH`, such as `:azureblob,account=fleetoidc,use_msi=true:$web/fleet`";
        out.add(Code::InvalidValue, path.key("to"), message, help);
    }
    if let Some(name) =
        storage.secret_ref.as_ref().filter(|name| !name.split('.').all(is_dns_label))
    {
        let message = format!("`{name}` cannot be the name of a Secret");
        let help = "use lower-case letters, digits, `-` and `.`";
        out.add(Code::InvalidValue, path.key("secretRef"), message, help);
    }
}

/// Whether the address of issuers is one: it stands in JSON and in commands that people run.
fn is_address(prefix: &str) -> bool {
    let of = |c: char| c.is_ascii_alphanumeric() || "-._~/:".contains(c);
    prefix.strip_prefix("https://").is_some_and(|rest| !rest.is_empty() && rest.chars().all(of))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, files_find, load_files};
    use super::*;

    const REAL: &str = "subscriptionID: 11111111-1111-1111-1111-111111111111";
    const PREFIX: &str = "oidcIssuerPrefix: https://oidc.example.com";

    fn carp(more: &str) -> String {
        assert!(CARP.contains(REAL));
        CARP.replace(REAL, &format!("{REAL}\n      {more}"))
    }

    #[test]
    fn an_identity_and_a_storage_are_what_makes_sense() {
        let without = "oidcIssuerStorage: {to: \"a:b\"}".to_owned();
        let with = |storage: &str| format!("{PREFIX}\n      oidcIssuerStorage: {{{storage}}}");
        for (bad, at) in [
            ("identity: capz".to_owned(), "identity"),
            ("identity: \"azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/capz\"".to_owned(), "identity"),
            ("identity: /subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/capz;$(id)".to_owned(), "identity"),
            ("oidcIssuerPrefix: http://oidc.example.com".to_owned(), "oidcIssuerPrefix"),
            ("oidcIssuerPrefix: \"https://x/'$(id)\"".to_owned(), "oidcIssuerPrefix"),
            (with("to: \"--config=/x:y\""), "oidcIssuerStorage.to"),
            (with("to: \"a:$$b\""), "oidcIssuerStorage.to"),
            (without, "oidcIssuerStorage"),
            (with("to: web/fleet"), "oidcIssuerStorage.to"),
            (with("to: \"a:b/\""), "oidcIssuerStorage.to"),
            (with("to: \"a:b\", secretRef: A_b"), "oidcIssuerStorage.secretRef"),
        ] {
            let path = format!("spec.credentials[0].azure.{at}");
            files_find(&[("carp.yaml", &*carp(&bad))], Code::InvalidValue, &path);
        }
        for good in [
            "identity: /subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/capz".to_owned(),
            with("to: \":azureblob,account=a,use_msi=true:$web/fleet\""),
            with("to: \"oidc:$web\", secretRef: oidc.storage"),
        ] {
            let loaded = load_files(&[("carp.yaml", &*carp(&good))]);
            assert!(loaded.diagnostics.is_empty(), "{good}: {:?}", loaded.diagnostics);
        }
    }
}
