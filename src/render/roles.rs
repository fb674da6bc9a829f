//! What the identities of a fleet must be allowed in Azure, with the commands that allow it.

use super::preparation::{Once, Preparation, Where};
use crate::model::Fleet;
use crate::model::api::AzureCredentials;

/// The role with which Cluster API makes resource groups, networks and machines, and the nodes load balancers
/// and disks. Its groups come with the clusters, so that the scope is the subscription
/// (`cluster-api-provider-azure`, `docs/book/src/topics/identities.md`).
const CONTRIBUTOR: &str = "Contributor";
/// The role with which Cluster API gives machines an identity, which may be of another subscription.
const OPERATOR: &str = "Managed Identity Operator";

/// The role assignments of all credentials of a fleet, each once: any worker may get a cluster of any.
pub(super) fn assignments(fleet: &Fleet) -> Vec<Preparation> {
    let mut all = Vec::new();
    for credentials in &fleet.spec.credentials {
        let Some(azure) = &credentials.azure else { continue };
        for preparation in of(&credentials.name, azure) {
            if !all.contains(&preparation) {
                all.push(preparation);
            }
        }
    }
    all
}

fn of(name: &str, azure: &AzureCredentials) -> Vec<Preparation> {
    let subscription = format!("/subscriptions/{}", azure.subscription_id);
    let step = |why: String, role: &str, assignee: &str, scope: &str| Preparation {
        cluster: Where::Azure,
        once: Once::Fleet,
        why,
        command: format!("az role assignment create --role \"{role}\" {assignee} --scope {scope}"),
    };
    let client = format!("--assignee {}", azure.client_id);
    let why = format!("`{name}`, as which Cluster API acts, makes the machines");
    let mut all = vec![step(why, CONTRIBUTOR, &client, &subscription)];
    let Some(identity) = azure.node_identity.as_deref() else { return all };
    let identity = identity.trim_start_matches("azure://");
    let why = format!("`{name}`, as which Cluster API acts, gives it to machines");
    all.push(step(why, OPERATOR, &client, identity));
    let nodes = format!(
        "--assignee-principal-type ServicePrincipal --assignee-object-id \
         \"$(az identity show --ids {identity} --query principalId --output tsv)\""
    );
    let why = format!("the nodes of `{name}` make load balancers and disks");
    all.push(step(why, CONTRIBUTOR, &nodes, &subscription));
    all
}

#[cfg(test)]
mod tests {
    use super::super::fixture::fleet;
    use super::*;

    #[test]
    fn both_identities_are_told_what_they_must_be_allowed() {
        let all = assignments(&fleet());
        assert_eq!(all.len(), 3);
        assert!(all.iter().all(|p| p.cluster == Where::Azure));
        assert!(all[0].command.contains("--role \"Contributor\" --assignee client "));
        assert!(all[1].command.contains("Managed Identity Operator"), "{}", all[1].command);
        assert!(all[1].command.ends_with("userAssignedIdentities/nodes"), "{}", all[1].command);
        assert!(all[2].command.contains("az identity show --ids /subscriptions/"));
    }

    #[test]
    fn what_several_entries_share_is_told_once() {
        let mut fleet = fleet();
        let twice = fleet.spec.credentials[0].clone();
        fleet.spec.credentials.push(twice);
        assert_eq!(assignments(&fleet).len(), 3);
        fleet.spec.credentials.iter_mut().for_each(|c| c.azure = None);
        assert_eq!(assignments(&fleet), []);
    }
}
