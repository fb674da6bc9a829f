//! `placeholder-credential`: what a flavor needs of its credentials is there and real. `REPLACE-ME`,
//! nothing at all, and a UUID of zeros but for its last group are not; in an example they are.
//!
//! The finding is on `carp.yaml`, once, however many clusters need the entry.

use std::sync::Arc;

use super::{CheckContext, Subject};
use crate::diag::{Code, Diagnostic, FieldPath};
use crate::load::finding::{DocumentSource, Findings};
use crate::load::resolve::ChosenCredentials;
use crate::model::CredentialsNeeded;
use crate::model::api::{AZURE, AzureCredentials, Credentials};
use crate::model::paths::FLEET_FILE;

/// What the files that `carp init` writes have in place of a real value.
const REPLACE_ME: &str = "REPLACE-ME";
/// What a UUID begins with that is made up.
const ZEROS: &str = "00000000-0000-0000-0000-";

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let Some(fleet) = scene.fleet.filter(|f| f.example.is_none()) else { return };
    let Some(needed) = subject.needed(scene) else { return };
    let path = FieldPath::keys("spec.credentials");
    if needed.of != AZURE {
        match subject.credentials(scene) {
            Some(ChosenCredentials::Nothing) => nothing(needed, path, out),
            Some(ChosenCredentials::Entry(index)) => {
                values(&fleet.credentials[index], needed, &path.index(index), out);
            }
            _ => {}
        }
        return;
    }
    match subject.credentials(scene) {
        Some(ChosenCredentials::Nothing) => {
            let message = "no credentials are listed, and clusters and workers need some";
            let help = "add `credentials:` with an entry that has `name` and `azure: {tenantID, \
                        subscriptionID, clientID, nodeIdentity}`";
            add(path, message.to_owned(), help.to_owned(), out);
        }
        Some(ChosenCredentials::Entry(index)) => {
            entry(&fleet.credentials[index], &path.index(index), out);
        }
        _ => {}
    }
}

/// There are no credentials of another provider than Azure.
fn nothing(needed: &CredentialsNeeded, path: FieldPath, out: &mut Findings) {
    let of = &needed.of;
    let message =
        format!("no credentials of `{of}` are listed, and clusters and workers need some");
    let values = needed.values.join(", ");
    let help = format!("add an entry that has `name`, `provider: {of}` and `values: {{{values}}}`");
    add(path, message, help, out);
}

/// The values of an entry of another provider than Azure.
fn values(
    credentials: &Credentials,
    needed: &CredentialsNeeded,
    path: &FieldPath,
    out: &mut Findings,
) {
    let (name, of) = (&credentials.name, &needed.of);
    if credentials.provider.as_ref() != Some(of) {
        let message = format!("the credentials `{name}` are not of `{of}`");
        add(path.clone(), message, format!("add `provider: {of}`, or name others"), out);
        return;
    }
    for wanted in &needed.values {
        match credentials.values.get(wanted) {
            None => {
                let message = format!("the credentials `{name}` have no `{wanted}`");
                add(path.key("values"), message, format!("add `{wanted}` to `values`"), out);
            }
            Some(value) if is_placeholder(value) => {
                let message =
                    format!("`{wanted}` of the credentials `{name}` is a placeholder: `{value}`");
                add(
                    path.key("values").key(wanted),
                    message,
                    format!("write the real {wanted}"),
                    out,
                );
            }
            Some(_) => {}
        }
    }
}

fn entry(credentials: &Credentials, path: &FieldPath, out: &mut Findings) {
    let path = path.key("azure");
    let name = &credentials.name;
    let Some(azure) = &credentials.azure else {
        let message = format!("the credentials `{name}` have no `azure`");
        add(
            path,
            message,
            "add `azure: {tenantID, subscriptionID, clientID, nodeIdentity}`".to_owned(),
            out,
        );
        return;
    };
    for (field, value) in fields(azure) {
        if is_placeholder(value) {
            let message =
                format!("`{field}` of the credentials `{name}` is a placeholder: `{value}`");
            add(path.key(field), message, format!("write the real {field}"), out);
        }
    }
}

fn fields(azure: &AzureCredentials) -> impl Iterator<Item = (&'static str, &str)> {
    let needed = [
        ("tenantID", Some(&azure.tenant_id)),
        ("subscriptionID", Some(&azure.subscription_id)),
        ("clientID", Some(&azure.client_id)),
        ("nodeIdentity", azure.node_identity.as_ref()),
        ("oidcIssuerPrefix", azure.oidc_issuer_prefix.as_ref()),
        ("identity", azure.identity.as_ref()),
    ];
    needed.into_iter().filter_map(|(field, value)| Some((field, value?.as_str())))
}

pub(super) fn is_placeholder(value: &str) -> bool {
    value.trim().is_empty() || value.contains(REPLACE_ME) || value.starts_with(ZEROS)
}

/// A finding on `carp.yaml`, with who needs what it is about.
pub(super) fn add(path: FieldPath, message: String, help: String, out: &mut Findings) {
    let fleet = DocumentSource { file: Arc::from(FLEET_FILE), document: 0 };
    let needed_by = out.source.place(FieldPath::keys("spec"));
    let finding = Diagnostic::new(Code::PlaceholderCredential, message).at(fleet.place(path));
    out.list.push(finding.related(needed_by, "needed here").help(help));
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, cluster, files_find, load_files, worker};
    use super::*;

    const REAL: &str = "subscriptionID: 11111111-1111-1111-1111-111111111111";

    fn with(id: &str) -> String {
        CARP.replace(REAL, &format!("subscriptionID: \"{id}\""))
    }

    #[test]
    fn credentials_that_are_needed_are_real() {
        for id in ["REPLACE-ME", "", "00000000-0000-0000-0000-000000000001"] {
            for text in [cluster(""), worker("")] {
                let carp = with(id);
                let files = [("carp.yaml", &*carp), ("fleet/x.yaml", &*text)];
                let path = "spec.credentials[0].azure.subscriptionID";
                let found = files_find(&files, Code::PlaceholderCredential, path);
                assert_eq!(found.place.unwrap().file, "carp.yaml");
                assert_eq!(found.related[0].0.file, "fleet/x.yaml");
                let loaded = load_files(&files);
                assert!(!loaded.fleet_broken);
                assert!(loaded.fleet.clusters.is_empty() && loaded.fleet.workers.is_empty());
            }
        }
    }

    #[test]
    fn a_finding_comes_once_however_many_need_it() {
        let carp = with("REPLACE-ME");
        let text = format!("{}---\n{}", cluster(""), cluster("").replace("pay-eu", "pay-us"));
        let loaded = load_files(&[("carp.yaml", &carp), ("fleet/x.yaml", &text)]);
        assert_eq!(loaded.diagnostics.iter().count(), 1);
        assert_eq!(loaded.fleet.unloaded.len(), 2);
    }

    #[test]
    fn what_needs_none_and_examples_may_have_placeholders() {
        let carp = with("REPLACE-ME");
        let attached = worker("flavor: attached\n  ");
        let loaded = load_files(&[("carp.yaml", &carp), ("fleet/x.yaml", &attached)]);
        assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
        let example = format!("{carp}  example: {{now: \"2026-01-01T00:00:00Z\"}}\n");
        let loaded = load_files(&[("carp.yaml", &example), ("fleet/x.yaml", &cluster(""))]);
        assert!(!loaded.diagnostics.has_errors(), "{:?}", loaded.diagnostics);
    }

    #[test]
    fn a_fleet_without_credentials_makes_no_machines() {
        let none = "apiVersion: carp.dev/v1alpha1\nkind: Fleet\nmetadata: {name: test}\nspec: {}\n";
        let files = [("carp.yaml", none), ("fleet/x.yaml", &*cluster(""))];
        files_find(&files, Code::PlaceholderCredential, "spec.credentials");
        let empty = none.replace("spec: {}", "spec: {credentials: [{name: main}]}");
        let files = [("carp.yaml", &*empty), ("fleet/x.yaml", &*cluster(""))];
        files_find(&files, Code::PlaceholderCredential, "spec.credentials[0].azure");
    }
}
