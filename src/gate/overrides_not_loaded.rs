//! An override policy that may be about the cluster did not load, or nobody can tell whether one is about its worker:
//! without it the folder would be another one than people want.

use super::Objection;
use crate::model::api::OverrideTarget;
use crate::model::{Cluster, Fleet, GateReason, Name, Worker};

/// Whether all override policies are there that may be about a cluster on a worker; `known` says whether it could be told
/// which of those that loaded are.
///
/// # Errors
/// One of them is not.
pub fn overrides_not_loaded(
    fleet: &Fleet,
    cluster: &Cluster,
    worker: &Name,
    known: bool,
) -> Result<(), Objection> {
    let labels = fleet.workers.get(worker).map(|worker| &*worker.labels);
    let may_select = fleet.broken_overrides.iter().any(|broken| {
        broken.target != Some(OverrideTarget::Worker)
            && broken.cluster_selector.selects(&cluster.name, &cluster.labels)
            && broken.worker_selector.selects(worker, labels) != Some(false)
    });
    if may_select || !known {
        return Err(Objection::new(GateReason::OverridesNotLoaded));
    }
    Ok(())
}

/// Whether all override policies are there that may be about what a worker itself is made of.
///
/// # Errors
/// One of them is not.
pub fn worker_overrides_not_loaded(fleet: &Fleet, worker: &Worker) -> Result<(), Objection> {
    let may_select = fleet.broken_overrides.iter().any(|broken| {
        let selector = &broken.worker_selector;
        broken.target != Some(OverrideTarget::ManagedCluster)
            && selector.selects(&worker.name, Some(&worker.labels)) != Some(false)
    });
    if may_select { Err(Objection::new(GateReason::OverridesNotLoaded)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::{ClusterSelector, ManagedClusterSpec, WorkerSelector};
    use crate::model::{BrokenOverride, Catalogue, Digest, Resources};

    #[test]
    fn whom_a_broken_policy_may_select_keeps_what_it_has() {
        let name = |text: &str| Name::parse(text).unwrap();
        let cluster = Cluster {
            name: name("a"),
            tenant: "default".into(),
            labels: [].into(),
            facts: Digest::NONE,
            file: String::new(),
            document: 0,
            spec: ManagedClusterSpec::default().into(),
            demand: Resources::new(),
            catalogue: Catalogue::default(),
        };
        let may = |cluster_selector: ClusterSelector, worker_selector: WorkerSelector| {
            let broken = BrokenOverride { cluster_selector, worker_selector, ..Default::default() };
            let fleet = Fleet { broken_overrides: vec![broken], ..Fleet::default() };
            overrides_not_loaded(&fleet, &cluster, &name("w"), true).map_err(|o| o.reason)
        };
        let (any, refused) = (WorkerSelector::default(), Err(GateReason::OverridesNotLoaded));
        let named = |of: &str| ClusterSelector { names: vec![of.to_owned()], ..Default::default() };
        let on = |of: &str| WorkerSelector { names: vec![of.to_owned()], ..Default::default() };
        assert_eq!(may(ClusterSelector::default(), any.clone()), refused);
        assert_eq!(may(named("a"), any.clone()), refused);
        assert_eq!(may(named("b"), any), Ok(()));
        assert_eq!(may(named("a"), on("w")), refused);
        assert_eq!(may(named("a"), on("v")), Ok(()));
        let labels = WorkerSelector { match_labels: [("a".into(), "b".into())].into(), ..on("w") };
        assert_eq!(may(named("a"), labels), refused, "nobody knows the worker's labels");
        let none = overrides_not_loaded(&Fleet::default(), &cluster, &name("w"), false);
        assert!(none.is_err(), "nobody can tell which there are");
    }
}
