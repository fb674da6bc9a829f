//! The moments that decisions ask for: the ends of graces and tolerations. A plan reads no clock, so they
//! are compared with the time of the run before it, once, and a plan asks only whether one has come.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::Clock;
use super::clock::after;
use super::move_cause::lost_since;
use super::toleration;
use crate::model::api::TaintEffect;
use crate::model::{Fleet, Observed};

/// The moments that have come, and the earliest one ahead: until then a plan is the same.
#[must_use]
pub fn moments(
    fleet: &Fleet,
    observed: &Observed,
    now: Timestamp,
) -> (BTreeSet<Timestamp>, Option<Timestamp>) {
    let mut asked = BTreeSet::new();
    let policies = || fleet.policies.values().map(|policy| &policy.spec);
    for (name, worker) in &fleet.workers {
        let graces = policies().filter_map(|policy| policy.failover.as_ref());
        if let Some(since) = lost_since(worker, observed, name) {
            asked.extend(graces.map(|failover| after(since, failover.grace_seconds())));
        }
        let taints = worker.spec.taints.iter().filter(|t| t.effect == TaintEffect::NoExecute);
        for taint in taints {
            let tolerations = policies().flat_map(|policy| &policy.tolerations);
            asked.extend(tolerations.filter_map(|t| toleration::end(t, taint)));
        }
    }
    let mut clock = Clock::new(now);
    let passed = asked.into_iter().filter(|moment| clock.reached(*moment)).collect();
    (passed, clock.valid_until())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::world::World;

    fn at(world: &str, second: i64) -> (usize, Option<i64>) {
        let World { fleet, observed, .. } = World::read(world);
        let zero = 1_700_000_000;
        let (passed, ahead) =
            moments(&fleet, &observed, Timestamp::from_second(zero + second).unwrap());
        (passed.len(), ahead.map(|moment| moment.as_second() - zero))
    }

    #[test]
    fn a_grace_counts_from_the_moment_at_which_the_worker_was_lost() {
        let world = "worker w1 agent:silent; worker w2 agent:unhealthy; worker w3 agent:healthy;
            policy p failover=600; policy q failover=900";
        assert_eq!(at(world, 599), (0, Some(600)));
        assert_eq!(at(world, 600), (1, Some(900)));
        assert_eq!(at(world, 900), (2, None));
        assert_eq!(at("worker w1 report:silent; policy p failover=600", 0), (0, None), "no agent");
    }

    #[test]
    fn a_toleration_counts_from_the_time_of_its_taint() {
        let policy = "policy p tolerate:k=v:NoExecute seconds=300";
        let world = |taint: &str| format!("worker w1 {taint}; {policy}");
        assert_eq!(at(&world("taint:k=v:NoExecute since=100"), 399), (0, Some(400)));
        assert_eq!(at(&world("taint:k=v:NoExecute since=100"), 400), (1, None));
        assert_eq!(at(&world("taint:k=v:NoSchedule since=100"), 0), (0, None));
        assert_eq!(at(&world("taint:k=v:NoExecute"), 400), (0, None));
    }
}
