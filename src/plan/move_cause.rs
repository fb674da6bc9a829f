//! What names a placed cluster, so that it should leave its worker.

use jiff::Timestamp;

use super::candidate::{Pools, Request};
use super::clock::after;
use super::ongoing::Ongoing;
use super::policy::Policies;
use super::pre_filter_state::NOTHING;
use super::{PlanInput, filter, toleration};
use crate::model::api::{Observation, OnViolation, PlacementPolicySpec, Taint, TaintEffect};
use crate::model::{Cluster, Freshness, MoveCause, Name, Observed, Offer, Reason, Worker};

/// Since when an observed worker is lost: silent, or unhealthy by its own reports. One that never reported
/// was never there to be lost.
pub(super) fn lost_since(worker: &Worker, observed: &Observed, name: &Name) -> Option<Timestamp> {
    let report = observed.workers.get(name)?;
    match (worker.spec.observation, report.freshness) {
        (Observation::None, _) => None,
        (_, Freshness::Silent) => Some(report.freshness_since),
        (_, Freshness::Fresh) => (!report.healthy).then_some(report.healthy_since),
    }
}

/// What names a cluster on a worker. A person's own word goes before what carp concludes.
pub(super) fn named(
    input: &PlanInput<'_>,
    policies: &Policies<'_>,
    cluster: &Cluster,
    on: &Name,
) -> Option<MoveCause> {
    let worker = input.fleet.workers.get(on)?;
    if worker.spec.is_draining() {
        return Some(MoveCause::Drain);
    }
    let policy = policies.select(cluster).map(|policy| &policy.spec);
    let tolerations = policy.map_or(&[][..], |policy| &policy.tolerations);
    let passed = |moment| input.observed.has_passed(moment);
    let driven = |taint| toleration::drives_out(taint, tolerations, passed);
    if worker.spec.taints.iter().any(driven) {
        return Some(MoveCause::NoExecute);
    }
    if let Some(failover) = policy.and_then(|policy| policy.failover.as_ref())
        && let Some(since) = lost_since(worker, input.observed, on)
        && passed(after(since, failover.grace_seconds()))
    {
        return Some(MoveCause::Failover);
    }
    let moves = policy.is_some_and(|policy| policy.on_violation == OnViolation::Move);
    let violated = moves && !violations(input, policies, cluster, on).is_empty();
    violated.then_some(MoveCause::Violation)
}

impl Ongoing<'_> {
    /// Whether something names it still. Where its document cannot be read that is taken for so, and a
    /// rebalance names it to the end: what made it worth while is changed by the move itself.
    pub(super) fn is_named(
        &self,
        input: &PlanInput<'_>,
        policies: &Policies<'_>,
        name: &Name,
    ) -> bool {
        let cluster = input.fleet.clusters.get(name);
        let unsure = input.fleet.holds_placements();
        let rebalanced = self.moves.cause == MoveCause::Rebalance;
        unsure
            || rebalanced
            || cluster.is_none_or(|c| named(input, policies, c, self.from).is_some())
    }
}

/// Whether a worker may name clusters at all: it is drained, has a taint that drives out, or is lost.
pub(super) fn may_name(input: &PlanInput<'_>, name: &Name) -> bool {
    input.fleet.workers.get(name).is_some_and(|worker| {
        let drives = |taint: &Taint| taint.effect == TaintEffect::NoExecute;
        worker.spec.is_draining()
            || worker.spec.taints.iter().any(drives)
            || lost_since(worker, input.observed, name).is_some()
    })
}

/// Whether any policy moves what it would not place where it is.
pub(super) fn policies_move(input: &PlanInput<'_>) -> bool {
    let mut policies = input.fleet.policies.values();
    policies.any(|policy| policy.spec.on_violation == OnViolation::Move)
}

/// Whether any policy asks anything of workers that a placed cluster's could fail.
pub(super) fn policies_require(input: &PlanInput<'_>) -> bool {
    input.fleet.policies.values().any(|policy| requires(&policy.spec))
}

fn requires(policy: &PlacementPolicySpec) -> bool {
    let affinity = policy.affinity.as_ref();
    !policy.pools.is_empty()
        || affinity.is_some_and(|a| !a.required.is_empty() || !a.groups.is_empty())
}

/// Why a placed cluster's policy would not place it there now; nothing where the worker, its overlay or a
/// policy is not there to be read.
pub(super) fn violations(
    input: &PlanInput<'_>,
    policies: &Policies<'_>,
    cluster: &Cluster,
    on: &Name,
) -> Vec<Reason> {
    let Some(worker) = input.fleet.workers.get(on) else { return Vec::new() };
    let request = Request {
        cluster,
        policy: policies.select(cluster),
        pools: Pools::of(input.fleet, &cluster.tenant),
        group: None,
        offer: Offer { listed: &[], expired: &input.observed.expired },
        networks_apart: false,
        is_name_taken: false,
        quota: None,
        pre_filter: &NOTHING,
        leaving: None,
    };
    let by_policy = request.policy.is_some_and(|policy| requires(&policy.spec));
    if request.pools == Pools::All && !by_policy && !cluster.spec.narrows() {
        return Vec::new();
    }
    filter::violations(&request, worker)
}

/// Whether so many workers are not ready that the observer is likelier wrong than the fleet: 55 % of those
/// that are observed, and at least three (kube-controller-manager `--unhealthy-zone-threshold`, node
/// lifecycle controller `ComputeZoneState`).
pub(super) fn breaker_is_open(input: &PlanInput<'_>) -> bool {
    let observed = input
        .fleet
        .workers
        .iter()
        .filter(|(_, worker)| worker.spec.observation == Observation::Agent);
    let lost = observed
        .clone()
        .filter(|(name, worker)| lost_since(worker, input.observed, name).is_some());
    let (all, lost) = (observed.count(), lost.count());
    lost >= 3 && lost * 100 >= all * 55
}
