//! The service accounts that apply the folders of a worker's clusters: one for each tenant of `carp.yaml`,
//! which reaches the namespaces of that tenant alone, and one for the clusters of all others.

use std::collections::BTreeSet;

use super::flux::{CLUSTER_APPLIER, FLUX_SYSTEM};
use super::object::{Document, objects_in};
use super::text;

/// The kind of the accounts.
const KIND: &str = "ServiceAccount";

/// The accounts that a worker's platform layer makes.
///
/// They are read off the layer as it stands, and not off `carp.yaml`: the layer of a worker may be an earlier
/// one, or a fleet's own template without such accounts. A Kustomization whose account is not there applies
/// nothing, and Flux lets go of what it made without deleting it (kustomize-controller, `finalize`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Appliers(BTreeSet<String>);

impl Appliers {
    /// Those of a platform layer, by its text; none where a document that speaks of one cannot be read.
    #[must_use]
    pub fn of(platform: &[u8]) -> Self {
        let all = text::of(platform);
        let all = Document::all(&all).filter(|document| document.text.contains(KIND));
        let all = objects_in([("", all.collect())].into()).unwrap_or_default();
        let own = all.iter().filter(|o| o.kind() == KIND && o.namespace() == FLUX_SYSTEM);
        Self(own.map(|object| object.name().to_owned()).collect())
    }

    /// The account for a tenant's clusters.
    pub(super) fn of_tenant(&self, tenant: &str) -> &str {
        let own = self.0.get(&account(tenant));
        own.map_or(CLUSTER_APPLIER, String::as_str)
    }
}

/// What a tenant's account is called.
fn account(tenant: &str) -> String {
    format!("{CLUSTER_APPLIER}-{tenant}")
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{fleet, of_tenants};
    use super::super::{Templates, worker_job};
    use super::*;
    use crate::model::{Fleet, paths};

    fn of(fleet: &Fleet) -> Appliers {
        let worker = fleet.workers.values().next().unwrap();
        let files = worker_job(fleet, worker, &Templates::built_in(), "").render().unwrap();
        Appliers::of(&files[paths::PLATFORM])
    }

    #[test]
    fn a_tenant_of_the_fleet_has_an_account_of_its_own() {
        let appliers = of(&of_tenants(&["pay", "shop"]));
        assert_eq!(appliers.of_tenant("pay"), "carp-clusters-pay");
        assert_eq!(appliers.of_tenant("shop"), "carp-clusters-shop");
        assert_eq!(appliers.of_tenant("default"), "carp-clusters");
    }

    #[test]
    fn where_the_layer_has_none_all_clusters_share_one() {
        for appliers in [of(&fleet()), Appliers::default(), Appliers::of(b"{")] {
            assert_eq!(appliers.of_tenant("pay"), "carp-clusters");
        }
    }
}
