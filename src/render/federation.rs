//! How what runs on a worker may act in Azure without a secret: Azure trusts the issuer of the worker's service accounts.
//!
//! A cluster that brings no issuer of its own gets one, whose keys people publish; the address is said where the machines
//! are made. AKS has an issuer for each cluster (Azure, "`OpenID` Connect provider on AKS"), whose address nobody knows
//! before it is there.

use super::context::{find_azure, issuer};
use super::preparation::{Once, Preparation, Where};
use crate::model::api::AzureCredentials;
use crate::model::{Brings, Fleet, Worker};

/// What people do for it, once for a worker.
pub(super) fn preparations(fleet: &Fleet, worker: &Worker) -> Vec<Preparation> {
    let Some(azure) = find_azure(fleet, worker.spec.credentials.as_deref()) else {
        return Vec::new();
    };
    if worker.manifest().is_some_and(|flavor| flavor.brings(Brings::Issuer)) {
        return credentials(fleet, worker, &of_aks(azure, worker)).collect();
    }
    let Some(issuer) = issuer(azure, &worker.name) else { return Vec::new() };
    std::iter::once(published(worker, &issuer)).chain(credentials(fleet, worker, &issuer)).collect()
}

/// The step that makes an issuer one that can be asked.
fn published(worker: &Worker, issuer: &str) -> Preparation {
    let name = &worker.name;
    Preparation {
        cluster: Where::Worker,
        once: Once::Worker,
        why: format!(
            "Azure verifies the tokens of {name} with these keys: publish them at {issuer}"
        ),
        command: "kubectl get --raw /.well-known/openid-configuration > openid-configuration && \
                  kubectl get --raw /openid/v1/jwks > jwks"
            .to_owned(),
    }
}

/// The issuer of a cluster of AKS, as a shell asks for it.
fn of_aks(azure: &AzureCredentials, worker: &Worker) -> String {
    let prefix = azure.resource_group_prefix.as_deref().unwrap_or_default();
    let (name, subscription) = (&worker.name, &azure.subscription_id);
    format!(
        "\"$(az aks show --subscription {subscription} --resource-group {prefix}{name} --name {name} \
         --query oidcIssuerProfile.issuerUrl --output tsv)\""
    )
}

/// A federated credential for each service account that acts in Azure.
fn credentials(fleet: &Fleet, worker: &Worker, issuer: &str) -> impl Iterator<Item = Preparation> {
    identities(fleet).map(move |(account, what)| {
        let name = &worker.name;
        Preparation {
            cluster: Where::Azure,
            once: Once::Worker,
            why: format!("lets {account} on {name} act as the application"),
            command: format!(
                "az identity federated-credential create --name {name}-{what} --identity-name IDENTITY \
                 --resource-group GROUP --issuer {issuer} --subject system:serviceaccount:{account} \
                 --audiences api://AzureADTokenExchange"
            ),
        }
    })
}

/// The service accounts that act in Azure, each with what the name of its credential ends in.
fn identities(fleet: &Fleet) -> impl Iterator<Item = (String, &str)> {
    fleet.catalogue.providers().flat_map(|provider| {
        let account = |account: &str| format!("{}:{account}", provider.namespace);
        let all = provider.identities.iter();
        all.map(move |identity| (account(&identity.service_account), identity.suffix.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::fleet;
    use super::*;

    #[test]
    fn an_issuer_of_the_clouds_own_is_asked_for() {
        let mut fleet = fleet();
        let azure = fleet.spec.credentials[0].azure.as_mut().unwrap();
        azure.oidc_issuer_prefix = Some("https://oidc.example.com".to_owned());
        azure.resource_group_prefix = Some("rg-".to_owned());
        let worker = fleet.workers.values().next().unwrap().clone();
        let steps = preparations(&fleet, &worker);
        assert_eq!((steps.len(), &steps[0].cluster), (3, &Where::Worker));
        assert!(steps[1].command.contains("--issuer https://oidc.example.com/wk-1 --subject"));
        let mut worker = worker;
        worker.spec.flavor = Some("aks".to_owned());
        let steps = preparations(&fleet, &worker);
        assert_eq!(steps.len(), 2, "nobody publishes keys: {steps:#?}");
        let asked = "--resource-group rg-wk-1 --name wk-1 --query oidcIssuerProfile.issuerUrl";
        assert!(steps.iter().all(|step| step.command.contains(asked)), "{steps:#?}");
    }
}
