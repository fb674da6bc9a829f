//! `placeholder-credential` on `nodeIdentity`: the machines of a cluster in Azure have a managed identity of
//! their own, as which the cloud controller and the disk driver act. Without one, CAPZ writes an `azure.json`
//! with a client ID and no secret (`cluster-api-provider-azure`, `controllers/helpers.go`), and there is no
//! load balancer, no endpoint of a hosted control plane and no disk.
//!
//! The finding is on `carp.yaml`, once, however many clusters need the entry.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex_lite::Regex;

use super::placeholder::{add, is_placeholder};
use super::{CheckContext, Subject};
use crate::diag::FieldPath;
use crate::load::finding::Findings;
use crate::load::resolve::ChosenCredentials;
use crate::model::api::Credentials;
use crate::model::{Brings, Flavor};

/// The resource id of a managed identity, with or without what CAPZ puts before it, of the characters that Azure allows
/// ("Naming rules and restrictions for Azure resources"): commands that people run name its parts.
pub(super) static FORM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^(azure://)?/subscriptions/[-0-9a-z]+/resourceGroups/[-\w.()]+/providers/Microsoft\.ManagedIdentity/userAssignedIdentities/[-\w]+$",
    )
    .expect("the expression is a constant that a test compiles")
});

/// What one looks like.
pub(super) const EXAMPLE: &str = "/subscriptions/…/resourceGroups/…/providers/Microsoft.ManagedIdentity/\
                       userAssignedIdentities/…";

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let Some(fleet) = scene.fleet else { return };
    let has_one = |flavor: &Flavor| flavor.brings(Brings::NodeIdentity);
    if !subject.is_in_azure(scene) || subject.manifest(scene).is_some_and(has_one) {
        return;
    }
    if let Some(ChosenCredentials::Entry(index)) = subject.credentials(scene) {
        let path = FieldPath::keys("spec.credentials").index(index).key("azure");
        let wrong = scene.wrong_identities.get_or_init(|| wrong(&fleet.credentials));
        entry(&fleet.credentials[index], wrong.contains(&index), &path, out);
    }
}

/// The entries with an identity of another form.
fn wrong(credentials: &[Credentials]) -> BTreeSet<usize> {
    let is_wrong = |entry: &Credentials| {
        let id = entry.azure.as_ref().and_then(|azure| azure.node_identity.as_deref());
        id.is_some_and(|id| !is_placeholder(id) && !FORM.is_match(id))
    };
    (0..).zip(credentials).filter(|(_, entry)| is_wrong(entry)).map(|(index, _)| index).collect()
}

fn entry(credentials: &Credentials, is_wrong: bool, path: &FieldPath, out: &mut Findings) {
    let Some(azure) = &credentials.azure else { return };
    let name = &credentials.name;
    let help = format!("write the id of the identity that the machines have: {EXAMPLE}");
    match azure.node_identity.as_deref() {
        None => {
            let message = format!("the credentials `{name}` have no `nodeIdentity`");
            add(path.clone(), message, help, out);
        }
        Some(id) if is_wrong => {
            let message = format!(
                "`nodeIdentity` of the credentials `{name}` is no managed identity: `{id}`"
            );
            add(path.key("nodeIdentity"), message, help, out);
        }
        Some(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, cluster, files_find, load_files, worker};
    use crate::diag::Code;

    fn with(identity: &str) -> String {
        let lines = CARP.lines().map(|line| match line.split_once("nodeIdentity:") {
            Some((indent, _)) if identity.is_empty() => indent.to_owned(),
            Some((indent, _)) => format!("{indent}nodeIdentity: {identity}"),
            None => line.to_owned(),
        });
        lines.map(|line| line + "\n").collect()
    }

    #[test]
    fn machines_have_an_identity() {
        for text in [cluster(""), worker("")] {
            let carp = with("");
            let files = [("carp.yaml", &*carp), ("fleet/x.yaml", &*text)];
            let path = "spec.credentials[0].azure";
            let found = files_find(&files, Code::PlaceholderCredential, path);
            assert_eq!(found.place.unwrap().file, "carp.yaml");
            assert_eq!(found.related[0].0.file, "fleet/x.yaml");
            assert!(!load_files(&files).fleet_broken, "what is placed stays");
        }
    }

    #[test]
    fn what_makes_no_machines_in_azure_needs_none() {
        let carp = with("");
        // The cloud gives the machines of the second one.
        for text in [worker("flavor: attached\n  "), worker("flavor: aks\n  ")] {
            let loaded = load_files(&[("carp.yaml", &carp), ("fleet/x.yaml", &text)]);
            assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
        }
    }

    #[test]
    fn an_identity_is_the_id_of_a_managed_one() {
        let path = "spec.credentials[0].azure.nodeIdentity";
        let text = cluster("");
        for bad in ["nodes", "11111111-1111-1111-1111-111111111111", "/subscriptions/s/nodes"] {
            let carp = with(bad);
            let files = [("carp.yaml", &*carp), ("fleet/x.yaml", &*text)];
            files_find(&files, Code::PlaceholderCredential, path);
        }
        let id = "/subscriptions/s/resourcegroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/n";
        for good in [id.to_owned(), format!("azure://{id}")] {
            let loaded = load_files(&[("carp.yaml", &with(&good)), ("fleet/x.yaml", &text)]);
            assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
        }
    }
}
