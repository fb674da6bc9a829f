//! `invalid-name`: a name becomes a path, a namespace and a label value, so it is a DNS-1123 label of
//! at most 40 characters (CAPZ allows an `AzureCluster` 44, and a pool and a hash must still fit); a
//! namespace becomes a label value and is a DNS-1123 label.
//!
//! Machines' names in Azure begin with the cluster's, so CAPZ refuses an `AzureCluster` whose name has one character
//! (cluster-api-provider-azure v1.26.0, `internal/webhooks/azurecluster_validation.go`, `clusterNameRegex`).

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::{Name, is_dns_label};

/// The shortest name of a cluster in Azure.
const SHORTEST_IN_AZURE: usize = 2;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let body = subject.body;
    if let Err(error) = Name::parse(&body.name) {
        let message = match body.name.as_str() {
            "" => "the name is empty".to_owned(),
            name => format!("`{name}` cannot be a name: {error}"),
        };
        out.add(Code::InvalidName, FieldPath::keys("metadata.name"), message, help(&body.name));
    } else if body.name.len() < SHORTEST_IN_AZURE
        && matches!(body.spec, DocumentSpec::ManagedCluster(_) | DocumentSpec::Worker(_))
        && subject.is_in_azure(scene)
    {
        let message = format!("`{}` cannot be the name of a cluster in Azure", body.name);
        let help = "take a name of at least 2 characters: machines' names begin with it";
        out.add(Code::InvalidName, FieldPath::keys("metadata.name"), message, help);
    }
    if let Some(namespace) = body.namespace.as_deref().filter(|n| !is_dns_label(n)) {
        let message = format!("`{namespace}` cannot be a namespace");
        let help = "use lower-case letters, digits and `-`, at most 63 of them";
        out.add(Code::InvalidName, FieldPath::keys("metadata.namespace"), message, help);
    }
}

/// What to type: the nearest name that would do.
fn help(wrong: &str) -> String {
    let lower = wrong.to_lowercase();
    let kept: String =
        lower.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let mut near = kept.trim_matches('-').to_owned();
    near.truncate(Name::MAX);
    let near = near.trim_matches('-');
    if near.is_empty() {
        return "use lower-case letters, digits and `-`, at most 40 of them".to_owned();
    }
    format!("write `name: {near}`, or another of at most 40 lower-case letters, digits and `-`")
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{POLICY, cluster, files_find, finds, finds_nothing, worker};
    use super::*;

    #[test]
    fn only_dns_labels_of_forty_characters_are_names() {
        let long = "x".repeat(64);
        for bad in ["..", "a/b", "Prod", "\"🐟\"", "-a", "\"\"", ".git", &long] {
            finds(cluster("").replace("pay-eu", bad), Code::InvalidName, "metadata.name");
        }
        let found =
            finds(cluster("").replace("pay-eu", "My_App"), Code::InvalidName, "metadata.name");
        assert!(found.help.unwrap().contains("`name: my-app`"));
    }

    #[test]
    fn so_it_is_for_every_kind_and_for_namespaces() {
        let policy = POLICY.replace("name: all", "name: A");
        files_find(&[("policies/p.yaml", &policy)], Code::InvalidName, "metadata.name");
        let tenant = cluster("").replace("shop", "Shop");
        finds(tenant, Code::InvalidName, "metadata.namespace");
    }

    #[test]
    fn in_azure_a_name_has_two_characters() {
        let path = "metadata.name";
        for text in [cluster("").replace("pay-eu", "a"), worker("").replace("name: w1", "name: w")]
        {
            let found = finds(text, Code::InvalidName, path);
            assert!(found.message.ends_with("cannot be the name of a cluster in Azure"));
        }
        finds_nothing(cluster("").replace("pay-eu", "ab"));
        finds_nothing(worker("flavor: attached\n  ").replace("name: w1", "name: w"));
    }
}
