//! The filters: which workers can take a cluster at all. All of them run for every worker, so that the
//! reasons are complete and always in the same order.

mod affinity;
mod capacity;
mod groups;
mod pools;
mod ready;
mod schedulable;
mod taints;
mod tenancy;
mod version;

use super::candidate::{Candidate, Reads, Request};
use crate::model::{Quantity, Reason, ReasonCode, Resources};

/// One rule that a worker must pass.
#[cfg_attr(not(test), expect(dead_code, reason = "tests hold the rules to what they declare"))]
pub(super) struct Filter {
    /// The name of the rule.
    pub(super) name: &'static str,
    /// What the rule depends on.
    pub(super) reads: &'static [Reads],
    /// Adds why the worker does not pass; nothing where it does.
    pub(super) refuse: fn(&Request<'_>, &Candidate<'_>, &mut Vec<Reason>),
}

/// Every filter. The order is that of the reasons.
pub(super) const FILTERS: [Filter; 9] = [
    Filter { name: "ready", reads: ready::READS, refuse: ready::refuse },
    Filter { name: "schedulable", reads: schedulable::READS, refuse: schedulable::refuse },
    Filter { name: "capacity", reads: capacity::READS, refuse: capacity::refuse },
    Filter { name: "affinity", reads: affinity::READS, refuse: affinity::refuse },
    Filter { name: "groups", reads: groups::READS, refuse: groups::refuse },
    Filter { name: "taints", reads: taints::READS, refuse: taints::refuse },
    Filter { name: "tenancy", reads: tenancy::READS, refuse: tenancy::refuse },
    Filter { name: "pools", reads: pools::READS, refuse: pools::refuse },
    Filter { name: "version", reads: version::READS, refuse: version::refuse },
];

/// Adds every reason for which a worker does not take a cluster, sorted and each once.
pub(super) fn refuse(request: &Request<'_>, candidate: &Candidate<'_>, reasons: &mut Vec<Reason>) {
    for filter in &FILTERS {
        (filter.refuse)(request, candidate, reasons);
    }
    reasons.sort();
    reasons.dedup();
}

/// Whether the capacity rule refuses a worker for what a cluster needs, as
/// [`ReasonCode::Capacity`](crate::model::ReasonCode) says it.
pub(super) fn lacks_capacity(demand: &Resources, candidate: &Candidate<'_>) -> bool {
    capacity::refusals(demand, candidate).any(|r| r.code() == ReasonCode::Capacity)
}

/// Why a worker takes nothing new, whatever the cluster. Every cluster takes one of `clusters`.
pub(super) fn closed(candidate: &Candidate<'_>) -> Vec<Reason> {
    let mut reasons = Vec::new();
    ready::of_worker(candidate, &mut reasons);
    schedulable::of_worker(candidate, &mut reasons);
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
    fn only_the_capacity_filter_depends_on_what_is_placed() {
        // On this stands that a cluster which waits never fits later in the same run, and that the
        // reasons of a cluster which already lacks capacity stay as they are.
        let moving =
            |f: &&Filter| f.reads.iter().any(|r| matches!(r, Reads::Allocated | Reads::Clusters));
        let names: Vec<_> = FILTERS.iter().filter(moving).map(|f| f.name).collect();
        assert_eq!(names, ["capacity"]);
    }

    #[test]
    fn every_filter_has_a_name_of_its_own() {
        let names: BTreeSet<_> = FILTERS.iter().map(|f| f.name).collect();
        assert_eq!(names.len(), FILTERS.len());
    }
}
