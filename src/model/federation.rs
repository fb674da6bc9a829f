//! Whom the identities of `credentials` trust on a worker, so that what runs there acts in Azure without a secret.
//!
//! The controllers of a worker make clusters as the identity of each, so the worker's service accounts are trusted by its
//! own identity and by those of all clusters that may come. Where the worker is made, on the control-plane cluster,
//! the same controllers act as the worker's own. An identity has so many federated credentials at most, whatever they
//! are for.

use std::collections::BTreeSet;

use super::api::{AzureCredentials, Tenant};
use super::{Brings, FlavorKind, Fleet, Nodes, RenderedWith, Worker};

/// How many federated credentials an identity may have (Azure, "Important considerations and restrictions for federated
/// identity credentials").
pub const MOST_FEDERATED: usize = 20;

/// An identity that trusts the service accounts of a worker, by objects that carp renders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustingIdentity<'a> {
    /// The first entry of `credentials` that it is of.
    pub entry: &'a str,
    /// Its resource id.
    pub id: &'a str,
}

impl Fleet {
    /// The Azure credentials of that name, or the only ones where no name is given.
    #[must_use]
    pub fn azure(&self, name: Option<&str>) -> Option<&AzureCredentials> {
        let mut all = self.spec.credentials.iter();
        let entry = match name {
            Some(name) => all.find(|entry| entry.name == name),
            None => all.next().filter(|_| self.spec.credentials.len() == 1),
        };
        entry?.azure.as_ref()
    }

    /// The service accounts that act in Azure, each with what the name of its federated credential ends in.
    pub fn azure_accounts(&self) -> impl Iterator<Item = (String, &str)> {
        self.catalogue.providers().flat_map(|provider| {
            let account = |account: &str| format!("{}:{account}", provider.namespace);
            let all = provider.identities.iter();
            all.map(move |identity| (account(&identity.service_account), identity.suffix.as_str()))
        })
    }

    /// The entries with Azure credentials that something on a worker may act with: its own first, then those that
    /// clusters may have that may come.
    pub fn azure_on<'a>(
        &'a self,
        worker: &'a Worker,
    ) -> impl Iterator<Item = (&'a str, &'a AzureCredentials)> {
        let own = self.azure(worker.spec.credentials.as_deref());
        let is_own =
            move |azure: &AzureCredentials| own.is_some_and(|own| std::ptr::eq(own, azure));
        let tenants = &self.spec.tenants;
        let may_come = |tenant: &Tenant| {
            let pool = worker.spec.pool.as_ref();
            tenant.pools.as_ref().is_none_or(|pools| pool.is_some_and(|pool| pools.contains(pool)))
        };
        let may_be_used = move |name: &str| {
            tenants.is_empty()
                || tenants.iter().any(|tenant| may_come(tenant) && tenant.may_use(name))
        };
        let all = self.spec.credentials.iter();
        let all = all.filter_map(|entry| Some((entry.name.as_str(), entry.azure.as_ref()?)));
        let first = all.clone().filter(move |(_, azure)| is_own(azure));
        let others = all.filter(move |(name, azure)| !is_own(azure) && may_be_used(name));
        first.chain(others)
    }

    /// Whether carp renders what makes an entry trust a worker: the identity is known, it can be told of by whoever makes
    /// the worker, who is of one directory and of its subscription, and the worker has an issuer and a flavor that renders
    /// it. Azure Service Operator refuses owners of another subscription than its credential's, and keeps such an object
    /// when it is deleted (`v2/internal/reconcilers/arm/azure_generic_arm_reconciler_instance.go`, `checkSubscription`).
    #[must_use]
    pub fn is_trusted_by(&self, worker: &Worker, azure: &AzureCredentials) -> bool {
        let own = self.azure(worker.spec.credentials.as_deref());
        let lies_in = |own: &AzureCredentials| {
            let subscription = azure.identity.as_deref().and_then(|id| id.split('/').nth(2));
            subscription.is_some_and(|of| of.eq_ignore_ascii_case(&own.subscription_id))
        };
        own.is_some_and(lies_in)
            && own.is_some_and(|own| own.tenant_id == azure.tenant_id)
            && worker.renders(RenderedWith::Identity)
            && (worker.has_issuer_of_cloud()
                || own.is_some_and(|own| own.issuer(&worker.name).is_some()))
    }

    /// The identities that trust a worker by objects, each once.
    #[must_use]
    pub fn trusting<'a>(&'a self, worker: &'a Worker) -> Vec<TrustingIdentity<'a>> {
        let mut seen = BTreeSet::new();
        let known = self.azure_on(worker).filter(|(_, azure)| self.is_trusted_by(worker, azure));
        let all = known.filter_map(|(entry, azure)| {
            Some(TrustingIdentity { entry, id: azure.identity.as_deref()? })
        });
        all.filter(|identity| seen.insert(identity.id.to_ascii_lowercase())).collect()
    }
}

impl Worker {
    /// Whether its flavor has objects that are rendered with a setting.
    #[must_use]
    pub fn renders(&self, with: RenderedWith) -> bool {
        self.nodes() != Nodes::Existing
            && self.manifest().is_some_and(|flavor| {
                flavor.objects_of(FlavorKind::Worker).any(|object| object.with == Some(with))
            })
    }

    /// Whether its cloud publishes who issues its service accounts' tokens.
    #[must_use]
    pub fn has_issuer_of_cloud(&self) -> bool {
        self.manifest().is_some_and(|flavor| flavor.brings(Brings::Issuer))
    }
}

impl AzureCredentials {
    /// The issuer of the service accounts' tokens of one worker.
    #[must_use]
    pub fn issuer(&self, worker: &str) -> Option<String> {
        let prefix = self.oidc_issuer_prefix.as_deref()?;
        Some(format!("{}/{worker}", prefix.trim_end_matches('/')))
    }
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
        assert_eq!(fleet.azure(None).unwrap().client_id, "a");
        fleet.spec.credentials.push(entry("b"));
        assert!(fleet.azure(None).is_none());
        assert_eq!(fleet.azure(Some("b")).unwrap().client_id, "b");
    }

    #[test]
    fn an_issuer_has_no_double_slash() {
        let credentials = |prefix: &str| AzureCredentials {
            oidc_issuer_prefix: Some(prefix.into()),
            ..AzureCredentials::default()
        };
        for prefix in ["https://oidc.example.com", "https://oidc.example.com/"] {
            let issuer = credentials(prefix).issuer("w");
            assert_eq!(issuer.as_deref(), Some("https://oidc.example.com/w"));
        }
    }
}
