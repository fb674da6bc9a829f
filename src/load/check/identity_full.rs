//! `identity-full`: an identity trusts service accounts of more workers than Azure lets it have federated credentials. It is a
//! warning, for a pool makes workers by itself and the others are as good as before; Azure refuses those that are too many.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Code, Diagnostic, Diagnostics, FieldPath, Place};
use crate::model::paths::FLEET_FILE;
use crate::model::{Fleet, MOST_FEDERATED, count};

/// What an identity is to trust.
#[derive(Default)]
struct Trust<'a> {
    /// The entry that it is of, and its resource id as that has it.
    identity: (&'a str, &'a str),
    workers: BTreeSet<&'a str>,
    /// Whether workers are made as it, on the control-plane cluster.
    makes_workers: bool,
}

/// Looks at all workers as they loaded.
pub(in crate::load) fn check(fleet: &Fleet, out: &mut Diagnostics) {
    let accounts = fleet.azure_accounts().count();
    let mut trust = BTreeMap::<String, Trust<'_>>::new();
    for worker in fleet.workers.values() {
        let own = fleet.azure(worker.spec.credentials.as_deref());
        let own = own.and_then(|azure| azure.identity.as_deref());
        for identity in fleet.trusting(worker) {
            let of = trust.entry(identity.id.to_ascii_lowercase()).or_default();
            of.identity = (identity.entry, identity.id);
            of.workers.insert(&worker.name);
            of.makes_workers |= own.is_some_and(|own| own.eq_ignore_ascii_case(identity.id));
        }
    }
    for of in trust.values() {
        let clusters = of.workers.len() + usize::from(of.makes_workers);
        if clusters * accounts > MOST_FEDERATED {
            out.push(full(fleet, of, accounts));
        }
    }
}

fn full(fleet: &Fleet, of: &Trust<'_>, accounts: usize) -> Diagnostic {
    let (entry, id) = of.identity;
    let name = id.rsplit('/').next().unwrap_or(id);
    let (workers, hub) = (of.workers.len(), usize::from(of.makes_workers));
    let beside = if of.makes_workers { " and the control-plane cluster" } else { "" };
    let message = format!(
        "the identity `{name}` would have {} of {}{beside}, and Azure allows {MOST_FEDERATED}",
        count(((workers + hub) * accounts) as u64, "federated credential"),
        count(workers as u64, "worker"),
    );
    let most = MOST_FEDERATED / accounts - hub;
    let help = format!(
        "it is enough for {}: let others name another entry of `credentials` with an identity of its own, and the \
         clusters of a tenant come to so many with its `pools`",
        count(most as u64, "worker"),
    );
    let index = fleet.spec.credentials.iter().position(|e| e.name == entry).unwrap_or_default();
    let path = FieldPath::keys("spec.credentials").index(index).key("azure").key("identity");
    let place = Place::field(FLEET_FILE.to_owned(), 0, path);
    Diagnostic::new(Code::IdentityFull, message).at(place).help(help)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, load_files, worker};
    use super::*;

    const REAL: &str = "subscriptionID: 11111111-1111-1111-1111-111111111111";
    const ID: &str = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/capz";

    fn found(workers: usize, azure: &str) -> Vec<Diagnostic> {
        let carp = CARP.replace(REAL, &format!("{REAL}\n      {azure}"));
        let one = |i: usize| worker("").replace("name: w1", &format!("name: w{i}"));
        let all: Vec<_> = (0..workers).map(one).collect();
        let text = all.join("---\n");
        let loaded = load_files(&[("carp.yaml", &*carp), ("fleet/w.yaml", &*text)]);
        assert!(!loaded.diagnostics.has_errors(), "{:?}", loaded.diagnostics);
        assert_eq!(loaded.fleet.workers.len(), workers);
        let all = loaded.diagnostics.iter().filter(|d| d.code == Code::IdentityFull);
        all.cloned().collect()
    }

    #[test]
    fn an_identity_has_so_many_federated_credentials() {
        let prefix = "oidcIssuerPrefix: https://oidc.example.com";
        let own = format!("identity: {ID}\n      {prefix}");
        assert_eq!(found(9, &own), []);
        let told = found(10, &own);
        assert_eq!(told.len(), 1);
        let message = "the identity `capz` would have 22 federated credentials of 10 workers and the control-plane \
                       cluster, and Azure allows 20";
        assert_eq!(told[0].message, message);
        let place = told[0].place.as_ref().unwrap();
        let path = FieldPath::keys("spec.credentials").index(0).key("azure").key("identity");
        assert_eq!((place.file.as_str(), place.field.as_ref()), (FLEET_FILE, Some(&path)));
        assert_eq!(found(10, prefix), [], "people do");
        assert_eq!(found(10, &format!("identity: {ID}")), [], "nobody issues");
    }
}
