//! Which policies a cluster has.

use std::sync::Arc;

use super::apply::Overrides;
use crate::model::{Cluster, Flavor, Fleet, Name, Override};

/// The policies that a cluster has on its worker, in the order of their turns. Those of which the cluster's flavor has
/// no object are left out, so that they cost its folder nothing.
///
/// `None` where nobody can tell: a policy selects workers by their labels, and the worker has no document that loaded.
#[must_use]
pub fn applying(fleet: &Fleet, cluster: &Cluster, worker: &Name) -> Option<Overrides> {
    let mut all: Vec<&Arc<Override>> = Vec::new();
    for policy in fleet.overrides.values().filter(|policy| selects_cluster(policy, cluster)) {
        let labels = fleet.workers.get(worker).map(|worker| &worker.labels);
        if policy.spec.worker_selector.selects(worker, labels)? {
            all.push(policy);
        }
    }
    // They come by name.
    all.sort_by_key(|policy| policy.spec.priority);
    Some(Overrides::new(all.into_iter().cloned().collect()))
}

/// Whether a policy is about a cluster, on whatever worker that is.
#[must_use]
pub fn selects_cluster(policy: &Override, cluster: &Cluster) -> bool {
    policy.spec.cluster_selector.selects(cluster.name.as_str(), &cluster.labels)
        && policy.spec.objects.iter().any(|object| {
            let known =
                |flavor: &Flavor| flavor.object(&object.api_version, &object.kind).is_some();
            cluster.manifest().is_some_and(known)
        })
}
