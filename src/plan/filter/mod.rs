//! The filters: which workers can take a cluster at all. All of them run for every worker, so that the
//! reasons are complete and always in the same order.

mod affinity;
mod anti_affinity;
mod capacity;
mod data_store;
mod eviction;
mod groups;
mod namespace;
mod network;
mod pools;
mod quota;
mod ready;
mod schedulable;
mod spread;
mod taints;
mod tenancy;
mod version;

use super::candidate::{Candidate, Request};
use super::depends_on::DependsOn;
use crate::model::{Quantity, Reason, ReasonCode, Resources, Worker, WorkerPlan, WorkerState};

/// One rule that a worker must pass.
#[derive(Debug)]
pub(super) struct Filter {
    /// The name of the rule.
    pub(super) name: &'static str,
    /// What the rule depends on.
    pub(super) reads: &'static [DependsOn],
    /// Adds why the worker does not pass; nothing where it does.
    pub(super) refuse: fn(&Request<'_>, &Candidate<'_>, &mut Vec<Reason>),
}

/// Every filter. The order is that of the reasons.
pub(super) const FILTERS: [Filter; 16] = [
    Filter { name: "ready", reads: ready::READS, refuse: ready::refuse },
    Filter { name: "schedulable", reads: schedulable::READS, refuse: schedulable::refuse },
    Filter { name: "capacity", reads: capacity::READS, refuse: capacity::refuse },
    Filter { name: "affinity", reads: affinity::READS, refuse: affinity::refuse },
    Filter { name: "groups", reads: groups::READS, refuse: groups::refuse },
    Filter { name: "taints", reads: taints::READS, refuse: taints::refuse },
    Filter { name: "tenancy", reads: tenancy::READS, refuse: tenancy::refuse },
    Filter { name: "pools", reads: pools::READS, refuse: pools::refuse },
    Filter { name: "version", reads: version::READS, refuse: version::refuse },
    Filter { name: "network", reads: network::READS, refuse: network::refuse },
    Filter { name: "data-store", reads: data_store::READS, refuse: data_store::refuse },
    Filter { name: "namespace", reads: namespace::READS, refuse: namespace::refuse },
    Filter { name: "spread", reads: spread::READS, refuse: spread::refuse },
    Filter { name: "anti-affinity", reads: anti_affinity::READS, refuse: anti_affinity::refuse },
    Filter { name: "quota", reads: quota::READS, refuse: quota::refuse },
    Filter { name: "eviction", reads: eviction::READS, refuse: eviction::refuse },
];

/// Adds every reason for which a worker does not take a cluster, sorted and each once.
pub(super) fn refuse(request: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    for filter in &FILTERS {
        (filter.refuse)(request, candidate, reasons);
    }
    if reasons.len() > 1 {
        reasons.sort();
        reasons.dedup();
    }
}

/// Whether a worker refuses a cluster whoever is placed on whichever worker: by a rule that does not read that, or for want of
/// room, of which there is only less. One that may grow may have more of it, and one that is being made may come to be there.
pub(super) fn refuses_for_good(request: &Request<'_>, candidate: &Candidate<'_>) -> bool {
    if candidate.plan.pending.is_some() {
        return false;
    }
    let may_grow = !candidate.plan.ceiling.is_empty();
    let stays = |filter: &&Filter| {
        !filter.reads.contains(&DependsOn::Placed) && (filter.name != "capacity" || !may_grow)
    };
    let mut reasons = Vec::new();
    FILTERS.iter().filter(stays).any(|filter| {
        (filter.refuse)(request, candidate, &mut reasons);
        !reasons.is_empty()
    })
}

/// The rules that say which workers a cluster may use at all, now and later: their domains are those over
/// which it is spread.
pub(super) const MEMBERSHIP: [&str; 4] = ["affinity", "groups", "tenancy", "pools"];

/// Whether a cluster may use a worker at all.
pub(super) fn may_use(request: &Request<'_>, candidate: &Candidate<'_>) -> bool {
    let mut reasons = Vec::new();
    for filter in FILTERS.iter().filter(|filter| MEMBERSHIP.contains(&filter.name)) {
        (filter.refuse)(request, candidate, &mut reasons);
    }
    reasons.is_empty()
}

/// The filters that a placed cluster's worker should still pass. What only keeps new clusters away
/// (readiness, cordons, room, taints) is no violation.
const OF_PLACED: [&str; 4] = ["affinity", "groups", "tenancy", "pools"];

/// Why a placed cluster's policy would not place it on its worker now.
pub(super) fn violations(request: &Request<'_>, worker: &Worker) -> Vec<Reason> {
    let candidate = Candidate {
        name: &worker.name,
        worker: Some(worker),
        health: None,
        foreign: None,
        plan: WorkerPlan {
            state: WorkerState::Desired,
            capacity: Resources::new(),
            reserved: Resources::new(),
            ceiling: Resources::new(),
            allocated: Resources::new(),
            clusters: 0,
            pending: None,
        },
        uses_ceiling: false,
        assumed: Vec::new(),
        reserving: false,
    };
    let mut reasons = Vec::new();
    for filter in FILTERS.iter().filter(|filter| OF_PLACED.contains(&filter.name)) {
        (filter.refuse)(request, &candidate, &mut reasons);
    }
    reasons.sort();
    reasons.dedup();
    reasons
}

/// Whether the capacity rule refuses a worker for what a cluster needs, as
/// [`ReasonCode::Capacity`](crate::model::ReasonCode) says it.
pub(super) fn lacks_capacity(demand: &Resources, candidate: &Candidate<'_>) -> bool {
    capacity::codes(demand, candidate).any(|code| code == ReasonCode::Capacity)
}

/// Why the capacity rule refuses a worker.
pub(super) fn capacity_codes(
    demand: &Resources,
    candidate: &Candidate<'_>,
) -> impl Iterator<Item = ReasonCode> {
    capacity::codes(demand, candidate)
}

/// Why a worker takes nothing new, whatever room it has.
pub(super) fn shut(candidate: &Candidate<'_>) -> Vec<Reason> {
    let mut reasons = Vec::new();
    ready::of_worker(candidate, &mut reasons);
    schedulable::of_worker(candidate, &mut reasons);
    reasons
}

/// Why a worker takes nothing new, whatever the cluster. Every cluster takes one of `clusters`.
pub(super) fn closed(candidate: &Candidate<'_>) -> Vec<Reason> {
    let mut reasons = shut(candidate);
    let one = [("clusters".to_owned(), Quantity::units(1))].into();
    reasons.extend(capacity::refusals(&one, candidate));
    reasons.sort();
    reasons
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_depends_on_what_is_placed_is_capacity_or_in_the_scenes() {
        // On this stands when a cluster that was refused is looked at again: what is free only shrinks,
        // and the rest is compared as the grounds of the refusal.
        let reading = |wanted: &[DependsOn]| -> Vec<_> {
            let reads = |f: &&Filter| f.reads.iter().any(|r| wanted.contains(r));
            FILTERS.iter().filter(reads).map(|f| f.name).collect()
        };
        assert_eq!(reading(&[DependsOn::Allocated, DependsOn::Clusters]), ["capacity"]);
        assert_eq!(reading(&[DependsOn::Placed]), ["spread", "anti-affinity", "quota"]);
    }

    #[test]
    fn whether_a_cluster_may_use_a_worker_does_not_depend_on_what_is_placed() {
        let of_membership = FILTERS.iter().filter(|f| MEMBERSHIP.contains(&f.name));
        let reads: BTreeSet<_> = of_membership.flat_map(|f| f.reads).collect();
        assert!(reads.contains(&DependsOn::Labels) && reads.contains(&DependsOn::Tenants));
        for moving in
            [DependsOn::Allocated, DependsOn::Clusters, DependsOn::Placed, DependsOn::Health]
        {
            assert!(!reads.contains(&moving), "{moving:?}");
        }
    }

    #[test]
    fn every_filter_has_a_name_of_its_own() {
        let names: BTreeSet<_> = FILTERS.iter().map(|f| f.name).collect();
        assert_eq!(names.len(), FILTERS.len());
    }
}
