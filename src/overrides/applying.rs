//! Which policies a cluster has, and which a worker itself.

use std::sync::Arc;

use super::apply::Overrides;
use crate::model::{
    Cluster, Flavor, FlavorKind, Fleet, Name, Override, OverrideReach, Worker, override_reach,
};

/// The policies that a cluster has on its worker, in the order of their turns. Those of which the cluster's flavor has
/// no object are left out, so that they cost its folder nothing.
///
/// `None` where nobody can tell: a policy selects workers by their labels, and the worker has no document that loaded.
#[must_use]
pub fn applying(fleet: &Fleet, cluster: &Cluster, worker: &Name) -> Option<Overrides> {
    let mut all: Vec<&Arc<Override>> = Vec::new();
    for policy in fleet.overrides.values().filter(|policy| selects_cluster(policy, cluster)) {
        let labels = fleet.workers.get(worker).map(|worker| &*worker.labels);
        if policy.spec.worker_selector.selects(worker, labels)? {
            all.push(policy);
        }
    }
    Some(in_turn(all))
}

/// The policies that the layers on a worker have, in the order of their turns.
#[must_use]
pub fn applying_to_layers(fleet: &Fleet, worker: &Worker) -> Overrides {
    of_worker(fleet, worker, |api_version, kind| {
        matches!(override_reach(api_version, kind), OverrideReach::Fields(_))
    })
}

/// The policies that the cluster has which a worker is, in the order of their turns.
#[must_use]
pub fn applying_to_worker(fleet: &Fleet, worker: &Worker) -> Overrides {
    let has = |flavor: &Flavor, api_version: &str, kind: &str| {
        let mut all = flavor.objects_of(FlavorKind::Worker);
        all.any(|object| object.api_version == api_version && object.kind == kind)
    };
    of_worker(fleet, worker, |api_version, kind| {
        worker.manifest().is_some_and(|flavor| has(flavor, api_version, kind))
            && !matches!(override_reach(api_version, kind), OverrideReach::Nothing(_))
    })
}

/// The policies of a worker that select objects of a kind that may be there.
fn of_worker(fleet: &Fleet, worker: &Worker, may_be: impl Fn(&str, &str) -> bool) -> Overrides {
    let may_select = |policy: &&Arc<Override>| {
        policy.selects_worker(worker)
            && policy.spec.objects.iter().any(|object| may_be(&object.api_version, &object.kind))
    };
    in_turn(fleet.overrides.values().filter(may_select).collect())
}

fn in_turn(mut all: Vec<&Arc<Override>>) -> Overrides {
    // They come by name.
    all.sort_by_key(|policy| policy.spec.priority);
    Overrides::new(all.into_iter().cloned().collect())
}

/// Whether a policy is about a cluster, on whatever worker that is.
#[must_use]
pub fn selects_cluster(policy: &Override, cluster: &Cluster) -> bool {
    policy.selects_cluster(cluster.name.as_str(), &cluster.labels)
        && policy.spec.objects.iter().any(|object| {
            let known =
                |flavor: &Flavor| flavor.object(&object.api_version, &object.kind).is_some();
            cluster.manifest().is_some_and(known)
        })
}
