//! How what runs on a worker may act in Azure without a secret: Azure trusts the issuer of the worker's service accounts.
//!
//! A cluster that brings no issuer of its own gets one, whose keys are published by people or by the cluster that makes the
//! worker; the address is said where the machines are made. AKS has an issuer for each cluster (Azure, "`OpenID` Connect
//! provider on AKS"), whose address nobody knows before it is there.
//!
//! Whom an identity trusts is a federated credential of it. Where `carp.yaml` has the identity's resource id, Azure Service
//! Operator makes these (`managedidentity.azure.com`, `FederatedIdentityCredential`); an application has none.

use serde_json::{Value, json};

use super::preparation::{Once, Preparation, Where};
use crate::model::api::{AzureCredentials, FleetSpec, IssuerStorage};
use crate::model::{Fleet, MOST_FEDERATED, RenderedWith, TrustingIdentity, Worker};

/// The role with which Azure Service Operator makes the federated credentials of an identity.
const TRUST: &str = "Managed Identity Contributor";

/// Adds to what a worker's templates get whom Azure trusts, and where the worker's keys go; nothing where people do that.
pub(super) fn add(context: &mut Value, fleet: &Fleet, worker: &Worker) {
    let trusting = fleet.trusting(worker);
    // Who issues on AKS is known once it is there.
    let issuer = Some(&context["issuer"]).filter(|_| !worker.has_issuer_of_cloud());
    let issuer = issuer.cloned().unwrap_or_default();
    let of = |identity: &TrustingIdentity<'_>| {
        let accounts = fleet.azure_accounts();
        let id = identity.id.to_owned();
        let all = accounts.map(|(account, what)| {
            let subject = format!("system:serviceaccount:{account}");
            json!({"account": what, "identity": id, "issuer": issuer, "subject": subject})
        });
        all.collect::<Vec<_>>()
    };
    let federated: Vec<_> = trusting.iter().flat_map(of).collect();
    if !federated.is_empty() {
        context["federated"] = federated.into();
    }
    if let Some(storage) = storage(fleet, worker) {
        context["issuerStorage"] = json!(storage);
    }
}

/// Where the keys of a worker's service accounts are written; `None` where people do that, or its cloud does.
pub(super) fn storage<'a>(fleet: &'a Fleet, worker: &Worker) -> Option<&'a IssuerStorage> {
    let azure = fleet.azure(worker.spec.credentials.as_deref())?;
    let is_rendered = worker.renders(RenderedWith::IssuerStorage) && !worker.has_issuer_of_cloud();
    let storage = azure.oidc_issuer_storage.as_ref();
    storage.filter(|_| is_rendered && azure.oidc_issuer_prefix.is_some())
}

/// Where the keys of the workers of a fleet are written and read, by the entries of its credentials.
pub(super) fn issuers(fleet: &FleetSpec) -> Value {
    let all = fleet.credentials.iter().filter_map(|entry| {
        let azure = entry.azure.as_ref()?;
        let mut issuer = json!(azure.oidc_issuer_storage.as_ref()?);
        issuer["prefix"] = azure.oidc_issuer_prefix.as_deref()?.trim_end_matches('/').into();
        Some(issuer)
    });
    all.collect()
}

/// What people do for it, once for a worker.
pub(super) fn preparations(fleet: &Fleet, worker: &Worker) -> Vec<Preparation> {
    let Some(azure) = fleet.azure(worker.spec.credentials.as_deref()) else { return Vec::new() };
    let own_issuer = worker.has_issuer_of_cloud().then(|| of_aks(azure, worker));
    let Some(issuer) = own_issuer.or_else(|| azure.issuer(&worker.name)) else {
        return Vec::new();
    };
    let by_hand = !worker.has_issuer_of_cloud() && storage(fleet, worker).is_none();
    let mut all: Vec<_> = by_hand.then(|| published(worker, &issuer)).into_iter().collect();
    let people = fleet.azure_on(worker).filter(|(_, azure)| !fleet.is_trusted_by(worker, azure));
    all.extend(people.flat_map(|entry| credentials(fleet, worker, entry, &issuer)));
    all
}

/// What is done once for the fleet so that Azure Service Operator makes federated credentials: whoever it acts as is trusted
/// on the control-plane cluster, and may say whom the others trust.
pub(super) fn assignments(fleet: &Fleet, worker: &Worker) -> Vec<Preparation> {
    let Some(own) = fleet.azure(worker.spec.credentials.as_deref()) else { return Vec::new() };
    let trusting = fleet.trusting(worker);
    let step = |why: String, command: String| Preparation {
        cluster: Where::Azure,
        once: Once::Fleet,
        why,
        command,
    };
    let mut all = Vec::new();
    let hub = fleet.spec.control_plane.as_ref();
    if let (Some(hub), Some(_), false) = (hub, &own.identity, trusting.is_empty()) {
        let hub = &hub.name;
        all.extend(fleet.azure_accounts().map(|(account, what)| {
            let why = format!("lets {account} on {hub} act as the identity that makes workers");
            let issuer =
                "\"$(kubectl get --raw /.well-known/openid-configuration | jq -r .issuer)\"";
            step(why, create(own, &format!("{hub}-{what}"), issuer, &account))
        }));
    }
    all.extend(trusting.into_iter().map(|TrustingIdentity { entry, id }| {
        let why = format!(
            "Azure Service Operator makes the federated credentials of `{entry}`, {MOST_FEDERATED} at most"
        );
        let client = &own.client_id;
        let command = format!("az role assignment create --role \"{TRUST}\" --assignee {client} --scope {id}");
        step(why, command)
    }));
    all
}

/// The step that makes an issuer one that can be asked. An API server names its own address for its keys.
fn published(worker: &Worker, issuer: &str) -> Preparation {
    let name = &worker.name;
    Preparation {
        cluster: Where::Worker,
        once: Once::Worker,
        why: format!(
            "Azure verifies the tokens of {name} with these keys: publish them at {issuer}/openid/v1/jwks, and the \
             document that says so at {issuer}/.well-known/openid-configuration"
        ),
        command: format!(
            "kubectl get --raw /openid/v1/jwks > jwks && kubectl get --raw /.well-known/openid-configuration | \
             jq '.jwks_uri = \"{issuer}/openid/v1/jwks\"' > openid-configuration"
        ),
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
fn credentials(
    fleet: &Fleet,
    worker: &Worker,
    (entry, azure): (&str, &AzureCredentials),
    issuer: &str,
) -> impl Iterator<Item = Preparation> {
    fleet.azure_accounts().map(move |(account, what)| {
        let name = &worker.name;
        Preparation {
            cluster: Where::Azure,
            once: Once::Worker,
            why: format!("lets {account} on {name} act as the identity of `{entry}`"),
            command: create(azure, &format!("{name}-{what}"), issuer, &account),
        }
    })
}

/// The command that makes a federated credential. An identity that `carp.yaml` does not have is named by whoever runs it.
fn create(azure: &AzureCredentials, name: &str, issuer: &str, account: &str) -> String {
    let parts: Vec<_> = azure.identity.as_deref().unwrap_or_default().split('/').collect();
    let identity = match parts[..] {
        // `/subscriptions/…/resourceGroups/…/providers/Microsoft.ManagedIdentity/userAssignedIdentities/…`
        [_, _, subscription, _, group, _, _, _, name] => {
            format!("--identity-name {name} --resource-group {group} --subscription {subscription}")
        }
        _ => "--identity-name IDENTITY --resource-group GROUP".to_owned(),
    };
    format!(
        "az identity federated-credential create --name {name} {identity} --issuer {issuer} \
         --subject system:serviceaccount:{account} --audiences api://AzureADTokenExchange"
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixture::fleet;
    use super::*;
    use crate::model::api::{ControlPlaneCluster, Tenant};

    const IDENTITY: &str = "/subscriptions/subscription/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/capz";

    /// A fleet whose entry says where its issuers are.
    fn issuing() -> (Fleet, Worker) {
        let mut fleet = fleet();
        let azure = fleet.spec.credentials[0].azure.as_mut().unwrap();
        azure.oidc_issuer_prefix = Some("https://oidc.example.com".to_owned());
        azure.resource_group_prefix = Some("rg-".to_owned());
        let worker = fleet.workers.values().next().unwrap().clone();
        (fleet, worker)
    }

    /// What the templates get of whom is trusted: each credential's account and the last part of its identity.
    fn federated(fleet: &Fleet, worker: &Worker) -> Vec<(String, String, Value)> {
        let mut context = json!({"issuer": "https://oidc.example.com/wk-1"});
        add(&mut context, fleet, worker);
        let all = context["federated"].as_array().cloned().unwrap_or_default().into_iter();
        let text = |value: &Value| value.as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        all.map(|one| (text(&one["identity"]), text(&one["account"]), one["issuer"].clone()))
            .collect()
    }

    #[test]
    fn an_issuer_of_the_clouds_own_is_asked_for() {
        let (fleet, mut worker) = issuing();
        let steps = preparations(&fleet, &worker);
        assert_eq!((steps.len(), &steps[0].cluster), (3, &Where::Worker));
        assert!(steps[0].command.contains(".jwks_uri = \"https://oidc.example.com/wk-1/openid"));
        assert!(steps[1].command.contains("--issuer https://oidc.example.com/wk-1 --subject"));
        assert!(steps[1].command.contains("--identity-name IDENTITY --resource-group GROUP"));
        worker.spec.flavor = Some("aks".to_owned());
        let steps = preparations(&fleet, &worker);
        assert_eq!(steps.len(), 2, "nobody publishes keys: {steps:#?}");
        let asked = "--resource-group rg-wk-1 --name wk-1 --query oidcIssuerProfile.issuerUrl";
        assert!(steps.iter().all(|step| step.command.contains(asked)), "{steps:#?}");
    }

    #[test]
    fn an_identity_that_is_known_trusts_workers_by_objects() {
        let (mut fleet, mut worker) = issuing();
        fleet.spec.control_plane =
            Some(ControlPlaneCluster { name: "hub".into(), ..ControlPlaneCluster::default() });
        let azure = fleet.spec.credentials[0].azure.as_mut().unwrap();
        azure.identity = Some(IDENTITY.to_owned());
        azure.oidc_issuer_storage = Some(IssuerStorage { to: "oidc:web".into(), secret_ref: None });
        for (flavor, issuer) in
            [("capz", json!("https://oidc.example.com/wk-1")), ("aks", Value::Null)]
        {
            worker.spec.flavor = Some(flavor.to_owned());
            assert_eq!(preparations(&fleet, &worker), [], "{flavor}");
            let one = |what: &str| ("capz".to_owned(), what.to_owned(), issuer.clone());
            assert_eq!(federated(&fleet, &worker), [one("capz"), one("aso")], "{flavor}");
            assert_eq!(storage(&fleet, &worker).is_some(), flavor == "capz");
            let allowed = assignments(&fleet, &worker);
            assert_eq!(allowed.len(), 3, "{flavor}: {allowed:#?}");
            assert!(allowed.iter().all(|step| step.once == Once::Fleet));
            let on_hub = "--name hub-capz --identity-name capz --resource-group g --subscription subscription --issuer";
            assert!(allowed[0].command.contains(on_hub), "{}", allowed[0].command);
            assert!(allowed[2].command.ends_with(&format!("--scope {IDENTITY}")));
        }
        // Azure Service Operator acts in one subscription only, and people in any.
        let mut elsewhere = fleet.clone();
        let azure = elsewhere.spec.credentials[0].azure.as_mut().unwrap();
        azure.identity = Some(IDENTITY.replace("/subscription/", "/other/"));
        assert_eq!(federated(&elsewhere, &worker), []);
        assert_eq!(preparations(&elsewhere, &worker).len(), 2);
        // A flavor that does not render what is wanted leaves it to people.
        worker.spec.flavor = Some("attached".to_owned());
        assert_eq!(federated(&fleet, &worker), []);
    }

    #[test]
    fn those_of_tenants_that_may_come_are_trusted_too() {
        let (mut fleet, mut worker) = issuing();
        for name in ["pay", "shop", "foreign"] {
            let mut entry = fleet.spec.credentials[0].clone();
            entry.name = name.to_owned();
            let azure = entry.azure.as_mut().unwrap();
            azure.identity = Some(IDENTITY.replace("/capz", &format!("/{name}")));
            if name == "foreign" {
                azure.tenant_id = "another directory".to_owned();
            }
            fleet.spec.credentials.push(entry);
        }
        let tenant = |name: &str, pool: &str| Tenant {
            name: name.to_owned(),
            pools: Some(vec![pool.to_owned()]),
            credentials: Some(vec![name.to_owned()]),
            ..Tenant::default()
        };
        fleet.spec.tenants =
            vec![tenant("pay", "shared"), tenant("shop", "other"), tenant("foreign", "shared")];
        worker.spec.credentials = Some("main".to_owned());
        worker.spec.pool = Some("shared".to_owned());
        let all = federated(&fleet, &worker);
        let names: Vec<_> =
            all.iter().map(|(identity, what, _)| format!("{identity} {what}")).collect();
        assert_eq!(names, ["pay capz", "pay aso"]);
        let by_hand = preparations(&fleet, &worker);
        // The keys, the worker's own identity, which is not known, and one of another directory, which is not ours to tell.
        assert_eq!(by_hand.len(), 5, "{by_hand:#?}");
        assert!(by_hand[4].command.contains("--identity-name foreign "), "{by_hand:#?}");
        // Without tenants any cluster may come with any of them.
        fleet.spec.tenants.clear();
        let pay = |all: Vec<(String, String, Value)>| {
            all.into_iter().map(|one| one.0).collect::<Vec<_>>()
        };
        assert_eq!(pay(federated(&fleet, &worker)), ["pay", "pay", "shop", "shop"]);
    }
}
